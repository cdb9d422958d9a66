// RUN: nki-opt %s | filecheck %s
// RUN: nki-opt %s | nki-opt | filecheck %s

// Index values that an expression does not depend on are no operands.
bir.module @folding {
  bir.func @f {
    %t = bir.tensor "t" : !nki.mem<sbuf 128x64xf32>
    bir.loop %i = 0 to 4 step 1 affine {
      bir.loop %j = 0 to 4 step 1 affine {
        // CHECK: bir.memset outs(%t[0 : 128 | 0 : 64] f32) ins(0.0 : f32)
        bir.memset outs(%t[0 : 128 | 0*%i : 64] f32) ins(0.0 : f32)
        // CHECK-NEXT: bir.memset outs(%t[0 : 128 | 0 : 64] f32) ins(1.0 : f32)
        bir.memset outs(%t[0 : 128 | (%i mod 1) : 64] f32) ins(1.0 : f32)
        // CHECK-NEXT: bir.memset outs(%t[0 : 128 | %j : 16] f32) ins(2.0 : f32)
        bir.memset outs(%t[0 : 128 | %i + %j - %i : 16] f32) ins(2.0 : f32)
        // CHECK-NEXT: bir.memset outs(%t[0 : 128 | 0 : 64] f32) ins(3.0 : f32) when(%j - 1 ge 0)
        bir.memset outs(%t[0 : 128 | 0 : 64] f32) ins(3.0 : f32) when(%i - 1 + %j - %i ge 0)
      }
    }
    %r = bir.register "r"
    // CHECK: bir.do_while %r {
    // CHECK-NEXT: }
    bir.do_while %r {}
  }
}

// Loops of more iterations stay, with what is inside them unrolled.
// RUN: nki-opt %s -p 'unroll{max-trip-count=2}' | filecheck %s

// CHECK:      bir.loop %i = 0 to 3 step 1 affine {
// CHECK-NEXT:   %t = bir.tensor "t" : !nki.mem<sbuf 128x64xf32>
// CHECK-NEXT:   bir.memset "s_0" outs(%t[0 : 128 | %i : 1] f32) ins(0.0 : f32)
// CHECK-NEXT:   bir.memset "s_1" outs(%t[0 : 128 | %i + 1 : 1] f32) ins(0.0 : f32)
// CHECK-NEXT: }
// CHECK-NEXT: bir.loop %i_1 = 0 to 3 step 1 sequential {
// CHECK-NEXT:   %r = bir.register "r_0"
// CHECK-NEXT: }
bir.module @m {
  bir.func @f {
    bir.loop %i = 0 to 3 step 1 affine {
      %t = bir.tensor "t" : !nki.mem<sbuf 128x64xf32>
      bir.loop %j = 0 to 2 step 1 affine {
        bir.memset "s" outs(%t[0 : 128 | %i + %j : 1] f32) ins(0.0 : f32)
      }
    }
    bir.loop %j = 0 to 1 step 1 affine {
      bir.loop %i = 0 to 3 step 1 sequential {
        %r = bir.register "r"
      }
    }
  }
}

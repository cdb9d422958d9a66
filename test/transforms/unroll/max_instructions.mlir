// The limit counts the ops of the result; a module in which nothing is unrolled may be of any size.
// RUN: nki-opt %s -p 'unroll{max-instructions=6}' | filecheck %s
// RUN: not nki-opt %s -p 'unroll{max-instructions=5}' 2>&1 | filecheck %s --check-prefix=LESS
// RUN: nki-opt %s -p 'unroll{max-instructions=1 max-trip-count=1}' | filecheck %s --check-prefix=KEPT

// LESS: max_instructions.mlir:13:5: error: unrolling gives 6 ops, at most 5 are allowed (option max-instructions)
// LESS: in the pass 'unroll'
// CHECK-COUNT-3: bir.memset "s_
// KEPT: bir.loop
bir.module @m {
  bir.func @f {
    %t = bir.tensor "t" : !nki.mem<sbuf 128x64xf32>
    bir.loop %i = 0 to 3 step 1 affine {
      bir.memset "s" outs(%t[0 : 128 | %i : 1] f32) ins(0.0 : f32)
    }
  }
}

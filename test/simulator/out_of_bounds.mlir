// RUN: not nki-sim %s 2>&1 | filecheck %s

// CHECK:      out_of_bounds.mlir:{{[0-9]+}}:7: error: 'bir.memset' op "I-1": dst reaches element 6 of a partition of 't',
// CHECK-SAME: which has 6 elements [X-FMAX]
// CHECK-NEXT: bir.memset
// CHECK-NEXT: ^
// CHECK-NEXT: note: in the iteration %i = 3
bir.module @out_of_bounds {
  bir.func @f {
    %t = bir.tensor "t" : !nki.mem<sbuf 4x6xf32>
    %r = bir.register "r"
    bir.register_move outs(%r) ins(1 : i32)
    bir.loop %i = 0 to 4 step 1 affine {
      bir.memset "I-1" outs(%t[0 : 4 | %i + %r : 3] f32) ins(1.0 : f32) when(%i ge 0)
    }
  }
}

// RUN: not nki-sim %s 2>&1 | filecheck %s
// RUN: nki-sim %s --no-poison --print | filecheck %s --check-prefix=QUIET

// CHECK:      uninitialised.mlir:[[# @LINE + 11]]:5: error: 'bir.save' op "I-2": src reads 4 of 16 elements of 't' that
// CHECK-SAME: were never written, the first is element 3 of partition 0
// CHECK-NEXT: bir.save "I-2"

// QUIET: y : 4x4xf32
// QUIET-NEXT: [1.0, 1.0, 1.0, 0.0]
bir.module @uninitialised {
  bir.func @f {
    %y = bir.tensor "y" kind external_output : !nki.mem<hbm 4x4xf32>
    %t = bir.tensor "t" : !nki.mem<sbuf 4x4xf32>
    bir.memset "I-1" outs(%t[0 : 4 | 0 : 3] f32) ins(1.0 : f32)
    bir.save "I-2" outs(%y[0 : 4*4, 4] f32) ins(%t[0 : 4 | 0 : 4] f32)
  }
}

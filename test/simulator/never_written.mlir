// RUN: not nki-sim %s 2>&1 | filecheck %s

// CHECK:      never_written.mlir:{{[0-9]+}}:10: error: output 'y' was never written
// CHECK-NEXT: %y = bir.tensor "y"
bir.module @never_written {
  bir.func @f {
    %y = bir.tensor "y" kind external_output : !nki.mem<hbm 4x4xf32>
  }
}

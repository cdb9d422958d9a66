// RUN: not nki-opt %s -p convert-penguin-to-bir 2>&1 | filecheck %s

// CHECK:      error_text.mlir:9:10: error: 'arith.constant' op has no lowering to BIR
// CHECK-NEXT:     %0 = arith.constant 1 : i32
// CHECK-NEXT:          ^
// CHECK-NEXT: note: in the pass 'convert-penguin-to-bir'
penguin.module @m {
  penguin.func @f {
    %0 = arith.constant 1 : i32
  }
}

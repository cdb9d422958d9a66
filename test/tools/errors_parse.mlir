// Every mistake in the text is one message with its place, line and caret.
// RUN: not nki-opt %s --split-input-file 2>&1 | filecheck %s --strict-whitespace

// CHECK:errors_parse.mlir:8:8: error: unknown operation 'arith.adi'; did you mean 'arith.andi'?
// CHECK-NEXT:    %0 = arith.adi %a, %a : i32
// CHECK-NEXT:         ^
func.func @misspelt_op(%a: i32) {
  %0 = arith.adi %a, %a : i32
}

// -----

// CHECK:errors_parse.mlir:16:3: error: unknown dialect 'arit' of operation 'arit.addi'; did you mean 'arith'?
// CHECK-NEXT:    "arit.addi"() : () -> ()
// CHECK-NEXT:    ^
  "arit.addi"() : () -> ()

// -----

// CHECK:errors_parse.mlir:23:6: error: unknown type '!llvm.strukt'; did you mean 'llvm.struct'?
// CHECK-NEXT:  !t = !llvm.strukt<4>
// CHECK-NEXT:       ^
!t = !llvm.strukt<4>

// RUN: nki-opt %s -p dce,cse --mlir-print-ir-before-all 2>&1 -o %t | filecheck %s --check-prefix=BEFORE
// RUN: nki-opt %s -p dce,cse --mlir-print-ir-after-all 2>&1 -o %t | filecheck %s --check-prefix=AFTER
// RUN: nki-opt %s -p dce,cse --mlir-print-ir-after-change 2>&1 -o %t | filecheck %s --check-prefix=CHANGE
// RUN: nki-opt %s -p dce,cse --mlir-print-ir-after=dce 2>&1 -o %t | filecheck %s --check-prefix=ONE
// RUN: nki-opt %s -p dce,cse --mlir-print-ir-before=dce,cse 2>&1 -o %t | filecheck %s --check-prefix=TWO
// RUN: nki-opt %s -p dce,cse --print-between-passes | filecheck %s --check-prefix=BETWEEN
// RUN: not nki-opt %s -p cse --mlir-print-ir-after=cs 2>&1 | filecheck %s --check-prefix=NAME

// BEFORE: // -----// IR Dump Before dce //----- //
// BEFORE-NEXT: builtin.module {
// BEFORE: // -----// IR Dump Before cse //----- //
// BEFORE-NEXT: builtin.module {

// AFTER:      // -----// IR Dump After dce //----- //
// AFTER-NEXT: builtin.module {
// AFTER-NEXT:   %0 = "test.op"() : () -> i32
// AFTER-NEXT: }
// AFTER:      // -----// IR Dump After cse //----- //
// AFTER-NEXT: builtin.module {

// CHANGE:     // -----// IR Dump After dce //----- //
// CHANGE-NOT: IR Dump

// ONE-NOT: After cse
// ONE:     // -----// IR Dump After dce //----- //
// ONE-NOT: After cse

// TWO: // -----// IR Dump Before dce //----- //
// TWO: // -----// IR Dump Before cse //----- //

// BETWEEN:     IR after dce:
// BETWEEN-NOT: IR after cse:

// NAME: error: unknown pass 'cs'; did you mean 'cse'?
%0 = "test.op"() : () -> i32
%dead = arith.addi %0, %0 : i32

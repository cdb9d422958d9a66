// Only whole lines split, an error does not end the run, and it decides the status.
// RUN: not nki-opt %s --split-input-file 2> %t | filecheck %s --match-full-lines
// RUN: filecheck %s --check-prefix=ERR --input-file=%t
// RUN: nki-opt %s --split-input-file --parsing-diagnostics | filecheck %s --check-prefix=DIAG

// CHECK:      builtin.module {
// CHECK-NEXT:   "test.op"() {a = "// -----"} : () -> ()
// CHECK-NEXT: }
"test.op"() {a = "// -----"} : () -> ()  // -----

// -----

// ERR: split.mlir:15:1: error: unknown operation 'test.no'; did you mean 'test.op'?
// DIAG: split.mlir:15:1: error: unknown operation 'test.no'; did you mean 'test.op'?
"test.no"() : () -> ()

// -----

// CHECK:      // -----
// CHECK-NEXT: // -----
// CHECK-NEXT: builtin.module {
// CHECK-NEXT:   "test.op"() {b} : () -> ()
// CHECK-NEXT: }
"test.op"() {b} : () -> ()

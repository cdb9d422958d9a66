// RUN: nki-opt %s --allow-unregistered-dialect --split-input-file | filecheck %s
// RUN: not nki-opt %s --split-input-file 2>&1 | filecheck %s --check-prefix=KNOWN

// CHECK: "some.op"() : () -> ()
// KNOWN: errors_unregistered.mlir:6:1: error: unknown dialect 'some' of operation 'some.op'
"some.op"() : () -> ()

// An error that no comment expects and a comment without an error are failures of the test.
// RUN: not nki-opt %s --verify-diagnostics 2>&1 | filecheck %s

// CHECK: verify_diagnostics_fail.mlir:5:32: error: '[' is no regular expression: unterminated character set
// expected-error-re @+1 {{a {{[}} b}}
"test.op"() : () -> ()

// CHECK: verify_diagnostics_fail.mlir:9:1: error: unexpected error: 'arith.addi' op Expected 2 operands, but got 0
"arith.addi"() : () -> ()

// CHECK: verify_diagnostics_fail.mlir:12:4: error: expected error "operands" was not produced
// expected-error @+1 {{operands}}
"test.op"() : () -> ()
// CHECK: verify_diagnostics_fail.mlir:15:4: error: expected warning "operands" was not produced
// expected-warning {{operands}}
"test.op"() : () -> ()

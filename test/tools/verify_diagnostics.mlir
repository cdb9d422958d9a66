// RUN: nki-opt %s --verify-diagnostics

"test.op"() : () -> ()
"arith.addi"() : () -> () // expected-error {{'arith.addi' op Expected 2 operands, but got 0}}
// expected-error @+1 {{Expected 2 operands}}
"arith.addi"() : () -> ()
"arith.addi"() : () -> ()
// expected-error @-1 {{Expected 2 operands}}
"arith.addi"() : () -> ()
// expected-error @above {{Expected 2 operands}}
// expected-error @below {{Expected 2 operands}}
// expected-error-re @+1 {{Expected {{[0-9]+}} operands}}
"arith.addi"() : () -> () "arith.addi"() : () -> ()

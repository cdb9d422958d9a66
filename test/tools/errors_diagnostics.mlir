// RUN: nki-opt %s --split-input-file --verify-diagnostics

func.func @undefined_value(%a: i32) {
  // expected-error @+1 {{value %b is used but not defined}}
  %0 = arith.addi %a, %b : i32
  func.return
}

// -----

// Each value that is used and not defined is one mistake, and the first ends the run.
// expected-error @below {{value %x is used but not defined}}
"test.op"(%x, %y) : (i32, i32) -> ()

// -----

// All errors of the verifier are told, in the order of the text.
// expected-error @+1 {{'arith.addi' op Expected 2 operands, but got 0}}
"arith.addi"() : () -> ()
// expected-error @+1 {{'arith.muli' op Expected 2 operands, but got 0}}
"arith.muli"() : () -> ()

// -----

// expected-error @+1 {{'func.func' op contains empty block in single-block region that expects at least a terminator}}
func.func @nothing() {
^bb0:
}

// -----

func.func @no_terminator(%a: i32) {
  // expected-error @+1 {{'arith.addi' op terminates block in single-block region but is not a terminator}}
  %0 = arith.addi %a, %a : i32
}

// -----

// A builtin attribute that cannot exist is placed at its op.
// expected-error @+1 {{Integer value 999 is out of range for type i8 which supports values in the range [-128, 256)}}
"test.op"() {a = 999 : i8} : () -> ()

// -----

// An attribute of a dialect has its own place.
"test.op"() {
  // expected-error @+1 {{unknown attribute '#arith.fastmth'; did you mean 'arith.fastmath'?}}
  a = #arith.fastmth<fast>
} : () -> ()

// -----

// expected-error @+1 {{unknown dialect 'bor' of type '!bor.reg'; did you mean 'bir'?}}
"test.op"() {a = !bor.reg} : () -> ()

// -----

// expected-error @+1 {{unknown operation 'nothing'}}
nothing

// -----

// expected-error @+1 {{'test.pureop' has no custom form, so it can only be written in the generic form}}
test.pureop

// -----

// expected-error @+1 {{expected an operation, got '}'}}
}

// -----

// expected-error @+1 {{a dense literal has at most 67108864 elements}}
"test.op"() {a = dense<1> : tensor<100000000000xi32>} : () -> ()

// -----

// expected-error @+1 {{SSA value %a is already defined}}
%a = "test.op"() : () -> i32 %a = "test.op"() : () -> i32

// -----

// expected-error @+2 {{this string does not end in its line}}
"test.op"() {
  a = "no end
} : () -> ()

// -----

// expected-error @+1 {{region ends with missing block declarations for block(s) bb3}}
"test.op"() ({ "test.termop"() [^bb3] : () -> () }) : () -> ()

// -----

// expected-error @+1 {{Unexpected character: `}}
"test.op"() ` : () -> ()

// The error of an op with a location of its own is told there.
// RUN: not nki-opt %s 2>&1 | filecheck %s

// CHECK: kernel.py:12:3: error: 'arith.addi' op Expected 2 operands, but got 0
"arith.addi"() : () -> () loc("kernel.py":12:3)
// CHECK: callee.py:2:1: error: 'arith.addi' op Expected 2 operands, but got 0
"arith.addi"() : () -> () loc(callsite("callee.py":2:1 at "caller.py":3:1))
// CHECK: named.py:4:1: error: 'arith.addi' op Expected 2 operands, but got 0
"arith.addi"() : () -> () loc("name"("named.py":4:1))
// CHECK: fused.py:5:1: error: 'arith.addi' op Expected 2 operands, but got 0
"arith.addi"() : () -> () loc(fused["no place", "fused.py":5:1])

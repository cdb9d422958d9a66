// An op has the place of its name, unless the text gives it another.
// RUN: nki-opt %s --print-debuginfo | filecheck %s

// CHECK: %a = arith.constant 1 : i32 loc("{{.*}}locations.mlir":5:6)
%a = arith.constant 1 : i32
// CHECK: %b = arith.constant 2 : i32 loc("kernel.py":12:3)
%b = arith.constant 2 : i32 loc("kernel.py":12:3)
// CHECK: %c = arith.constant 3 : i32 loc("{{.*}}locations.mlir":9:6)
%c = "arith.constant"() <{value = 3 : i32}> : () -> i32 loc(unknown)
  "test.op"() ({
    // CHECK: "test.termop"() : () -> () loc("{{.*}}locations.mlir":12:5)
    "test.termop"() : () -> ()
    // CHECK: }) : () -> () loc("{{.*}}locations.mlir":10:3)
  }) : () -> ()

// Five spellings of one pipeline.
// RUN: nki-opt %s -p cse,dce | filecheck %s
// RUN: nki-opt %s --cse --dce | filecheck %s
// RUN: nki-opt %s --cse= --dce | filecheck %s
// RUN: nki-opt %s --pass-pipeline='builtin.module( cse, dce )' | filecheck %s
// RUN: nki-opt %s --pass-pipeline 'any(cse,dce{})' | filecheck %s

// CHECK:      func.func @f
// CHECK-NEXT:   arith.addi
// CHECK-NEXT:   func.return
func.func @f(%a: i32) -> i32 {
  %zero = arith.constant 0 : i32
  %0 = arith.addi %a, %a : i32
  %1 = arith.addi %a, %a : i32
  func.return %1 : i32
}

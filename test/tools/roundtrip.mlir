// RUN: nki-opt %s | filecheck %s
// RUN: nki-opt %s | nki-opt | filecheck %s
// RUN: nki-opt - < %s | filecheck %s
// RUN: nki-opt %s --print-op-generic | nki-opt - | filecheck %s
// RUN: nki-opt %s -o %t && nki-opt %t | filecheck %s

// CHECK:      builtin.module {
// CHECK-NEXT:   func.func @double(%a: i32) -> i32 {
// CHECK-NEXT:     %sum = arith.addi %a, %a : i32
// CHECK-NEXT:     func.return %sum : i32
// CHECK-NEXT:   }
// CHECK-NEXT: }
func.func @double(%a: i32) -> i32 {
  %sum = arith.addi %a, %a : i32
  func.return %sum : i32
}

// RUN: nki-opt %s -p cse,dce --mlir-timing 2>&1 -o %t | filecheck %s
// RUN: nki-opt %s -p cse --time-passes | filecheck %s --check-prefix=PASSES

// CHECK:      ... Execution time report ...
// CHECK:      Total Execution Time: {{[0-9.]+}} seconds
// CHECK:      ----Wall Time----  ----Name----
// CHECK-NEXT: {{[0-9.]+ \( *[0-9.]+%\)}}  Parse
// CHECK-NEXT: {{[0-9.]+ \( *[0-9.]+%\)}}  Verify
// CHECK-NEXT: {{[0-9.]+ \( *[0-9.]+%\)}}  cse
// CHECK-NEXT: {{[0-9.]+ \( *[0-9.]+%\)}}  dce
// CHECK-NEXT: {{[0-9.]+ \( *[0-9.]+%\)}}  Print
// CHECK-NEXT: {{[0-9.]+}} (100.0%)  Total

// PASSES: Pass cse took {{[0-9.e-]+}} seconds
"test.op"() : () -> ()

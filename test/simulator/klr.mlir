// RUN: nki-sim %S/../data/klr/nxcc224/add.klr --input a=ones --input b=ones --print --print-limit 4 | filecheck %s

// CHECK: : 128x512xf32
// CHECK-NEXT: {{\[\[}}2.0, 2.0, 2.0, ..., 2.0, 2.0, 2.0],

// Options and passes behind one dash, as mlir-opt takes them too.
// RUN: nki-opt %s -pass-pipeline='builtin.module(unroll)' | filecheck %s
// RUN: nki-opt %s -unroll -split-input-file -verify-each=0 -mlir-print-ir-module-scope | filecheck %s
// RUN: nki-opt -punroll -mlir-print-local-scope - < %s | filecheck %s
// RUN: not nki-opt -unrol %s 2>&1 | filecheck %s --check-prefix=ERROR

// CHECK-NOT:  bir.loop
// CHECK:      bir.memset outs(%x[0 : 128 | 0 : 8] f32) ins(1.0 : f32)
// CHECK-NEXT: bir.memset outs(%x[0 : 128 | 8 : 8] f32) ins(1.0 : f32)
// ERROR: error: unrecognized arguments: -unrol
bir.module @m {
  bir.func @f {
    %x = bir.tensor "x" : !nki.mem<sbuf 128x16xf32>
    bir.loop %i = 0 to 2 step 1 affine {
      bir.memset outs(%x[0 : 128 | 8*%i : 8] f32) ins(1.0 : f32)
    }
  }
}

// The memories are those of the option's target, else of the module's, else of trn2: 192, 224 and 256 KiB less 16.
// RUN: nki-opt %s -p 'allocate-first-fit{target=trn3}' | filecheck %s
// RUN: not nki-opt %s -p allocate-first-fit 2>&1 | filecheck %s --check-prefix=TRN2
// RUN: not nki-opt %s -p 'allocate-first-fit{target=trn1}' 2>&1 | filecheck %s --check-prefix=TRN1

// CHECK: bir.module @m attributes {arch = #nki.arch<gen4>} {
// CHECK: %a = bir.tensor "a" at <0, 0> : !nki.mem<sbuf 128x50000xf32>
// CHECK: %b = bir.tensor "b" at <0, 200000> : !nki.mem<sbuf 128x10000xf32>
// TRN2: capacity.mlir:15:10: error: 'bir.tensor' op 'b' needs 40000 bytes in each partition of sbuf; of 212984 bytes 12984 are free where it becomes live [X-FMAX]
// TRN2-NEXT: %b = bir.tensor "b" : !nki.mem<sbuf 128x10000xf32>
// TRN1: error: 'bir.tensor' op 'a' needs 200000 bytes in each partition of sbuf; of 180224 bytes 180224 are free where it becomes live [X-FMAX]
bir.module @m {
  bir.func @f {
    %a = bir.tensor "a" : !nki.mem<sbuf 128x50000xf32>
    %b = bir.tensor "b" : !nki.mem<sbuf 128x10000xf32>
    bir.memset outs(%a[0 : 128 | 0 : 64] f32) ins(0.0 : f32)
    bir.tensor_copy outs(%b[0 : 128 | 0 : 64] f32) ins(%a[0 : 128 | 0 : 64] f32)
  }
}

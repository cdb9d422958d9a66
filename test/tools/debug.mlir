// What the passes did is logged under the names of their modules.
// RUN: nki-opt %s -p convert-penguin-to-bir,unroll,allocate-first-fit --debug -o %t 2>&1 | filecheck %s --match-full-lines
// RUN: nki-opt %s -p convert-penguin-to-bir,unroll,allocate-first-fit --debug-only=unroll -o %t 2>&1 | filecheck %s --check-prefix=ONLY --match-full-lines
// RUN: nki-opt %s -p convert-penguin-to-bir,unroll,allocate-first-fit --debug --debug-only=unroll -o %t 2>&1 | filecheck %s --check-prefix=ONLY --match-full-lines
// RUN: nki-sim %s --no-poison --debug 2>&1 | filecheck %s --check-prefix=SIM --match-full-lines

// CHECK: [nki_mlir.transforms.lowering] 7 ops of penguin are lowered
// CHECK-NEXT: [nki_mlir.transforms.unroll] @f: a loop becomes 2 ops
// CHECK-NEXT: [nki_mlir.transforms.allocation.assign] @f: 1 tensors in sbuf, up to byte 32
// ONLY: [nki_mlir.transforms.unroll] @f: a loop becomes 2 ops
// ONLY-NOT: {{.}}
// SIM: [nki_mlir.transforms.lowering] 7 ops of penguin are lowered
penguin.module @m {
  penguin.func @f {
    %o = penguin.tensor "o" kind external_output : !nki.mem<hbm 2x8xf32>
    %t = penguin.tensor "t" : !nki.mem<sbuf 2x8xf32>
    penguin.loop %i = 0 to 2 step 1 affine {
      penguin.memset outs(%t[0 : 2 | 4*%i : 4] f32) ins(1.0 : f32)
    }
    penguin.sb_atom_store outs(%o[0 : 8*2, 8] f32) ins(%t[0 : 2 | 0 : 8] f32)
  }
}

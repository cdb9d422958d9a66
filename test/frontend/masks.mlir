// A mask cuts the last tile: the number of a pair is bounded by an expression of the loop variable.
// RUN: nki-compile %S/Inputs/kernels.py:ragged --arg 'x=f32[100,64]' --emit penguin | filecheck %s
// RUN: nki-compile %S/Inputs/kernels.py:ragged --arg 'x=f32[100,64]' --frontend beta3 --simulate --input x=zeros | filecheck %s --check-prefix=NUM

// CHECK: penguin.loop %i = 0 to 4 step 1 affine {
// CHECK: penguin.sb_atom_load {{.*}} outs(%tile.1[0 : min(32, -32*%i + 100) | 0 : 64] f32) ins(%x[2048*%i : 64*min(32, -32*%i + 100), 64] f32)
// CHECK: penguin.activation exp

// NUM: out.1 : 100x64xf32
// NUM: 1.0, 1.0

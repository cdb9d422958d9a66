// Loops of the legacy API stay loops in Penguin and in BIR; the KLR path unrolls them.
// RUN: nki-compile %S/Inputs/kernels.py:rolled --arg 'x=f32[128,128]' --emit penguin | filecheck %s --check-prefix=PENGUIN
// RUN: nki-compile %S/Inputs/kernels.py:rolled --arg 'x=f32[128,128]' --frontend beta3 --emit bir | filecheck %s --check-prefix=BIR
// RUN: nki-compile %S/Inputs/kernels.py:rolled --arg 'x=f32[128,128]' --emit klr | filecheck %s --check-prefix=KLR

// `i < 3` is certain in the first piece of the loop over i and false in the rest, which is one iteration.
// PENGUIN:      penguin.loop %i = 0 to 3 step 1 affine {
// PENGUIN:        penguin.loop %j = 0 to 2 step 1 sequential {
// PENGUIN:          penguin.sb_atom_load "inst.1" outs(%tile.1[0 : 32 | 0 : 64] f32) ins(%x[4096*%i + 64*%j : 128*32, 64] f32)
// PENGUIN:          penguin.tensor_scalar_ptr mult
// PENGUIN:          penguin.sb_atom_store
// PENGUIN:      penguin.loop %j{{.*}} = 0 to 2 step 1 sequential {
// PENGUIN:          penguin.sb_atom_load {{.*}} ins(%x[64*%j{{.*}} + 12288 : 128*32, 64] f32)
// PENGUIN-NEXT:     penguin.sb_atom_store

// BIR:      bir.loop %i = 0 to 3 step 1 affine {
// BIR:        bir.loop %j = 0 to 2 step 1 sequential {
// BIR:          bir.load "inst.1" outs(%tile.1[0 : 32 | 0 : 64] f32) ins(%x[4096*%i + 64*%j : 128*32, 64] f32)
// BIR:      bir.loop %j{{.*}} = 0 to 2 step 1 sequential {

// KLR-NOT:     loop
// KLR-COUNT-8: klr.nc_dma_copy {{.*}} ins(%x

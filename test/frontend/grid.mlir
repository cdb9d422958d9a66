// A launch grid is a loop over programs in Penguin, and programs one after another in KLR.
// RUN: nki-compile %S/Inputs/kernels.py:grid --grid 4 --arg 'x=f32[128,64]' --emit penguin | filecheck %s
// RUN: nki-compile %S/Inputs/kernels.py:grid --grid 4 --arg 'x=f32[128,64]' --emit klr | filecheck %s --check-prefix=KLR

// CHECK:       penguin.loop %p0 = 0 to 4 step 1 spmd {
// CHECK:         penguin.sb_atom_load {{.*}} ins(%x[2048*%p0 : 64*32, 64] f32)
// KLR-COUNT-4: klr.nc_dma_copy {{.*}} ins(%x

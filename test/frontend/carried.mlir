// What Python carries from one iteration to the next makes pieces of one iteration: straight-line code.
// RUN: nki-compile %S/Inputs/kernels.py:carried --arg 'x=f32[128,64]' --emit penguin | filecheck %s

// CHECK-NOT: penguin.loop
// CHECK-COUNT-3: penguin.tensor_tensor add

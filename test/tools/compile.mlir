// RUN: nki-compile %S/../../examples/tour/scale.py:scale --arg 'x=f32[128,4]' --arg factor=3 --simulate --input x=ones | filecheck %s
// RUN: nki-compile %S/../../examples/tour/scale.py:scale --arg 'x=f32[128,4]' --arg factor=3 --frontend beta3 --simulate --input x=ones | filecheck %s
// RUN: nki-compile %S/../../examples/tour/scale.py:scale --arg 'x=bf16[128,4]' --arg factor=2.5 --emit bir -o %t && nki-opt %t | filecheck %s --check-prefix=BIR
// RUN: nki-compile %S/../../examples/tour/scale.py:scale --arg 'x=f32[128,4]' --arg factor=3 --target trn1 --emit klr | filecheck %s --check-prefix=TRN1
// RUN: nki-compile --help | filecheck %s --check-prefix=HELP
// RUN: nki-compile --version | filecheck %s --check-prefix=VERSION

// CHECK:   out.1 : 128x4xf32
// CHECK:   3.0, 3.0, 3.0, 3.0
// BIR:     bir.tensor_scalar_ptr mult {{.*}} operand0 = 2.5 : f32
// TRN1:    klr.kernel @scale attributes {arch = #nki.arch<gen2>
// HELP:    examples:
// VERSION: nki-compile 0.1.0

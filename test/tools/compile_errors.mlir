// RUN: not nki-compile %S/../../examples/tour/wrong.py:wrong --arg 'a=bf16[128,256]' --arg 'b=bf16[128,64]' 2>&1 | filecheck %s --check-prefix=RULE
// RUN: not nki-compile %S/../../examples/tour/wrong.py:wrng 2>&1 | filecheck %s --check-prefix=NAME
// RUN: not nki-compile %S/missing.py:f 2>&1 | filecheck %s --check-prefix=FILE
// RUN: not nki-compile %S/../../examples/tour/wrong.py 2>&1 | filecheck %s --check-prefix=FORM
// RUN: not nki-compile %S/../../examples/tour/wrong.py:wrong --arg a=f31[2] 2>&1 | filecheck %s --check-prefix=TYPE
// RUN: not nki-compile %S/../../examples/tour/wrong.py:wrong --arg 'a=f32[2,0]' 2>&1 | filecheck %s --check-prefix=SIZE
// RUN: not nki-compile %S/../../examples/tour/wrong.py:wrong --arg 'a=f32[2,2]' 2>&1 | filecheck %s --check-prefix=MISSING
// RUN: not nki-compile %S/../../examples/tour/wrong.py:wrong --emit klr --frontend beta3 2>&1 | filecheck %s --check-prefix=PAIR
// RUN: not nki-compile %S/../../examples/tour/wrong.py:wrong --target trn9 2>&1 | filecheck %s --check-prefix=TARGET
// RUN: not nki-compile %S/../../examples/tour/wrong.py:wrong --input a=a.npy 2>&1 | filecheck %s --check-prefix=INPUT
// RUN: not nki-compile %S/../../examples/tour/wrong.py:wrong --output-dir out 2>&1 | filecheck %s --check-prefix=OUTPUT
// RUN: not nki-compile %S/../../examples/tour/wrong.py:wrong --simulate -o a.mlir 2>&1 | filecheck %s --check-prefix=OUT

// RULE:      wrong.py:15:5: error: matmul: stationary has 256 elements a partition, at most 128 allowed [BIR040, size_of_dimension_exceed_arch_limit]
// RULE-NEXT:     nisa.nc_matmul(total, stationary=left, moving=right)
// RULE-NEXT:     ^
// NAME:      has no function 'wrng'; did you mean 'wrong'?
// FILE:      error: cannot read '{{.*}}missing.py': No such file or directory
// FORM:      error: '{{.*}}wrong.py': expected KERNEL.py:FUNCTION
// TYPE:      error: unknown dtype 'f31'
// SIZE:      error: --arg a=f32[2,0]: the sizes of a tensor must be positive
// MISSING:   wrong.py:{{[0-9]+}}: error: wrong() missing 1 required positional argument: 'b' [arguments]
// PAIR:      error: emit 'klr' needs front end beta2, got beta3
// TARGET:    error: unknown target 'trn9'

// RUN: not nki-compile %S/../../examples/tour/wrong.py:wrong --arg 'a=f32[2,-2]' 2>&1 | filecheck %s --check-prefix=SIZES
// SIZES:     error: --arg a=f32[2,-2]: expected DTYPE[d0,d1,…] with positive sizes, such as f32[128,512]
// RUN: not nki-compile %S/../../examples/tour/wrong.py:wrong --arg a=1 --arg a=2 2>&1 | filecheck %s --check-prefix=TWICE
// TWICE:     error: argument 'a' is given twice
// RUN: not nki-compile %S/../../examples/tour/wrong.py:wrong --grid 0 2>&1 | filecheck %s --check-prefix=GRID
// GRID:      error: the launch grid [0] must have positive sizes [grid]
// INPUT:     error: --input is for --simulate
// OUTPUT:    error: --output-dir is for --simulate
// OUT:       error: -o is for IR; the outputs of --simulate go to --output-dir

// RUN: nki-opt --list-passes | filecheck %s --check-prefix=PASSES
// RUN: nki-opt --list-dialects | filecheck %s --check-prefix=DIALECTS --match-full-lines
// RUN: nki-opt --show-dialects | filecheck %s --check-prefix=DIALECTS --match-full-lines
// RUN: nki-opt --version | filecheck %s --check-prefix=VERSION --match-full-lines
// RUN: nki-opt --help | filecheck %s --check-prefix=HELP

// PASSES:      apply-eqsat-pdl
// PASSES-NEXT:     A pass that applies PDL patterns using equality saturation.
// PASSES-NEXT:     pdl-file: str|None = none
// PASSES-NEXT:     max-iterations: int = 20

// DIALECTS: arith
// DIALECTS: bir
// DIALECTS: klr
// DIALECTS: nki
// DIALECTS: penguin

// VERSION: nki-opt {{[0-9.]+}} (xDSL {{[0-9.]+}})

// HELP: usage: nki-opt
// HELP: examples:
// HELP: nki-opt --list-passes

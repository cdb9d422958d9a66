// Wrong command lines are one message each, with a close name where there is one.
// RUN: not nki-opt %s -p canonicalise 2>&1 | filecheck %s --check-prefix=PASS --match-full-lines
// RUN: not nki-opt %s --canonicalise 2>&1 | filecheck %s --check-prefix=FLAG --match-full-lines
// RUN: not nki-opt %s --split-input-fil 2>&1 | filecheck %s --check-prefix=ABBREVIATED --match-full-lines
// RUN: not nki-opt %s -p 'cse{fast=1}' 2>&1 | filecheck %s --check-prefix=NO-OPTION --match-full-lines
// RUN: not nki-opt %s -p 'apply-pdl{pdl-fil="a"}' 2>&1 | filecheck %s --check-prefix=OPTION --match-full-lines
// RUN: not nki-opt %s -p 'apply-pdl{pdl-file=1}' 2>&1 | filecheck %s --check-prefix=TYPE --match-full-lines
// RUN: not nki-opt %s -p 'apply-eqsat-pdl{max-iterations}' 2>&1 | filecheck %s --check-prefix=NOTHING --match-full-lines
// RUN: not nki-opt %s -p 'apply-individual-rewrite{operation-name=a}' 2>&1 | filecheck %s --check-prefix=MISSING --match-full-lines
// RUN: not nki-opt %s --unroll=max-trip-count=-1 2>&1 | filecheck %s --check-prefix=TRIPS --match-full-lines
// RUN: not nki-opt %s --unroll=max-instructions=-1 2>&1 | filecheck %s --check-prefix=INSTRUCTIONS --match-full-lines
// RUN: not nki-opt %s -p 'cse,,dce' 2>&1 | filecheck %s --check-prefix=SYNTAX --match-full-lines --strict-whitespace
// RUN: not nki-opt %s -p cse --dce 2>&1 | filecheck %s --check-prefix=TWICE --match-full-lines
// RUN: not nki-opt %s --pass-pipeline=cse 2>&1 | filecheck %s --check-prefix=ANCHOR --match-full-lines
// RUN: not nki-opt %s --pass-pipeline='builtin.module(func.func(cse))' 2>&1 | filecheck %s --check-prefix=NESTED --match-full-lines
// RUN: not nki-opt %s -t mlr 2>&1 | filecheck %s --check-prefix=TARGET
// RUN: not nki-opt %s -t 'mlir{' 2>&1 | filecheck %s --check-prefix=SPEC --match-full-lines
// RUN: not nki-opt %s -t 'mlir{x=1}' 2>&1 | filecheck %s --check-prefix=TARGET-OPTION --match-full-lines
// RUN: not nki-opt %s -t 'mlir{print-debuginfo=2}' 2>&1 | filecheck %s --check-prefix=TARGET-TYPE --match-full-lines
// RUN: not nki-opt %s -f 'mlir{x=1}' 2>&1 | filecheck %s --check-prefix=FRONTEND-OPTION --match-full-lines
// RUN: not nki-opt %s -f 'mlir{no-implicit-module=true}' 2>&1 | filecheck %s --check-prefix=IMPLICIT
// RUN: nki-opt %s -t 'mlir{print-generic-format=true}' | filecheck %s --check-prefix=GENERIC
// RUN: not nki-opt %s --verify-each=2 2>&1 | filecheck %s --check-prefix=EACH --match-full-lines
// RUN: not nki-opt %s.no 2>&1 | filecheck %s --check-prefix=FILE
// RUN: not nki-opt %S 2>&1 | filecheck %s --check-prefix=FOLDER
// RUN: not nki-opt '' 2>&1 | filecheck %s --check-prefix=EMPTY --match-full-lines
// RUN: not nki-opt %s -o '' 2>&1 | filecheck %s --check-prefix=NAMELESS --match-full-lines
// RUN: not nki-sim %s --print-limit -3 2>&1 | filecheck %s --check-prefix=LIMIT --match-full-lines
// RUN: not nki-sim %s --max-iterations=-3 2>&1 | filecheck %s --check-prefix=ITERATIONS --match-full-lines
// RUN: not nki-opt %s -o %t/no/file 2>&1 | filecheck %s --check-prefix=OUTPUT

// PASS: error: unknown pass 'canonicalise'; did you mean 'canonicalize'?
// FLAG: error: unrecognized arguments: --canonicalise; did you mean '--canonicalize'?
// ABBREVIATED: error: unrecognized arguments: --split-input-fil; did you mean '--split-input-file'?
// NO-OPTION: error: pass 'cse' has no option 'fast'
// OPTION: error: pass 'apply-pdl' has no option 'pdl-fil'; did you mean 'pdl-file'?
// TYPE: error: option 'pdl-file' of pass 'apply-pdl' expects str|None, got 1
// NOTHING: error: option 'max-iterations' of pass 'apply-eqsat-pdl' expects int, got nothing
// MISSING: error: pass 'apply-individual-rewrite' needs the option 'matched-operation-index' (int)
// TRIPS: error: pass 'unroll': max-trip-count must be at least 0, got -1
// INSTRUCTIONS: error: pass 'unroll': max-instructions must be at least 0, got -1
// TWICE: error: passes are given twice: use one of -p, --pass-pipeline and flags such as --canonicalize
// ANCHOR: error: --pass-pipeline expects 'builtin.module(…)', got 'cse'
// NESTED: error: --pass-pipeline expects passes on builtin.module only, got 'func.func(…)' in 'builtin.module(func.func(cse))'
// TARGET: error: argument -t/--target: invalid choice: 'mlr' (choose from
// SPEC: error: expected argument name, got the end
// TARGET-OPTION: error: target 'mlir' has no option 'x'
// TARGET-TYPE: error: option 'print-debuginfo' of target 'mlir' expects bool, got 2
// FRONTEND-OPTION: error: frontend 'mlir' has no option 'x'
// IMPLICIT: usage.mlir:1:1: error: expected one builtin.module and nothing else
// GENERIC: "builtin.module"() ({
// EACH: error: argument --verify-each: expected 0 or 1, got '2'
// FILE: error: cannot read '{{.*}}usage.mlir.no': No such file or directory
// FOLDER: error: cannot read '{{.*}}tools': Is a directory
// EMPTY: error: cannot read '': No such file or directory
// NAMELESS: error: cannot write '': the name of the file is empty
// LIMIT: error: argument --print-limit: expected an integer from 0 on, of at most 18 digits, got '-3'
// ITERATIONS: error: argument --max-iterations: expected an integer from 0 on, of at most 18 digits, got '-3'
// OUTPUT: error: cannot write '{{.*}}/no/file': No such file or directory

//      SYNTAX:error: expected pass name, got ','
// SYNTAX-NEXT:  cse,,dce
// SYNTAX-NEXT:      ^

// What one of xDSL's other targets cannot write.
// RUN: not nki-opt %S/../../examples/tour/power.mlir -t riscv-asm 2>&1 | filecheck %s --check-prefix=WRITER
// WRITER: power.mlir:{{[0-9]+}}:1: error: the target 'riscv-asm' cannot write this module
// RUN: not nki-opt %S/../../examples/tour/power.mlir -t csl 2>&1 | filecheck %s --check-prefix=CSL
// CSL: power.mlir:{{[0-9]+}}:1: error: the target 'csl' cannot write this module
// RUN: not nki-opt %S/../../examples/tour/power.mlir -t wat 2>&1 | filecheck %s --check-prefix=WAT
// WAT: power.mlir:{{[0-9]+}}:1: error: the target 'wat' cannot write this module

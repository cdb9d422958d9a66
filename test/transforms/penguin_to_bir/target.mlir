// The target of the option is that of the result; without it the module keeps what it has, or has none.
// RUN: nki-opt %s -p convert-penguin-to-bir | filecheck %s --check-prefix=KEPT
// RUN: nki-opt %s -p 'convert-penguin-to-bir{target=trn3}' | filecheck %s --check-prefix=TRN3
// RUN: not nki-opt %s -p 'convert-penguin-to-bir{target=trn9}' 2>&1 | filecheck %s --check-prefix=UNKNOWN

// KEPT: bir.module @none {
// KEPT: bir.module @gen2 attributes {arch = #nki.arch<gen2>} {
// TRN3: bir.module @none attributes {arch = #nki.arch<gen4>} {
// TRN3: bir.module @gen2 attributes {arch = #nki.arch<gen4>} {
// UNKNOWN: error: unknown target 'trn9'
penguin.module @none {
}
penguin.module @gen2 attributes {arch = #nki.arch<gen2>} {
}

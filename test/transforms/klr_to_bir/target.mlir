// RUN: nki-opt %s -p convert-klr-to-bir | filecheck %s --check-prefix=KEPT
// RUN: nki-opt %s -p 'convert-klr-to-bir{target=trn1}' | filecheck %s --check-prefix=TRN1

// KEPT: bir.module @k {
// TRN1: bir.module @k attributes {arch = #nki.arch<gen2>} {
klr.kernel @k {
}

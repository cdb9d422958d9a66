// A file of comments is the empty module, and so is no text at all.
// RUN: nki-opt %s | filecheck %s
// RUN: nki-opt < /dev/null | filecheck %s

// CHECK:      builtin.module {
// CHECK-NEXT: }

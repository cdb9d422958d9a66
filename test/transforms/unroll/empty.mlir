// Loops without instructions are nothing, however often they run.
// RUN: nki-opt %s -p unroll | filecheck %s

// CHECK:      bir.func @f {
// CHECK-NEXT: }
bir.module @m {
  bir.func @f {
    bir.loop %i = 0 to 9223372036854775807 step 1 affine {
      bir.loop %j = -9223372036854775808 to 9223372036854775807 step 1 affine {
      }
    }
  }
}

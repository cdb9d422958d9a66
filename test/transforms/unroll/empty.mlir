// Loops without instructions are nothing, however often they run.
// RUN: nki-opt %s -p unroll | filecheck %s

// CHECK:      bir.func @f {
// CHECK-NEXT:   %r = bir.register "r"
// CHECK-NEXT: }
bir.module @m {
  bir.func @f {
    bir.loop %i = 0 to 9223372036854775807 step 1 affine {
      bir.loop %j = -9223372036854775808 to 9223372036854775807 step 1 affine {
      }
    }
    // Nor is a loop whose body is never reached.
    %r = bir.register "r"
    bir.loop %i = 0 to 1000000000000 step 1 affine {
      bir.loop %j = 0 to 1000 step 1 affine {
        bir.loop %k = 0 to 0 step 1 affine {
          bir.register_move outs(%r) ins(1 : i32)
        }
      }
    }
  }
}

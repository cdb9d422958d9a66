// RUN: not nki-sim %s 2>&1 | filecheck %s
// RUN: not nki-sim %s --max-iterations 110 2>&1 | filecheck %s --check-prefix=LESS

// Static loops are counted before anything runs.
// CHECK: too_long.mlir:12:5: error: 'bir.loop' op: the static loops of the program take 1000010000 iterations, at most 100000000 are allowed [max-iterations]
// CHECK-NEXT: bir.loop %i
// CHECK-NEXT: ^
// CHECK-NEXT: note: --max-iterations N allows more
// LESS: iterations, at most 110 are allowed [max-iterations]
bir.module @m {
  bir.func @f {
    bir.loop %i = 0 to 10000 affine {
      bir.loop %j = 0 to 100000 affine {
      }
    }
  }
}

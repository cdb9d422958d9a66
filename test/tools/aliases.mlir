// Aliases may be defined below their use, as mlir-opt writes those of locations.
// RUN: nki-opt %s --split-input-file --mlir-print-debuginfo --verify-diagnostics --mlir-disable-threading | filecheck %s
// RUN: nki-opt %s --split-input-file --verify-diagnostics --mlir-print-op-generic | filecheck %s --check-prefix=GENERIC

// CHECK:      bir.module @m {
// CHECK-NEXT:   bir.func @f {
// CHECK-NEXT:     %x = bir.tensor "x" : !nki.mem<sbuf 128x512xf32> loc("a.py":3:4)
// CHECK-NEXT:     bir.memset "i" outs(%x[0 : 128 | 0 : 512] f32) ins(1.0 : f32) loc("scale"("a.py":3:4))
// CHECK-NEXT:   } loc("{{.*}}aliases.mlir":13:3)
// CHECK-NEXT: } loc("a.py":3:4)
// GENERIC:    "bir.memset"(
bir.module @m {
  bir.func @f {
    %x = bir.tensor "x" : !t loc(#loc1)
    bir.memset "i" outs(%x[0 : 128 | 0 : 512] f32) ins(1.0 : f32) loc(#loc2)
  }
} loc(#loc1)
!t = !nki.mem<sbuf 128x512xf32>
#loc2 = loc("scale"(#loc1))
#loc1 = loc("a.py":3:4)

// -----

// expected-error @+1 {{undefined symbol alias '#lco'; did you mean '#loc'?}}
"test.op"() : () -> () loc(#lco)
#loc = loc("a.py":3:4)

// -----

"test.op"() {a = #a} : () -> ()
#a = #b
// expected-error @+1 {{undefined symbol alias '#a'}}
#b = #a

// -----

"test.op"() {a = #a} : () -> ()
#a = 1 : i32
// expected-error @+1 {{re-declaration of alias '#a'}}
#a = 2 : i32

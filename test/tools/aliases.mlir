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

// -----

// Each of these has two of the one before.
!a0 = tuple<i32, i32>
!a1 = tuple<!a0, !a0>
!a2 = tuple<!a1, !a1>
!a3 = tuple<!a2, !a2>
!a4 = tuple<!a3, !a3>
!a5 = tuple<!a4, !a4>
!a6 = tuple<!a5, !a5>
!a7 = tuple<!a6, !a6>
!a8 = tuple<!a7, !a7>
!a9 = tuple<!a8, !a8>
!a10 = tuple<!a9, !a9>
!a11 = tuple<!a10, !a10>
!a12 = tuple<!a11, !a11>
// expected-error @+1 {{alias '!a13' stands for 81918 types and attributes, at most 65536 are allowed}}
!a13 = tuple<!a12, !a12>
"test.op"() {a = !a13} : () -> ()

// -----

#l0 = loc(unknown)
#l1 = loc(fused[#l0, #l0])
#l2 = loc(fused[#l1, #l1])
#l3 = loc(fused[#l2, #l2])
#l4 = loc(fused[#l3, #l3])
#l5 = loc(fused[#l4, #l4])
#l6 = loc(fused[#l5, #l5])
#l7 = loc(fused[#l6, #l6])
#l8 = loc(fused[#l7, #l7])
#l9 = loc(fused[#l8, #l8])
#l10 = loc(fused[#l9, #l9])
#l11 = loc(fused[#l10, #l10])
#l12 = loc(fused[#l11, #l11])
#l13 = loc(fused[#l12, #l12])
#l14 = loc(fused[#l13, #l13])
// expected-error @+1 {{alias '#l15' stands for 131069 types and attributes, at most 65536 are allowed}}
#l15 = loc(fused[#l14, #l14])
"test.op"() : () -> () loc(#l15)

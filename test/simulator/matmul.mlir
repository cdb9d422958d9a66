// RUN: nki-sim %s --input lhsT=arange --input rhs=ones --print | filecheck %s

// Two products of depth 2 accumulate in PSUM: the first overwrites, the second adds.

// CHECK:      out : 2x3xf32
// CHECK-NEXT: {{\[\[}}12.0, 12.0, 12.0],
// CHECK-NEXT:  [16.0, 16.0, 16.0]]
bir.module @matmul attributes {arch = #nki.arch<gen3>} {
  bir.func @f {
    %lhsT = bir.tensor "lhsT" kind external_input : !nki.mem<hbm 4x2xf32>
    %rhs = bir.tensor "rhs" kind external_input : !nki.mem<hbm 4x3xf32>
    %out = bir.tensor "out" kind external_output : !nki.mem<hbm 2x3xf32>
    %a = bir.tensor "a" at <0, 0> : !nki.mem<sbuf 2x2xf32>
    %b = bir.tensor "b" at <0, 8> : !nki.mem<sbuf 2x3xf32>
    %c = bir.tensor "c" at <0, 20> : !nki.mem<sbuf 2x3xf32>
    %p = bir.tensor "p" at <0, 2048> : !nki.mem<psum 2x3xf32>
    bir.loop %k = 0 to 2 step 1 sequential {
      bir.load outs(%a[0 : 2 | 0 : 2] f32) ins(%lhsT[4*%k : 2*2, 2] f32)
      bir.load outs(%b[0 : 2 | 0 : 3] f32) ins(%rhs[6*%k : 3*2, 3] f32)
      bir.matmult "mm" outs(%p[0 : 2 | 0 : 3] f32) ins(%a[0 : 2 | 0 : 2] f32, %b[0 : 2 | 0 : 3] f32)
    }
    bir.tensor_copy outs(%c[0 : 2 | 0 : 3] f32) ins(%p[0 : 2 | 0 : 3] f32)
    bir.save outs(%out[0 : 3*2, 3] f32) ins(%c[0 : 2 | 0 : 3] f32)
  }
}

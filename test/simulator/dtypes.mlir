// RUN: nki-sim %s --input x=arange --print | filecheck %s

// Writes round to nearest, ties to even; integers saturate.

// CHECK:      b : 1x8xbf16
// CHECK-NEXT: {{\[\[}}0.0, 100.0, 200.0, 300.0, 400.0, 500.0, 600.0, 700.0]]
// CHECK:      u : 1x8xu8
// CHECK-NEXT: {{\[\[}}0, 100, 200, 255, 255, 255, 255, 255]]
// CHECK:      e : 1x8xf8e4
// CHECK-NEXT: {{\[\[}}0.0, 104.0, 208.0, inf, inf, inf, inf, inf]]
// CHECK:      s : f32
// CHECK-NEXT: 700.7
bir.module @dtypes attributes {arch = #nki.arch<gen3>} {
  bir.func @f {
    %x = bir.tensor "x" kind external_input : !nki.mem<hbm 1x8xf32>
    %b = bir.tensor "b" kind external_output : !nki.mem<hbm 1x8xbf16>
    %u = bir.tensor "u" kind external_output : !nki.mem<hbm 1x8xu8>
    %e = bir.tensor "e" kind external_output : !nki.mem<hbm 1x8xf8e4>
    %s = bir.tensor "s" kind external_output : !nki.mem<hbm f32>
    %t = bir.tensor "t" : !nki.mem<sbuf 1x8xf32>
    bir.load outs(%t[0 : 1 | 0 : 8] f32) ins(%x[0 : 8, 1*1] f32)
    bir.tensor_scalar mult outs(%t[0 : 1 | 0 : 8] f32) ins(%t[0 : 1 | 0 : 8] f32, operand0 = 100.1 : f32)
    bir.save outs(%b[0 : 8] bf16) ins(%t[0 : 1 | 0 : 8] f32)
    bir.save outs(%u[0 : 8] u8) ins(%t[0 : 1 | 0 : 8] f32)
    bir.save outs(%e[0 : 8] f8e4) ins(%t[0 : 1 | 0 : 8] f32)
    bir.save outs(%s[0 : 1] f32) ins(%t[0 : 1 | 7 : 1] f32)
  }
}

// RUN: nki-sim %s --input a=arange --print | filecheck %s

// CHECK:      y : 4x4xf32
// CHECK-NEXT: {{\[\[}}0.0, 2.0, 4.0, 6.0],
// CHECK-NEXT:  [8.0, 10.0, 12.0, 14.0],
// CHECK-NEXT:  [16.0, 18.0, 20.0, 22.0],
// CHECK-NEXT:  [24.0, 26.0, 28.0, 30.0]]
bir.module @double attributes {arch = #nki.arch<gen3>} {
  bir.func @f {
    %a = bir.tensor "a" kind external_input : !nki.mem<hbm 4x4xf32>
    %y = bir.tensor "y" kind external_output : !nki.mem<hbm 4x4xf32>
    %t = bir.tensor "t" at <0, 64> : !nki.mem<sbuf 4x4xf32>
    bir.load "load" outs(%t[0 : 4 | 0 : 4] f32) ins(%a[0 : 4*4, 4] f32)
    bir.tensor_tensor add "add" outs(%t[0 : 4 | 0 : 4] f32) ins(%t[0 : 4 | 0 : 4] f32, %t[0 : 4 | 0 : 4] f32)
    bir.save "save" outs(%y[0 : 4*4, 4] f32) ins(%t[0 : 4 | 0 : 4] f32)
  }
}

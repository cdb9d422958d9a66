// RUN: nki-sim %s --print | filecheck %s

// A ragged tile: a mask shrinks the load, the instruction computes on all of the tile, the store leaves the rest out.

// CHECK:      y : 6x2xf32
// CHECK-NEXT: [2.0, 2.0]
// CHECK-NEXT: [2.0, 2.0]
// CHECK-NEXT: [2.0, 2.0]
// CHECK-NEXT: [2.0, 2.0]
// CHECK-NEXT: [2.0, 2.0]
// CHECK-NEXT: [2.0, 2.0]
bir.module @undefined {
  bir.func @f {
    %h = bir.tensor "h" : !nki.mem<hbm 6x2xf32>
    %y = bir.tensor "y" kind external_output : !nki.mem<hbm 6x2xf32>
    %c = bir.tensor "c" : !nki.mem<sbuf 6x2xf32>
    bir.memset outs(%c[0 : 6 | 0 : 2] f32) ins(1.0 : f32)
    bir.save outs(%h[0 : 2*6, 2] f32) ins(%c[0 : 6 | 0 : 2] f32)
    bir.loop %i = 0 to 2 step 1 affine {
      %t = bir.tensor "t" : !nki.mem<sbuf 4x2xf32>
      bir.load outs(%t[0 : min(4, -4*%i + 6) | 0 : 2] f32) ins(%h[8*%i : 2*min(4, -4*%i + 6), 2] f32)
      bir.tensor_tensor add outs(%t[0 : 4 | 0 : 2] f32) ins(%t[0 : 4 | 0 : 2] f32, %t[0 : 4 | 0 : 2] f32)
      bir.save outs(%y[8*%i : 2*min(4, -4*%i + 6), 2] f32) ins(%t[0 : min(4, -4*%i + 6) | 0 : 2] f32)
    }
  }
}

bir.module @power {
  bir.func @sg0000 {
    %x = bir.tensor "x" kind external_input : !nki.mem<hbm 2x4xf32>
    %y = bir.tensor "y" kind external_output : !nki.mem<hbm 2x4xf32>
    %t = bir.tensor "t" : !nki.mem<sbuf 2x4xf32>
    bir.load "in" outs(%t[0 : 2 | 0 : 4] f32) ins(%x[0 : 4*2, 4] f32)
    bir.activation exp "power" outs(%t[0 : 2 | 0 : 4] f32) ins(%t[0 : 2 | 0 : 4] f32, scale = 2.0 : f32)
    bir.save "out" outs(%y[0 : 4*2, 4] f32) ins(%t[0 : 2 | 0 : 4] f32)
  }
}

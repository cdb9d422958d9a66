// RUN: nki-opt %s -p unroll --split-input-file --verify-diagnostics --allow-unregistered-dialect

bir.module @m {
  bir.func @f {
    bir.loop %i = 0 to 2 step 1 affine {
      // expected-error @+1 {{'test.use' op stands in a loop, of which only instructions, storage and loops can be unrolled}}
      "test.use"(%i) : (!nki.iv) -> ()
    }
  }
}

// -----

bir.module @m {
  bir.func @f {
    %t = bir.tensor "t" : !nki.mem<sbuf 128x64xf32>
    // expected-error @+1 {{unrolling gives 30000003 ops, at most 2000000 are allowed (option max-instructions)}}
    bir.loop %i = 0 to 1000000000 step 100 affine {
      bir.memset outs(%t[0 : 128 | 0 : 64] f32) ins(0.0 : f32)
      bir.memset outs(%t[0 : 128 | 0 : 64] f32) ins(0.0 : f32)
      bir.loop %j = 0 to 1 step 1 affine {
        bir.memset outs(%t[0 : 128 | 0 : 64] f32) ins(0.0 : f32)
      }
    }
  }
}

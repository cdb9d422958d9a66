// RUN: nki-opt %s -p allocate-first-fit --split-input-file --verify-diagnostics

bir.module @m {
  bir.func @f {
    %a = bir.tensor "a" at <0, 2048> : !nki.mem<psum 128x256xf32>
    // expected-error @+1 {{'bir.tensor' op 'big' needs 14340 bytes in each partition of psum; of 16384 bytes 15360 are free where it becomes live, the longest run has 13312 [X-FMAX]}}
    %b = bir.tensor "big" : !nki.mem<psum 128x3585xf32>
    bir.memset outs(%b[0 : 128 | 0 : 64] f32) ins(0.0 : f32)
  }
}

// -----

bir.module @m attributes {arch = #nki.arch<gen2>} {
  bir.func @f {
    %a = bir.tensor "a" at <0, 4000> : !nki.mem<sbuf 128x1000xf32>
    // expected-error @+1 {{'bir.tensor' op 't' block 1 needs 100000 bytes in each partition of sbuf; of 180224 bytes 76224 are free where it becomes live, the longest run has 72224 [X-FMAX]}}
    %t = bir.tensor "t" : !nki.mem<sbuf 128x25000xf32, blocks 2>
    bir.tensor_copy outs(%t{1}[0 : 128 | 0 : 64] f32) ins(%t{0}[0 : 128 | 0 : 64] f32)
  }
}

// -----

bir.module @m {
  bir.func @f {
    // expected-error @+1 {{'bir.tensor' op 't' has 256 partitions, sbuf has 128 [X-PMAX]}}
    %t = bir.tensor "t" : !nki.mem<sbuf 256x16xf32>
  }
}

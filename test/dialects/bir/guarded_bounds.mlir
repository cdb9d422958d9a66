// RUN: nki-opt %s --split-input-file --verify-diagnostics | filecheck %s

// Bounds hold for the iterations in which an instruction runs: guards and masks that leave nothing take others out.

// CHECK-COUNT-4: bir.memset
bir.module @m {
  bir.func @f {
    %x = bir.tensor "x" : !nki.mem<sbuf 128x512xf32>
    bir.loop %j = 0 to 8 step 1 affine {
      bir.memset outs(%x[0 : 32 | 128*%j : 128] f32) ins(0.0 : f32) when(-1*%j + 3 ge 0)
      bir.memset outs(%x[0 : 32 | 128*%j + 384 : 128] f32) ins(0.0 : f32) when(%j eq 0)
      bir.memset outs(%x[32*%j : 32 | 0 : min(512, -128*%j + 512)] f32) ins(0.0 : f32)
      bir.loop %k = 0 to 8 step 1 affine {
        bir.memset outs(%x[0 : 32 | 128*%j + 128*%k : 128] f32) ins(0.0 : f32) when(-1*%j - %k + 3 ge 0)
      }
    }
  }
}

// -----

// CHECK: bir.memset
bir.module @m {
  bir.func @f {
    %k = bir.tensor "k" : !nki.mem<sbuf 32x512xf32, blocks 4>
    bir.loop %j = 0 to 8 step 1 affine {
      bir.memset outs(%k{%j}[0 : 32 | 0 : min(512, -512*%j + 2048)] f32) ins(0.0 : f32)
    }
  }
}

// -----

bir.module @m {
  bir.func @f {
    %x = bir.tensor "x" : !nki.mem<sbuf 128x512xf32>
    bir.loop %j = 0 to 8 step 1 affine {
      // expected-error @+1 {{'bir.memset' op dst reaches element 639 of a partition, it has 512 elements [X-FMAX]}}
      bir.memset outs(%x[0 : 32 | 128*%j : 128] f32) ins(0.0 : f32) when(-1*%j + 4 ge 0)
    }
  }
}

// -----

bir.module @m {
  bir.func @f {
    %k = bir.tensor "k" : !nki.mem<sbuf 32x512xf32, blocks 4>
    bir.loop %j = 0 to 8 step 1 affine {
      // expected-error @+1 {{'bir.memset' op dst accesses block 4, its storage has 4 [X-FMAX]}}
      bir.memset outs(%k{%j}[0 : 32 | 0 : min(512, -512*%j + 2049)] f32) ins(0.0 : f32)
    }
  }
}

// -----

// Parameters that depend on a loop are checked for all their values.

// CHECK: bir.matmult
bir.module @m attributes {arch = #nki.arch<gen3>} {
  bir.func @f {
    %h = bir.tensor "h" : !nki.mem<sbuf 128x64xbf16>
    %p = bir.tensor "p" : !nki.mem<psum 128x64xf32>
    bir.loop %j = 0 to 4 step 1 sequential {
      bir.matmult outs(%p[0 : 32 | 0 : 64] f32) ins(%h[0 : 32 | 0 : 32] bf16, %h[0 : 32 | 0 : 64] bf16) params(accumulate = 0, tile_position = [32*%j, 0], tile_size = [32, 32])
    }
  }
}

// -----

bir.module @m attributes {arch = #nki.arch<gen3>} {
  bir.func @f {
    %h = bir.tensor "h" : !nki.mem<sbuf 128x64xbf16>
    %p = bir.tensor "p" : !nki.mem<psum 128x64xf32>
    bir.loop %j = 0 to 5 step 1 sequential {
      // expected-error @+1 {{'bir.matmult' op tile_position has row 128, it must be a multiple of 32 with the tile inside 128 [BIR052]}}
      bir.matmult outs(%p[0 : 32 | 0 : 64] f32) ins(%h[0 : 32 | 0 : 32] bf16, %h[0 : 32 | 0 : 64] bf16) params(accumulate = 0, tile_position = [32*%j, 0], tile_size = [32, 32])
    }
  }
}

// -----

bir.module @m attributes {arch = #nki.arch<gen3>} {
  bir.func @f {
    %h = bir.tensor "h" : !nki.mem<sbuf 128x64xbf16>
    %p = bir.tensor "p" : !nki.mem<psum 128x64xf32>
    bir.loop %j = 0 to 4 step 1 sequential {
      // expected-error @+1 {{'bir.matmult' op tile_size: row size must be in [32, 64, 128], got 48 [BIR052]}}
      bir.matmult outs(%p[0 : 32 | 0 : 64] f32) ins(%h[0 : 32 | 0 : 32] bf16, %h[0 : 32 | 0 : 64] bf16) params(accumulate = 0, tile_position = [32*%j, 0], tile_size = [48, 32])
    }
  }
}

// -----

// What masks and guards leave of two loops decides, not what each loop could reach without the other.

bir.module @m attributes {arch = #nki.arch<gen3>} {
  bir.func @f {
    %t = bir.tensor "t" : !nki.mem<sbuf 128x64xf32>
    bir.loop %i = 0 to 4 step 1 sequential {
      bir.loop %j = 0 to 4 step 1 sequential {
        bir.memset outs(%t[24*%i + 8*%j : 8 | 0 : 64] f32) ins(1.0 : f32) when(%i - %j eq 0)
        bir.memset outs(%t[64*%i + 64*%j : 32 | 0 : 64] f32) ins(1.0 : f32) when(-1*%i - %j + 1 ge 0)
        bir.memset outs(%t[64*%i : min(64, -64*%i - 8*%j + 100) | 0 : 64] f32) ins(1.0 : f32)
        bir.memset outs(%t[500*%i + 7*%j + 900 : 99 | 0 : 64] f32) ins(1.0 : f32) when(%i + %j - 7 eq 0)
        // expected-error @+1 {{'bir.memset' op dst accesses 8 partitions from partition 24, they must start at 0, 32, 64 or 96 [HW-P2]}}
        bir.memset outs(%t[24*%i : 8 | 0 : 64] f32) ins(1.0 : f32) when(%i - %j eq 0)
        // expected-error @+1 {{'bir.memset' op dst accesses 36 partitions from partition 32, they must start at 0 or 64 [HW-P2]}}
        bir.memset outs(%t[32*%i : min(64, -32*%i - 16*%j + 100) | 0 : 64] f32) ins(1.0 : f32)
        // expected-error @+1 {{'bir.memset' op dst reaches partition 159, its storage has 128 partitions [X-FMAX]}}
        bir.memset outs(%t[64*%i + 64*%j : 32 | 0 : 64] f32) ins(1.0 : f32) when(-1*%i - %j + 2 ge 0)
      }
    }
  }
}

// -----

// A mask bounds what an access reaches, in elements and in partitions; what never runs reaches nothing.

bir.module @m attributes {arch = #nki.arch<gen3>} {
  bir.func @f {
    %t = bir.tensor "t" : !nki.mem<sbuf 64x32xf32>
    bir.loop %i = 0 to 4 step 1 sequential {
      bir.memset outs(%t[0 : 32 | 16 : min(20, 5*%i + 1)] f32) ins(1.0 : f32)
      bir.memset outs(%t[32 : min(40, 9*%i + 5) | 0 : 32] f32) ins(1.0 : f32)
      bir.memset outs(%t[96 : 32 | 0 : 64] f32) ins(1.0 : f32) when(2 eq 0)
      // expected-error @+1 {{'bir.memset' op dst reaches element 32 of a partition, it has 32 elements [X-FMAX]}}
      bir.memset outs(%t[0 : 32 | 16 : min(20, 5*%i + 2)] f32) ins(1.0 : f32)
      // expected-error @+1 {{'bir.memset' op dst reaches partition 64, its storage has 64 partitions [X-FMAX]}}
      bir.memset outs(%t[32 : min(40, 9*%i + 6) | 0 : 32] f32) ins(1.0 : f32)
    }
  }
}

// -----

// A loop may move an access from one bank of PSUM to the next; one iteration stays in one.

bir.module @m attributes {arch = #nki.arch<gen3>} {
  bir.func @f {
    %p = bir.tensor "p" at <0, 0> : !nki.mem<psum 128x2048xf32>
    %a = bir.tensor "a" : !nki.mem<sbuf 128x512xf32>
    bir.loop %i = 0 to 4 step 1 affine {
      bir.matmult outs(%p[0 : 128 | 512*%i : 512] f32) ins(%a[0 : 128 | 0 : 128] f32, %a[0 : 128 | 0 : 512] f32)
      // expected-error @+1 {{'bir.matmult' op dst spans the PSUM banks 0 to 1, it must lie in one [BIR110]}}
      bir.matmult outs(%p[0 : 128 | 384*%i : 512] f32) ins(%a[0 : 128 | 0 : 128] f32, %a[0 : 128 | 0 : 512] f32)
    }
  }
}

// -----

// Blocks that lie alike are checked as one where an index chooses among them; of others the place is not known.

bir.module @m attributes {arch = #nki.arch<gen3>} {
  bir.func @f {
    %t = bir.tensor "t" at <32, 0>, <32, 2048> : !nki.mem<sbuf 64x32xf32, blocks 2>
    %u = bir.tensor "u" at <0, 4096>, <32, 4096> : !nki.mem<sbuf 64x32xf32, blocks 2>
    bir.loop %i = 0 to 2 step 1 affine {
      bir.memset outs(%t{%i}[32 : 32 | 0 : 32] f32) ins(1.0 : f32)
      bir.memset outs(%u{%i}[16 : 16 | 0 : 32] f32) ins(1.0 : f32)
      // expected-error @+1 {{'bir.memset' op dst accesses 16 partitions from partition 48, they must start at 0, 32, 64 or 96 [HW-P2]}}
      bir.memset outs(%t{%i}[16 : 16 | 0 : 32] f32) ins(1.0 : f32)
    }
  }
}

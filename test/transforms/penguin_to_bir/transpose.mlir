// RUN: nki-opt %s -p convert-penguin-to-bir --split-input-file | filecheck %s

// On the Tensor engine: a matmul by the identity, one for each element type, made once at the head of the function.
// CHECK:      bir.func @pe {
// CHECK-NEXT:   %a = bir.tensor "a" : !nki.mem<sbuf 128x64xf32>
// CHECK-NEXT:   %b = bir.tensor "b" : !nki.mem<sbuf 128x64xbf16>
// CHECK-NEXT:   %p = bir.tensor "p" : !nki.mem<psum 64x128xf32>
// CHECK-NEXT:   %q = bir.tensor "q" : !nki.mem<psum 64x128xbf16>
// CHECK-NEXT:   %identity_f32 = bir.tensor "identity_f32" : !nki.mem<sbuf 128x128xf32>
// CHECK-NEXT:   %identity_bf16 = bir.tensor "identity_bf16" : !nki.mem<sbuf 128x128xbf16>
// CHECK-NEXT:   bir.memset "memset_id.bf16" outs(%identity_bf16[0 : 128 | 0 : 128] bf16) ins(0.0 : f32)
// CHECK-NEXT:   bir.tensor_scalar_affine_select not_equal "affsel_id.bf16" outs(%identity_bf16[0 : 128 | 0 : 128] bf16) ins(%identity_bf16[0 : 128 | 0 : 128] bf16, 1.0 : f32) {pattern = #nki.pattern<1*128>, channel_multiplier = -1 : i64}
// CHECK-NEXT:   bir.memset "memset_id.f32" outs(%identity_f32[0 : 128 | 0 : 128] f32) ins(0.0 : f32)
// CHECK-NEXT:   bir.tensor_scalar_affine_select not_equal "affsel_id.f32" outs(%identity_f32[0 : 128 | 0 : 128] f32) ins(%identity_f32[0 : 128 | 0 : 128] f32, 1.0 : f32) {pattern = #nki.pattern<1*128>, channel_multiplier = -1 : i64}
// CHECK-NEXT:   bir.loop %i = 0 to 2 step 1 affine {
// CHECK-NEXT:     bir.matmult is_transpose is_moving_onezero on pe "I-1" outs(%p[0 : 64 | 0 : 128] f32) ins(%a[0 : 128 | 0 : 64] f32, %identity_f32[0 : 128 | 0 : 128] f32) when(%i - 1 ge 0)
// CHECK-NEXT:     bir.matmult is_transpose is_moving_onezero on pe "I-2" outs(%p[0 : 64 | 64*%i : 64] f32) ins(%a[64*%i : 64 | 0 : 64] f32, %identity_f32[0 : 64 | 0 : 64] f32)
// CHECK-NEXT:     bir.matmult is_transpose is_moving_onezero on pe "I-3" outs(%q[0 : 64 | 0 : 128] bf16) ins(%b[0 : 128 | 0 : 64] bf16, %identity_bf16[0 : 128 | 0 : 128] bf16)
// CHECK-NEXT:   }
// CHECK-NEXT: }
// CHECK-NEXT: bir.func @another {
// CHECK:        %[[ID:[a-z0-9_.]+]] = bir.tensor "identity_f32" : !nki.mem<sbuf 128x128xf32>
// CHECK:        bir.matmult is_transpose is_moving_onezero on pe outs({{.*}}) ins({{.*}}, %[[ID]][0 : 128 | 0 : 128] f32)
penguin.module @m {
  penguin.func @pe {
    %a = penguin.tensor "a" : !nki.mem<sbuf 128x64xf32>
    %b = penguin.tensor "b" : !nki.mem<sbuf 128x64xbf16>
    %p = penguin.tensor "p" : !nki.mem<psum 64x128xf32>
    %q = penguin.tensor "q" : !nki.mem<psum 64x128xbf16>
    penguin.loop %i = 0 to 2 step 1 affine {
      penguin.transpose on pe "I-1" outs(%p[0 : 64 | 0 : 128] f32) ins(%a[0 : 128 | 0 : 64] f32) when(%i - 1 ge 0)
      penguin.transpose on pe "I-2" outs(%p[0 : 64 | 64*%i : 64] f32) ins(%a[64*%i : 64 | 0 : 64] f32)
      penguin.transpose on pe "I-3" outs(%q[0 : 64 | 0 : 128] bf16) ins(%b[0 : 128 | 0 : 64] bf16)
    }
  }
  penguin.func @another {
    %a = penguin.tensor "a" : !nki.mem<sbuf 128x64xf32>
    %p = penguin.tensor "p" : !nki.mem<psum 64x128xf32>
    penguin.transpose on pe outs(%p[0 : 64 | 0 : 128] f32) ins(%a[0 : 128 | 0 : 64] f32)
  }
}

// -----

// On the Vector engine
// CHECK:      bir.stream_transpose on dve "I-1" outs(%b[0 : 16 | 0 : 32] bf16) ins(%a[0 : 32 | 0 : 16] bf16)
penguin.module @m {
  penguin.func @dve {
    %a = penguin.tensor "a" : !nki.mem<sbuf 32x16xbf16>
    %b = penguin.tensor "b" : !nki.mem<sbuf 16x32xbf16>
    penguin.transpose on dve "I-1" outs(%b[0 : 16 | 0 : 32] bf16) ins(%a[0 : 32 | 0 : 16] bf16)
  }
}

// -----

// Without an engine, or with one to be chosen, the destination decides.
// CHECK-LABEL: bir.func @chosen
// CHECK:       bir.matmult is_transpose is_moving_onezero on pe "to-psum" outs(%p[0 : 32 | 0 : 32] f32)
// CHECK-NEXT:  bir.stream_transpose on dve "to-sbuf" outs(%b[0 : 32 | 0 : 32] f32)
// CHECK-NEXT:  bir.stream_transpose on dve "from-psum" outs(%p[0 : 32 | 0 : 32] f32) ins(%p[0 : 32 | 0 : 32] f32)
penguin.module @m {
  penguin.func @chosen {
    %a = penguin.tensor "a" : !nki.mem<sbuf 32x32xf32>
    %b = penguin.tensor "b" : !nki.mem<sbuf 32x32xf32>
    %p = penguin.tensor "p" : !nki.mem<psum 32x32xf32>
    penguin.transpose "to-psum" outs(%p[0 : 32 | 0 : 32] f32) ins(%a[0 : 32 | 0 : 32] f32)
    penguin.transpose on unassigned "to-sbuf" outs(%b[0 : 32 | 0 : 32] f32) ins(%a[0 : 32 | 0 : 32] f32)
    penguin.transpose "from-psum" outs(%p[0 : 32 | 0 : 32] f32) ins(%p[0 : 32 | 0 : 32] f32)
  }
}

// -----

// The Tensor engine moves types that it cannot multiply as others of their size; a mask shrinks the identity with the
// data; a name that is taken is not given again.
// CHECK-LABEL: bir.func @special
// CHECK:       %identity_f32 = bir.tensor "identity_f32" : !nki.mem<sbuf 128x64xi32>
// CHECK:       = bir.tensor "identity_f32.1" : !nki.mem<sbuf 128x128xf32>
// CHECK:       bir.loop %i
// CHECK-NEXT:    bir.matmult is_transpose is_moving_onezero on pe outs(%p[0 : 64 | 0 : min(64, -64*%i + 100)] f32) ins(%identity_f32[64*%i : min(64, -64*%i + 100) | 0 : 64] f32, %[[ID:[a-z0-9_.]+]][0 : min(64, -64*%i + 100) | 0 : min(64, -64*%i + 100)] f32)
// CHECK-NEXT:  }
penguin.module @m {
  penguin.func @special {
    %identity_f32 = penguin.tensor "identity_f32" : !nki.mem<sbuf 128x64xi32>
    %p = penguin.tensor "p" : !nki.mem<psum 64x128xi32>
    penguin.loop %i = 0 to 2 step 1 affine {
      penguin.transpose on pe outs(%p[0 : 64 | 0 : min(64, -64*%i + 100)] i32) ins(%identity_f32[64*%i : min(64, -64*%i + 100) | 0 : 64] i32)
    }
  }
}

// Every operator of KLR has its counterpart in BIR; what only its record on disk has is gone.
// RUN: nki-opt %s -p convert-klr-to-bir | filecheck %s
// RUN: nki-opt %s -p convert-klr-to-bir | nki-opt | filecheck %s
// RUN: nki-opt %s -p convert-klr-to-bir,convert-klr-to-bir | filecheck %s

// CHECK:      bir.module @k {
// CHECK-NEXT:   bir.func @sg0000 attributes {core = 0 : i64} {
klr.kernel @k attributes {klr.disk = {format = "NKI"}} {
  klr.body 0 {
    // CHECK-NEXT: %h = bir.tensor "h" : !nki.mem<hbm 128x64xf32>
    %h = klr.tensor "h" : !nki.mem<hbm 128x64xf32>
    // CHECK-NEXT: %a = bir.tensor "a" at <0, 512> {user_allocated} : !nki.mem<sbuf 128x64xf32>
    %a = klr.tensor "a" at <0, 512> : !nki.mem<sbuf 128x64xf32>
    // CHECK-NEXT: %c = bir.tensor "c" : !nki.mem<sbuf 128x6xf32>
    %c = klr.tensor "c" {address_rotation, klr.disk = {isShared = "true"}} : !nki.mem<sbuf 128x6xf32>
    // CHECK-NEXT: %w = bir.tensor "w" : !nki.mem<sbuf 128x64xbf16>
    %w = klr.tensor "w" : !nki.mem<sbuf 128x64xbf16>
    // CHECK-NEXT: %u = bir.tensor "u" : !nki.mem<sbuf 128x64xu8>
    %u = klr.tensor "u" : !nki.mem<sbuf 128x64xu8>
    // CHECK-NEXT: %p = bir.tensor "p" : !nki.mem<psum 64x64xf32>
    %p = klr.tensor "p" : !nki.mem<psum 64x64xf32>
    // CHECK-NEXT: %r = bir.register "r"
    %r = klr.register "r"

    klr.block "main.1" {
      // Memory
      // CHECK-NEXT: bir.memset on dve "i.1" outs(%a[0 : 128 | 0 : 64] f32) ins(1.5 : f32)
      klr.mem_set on dve "i.1" outs(%a[0 : 128 | 0 : 64] f32) ins(1.5 : f32) {dtype = #nki.dtype<f32>}
      // CHECK-NEXT: bir.tensor_copy on act "i.2" outs(%w[0 : 128 | 0 : 64] bf16) ins(%a[0 : 128 | 0 : 64] f32)
      klr.nc_copy on act "i.2" outs(%w[0 : 128 | 0 : 64] bf16) ins(%a[0 : 128 | 0 : 64] f32) {dtype = #nki.dtype<bf16>}
      // CHECK-NEXT: bir.dma_copy "i.3" outs(%a[0 : 128 | 0 : 64] f32) ins(%h[0 : 64*128, 64] f32) {dge_type = #nki.dge<swdge>}
      klr.nc_dma_copy unique_indices "i.3" outs(%a[0 : 128 | 0 : 64] f32) ins(%h[0 : 64*128, 64] f32) {oob_mode = #nki.oob<skip>, dge_type = #nki.dge<swdge>, priority = 1 : i64}

      // Compute
      // CHECK-NEXT: bir.tensor_tensor add "i.4" outs(%a[0 : 128 | 0 : 64] f32) ins(%a[0 : 128 | 0 : 64] f32, %a[0 : 128 | 63 : -1*64] f32)
      klr.tensor_tensor add "i.4" outs(%a[0 : 128 | 0 : 64] f32) ins(%a[0 : 128 | 0 : 64] f32, %a[0 : 128 | 63 : -1*64] f32) {dtype = #nki.dtype<f32>}
      // CHECK-NEXT: bir.tensor_scalar_ptr mult add reverse1 "i.5" outs(%a[0 : 128 | 0 : 64] f32) ins(%a[0 : 128 | 0 : 64] f32, operand0 = %c[0 : 128 | 0 : 1] f32, operand1 = 2.0 : f32)
      klr.tensor_scalar mult add reverse1 "i.5" outs(%a[0 : 128 | 0 : 64] f32) ins(%a[0 : 128 | 0 : 64] f32, operand0 = %c[0 : 128 | 0 : 1] f32, operand1 = 2.0 : f32) {dtype = #nki.dtype<f32>}
      // CHECK-NEXT: bir.tensor_scalar_ptr mult add is_scalar_tensor_tensor "i.6" outs(%a[0 : 128 | 0 : 64] f32) ins(%a[0 : 128 | 0 : 64] f32, operand0 = 2.0 : f32, operand1 = %a[0 : 128 | 0 : 64] f32)
      klr.nc_scalar_tensor_tensor mult add "i.6" outs(%a[0 : 128 | 0 : 64] f32) ins(%a[0 : 128 | 0 : 64] f32, 2.0 : f32, %a[0 : 128 | 0 : 64] f32) {dtype = #nki.dtype<f32>}
      // CHECK-NEXT: bir.activation exp "i.7" outs(%a[0 : 128 | 0 : 64] f32) ins(%a[0 : 128 | 0 : 64] f32, bias = %c[0 : 128 | 0 : 1] f32, scale = 0.5 : f32)
      klr.nc_activate exp "i.7" outs(%a[0 : 128 | 0 : 64] f32) ins(%a[0 : 128 | 0 : 64] f32, bias = %c[0 : 128 | 0 : 1] f32, scale = 0.5 : f32) {dtype = #nki.dtype<f32>}
      // CHECK-NEXT: bir.activation square "i.8" outs(%a[0 : 128 | 0 : 64] f32, reduce_res = %c[0 : 128 | 0 : 1] f32) ins(%a[0 : 128 | 0 : 64] f32) {accumulate = #nki.accumulate<zero_accumulate>, reduce_op = #nki.alu<add>}
      klr.activation_reduce square "i.8" outs(%a[0 : 128 | 0 : 64] f32, reduce_res = %c[0 : 128 | 0 : 1] f32) ins(%a[0 : 128 | 0 : 64] f32) {accumulate = #nki.accumulate<zero_accumulate>, reduce_op = #nki.alu<add>}
      // CHECK-NEXT: bir.reciprocal "i.9" outs(%a[0 : 128 | 0 : 64] f32) ins(%a[0 : 128 | 0 : 64] f32)
      klr.reciprocal "i.9" outs(%a[0 : 128 | 0 : 64] f32) ins(%a[0 : 128 | 0 : 64] f32) {dtype = #nki.dtype<f32>}
      // CHECK-NEXT: bir.tensor_reduce max x negate "i.10" outs(%c[0 : 128 | 0 : 1] f32) ins(%a[0 : 128 | 0 : 64] f32)
      klr.tensor_reduce max x negate keepdims "i.10" outs(%c[0 : 128 | 0 : 1] f32) ins(%a[0 : 128 | 0 : 64] f32) {dtype = #nki.dtype<f32>}
      // CHECK-NEXT: bir.tensor_reduce add c on pool "i.11" outs(%a[0 : 1 | 0 : 64] f32) ins(%a[0 : 128 | 0 : 64] f32)
      klr.tensor_partition_reduce add on pool "i.11" outs(%a[0 : 1 | 0 : 64] f32) ins(%a[0 : 128 | 0 : 64] f32) {dtype = #nki.dtype<f32>}
      // CHECK-NEXT: bir.bn_stats "i.12" outs(%c[0 : 128 | 0 : 6] f32) ins(%a[0 : 128 | 0 : 64] f32)
      klr.batch_norm_stats "i.12" outs(%c[0 : 128 | 0 : 6] f32) ins(%a[0 : 128 | 0 : 64] f32) {dtype = #nki.dtype<f32>}
      // CHECK-NEXT: bir.bn_stats_aggregate "i.13" outs(%c[0 : 128 | 0 : 2] f32) ins(%c[0 : 128 | 0 : 6] f32)
      klr.batch_norm_aggregate "i.13" outs(%c[0 : 128 | 0 : 2] f32) ins(%c[0 : 128 | 0 : 6] f32) {dtype = #nki.dtype<f32>}
      // CHECK-NEXT: bir.iota "i.14" outs(%a[0 : 128 | 0 : 64] f32) {pattern = #nki.pattern<1*64>, channel_multiplier = 64 : i64}
      klr.iota "i.14" outs(%a[0 : 128 | 0 : 64] f32) {pattern = #nki.pattern<1*64>, channel_multiplier = 64 : i64, dtype = #nki.dtype<f32>}
      // CHECK-NEXT: bir.tensor_scalar_affine_select is_ge "i.15" outs(%a[0 : 128 | 0 : 64] f32) ins(%a[0 : 128 | 0 : 64] f32, -1.0 : f32) {pattern = #nki.pattern<1*64>}
      klr.nc_affine_select is_ge "i.15" outs(%a[0 : 128 | 0 : 64] f32) ins(%a[0 : 128 | 0 : 64] f32, -1.0 : f32) {pattern = #nki.pattern<1*64>, dtype = #nki.dtype<f32>}
      // CHECK-NEXT: bir.select "i.16" outs(%a[0 : 128 | 0 : 64] f32) ins(%u[0 : 128 | 0 : 64] u8, %a[0 : 128 | 0 : 64] f32, 0.0 : f32)
      klr.select_reduce "i.16" outs(%a[0 : 128 | 0 : 64] f32) ins(%u[0 : 128 | 0 : 64] u8, %a[0 : 128 | 0 : 64] f32, 0.0 : f32) {reduce_op = #nki.alu<max>, dtype = #nki.dtype<f32>}
      // CHECK-NEXT: bir.copy_predicated reverse_pred "i.17" outs(%a[0 : 128 | 0 : 64] f32) ins(%a[0 : 128 | 0 : 64] f32, %u[0 : 128 | 0 : 64] u8)
      klr.copy_predicated reverse_pred "i.17" outs(%a[0 : 128 | 0 : 64] f32) ins(%a[0 : 128 | 0 : 64] f32, %u[0 : 128 | 0 : 64] u8) {dtype = #nki.dtype<f32>}

      // Tensor engine; transposes have tests of their own
      // CHECK-NEXT: bir.matmult is_moving_onezero on pe "i.18" outs(%p[0 : 64 | 0 : 64] f32) ins(%w[0 : 128 | 0 : 64] bf16, %w[0 : 128 | 0 : 64] bf16) params(tile_position = [0, 0], tile_size = [128, 64])
      klr.nc_mat_mul is_moving_onezero on pe "i.18" outs(%p[0 : 64 | 0 : 64] f32) ins(%w[0 : 128 | 0 : 64] bf16, %w[0 : 128 | 0 : 64] bf16) params(tile_position = [0, 0], tile_size = [128, 64])

      // Registers
      // CHECK-NEXT: bir.register_move "i.19" outs(%r) ins(3 : i32)
      klr.register_move "i.19" outs(%r) ins(3 : i32)
      // CHECK-NEXT: bir.register_alu add "i.20" outs(%r) ins(%r, 1 : i32)
      klr.register_alu_op add "i.20" outs(%r) ins(%r, 1 : i32)
      // CHECK-NEXT: bir.tensor_load "i.21" outs(%r) ins(%u[0 : 1 | 0 : 1] u8)
      klr.tensor_load "i.21" outs(%r) ins(%u[0 : 1 | 0 : 1] u8)
      // CHECK-NEXT: bir.tensor_save "i.22" outs(%u[0 : 1 | 0 : 1] u8) ins(%r)
      klr.tensor_store "i.22" outs(%u[0 : 1 | 0 : 1] u8) ins(%r)
      // CHECK-NEXT: }
      // CHECK-NEXT: }
      // CHECK-NEXT: }
    }
  }
}

// Every instruction of Penguin has its counterpart in BIR; operands, parameters, names and guards carry over as they are.
// RUN: nki-opt %s -p convert-penguin-to-bir | filecheck %s
// RUN: nki-opt %s -p convert-penguin-to-bir | nki-opt | filecheck %s
// RUN: nki-opt %s -p convert-penguin-to-bir,convert-penguin-to-bir | filecheck %s

// CHECK:      bir.module @m {
// CHECK-NEXT:   bir.func @f {
penguin.module @m {
  penguin.func @f {
    // CHECK-NEXT: %h = bir.tensor "h" kind external_input : !nki.mem<hbm 128x64xf32>
    %h = penguin.tensor "h" kind external_input : !nki.mem<hbm 128x64xf32>
    // CHECK-NEXT: %a = bir.tensor "a" at <0, 512> {user_allocated} : !nki.mem<sbuf 128x64xf32>
    %a = penguin.tensor "a" at <0, 512> : !nki.mem<sbuf 128x64xf32>
    // CHECK-NEXT: %b = bir.tensor "b" : !nki.mem<sbuf 128x64xf32, blocks 2>
    %b = penguin.tensor "b" : !nki.mem<sbuf 128x64xf32, blocks 2>
    // CHECK-NEXT: %c = bir.tensor "c" : !nki.mem<sbuf 128x6xf32>
    %c = penguin.tensor "c" : !nki.mem<sbuf 128x6xf32>
    // CHECK-NEXT: %w = bir.tensor "w" : !nki.mem<sbuf 128x64xbf16>
    %w = penguin.tensor "w" : !nki.mem<sbuf 128x64xbf16>
    // CHECK-NEXT: %u = bir.tensor "u" : !nki.mem<sbuf 128x64xu8>
    %u = penguin.tensor "u" : !nki.mem<sbuf 128x64xu8>
    // CHECK-NEXT: %p = bir.tensor "p" : !nki.mem<psum 64x64xf32>
    %p = penguin.tensor "p" : !nki.mem<psum 64x64xf32>
    // CHECK-NEXT: %r = bir.register "r"
    %r = penguin.register "r"

    // Memory
    // CHECK-NEXT: bir.memset on dve "I-1" outs(%a[0 : 128 | 0 : 64] f32) ins(1.5 : f32)
    penguin.memset on dve "I-1" outs(%a[0 : 128 | 0 : 64] f32) ins(1.5 : f32)
    // CHECK-NEXT: bir.load "I-2" outs(%b{1}[0 : 128 | 0 : 64] f32) ins(%h[0 : 64*128, 64] f32) {dge_type = #nki.dge<swdge>}
    penguin.sb_atom_load "I-2" outs(%b{1}[0 : 128 | 0 : 64] f32) ins(%h[0 : 64*128, 64] f32) {dge_type = #nki.dge<swdge>}
    // CHECK-NEXT: bir.save "I-3" outs(%h[0 : 64*128, 64] f32) ins(%a[0 : 128 | 0 : 64] f32)
    penguin.sb_atom_store "I-3" outs(%h[0 : 64*128, 64] f32) ins(%a[0 : 128 | 0 : 64] f32)
    // CHECK-NEXT: bir.dma_copy "I-4" outs(%a[0 : 128 | 0 : 64] f32) ins(%b[0 : 128 | 63 : -1*64] f32){{$}}
    penguin.dma_copy "I-4" outs(%a[0 : 128 | 0 : 64] f32) ins(%b[0 : 128 | 63 : -1*64] f32) {oob_mode = #nki.oob<skip>}
    // CHECK-NEXT: bir.tensor_copy on act "I-5" outs(%w[0 : 128 | 0 : 64] bf16) ins(%a[0 : 128 | 0 : 64] f32)
    penguin.tensor_copy on act "I-5" outs(%w[0 : 128 | 0 : 64] bf16) ins(%a[0 : 128 | 0 : 64] f32)

    // Compute
    // CHECK-NEXT: bir.tensor_tensor add "I-6" outs(%a[0 : 128 | 0 : 64] f32) ins(%a[0 : 128 | 0 : 64] f32, %b[0 : 128 | 0 : 64] f32)
    penguin.tensor_tensor add "I-6" outs(%a[0 : 128 | 0 : 64] f32) ins(%a[0 : 128 | 0 : 64] f32, %b[0 : 128 | 0 : 64] f32)
    // CHECK-NEXT: bir.tensor_scalar_ptr mult add reverse1 "I-7" outs(%a[0 : 128 | 0 : 64] f32) ins(%a[0 : 128 | 0 : 64] f32, operand0 = %c[0 : 128 | 0 : 1] f32, operand1 = 2.0 : f32)
    penguin.tensor_scalar_ptr mult add reverse1 "I-7" outs(%a[0 : 128 | 0 : 64] f32) ins(%a[0 : 128 | 0 : 64] f32, operand0 = %c[0 : 128 | 0 : 1] f32, operand1 = 2.0 : f32)
    // All operands are numbers, and still it is a TensorScalarPtr.
    // CHECK-NEXT: bir.tensor_scalar_ptr mult "I-8" outs(%a[0 : 128 | 0 : 64] f32) ins(%a[0 : 128 | 0 : 64] f32, operand0 = 2.0 : f32)
    penguin.tensor_scalar_ptr mult "I-8" outs(%a[0 : 128 | 0 : 64] f32) ins(%a[0 : 128 | 0 : 64] f32, operand0 = 2.0 : f32)
    // CHECK-NEXT: bir.tensor_scalar_ptr mult add is_scalar_tensor_tensor "I-9" outs(%a[0 : 128 | 0 : 64] f32) ins(%a[0 : 128 | 0 : 64] f32, operand0 = 2.0 : f32, operand1 = %b[0 : 128 | 0 : 64] f32)
    penguin.tensor_scalar_ptr mult add is_scalar_tensor_tensor "I-9" outs(%a[0 : 128 | 0 : 64] f32) ins(%a[0 : 128 | 0 : 64] f32, operand0 = 2.0 : f32, operand1 = %b[0 : 128 | 0 : 64] f32)
    // CHECK-NEXT: bir.activation exp "I-10" outs(%a[0 : 128 | 0 : 64] f32) ins(%a[0 : 128 | 0 : 64] f32, bias = %c[0 : 128 | 0 : 1] f32, scale = 0.5 : f32)
    penguin.activation exp "I-10" outs(%a[0 : 128 | 0 : 64] f32) ins(%a[0 : 128 | 0 : 64] f32, bias = %c[0 : 128 | 0 : 1] f32, scale = 0.5 : f32)
    // CHECK-NEXT: bir.activation square "I-11" outs(%a[0 : 128 | 0 : 64] f32, reduce_res = %c[0 : 128 | 0 : 1] f32) ins(%a[0 : 128 | 0 : 64] f32) {accumulate = #nki.accumulate<zero_accumulate>, reduce_op = #nki.alu<add>}
    penguin.activation_accumulation square "I-11" outs(%a[0 : 128 | 0 : 64] f32, reduce_res = %c[0 : 128 | 0 : 1] f32) ins(%a[0 : 128 | 0 : 64] f32) {accumulate = #nki.accumulate<zero_accumulate>, reduce_op = #nki.alu<add>}
    // CHECK-NEXT: bir.reciprocal "I-12" outs(%a[0 : 128 | 0 : 64] f32) ins(%a[0 : 128 | 0 : 64] f32)
    penguin.reciprocal "I-12" outs(%a[0 : 128 | 0 : 64] f32) ins(%a[0 : 128 | 0 : 64] f32)
    // CHECK-NEXT: bir.tensor_reduce max x negate "I-13" outs(%c[0 : 128 | 0 : 1] f32) ins(%a[0 : 128 | 0 : 64] f32)
    penguin.tensor_reduce max x negate "I-13" outs(%c[0 : 128 | 0 : 1] f32) ins(%a[0 : 128 | 0 : 64] f32)
    // CHECK-NEXT: bir.tensor_reduce add c on pool "I-14" outs(%b[0 : 1 | 0 : 64] f32) ins(%a[0 : 128 | 0 : 64] f32)
    penguin.partition_reduce add on pool "I-14" outs(%b[0 : 1 | 0 : 64] f32) ins(%a[0 : 128 | 0 : 64] f32)
    // CHECK-NEXT: bir.bn_stats "I-15" outs(%c[0 : 128 | 0 : 6] f32) ins(%a[0 : 128 | 0 : 64] f32)
    penguin.sunda_bn_stats "I-15" outs(%c[0 : 128 | 0 : 6] f32) ins(%a[0 : 128 | 0 : 64] f32)
    // CHECK-NEXT: bir.bn_stats_aggregate "I-16" outs(%c[0 : 128 | 0 : 2] f32) ins(%c[0 : 128 | 0 : 6] f32)
    penguin.sunda_bn_aggr "I-16" outs(%c[0 : 128 | 0 : 2] f32) ins(%c[0 : 128 | 0 : 6] f32)
    // CHECK-NEXT: bir.iota "I-17" outs(%a[0 : 128 | 0 : 64] f32) {pattern = #nki.pattern<1*64>, channel_multiplier = 64 : i64}
    penguin.index_value "I-17" outs(%a[0 : 128 | 0 : 64] f32) {pattern = #nki.pattern<1*64>, channel_multiplier = 64 : i64}
    // CHECK-NEXT: bir.tensor_scalar_affine_select is_ge "I-18" outs(%a[0 : 128 | 0 : 64] f32) ins(%a[0 : 128 | 0 : 64] f32, -1.0 : f32) {pattern = #nki.pattern<1*64>}
    penguin.aff_sel_tensor_scalar is_ge "I-18" outs(%a[0 : 128 | 0 : 64] f32) ins(%a[0 : 128 | 0 : 64] f32, -1.0 : f32) {pattern = #nki.pattern<1*64>}
    // CHECK-NEXT: bir.select "I-19" outs(%a[0 : 128 | 0 : 64] f32) ins(%u[0 : 128 | 0 : 64] u8, %a[0 : 128 | 0 : 64] f32, 0.0 : f32)
    penguin.tensor_select "I-19" outs(%a[0 : 128 | 0 : 64] f32) ins(%u[0 : 128 | 0 : 64] u8, %a[0 : 128 | 0 : 64] f32, 0.0 : f32)
    // CHECK-NEXT: bir.copy_predicated reverse_pred "I-20" outs(%a[0 : 128 | 0 : 64] f32) ins(%b[0 : 128 | 0 : 64] f32, %u[0 : 128 | 0 : 64] u8)
    penguin.tensor_copy_predicated reverse_pred "I-20" outs(%a[0 : 128 | 0 : 64] f32) ins(%b[0 : 128 | 0 : 64] f32, %u[0 : 128 | 0 : 64] u8)

    // Tensor engine; transposes have tests of their own
    // CHECK-NEXT: bir.matmult is_moving_onezero on pe "I-21" outs(%p[0 : 64 | 0 : 64] f32) ins(%w[0 : 128 | 0 : 64] bf16, %w[0 : 128 | 0 : 64] bf16) params(accumulate = 1, tile_position = [0, 0], tile_size = [128, 64])
    penguin.mat_mul is_moving_onezero on pe "I-21" outs(%p[0 : 64 | 0 : 64] f32) ins(%w[0 : 128 | 0 : 64] bf16, %w[0 : 128 | 0 : 64] bf16) params(accumulate = 1, tile_position = [0, 0], tile_size = [128, 64])

    // Registers
    // CHECK-NEXT: bir.register_move "I-22" outs(%r) ins(3 : i32)
    penguin.register_move "I-22" outs(%r) ins(3 : i32)
    // CHECK-NEXT: bir.tensor_load "I-23" outs(%r) ins(%u[0 : 1 | 0 : 1] u8)
    penguin.load_tensor_to_register "I-23" outs(%r) ins(%u[0 : 1 | 0 : 1] u8)

    // An attribute of another dialect, and an instruction without a name
    // CHECK-NEXT: bir.reciprocal outs(%a[0 : 128 | 0 : 64] f32) ins(%a[0 : 128 | 0 : 64] f32) {test.note = "kept"}
    penguin.reciprocal outs(%a[0 : 128 | 0 : 64] f32) ins(%a[0 : 128 | 0 : 64] f32) {test.note = "kept", penguin.note = "dropped"}
    // CHECK-NEXT: }
  }
}

// Every op of Penguin, in its custom and in its generic form; each line is checked as it stands.
// RUN: nki-opt %s | filecheck %s
// RUN: nki-opt %s | nki-opt | filecheck %s
// RUN: nki-opt %s --print-op-generic | filecheck %s --check-prefix=GENERIC
// RUN: nki-opt %s --print-op-generic | nki-opt | filecheck %s
// RUN: nki-opt %s --print-debuginfo | nki-opt | filecheck %s

// CHECK: penguin.module @m attributes {arch = #nki.arch<gen3>} {
// GENERIC: "penguin.module"(
penguin.module @m attributes {arch = #nki.arch<gen3>} {
  // CHECK: penguin.func @kernel attributes {core = 0 : i64} {
  // GENERIC: "penguin.func"(
  penguin.func @kernel attributes {core = 0 : i64} {
    // CHECK: %a = penguin.tensor "a" kind external_input : !nki.mem<hbm 512x512xf32>
    // GENERIC: "penguin.tensor"(
    %a = penguin.tensor "a" kind external_input : !nki.mem<hbm 512x512xf32>
    // CHECK: %o = penguin.tensor "o" kind external_output : !nki.mem<hbm 512x512xf32>
    // GENERIC: "penguin.tensor"(
    %o = penguin.tensor "o" kind external_output : !nki.mem<hbm 512x512xf32>
    // CHECK: %x = penguin.tensor "x" : !nki.mem<sbuf 128x512xf32>
    // GENERIC: "penguin.tensor"(
    %x = penguin.tensor "x" : !nki.mem<sbuf 128x512xf32>
    // CHECK: %y = penguin.tensor "y" : !nki.mem<sbuf 128x512xf32, blocks 4>
    // GENERIC: "penguin.tensor"(
    %y = penguin.tensor "y" : !nki.mem<sbuf 128x512xf32, blocks 4>
    // CHECK: %v = penguin.tensor "v" : !nki.mem<sbuf 128x8xf32>
    // GENERIC: "penguin.tensor"(
    %v = penguin.tensor "v" : !nki.mem<sbuf 128x8xf32>
    // CHECK: %m = penguin.tensor "m" : !nki.mem<sbuf 128x512xu32>
    // GENERIC: "penguin.tensor"(
    %m = penguin.tensor "m" : !nki.mem<sbuf 128x512xu32>
    // CHECK: %s = penguin.tensor "s" : !nki.mem<sbuf 128x512xbf16>
    // GENERIC: "penguin.tensor"(
    %s = penguin.tensor "s" : !nki.mem<sbuf 128x512xbf16>
    // CHECK: %p = penguin.tensor "p" : !nki.mem<psum 128x512xf32>
    // GENERIC: "penguin.tensor"(
    %p = penguin.tensor "p" : !nki.mem<psum 128x512xf32>
    // CHECK: %n = penguin.register "n"
    // GENERIC: "penguin.register"(
    %n = penguin.register "n"
    // CHECK: penguin.loop %i = 0 to 4 step 1 spmd {
    // GENERIC: "penguin.loop"(
    penguin.loop %i = 0 to 4 step 1 spmd {
      // CHECK: penguin.sb_atom_load "load.1" outs(%y{%i}[0 : 128 | 0 : 512] f32) ins(%a[65536*%i : 512*128, 512] f32)
      // GENERIC: "penguin.sb_atom_load"(
      penguin.sb_atom_load "load.1" outs(%y{%i}[0 : 128 | 0 : 512] f32) ins(%a[65536*%i : 512*128, 512] f32)
      // CHECK: penguin.scope "tile" no_reorder multi_buffer 2 {
      // GENERIC: "penguin.scope"(
      penguin.scope "tile" no_reorder multi_buffer 2 {
        // CHECK: penguin.tensor_copy outs(%x[0 : 128 | 0 : 512] f32) ins(%y{%i}[0 : 128 | 0 : 512] f32)
        // GENERIC: "penguin.tensor_copy"(
        penguin.tensor_copy outs(%x[0 : 128 | 0 : 512] f32) ins(%y{%i}[0 : 128 | 0 : 512] f32)
      }
      // CHECK: penguin.scope attributes {nki.note = "unnamed"} {
      // GENERIC: "penguin.scope"(
      penguin.scope attributes {nki.note = "unnamed"} {
        // CHECK: penguin.sb_atom_store outs(%o[65536*%i : 512*128, 512] f32) ins(%x[0 : 128 | 0 : 512] f32) when(-%i + 2 ge 0)
        // GENERIC: "penguin.sb_atom_store"(
        penguin.sb_atom_store outs(%o[65536*%i : 512*128, 512] f32) ins(%x[0 : 128 | 0 : 512] f32) when(-%i + 2 ge 0)
      }
    }
    // CHECK: penguin.memset on pool outs(%x[0 : 128 | 0 : 512] f32) ins(1.5 : f32)
    // GENERIC: "penguin.memset"(
    penguin.memset on pool outs(%x[0 : 128 | 0 : 512] f32) ins(1.5 : f32)
    // CHECK: penguin.dma_copy outs(%o[0 : 262144] f32) ins(%a[0 : 262144] f32) {oob_mode = #nki.oob<skip>, dge_type = #nki.dge<hwdge>}
    // GENERIC: "penguin.dma_copy"(
    penguin.dma_copy outs(%o[0 : 262144] f32) ins(%a[0 : 262144] f32) {oob_mode = #nki.oob<skip>, dge_type = #nki.dge<hwdge>}
    // CHECK: penguin.tensor_tensor max outs(%x[0 : 128 | 0 : 512] f32) ins(%x[0 : 128 | 0 : 512] f32, %y{3}[0 : 128 | 0 : 512] f32)
    // GENERIC: "penguin.tensor_tensor"(
    penguin.tensor_tensor max outs(%x[0 : 128 | 0 : 512] f32) ins(%x[0 : 128 | 0 : 512] f32, %y{3}[0 : 128 | 0 : 512] f32)
    // CHECK: penguin.tensor_scalar_ptr add pow outs(%x[0 : 128 | 0 : 512] f32) ins(%x[0 : 128 | 0 : 512] f32, operand0 = 1e-05 : f32, operand1 = -0.5 : f32)
    // GENERIC: "penguin.tensor_scalar_ptr"(
    penguin.tensor_scalar_ptr add pow outs(%x[0 : 128 | 0 : 512] f32) ins(%x[0 : 128 | 0 : 512] f32, operand0 = 1e-05 : f32, operand1 = -0.5 : f32)
    // CHECK: penguin.tensor_scalar_ptr mult add is_scalar_tensor_tensor outs(%x[0 : 128 | 0 : 512] f32) ins(%x[0 : 128 | 0 : 512] f32, operand0 = %v[0 : 128 | 0 : 1] f32, operand1 = %y[0 : 128 | 0 : 512] f32)
    // GENERIC: "penguin.tensor_scalar_ptr"(
    penguin.tensor_scalar_ptr mult add is_scalar_tensor_tensor outs(%x[0 : 128 | 0 : 512] f32) ins(%x[0 : 128 | 0 : 512] f32, operand0 = %v[0 : 128 | 0 : 1] f32, operand1 = %y[0 : 128 | 0 : 512] f32)
    // CHECK: penguin.activation gelu outs(%x[0 : 128 | 0 : 512] f32) ins(%x[0 : 128 | 0 : 512] f32, scale = 1.0 : f32)
    // GENERIC: "penguin.activation"(
    penguin.activation gelu outs(%x[0 : 128 | 0 : 512] f32) ins(%x[0 : 128 | 0 : 512] f32, scale = 1.0 : f32)
    // CHECK: penguin.activation_accumulation square outs(%x[0 : 128 | 0 : 512] f32, reduce_res = %v[0 : 128 | 0 : 1] f32) ins(%x[0 : 128 | 0 : 512] f32) {accumulate = #nki.accumulate<zero_accumulate>, reduce_op = #nki.alu<add>}
    // GENERIC: "penguin.activation_accumulation"(
    penguin.activation_accumulation square outs(%x[0 : 128 | 0 : 512] f32, reduce_res = %v[0 : 128 | 0 : 1] f32) ins(%x[0 : 128 | 0 : 512] f32) {accumulate = #nki.accumulate<zero_accumulate>, reduce_op = #nki.alu<add>}
    // CHECK: penguin.reciprocal outs(%v[0 : 128 | 0 : 1] f32) ins(%v[0 : 128 | 0 : 1] f32)
    // GENERIC: "penguin.reciprocal"(
    penguin.reciprocal outs(%v[0 : 128 | 0 : 1] f32) ins(%v[0 : 128 | 0 : 1] f32)
    // CHECK: penguin.tensor_reduce add xy outs(%v[0 : 128 | 0 : 1] f32) ins(%x[0 : 128 | 0 : 2*256, 2] f32)
    // GENERIC: "penguin.tensor_reduce"(
    penguin.tensor_reduce add xy outs(%v[0 : 128 | 0 : 1] f32) ins(%x[0 : 128 | 0 : 2*256, 2] f32)
    // CHECK: penguin.partition_reduce max outs(%x[0 : 1 | 0 : 512] f32) ins(%x[0 : 128 | 0 : 512] f32)
    // GENERIC: "penguin.partition_reduce"(
    penguin.partition_reduce max outs(%x[0 : 1 | 0 : 512] f32) ins(%x[0 : 128 | 0 : 512] f32)
    // CHECK: penguin.sunda_bn_stats outs(%v[0 : 128 | 0 : 6] f32) ins(%x[0 : 128 | 0 : 512] f32)
    // GENERIC: "penguin.sunda_bn_stats"(
    penguin.sunda_bn_stats outs(%v[0 : 128 | 0 : 6] f32) ins(%x[0 : 128 | 0 : 512] f32)
    // CHECK: penguin.sunda_bn_aggr outs(%v[0 : 128 | 6 : 2] f32) ins(%v[0 : 128 | 0 : 6] f32)
    // GENERIC: "penguin.sunda_bn_aggr"(
    penguin.sunda_bn_aggr outs(%v[0 : 128 | 6 : 2] f32) ins(%v[0 : 128 | 0 : 6] f32)
    // CHECK: penguin.index_value outs(%m[0 : 128 | 0 : 512] u32) {pattern = #nki.pattern<1*512>, channel_multiplier = 512 : i64}
    // GENERIC: "penguin.index_value"(
    penguin.index_value outs(%m[0 : 128 | 0 : 512] u32) {pattern = #nki.pattern<1*512>, channel_multiplier = 512 : i64}
    // CHECK: penguin.aff_sel_tensor_scalar is_equal outs(%x[0 : 128 | 0 : 512] f32) ins(%x[0 : 128 | 0 : 512] f32, -inf : f32) {pattern = #nki.pattern<0*512>}
    // GENERIC: "penguin.aff_sel_tensor_scalar"(
    penguin.aff_sel_tensor_scalar is_equal outs(%x[0 : 128 | 0 : 512] f32) ins(%x[0 : 128 | 0 : 512] f32, -inf : f32) {pattern = #nki.pattern<0*512>}
    // CHECK: penguin.tensor_select outs(%x[0 : 128 | 0 : 512] f32) ins(%m[0 : 128 | 0 : 512] u32, %x[0 : 128 | 0 : 512] f32, %v[0 : 128 | 0 : 1] f32)
    // GENERIC: "penguin.tensor_select"(
    penguin.tensor_select outs(%x[0 : 128 | 0 : 512] f32) ins(%m[0 : 128 | 0 : 512] u32, %x[0 : 128 | 0 : 512] f32, %v[0 : 128 | 0 : 1] f32)
    // CHECK: penguin.tensor_copy_predicated outs(%x[0 : 128 | 0 : 512] f32) ins(%y[0 : 128 | 0 : 512] f32, %m[0 : 128 | 0 : 512] u32)
    // GENERIC: "penguin.tensor_copy_predicated"(
    penguin.tensor_copy_predicated outs(%x[0 : 128 | 0 : 512] f32) ins(%y[0 : 128 | 0 : 512] f32, %m[0 : 128 | 0 : 512] u32)
    // CHECK: penguin.mat_mul outs(%p[0 : 128 | 0 : 512] f32) ins(%s[0 : 128 | 0 : 128] bf16, %s[0 : 128 | 0 : 512] bf16)
    // GENERIC: "penguin.mat_mul"(
    penguin.mat_mul outs(%p[0 : 128 | 0 : 512] f32) ins(%s[0 : 128 | 0 : 128] bf16, %s[0 : 128 | 0 : 512] bf16)
    // CHECK: penguin.transpose on pe outs(%p[0 : 128 | 0 : 128] f32) ins(%x[0 : 128 | 0 : 128] f32)
    // GENERIC: "penguin.transpose"(
    penguin.transpose on pe outs(%p[0 : 128 | 0 : 128] f32) ins(%x[0 : 128 | 0 : 128] f32)
    // CHECK: penguin.register_move outs(%n) ins(4 : i32)
    // GENERIC: "penguin.register_move"(
    penguin.register_move outs(%n) ins(4 : i32)
    // CHECK: penguin.dynamic_loop %k to %n attributes {nki.note = "dynamic"} {
    // GENERIC: "penguin.dynamic_loop"(
    penguin.dynamic_loop %k to %n attributes {nki.note = "dynamic"} {
      // CHECK: penguin.load_tensor_to_register outs(%n) ins(%m[0 : 1 | %k : 1] u32)
      // GENERIC: "penguin.load_tensor_to_register"(
      penguin.load_tensor_to_register outs(%n) ins(%m[0 : 1 | %k : 1] u32)
    }
    // CHECK: penguin.while %n {
    // GENERIC: "penguin.while"(
    penguin.while %n {
      // CHECK: penguin.register_move outs(%n) ins(0 : i32)
      // GENERIC: "penguin.register_move"(
      penguin.register_move outs(%n) ins(0 : i32)
    }
  }
}

// Every op of KLR, in its custom and in its generic form; each line is checked as it stands.
// RUN: nki-opt %s | filecheck %s
// RUN: nki-opt %s | nki-opt | filecheck %s
// RUN: nki-opt %s --print-op-generic | filecheck %s --check-prefix=GENERIC
// RUN: nki-opt %s --print-op-generic | nki-opt | filecheck %s
// RUN: nki-opt %s --print-debuginfo | nki-opt | filecheck %s

// CHECK: klr.kernel @k attributes {arch = #nki.arch<gen3>, inputs = ["a"], outputs = ["o"], shared_buffers = ["o"], edges = {{\[\[}}"inst.1", "inst.2"]]} {
// GENERIC: "klr.kernel"(
klr.kernel @k attributes {arch = #nki.arch<gen3>, inputs = ["a"], outputs = ["o"], shared_buffers = ["o"], edges = [["inst.1", "inst.2"]]} {
  // CHECK: klr.body 0 attributes {nki.note = "core"} {
  // GENERIC: "klr.body"(
  klr.body 0 attributes {nki.note = "core"} {
    // CHECK: %a = klr.tensor "a" kind external_input : !nki.mem<hbm 512x512xf32>
    // GENERIC: "klr.tensor"(
    %a = klr.tensor "a" kind external_input : !nki.mem<hbm 512x512xf32>
    // CHECK: %o = klr.tensor "o" kind external_output {file = "o.npy"} : !nki.mem<shared_hbm 512x512xf32>
    // GENERIC: "klr.tensor"(
    %o = klr.tensor "o" kind external_output {file = "o.npy"} : !nki.mem<shared_hbm 512x512xf32>
    // CHECK: %x = klr.tensor "x" at <0, 0> {address_name = "buffer", address_rotation, address_size = array<i64: 128, 4096>} : !nki.mem<sbuf 128x512xf32>
    // GENERIC: "klr.tensor"(
    %x = klr.tensor "x" at <0, 0> {address_name = "buffer", address_rotation, address_size = array<i64: 128, 4096>} : !nki.mem<sbuf 128x512xf32>
    // CHECK: %y = klr.tensor "y" {address_rotation} : !nki.mem<sbuf 128x512xf32>
    // GENERIC: "klr.tensor"(
    %y = klr.tensor "y" {address_rotation} : !nki.mem<sbuf 128x512xf32>
    // CHECK: %v = klr.tensor "v" : !nki.mem<sbuf 128x8xf32>
    // GENERIC: "klr.tensor"(
    %v = klr.tensor "v" : !nki.mem<sbuf 128x8xf32>
    // CHECK: %m = klr.tensor "m" : !nki.mem<sbuf 128x512xi32>
    // GENERIC: "klr.tensor"(
    %m = klr.tensor "m" : !nki.mem<sbuf 128x512xi32>
    // CHECK: %s = klr.tensor "s" : !nki.mem<sbuf 128x512xbf16>
    // GENERIC: "klr.tensor"(
    %s = klr.tensor "s" : !nki.mem<sbuf 128x512xbf16>
    // CHECK: %p = klr.tensor "p" : !nki.mem<psum 128x512xf32>
    // GENERIC: "klr.tensor"(
    %p = klr.tensor "p" : !nki.mem<psum 128x512xf32>
    // CHECK: %n = klr.register "n"
    // GENERIC: "klr.register"(
    %n = klr.register "n"
    // CHECK: %q = klr.register "q"
    // GENERIC: "klr.register"(
    %q = klr.register "q"
    // CHECK: klr.block "main.0" no_reorder {
    // GENERIC: "klr.block"(
    klr.block "main.0" no_reorder {
      // CHECK: klr.nc_dma_copy unique_indices "inst.1" outs(%x[0 : 128 | 0 : 512] f32) ins(%a[0 : 512*128, 512] f32) {oob_mode = #nki.oob<skip>, dge_type = #nki.dge<unassigned>}
      // GENERIC: "klr.nc_dma_copy"(
      klr.nc_dma_copy unique_indices "inst.1" outs(%x[0 : 128 | 0 : 512] f32) ins(%a[0 : 512*128, 512] f32) {oob_mode = #nki.oob<skip>, dge_type = #nki.dge<unassigned>}
      // CHECK: klr.mem_set outs(%y[0 : 128 | 0 : 512] f32) ins(0.0 : f32) {dtype = #nki.dtype<f32>}
      // GENERIC: "klr.mem_set"(
      klr.mem_set outs(%y[0 : 128 | 0 : 512] f32) ins(0.0 : f32) {dtype = #nki.dtype<f32>}
      // CHECK: klr.nc_copy on act outs(%y[0 : 128 | 0 : 512] f32) ins(%x[0 : 128 | 0 : 512] f32)
      // GENERIC: "klr.nc_copy"(
      klr.nc_copy on act outs(%y[0 : 128 | 0 : 512] f32) ins(%x[0 : 128 | 0 : 512] f32)
      // CHECK: klr.nc_activate tanh outs(%y[0 : 128 | 0 : 512] f32) ins(%x[0 : 128 | 0 : 512] f32, bias = %v[0 : 128 | 0 : 1] f32)
      // GENERIC: "klr.nc_activate"(
      klr.nc_activate tanh outs(%y[0 : 128 | 0 : 512] f32) ins(%x[0 : 128 | 0 : 512] f32, bias = %v[0 : 128 | 0 : 1] f32)
      // CHECK: klr.activation_reduce exp outs(%y[0 : 128 | 0 : 512] f32, reduce_res = %v[0 : 128 | 0 : 1] f32) ins(%x[0 : 128 | 0 : 512] f32) {accumulate = #nki.accumulate<zero_accumulate>, reduce_op = #nki.alu<add>}
      // GENERIC: "klr.activation_reduce"(
      klr.activation_reduce exp outs(%y[0 : 128 | 0 : 512] f32, reduce_res = %v[0 : 128 | 0 : 1] f32) ins(%x[0 : 128 | 0 : 512] f32) {accumulate = #nki.accumulate<zero_accumulate>, reduce_op = #nki.alu<add>}
      // CHECK: klr.nc_affine_select is_gt outs(%y[0 : 128 | 0 : 512] f32) ins(%x[0 : 128 | 0 : 512] f32, 0.0 : f32) {pattern = #nki.pattern<1*512>}
      // GENERIC: "klr.nc_affine_select"(
      klr.nc_affine_select is_gt outs(%y[0 : 128 | 0 : 512] f32) ins(%x[0 : 128 | 0 : 512] f32, 0.0 : f32) {pattern = #nki.pattern<1*512>}
      // CHECK: klr.batch_norm_stats outs(%v[0 : 128 | 0 : 6] f32) ins(%x[0 : 128 | 0 : 512] f32)
      // GENERIC: "klr.batch_norm_stats"(
      klr.batch_norm_stats outs(%v[0 : 128 | 0 : 6] f32) ins(%x[0 : 128 | 0 : 512] f32)
      // CHECK: klr.batch_norm_aggregate outs(%v[0 : 128 | 6 : 2] f32) ins(%v[0 : 128 | 0 : 6] f32)
      // GENERIC: "klr.batch_norm_aggregate"(
      klr.batch_norm_aggregate outs(%v[0 : 128 | 6 : 2] f32) ins(%v[0 : 128 | 0 : 6] f32)
      // CHECK: klr.copy_predicated outs(%y[0 : 128 | 0 : 512] f32) ins(1.0 : f32, %m[0 : 128 | 0 : 512] i32)
      // GENERIC: "klr.copy_predicated"(
      klr.copy_predicated outs(%y[0 : 128 | 0 : 512] f32) ins(1.0 : f32, %m[0 : 128 | 0 : 512] i32)
      // CHECK: klr.iota outs(%m[0 : 128 | 0 : 512] i32) {pattern = #nki.pattern<1*512>}
      // GENERIC: "klr.iota"(
      klr.iota outs(%m[0 : 128 | 0 : 512] i32) {pattern = #nki.pattern<1*512>}
      // CHECK: klr.nc_mat_mul is_stationary_onezero outs(%p[0 : 128 | 0 : 512] f32) ins(%s[0 : 128 | 0 : 128] bf16, %s[0 : 128 | 0 : 512] bf16)
      // GENERIC: "klr.nc_mat_mul"(
      klr.nc_mat_mul is_stationary_onezero outs(%p[0 : 128 | 0 : 512] f32) ins(%s[0 : 128 | 0 : 128] bf16, %s[0 : 128 | 0 : 512] bf16)
      // CHECK: klr.nc_mat_mul is_transpose outs(%p[0 : 128 | 0 : 128] f32) ins(%x[0 : 128 | 0 : 128] f32, %y[0 : 128 | 0 : 128] f32)
      // GENERIC: "klr.nc_mat_mul"(
      klr.nc_mat_mul is_transpose outs(%p[0 : 128 | 0 : 128] f32) ins(%x[0 : 128 | 0 : 128] f32, %y[0 : 128 | 0 : 128] f32)
      // CHECK: klr.reciprocal outs(%y[0 : 128 | 0 : 512] f32) ins(%x[0 : 128 | 0 : 512] f32)
      // GENERIC: "klr.reciprocal"(
      klr.reciprocal outs(%y[0 : 128 | 0 : 512] f32) ins(%x[0 : 128 | 0 : 512] f32)
      // CHECK: klr.nc_scalar_tensor_tensor mult subtract reverse1 outs(%y[0 : 128 | 0 : 512] f32) ins(%x[0 : 128 | 0 : 512] f32, 3.0 : f32, %y[0 : 128 | 0 : 512] f32)
      // GENERIC: "klr.nc_scalar_tensor_tensor"(
      klr.nc_scalar_tensor_tensor mult subtract reverse1 outs(%y[0 : 128 | 0 : 512] f32) ins(%x[0 : 128 | 0 : 512] f32, 3.0 : f32, %y[0 : 128 | 0 : 512] f32)
      // CHECK: klr.tensor_reduce add x keepdims outs(%v[0 : 128 | 0 : 1] f32) ins(%x[0 : 128 | 0 : 512] f32)
      // GENERIC: "klr.tensor_reduce"(
      klr.tensor_reduce add x keepdims outs(%v[0 : 128 | 0 : 1] f32) ins(%x[0 : 128 | 0 : 512] f32)
      // CHECK: klr.tensor_scalar add pow on dve outs(%v[0 : 128 | 1 : 1] f32) ins(%v[0 : 128 | 0 : 1] f32, operand0 = 9.999999747378752e-06 : f32, operand1 = -0.5 : f32)
      // GENERIC: "klr.tensor_scalar"(
      klr.tensor_scalar add pow on dve outs(%v[0 : 128 | 1 : 1] f32) ins(%v[0 : 128 | 0 : 1] f32, operand0 = 9.999999747378752e-06 : f32, operand1 = -0.5 : f32)
      // CHECK: klr.tensor_tensor mult outs(%y[0 : 128 | 0 : 512] f32) ins(%x[0 : 128 | 0 : 512] f32, %y[0 : 128 | 0 : 512] f32)
      // GENERIC: "klr.tensor_tensor"(
      klr.tensor_tensor mult outs(%y[0 : 128 | 0 : 512] f32) ins(%x[0 : 128 | 0 : 512] f32, %y[0 : 128 | 0 : 512] f32)
      // CHECK: klr.tensor_partition_reduce add outs(%y[0 : 1 | 0 : 512] f32) ins(%x[0 : 128 | 0 : 512] f32)
      // GENERIC: "klr.tensor_partition_reduce"(
      klr.tensor_partition_reduce add outs(%y[0 : 1 | 0 : 512] f32) ins(%x[0 : 128 | 0 : 512] f32)
      // CHECK: klr.transpose on dve outs(%y[0 : 32 | 0 : 32] f32) ins(%x[0 : 32 | 0 : 32] f32)
      // GENERIC: "klr.transpose"(
      klr.transpose on dve outs(%y[0 : 32 | 0 : 32] f32) ins(%x[0 : 32 | 0 : 32] f32)
      // CHECK: klr.select_reduce outs(%y[0 : 128 | 0 : 512] f32) ins(%m[0 : 128 | 0 : 512] i32, %x[0 : 128 | 0 : 512] f32, 0.0 : f32) {reduce_op = #nki.alu<max>}
      // GENERIC: "klr.select_reduce"(
      klr.select_reduce outs(%y[0 : 128 | 0 : 512] f32) ins(%m[0 : 128 | 0 : 512] i32, %x[0 : 128 | 0 : 512] f32, 0.0 : f32) {reduce_op = #nki.alu<max>}
      // CHECK: klr.register_move outs(%n) ins(3 : i32)
      // GENERIC: "klr.register_move"(
      klr.register_move outs(%n) ins(3 : i32)
      // CHECK: klr.register_alu_op subtract outs(%n) ins(%n, 1 : i32)
      // GENERIC: "klr.register_alu_op"(
      klr.register_alu_op subtract outs(%n) ins(%n, 1 : i32)
      // CHECK: klr.tensor_load outs(%q) ins(%m[0 : 1 | %n : 1] i32)
      // GENERIC: "klr.tensor_load"(
      klr.tensor_load outs(%q) ins(%m[0 : 1 | %n : 1] i32)
      // CHECK: klr.tensor_store outs(%m[0 : 1 | %n : 1] i32) ins(%q)
      // GENERIC: "klr.tensor_store"(
      klr.tensor_store outs(%m[0 : 1 | %n : 1] i32) ins(%q)
      // CHECK: klr.cmp_branch gt_imm "branch" ins(left = %n, right = 0 : i32) {true_label = "main.0", false_label = "main.1"}
      // GENERIC: "klr.cmp_branch"(
      klr.cmp_branch gt_imm "branch" ins(left = %n, right = 0 : i32) {true_label = "main.0", false_label = "main.1"}
    }
    // CHECK: klr.block "main.1" attributes {nki.note = "last"} {
    // GENERIC: "klr.block"(
    klr.block "main.1" attributes {nki.note = "last"} {
      // CHECK: klr.cmp_branch always {true_label = "main.1"}
      // GENERIC: "klr.cmp_branch"(
      klr.cmp_branch always {true_label = "main.1"}
    }
  }
  // CHECK: klr.body 1 {
  // GENERIC: "klr.body"(
  klr.body 1 {
  }
}

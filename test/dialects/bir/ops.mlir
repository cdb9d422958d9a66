// Every op of BIR, in its custom and in its generic form; each line is checked as it stands.
// RUN: nki-opt %s | filecheck %s
// RUN: nki-opt %s | nki-opt | filecheck %s
// RUN: nki-opt %s --print-op-generic | filecheck %s --check-prefix=GENERIC
// RUN: nki-opt %s --print-op-generic | nki-opt | filecheck %s
// RUN: nki-opt %s --print-debuginfo | nki-opt | filecheck %s

// CHECK: bir.module @m attributes {arch = #nki.arch<gen4>} {
// GENERIC: "bir.module"(
bir.module @m attributes {arch = #nki.arch<gen4>} {
  // CHECK: bir.func @storage attributes {core = 1 : i64} {
  // GENERIC: "bir.func"(
  bir.func @storage attributes {core = 1 : i64} {
    // CHECK: %a = bir.tensor "a" kind external_input : !nki.mem<hbm 512x512xf32>
    // GENERIC: "bir.tensor"(
    %a = bir.tensor "a" kind external_input : !nki.mem<hbm 512x512xf32>
    // CHECK: %o = bir.tensor "o" kind external_output {nki.note = "kept"} : !nki.mem<shared_hbm 512x512xbf16>
    // GENERIC: "bir.tensor"(
    %o = bir.tensor "o" kind external_output {nki.note = "kept"} : !nki.mem<shared_hbm 512x512xbf16>
    // CHECK: %t = bir.tensor "t" at <0, 0> : !nki.mem<sbuf 128x512xf32>
    // GENERIC: "bir.tensor"(
    %t = bir.tensor "t" at <0, 0> : !nki.mem<sbuf 128x512xf32>
    // CHECK: %blocks = bir.tensor "blocks" at <0, 2048>, <>, <32, 4096> : !nki.mem<sbuf 32x512xf32, blocks 3>
    // GENERIC: "bir.tensor"(
    %blocks = bir.tensor "blocks" at <0, 2048>, <>, <32, 4096> : !nki.mem<sbuf 32x512xf32, blocks 3>
    // CHECK: %w = bir.tensor "w" kind const : !nki.mem<private_hbm f32>
    // GENERIC: "bir.tensor"(
    %w = bir.tensor "w" kind const : !nki.mem<private_hbm f32>
    // CHECK: %r = bir.register "reg.1"
    // GENERIC: "bir.register"(
    %r = bir.register "reg.1"
  }
  // CHECK: bir.func @memory {
  // GENERIC: "bir.func"(
  bir.func @memory {
    // CHECK: %a = bir.tensor "a" kind external_input : !nki.mem<hbm 512x512xf32>
    // GENERIC: "bir.tensor"(
    %a = bir.tensor "a" kind external_input : !nki.mem<hbm 512x512xf32>
    // CHECK: %o = bir.tensor "p" kind external_output : !nki.mem<hbm 512x512xf32>
    // GENERIC: "bir.tensor"(
    %o = bir.tensor "p" kind external_output : !nki.mem<hbm 512x512xf32>
    // CHECK: %t = bir.tensor "t" at <0, 0> : !nki.mem<sbuf 128x512xf32>
    // GENERIC: "bir.tensor"(
    %t = bir.tensor "t" at <0, 0> : !nki.mem<sbuf 128x512xf32>
    // CHECK: %b = bir.tensor "b" at <0, 2048> : !nki.mem<sbuf 128x512xbf16>
    // GENERIC: "bir.tensor"(
    %b = bir.tensor "b" at <0, 2048> : !nki.mem<sbuf 128x512xbf16>
    // CHECK: bir.memset "I-1" outs(%t[0 : 128 | 0 : 512] f32) ins(-0.0 : f32)
    // GENERIC: "bir.memset"(
    bir.memset "I-1" outs(%t[0 : 128 | 0 : 512] f32) ins(-0.0 : f32)
    // CHECK: bir.load "I-2" outs(%t[0 : 128 | 0 : 512] f32) ins(%a[0 : 512*128, 512] f32) {dge_type = #nki.dge<swdge>}
    // GENERIC: "bir.load"(
    bir.load "I-2" outs(%t[0 : 128 | 0 : 512] f32) ins(%a[0 : 512*128, 512] f32) {dge_type = #nki.dge<swdge>}
    // CHECK: bir.save on dma "I-3" outs(%o[131072 : 512*128, 512] f32) ins(%t[0 : 128 | 0 : 512] f32)
    // GENERIC: "bir.save"(
    bir.save on dma "I-3" outs(%o[131072 : 512*128, 512] f32) ins(%t[0 : 128 | 0 : 512] f32)
    // CHECK: bir.dma_copy "I-4" outs(%o[0 : 512] f32) ins(%a[512 : 512] f32)
    // GENERIC: "bir.dma_copy"(
    bir.dma_copy "I-4" outs(%o[0 : 512] f32) ins(%a[512 : 512] f32)
    // CHECK: bir.tensor_copy on dve "I-5" outs(%b[0 : 128 | 0 : 512] bf16) ins(%t[0 : 128 | 511 : -1*512] f32)
    // GENERIC: "bir.tensor_copy"(
    bir.tensor_copy on dve "I-5" outs(%b[0 : 128 | 0 : 512] bf16) ins(%t[0 : 128 | 511 : -1*512] f32)
  }
  // CHECK: bir.func @compute {
  // GENERIC: "bir.func"(
  bir.func @compute {
    // CHECK: %x = bir.tensor "x" at <0, 0> : !nki.mem<sbuf 128x512xf32>
    // GENERIC: "bir.tensor"(
    %x = bir.tensor "x" at <0, 0> : !nki.mem<sbuf 128x512xf32>
    // CHECK: %y = bir.tensor "y" at <0, 2048> : !nki.mem<sbuf 128x512xf32>
    // GENERIC: "bir.tensor"(
    %y = bir.tensor "y" at <0, 2048> : !nki.mem<sbuf 128x512xf32>
    // CHECK: %v = bir.tensor "v" at <0, 4096> : !nki.mem<sbuf 128x8xf32>
    // GENERIC: "bir.tensor"(
    %v = bir.tensor "v" at <0, 4096> : !nki.mem<sbuf 128x8xf32>
    // CHECK: %m = bir.tensor "m" at <0, 4128> : !nki.mem<sbuf 128x512xu8>
    // GENERIC: "bir.tensor"(
    %m = bir.tensor "m" at <0, 4128> : !nki.mem<sbuf 128x512xu8>
    // CHECK: %s = bir.tensor "s" at <0, 4640> : !nki.mem<sbuf 128x512xbf16>
    // GENERIC: "bir.tensor"(
    %s = bir.tensor "s" at <0, 4640> : !nki.mem<sbuf 128x512xbf16>
    // CHECK: %p = bir.tensor "p" at <0, 0> : !nki.mem<psum 128x512xf32>
    // GENERIC: "bir.tensor"(
    %p = bir.tensor "p" at <0, 0> : !nki.mem<psum 128x512xf32>
    // CHECK: bir.tensor_tensor add on pool outs(%y[0 : 128 | 0 : 512] f32) ins(%x[0 : 128 | 0 : 512] f32, %y[0 : 128 | 0 : 2*256, 2] f32)
    // GENERIC: "bir.tensor_tensor"(
    bir.tensor_tensor add on pool outs(%y[0 : 128 | 0 : 512] f32) ins(%x[0 : 128 | 0 : 512] f32, %y[0 : 128 | 0 : 2*256, 2] f32)
    // CHECK: bir.tensor_scalar mult outs(%y[0 : 128 | 0 : 512] f32) ins(%x[0 : 128 | 0 : 512] f32, operand0 = 2.0 : f32)
    // GENERIC: "bir.tensor_scalar"(
    bir.tensor_scalar mult outs(%y[0 : 128 | 0 : 512] f32) ins(%x[0 : 128 | 0 : 512] f32, operand0 = 2.0 : f32)
    // CHECK: bir.tensor_scalar_ptr subtract mult reverse0 reverse1 outs(%y[0 : 128 | 0 : 512] f32) ins(%x[0 : 128 | 0 : 512] f32, operand0 = %v[0 : 128 | 1 : 1] f32, operand1 = inf : f32)
    // GENERIC: "bir.tensor_scalar_ptr"(
    bir.tensor_scalar_ptr subtract mult reverse0 reverse1 outs(%y[0 : 128 | 0 : 512] f32) ins(%x[0 : 128 | 0 : 512] f32, operand0 = %v[0 : 128 | 1 : 1] f32, operand1 = inf : f32)
    // CHECK: bir.tensor_scalar_ptr mult add is_scalar_tensor_tensor outs(%y[0 : 128 | 0 : 512] f32) ins(%x[0 : 128 | 0 : 512] f32, operand0 = 0.1 : f32, operand1 = %p[0 : 128 | 0 : 512] f32)
    // GENERIC: "bir.tensor_scalar_ptr"(
    bir.tensor_scalar_ptr mult add is_scalar_tensor_tensor outs(%y[0 : 128 | 0 : 512] f32) ins(%x[0 : 128 | 0 : 512] f32, operand0 = 0.1 : f32, operand1 = %p[0 : 128 | 0 : 512] f32)
    // CHECK: bir.activation exp on act "I-2" outs(%y[0 : 128 | 0 : 512] f32, reduce_res = %v[0 : 128 | 0 : 1] f32) ins(%x[0 : 128 | 0 : 512] f32, bias = %v[0 : 128 | 2 : 1] f32, scale = 2.0 : f32) {accumulate = #nki.accumulate<zero_accumulate>, reduce_op = #nki.alu<add>}
    // GENERIC: "bir.activation"(
    bir.activation exp on act "I-2" outs(%y[0 : 128 | 0 : 512] f32, reduce_res = %v[0 : 128 | 0 : 1] f32) ins(%x[0 : 128 | 0 : 512] f32, bias = %v[0 : 128 | 2 : 1] f32, scale = 2.0 : f32) {accumulate = #nki.accumulate<zero_accumulate>, reduce_op = #nki.alu<add>}
    // CHECK: bir.reciprocal outs(%y[0 : 128 | 0 : 512] f32) ins(%x[0 : 128 | 0 : 512] f32)
    // GENERIC: "bir.reciprocal"(
    bir.reciprocal outs(%y[0 : 128 | 0 : 512] f32) ins(%x[0 : 128 | 0 : 512] f32)
    // CHECK: bir.tensor_reduce max x negate outs(%v[0 : 128 | 0 : 2] f32) ins(%x[0 : 128 | 0 : 256*2, 256] f32)
    // GENERIC: "bir.tensor_reduce"(
    bir.tensor_reduce max x negate outs(%v[0 : 128 | 0 : 2] f32) ins(%x[0 : 128 | 0 : 256*2, 256] f32)
    // CHECK: bir.tensor_reduce add c outs(%y[0 : 1 | 0 : 512] f32) ins(%x[0 : 128 | 0 : 512] f32)
    // GENERIC: "bir.tensor_reduce"(
    bir.tensor_reduce add c outs(%y[0 : 1 | 0 : 512] f32) ins(%x[0 : 128 | 0 : 512] f32)
    // CHECK: bir.bn_stats outs(%v[0 : 128 | 0 : 6] f32) ins(%x[0 : 128 | 0 : 512] f32)
    // GENERIC: "bir.bn_stats"(
    bir.bn_stats outs(%v[0 : 128 | 0 : 6] f32) ins(%x[0 : 128 | 0 : 512] f32)
    // CHECK: bir.bn_stats_aggregate outs(%y[0 : 128 | 0 : 2] f32) ins(%v[0 : 128 | 0 : 6] f32)
    // GENERIC: "bir.bn_stats_aggregate"(
    bir.bn_stats_aggregate outs(%y[0 : 128 | 0 : 2] f32) ins(%v[0 : 128 | 0 : 6] f32)
    // CHECK: bir.iota outs(%y[0 : 128 | 0 : 512] f32) {pattern = #nki.pattern<256*2, -1*256>, offset = 7 : i64, channel_multiplier = -1 : i64}
    // GENERIC: "bir.iota"(
    bir.iota outs(%y[0 : 128 | 0 : 512] f32) {pattern = #nki.pattern<256*2, -1*256>, offset = 7 : i64, channel_multiplier = -1 : i64}
    // CHECK: bir.tensor_scalar_affine_select is_ge outs(%y[0 : 128 | 0 : 512] f32) ins(%x[0 : 128 | 0 : 512] f32, -3.4028234663852886e+38 : f32) {pattern = #nki.pattern<1*512>}
    // GENERIC: "bir.tensor_scalar_affine_select"(
    bir.tensor_scalar_affine_select is_ge outs(%y[0 : 128 | 0 : 512] f32) ins(%x[0 : 128 | 0 : 512] f32, -3.4028234663852886e+38 : f32) {pattern = #nki.pattern<1*512>}
    // CHECK: bir.select outs(%y[0 : 128 | 0 : 512] f32) ins(%m[0 : 128 | 0 : 512] u8, %x[0 : 128 | 0 : 512] f32, nan : f32)
    // GENERIC: "bir.select"(
    bir.select outs(%y[0 : 128 | 0 : 512] f32) ins(%m[0 : 128 | 0 : 512] u8, %x[0 : 128 | 0 : 512] f32, nan : f32)
    // CHECK: bir.copy_predicated reverse_pred outs(%y[0 : 128 | 0 : 512] f32) ins(5e-324 : f32, %m[0 : 128 | 0 : 512] u8)
    // GENERIC: "bir.copy_predicated"(
    bir.copy_predicated reverse_pred outs(%y[0 : 128 | 0 : 512] f32) ins(5e-324 : f32, %m[0 : 128 | 0 : 512] u8)
    // CHECK: bir.matmult is_moving_onezero on pe outs(%p[0 : 128 | 0 : 512] f32) ins(%s[0 : 128 | 0 : 128] bf16, %s[0 : 128 | 0 : 512] bf16) params(accumulate = 1, tile_position = [0, 0], tile_size = [128, 128]) {perf_mode = #nki.perf_mode<none>}
    // GENERIC: "bir.matmult"(
    bir.matmult is_moving_onezero on pe outs(%p[0 : 128 | 0 : 512] f32) ins(%s[0 : 128 | 0 : 128] bf16, %s[0 : 128 | 0 : 512] bf16) params(accumulate = 1, tile_position = [0, 0], tile_size = [128, 128]) {perf_mode = #nki.perf_mode<none>}
    // CHECK: bir.stream_transpose on dve outs(%y[0 : 32 | 0 : 32] f32) ins(%x[0 : 32 | 0 : 32] f32)
    // GENERIC: "bir.stream_transpose"(
    bir.stream_transpose on dve outs(%y[0 : 32 | 0 : 32] f32) ins(%x[0 : 32 | 0 : 32] f32)
  }
  // CHECK: bir.func @loops {
  // GENERIC: "bir.func"(
  bir.func @loops {
    // CHECK: %a = bir.tensor "c" kind external_input : !nki.mem<hbm 1000x512xf32>
    // GENERIC: "bir.tensor"(
    %a = bir.tensor "c" kind external_input : !nki.mem<hbm 1000x512xf32>
    // CHECK: %t = bir.tensor "t" at <0, 0>, <0, 2048> : !nki.mem<sbuf 128x512xf32, blocks 2>
    // GENERIC: "bir.tensor"(
    %t = bir.tensor "t" at <0, 0>, <0, 2048> : !nki.mem<sbuf 128x512xf32, blocks 2>
    // CHECK: %s = bir.tensor "s" at <0, 4096> : !nki.mem<sbuf 128x512xbf16>
    // GENERIC: "bir.tensor"(
    %s = bir.tensor "s" at <0, 4096> : !nki.mem<sbuf 128x512xbf16>
    // CHECK: %p = bir.tensor "p" at <0, 0> : !nki.mem<psum 128x512xf32>
    // GENERIC: "bir.tensor"(
    %p = bir.tensor "p" at <0, 0> : !nki.mem<psum 128x512xf32>
    // CHECK: %n = bir.register "n"
    // GENERIC: "bir.register"(
    %n = bir.register "n"
    // CHECK: bir.loop %i = 0 to 8 step 1 affine {
    // GENERIC: "bir.loop"(
    bir.loop %i = 0 to 8 step 1 affine {
      // CHECK: bir.load "I-1" outs(%t{(%i mod 2)}[0 : min(128, -128*%i + 1000) | 0 : 512] f32) ins(%a[65536*%i : 512*min(128, -128*%i + 1000), 512] f32)
      // GENERIC: "bir.load"(
      bir.load "I-1" outs(%t{(%i mod 2)}[0 : min(128, -128*%i + 1000) | 0 : 512] f32) ins(%a[65536*%i : 512*min(128, -128*%i + 1000), 512] f32)
      // CHECK: bir.loop %j = 7 to 100 step 31 sequential attributes {nki.note = "inner"} {
      // GENERIC: "bir.loop"(
      bir.loop %j = 7 to 100 step 31 sequential attributes {nki.note = "inner"} {
        // CHECK: bir.matmult outs(%p[0 : 32 | 0 : 512] f32) ins(%s[32*%i - 128*(%i floordiv 4) : 32 | 0 : 32] bf16, %s[32*%i - 128*(%i floordiv 4) : 32 | 0 : 512] bf16) params(accumulate = %i + 2*((%j + 24) floordiv 31) - 2, tile_position = [32*%i, 0], tile_size = [32, 64]) when(%i - 1 ge 0, %j - %i - 6 eq 0)
        // GENERIC: "bir.matmult"(
        bir.matmult outs(%p[0 : 32 | 0 : 512] f32) ins(%s[32*%i - 128*(%i floordiv 4) : 32 | 0 : 32] bf16, %s[32*%i - 128*(%i floordiv 4) : 32 | 0 : 512] bf16) params(accumulate = %i + 2*((%j + 24) floordiv 31) - 2, tile_position = [32*%i, 0], tile_size = [32, 64]) when(%i - 1 ge 0, %j - %i - 6 eq 0)
      }
    }
    // CHECK: bir.dynamic_for_loop %k = 0 to %n step 2 attributes {nki.note = "dynamic"} {
    // GENERIC: "bir.dynamic_for_loop"(
    bir.dynamic_for_loop %k = 0 to %n step 2 attributes {nki.note = "dynamic"} {
      // CHECK: bir.memset outs(%t[0 : 128 | %k : 1] f32) ins(1.0 : f32)
      // GENERIC: "bir.memset"(
      bir.memset outs(%t[0 : 128 | %k : 1] f32) ins(1.0 : f32)
    }
    // CHECK: bir.do_while %n attributes {nki.note = "while"} {
    // GENERIC: "bir.do_while"(
    bir.do_while %n attributes {nki.note = "while"} {
      // CHECK: bir.register_move outs(%n) ins(0 : i32)
      // GENERIC: "bir.register_move"(
      bir.register_move outs(%n) ins(0 : i32)
    }
  }
  // CHECK: bir.func @registers {
  // GENERIC: "bir.func"(
  bir.func @registers {
    // CHECK: %t = bir.tensor "t" at <0, 0> : !nki.mem<sbuf 128x512xi32>
    // GENERIC: "bir.tensor"(
    %t = bir.tensor "t" at <0, 0> : !nki.mem<sbuf 128x512xi32>
    // CHECK: %r = bir.register "r"
    // GENERIC: "bir.register"(
    %r = bir.register "r"
    // CHECK: %q = bir.register "q"
    // GENERIC: "bir.register"(
    %q = bir.register "q"
    // CHECK: bir.register_move "R-1" outs(%r) ins(-7 : i32)
    // GENERIC: "bir.register_move"(
    bir.register_move "R-1" outs(%r) ins(-7 : i32)
    // CHECK: bir.register_move "R-2" outs(%q) ins(%r)
    // GENERIC: "bir.register_move"(
    bir.register_move "R-2" outs(%q) ins(%r)
    // CHECK: bir.register_alu add "R-3" outs(%r) ins(%q, 1 : i32)
    // GENERIC: "bir.register_alu"(
    bir.register_alu add "R-3" outs(%r) ins(%q, 1 : i32)
    // CHECK: bir.tensor_load "R-4" outs(%r) ins(%t[0 : 1 | %q : 1] i32)
    // GENERIC: "bir.tensor_load"(
    bir.tensor_load "R-4" outs(%r) ins(%t[0 : 1 | %q : 1] i32)
    // CHECK: bir.tensor_save "R-5" outs(%t[0 : 1 | 4*%r + 2*%q - 8 : 1] i32) ins(%r)
    // GENERIC: "bir.tensor_save"(
    bir.tensor_save "R-5" outs(%t[0 : 1 | 4*%r + 2*%q - 8 : 1] i32) ins(%r)
    // CHECK: bir.compare_and_branch lt_imm "R-6" ins(%r, 10 : i32) [^bb1, ^bb2]
    // GENERIC: "bir.compare_and_branch"(
    bir.compare_and_branch lt_imm "R-6" ins(%r, 10 : i32) [^bb1, ^bb2]
  ^bb1:
    // CHECK: bir.unconditional_branch ^bb2
    // GENERIC: "bir.unconditional_branch"(
    bir.unconditional_branch ^bb2
  ^bb2:
    // CHECK: bir.return
    // GENERIC: "bir.return"(
    bir.return
  }
}

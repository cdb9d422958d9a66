// The types and attributes that all dialects share.
// RUN: nki-opt %s | filecheck %s
// RUN: nki-opt %s | nki-opt | filecheck %s
// RUN: nki-opt %s --print-op-generic | nki-opt | filecheck %s

// CHECK: "test.op"() {types = [!nki.mem<sbuf 128x512xbf16>, !nki.mem<psum 128xf32, blocks 4>, !nki.mem<hbm f4e2m1fn_x4>]} : () -> ()
"test.op"() {types = [!nki.mem<sbuf 128x512xbf16>, !nki.mem< psum  128xf32 , blocks 4 >, !nki.mem<hbm f4e2m1fn_x4>]} : () -> ()
// CHECK: "test.op"() {types = [!nki.mem<shared_hbm 2x3x4x5x6x7xi64>, !nki.mem<private_hbm 1xu8>, !nki.iv, !nki.reg]} : () -> ()
"test.op"() {types = [!nki.mem<shared_hbm 2x3x4x5x6x7xi64>, !nki.mem<private_hbm 1xu8>, !nki.iv, !nki.reg]} : () -> ()

// CHECK: "test.op"() {access = #nki.access<[0 : 128 | 0 : 512] f32>} : () -> ()
"test.op"() {access = #nki.access<[0 : 128 | 0 : 512] f32>} : () -> ()
// CHECK: "test.op"() {access = #nki.access<[32*d0 : 32 | 511 : -1*512] f32>} : () -> ()
"test.op"() {access = #nki.access<[ d0*32:32|511:-1 * 512 ]f32>} : () -> ()
// CHECK: "test.op"() {access = #nki.access<{d0}[0 : 64 | 4*d1 + 2*d0 : 8, 0*4] u32>} : () -> ()
"test.op"() {access = #nki.access<{d0}[0 : 64 | 4*d1 + 2*d0 : 8, 0*4] u32>} : () -> ()
// CHECK: "test.op"() {access = #nki.access<[131072*d0 + 512*d1 : 1024*128, 512] bf16>} : () -> ()
"test.op"() {access = #nki.access<[131072*d0 + 512*d1 : 1024*128, 512] bf16>} : () -> ()
// CHECK: "test.op"() {access = #nki.access<[0 : min(128, -128*d0 + 1000) | 0 : 4*min(500, d0, d1 - 1)] f8e4>} : () -> ()
"test.op"() {access = #nki.access<[0 : min(128, 1000 - 128*d0) | 0 : 4*min(500, d0, d1 - 1)] f8e4>} : () -> ()
// CHECK: "test.op"() {access = #nki.access<[0 : 64*128, 64] f32 at 0 max 7>} : () -> ()
"test.op"() {access = #nki.access<[0 : 64*128, 64] f32 at 0 max 7>} : () -> ()
// CHECK: "test.op"() {access = #nki.access<{(d0 mod 2)}[-3 : 2*4, 1 | ((d1 + 1) floordiv 4) - 2*((d1 floordiv 2) mod 3) + 5 : 8] i16>} : () -> ()
"test.op"() {access = #nki.access<{(d0 mod 2)}[-3 : 2*4, 1 | ((d1 + 1) floordiv 4) - 2*((d1 floordiv 2) mod 3) + 5 : 8] i16>} : () -> ()

// CHECK: "test.op"() {numbers = [#nki.imm<0.0 : f32>, #nki.imm<-0.0 : f32>, #nki.imm<inf : bf16>, #nki.imm<-inf : f16>, #nki.imm<nan : f32>, #nki.imm<1e-45 : f32>, #nki.imm<-7 : i32>, #nki.imm<18446744073709551615 : u64>]} : () -> ()
"test.op"() {numbers = [#nki.imm<0.0 : f32>, #nki.imm<-0.0 : f32>, #nki.imm<inf : bf16>, #nki.imm<-inf : f16>, #nki.imm<nan : f32>, #nki.imm<1e-45 : f32>, #nki.imm<-7 : i32>, #nki.imm<18446744073709551615 : u64>]} : () -> ()
// CHECK: "test.op"() {expressions = [#nki.expr<4*d0 + 1>, #nki.expr<[0, 32*d0]>, #nki.expr<[]>, #nki.expr<-d0 - d1>, #nki.expr<0>]} : () -> ()
"test.op"() {expressions = [#nki.expr<1 + 4 * d0>, #nki.expr<[0, 32*d0]>, #nki.expr<[]>, #nki.expr<-d0 - d1>, #nki.expr<d0 - d0>]} : () -> ()
// CHECK: "test.op"() {guards = [#nki.when<d0 - 1 ge 0, d1 eq 0>, #nki.when<-d0 ge 0>]} : () -> ()
"test.op"() {guards = [#nki.when<d0 - 1 ge 0, d1 eq 0>, #nki.when<-d0 ge 0>]} : () -> ()
// CHECK: "test.op"() {pattern = #nki.pattern<128*4, -1*128, 0*1>, register = #nki.register} : () -> ()
"test.op"() {pattern = #nki.pattern<128*4, -1*128, 0*1>, register = #nki.register} : () -> ()
// CHECK: "test.op"() {enums = [#nki.alu<add>, #nki.func<exp>, #nki.engine<dve>, #nki.accumulate<idle>, #nki.perf_mode<double_row>, #nki.axis<xyzwc>, #nki.dge<hwdge>, #nki.oob<skip>, #nki.kind<const>, #nki.loop_kind<spmd>, #nki.compare<lt_imm>, #nki.dtype<f32r>, #nki.arch<gen2>]} : () -> ()
"test.op"() {enums = [#nki.alu<add>, #nki.func<exp>, #nki.engine<dve>, #nki.accumulate<idle>, #nki.perf_mode<double_row>, #nki.axis<xyzwc>, #nki.dge<hwdge>, #nki.oob<skip>, #nki.kind<const>, #nki.loop_kind<spmd>, #nki.compare<lt_imm>, #nki.dtype<f32r>, #nki.arch<trn1>]} : () -> ()

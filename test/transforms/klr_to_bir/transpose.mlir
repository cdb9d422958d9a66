// RUN: nki-opt %s -p convert-klr-to-bir | filecheck %s

// The identity stands in the first block, wherever the transposes are.
// CHECK:       bir.func @sg0000
// CHECK-NEXT:    %a = bir.tensor "a" : !nki.mem<sbuf 32x32xf32>
// CHECK-NEXT:    %p = bir.tensor "p" : !nki.mem<psum 32x32xf32>
// CHECK-NEXT:    %r = bir.register "r"
// CHECK-NEXT:    %identity_f32 = bir.tensor "identity_f32" : !nki.mem<sbuf 128x128xf32>
// CHECK-NEXT:    bir.memset "memset_id.f32"
// CHECK-NEXT:    bir.tensor_scalar_affine_select not_equal "affsel_id.f32"
// CHECK-NEXT:    bir.stream_transpose on dve "dve" outs(%a[0 : 32 | 0 : 32] f32) ins(%a[0 : 32 | 0 : 32] f32)
// CHECK-NEXT:    bir.compare_and_branch
// CHECK-NEXT:  ^body.2:
// CHECK-NEXT:    bir.matmult is_transpose is_moving_onezero on pe "pe" outs(%p[0 : 32 | 0 : 32] f32) ins(%a[0 : 32 | 0 : 32] f32, %identity_f32[0 : 32 | 0 : 32] f32)
// CHECK-NEXT:    bir.matmult is_transpose is_moving_onezero on pe "chosen" outs(%p[0 : 32 | 0 : 32] f32) ins(%a[0 : 32 | 0 : 32] f32, %identity_f32[0 : 32 | 0 : 32] f32)
klr.kernel @k {
  klr.body 0 {
    %a = klr.tensor "a" : !nki.mem<sbuf 32x32xf32>
    %p = klr.tensor "p" : !nki.mem<psum 32x32xf32>
    %r = klr.register "r"
    klr.block "main.1" {
      klr.transpose on dve "dve" outs(%a[0 : 32 | 0 : 32] f32) ins(%a[0 : 32 | 0 : 32] f32) {dtype = #nki.dtype<f32>}
      klr.cmp_branch ne_imm ins(left = %r, right = 0 : i32) {true_label = "body.2", false_label = "exit.3"}
    }
    klr.block "body.2" {
      klr.transpose on pe "pe" outs(%p[0 : 32 | 0 : 32] f32) ins(%a[0 : 32 | 0 : 32] f32) {dtype = #nki.dtype<f32>}
      klr.transpose "chosen" outs(%p[0 : 32 | 0 : 32] f32) ins(%a[0 : 32 | 0 : 32] f32)
      klr.cmp_branch ne_imm ins(left = %r, right = 0 : i32) {true_label = "body.2", false_label = "exit.3"}
    }
    klr.block "exit.3" {
    }
  }
}

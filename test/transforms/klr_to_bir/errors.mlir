// RUN: nki-opt %s -p convert-klr-to-bir --split-input-file --verify-diagnostics --allow-unregistered-dialect

klr.kernel @k {
  klr.body 0 {
    klr.block "main.1" {
      // expected-error @+1 {{'klr.dma_transpose' op has no lowering to BIR}}
      "klr.dma_transpose"() : () -> ()
    }
  }
}

// -----

klr.kernel @k {
  // expected-error @+1 {{'klr.body' op has a conditional branch in block 'a', which keeps the order of its instructions}}
  klr.body 0 {
    %r = klr.register "r"
    klr.block "a" no_reorder {
      klr.cmp_branch eq_imm ins(left = %r, right = 0 : i32) {true_label = "a", false_label = "a"}
    }
  }
}

// -----

klr.kernel @k {
  // expected-error @+1 {{'klr.body' op has a second tensor 'v' in the buffer 't', which has no lowering to BIR}}
  klr.body 0 {
    %t = klr.tensor "t" : !nki.mem<sbuf 128x64xf32>
    %v = klr.tensor "v" {address_name = "t"} : !nki.mem<sbuf 128x128xbf16>
  }
}

// -----

klr.kernel @k {
  klr.body 0 {
    %a = klr.tensor "a" : !nki.mem<sbuf 128x64xf32>
    %b = klr.tensor "b" : !nki.mem<sbuf 64x128xf32>
    klr.block "main.1" {
      // expected-error @+1 {{'klr.transpose' op transposes 128 x 64 elements from sbuf to sbuf, but engine pe transposes at most 128 x 128 from sbuf to psum, engine dve at most 32 x 32}}
      klr.transpose outs(%b[0 : 64 | 0 : 128] f32) ins(%a[0 : 128 | 0 : 64] f32)
    }
  }
}

// -----

bir.module @m {
  bir.func @f {
    // expected-error @+1 {{'klr.cmp_branch' op stands outside of a klr.block, so that nothing says where 'b' is}}
    klr.cmp_branch always {true_label = "b"}
  }
}

// What holds for klr alone, and rules of its own; those of all dialects are in ../bir and ../nki.
// RUN: nki-opt %s --split-input-file --verify-diagnostics

// The priority of a DMA.
klr.kernel @m {
  klr.body 0 {
    %x = klr.tensor "x" : !nki.mem<sbuf 128x512xf32>
    %y = klr.tensor "y" : !nki.mem<sbuf 128x512xf32>
    %a = klr.tensor "a" : !nki.mem<hbm 512x512xf32>
    %n = klr.register "n"
    // expected-error @+1 {{'klr.nc_dma_copy' op priority is 4, it must be 0, 1, 2 or 3 [X-PRIORITY]}}
    klr.nc_dma_copy outs(%x[0 : 128 | 0 : 512] f32) ins(%a[0 : 65536] f32) {priority = 4 : i64}
  }
}

// -----

klr.kernel @m attributes {arch = #nki.arch<gen3>} {
  klr.body 0 {
    %x = klr.tensor "x" : !nki.mem<sbuf 128x512xf32>
    %y = klr.tensor "y" : !nki.mem<sbuf 128x512xf32>
    %a = klr.tensor "a" : !nki.mem<hbm 512x512xf32>
    %n = klr.register "n"
    // expected-error @+1 {{'klr.nc_dma_copy' op priority is 1, which needs trn3 or newer; the target is trn2 [X-PRIORITY]}}
    klr.nc_dma_copy outs(%x[0 : 128 | 0 : 512] f32) ins(%a[0 : 65536] f32) {priority = 1 : i64}
  }
}

// -----

klr.kernel @m {
  klr.body 0 {
    %x = klr.tensor "x" : !nki.mem<sbuf 128x512xf32>
    %y = klr.tensor "y" : !nki.mem<sbuf 128x512xf32>
    %a = klr.tensor "a" : !nki.mem<hbm 512x512xf32>
    %n = klr.register "n"
    klr.nc_scalar_tensor_tensor mult add outs(%x[0 : 128 | 0 : 512] f32) ins(%y[0 : 128 | 0 : 512] f32, %y[0 : 128 | 0 : 512] f32)
  // expected-error @+1 {{expected ins(… operand1 …) of klr.nc_scalar_tensor_tensor}}
  }
}

// -----

klr.kernel @m {
  klr.body 0 {
    %x = klr.tensor "x" : !nki.mem<sbuf 128x512xf32>
    %y = klr.tensor "y" : !nki.mem<sbuf 128x512xf32>
    %a = klr.tensor "a" : !nki.mem<hbm 512x512xf32>
    %n = klr.register "n"
    // expected-error @+1 {{'klr.tensor_tensor' op data2 accesses 64 partitions, dst accesses 128 [X-PEQ]}}
    klr.tensor_tensor add outs(%x[0 : 128 | 0 : 512] f32) ins(%y[0 : 128 | 0 : 512] f32, %y[0 : 64 | 0 : 512] f32)
  }
}

// -----

klr.kernel @m {
  klr.body 0 {
    %x = klr.tensor "x" : !nki.mem<sbuf 128x512xf32>
    %y = klr.tensor "y" : !nki.mem<sbuf 128x512xf32>
    %a = klr.tensor "a" : !nki.mem<hbm 512x512xf32>
    %n = klr.register "n"
    klr.block "b" {
      // expected-error @+1 {{'klr.cmp_branch' op lt_reg compares left with right and needs a false_label}}
      klr.cmp_branch lt_reg ins(left = %n) {true_label = "b"}
    }
  }
}

// -----

klr.kernel @m {
  klr.body 0 {
    %x = klr.tensor "x" : !nki.mem<sbuf 128x512xf32>
    %y = klr.tensor "y" : !nki.mem<sbuf 128x512xf32>
    %a = klr.tensor "a" : !nki.mem<hbm 512x512xf32>
    %n = klr.register "n"
    klr.block "b" {
      // expected-error @+1 {{'klr.cmp_branch' op lt_imm compares left with right and needs a false_label}}
      klr.cmp_branch lt_imm ins(left = %n, right = 1 : i32) {true_label = "b"}
    }
  }
}

// -----

// expected-error @+1 {{'klr.body' op expects parent op 'klr.kernel'}}
klr.body 0 {
}

// -----

klr.kernel @m {
  // expected-error @+1 {{'klr.block' op expects parent op 'klr.body'}}
  klr.block "b" {
  }
}

// -----

klr.kernel @m {
  // expected-error @+1 {{Expected integer literal, got '-1'}}
  klr.body -1 {
  }
}

// -----

klr.kernel @m {
  klr.body 0 {
    // expected-error @+1 {{string literal expected of a label, got 'no_reorder'}}
    klr.block no_reorder {
    }
  }
}

// -----

// expected-error @+1 {{'klr.kernel' op property 'inputs' must be an array, each member a string, got [1 : i64]}}
klr.kernel @m attributes {inputs = [1 : i64]} {
}

// RUN: nki-opt %s --split-input-file --verify-diagnostics

// Tensors of a core are those of its body; a block sees nothing of another block.
klr.kernel @k {
  klr.body 0 {
    %t = klr.tensor "t" : !nki.mem<sbuf 4x8xf32>
    klr.block "main.0" {
      // expected-error @+1 {{'test.op' op operand #1 does not dominate this use}}
      "test.op"(%t, %s) : (!nki.mem<sbuf 4x8xf32>, !nki.mem<sbuf 4x8xf32>) -> ()
    }
    klr.block "main.1" {
      %s = "test.op"() : () -> !nki.mem<sbuf 4x8xf32>
    }
  }
}

// -----

// Another kernel is another memory.
klr.kernel @k {
  klr.body 0 {
    klr.block "main.0" {
      // expected-error @+1 {{'test.op' op operand #0 is defined outside of the 'klr.kernel' op}}
      "test.op"(%s) : (!nki.mem<sbuf 4x8xf32>) -> ()
    }
  }
}
klr.kernel @l {
  klr.body 0 {
    %s = klr.tensor "s" : !nki.mem<sbuf 4x8xf32>
  }
}

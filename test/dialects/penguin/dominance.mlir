// RUN: nki-opt %s --split-input-file --verify-diagnostics

penguin.module @m {
  penguin.func @f {
    // expected-error @+1 {{'test.op' op operand #0 does not dominate this use}}
    "test.op"(%t) : (!nki.mem<sbuf 4x8xf32>) -> ()
    penguin.loop %i = 0 to 2 step 1 affine {
      %t = penguin.tensor "t" : !nki.mem<sbuf 4x8xf32>
    }
  }
}

// -----

penguin.module @m {
  penguin.func @f {
    // expected-error @+1 {{'test.op' op operand #0 is defined outside of the 'penguin.func' op}}
    "test.op"(%t) : (!nki.mem<sbuf 4x8xf32>) -> ()
  }
  penguin.func @g {
    %t = penguin.tensor "t" : !nki.mem<sbuf 4x8xf32>
  }
}

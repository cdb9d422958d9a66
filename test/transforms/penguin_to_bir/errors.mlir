// RUN: nki-opt %s -p convert-penguin-to-bir --split-input-file --verify-diagnostics --allow-unregistered-dialect

penguin.module @m {
  penguin.func @f {
    // expected-error @+1 {{'arith.constant' op has no lowering to BIR}}
    %0 = arith.constant 1 : i32
  }
}

// -----

penguin.module @m {
  penguin.func @f {
    penguin.loop %i = 0 to 2 step 1 affine {
      // expected-error @+1 {{'penguin.unheard_of' op has no lowering to BIR}}
      "penguin.unheard_of"() : () -> ()
    }
  }
}

// -----

penguin.module @m {
  penguin.func @f {
    %a = penguin.tensor "a" : !nki.mem<sbuf 128x64xf32>
    %b = penguin.tensor "b" : !nki.mem<sbuf 64x128xf32>
    // expected-error @+1 {{'penguin.transpose' op transposes 128 x 64 elements from sbuf to sbuf, but engine pe transposes at most 128 x 128 from sbuf to psum, engine dve at most 32 x 32}}
    penguin.transpose outs(%b[0 : 64 | 0 : 128] f32) ins(%a[0 : 128 | 0 : 64] f32)
  }
}

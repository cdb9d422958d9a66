// What holds for penguin alone, and rules of its own; those of all dialects are in ../bir and ../nki.
// RUN: nki-opt %s --split-input-file --verify-diagnostics

// Instructions.
penguin.module @m {
  penguin.func @f {
    %x = penguin.tensor "x" : !nki.mem<sbuf 128x512xf32>
    %y = penguin.tensor "y" : !nki.mem<sbuf 128x512xf32>
    %n = penguin.register "n"
    // expected-error @+1 {{'penguin.tensor_tensor' op data2 has 511 elements a partition, dst has 512 [X-FEQ]}}
    penguin.tensor_tensor add outs(%x[0 : 128 | 0 : 512] f32) ins(%y[0 : 128 | 0 : 512] f32, %y[0 : 128 | 0 : 511] f32)
  }
}

// -----

penguin.module @m {
  penguin.func @f {
    %x = penguin.tensor "x" : !nki.mem<sbuf 128x512xf32>
    %y = penguin.tensor "y" : !nki.mem<sbuf 128x512xf32>
    %n = penguin.register "n"
    // expected-error @+1 {{'penguin.tensor_scalar_ptr' op operand1 must be a tile [X-TILE]}}
    penguin.tensor_scalar_ptr mult add is_scalar_tensor_tensor outs(%x[0 : 128 | 0 : 512] f32) ins(%y[0 : 128 | 0 : 512] f32, operand0 = 1.0 : f32, operand1 = 2.0 : f32)
  }
}

// -----

penguin.module @m {
  penguin.func @f {
    %x = penguin.tensor "x" : !nki.mem<sbuf 128x512xf32>
    %y = penguin.tensor "y" : !nki.mem<sbuf 128x512xf32>
    %n = penguin.register "n"
    // expected-error @+1 {{'penguin.tensor_scalar_ptr' op op0 is mult, which needs operand0 [X-UNARY]}}
    penguin.tensor_scalar_ptr mult add is_scalar_tensor_tensor outs(%x[0 : 128 | 0 : 512] f32) ins(%y[0 : 128 | 0 : 512] f32, operand1 = %y[0 : 128 | 0 : 512] f32)
  }
}

// -----

penguin.module @m {
  penguin.func @f {
    %x = penguin.tensor "x" : !nki.mem<sbuf 128x512xf32>
    %y = penguin.tensor "y" : !nki.mem<sbuf 128x512xf32>
    %n = penguin.register "n"
    penguin.loop %i = 0 to 64 step 8 affine {
      // expected-error @+1 {{'penguin.memset' op dst accesses 8 partitions from partition 8, they must start at 0, 32, 64 or 96 [HW-P2]}}
      penguin.memset outs(%x[%i : 8 | 0 : 512] f32) ins(0.0 : f32)
    }
  }
}

// -----

penguin.module @m {
  penguin.func @f {
    %x = penguin.tensor "x" : !nki.mem<sbuf 128x512xf32>
    %y = penguin.tensor "y" : !nki.mem<sbuf 128x512xf32>
    %n = penguin.register "n"
    penguin.loop %i = 0 to 8 affine {
      // expected-error @+1 {{'penguin.memset' op dst reaches element 512 of a partition, it has 512 elements [X-FMAX]}}
      penguin.memset outs(%x[0 : 128 | 64*%i + 1 : 64] f32) ins(0.0 : f32)
    }
  }
}

// -----

penguin.module @m {
  penguin.func @f {
    %x = penguin.tensor "x" : !nki.mem<sbuf 128x512xf32>
    %y = penguin.tensor "y" : !nki.mem<sbuf 128x512xf32>
    %n = penguin.register "n"
    penguin.loop %i = 0 to 8 affine {
      // expected-error @+1 {{'penguin.memset' op dst reaches element 512 of a partition, it has 512 elements [X-FMAX]}}
      penguin.memset outs(%x[0 : 128 | 64*%i - 64*(%i mod 2) + 65 : 64] f32) ins(0.0 : f32)
    }
  }
}

// -----

penguin.module @m {
  penguin.func @f {
    %x = penguin.tensor "x" : !nki.mem<sbuf 128x512xf32>
    %y = penguin.tensor "y" : !nki.mem<sbuf 128x512xf32>
    %n = penguin.register "n"
    // expected-error @+1 {{operand is used with type !nki.reg, but has been previously used or defined with type !nki.mem<sbuf 128x512xf32>}}
    penguin.dynamic_loop %i to %x {
    }
  }
}

// -----

penguin.module @m {
  penguin.func @f {
    %x = penguin.tensor "x" : !nki.mem<sbuf 128x512xf32>
    %y = penguin.tensor "y" : !nki.mem<sbuf 128x512xf32>
    %n = penguin.register "n"
    // expected-error @+1 {{'penguin.dynamic_loop' op Region 'body' at position 0 expected a single block, but got 0 blocks}}
    "penguin.dynamic_loop"(%n) ({
    }) : (!nki.reg) -> ()
  }
}

// -----

penguin.module @m {
  penguin.func @f {
    %x = penguin.tensor "x" : !nki.mem<sbuf 128x512xf32>
    %y = penguin.tensor "y" : !nki.mem<sbuf 128x512xf32>
    %n = penguin.register "n"
    // expected-error @+1 {{operand is used with type !nki.reg, but has been previously used or defined with type !nki.mem<sbuf 128x512xf32>}}
    penguin.while %x {
    }
  }
}

// -----

penguin.module @m {
  penguin.func @f {
    %x = penguin.tensor "x" : !nki.mem<sbuf 128x512xf32>
    %y = penguin.tensor "y" : !nki.mem<sbuf 128x512xf32>
    %n = penguin.register "n"
    // expected-error @+1 {{Expected integer literal, got 'two'}}
    penguin.scope "s" multi_buffer two {
    }
  }
}

// -----

penguin.module @m {
  penguin.func @f {
    penguin.scope "s" multi_buffer 1 {
    }
    // expected-error @+1 {{'penguin.scope' op multi_buffer must be positive, got 0}}
    penguin.scope "s" multi_buffer 0 {
    }
  }
}

// -----

// expected-error @+1 {{'penguin.func' op expects parent op 'penguin.module'}}
penguin.func @f {
}

// -----

// expected-error @+1 {{'penguin.module' op property 'sym_name' expected in operation 'penguin.module'}}
"penguin.module"() ({
}) : () -> ()

// -----

// The line has no room for the types of these numbers.
"penguin.module"() <{sym_name = "m"}> ({
  // expected-error @+1 {{'penguin.func' op property 'core' is wrong: Expected attribute i64 but got i8}}
  "penguin.func"() <{sym_name = "f", core = 1 : i8}> ({
    // expected-error @+1 {{'penguin.scope' op property 'multi_buffer' is wrong: Expected attribute i64 but got i8}}
    "penguin.scope"() <{multi_buffer = 2 : i8}> ({
    }) : () -> ()
    // expected-error @+1 {{'penguin.loop' op property 'upper' is wrong: Expected attribute i64 but got i32}}
    "penguin.loop"() <{lower = 0 : i64, upper = 2 : i32, step = 1 : i64, kind = #nki.loop_kind<affine>}> ({
    ^bb0(%i : !nki.iv):
    }) : () -> ()
  }) : () -> ()
}) : () -> ()

// Where ops stand, and names that are theirs alone; ../bir/structure.mlir has what the dialects share in full.
// RUN: nki-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{'penguin.scope' op stands in 'builtin.module', it must be inside of a function}}
penguin.scope "s" {
}
%n = "test.op"() : () -> !nki.reg
penguin.module @m {
  // expected-error @+1 {{'penguin.tensor' op stands in 'penguin.module', it must be inside of a function}}
  %t = penguin.tensor "t" : !nki.mem<sbuf 2x2xf32>
  // expected-error @+1 {{'penguin.dynamic_loop' op stands in 'penguin.module', it must be inside of a function}}
  penguin.dynamic_loop %i to %n {
  }
  // expected-error @+1 {{'penguin.while' op stands in 'penguin.module', it must be inside of a function}}
  penguin.while %n {
  }
  // expected-error @+1 {{'penguin.module' op expects parent op 'builtin.module'}}
  penguin.module @inner {
  }
}

// -----

penguin.module @m {
  penguin.func @f attributes {core = 0 : i64} {
    %t = penguin.tensor "t" : !nki.mem<sbuf 2x2xf32>
    penguin.scope {
      penguin.memset "t" outs(%t[0 : 2 | 0 : 2] f32) ins(0.0 : f32)
      // expected-error @+1 {{'penguin.memset' op redefinition of instruction 't'}}
      penguin.memset "t" outs(%t[0 : 2 | 0 : 2] f32) ins(0.0 : f32)
    }
  }
  penguin.func @g attributes {core = 1 : i64} {
    %t = penguin.tensor "t" : !nki.mem<sbuf 2x2xf32>
    penguin.memset "t" outs(%t[0 : 2 | 0 : 2] f32) ins(0.0 : f32)
  }
}

// -----

penguin.module @m {
  penguin.func @f attributes {core = 3 : i64} {
  }
  // expected-error @+1 {{'penguin.func' op is a second one for core 3}}
  penguin.func @g attributes {core = 3 : i64} {
  }
}

// -----

penguin.module @m {
  penguin.func @f {
    %n = penguin.register "n"
    // expected-error @+1 {{'penguin.register_move' op src is 2.5, registers hold integers [X-REGNUM]}}
    penguin.register_move outs(%n) ins(2.5 : f32)
  }
}

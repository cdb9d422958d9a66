// A value is visible behind its definition, in the regions there, and in the blocks that its own dominates. The parser
// refuses most of this for the ops of the dialect; test.op may use what is defined later.
// RUN: nki-opt %s --split-input-file --verify-diagnostics | filecheck %s

// Before the definition: what the parser says, and what the verifier does.
bir.module @m {
  bir.func @f {
    // expected-error @+1 {{%r is not defined above its use}}
    "bir.do_while"(%r) ({
    ^bb0:
    }) : (!nki.reg) -> ()
    %r = bir.register "r"
  }
}

// -----

bir.module @m {
  bir.func @f {
    %q = bir.register "q"
    bir.loop %i = 0 to 2 step 1 affine {
      // expected-error @+1 {{'test.op' op operand #2 does not dominate this use}}
      "test.op"(%q, %i, %r) : (!nki.reg, !nki.iv, !nki.reg) -> ()
    }
    %r = bir.register "r"
  }
}

// -----

// Its own result.
bir.module @m {
  bir.func @f {
    // expected-error @+1 {{'test.op' op operand #0 does not dominate this use}}
    %r = "test.op"(%r) : (!nki.reg) -> !nki.reg
  }
}

// -----

// Out of the region of a loop.
bir.module @m {
  bir.func @f {
    // expected-error @+1 {{'test.op' op operand #0 does not dominate this use}}
    "test.op"(%r) : (!nki.reg) -> ()
    bir.loop %i = 0 to 2 step 1 affine {
      %r = bir.register "r"
    }
  }
}

// -----

// A value of another function.
bir.module @m {
  bir.func @f {
    // expected-error @+1 {{'test.op' op operand #0 is defined outside of the 'bir.func' op}}
    "test.op"(%r) : (!nki.reg) -> ()
  }
  bir.func @g {
    %r = bir.register "r"
  }
}

// -----

// A value of no function.
%r = "test.op"() : () -> !nki.reg
bir.module @m {
  bir.func @f {
    // expected-error @+1 {{'bir.register_move' op operand #0 is defined outside of the 'bir.func' op}}
    bir.register_move outs(%r) ins(1 : i32)
  }
}

// -----

// A value of a block that control can come by without.
bir.module @m {
  bir.func @f {
    %n = bir.register "n"
    bir.compare_and_branch lt_imm ins(%n, 10 : i32) [^one, ^two]
  ^one:
    %r = bir.register "r"
    bir.unconditional_branch ^two
  ^two:
    // expected-error @+1 {{'bir.register_move' op operand #0 does not dominate this use}}
    bir.register_move outs(%r) ins(1 : i32)
    bir.return
  }
}

// -----

// A value of a block that comes after the use.
bir.module @m {
  bir.func @f {
    bir.unconditional_branch ^one
  ^one:
    // expected-error @+1 {{'test.op' op operand #0 does not dominate this use}}
    "test.op"(%r) : (!nki.reg) -> ()
    bir.unconditional_branch ^two
  ^two:
    %r = bir.register "r"
    bir.return
  }
}

// -----

// What is right: storage of the entry in all blocks, also in one that nothing branches to; of a block in those behind
// it, whatever their order in the text; and in a loop there.
bir.module @m {
  // CHECK: bir.func @right
  bir.func @right {
    %n = bir.register "n"
    bir.compare_and_branch lt_imm ins(%n, 10 : i32) [^body, ^end]
  ^inner:
    bir.loop %i = 0 to 2 step 1 affine {
      "test.op"(%r, %i, %n) : (!nki.reg, !nki.iv, !nki.reg) -> ()
    }
    bir.compare_and_branch lt_imm ins(%n, 10 : i32) [^body, ^end]
  ^body:
    %r = bir.register "r"
    bir.register_move outs(%r) ins(1 : i32)
    bir.unconditional_branch ^inner
  ^end:
    bir.register_move outs(%n) ins(1 : i32)
    bir.return
  ^never:
    bir.register_move outs(%n) ins(1 : i32)
    bir.return
  }
}

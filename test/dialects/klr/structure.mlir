// Where statements, tensors and blocks stand, names that are theirs alone, and what names what.
// RUN: nki-opt %s --split-input-file --verify-diagnostics

// What is right: two cores with the same tensors and blocks; a tensor in several lists.
klr.kernel @k attributes {inputs = ["a", "b"], outputs = ["b"], shared_buffers = ["b"], edges = [["s", "t"], ["u"]]} {
  klr.body 0 {
    %a = klr.tensor "a" kind external_input : !nki.mem<hbm 2x2xf32>
    %b = klr.tensor "b" : !nki.mem<hbm 2x2xf32>
    %r = klr.register "a"
    klr.block "a" {
      klr.register_move "s" outs(%r) ins(0 : i32)
      klr.cmp_branch eq_imm "t" ins(left = %r, right = 0 : i32) {true_label = "b", false_label = "a"}
    }
    klr.block "b" {
    }
  }
  klr.body 1 {
    %a = klr.tensor "a" kind external_input : !nki.mem<hbm 2x2xf32>
    %b = klr.tensor "b" : !nki.mem<hbm 2x2xf32>
    %r = klr.register "a"
    klr.block "a" {
      klr.register_move "s" outs(%r) ins(0 : i32)
      klr.cmp_branch always {true_label = "a", false_label = ""}
    }
  }
}

// -----

// Outside of bodies and blocks.
// expected-error @+1 {{'klr.register' op stands in 'builtin.module', it must be inside of a function}}
%n = klr.register "n"
klr.kernel @k {
  // expected-error @+1 {{'klr.register_move' op stands in 'klr.kernel', it must be inside of a function}}
  klr.register_move outs(%n) ins(0 : i32)
}
bir.module @m {
  // expected-error @+1 {{'klr.kernel' op expects parent op 'builtin.module'}}
  klr.kernel @k {
  }
}

// -----

klr.kernel @k {
  klr.body 0 {
    %r = klr.register "r"
    // expected-error @+1 {{'klr.register_move' op stands outside of the blocks of its body}}
    klr.register_move outs(%r) ins(0 : i32)
  }
}

// -----

klr.kernel @k {
  klr.body 0 {
    klr.block "a" {
    }
    // expected-error @+1 {{'klr.register' op must stand before the blocks of its body}}
    %r = klr.register "r"
  }
}

// -----

klr.kernel @k {
  klr.body 0 {
    klr.block "a" {
      // expected-error @+1 {{'klr.tensor' op stands in a block, it must stand before the blocks of its body}}
      %t = klr.tensor "t" : !nki.mem<sbuf 2x2xf32>
      // expected-error @+1 {{'klr.register' op stands in a block, it must stand before the blocks of its body}}
      %r = klr.register "r"
    }
  }
}

// -----

// Names.
klr.kernel @k {
  klr.body 0 {
    %t = klr.tensor "t" : !nki.mem<sbuf 2x2xf32>
    // expected-error @+1 {{'klr.tensor' op redefinition of tensor 't'}}
    %u = klr.tensor "t" : !nki.mem<sbuf 2x2xf32>
  }
}

// -----

klr.kernel @k {
  klr.body 0 {
    %n = klr.register "n"
    // expected-error @+1 {{'klr.register' op redefinition of register 'n'}}
    %m = klr.register "n"
  }
}

// -----

klr.kernel @k {
  klr.body 0 {
    %n = klr.register "n"
    klr.block "a" {
      klr.register_move "s" outs(%n) ins(0 : i32)
    }
    klr.block "b" {
      // expected-error @+1 {{'klr.register_move' op redefinition of instruction 's'}}
      klr.register_move "s" outs(%n) ins(0 : i32)
    }
  }
}

// -----

klr.kernel @k {
  klr.body 0 {
    klr.block "a" {
    }
    // expected-error @+1 {{'klr.block' op redefinition of block 'a'}}
    klr.block "a" {
    }
  }
}

// -----

klr.kernel @k {
  klr.body 1 {
  }
  // expected-error @+1 {{'klr.body' op is a second one for core 1}}
  klr.body 1 {
  }
}

// -----

// Branches.
klr.kernel @k {
  klr.body 0 {
    klr.block "a" {
      // expected-error @+1 {{'klr.cmp_branch' op goes to block 'b', which its body does not have}}
      klr.cmp_branch always {true_label = "b"}
    }
  }
}

// -----

klr.kernel @k {
  klr.body 0 {
    %r = klr.register "r"
    klr.block "a" {
      // expected-error @+1 {{'klr.cmp_branch' op goes to block 'c', which its body does not have}}
      klr.cmp_branch eq_imm ins(left = %r, right = 0 : i32) {true_label = "a", false_label = "c"}
    }
  }
}

// -----

klr.kernel @k {
  klr.body 0 {
    %r = klr.register "r"
    klr.block "a" {
      // expected-error @+1 {{'klr.cmp_branch' op must be the last statement of a block}}
      klr.cmp_branch always {true_label = "a"}
      klr.register_move outs(%r) ins(0 : i32)
    }
  }
}

// -----

bir.module @m {
  bir.func @f {
    bir.loop %i = 0 to 2 affine {
      // expected-error @+1 {{'klr.cmp_branch' op must be the last statement of a block}}
      klr.cmp_branch always {true_label = "a"}
    }
  }
}

// -----

// What comes from outside.
// expected-error @+1 {{'klr.kernel' op lists 'x' among its inputs, but no body has a tensor of that name}}
klr.kernel @k attributes {inputs = ["x"]} {
  klr.body 0 {
  }
}

// -----

// expected-error @+1 {{'klr.kernel' op lists 'y' among its outputs, but no body has a tensor of that name}}
klr.kernel @k attributes {inputs = ["x"], outputs = ["x", "y"]} {
  klr.body 0 {
    %x = klr.tensor "x" : !nki.mem<hbm 2x2xf32>
  }
}

// -----

// expected-error @+1 {{'klr.kernel' op lists 'z' among its shared_buffers, but no body has a tensor of that name}}
klr.kernel @k attributes {shared_buffers = ["z"]} {
  klr.body 0 {
  }
}

// -----

// expected-error @+1 {{'klr.kernel' op has an empty list among its edges, which begins with the name of a statement}}
klr.kernel @k attributes {edges = [["s"], []]} {
  klr.body 0 {
  }
}

// -----

klr.kernel @k attributes {outputs = ["o"]} {
  klr.body 0 {
    %o = klr.tensor "o" : !nki.mem<hbm 2x2xf32>
    %p = klr.tensor "p" : !nki.mem<hbm 2x2xf32>
  }
  klr.body 1 {
    %p = klr.tensor "p" : !nki.mem<hbm 2x3xf32>
    // expected-error @+1 {{'klr.tensor' op is of type !nki.mem<hbm 2x3xf32>, an external tensor 'o' before it is of type !nki.mem<hbm 2x2xf32>}}
    %o = klr.tensor "o" : !nki.mem<hbm 2x3xf32>
  }
}

// -----

// Registers.
klr.kernel @k {
  klr.body 0 {
    %r = klr.register "r"
    klr.block "a" {
      // expected-error @+1 {{'klr.register_alu_op' op op is divide, it must be an operator on integers [X-REGOP]}}
      klr.register_alu_op divide outs(%r) ins(%r, 2 : i32)
      // expected-error @+1 {{'klr.cmp_branch' op left is given, comp_op always takes none [X-BRCMP]}}
      klr.cmp_branch always ins(left = %r) {true_label = "a"}
    }
    klr.block "b" {
      // expected-error @+1 {{'klr.cmp_branch' op right is a register, comp_op eq_imm needs a number [X-BRCMP]}}
      klr.cmp_branch eq_imm ins(left = %r, right = %r) {true_label = "a", false_label = "b"}
    }
  }
}

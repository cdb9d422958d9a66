// Where ops stand, names that are theirs alone, and what comes from outside.
// RUN: nki-opt %s --split-input-file --verify-diagnostics

// Outside of functions.
// expected-error @+1 {{'bir.tensor' op stands in 'builtin.module', it must be inside of a function}}
%t = bir.tensor "t" : !nki.mem<sbuf 2x2xf32>
// expected-error @+1 {{'bir.memset' op stands in 'builtin.module', it must be inside of a function}}
bir.memset outs(%t[0 : 2 | 0 : 2] f32) ins(0.0 : f32)
// expected-error @+1 {{'bir.register' op stands in 'builtin.module', it must be inside of a function}}
%r = bir.register "r"
// expected-error @+1 {{'bir.do_while' op stands in 'builtin.module', it must be inside of a function}}
bir.do_while %r {
}
// expected-error @+1 {{'bir.func' op expects parent op 'bir.module'}}
bir.func @f {
}
bir.module @m {
  // expected-error @+1 {{'bir.loop' op stands in 'bir.module', it must be inside of a function}}
  bir.loop %i = 0 to 2 step 1 affine {
  }
  // expected-error @+1 {{'bir.dynamic_for_loop' op stands in 'bir.module', it must be inside of a function}}
  bir.dynamic_for_loop %i = 0 to %r step 1 {
  }
  // expected-error @+1 {{'bir.module' op expects parent op 'builtin.module'}}
  bir.module @inner {
  }
}

// -----

// Dialects may be mixed inside of a function, as they are while a lowering is under way.
bir.module @m {
  bir.func @f {
    %t = penguin.tensor "t" : !nki.mem<sbuf 2x2xf32>
    %u = klr.tensor "u" : !nki.mem<sbuf 2x2xf32>
    %r = klr.register "r"
    penguin.loop %i = 0 to 2 affine {
      klr.mem_set outs(%u[0 : 2 | %i : 1] f32) ins(0.0 : f32)
      bir.memset outs(%t[0 : 2 | %i : 1] f32) ins(0.0 : f32)
    }
    penguin.scope "s" {
      penguin.memset outs(%u[0 : 2 | 0 : 2] f32) ins(0.0 : f32)
    }
    klr.cmp_branch always {true_label = "b"}
  }
}

// -----

// Terminators end the blocks of a function.
bir.module @m {
  bir.func @f {
    bir.loop %i = 0 to 2 step 1 affine {
      // expected-error @+1 {{'bir.return' op expects parent op 'bir.func'}}
      bir.return
    }
    %r = bir.register "r"
    bir.do_while %r {
      // expected-error @+1 {{'bir.return' op expects parent op 'bir.func'}}
      bir.return
    }
    bir.unconditional_branch ^end
  ^end:
    bir.return
  }
}

// -----

// No branch goes to the first block, for text does not name it; back to all others.
bir.module @m {
  bir.func @right {
    bir.unconditional_branch ^one
  ^one:
    bir.unconditional_branch ^one
  }
  bir.func @f {
  ^entry:
    // expected-error @+1 {{'bir.unconditional_branch' op goes to the first block of the 'bir.func' op, which no branch may do}}
    bir.unconditional_branch ^entry
  }
}

// -----

bir.module @m {
  bir.func @f {
  ^entry:
    %r = bir.register "r"
    bir.register_move outs(%r) ins(0 : i32)
    bir.unconditional_branch ^next
  ^next:
    // expected-error @+1 {{'bir.compare_and_branch' op goes to the first block of the 'bir.func' op, which no branch may do}}
    bir.compare_and_branch eq_imm ins(%r, 0 : i32) [^next, ^entry]
  }
}

// -----

// Names: tensors, registers and instructions of a function, each on their own; another function has its own names.
bir.module @m {
  bir.func @f attributes {core = 0 : i64} {
    %x = bir.tensor "x" : !nki.mem<sbuf 2x2xf32>
    %r = bir.register "x"
    bir.loop %i = 0 to 2 step 1 affine {
      bir.memset "x" outs(%x[0 : 2 | %i : 1] f32) ins(0.0 : f32)
    }
    bir.memset outs(%x[0 : 2 | 0 : 2] f32) ins(0.0 : f32)
    bir.memset outs(%x[0 : 2 | 0 : 2] f32) ins(0.0 : f32)
  }
  bir.func @g attributes {core = 1 : i64} {
    %x = bir.tensor "x" : !nki.mem<sbuf 4x4xf32>
    bir.memset "x" outs(%x[0 : 2 | 0 : 2] f32) ins(0.0 : f32)
  }
}

// -----

bir.module @m {
  bir.func @f {
    %x = bir.tensor "x" : !nki.mem<sbuf 2x2xf32>
    bir.loop %i = 0 to 2 step 1 affine {
      // expected-error @+1 {{'bir.tensor' op redefinition of tensor 'x'}}
      %y = bir.tensor "x" : !nki.mem<psum 2x2xf32>
    }
  }
}

// -----

bir.module @m {
  bir.func @f {
    %r = bir.register "r"
    // expected-error @+1 {{'bir.register' op redefinition of register 'r'}}
    %s = bir.register "r"
  }
}

// -----

bir.module @m {
  bir.func @f {
    %x = bir.tensor "x" : !nki.mem<sbuf 2x2xf32>
    bir.loop %i = 0 to 2 step 1 affine {
      bir.memset "I" outs(%x[0 : 2 | %i : 1] f32) ins(0.0 : f32)
    }
    bir.unconditional_branch ^end
  ^end:
    // expected-error @+1 {{'bir.memset' op redefinition of instruction 'I'}}
    bir.memset "I" outs(%x[0 : 2 | 0 : 2] f32) ins(0.0 : f32)
    bir.return
  }
}

// -----

bir.module @m {
  bir.func @f {
  }
  // expected-error @+1 {{'bir.func' op redefinition of function 'f'}}
  bir.func @f {
  }
}

// -----

bir.module @m {
  bir.func @f attributes {core = 0 : i64} {
  }
  // expected-error @+1 {{'bir.func' op is a second one for core 0}}
  bir.func @g attributes {core = 0 : i64} {
  }
}

// -----

bir.module @m {
  bir.func @e {
  }
  bir.func @f {
  }
  // expected-error @+1 {{'bir.func' op a core has a number from 0 on, got -1}}
  bir.func @g attributes {core = -1 : i64} {
  }
}

// -----

// What comes from outside is in HBM, and the same for all functions.
bir.module @m {
  bir.func @f {
    // expected-error @+1 {{'bir.tensor' op 'x' is external_input and in sbuf, it must be in hbm}}
    %x = bir.tensor "x" kind external_input : !nki.mem<sbuf 2x2xf32>
    // expected-error @+1 {{'bir.tensor' op 'y' is external_output and in psum, it must be in hbm}}
    %y = bir.tensor "y" kind external_output : !nki.mem<psum 2x2xf32>
    %s = bir.tensor "s" kind external_output : !nki.mem<shared_hbm 2x2xf32>
    %c = bir.tensor "c" kind const : !nki.mem<sbuf 2x2xf32>
  }
}

// -----

bir.module @m {
  bir.func @f attributes {core = 0 : i64} {
    %x = bir.tensor "x" kind external_input : !nki.mem<hbm 2x2xf32>
    %y = bir.tensor "y" : !nki.mem<hbm 2x2xf32>
  }
  bir.func @g attributes {core = 1 : i64} {
    %x = bir.tensor "x" kind external_input : !nki.mem<hbm 2x2xf32>
    %y = bir.tensor "y" : !nki.mem<hbm 2x3xf32>
  }
  bir.func @h attributes {core = 2 : i64} {
    // expected-error @+1 {{'bir.tensor' op is of type !nki.mem<hbm 2x3xf32>, an external tensor 'x' before it is of type !nki.mem<hbm 2x2xf32>}}
    %x = bir.tensor "x" kind external_output : !nki.mem<hbm 2x3xf32>
  }
}

// -----

bir.module @m {
  bir.func @f {
    %x = bir.tensor "x" at <0, 64> : !nki.mem<hbm 2x2xf32>
    // expected-error @+1 {{'bir.tensor' op a place in hbm has no partition, got <3, 0>}}
    %y = bir.tensor "y" at <3, 0> : !nki.mem<hbm 2x2xf32>
  }
}

// -----

// A loop that never runs counts as its first iteration: what is in it is checked in whatever form it is written.
bir.module @m {
  bir.func @f {
    %t = bir.tensor "t" : !nki.mem<sbuf 128x512xf32>
    %k = bir.tensor "k" : !nki.mem<sbuf 128x512xf32, blocks 2>
    bir.loop %j = 0 to 0 step 1 affine {
      bir.memset outs(%t[0 : 128 | 128*%j + 511 : 1] f32) ins(0.0 : f32)
      bir.memset outs(%k{%j + 1}[0 : 128 | 0 : 1] f32) ins(0.0 : f32)
      // expected-error @+1 {{'bir.memset' op dst reaches element 5000 of a partition, it has 512 elements [X-FMAX]}}
      bir.memset outs(%t[0 : 128 | 5000 : 1] f32) ins(0.0 : f32)
      // expected-error @+1 {{'bir.memset' op dst reaches element 5000 of a partition, it has 512 elements [X-FMAX]}}
      bir.memset outs(%t[0 : 128 | 128*%j + 5000 : 1] f32) ins(0.0 : f32)
      // expected-error @+1 {{'bir.memset' op dst accesses block 2, its storage has 2 [X-FMAX]}}
      bir.memset outs(%k{%j + 2}[0 : 128 | 0 : 1] f32) ins(0.0 : f32)
    }
  }
}

// -----

// Registers.
bir.module @m {
  bir.func @f {
    %x = bir.tensor "x" : !nki.mem<sbuf 128x512xf32>
    %h = bir.tensor "h" : !nki.mem<sbuf 128x512xbf16>
    %a = bir.tensor "a" : !nki.mem<hbm 4xi32>
    %p = bir.tensor "p" : !nki.mem<psum 128x512xi32>
    %r = bir.register "r"
    bir.register_move outs(%r) ins(4294967295 : u32)
    bir.register_move outs(%r) ins(-2147483648 : i64)
    bir.register_alu logical_xor outs(%r) ins(%r, 2.0 : f32)
    bir.tensor_load outs(%r) ins(%x[3 : 1 | 7 : 1] f32)
    bir.tensor_save outs(%a[3 : 1] i32) ins(%r)
    // expected-error @+1 {{'bir.register_move' op src is 0.5, registers hold integers [X-REGNUM]}}
    bir.register_move outs(%r) ins(0.5 : f32)
    // expected-error @+1 {{'bir.register_move' op src is 4294967296, registers hold 32 bits [X-REGNUM]}}
    bir.register_move outs(%r) ins(4294967296 : i64)
    // expected-error @+1 {{'bir.register_alu' op op is rsqrt, it must be an operator on integers [X-REGOP]}}
    bir.register_alu rsqrt outs(%r) ins(%r, 1 : i32)
    // expected-error @+1 {{'bir.register_alu' op operand is -2147483649, registers hold 32 bits [X-REGNUM]}}
    bir.register_alu add outs(%r) ins(%r, -2147483649 : i64)
    // expected-error @+1 {{'bir.register_alu' op engine is dma, it must be act, dve, pe, pool or sp [BIR606]}}
    bir.register_alu add on dma outs(%r) ins(%r, 1 : i32)
    // expected-error @+1 {{'bir.tensor_load' op src accesses 65536 elements, a register holds one [X-REGONE]}}
    bir.tensor_load outs(%r) ins(%x[0 : 128 | 0 : 512] f32)
    // expected-error @+1 {{'bir.tensor_load' op src is in psum, it must be in hbm, shared_hbm, private_hbm or sbuf [BIR412]}}
    bir.tensor_load outs(%r) ins(%p[0 : 1 | 0 : 1] i32)
    // expected-error @+1 {{'bir.tensor_load' op src reaches element 4 of its tensor, it has 4 elements [X-FMAX]}}
    bir.tensor_load outs(%r) ins(%a[4 : 1] i32)
    // expected-error @+1 {{'bir.tensor_save' op dst accesses 2 elements, a register holds one [X-REGONE]}}
    bir.tensor_save outs(%a[0 : 0*2] i32) ins(%r)
    // expected-error @+1 {{'bir.tensor_save' op dst is of type bf16, it must be f32, i16, i32, i64, i8, u16, u32, u64 or u8 [X-DTYPE]}}
    bir.tensor_save outs(%h[0 : 1 | 0 : 1] bf16) ins(%r)
  }
}

// -----

// Comparisons name what they compare.
bir.module @m {
  bir.func @f {
    %r = bir.register "r"
    bir.compare_and_branch lt_imm ins(%r, 0.5 : f32) [^a, ^b]
  ^a:
    bir.compare_and_branch lt_reg ins(%r, %r) [^a, ^b]
  ^b:
    // expected-error @+1 {{'bir.compare_and_branch' op right is a number, comp_op lt_reg needs a register [X-BRCMP]}}
    bir.compare_and_branch lt_reg ins(%r, 1 : i32) [^a, ^b]
  ^c:
    // expected-error @+1 {{'bir.compare_and_branch' op right is a register, comp_op lt_imm needs a number [X-BRCMP]}}
    bir.compare_and_branch lt_imm ins(%r, %r) [^a, ^b]
  ^d:
    // expected-error @+1 {{'bir.compare_and_branch' op left is given, comp_op always takes none [X-BRCMP]}}
    bir.compare_and_branch always ins(%r, 1 : i32) [^a, ^b]
  ^e:
    // expected-error @+1 {{'bir.compare_and_branch' op right is of type i64, it must be f32, i32 or u32 [BIR073]}}
    bir.compare_and_branch lt_imm ins(%r, 1 : i64) [^a, ^b]
  }
}

// -----

// Access indexed at run time needs an operand for the indices.
bir.module @m {
  bir.func @f {
    %x = bir.tensor "x" : !nki.mem<sbuf 128x512xf32>
    %a = bir.tensor "a" : !nki.mem<hbm 512x512xf32>
    // expected-error @+1 {{'bir.memset' op dst is indexed at run time, which this instruction has no operand for}}
    bir.memset outs(%x[0 : 128 | 0 : 512] f32 at 0 max 999) ins(0.0 : f32)
    // expected-error @+1 {{'bir.load' op src is indexed at run time, which this instruction has no operand for}}
    bir.load outs(%x[0 : 128 | 0 : 512] f32) ins(%a[0 : 512*128, 512] f32 at 1 max 5)
  }
}

// -----

bir.module @m {
}
bir.module @other {
}
// expected-error @+1 {{'bir.module' op Redefinition of symbol "m"}}
bir.module @m {
}

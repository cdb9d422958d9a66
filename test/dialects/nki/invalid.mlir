// Mistakes in the text of instructions, types and attributes, and in what holds for all instructions.
// RUN: nki-opt %s --split-input-file --verify-diagnostics

// What stands in the text of an operand.
bir.module @m {
  bir.func @f {
    %t = bir.tensor "t" : !nki.mem<sbuf 128x512xf32>
    %a = bir.tensor "a" : !nki.mem<hbm 512x512xf32>
    %k = bir.tensor "k" : !nki.mem<sbuf 32x512xf32, blocks 2>
    %r = bir.register "r"
    // expected-error @+1 {{expected a pair 'number' or 'step*number', found '12a8'}}
    bir.memset outs(%t[0 : 12a8 | 0 : 512] f32) ins(0.0 : f32)
  }
}

// -----

bir.module @m {
  bir.func @f {
    %t = bir.tensor "t" : !nki.mem<sbuf 128x512xf32>
    %a = bir.tensor "a" : !nki.mem<hbm 512x512xf32>
    %k = bir.tensor "k" : !nki.mem<sbuf 32x512xf32, blocks 2>
    %r = bir.register "r"
    // expected-error @+1 {{expected a pair 'number' or 'step*number', found nothing}}
    bir.memset outs(%t[0 : 128 | 0 : ] f32) ins(0.0 : f32)
  }
}

// -----

bir.module @m {
  bir.func @f {
    %t = bir.tensor "t" : !nki.mem<sbuf 128x512xf32>
    %a = bir.tensor "a" : !nki.mem<hbm 512x512xf32>
    %k = bir.tensor "k" : !nki.mem<sbuf 32x512xf32, blocks 2>
    %r = bir.register "r"
    // expected-error @+1 {{expected 'offset : number, …' in an access pattern}}
    bir.memset outs(%t[0 : 128 | 512] f32) ins(0.0 : f32)
  }
}

// -----

bir.module @m {
  bir.func @f {
    %t = bir.tensor "t" : !nki.mem<sbuf 128x512xf32>
    %a = bir.tensor "a" : !nki.mem<hbm 512x512xf32>
    %k = bir.tensor "k" : !nki.mem<sbuf 32x512xf32, blocks 2>
    %r = bir.register "r"
    // expected-error @+1 {{expected an element type such as f32 after the access pattern}}
    bir.memset outs(%t[0 : 128 | 0 : 512]) ins(0.0 : f32)
  }
}

// -----

bir.module @m {
  bir.func @f {
    %t = bir.tensor "t" : !nki.mem<sbuf 128x512xf32>
    %a = bir.tensor "a" : !nki.mem<hbm 512x512xf32>
    %k = bir.tensor "k" : !nki.mem<sbuf 32x512xf32, blocks 2>
    %r = bir.register "r"
    // expected-error @+1 {{']' expected after this '['}}
    bir.memset outs(%t[0 : 128 | 0 : 512) ins(0.0 : f32)
  }
}

// -----

bir.module @m {
  bir.func @f {
    %t = bir.tensor "t" : !nki.mem<sbuf 128x512xf32>
    %a = bir.tensor "a" : !nki.mem<hbm 512x512xf32>
    %k = bir.tensor "k" : !nki.mem<sbuf 32x512xf32, blocks 2>
    %r = bir.register "r"
    // expected-error @+1 {{unknown dtype 'f33'; did you mean 'f32'?}}
    bir.memset outs(%t[0 : 128 | 0 : 512] f33) ins(0.0 : f32)
  }
}

// -----

bir.module @m {
  bir.func @f {
    %t = bir.tensor "t" : !nki.mem<sbuf 128x512xf32>
    %a = bir.tensor "a" : !nki.mem<hbm 512x512xf32>
    %k = bir.tensor "k" : !nki.mem<sbuf 32x512xf32, blocks 2>
    %r = bir.register "r"
    // expected-error @+1 {{the number of a pair must be positive, got 0}}
    bir.memset outs(%t[0 : 128 | 0 : 0] f32) ins(0.0 : f32)
  }
}

// -----

bir.module @m {
  bir.func @f {
    %t = bir.tensor "t" : !nki.mem<sbuf 128x512xf32>
    %a = bir.tensor "a" : !nki.mem<hbm 512x512xf32>
    %k = bir.tensor "k" : !nki.mem<sbuf 32x512xf32, blocks 2>
    %r = bir.register "r"
    // expected-error @+1 {{an affine expression cannot multiply two index values}}
    bir.memset outs(%t[0 : 128 | %r * %r : 1] f32) ins(0.0 : f32)
  }
}

// -----

bir.module @m {
  bir.func @f {
    %t = bir.tensor "t" : !nki.mem<sbuf 128x512xf32>
    %a = bir.tensor "a" : !nki.mem<hbm 512x512xf32>
    %k = bir.tensor "k" : !nki.mem<sbuf 32x512xf32, blocks 2>
    %r = bir.register "r"
    // expected-error @+1 {{expected a number, an index value or '(' in an affine expression, found its end}}
    bir.memset outs(%t[0 : 128 | 4*%r + : 1] f32) ins(0.0 : f32)
  }
}

// -----

bir.module @m {
  bir.func @f {
    %t = bir.tensor "t" : !nki.mem<sbuf 128x512xf32>
    %a = bir.tensor "a" : !nki.mem<hbm 512x512xf32>
    %k = bir.tensor "k" : !nki.mem<sbuf 32x512xf32, blocks 2>
    %r = bir.register "r"
    // expected-error @+1 {{expected a positive number after floordiv in an affine expression, found '0'}}
    bir.memset outs(%t[0 : 128 | (%r floordiv 0) : 1] f32) ins(0.0 : f32)
  }
}

// -----

bir.module @m {
  bir.func @f {
    %t = bir.tensor "t" : !nki.mem<sbuf 128x512xf32>
    %a = bir.tensor "a" : !nki.mem<hbm 512x512xf32>
    %k = bir.tensor "k" : !nki.mem<sbuf 32x512xf32, blocks 2>
    %r = bir.register "r"
    // expected-error @+1 {{expected an operator or the end in an affine expression, found '2'}}
    bir.memset outs(%t[0 : 128 | %r 2 : 1] f32) ins(0.0 : f32)
  }
}

// -----

bir.module @m {
  bir.func @f {
    %t = bir.tensor "t" : !nki.mem<sbuf 128x512xf32>
    %a = bir.tensor "a" : !nki.mem<hbm 512x512xf32>
    %k = bir.tensor "k" : !nki.mem<sbuf 32x512xf32, blocks 2>
    %r = bir.register "r"
    // expected-error @+1 {{expected min(number, expression, …)}}
    bir.memset outs(%t[0 : 128 | 0 : min(4)] f32) ins(0.0 : f32)
  }
}

// -----

bir.module @m {
  bir.func @f {
    %t = bir.tensor "t" : !nki.mem<sbuf 128x512xf32>
    %a = bir.tensor "a" : !nki.mem<hbm 512x512xf32>
    %k = bir.tensor "k" : !nki.mem<sbuf 32x512xf32, blocks 2>
    %r = bir.register "r"
    // expected-error @+1 {{the mask of an access leaves no element}}
    bir.memset outs(%t[0 : 128 | 0 : min(4, 0)] f32) ins(0.0 : f32)
  }
}

// -----

bir.module @m {
  bir.func @f {
    %t = bir.tensor "t" : !nki.mem<sbuf 128x512xf32>
    %a = bir.tensor "a" : !nki.mem<hbm 512x512xf32>
    %k = bir.tensor "k" : !nki.mem<sbuf 32x512xf32, blocks 2>
    %r = bir.register "r"
    // expected-error @+1 {{expected min(number, expression, …)}}
    bir.memset outs(%t[0 : 128 | 0 : min(%r, 4)] f32) ins(0.0 : f32)
  }
}

// -----

bir.module @m {
  bir.func @f {
    %t = bir.tensor "t" : !nki.mem<sbuf 128x512xf32>
    %a = bir.tensor "a" : !nki.mem<hbm 512x512xf32>
    %k = bir.tensor "k" : !nki.mem<sbuf 32x512xf32, blocks 2>
    %r = bir.register "r"
    // expected-error @+1 {{expected a number, an index value or '(' in an affine expression, found its end}}
    bir.memset outs(%t[0 : 128 | 0 : min(4, %r +)] f32) ins(0.0 : f32)
  }
}

// -----

bir.module @m {
  bir.func @f {
    %t = bir.tensor "t" : !nki.mem<sbuf 128x512xf32>
    %a = bir.tensor "a" : !nki.mem<hbm 512x512xf32>
    %k = bir.tensor "k" : !nki.mem<sbuf 32x512xf32, blocks 2>
    %r = bir.register "r"
    // expected-error @+1 {{expected an operator or the end in an affine expression, found '1'}}
    bir.memset outs(%k{%r 1}[0 : 32 | 0 : 512] f32) ins(0.0 : f32)
  }
}

// -----

bir.module @m {
  bir.func @f {
    %t = bir.tensor "t" : !nki.mem<sbuf 128x512xf32>
    %a = bir.tensor "a" : !nki.mem<hbm 512x512xf32>
    %k = bir.tensor "k" : !nki.mem<sbuf 32x512xf32, blocks 2>
    %r = bir.register "r"
    // expected-error @+1 {{a number may have at most 19 digits}}
    bir.memset outs(%t[0 : 128 | 99999999999999999999 : 1] f32) ins(0.0 : f32)
  }
}

// -----

bir.module @m {
  bir.func @f {
    %t = bir.tensor "t" : !nki.mem<sbuf 128x512xf32>
    %a = bir.tensor "a" : !nki.mem<hbm 512x512xf32>
    %k = bir.tensor "k" : !nki.mem<sbuf 32x512xf32, blocks 2>
    %r = bir.register "r"
    // expected-error @+1 {{expected a pair 'number' or 'step*number', found '9999999999999999999'}}
    bir.memset outs(%t[0 : 128 | 0 : 9999999999999999999] f32) ins(0.0 : f32)
  }
}

// -----

bir.module @m {
  bir.func @f {
    %t = bir.tensor "t" : !nki.mem<sbuf 128x512xf32>
    %a = bir.tensor "a" : !nki.mem<hbm 512x512xf32>
    %k = bir.tensor "k" : !nki.mem<sbuf 32x512xf32, blocks 2>
    %r = bir.register "r"
    // expected-error @+1 {{a number of an affine expression does not fit 64 bits}}
    bir.memset outs(%t[0 : 128 | 999999999999999999*999999999999999999*%r : 1] f32) ins(0.0 : f32)
  }
}

// -----

bir.module @m {
  bir.func @f {
    %t = bir.tensor "t" : !nki.mem<sbuf 128x512xf32>
    %a = bir.tensor "a" : !nki.mem<hbm 512x512xf32>
    %k = bir.tensor "k" : !nki.mem<sbuf 32x512xf32, blocks 2>
    %r = bir.register "r"
    // expected-error @+1 {{an affine expression may nest at most 32 parentheses}}
    bir.memset outs(%t[0 : 128 | ((((((((((((((((((((((((((((((((((((((((%r)))))))))))))))))))))))))))))))))))))))) : 1] f32) ins(0.0 : f32)
  }
}

// -----

bir.module @m {
  bir.func @f {
    %t = bir.tensor "t" : !nki.mem<sbuf 128x512xf32>
    %a = bir.tensor "a" : !nki.mem<hbm 512x512xf32>
    %k = bir.tensor "k" : !nki.mem<sbuf 32x512xf32, blocks 2>
    %r = bir.register "r"
    // expected-error @+1 {{an affine expression may nest at most 32 signs}}
    bir.memset outs(%t[0 : 128 | ----------------------------------------%r : 1] f32) ins(0.0 : f32)
  }
}

// -----

bir.module @m {
  bir.func @f {
    %t = bir.tensor "t" : !nki.mem<sbuf 128x512xf32>
    %a = bir.tensor "a" : !nki.mem<hbm 512x512xf32>
    %k = bir.tensor "k" : !nki.mem<sbuf 32x512xf32, blocks 2>
    %r = bir.register "r"
    // expected-error @+1 {{an access has at most 32 element pairs, got 65}}
    bir.memset outs(%t[0 : 128 | 0 : 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1] f32) ins(0.0 : f32)
  }
}

// -----

bir.module @m {
  bir.func @f {
    %t = bir.tensor "t" : !nki.mem<sbuf 128x512xf32>
    %a = bir.tensor "a" : !nki.mem<hbm 512x512xf32>
    %k = bir.tensor "k" : !nki.mem<sbuf 32x512xf32, blocks 2>
    %r = bir.register "r"
    // expected-error @+1 {{%undefined is not defined above its use}}
    bir.memset outs(%undefined[0 : 128 | 0 : 512] f32) ins(0.0 : f32)
  }
}

// -----

bir.module @m {
  bir.func @f {
    %t = bir.tensor "t" : !nki.mem<sbuf 128x512xf32>
    %a = bir.tensor "a" : !nki.mem<hbm 512x512xf32>
    %k = bir.tensor "k" : !nki.mem<sbuf 32x512xf32, blocks 2>
    %r = bir.register "r"
    // expected-error @+1 {{%undefined is not defined above its use}}
    bir.memset outs(%t[0 : 128 | %undefined : 1] f32) ins(0.0 : f32)
  }
}

// -----

bir.module @m {
  bir.func @f {
    %t = bir.tensor "t" : !nki.mem<sbuf 128x512xf32>
    %a = bir.tensor "a" : !nki.mem<hbm 512x512xf32>
    %k = bir.tensor "k" : !nki.mem<sbuf 32x512xf32, blocks 2>
    %r = bir.register "r"
    // expected-error @+1 {{%other is not defined above its use}}
    bir.memset outs(%t[0 : 128 | 4*%r + 2*%other : 1] f32) ins(0.0 : f32)
  }
}

// -----

bir.module @m {
  bir.func @f {
    %t = bir.tensor "t" : !nki.mem<sbuf 128x512xf32>
    %a = bir.tensor "a" : !nki.mem<hbm 512x512xf32>
    %k = bir.tensor "k" : !nki.mem<sbuf 32x512xf32, blocks 2>
    %r = bir.register "r"
    // expected-error @+1 {{expected ': type' after the number, such as 2.0 : f32}}
    bir.memset outs(%t[0 : 128 | 0 : 512] f32) ins(0.0)
  }
}

// -----

bir.module @m {
  bir.func @f {
    %t = bir.tensor "t" : !nki.mem<sbuf 128x512xf32>
    %a = bir.tensor "a" : !nki.mem<hbm 512x512xf32>
    %k = bir.tensor "k" : !nki.mem<sbuf 32x512xf32, blocks 2>
    %r = bir.register "r"
    // expected-error @+1 {{unknown dtype 'float'; known: f32, f32r, bf16, f16, f8e3, f8e4, f8e4m3fn, f8e5, f8e8m0fnu, f8e4m3fn_x4, f8e5m2_x4, f4e2m1fn_x4, u8, i8, u16, i16, u32, i32, u64, i64}}
    bir.memset outs(%t[0 : 128 | 0 : 512] f32) ins(0.0 : float)
  }
}

// -----

bir.module @m {
  bir.func @f {
    %t = bir.tensor "t" : !nki.mem<sbuf 128x512xf32>
    %a = bir.tensor "a" : !nki.mem<hbm 512x512xf32>
    %k = bir.tensor "k" : !nki.mem<sbuf 32x512xf32, blocks 2>
    %r = bir.register "r"
    // expected-error @+1 {{'1e4' is no number of type i32}}
    bir.memset outs(%t[0 : 128 | 0 : 512] f32) ins(1e4 : i32)
  }
}

// -----

bir.module @m {
  bir.func @f {
    %t = bir.tensor "t" : !nki.mem<sbuf 128x512xf32>
    %a = bir.tensor "a" : !nki.mem<hbm 512x512xf32>
    %k = bir.tensor "k" : !nki.mem<sbuf 32x512xf32, blocks 2>
    %r = bir.register "r"
    // expected-error @+1 {{300 does not fit u8}}
    bir.memset outs(%t[0 : 128 | 0 : 512] f32) ins(300 : u8)
  }
}

// -----

bir.module @m {
  bir.func @f {
    %t = bir.tensor "t" : !nki.mem<sbuf 128x512xf32>
    %a = bir.tensor "a" : !nki.mem<hbm 512x512xf32>
    %k = bir.tensor "k" : !nki.mem<sbuf 32x512xf32, blocks 2>
    %r = bir.register "r"
    // expected-error @+1 {{'123456789012345678901234567890' is no number of type i32}}
    bir.memset outs(%t[0 : 128 | 0 : 512] f32) ins(123456789012345678901234567890 : i32)
  }
}

// -----

bir.module @m {
  bir.func @f {
    %t = bir.tensor "t" : !nki.mem<sbuf 128x512xf32>
    %a = bir.tensor "a" : !nki.mem<hbm 512x512xf32>
    %k = bir.tensor "k" : !nki.mem<sbuf 32x512xf32, blocks 2>
    %r = bir.register "r"
    // expected-error @+1 {{expected ',' or ')' after the operand}}
    bir.memset outs(%t[0 : 128 | 0 : 512] f32 ins(0.0 : f32)
  }
}

// -----

bir.module @m {
  bir.func @f {
    %t = bir.tensor "t" : !nki.mem<sbuf 128x512xf32>
    %a = bir.tensor "a" : !nki.mem<hbm 512x512xf32>
    %k = bir.tensor "k" : !nki.mem<sbuf 32x512xf32, blocks 2>
    %r = bir.register "r"
    bir.memset outs(%t[0 : 128 | 0 : 512] f32) ins(0.0 : f32
  // expected-error @+1 {{expected ',' or ')' after the operand}}
  }
}

// -----

bir.module @m {
  bir.func @f {
    %t = bir.tensor "t" : !nki.mem<sbuf 128x512xf32>
    %a = bir.tensor "a" : !nki.mem<hbm 512x512xf32>
    %k = bir.tensor "k" : !nki.mem<sbuf 32x512xf32, blocks 2>
    %r = bir.register "r"
    // expected-error @+1 {{expected ': type' after the number, such as 2.0 : f32}}
    bir.memset outs(128) ins(0.0 : f32)
  }
}

// -----

bir.module @m {
  bir.func @f {
    %t = bir.tensor "t" : !nki.mem<sbuf 128x512xf32>
    %a = bir.tensor "a" : !nki.mem<hbm 512x512xf32>
    %k = bir.tensor "k" : !nki.mem<sbuf 32x512xf32, blocks 2>
    %r = bir.register "r"
    // expected-error @+1 {{pair 5 to be indexed does not exist}}
    bir.memset outs(%t[0 : 128 | 0 : 512] f32 at 5 max 7) ins(0.0 : f32)
  }
}

// -----

// What stands in the text of an instruction.
bir.module @m {
  bir.func @f {
    %t = bir.tensor "t" : !nki.mem<sbuf 128x512xf32>
    %a = bir.tensor "a" : !nki.mem<hbm 512x512xf32>
    %k = bir.tensor "k" : !nki.mem<sbuf 32x512xf32, blocks 2>
    %r = bir.register "r"
    // expected-error @+1 {{expected op, a word of #nki.alu, after bir.tensor_tensor}}
    bir.tensor_tensor outs(%t[0 : 128 | 0 : 512] f32) ins(%t[0 : 128 | 0 : 512] f32, %t[0 : 128 | 0 : 512] f32)
  }
}

// -----

bir.module @m {
  bir.func @f {
    %t = bir.tensor "t" : !nki.mem<sbuf 128x512xf32>
    %a = bir.tensor "a" : !nki.mem<hbm 512x512xf32>
    %k = bir.tensor "k" : !nki.mem<sbuf 32x512xf32, blocks 2>
    %r = bir.register "r"
    // expected-error @+1 {{unknown ALU operator 'ad'; did you mean 'add'?}}
    bir.tensor_tensor ad outs(%t[0 : 128 | 0 : 512] f32) ins(%t[0 : 128 | 0 : 512] f32, %t[0 : 128 | 0 : 512] f32)
  }
}

// -----

bir.module @m {
  bir.func @f {
    %t = bir.tensor "t" : !nki.mem<sbuf 128x512xf32>
    %a = bir.tensor "a" : !nki.mem<hbm 512x512xf32>
    %k = bir.tensor "k" : !nki.mem<sbuf 32x512xf32, blocks 2>
    %r = bir.register "r"
    // expected-error @+1 {{bir.tensor_tensor has no parameter to take 'mult'}}
    bir.tensor_tensor add mult outs(%t[0 : 128 | 0 : 512] f32) ins(%t[0 : 128 | 0 : 512] f32, %t[0 : 128 | 0 : 512] f32)
  }
}

// -----

bir.module @m {
  bir.func @f {
    %t = bir.tensor "t" : !nki.mem<sbuf 128x512xf32>
    %a = bir.tensor "a" : !nki.mem<hbm 512x512xf32>
    %k = bir.tensor "k" : !nki.mem<sbuf 32x512xf32, blocks 2>
    %r = bir.register "r"
    // expected-error @+1 {{unknown engine 'vectr'; known: unassigned, pool, act, pe, dma, dve, sp, all}}
    bir.tensor_tensor add on vectr outs(%t[0 : 128 | 0 : 512] f32) ins(%t[0 : 128 | 0 : 512] f32, %t[0 : 128 | 0 : 512] f32)
  }
}

// -----

bir.module @m {
  bir.func @f {
    %t = bir.tensor "t" : !nki.mem<sbuf 128x512xf32>
    %a = bir.tensor "a" : !nki.mem<hbm 512x512xf32>
    %k = bir.tensor "k" : !nki.mem<sbuf 32x512xf32, blocks 2>
    %r = bir.register "r"
    // expected-error @+1 {{an instruction has one engine}}
    bir.tensor_tensor add on dve on dve outs(%t[0 : 128 | 0 : 512] f32) ins(%t[0 : 128 | 0 : 512] f32, %t[0 : 128 | 0 : 512] f32)
  }
}

// -----

bir.module @m {
  bir.func @f {
    %t = bir.tensor "t" : !nki.mem<sbuf 128x512xf32>
    %a = bir.tensor "a" : !nki.mem<hbm 512x512xf32>
    %k = bir.tensor "k" : !nki.mem<sbuf 32x512xf32, blocks 2>
    %r = bir.register "r"
    // expected-error @+1 {{an instruction has one name}}
    bir.tensor_tensor add "a" "b" outs(%t[0 : 128 | 0 : 512] f32) ins(%t[0 : 128 | 0 : 512] f32, %t[0 : 128 | 0 : 512] f32)
  }
}

// -----

bir.module @m {
  bir.func @f {
    %t = bir.tensor "t" : !nki.mem<sbuf 128x512xf32>
    %a = bir.tensor "a" : !nki.mem<hbm 512x512xf32>
    %k = bir.tensor "k" : !nki.mem<sbuf 32x512xf32, blocks 2>
    %r = bir.register "r"
    bir.tensor_tensor add outs(%t[0 : 128 | 0 : 512] f32) ins(%t[0 : 128 | 0 : 512] f32)
  // expected-error @+1 {{expected ins(… data2 …) of bir.tensor_tensor}}
  }
}

// -----

bir.module @m {
  bir.func @f {
    %t = bir.tensor "t" : !nki.mem<sbuf 128x512xf32>
    %a = bir.tensor "a" : !nki.mem<hbm 512x512xf32>
    %k = bir.tensor "k" : !nki.mem<sbuf 32x512xf32, blocks 2>
    %r = bir.register "r"
    // expected-error @+1 {{bir.tensor_tensor has no role for this operand of ins}}
    bir.tensor_tensor add outs(%t[0 : 128 | 0 : 512] f32) ins(%t[0 : 128 | 0 : 512] f32, %t[0 : 128 | 0 : 512] f32, %t[0 : 128 | 0 : 512] f32)
  }
}

// -----

bir.module @m {
  bir.func @f {
    %t = bir.tensor "t" : !nki.mem<sbuf 128x512xf32>
    %a = bir.tensor "a" : !nki.mem<hbm 512x512xf32>
    %k = bir.tensor "k" : !nki.mem<sbuf 32x512xf32, blocks 2>
    %r = bir.register "r"
    // expected-error @+1 {{bir.tensor_tensor has no further role 'data3' in ins; known: data2}}
    bir.tensor_tensor add outs(%t[0 : 128 | 0 : 512] f32) ins(%t[0 : 128 | 0 : 512] f32, data3 = %t[0 : 128 | 0 : 512] f32)
  }
}

// -----

bir.module @m {
  bir.func @f {
    %t = bir.tensor "t" : !nki.mem<sbuf 128x512xf32>
    %a = bir.tensor "a" : !nki.mem<hbm 512x512xf32>
    %k = bir.tensor "k" : !nki.mem<sbuf 32x512xf32, blocks 2>
    %r = bir.register "r"
    // expected-error @+1 {{bir.tensor_tensor has no further role 'data1' in ins; known: data2}}
    bir.tensor_tensor add outs(%t[0 : 128 | 0 : 512] f32) ins(data1 = %t[0 : 128 | 0 : 512] f32, data1 = %t[0 : 128 | 0 : 512] f32)
  }
}

// -----

bir.module @m {
  bir.func @f {
    %t = bir.tensor "t" : !nki.mem<sbuf 128x512xf32>
    %a = bir.tensor "a" : !nki.mem<hbm 512x512xf32>
    %k = bir.tensor "k" : !nki.mem<sbuf 32x512xf32, blocks 2>
    %r = bir.register "r"
    // expected-error @+1 {{'outs' must stand once, in the order outs, ins, indirection, params, when}}
    bir.tensor_tensor add ins(%t[0 : 128 | 0 : 512] f32, %t[0 : 128 | 0 : 512] f32) outs(%t[0 : 128 | 0 : 512] f32)
  }
}

// -----

bir.module @m {
  bir.func @f {
    %t = bir.tensor "t" : !nki.mem<sbuf 128x512xf32>
    %a = bir.tensor "a" : !nki.mem<hbm 512x512xf32>
    %k = bir.tensor "k" : !nki.mem<sbuf 32x512xf32, blocks 2>
    %r = bir.register "r"
    bir.tensor_tensor add outs(%t[0 : 128 | 0 : 512] f32)
  // expected-error @+1 {{expected ins(… data1 …) of bir.tensor_tensor}}
  }
}

// -----

bir.module @m {
  bir.func @f {
    %t = bir.tensor "t" : !nki.mem<sbuf 128x512xf32>
    %a = bir.tensor "a" : !nki.mem<hbm 512x512xf32>
    %k = bir.tensor "k" : !nki.mem<sbuf 32x512xf32, blocks 2>
    %r = bir.register "r"
    bir.tensor_tensor add outs() ins(%t[0 : 128 | 0 : 512] f32, %t[0 : 128 | 0 : 512] f32)
  // expected-error @+1 {{expected outs(… dst …) of bir.tensor_tensor}}
  }
}

// -----

bir.module @m {
  bir.func @f {
    %t = bir.tensor "t" : !nki.mem<sbuf 128x512xf32>
    %a = bir.tensor "a" : !nki.mem<hbm 512x512xf32>
    %k = bir.tensor "k" : !nki.mem<sbuf 32x512xf32, blocks 2>
    %r = bir.register "r"
    // expected-error @+1 {{bir.matmult has no further parameter 'accumulat'; known: accumulate, tile_position, tile_size}}
    bir.matmult outs(%t[0 : 128 | 0 : 512] f32) ins(%t[0 : 128 | 0 : 512] f32, %t[0 : 128 | 0 : 512] f32) params(accumulat = 1)
  }
}

// -----

bir.module @m {
  bir.func @f {
    %t = bir.tensor "t" : !nki.mem<sbuf 128x512xf32>
    %a = bir.tensor "a" : !nki.mem<hbm 512x512xf32>
    %k = bir.tensor "k" : !nki.mem<sbuf 32x512xf32, blocks 2>
    %r = bir.register "r"
    // expected-error @+1 {{bir.matmult has no further parameter 'accumulate'; known: tile_position, tile_size}}
    bir.matmult outs(%t[0 : 128 | 0 : 512] f32) ins(%t[0 : 128 | 0 : 512] f32, %t[0 : 128 | 0 : 512] f32) params(accumulate = 1, accumulate = 1)
  }
}

// -----

bir.module @m {
  bir.func @f {
    %t = bir.tensor "t" : !nki.mem<sbuf 128x512xf32>
    %a = bir.tensor "a" : !nki.mem<hbm 512x512xf32>
    %k = bir.tensor "k" : !nki.mem<sbuf 32x512xf32, blocks 2>
    %r = bir.register "r"
    // expected-error @+1 {{expected 'name = expression' in params(…)}}
    bir.matmult outs(%t[0 : 128 | 0 : 512] f32) ins(%t[0 : 128 | 0 : 512] f32, %t[0 : 128 | 0 : 512] f32) params(1)
  }
}

// -----

bir.module @m {
  bir.func @f {
    %t = bir.tensor "t" : !nki.mem<sbuf 128x512xf32>
    %a = bir.tensor "a" : !nki.mem<hbm 512x512xf32>
    %k = bir.tensor "k" : !nki.mem<sbuf 32x512xf32, blocks 2>
    %r = bir.register "r"
    // expected-error @+1 {{')' expected after this}}
    bir.matmult outs(%t[0 : 128 | 0 : 512] f32) ins(%t[0 : 128 | 0 : 512] f32, %t[0 : 128 | 0 : 512] f32) params(accumulate = (1)
  }
}

// -----

bir.module @m {
  bir.func @f {
    %t = bir.tensor "t" : !nki.mem<sbuf 128x512xf32>
    %a = bir.tensor "a" : !nki.mem<hbm 512x512xf32>
    %k = bir.tensor "k" : !nki.mem<sbuf 32x512xf32, blocks 2>
    %r = bir.register "r"
    // expected-error @+1 {{expected a number, an index value or '(' in an affine expression, found its end}}
    bir.matmult outs(%t[0 : 128 | 0 : 512] f32) ins(%t[0 : 128 | 0 : 512] f32, %t[0 : 128 | 0 : 512] f32) params(tile_size = [1, %r +])
  }
}

// -----

bir.module @m {
  bir.func @f {
    %t = bir.tensor "t" : !nki.mem<sbuf 128x512xf32>
    %a = bir.tensor "a" : !nki.mem<hbm 512x512xf32>
    %k = bir.tensor "k" : !nki.mem<sbuf 32x512xf32, blocks 2>
    %r = bir.register "r"
    // expected-error @+1 {{expected a condition 'expression ge 0' or 'expression eq 0'}}
    bir.memset outs(%t[0 : 128 | 0 : 512] f32) ins(0.0 : f32) when(%r)
  }
}

// -----

bir.module @m {
  bir.func @f {
    %t = bir.tensor "t" : !nki.mem<sbuf 128x512xf32>
    %a = bir.tensor "a" : !nki.mem<hbm 512x512xf32>
    %k = bir.tensor "k" : !nki.mem<sbuf 32x512xf32, blocks 2>
    %r = bir.register "r"
    // expected-error @+1 {{expected a condition 'expression ge 0' or 'expression eq 0'}}
    bir.memset outs(%t[0 : 128 | 0 : 512] f32) ins(0.0 : f32) when(%r ge 0, %r gt 0)
  }
}

// -----

bir.module @m {
  bir.func @f {
    %t = bir.tensor "t" : !nki.mem<sbuf 128x512xf32>
    %a = bir.tensor "a" : !nki.mem<hbm 512x512xf32>
    %k = bir.tensor "k" : !nki.mem<sbuf 32x512xf32, blocks 2>
    %r = bir.register "r"
    // expected-error @+1 {{')' expected after this}}
    bir.memset outs(%t[0 : 128 | 0 : 512] f32) ins(0.0 : f32) when(%r ge 0
  }
}

// -----

bir.module @m {
  bir.func @f {
    %t = bir.tensor "t" : !nki.mem<sbuf 128x512xf32>
    %a = bir.tensor "a" : !nki.mem<hbm 512x512xf32>
    %k = bir.tensor "k" : !nki.mem<sbuf 32x512xf32, blocks 2>
    %r = bir.register "r"
    // expected-error @+1 {{unknown DMA descriptor generation 'hw'; known: none, swdge, hwdge, unassigned}}
    bir.load outs(%t[0 : 128 | 0 : 512] f32) ins(%a[0 : 65536] f32) {dge_type = #nki.dge<hw>}
  }
}

// -----

// What the verifier finds.
bir.module @m {
  bir.func @f {
    %t = bir.tensor "t" : !nki.mem<sbuf 128x512xf32>
    %a = bir.tensor "a" : !nki.mem<hbm 512x512xf32>
    %k = bir.tensor "k" : !nki.mem<sbuf 32x512xf32, blocks 2>
    %r = bir.register "r"
    // expected-error @+1 {{'bir.memset' op dst is a register, it must be storage}}
    bir.memset outs(%r) ins(0.0 : f32)
  }
}

// -----

bir.module @m {
  bir.func @f {
    %t = bir.tensor "t" : !nki.mem<sbuf 128x512xf32>
    %a = bir.tensor "a" : !nki.mem<hbm 512x512xf32>
    %k = bir.tensor "k" : !nki.mem<sbuf 32x512xf32, blocks 2>
    %r = bir.register "r"
    // expected-error @+1 {{'bir.memset' op value is storage, it must be a number}}
    bir.memset outs(%t[0 : 128 | 0 : 512] f32) ins(%t[0 : 128 | 0 : 512] f32)
  }
}

// -----

bir.module @m {
  bir.func @f {
    %t = bir.tensor "t" : !nki.mem<sbuf 128x512xf32>
    %a = bir.tensor "a" : !nki.mem<hbm 512x512xf32>
    %k = bir.tensor "k" : !nki.mem<sbuf 32x512xf32, blocks 2>
    %r = bir.register "r"
    // expected-error @+1 {{'bir.tensor_copy' op src is the number 1.0 : f32, it must be storage}}
    bir.tensor_copy outs(%t[0 : 128 | 0 : 512] f32) ins(1.0 : f32)
  }
}

// -----

bir.module @m {
  bir.func @f {
    %t = bir.tensor "t" : !nki.mem<sbuf 128x512xf32>
    %a = bir.tensor "a" : !nki.mem<hbm 512x512xf32>
    %k = bir.tensor "k" : !nki.mem<sbuf 32x512xf32, blocks 2>
    %r = bir.register "r"
    // expected-error @+1 {{'bir.memset' op dst has no partition part, but its storage is in sbuf}}
    bir.memset outs(%t[0 : 512] f32) ins(0.0 : f32)
  }
}

// -----

bir.module @m {
  bir.func @f {
    %t = bir.tensor "t" : !nki.mem<sbuf 128x512xf32>
    %a = bir.tensor "a" : !nki.mem<hbm 512x512xf32>
    %k = bir.tensor "k" : !nki.mem<sbuf 32x512xf32, blocks 2>
    %r = bir.register "r"
    // expected-error @+1 {{'bir.save' op dst has a partition part, but its storage is in hbm}}
    bir.save outs(%a[0 : 128 | 0 : 512] f32) ins(%t[0 : 128 | 0 : 512] f32)
  }
}

// -----

bir.module @m {
  bir.func @f {
    %t = bir.tensor "t" : !nki.mem<sbuf 128x512xf32>
    %a = bir.tensor "a" : !nki.mem<hbm 512x512xf32>
    %k = bir.tensor "k" : !nki.mem<sbuf 32x512xf32, blocks 2>
    %r = bir.register "r"
    // expected-error @+1 {{'bir.memset' op dst accesses block 2, its storage has 2 [X-FMAX]}}
    bir.memset outs(%k{2}[0 : 32 | 0 : 512] f32) ins(0.0 : f32)
  }
}

// -----

bir.module @m {
  bir.func @f {
    %t = bir.tensor "t" : !nki.mem<sbuf 128x512xf32>
    %a = bir.tensor "a" : !nki.mem<hbm 512x512xf32>
    %k = bir.tensor "k" : !nki.mem<sbuf 32x512xf32, blocks 2>
    %r = bir.register "r"
    // expected-error @+1 {{'bir.memset' op dst must access storage, got a value of type !nki.reg}}
    bir.memset outs(%r[0 : 32 | 0 : 512] f32) ins(0.0 : f32)
  }
}

// -----

bir.module @m {
  bir.func @f {
    %t = bir.tensor "t" : !nki.mem<sbuf 128x512xf32>
    %a = bir.tensor "a" : !nki.mem<hbm 512x512xf32>
    %k = bir.tensor "k" : !nki.mem<sbuf 32x512xf32, blocks 2>
    %r = bir.register "r"
    // expected-error @+1 {{'bir.memset' op dst is indexed by a value of type !nki.mem<hbm 512x512xf32>, not a loop variable or register}}
    bir.memset outs(%t[0 : 128 | %a : 1] f32) ins(0.0 : f32)
  }
}

// -----

bir.module @m {
  bir.func @f {
    %t = bir.tensor "t" : !nki.mem<sbuf 128x512xf32>
    %a = bir.tensor "a" : !nki.mem<hbm 512x512xf32>
    %k = bir.tensor "k" : !nki.mem<sbuf 32x512xf32, blocks 2>
    %r = bir.register "r"
    // expected-error @+1 {{'bir.memset' op when is indexed by a value of type !nki.mem<hbm 512x512xf32>, not a loop variable or register}}
    bir.memset outs(%t[0 : 128 | 0 : 512] f32) ins(0.0 : f32) when(%a ge 0)
  }
}

// -----

bir.module @m {
  bir.func @f {
    %t = bir.tensor "t" : !nki.mem<sbuf 128x512xf32>
    %a = bir.tensor "a" : !nki.mem<hbm 512x512xf32>
    %k = bir.tensor "k" : !nki.mem<sbuf 32x512xf32, blocks 2>
    %r = bir.register "r"
    // expected-error @+1 {{'bir.register_move' op dst must be a register, got a value of type !nki.mem<sbuf 128x512xf32>}}
    bir.register_move outs(%t) ins(0 : i32)
  }
}

// -----

bir.module @m {
  bir.func @f {
    %t = bir.tensor "t" : !nki.mem<sbuf 128x512xf32>
    %a = bir.tensor "a" : !nki.mem<hbm 512x512xf32>
    %k = bir.tensor "k" : !nki.mem<sbuf 32x512xf32, blocks 2>
    %r = bir.register "r"
    // expected-error @+1 {{'bir.register_move' op src must be a register, got a value of type !nki.mem<hbm 512x512xf32>}}
    bir.register_move outs(%r) ins(%a)
  }
}

// -----

// Block variables, loops.
bir.module @m {
  bir.func @f {
    %k = bir.tensor "k" : !nki.mem<sbuf 32x512xf32, blocks 2>
    bir.loop %i = 0 to 3 affine {
      // expected-error @+1 {{'bir.memset' op dst accesses block 2, its storage has 2 [X-FMAX]}}
      bir.memset outs(%k{%i}[0 : 32 | 0 : 512] f32) ins(0.0 : f32)
    }
  }
}

// -----

bir.module @m {
  bir.func @f {
    // expected-error @+1 {{'bir.loop' op the step of a loop must be positive, got 0}}
    bir.loop %i = 0 to 3 step 0 affine {
    }
  }
}

// -----

bir.module @m {
  bir.func @f {
    // expected-error @+1 {{unknown loop kind 'afine'; did you mean 'affine'?}}
    bir.loop %i = 0 to 3 afine {
    }
  }
}

// -----

bir.module @m {
  bir.func @f {
    // expected-error @+1 {{expected an integer of 64 bits, got 99999999999999999999}}
    bir.loop %i = 0 to 99999999999999999999 affine {
    }
  }
}

// -----

bir.module @m {
  bir.func @f {
    // expected-error @+1 {{'bir.loop' op Region 'body' at position 0 expected a single block, but got 0 blocks}}
    "bir.loop"() <{lower = 0 : i64, upper = 1 : i64, step = 1 : i64, kind = #nki.loop_kind<affine>}> ({
    }) : () -> ()
  }
}

// -----

bir.module @m {
  bir.func @f {
    // expected-error @+1 {{'bir.loop' op the body of a loop has one argument, the loop variable of type !nki.iv}}
    "bir.loop"() <{lower = 0 : i64, upper = 1 : i64, step = 1 : i64, kind = #nki.loop_kind<affine>}> ({
    ^bb0(%i: i32):
    }) : () -> ()
  }
}

// -----

bir.module @m {
  bir.func @f {
    %r = bir.register "r"
    // expected-error @+1 {{'bir.dynamic_for_loop' op the step of a loop must be positive, got -1}}
    bir.dynamic_for_loop %i = 0 to %r step -1 {
    }
  }
}

// -----

// Storage.
bir.module @m {
  bir.func @f {
    // expected-error @+1 {{'bir.tensor' op 't' has 256 partitions, sbuf has 128 [X-PMAX]}}
    %t = bir.tensor "t" : !nki.mem<sbuf 256x16xf32>
  }
}

// -----

bir.module @m {
  bir.func @f {
    // expected-error @+1 {{'bir.tensor' op 64 partitions from partition 96 do not fit in 128 partitions [X-PMAX]}}
    %t = bir.tensor "t" at <96, 0> : !nki.mem<sbuf 64x16xf32>
  }
}

// -----

bir.module @m {
  bir.func @f {
    // expected-error @+1 {{'bir.tensor' op 262148 bytes a partition do not fit in the 262144 of sbuf [X-FMAX]}}
    %t = bir.tensor "t" : !nki.mem<sbuf 128x65537xf32>
  }
}

// -----

bir.module @m {
  bir.func @f {
    // expected-error @+1 {{'bir.tensor' op 8196 bytes a partition from byte 8192 do not fit in the 16384 of psum [X-FMAX]}}
    %t = bir.tensor "t" at <0, 8192> : !nki.mem<psum 128x2049xf32>
  }
}

// -----

bir.module @m {
  bir.func @f {
    // expected-error @+1 {{'bir.tensor' op expected a place for each block (2), got 1}}
    %t = bir.tensor "t" at <0, 0> : !nki.mem<sbuf 128x16xf32, blocks 2>
  }
}

// -----

bir.module @m {
  bir.func @f {
    // expected-error @+1 {{'bir.tensor' op a tensor has 4294967296 bytes, it must have less than 4 GiB [BIR156]}}
    %t = bir.tensor "t" : !nki.mem<hbm 1073741824xf32>
  }
}

// -----

bir.module @m {
  bir.func @f {
    // expected-error @+1 {{unknown tensor kind 'extern'; did you mean 'external_input'?}}
    %t = bir.tensor "t" kind extern : !nki.mem<hbm 16xf32>
  }
}

// -----

bir.module @m {
  bir.func @f {
    // expected-error @+1 {{Expected integer literal, got '-1'}}
    %t = bir.tensor "t" at <-1, 0> : !nki.mem<sbuf 128x16xf32>
  }
}

// -----

bir.module @m {
  bir.func @f {
    // expected-error @+1 {{the type of a storage must be !nki.mem<…>}}
    %t = bir.tensor "t" : i32
  }
}

// -----

bir.module @m {
  bir.func @f {
    // expected-error @+1 {{storage in sbuf needs a partition dimension}}
    %t = bir.tensor "t" : !nki.mem<sbuf f32>
  }
}

// -----

bir.module @m {
  bir.func @f {
    // expected-error @+1 {{unknown memory space 'sram'; known: hbm, shared_hbm, private_hbm, sbuf, psum, reg}}
    %t = bir.tensor "t" : !nki.mem<sram 16xf32>
  }
}

// -----

bir.module @m {
  bir.func @f {
    // expected-error @+1 {{unknown dtype 'float32'; did you mean 'f32'?}}
    %t = bir.tensor "t" : !nki.mem<sbuf 16xfloat32>
  }
}

// -----

bir.module @m {
  bir.func @f {
    // expected-error @+1 {{the sizes of a storage must be positive, got 0}}
    %t = bir.tensor "t" : !nki.mem<sbuf 0xf32>
  }
}

// -----

bir.module @m {
  bir.func @f {
    // expected-error @+1 {{a storage has 1 to 262144 blocks, got 0}}
    %t = bir.tensor "t" : !nki.mem<hbm 16xf32, blocks 0>
  }
}

// -----

bir.module @m {
  bir.func @f {
    // expected-error @+1 {{a register is not storage that an access can name; its type is !nki.reg}}
    %t = bir.tensor "t" : !nki.mem<reg 16xf32>
  }
}

// -----

bir.module @m {
  bir.func @f {
    // expected-error @+1 {{a storage of 99999999999x99999999999xf32 is larger than any memory}}
    %t = bir.tensor "t" : !nki.mem<hbm 99999999999x99999999999xf32>
  }
}

// -----

bir.module @m {
  bir.func @f {
    // expected-error @+1 {{expected an element type, or a size and 'x' with at most 18 digits, got '16 xf32'}}
    %t = bir.tensor "t" : !nki.mem<hbm 16 xf32>
  }
}

// -----

bir.module @m {
  bir.func @f {
    // expected-error @+1 {{'>' expected after this '<'}}
    %t = bir.tensor "t" : !nki.mem<hbm 16xf32
  }
}

// -----

bir.module @m {
  bir.func @f {
    // expected-error @+1 {{'bir.tensor' op a place cannot be negative, got <0, -5>}}
    %t = "bir.tensor"() <{name = "t", places = array<i64: 0, -5>}> : () -> !nki.mem<sbuf 128x16xf32>
  }
}

// -----

bir.module @m {
  bir.func @f {
    // expected-error @+1 {{'bir.tensor' op expected a place for each block (1), got 0}}
    %t = "bir.tensor"() <{name = "t", places = array<i64: 0>}> : () -> !nki.mem<sbuf 128x16xf32>
  }
}

// -----

bir.module @m {
  bir.func @f {
    // expected-error @+1 {{'bir.tensor' op property 'places' is wrong: Expected attribute i64 but got i32}}
    %t = "bir.tensor"() <{name = "t", places = array<i32: 0, 0>}> : () -> !nki.mem<sbuf 128x16xf32>
  }
}

// -----

// A target has less memory than the largest.
bir.module @m attributes {arch = #nki.arch<gen2>} {
  bir.func @f {
    // expected-error @+1 {{'bir.tensor' op 196612 bytes a partition do not fit in the 196608 of sbuf [X-FMAX]}}
    %t = bir.tensor "t" : !nki.mem<sbuf 128x49153xf32>
  }
}

// -----

// expected-error @+1 {{unknown target 'trn9'; did you mean 'trn3' or 'trn2' or 'trn1'?}}
bir.module @m attributes {arch = #nki.arch<trn9>} {
}

// -----

// The generic form.
bir.module @m {
  bir.func @f {
    %t = bir.tensor "t" : !nki.mem<sbuf 128x512xf32>
    // expected-error @+1 {{'bir.memset' op property 'dst' expected in operation 'bir.memset'}}
    "bir.memset"(%t) <{value = #nki.imm<0.0 : f32>}> : (!nki.mem<sbuf 128x512xf32>) -> ()
  }
}

// -----

bir.module @m {
  bir.func @f {
    %t = bir.tensor "t" : !nki.mem<sbuf 128x512xf32>
    // expected-error @+1 {{'bir.memset' op dst needs 1 values in all, the op has 0}}
    "bir.memset"() <{dst = #nki.access<[0 : 128 | 0 : 512] f32>, value = #nki.imm<0.0 : f32>}> : () -> ()
  }
}

// -----

bir.module @m {
  bir.func @f {
    %t = bir.tensor "t" : !nki.mem<sbuf 128x512xf32>
    // expected-error @+1 {{'bir.memset' op patterns name 1 values, the op has 2}}
    "bir.memset"(%t, %t) <{dst = #nki.access<[0 : 128 | 0 : 512] f32>, value = #nki.imm<0.0 : f32>}> : (!nki.mem<sbuf 128x512xf32>, !nki.mem<sbuf 128x512xf32>) -> ()
  }
}

// -----

bir.module @m {
  bir.func @f {
    %t = bir.tensor "t" : !nki.mem<sbuf 128x512xf32>
    // expected-error @+1 {{'bir.memset' op dst is "x", it must be storage}}
    "bir.memset"(%t) <{dst = "x", value = #nki.imm<0.0 : f32>}> : (!nki.mem<sbuf 128x512xf32>) -> ()
  }
}

// -----

bir.module @m {
  bir.func @f {
    %t = bir.tensor "t" : !nki.mem<sbuf 128x512xf32>
    // expected-error @+1 {{'bir.tensor_tensor' op property 'op' must be #nki.alu<…>, got #nki.func<exp>}}
    "bir.tensor_tensor"(%t, %t, %t) <{op = #nki.func<exp>, dst = #nki.access<[0 : 128 | 0 : 512] f32>, data1 = #nki.access<[0 : 128 | 0 : 512] f32>, data2 = #nki.access<[0 : 128 | 0 : 512] f32>}> : (!nki.mem<sbuf 128x512xf32>, !nki.mem<sbuf 128x512xf32>, !nki.mem<sbuf 128x512xf32>) -> ()
  }
}

// -----

bir.module @m {
  bir.func @f {
    %t = bir.tensor "t" : !nki.mem<sbuf 128x512xf32>
    // expected-error @+1 {{'bir.memset' op property 'color' is not defined by the operation 'bir.memset'. Use the dictionary attribute to add arbitrary information to the operation.}}
    "bir.memset"(%t) <{dst = #nki.access<[0 : 128 | 0 : 512] f32>, value = #nki.imm<0.0 : f32>, color = 1 : i64}> : (!nki.mem<sbuf 128x512xf32>) -> ()
  }
}

// -----

bir.module @m {
  bir.func @f {
    %t = bir.tensor "t" : !nki.mem<sbuf 128x512xf32>
    // expected-error @+1 {{index values of an access must be numbered d0, d1, … by first appearance}}
    "test.op"() {a = #nki.access<[0 : 128 | d1 : 512] f32>} : () -> ()
  }
}

// -----

bir.module @m {
  bir.func @f {
    %t = bir.tensor "t" : !nki.mem<sbuf 128x512xf32>
    // expected-error @+1 {{unknown index value '%x'}}
    "test.op"() {a = #nki.access<[0 : 128 | %x : 512] f32>} : () -> ()
  }
}

// -----

bir.module @m {
  bir.func @f {
    %t = bir.tensor "t" : !nki.mem<sbuf 128x512xf32>
    // expected-error @+1 {{unknown index value 'd9999999999'}}
    "test.op"() {a = #nki.access<[0 : 128 | d9999999999 : 512] f32>} : () -> ()
  }
}

// -----

bir.module @m {
  bir.func @f {
    %t = bir.tensor "t" : !nki.mem<sbuf 128x512xf32>
    // expected-error @+1 {{'1.5' is no number of type i32}}
    "test.op"() {a = #nki.imm<1.5 : i32>} : () -> ()
  }
}

// -----

bir.module @m {
  bir.func @f {
    %t = bir.tensor "t" : !nki.mem<sbuf 128x512xf32>
    // expected-error @+1 {{expected a number with its type, such as 2.0 : f32}}
    "test.op"() {a = #nki.imm<one : f32>} : () -> ()
  }
}

// -----

bir.module @m {
  bir.func @f {
    %t = bir.tensor "t" : !nki.mem<sbuf 128x512xf32>
    // expected-error @+1 {{expected a number, an index value or '(' in an affine expression, found '[1, 2'}}
    "test.op"() {a = #nki.expr<[1, 2>} : () -> ()
  }
}

// -----

bir.module @m {
  bir.func @f {
    %t = bir.tensor "t" : !nki.mem<sbuf 128x512xf32>
    // expected-error @+1 {{index values of an expression must be numbered d0, d1, … by first appearance}}
    "test.op"() {a = #nki.expr<d1>} : () -> ()
  }
}

// -----

bir.module @m {
  bir.func @f {
    %t = bir.tensor "t" : !nki.mem<sbuf 128x512xf32>
    // expected-error @+1 {{expected a condition 'expression ge 0' or 'expression eq 0'}}
    "test.op"() {a = #nki.when<>} : () -> ()
  }
}

// -----

bir.module @m {
  bir.func @f {
    %t = bir.tensor "t" : !nki.mem<sbuf 128x512xf32>
    // expected-error @+1 {{expected a condition 'expression ge 0' or 'expression eq 0'}}
    "test.op"() {a = #nki.when<d0 ge 0, d1 ge 1>} : () -> ()
  }
}

// -----

bir.module @m {
  bir.func @f {
    %t = bir.tensor "t" : !nki.mem<sbuf 128x512xf32>
    // expected-error @+1 {{expected a pair step*number, found '4'}}
    "test.op"() {a = #nki.pattern<4>} : () -> ()
  }
}

// -----

bir.module @m {
  bir.func @f {
    %t = bir.tensor "t" : !nki.mem<sbuf 128x512xf32>
    // expected-error @+1 {{the number of a pattern pair must be positive, got 0}}
    "test.op"() {a = #nki.pattern<1*0>} : () -> ()
  }
}

// -----

bir.module @m {
  bir.func @f {
    %t = bir.tensor "t" : !nki.mem<sbuf 128x512xf32>
    // expected-error @+1 {{unknown ALU operator 'plus'; known: bypass, bitwise_not, arith_shift_left, arith_shift_right, add, subtract, mult, divide, max, min, bitwise_and, bitwise_or, bitwise_xor, logical_and, logical_or, logical_xor, logical_shift_left, logical_shift_right, is_equal, not_equal, is_gt, is_ge, is_lt, is_le, average, elemwise_mul, pow, mod, rsqrt, abs, abs_max, abs_min, mod_int, logical_not, square, relu, reciprocal}}
    "test.op"() {a = #nki.alu<plus>} : () -> ()
  }
}

// -----

bir.module @m {
  bir.func @f {
    %t = bir.tensor "t" : !nki.mem<sbuf 128x512xf32>
    // expected-error @+1 {{unknown dtype 'float'; known: f32, f32r, bf16, f16, f8e3, f8e4, f8e4m3fn, f8e5, f8e8m0fnu, f8e4m3fn_x4, f8e5m2_x4, f4e2m1fn_x4, u8, i8, u16, i16, u32, i32, u64, i64}}
    "test.op"() {a = #nki.dtype<float>} : () -> ()
  }
}

// -----

bir.module @m {
  bir.func @f {
    %t = bir.tensor "t" : !nki.mem<sbuf 128x512xf32>
    // expected-error @+1 {{'<' expected, got '}'}}
    "test.op"() {a = #nki.arch} : () -> ()
  }
}

// -----

// What stands in the line does not stand in the dictionary too.
bir.module @m {
  bir.func @f {
    // expected-error @+1 {{'name' of bir.tensor stands in the line, not in the dictionary}}
    %t = bir.tensor "t" {note, "name" = "u"} : !nki.mem<sbuf 128x512xf32>
  }
}

// -----

bir.module @m {
  bir.func @f {
    // expected-error @+1 {{'places' of bir.tensor stands in the line, not in the dictionary}}
    %t = bir.tensor "t" at <0, 0> {places = array<i64: 0, 4>} : !nki.mem<sbuf 128x512xf32>
  }
}

// -----

bir.module @m {
  bir.func @f {
    // expected-error @+1 {{'name' of bir.register stands in the line, not in the dictionary}}
    %r = bir.register "r" {name = "s"}
  }
}

// -----

bir.module @m {
  bir.func @f {
    // expected-error @+1 {{'upper' of bir.loop stands in the line, not in the dictionary}}
    bir.loop %i = 0 to 4 step 1 affine attributes {upper = 5 : i64} {
    }
  }
}

// -----

// expected-error @+1 {{'sym_name' of bir.module stands in the line, not in the dictionary}}
bir.module @m attributes {sym_name = "n"} {
}

// -----

"bir.module"() <{sym_name = "m"}> ({
  "bir.func"() <{sym_name = "f"}> ({
    // expected-error @+1 {{'bir.register' op has 'name' among its attributes, where it is a property}}
    %r = "bir.register"() <{name = "r"}> {name = "s"} : () -> !nki.reg
  }) : () -> ()
}) : () -> ()

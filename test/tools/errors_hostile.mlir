// What a hostile or careless text may hold: one message with its place each, nothing taken on the text's word.
// RUN: nki-opt %s --split-input-file --verify-diagnostics

// A property of the wrong kind is named, with what was expected and what was found.
"bir.module"() <{sym_name = "m", arch = 3 : i8}> ({ // expected-error {{'bir.module' op property 'arch' must be #nki.arch<…>, got 3 : i8}}
}) : () -> ()

// -----

bir.module @m {
  bir.func @f {
    // expected-error @+1 {{'bir.tensor' op property 'kind' must be #nki.kind<…>, got "x"}}
    %t = "bir.tensor"() <{name = "t", kind = "x"}> : () -> !nki.mem<sbuf 128x64xf32>
    // expected-error @+1 {{'bir.tensor' op property 'places' is wrong: Expected attribute i64 but got i8}}
    %u = "bir.tensor"() <{name = "u", places = array<i8: 1>}> : () -> !nki.mem<sbuf 128x64xf32>
    // expected-error @+1 {{'bir.memset' op property 'name' must be a string, got 3 : i64}}
    "bir.memset"(%t) <{name = 3 : i64, dst = #nki.access<[0 : 128 | 0 : 64] f32>, value = #nki.imm<0.0 : f32>}> : (!nki.mem<sbuf 128x64xf32>) -> ()
    // expected-error @+1 {{'bir.memset' op property 'operand0' is not defined by the operation 'bir.memset'}}
    "bir.memset"(%t) <{operand0 = 3 : i64, dst = #nki.access<[0 : 128 | 0 : 64] f32>, value = #nki.imm<0.0 : f32>}> : (!nki.mem<sbuf 128x64xf32>) -> ()
  }
}

// -----

// expected-error @+1 {{'klr.kernel' op property 'inputs' must be an array, each member a string, got [3 : i64]}}
"klr.kernel"() <{sym_name = "k", inputs = [3 : i64]}> ({
^bb0:
}) : () -> ()

// -----

// expected-error @+1 {{'klr.body' op a core has a number from 0 on, got -1}}
klr.kernel @k { "klr.body"() <{core = -1 : i64}> ({
  ^bb0:
  }) : () -> ()
}

// -----

// A loop that does not verify is the one error, not the instructions that name its variable.
bir.module @m {
  bir.func @f {
    %t = bir.tensor "t" : !nki.mem<sbuf 128x64xf32>
    // expected-error @+1 {{'bir.loop' op the step of a loop must be positive, got 0}}
    bir.loop %i = 0 to 4 step 0 affine {
      bir.memset outs(%t[0 : 128 | %i : 1] f32) ins(1.0 : f32)
    }
    // expected-error @+1 {{'bir.loop' op property 'lower' expected in operation 'bir.loop'}}
    "bir.loop"() ({
    ^bb0(%j: !nki.iv):
      bir.memset outs(%t[0 : 128 | %j : 1] f32) ins(1.0 : f32)
    }) : () -> ()
    // expected-error @+1 {{'bir.loop' op property 'upper' is wrong: Expected attribute i64 but got index}}
    "bir.loop"() <{lower = 0 : i64, upper = 99999999999999999999 : index, step = 1 : i64, kind = #nki.loop_kind<affine>}> ({
    ^bb0(%k: !nki.iv):
    }) : () -> ()
  }
}

// -----

// expected-error @+1 {{expected an integer of 64 bits, got 99999999999999999999}}
%t = bir.tensor "t" at <99999999999999999999, 0> : !nki.mem<sbuf 128x64xf32>

// -----

// expected-error @+1 {{a storage has 1 to 262144 blocks, got 262145}}
%t = bir.tensor "t" : !nki.mem<sbuf 1x1xu8, blocks 262145>

// -----

// expected-error @+1 {{expected an integer of 64 bits, got 99999999999999999999}}
bir.loop %i = 0 to 99999999999999999999 affine {
}

// -----

// The generic form of our ops names only what stands above it, as the custom form does.
bir.module @m {
  bir.func @f {
    // expected-error @+1 {{%t is not defined above its use}}
    "bir.memset"(%t) <{dst = #nki.access<[0 : 128 | 0 : 64] f32>, value = #nki.imm<0.0 : f32>}> : (!nki.mem<sbuf 128x64xf32>) -> ()
    %t = bir.tensor "t" : !nki.mem<sbuf 128x64xf32>
  }
}

// -----

// expected-error @+1 {{'bir.module' op its blocks have no arguments, got one of type i32}}
"bir.module"() <{sym_name = "m"}> ({
^bb0(%a: i32):
}) : () -> ()

// -----

bir.module @m {
  bir.func @f {
    %t = bir.tensor "t" : !nki.mem<sbuf 128x64xf32>
    %p = bir.tensor "p" : !nki.mem<psum 64x64xf32>
    // expected-error @+1 {{tile_position and tile_size must be pairs (row, column) [BIR052]}}
    bir.matmult outs(%p[0 : 64 | 0 : 64] f32) ins(%t[0 : 128 | 0 : 64] f32, %t[0 : 128 | 0 : 64] f32) params(tile_position = 5, tile_size = 7)
    // expected-error @+1 {{'bir.matmult' op accumulate is a list of expressions, it must be an expression}}
    bir.matmult outs(%p[0 : 64 | 0 : 64] f32) ins(%t[0 : 128 | 0 : 64] f32, %t[0 : 128 | 0 : 64] f32) params(accumulate = [1, 2])
    // expected-error @+1 {{'bir.iota' op offset must be an integer of 64 bits, got 9999999999999999999999}}
    bir.iota outs(%t[0 : 128 | 0 : 64] f32) {pattern = #nki.pattern<1*64>, offset = 9999999999999999999999 : index}
  }
}

// -----

// expected-error @+1 {{this string does not end in its line}}
"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa

// -----

// expected-error @+1 {{the escapes of a string are \n, \t, \\, \" and \ with two hexadecimal digits}}
"test.op"() {a = "\q"} : () -> ()

// -----

// expected-error @+1 {{an integer type has at most 16777215 bits}}
"test.op"() {a = 1 : i16777216} : () -> ()

// -----

// expected-error @+1 {{an operation, a block label or '}' is expected, got '5'}}
bir.module @m { 5 }

// -----

// expected-error @+1 {{expect symbol name, got 'm'}}
bir.module m {
}

// -----

// expected-error @+1 {{a name is expected after this character}}
bir.module @m { % }

// -----

bir.module @m {
  bir.func @f {
    %t = bir.tensor "t" : !nki.mem<sbuf 128x512xf32>
    bir.loop %i = 0 to 4 step 1 affine {
      // expected-error @+1 {{'bir.memset' op dst has the same value twice among its index values, where text has it once}}
      "bir.memset"(%t, %i, %i) <{dst = #nki.access<[0 : 128 | d0 + d1 : 1] f32>, value = #nki.imm<0.0 : f32>, engine = #nki.engine<dve>}> : (!nki.mem<sbuf 128x512xf32>, !nki.iv, !nki.iv) -> ()
    }
  }
}

// -----

bir.module @m {
  bir.func @f {
    %x = bir.tensor "x" : !nki.mem<sbuf 128x512xf32>
    // expected-error @+1 {{'bir.memset' op has 'engine' among its attributes, where it is a property}}
    "bir.memset"(%x) <{dst = #nki.access<[0 : 128 | 0 : 512] f32>, value = #nki.imm<0.0 : f32>, engine = #nki.engine<dve>}> {engine = #nki.engine<pool>} : (!nki.mem<sbuf 128x512xf32>) -> ()
  }
}

// RUN: nki-opt %s -p unroll --split-input-file | filecheck %s
// RUN: nki-opt %s -p unroll,unroll --split-input-file | filecheck %s

// A nest: numbers for loop variables in accesses, blocks and parameters; names end in the values of the variables.
// CHECK:      bir.func @nest {
// CHECK-NEXT:   %h = bir.tensor "h" kind external_input : !nki.mem<hbm 512x64xf32>
// CHECK-NEXT:   %b = bir.tensor "b" : !nki.mem<sbuf 128x64xf32, blocks 2>
// CHECK-NEXT:   %p = bir.tensor "p" : !nki.mem<psum 64x64xf32>
// CHECK-NEXT:   bir.load "ld_1_0" outs(%b{1}[0 : 128 | 0 : 64] f32) ins(%h[0 : 64*128, 64] f32)
// CHECK-NEXT:   bir.matmult "mm_1_0" outs(%p[0 : 64 | 0 : 64] f32) ins(%b{1}[0 : 128 | 0 : 64] f32, %b{1}[0 : 128 | 0 : 64] f32) params(accumulate = 0, tile_position = [0, 0], tile_size = [128, 64])
// CHECK-NEXT:   bir.load "ld_1_2" outs(%b{1}[0 : 128 | 2 : 62] f32) ins(%h[16384 : 64*128, 62] f32)
// CHECK-NEXT:   bir.matmult "mm_1_2" outs(%p[0 : 64 | 0 : 64] f32) ins(%b{1}[0 : 128 | 0 : 64] f32, %b{1}[0 : 128 | 0 : 64] f32) params(accumulate = 2, tile_position = [0, 0], tile_size = [128, 64])
// CHECK-NEXT:   bir.reciprocal "last_1" outs(%b{1}[0 : 128 | 0 : 64] f32) ins(%b[0 : 128 | 0 : 64] f32)
// CHECK-NEXT: }
bir.module @m {
  bir.func @nest {
    %h = bir.tensor "h" kind external_input : !nki.mem<hbm 512x64xf32>
    %b = bir.tensor "b" : !nki.mem<sbuf 128x64xf32, blocks 2>
    %p = bir.tensor "p" : !nki.mem<psum 64x64xf32>
    bir.loop %i = 1 to 2 step 1 affine {
      bir.loop %j = 0 to 4 step 2 sequential {
        bir.load "ld" outs(%b{%i}[0 : 128 | %j : min(64, -%j + 64)] f32) ins(%h[8192*%j : 64*128, min(64, -%j + 64)] f32)
        bir.matmult "mm" outs(%p[0 : 64 | 0 : 64] f32) ins(%b{%i}[0 : 128 | 0 : 64] f32, %b{%i}[0 : 128 | 0 : 64] f32) params(accumulate = %i*2 - 2 + %j, tile_position = [0, 64*%i - 64], tile_size = [128, 64])
      }
      bir.reciprocal "last" outs(%b{%i}[0 : 128 | 0 : 64] f32) ins(%b{%i - 1}[0 : 128 | 0 : 64] f32)
    }
  }
}

// -----

// Guards that hold are gone, guards that do not hold take their instruction with them, as does an access of which
// nothing is left.
// CHECK:      bir.func @guards {
// CHECK-NEXT:   %t = bir.tensor "t" : !nki.mem<sbuf 128x64xf32>
// CHECK-NEXT:   bir.memset "all_0" outs(%t[0 : 128 | 0 : 40] f32) ins(0.0 : f32)
// CHECK-NEXT:   bir.memset "zero_0" outs(%t[0 : 128 | 0 : 64] f32) ins(1.0 : f32)
// CHECK-NEXT:   bir.memset "all_1" outs(%t[0 : 128 | 0 : 8] f32) ins(0.0 : f32)
// CHECK-NEXT:   bir.memset "later_1" outs(%t[0 : 128 | 0 : 64] f32) ins(2.0 : f32)
// CHECK-NEXT:   bir.memset "later_2" outs(%t[0 : 128 | 0 : 64] f32) ins(2.0 : f32)
// CHECK-NEXT: }
bir.module @m {
  bir.func @guards {
    %t = bir.tensor "t" : !nki.mem<sbuf 128x64xf32>
    bir.loop %i = 0 to 3 step 1 affine {
      bir.memset "all" outs(%t[0 : 128 | 0 : min(64, -32*%i + 40)] f32) ins(0.0 : f32)
      bir.memset "zero" outs(%t[0 : 128 | 0 : 64] f32) ins(1.0 : f32) when(%i eq 0)
      bir.memset "later" outs(%t[0 : 128 | 0 : 64] f32) ins(2.0 : f32) when(%i - 1 ge 0)
    }
  }
}

// -----

// Storage and registers of the body are new in each iteration, at the same place; names that are taken are left alone.
// CHECK:      bir.func @storage {
// CHECK-NEXT:   %o = bir.tensor "t_0" : !nki.mem<sbuf 128x64xf32>
// CHECK-NEXT:   bir.memset "set_1" outs(%o[0 : 128 | 0 : 64] f32) ins(0.0 : f32)
// CHECK-NEXT:   %t = bir.tensor "t_0_" at <0, 256> : !nki.mem<sbuf 128x64xf32>
// CHECK-NEXT:   %r = bir.register "r_0"
// CHECK-NEXT:   bir.register_move outs(%r) ins(1 : i32)
// CHECK-NEXT:   bir.memset "set_0" outs(%t[0 : 128 | %r : 1] f32) ins(0.0 : f32)
// CHECK-NEXT:   %t_1 = bir.tensor "t_1" at <0, 256> : !nki.mem<sbuf 128x64xf32>
// CHECK-NEXT:   %r_1 = bir.register "r_1"
// CHECK-NEXT:   bir.register_move outs(%r_1) ins(1 : i32)
// CHECK-NEXT:   bir.memset "set_1_" outs(%t_1[0 : 128 | %r_1 + 1 : 1] f32) ins(0.0 : f32)
// CHECK-NEXT: }
bir.module @m {
  bir.func @storage {
    %o = bir.tensor "t_0" : !nki.mem<sbuf 128x64xf32>
    bir.memset "set_1" outs(%o[0 : 128 | 0 : 64] f32) ins(0.0 : f32)
    bir.loop %i = 0 to 2 step 1 affine {
      %t = bir.tensor "t" at <0, 256> : !nki.mem<sbuf 128x64xf32>
      %r = bir.register "r"
      bir.register_move outs(%r) ins(1 : i32)
      bir.memset "set" outs(%t[0 : 128 | %i + %r : 1] f32) ins(0.0 : f32)
    }
  }
}

// -----

// Loops with bounds in registers and regions that keep their order stay; what is static inside them is unrolled, and
// they are copied where they stand inside a static loop.
// CHECK:      bir.func @kept {
// CHECK-NEXT:   %n = bir.register "n"
// CHECK-NEXT:   %t = bir.tensor "t" : !nki.mem<sbuf 128x64xf32>
// CHECK-NEXT:   bir.dynamic_for_loop %d = 0 to %n step 1 {
// CHECK-NEXT:     bir.memset "a_3" outs(%t[0 : 128 | %d + 3 : 1] f32) ins(0.0 : f32) when(%d - 1 ge 0)
// CHECK-NEXT:   }
// CHECK-NEXT:   bir.loop %once = 0 to 1 step 1 sequential attributes {no_reorder} {
// CHECK-NEXT:     bir.memset "b_0" outs(%t[0 : 128 | 0 : 1] f32) ins(0.0 : f32)
// CHECK-NEXT:     bir.dynamic_for_loop %e = 2 to %n step 3 {
// CHECK-NEXT:       bir.memset "c_0" outs(%t[0 : 128 | %e : 1] f32) ins(0.0 : f32)
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT:   bir.do_while %n {
// CHECK-NEXT:     bir.memset "d_5" outs(%t[0 : 128 | 5 : 1] f32) ins(0.0 : f32)
// CHECK-NEXT:   }
// CHECK-NEXT:   bir.do_while %n {
// CHECK-NEXT:     bir.loop %again = 0 to 1 step 1 sequential attributes {no_reorder} {
// CHECK-NEXT:       bir.memset "e_7" outs(%t[0 : 128 | %again + 7 : 1] f32) ins(0.0 : f32)
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT: }
bir.module @m {
  bir.func @kept {
    %n = bir.register "n"
    %t = bir.tensor "t" : !nki.mem<sbuf 128x64xf32>
    bir.dynamic_for_loop %d = 0 to %n step 1 {
      bir.loop %i = 3 to 4 step 1 affine {
        bir.memset "a" outs(%t[0 : 128 | %d + %i : 1] f32) ins(0.0 : f32) when(%d - 1 ge 0, %i ge 0)
      }
    }
    bir.loop %once = 0 to 1 step 1 sequential attributes {no_reorder} {
      bir.loop %i = 0 to 1 step 1 affine {
        bir.memset "b" outs(%t[0 : 128 | %i : 1] f32) ins(0.0 : f32)
        bir.dynamic_for_loop %e = 2 to %n step 3 {
          bir.memset "c" outs(%t[0 : 128 | %e + %i : 1] f32) ins(0.0 : f32)
        }
      }
    }
    bir.do_while %n {
      bir.loop %i = 5 to 6 step 1 affine {
        bir.memset "d" outs(%t[0 : 128 | %i : 1] f32) ins(0.0 : f32)
      }
    }
    bir.loop %i = 7 to 8 step 1 affine {
      bir.do_while %n {
        bir.loop %again = 0 to 1 step 1 sequential attributes {no_reorder} {
          bir.memset "e" outs(%t[0 : 128 | %i + %again : 1] f32) ins(0.0 : f32)
        }
      }
    }
  }
}

// -----

// Nothing to do, a loop that never runs, an empty function, one instruction without a loop, other blocks of a function
// CHECK:      bir.func @never {
// CHECK-NEXT: }
// CHECK-NEXT: bir.func @empty {
// CHECK-NEXT: }
// CHECK-NEXT: bir.func @one {
// CHECK-NEXT:   %r = bir.register "r"
// CHECK-NEXT:   bir.register_move "I-1" outs(%r) ins(1 : i32)
// CHECK-NEXT:   bir.compare_and_branch eq_imm "br" ins(%r, 1 : i32) [^a, ^b]
// CHECK-NEXT: ^a:
// CHECK-NEXT:   bir.register_move "I-2_0" outs(%r) ins(1 : i32)
// CHECK-NEXT:   bir.register_move "I-2_1" outs(%r) ins(1 : i32)
// CHECK-NEXT:   bir.unconditional_branch ^b
// CHECK-NEXT: ^b:
// CHECK-NEXT:   bir.return
// CHECK-NEXT: }
bir.module @m {
  bir.func @never {
    bir.loop %i = 4 to 0 step 1 affine {
      %r = bir.register "r"
    }
  }
  bir.func @empty {
  }
  bir.func @one {
    %r = bir.register "r"
    bir.register_move "I-1" outs(%r) ins(1 : i32)
    bir.compare_and_branch eq_imm "br" ins(%r, 1 : i32) [^a, ^b]
  ^a:
    bir.loop %i = 0 to 2 step 1 affine {
      bir.register_move "I-2" outs(%r) ins(1 : i32)
    }
    bir.unconditional_branch ^b
  ^b:
    bir.return
  }
}

// -----

// Storage that all functions share under its name is one in all iterations, also of a loop that never runs, and stands
// before the loops.
// CHECK:      bir.func @shared {
// CHECK-NEXT:   %t = bir.tensor "t" : !nki.mem<sbuf 2x4xf32>
// CHECK-NEXT:   %y = bir.tensor "y" kind external_output : !nki.mem<hbm 2x4xf32>
// CHECK-NEXT:   %s = bir.tensor "s" : !nki.mem<shared_hbm 2x4xf32>
// CHECK-NEXT:   %x = bir.tensor "x" kind external_input : !nki.mem<hbm 2x4xf32>
// CHECK-NEXT:   %h = bir.tensor "h_0_0" : !nki.mem<hbm 2x4xf32>
// CHECK-NEXT:   bir.save "save_0_0" outs(%y
// CHECK-NEXT:   bir.save "again_0_0" outs(%s
// CHECK-NEXT:   %h_1 = bir.tensor "h_1_0" : !nki.mem<hbm 2x4xf32>
// CHECK-NEXT:   bir.save "save_1_0" outs(%y
// CHECK-NEXT:   bir.save "again_1_0" outs(%s
// CHECK-NEXT: }
bir.module @m {
  bir.func @shared {
    %t = bir.tensor "t" : !nki.mem<sbuf 2x4xf32>
    bir.loop %i = 0 to 2 step 1 affine {
      %y = bir.tensor "y" kind external_output : !nki.mem<hbm 2x4xf32>
      bir.loop %j = 0 to 1 step 1 affine {
        %s = bir.tensor "s" : !nki.mem<shared_hbm 2x4xf32>
        %h = bir.tensor "h" : !nki.mem<hbm 2x4xf32>
        bir.save "save" outs(%y[0 : 4*2, 4] f32) ins(%t[0 : 2 | 0 : 4] f32)
        bir.save "again" outs(%s[0 : 4*2, 4] f32) ins(%t[0 : 2 | 0 : 4] f32)
      }
      bir.loop %k = 0 to 0 step 1 affine {
        %x = bir.tensor "x" kind external_input : !nki.mem<hbm 2x4xf32>
        bir.load "load" outs(%t[0 : 2 | 0 : 4] f32) ins(%x[0 : 4*2, 4] f32)
      }
    }
  }
}

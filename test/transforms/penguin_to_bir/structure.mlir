// Loops stay loops, of the same kind and with the same variable; what indexes by them still does.
// RUN: nki-opt %s -p convert-penguin-to-bir --split-input-file | filecheck %s

// CHECK:      bir.module @loops attributes {arch = #nki.arch<gen3>} {
// CHECK-NEXT:   bir.func @f attributes {core = 1 : i64} {
// CHECK-NEXT:     %t = bir.tensor "t" : !nki.mem<sbuf 128x64xf32>
// CHECK-NEXT:     bir.loop %i = 0 to 8 step 2 affine {
// CHECK-NEXT:       bir.loop %j = 1 to 4 step 1 sequential attributes {test.note} {
// CHECK-NEXT:         %inner = bir.tensor "inner" : !nki.mem<sbuf 128x64xf32>
// CHECK-NEXT:         bir.tensor_copy outs(%inner[0 : 128 | 0 : min(8, -8*%i + 60)] f32) ins(%t[0 : 128 | 8*%i : min(8, -8*%i + 60)] f32) when(%i - %j ge 0, %j eq 0)
// CHECK-NEXT:       }
// CHECK-NEXT:     }
// CHECK-NEXT:     bir.loop %k = 0 to 2 step 1 spmd {
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT: }
penguin.module @loops attributes {arch = #nki.arch<gen3>} {
  penguin.func @f attributes {core = 1 : i64} {
    %t = penguin.tensor "t" : !nki.mem<sbuf 128x64xf32>
    penguin.loop %i = 0 to 8 step 2 affine {
      penguin.loop %j = 1 to 4 step 1 sequential attributes {test.note} {
        %inner = penguin.tensor "inner" : !nki.mem<sbuf 128x64xf32>
        penguin.tensor_copy outs(%inner[0 : 128 | 0 : min(8, -8*%i + 60)] f32) ins(%t[0 : 128 | 8*%i : min(8, -8*%i + 60)] f32) when(%i - %j ge 0, %j eq 0)
      }
    }
    penguin.loop %k = 0 to 2 step 1 spmd {
    }
  }
}

// -----

// Loops with bounds in registers
// CHECK:      bir.func @dynamic {
// CHECK-NEXT:   %n = bir.register "n"
// CHECK-NEXT:   %t = bir.tensor "t" : !nki.mem<sbuf 128x64xf32>
// CHECK-NEXT:   bir.register_move outs(%n) ins(4 : i32)
// CHECK-NEXT:   bir.dynamic_for_loop %i = 0 to %n step 1 {
// CHECK-NEXT:     bir.memset outs(%t[0 : 128 | %i : 1] f32) ins(0.0 : f32)
// CHECK-NEXT:   }
// CHECK-NEXT:   bir.do_while %n {
// CHECK-NEXT:     bir.register_move outs(%n) ins(0 : i32)
// CHECK-NEXT:   }
// CHECK-NEXT: }
penguin.module @m {
  penguin.func @dynamic {
    %n = penguin.register "n"
    %t = penguin.tensor "t" : !nki.mem<sbuf 128x64xf32>
    penguin.register_move outs(%n) ins(4 : i32)
    penguin.dynamic_loop %i to %n {
      penguin.memset outs(%t[0 : 128 | %i : 1] f32) ins(0.0 : f32)
    }
    penguin.while %n {
      penguin.register_move outs(%n) ins(0 : i32)
    }
  }
}

// -----

// A scope that keeps the order is a marked loop of one iteration; of any other only the contents are left.
// CHECK:      bir.func @scopes {
// CHECK-NEXT:   %t = bir.tensor "t" : !nki.mem<sbuf 128x64xf32>
// CHECK-NEXT:   bir.memset "I-1" outs(%t[0 : 128 | 0 : 64] f32) ins(0.0 : f32)
// CHECK-NEXT:   bir.memset "I-2" outs(%t[0 : 128 | 0 : 64] f32) ins(1.0 : f32)
// CHECK-NEXT:   bir.loop %fixed = 0 to 1 step 1 sequential attributes {no_reorder} {
// CHECK-NEXT:     bir.memset "I-3" outs(%t[0 : 128 | 0 : 64] f32) ins(2.0 : f32)
// CHECK-NEXT:     bir.memset "I-4" outs(%t[0 : 128 | 0 : 64] f32) ins(3.0 : f32)
// CHECK-NEXT:   }
// CHECK-NEXT:   bir.loop %once = 0 to 1 step 1 sequential attributes {no_reorder} {
// CHECK-NEXT:   }
// CHECK-NEXT: }
penguin.module @m {
  penguin.func @scopes {
    %t = penguin.tensor "t" : !nki.mem<sbuf 128x64xf32>
    penguin.scope "outer" multi_buffer 2 {
      penguin.memset "I-1" outs(%t[0 : 128 | 0 : 64] f32) ins(0.0 : f32)
      penguin.scope {
        penguin.memset "I-2" outs(%t[0 : 128 | 0 : 64] f32) ins(1.0 : f32)
      }
      penguin.scope "fixed" no_reorder {
        penguin.memset "I-3" outs(%t[0 : 128 | 0 : 64] f32) ins(2.0 : f32)
        penguin.scope "inside" {
          penguin.memset "I-4" outs(%t[0 : 128 | 0 : 64] f32) ins(3.0 : f32)
        }
      }
      penguin.scope no_reorder {
      }
    }
  }
}

// -----

// An empty function, a function that is BIR already, and IR of others
// CHECK:      bir.module @m {
// CHECK-NEXT:   bir.func @empty {
// CHECK-NEXT:   }
// CHECK-NEXT: }
// CHECK-NEXT: bir.module @done {
// CHECK-NEXT:   bir.func @f {
// CHECK-NEXT:   }
// CHECK-NEXT: }
// CHECK-NEXT: func.func @other() {
penguin.module @m {
  penguin.func @empty {
  }
}
bir.module @done {
  bir.func @f {
  }
}
func.func @other() {
  func.return
}

// -----

// A conversion half done: instructions of BIR stand among others.
// CHECK:      %t = bir.tensor "t" : !nki.mem<sbuf 128x64xf32>
// CHECK-NEXT: bir.memset outs(%t[0 : 128 | 0 : 64] f32) ins(0.0 : f32)
// CHECK-NEXT: bir.memset outs(%t[0 : 128 | 0 : 64] f32) ins(1.0 : f32)
penguin.module @m {
  penguin.func @mixed {
    %t = penguin.tensor "t" : !nki.mem<sbuf 128x64xf32>
    bir.memset outs(%t[0 : 128 | 0 : 64] f32) ins(0.0 : f32)
    penguin.memset outs(%t[0 : 128 | 0 : 64] f32) ins(1.0 : f32)
  }
}

// -----

// The empty module
// CHECK:      builtin.module {
// CHECK-NEXT: }

// -----

// Where an allocator places a part of it, storage is not the user's.
// CHECK:      %t = bir.tensor "t" at <0, 0>, <> : !nki.mem<sbuf 128x64xf32, blocks 2>
penguin.module @partly_placed {
  penguin.func @f {
    %t = penguin.tensor "t" at <0, 0>, <> : !nki.mem<sbuf 128x64xf32, blocks 2>
  }
}

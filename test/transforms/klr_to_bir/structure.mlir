// RUN: nki-opt %s -p convert-klr-to-bir --split-input-file | filecheck %s
// RUN: nki-opt %s -p convert-klr-to-bir --split-input-file | nki-opt --split-input-file | filecheck %s

// A function for each body; inputs and outputs as the kernel lists them, one in both lists is an input.
// CHECK:      bir.module @io attributes {arch = #nki.arch<gen2>, nki.edges = {{\[\["s", "d"\]\]}}} {
// CHECK-NEXT:   bir.func @sg0000 attributes {core = 0 : i64} {
// CHECK-NEXT:     %x = bir.tensor "x" kind external_input : !nki.mem<hbm 128x64xf32>
// CHECK-NEXT:     %both = bir.tensor "both" kind external_input : !nki.mem<hbm 128x64xf32>
// CHECK-NEXT:     %o = bir.tensor "o" kind external_output : !nki.mem<hbm 128x64xf32>
// CHECK-NEXT:     %c = bir.tensor "c" kind const {nki.file = "c.npy"} : !nki.mem<hbm 128x64xf32>
// CHECK-NEXT:     %shared = bir.tensor "shared" kind internal_interface : !nki.mem<hbm 128x64xf32>
// CHECK-NEXT:     %own = bir.tensor "own" : !nki.mem<hbm 128x64xf32>
// CHECK-NEXT:     bir.dma_copy "d" outs(%both[0 : 8192] f32) ins(%x[0 : 8192] f32)
// CHECK-NEXT:   }
// CHECK-NEXT:   bir.func @sg0001 attributes {core = 1 : i64} {
// CHECK-NEXT:     %x = bir.tensor "x" kind external_input : !nki.mem<hbm 128x64xf32>
// CHECK-NEXT:     %o = bir.tensor "o" kind external_output : !nki.mem<hbm 128x64xf32>
// CHECK-NEXT:     bir.dma_copy "s" outs(%o[0 : 8192] f32) ins(%x[0 : 8192] f32)
// CHECK-NEXT:   }
// CHECK-NEXT: }
klr.kernel @io attributes {arch = #nki.arch<gen2>, inputs = ["x", "both"], outputs = ["o", "both"], shared_buffers = ["o", "both", "shared"], edges = [["s", "d"]]} {
  klr.body 0 {
    %x = klr.tensor "x" : !nki.mem<hbm 128x64xf32>
    %both = klr.tensor "both" : !nki.mem<hbm 128x64xf32>
    %o = klr.tensor "o" : !nki.mem<hbm 128x64xf32>
    %c = klr.tensor "c" kind const {file = "c.npy"} : !nki.mem<hbm 128x64xf32>
    %shared = klr.tensor "shared" : !nki.mem<hbm 128x64xf32>
    %own = klr.tensor "own" : !nki.mem<hbm 128x64xf32>
    klr.block "main.1" {
      klr.nc_dma_copy "d" outs(%both[0 : 8192] f32) ins(%x[0 : 8192] f32)
    }
  }
  klr.body 1 {
    %x = klr.tensor "x" : !nki.mem<hbm 128x64xf32>
    %o = klr.tensor "o" : !nki.mem<hbm 128x64xf32>
    klr.block "main.1" {
      klr.nc_dma_copy "s" outs(%o[0 : 8192] f32) ins(%x[0 : 8192] f32)
    }
  }
}

// -----

// Labels become blocks. Blocks that are reached by going straight on join, one that keeps its order as a marked loop.
// CHECK:      bir.func @sg0000
// CHECK-NEXT:   %t = bir.tensor "t" : !nki.mem<sbuf 128x64xf32>
// CHECK-NEXT:   %r = bir.register "r"
// CHECK-NEXT:   bir.register_move "i.1" outs(%r) ins(0 : i32)
// CHECK-NEXT:   bir.loop %ordered.2 = 0 to 1 step 1 sequential attributes {no_reorder} {
// CHECK-NEXT:     bir.memset "i.2" outs(%t[0 : 128 | 0 : 64] f32) ins(0.0 : f32)
// CHECK-NEXT:   }
// CHECK-NEXT:   bir.memset "i.3" outs(%t[0 : 128 | 0 : 64] f32) ins(1.0 : f32)
// CHECK-NEXT:   bir.compare_and_branch lt_imm "brlt.1" ins(%r, 4 : i32) [^body.4, ^exit.5]
// CHECK-NEXT: ^body.4:
// CHECK-NEXT:   bir.register_alu add "i.4" outs(%r) ins(%r, 1 : i32)
// CHECK-NEXT:   bir.compare_and_branch lt_reg "brnz.2" ins(%r, %r) [^body.4, ^exit.5]
// CHECK-NEXT: ^exit.5:
// CHECK-NEXT:   bir.memset "i.5" outs(%t[0 : 128 | 0 : 64] f32) ins(2.0 : f32)
// CHECK-NEXT:   bir.return
// CHECK-NEXT: }
klr.kernel @blocks {
  klr.body 0 {
    %t = klr.tensor "t" : !nki.mem<sbuf 128x64xf32>
    %r = klr.register "r"
    klr.block "main.1" {
      klr.register_move "i.1" outs(%r) ins(0 : i32)
      klr.cmp_branch always "jmp.1" {true_label = "ordered.2"}
    }
    klr.block "ordered.2" no_reorder {
      klr.mem_set "i.2" outs(%t[0 : 128 | 0 : 64] f32) ins(0.0 : f32)
      klr.cmp_branch always "jmp.2" {true_label = "rest.3"}
    }
    klr.block "rest.3" {
      klr.mem_set "i.3" outs(%t[0 : 128 | 0 : 64] f32) ins(1.0 : f32)
      klr.cmp_branch lt_imm "brlt.1" ins(left = %r, right = 4 : i32) {true_label = "body.4", false_label = "exit.5"}
    }
    klr.block "body.4" {
      klr.register_alu_op add "i.4" outs(%r) ins(%r, 1 : i32)
      klr.cmp_branch lt_reg "brnz.2" ins(left = %r, right = %r) {true_label = "body.4", false_label = "exit.5"}
    }
    klr.block "exit.5" {
      klr.mem_set "i.5" outs(%t[0 : 128 | 0 : 64] f32) ins(2.0 : f32)
    }
  }
}

// -----

// A branch to the first block, one to a later block over others, and going on without a branch
// CHECK:      bir.func @sg0000
// CHECK-NEXT:   %r = bir.register "r"
// CHECK-NEXT:   bir.unconditional_branch ^main.1
// CHECK-NEXT: ^main.1:
// CHECK-NEXT:   bir.register_alu add outs(%r) ins(%r, 1 : i32)
// CHECK-NEXT:   bir.compare_and_branch eq_imm ins(%r, 2 : i32) [^main.1, ^else]
// CHECK-NEXT: ^then:
// CHECK-NEXT:   bir.register_move outs(%r) ins(1 : i32)
// CHECK-NEXT:   bir.unconditional_branch ^end
// CHECK-NEXT: ^else:
// CHECK-NEXT:   bir.loop %ordered = 0 to 1 step 1 sequential attributes {no_reorder} {
// CHECK-NEXT:     bir.register_move outs(%r) ins(2 : i32)
// CHECK-NEXT:   }
// CHECK-NEXT:   bir.unconditional_branch ^then
// CHECK-NEXT: ^end:
// CHECK-NEXT:   bir.return
klr.kernel @jumps {
  klr.body 0 {
    %r = klr.register "r"
    klr.block "main.1" {
      klr.register_alu_op add outs(%r) ins(%r, 1 : i32)
      klr.cmp_branch eq_imm ins(left = %r, right = 2 : i32) {true_label = "main.1", false_label = "else"}
    }
    klr.block "then" {
      klr.register_move outs(%r) ins(1 : i32)
      klr.cmp_branch always {true_label = "end"}
    }
    klr.block "else" {
    }
    klr.block "ordered" no_reorder {
      klr.register_move outs(%r) ins(2 : i32)
      klr.cmp_branch always {true_label = "then"}
    }
    klr.block "end" {
    }
  }
}

// -----

// A body without blocks, one with an empty block, a kernel without bodies
// CHECK:      bir.module @empty {
// CHECK-NEXT:   bir.func @sg0000 attributes {core = 0 : i64} {
// CHECK-NEXT:     %t = bir.tensor "t" : !nki.mem<sbuf 128x64xf32>
// CHECK-NEXT:   }
// CHECK-NEXT:   bir.func @sg0001 attributes {core = 1 : i64} {
// CHECK-NEXT:   }
// CHECK-NEXT: }
// CHECK-NEXT: bir.module @nothing {
// CHECK-NEXT: }
klr.kernel @empty {
  klr.body 0 {
    %t = klr.tensor "t" : !nki.mem<sbuf 128x64xf32>
  }
  klr.body 1 {
    klr.block "main.1" {
    }
  }
}
klr.kernel @nothing {
}

// -----

// Two names for one place on chip
// CHECK:      %t = bir.tensor "t" at <0, 0> {user_allocated} : !nki.mem<sbuf 128x64xf32>
// CHECK-NEXT: %v = bir.tensor "v" at <0, 0> {user_allocated} : !nki.mem<sbuf 128x128xbf16>
klr.kernel @alias {
  klr.body 0 {
    %t = klr.tensor "t" at <0, 0> : !nki.mem<sbuf 128x64xf32>
    %v = klr.tensor "v" at <0, 0> {address_name = "t"} : !nki.mem<sbuf 128x128xbf16>
  }
}

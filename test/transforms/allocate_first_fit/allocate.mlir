// RUN: nki-opt %s -p allocate-first-fit --split-input-file | filecheck %s
// RUN: nki-opt %s -p allocate-first-fit,allocate-first-fit --split-input-file | filecheck %s

// Storage that is not live at the same time shares addresses; SBUF and PSUM are apart; HBM gets no address here.
// CHECK: %h = bir.tensor "h" kind external_input : !nki.mem<hbm 128x64xf32>
// CHECK: %a = bir.tensor "a" at <0, 0> : !nki.mem<sbuf 128x64xf32>
// CHECK: %b = bir.tensor "b" at <0, 256> : !nki.mem<sbuf 128x64xf32>
// CHECK: %c = bir.tensor "c" at <0, 0> : !nki.mem<sbuf 128x64xf32>
// CHECK: %p = bir.tensor "p" at <0, 0> : !nki.mem<psum 128x64xf32>
// CHECK: %unused = bir.tensor "unused" at <0, 0> : !nki.mem<sbuf 128x64xf32>
bir.module @m {
  bir.func @straight {
    %h = bir.tensor "h" kind external_input : !nki.mem<hbm 128x64xf32>
    %a = bir.tensor "a" : !nki.mem<sbuf 128x64xf32>
    %b = bir.tensor "b" : !nki.mem<sbuf 128x64xf32>
    %c = bir.tensor "c" : !nki.mem<sbuf 128x64xf32>
    %p = bir.tensor "p" : !nki.mem<psum 128x64xf32>
    %unused = bir.tensor "unused" : !nki.mem<sbuf 128x64xf32>
    bir.load outs(%a[0 : 128 | 0 : 64] f32) ins(%h[0 : 64*128, 64] f32)
    bir.tensor_copy outs(%b[0 : 128 | 0 : 64] f32) ins(%a[0 : 128 | 0 : 64] f32)
    bir.tensor_copy outs(%c[0 : 128 | 0 : 64] f32) ins(%b[0 : 128 | 0 : 64] f32)
    bir.tensor_copy outs(%p[0 : 128 | 0 : 64] f32) ins(%c[0 : 128 | 0 : 64] f32)
  }
}

// -----

// What is defined outside of a loop and used in it lives through all of it; what is defined inside does not, and a loop
// of one iteration is none.
// CHECK-LABEL: bir.func @loops
// CHECK: %a = bir.tensor "a" at <0, 0> : !nki.mem<sbuf 128x64xf32>
// CHECK: %b = bir.tensor "b" at <0, 256> : !nki.mem<sbuf 128x64xf32>
// CHECK: %inner = bir.tensor "inner" at <0, 512> : !nki.mem<sbuf 128x64xf32>
// CHECK: %second = bir.tensor "second" at <0, 512> : !nki.mem<sbuf 128x64xf32>
// CHECK: bir.loop %once
// CHECK: %last = bir.tensor "last" at <0, 256> : !nki.mem<sbuf 128x64xf32>
bir.module @m {
  bir.func @loops {
    %a = bir.tensor "a" : !nki.mem<sbuf 128x64xf32>
    %b = bir.tensor "b" : !nki.mem<sbuf 128x64xf32>
    bir.loop %i = 0 to 2 step 1 sequential {
      bir.memset outs(%a[0 : 128 | 0 : 64] f32) ins(0.0 : f32)
      %inner = bir.tensor "inner" : !nki.mem<sbuf 128x64xf32>
      bir.tensor_copy outs(%inner[0 : 128 | 0 : 64] f32) ins(%a[0 : 128 | 0 : 64] f32)
      %second = bir.tensor "second" : !nki.mem<sbuf 128x64xf32>
      bir.tensor_copy outs(%second[0 : 128 | 0 : 64] f32) ins(%a[0 : 128 | 0 : 64] f32)
      bir.memset outs(%b[0 : 128 | 0 : 64] f32) ins(0.0 : f32)
    }
    bir.loop %once = 0 to 1 step 1 sequential attributes {no_reorder} {
      bir.tensor_copy outs(%b[0 : 128 | 0 : 64] f32) ins(%a[0 : 128 | 0 : 64] f32)
      %last = bir.tensor "last" : !nki.mem<sbuf 128x64xf32>
      bir.tensor_copy outs(%last[0 : 128 | 0 : 64] f32) ins(%a[0 : 128 | 0 : 64] f32)
    }
  }
}

// -----

// A loop by branches is one as well.
// CHECK-LABEL: bir.func @branches
// CHECK: %a = bir.tensor "a" at <0, 0> : !nki.mem<sbuf 128x64xf32>
// CHECK: %b = bir.tensor "b" at <0, 256> : !nki.mem<sbuf 128x64xf32>
// CHECK: %c = bir.tensor "c" at <0, 0> : !nki.mem<sbuf 128x64xf32>
bir.module @m {
  bir.func @branches {
    %r = bir.register "r"
    %a = bir.tensor "a" : !nki.mem<sbuf 128x64xf32>
    %b = bir.tensor "b" : !nki.mem<sbuf 128x64xf32>
    %c = bir.tensor "c" : !nki.mem<sbuf 128x64xf32>
    bir.unconditional_branch ^body
  ^body:
    bir.memset outs(%a[0 : 128 | 0 : 64] f32) ins(0.0 : f32)
    bir.memset outs(%b[0 : 128 | 0 : 64] f32) ins(0.0 : f32)
    bir.compare_and_branch eq_imm ins(%r, 0 : i32) [^body, ^exit]
  ^exit:
    bir.memset outs(%c[0 : 128 | 0 : 64] f32) ins(0.0 : f32)
    bir.return
  }
}

// -----

// Blocks are placed one by one while their numbers are known, else they live together. Access as a larger type aligns.
// CHECK-LABEL: bir.func @blocks
// CHECK: %t = bir.tensor "t" at <0, 0>, <0, 12>, <0, 0> : !nki.mem<sbuf 128x3xbf16, blocks 3>
// CHECK: %w = bir.tensor "w" at <0, 8>, <0, 0> : !nki.mem<sbuf 128x2xbf16, blocks 2>
// CHECK: %s = bir.tensor "s" at <0, 0>, <0, 12> : !nki.mem<sbuf 128x3xbf16, blocks 2>
bir.module @m {
  bir.func @blocks {
    %t = bir.tensor "t" : !nki.mem<sbuf 128x3xbf16, blocks 3>
    %w = bir.tensor "w" : !nki.mem<sbuf 128x2xbf16, blocks 2>
    %s = bir.tensor "s" : !nki.mem<sbuf 128x3xbf16, blocks 2>
    bir.memset outs(%t[0 : 128 | 0 : 3] bf16) ins(0.0 : f32)
    bir.memset outs(%w[0 : 128 | 0 : 1] f32) ins(0.0 : f32)
    bir.tensor_copy outs(%t{1}[0 : 128 | 0 : 3] bf16) ins(%t[0 : 128 | 0 : 3] bf16)
    bir.tensor_copy outs(%t{2}[0 : 128 | 0 : 3] bf16) ins(%t{1}[0 : 128 | 0 : 3] bf16)
    bir.memset outs(%w{1}[0 : 128 | 0 : 1] f32) ins(0.0 : f32)
    bir.loop %i = 0 to 2 step 1 affine {
      bir.memset outs(%s{%i}[0 : 128 | 0 : 3] bf16) ins(0.0 : f32)
    }
    bir.memset outs(%w[0 : 128 | 0 : 1] f32) ins(0.0 : f32)
  }
}

// -----

// Nothing reaches over the end of a PSUM bank, and what is larger begins with one; addresses are multiples of 4.
// CHECK-LABEL: bir.func @psum
// CHECK: %a = bir.tensor "a" at <0, 0> : !nki.mem<psum 128x3xbf16>
// CHECK: %b = bir.tensor "b" at <0, 8> : !nki.mem<psum 128x500xf32>
// CHECK: %c = bir.tensor "c" at <0, 2048> : !nki.mem<psum 128x12xf32>
// CHECK: %d = bir.tensor "d" at <0, 4096> : !nki.mem<psum 128x2x512xf32>
// CHECK: %e = bir.tensor "e" at <0, 2008> : !nki.mem<psum 128x8xf32>
bir.module @m {
  bir.func @psum {
    %a = bir.tensor "a" : !nki.mem<psum 128x3xbf16>
    %b = bir.tensor "b" : !nki.mem<psum 128x500xf32>
    %c = bir.tensor "c" : !nki.mem<psum 128x12xf32>
    %d = bir.tensor "d" : !nki.mem<psum 128x2x512xf32>
    %e = bir.tensor "e" : !nki.mem<psum 128x8xf32>
    bir.memset outs(%a[0 : 128 | 0 : 3] bf16) ins(0.0 : f32)
    bir.memset outs(%b[0 : 128 | 0 : 500] f32) ins(0.0 : f32)
    bir.memset outs(%c[0 : 128 | 0 : 12] f32) ins(0.0 : f32)
    bir.memset outs(%d[0 : 128 | 0 : 1024] f32) ins(0.0 : f32)
    bir.memset outs(%e[0 : 128 | 0 : 8] f32) ins(0.0 : f32)
    bir.memset outs(%a[0 : 128 | 0 : 3] bf16) ins(0.0 : f32)
    bir.memset outs(%b[0 : 128 | 0 : 500] f32) ins(0.0 : f32)
    bir.memset outs(%c[0 : 128 | 0 : 12] f32) ins(0.0 : f32)
    bir.memset outs(%d[0 : 128 | 0 : 1024] f32) ins(0.0 : f32)
  }
}

// -----

// Storage that has a place keeps it, and nothing else goes there, ever.
// CHECK-LABEL: bir.func @placed
// CHECK: %a = bir.tensor "a" at <0, 0> : !nki.mem<sbuf 128x16xf32>
// CHECK: %fixed = bir.tensor "fixed" at <32, 64> : !nki.mem<sbuf 32x16xf32>
// CHECK: %alias = bir.tensor "alias" at <0, 96> : !nki.mem<sbuf 128x16xf32>
// CHECK: %b = bir.tensor "b" at <0, 160> : !nki.mem<sbuf 128x32xf32>
// CHECK: %half = bir.tensor "half" at <0, 400>, <0, 288> : !nki.mem<sbuf 128x16xf32, blocks 2>
bir.module @m {
  bir.func @placed {
    %a = bir.tensor "a" : !nki.mem<sbuf 128x16xf32>
    %fixed = bir.tensor "fixed" at <32, 64> : !nki.mem<sbuf 32x16xf32>
    %alias = bir.tensor "alias" at <0, 96> : !nki.mem<sbuf 128x16xf32>
    %b = bir.tensor "b" : !nki.mem<sbuf 128x32xf32>
    %half = bir.tensor "half" at <0, 400>, <> : !nki.mem<sbuf 128x16xf32, blocks 2>
    bir.memset outs(%a[0 : 128 | 0 : 16] f32) ins(0.0 : f32)
    bir.memset outs(%b[0 : 128 | 0 : 32] f32) ins(0.0 : f32)
    bir.memset outs(%half{1}[0 : 128 | 0 : 16] f32) ins(0.0 : f32)
    bir.tensor_tensor add outs(%b[0 : 128 | 0 : 16] f32) ins(%a[0 : 128 | 0 : 16] f32, %half{1}[0 : 128 | 0 : 16] f32)
  }
}

// -----

// An empty function; functions of several cores have memories of their own; a module of others
// CHECK:      bir.func @empty {
// CHECK-NEXT: }
// CHECK:      %t = bir.tensor "t" at <0, 0>
// CHECK:      = bir.tensor "t" at <0, 0>
bir.module @m {
  bir.func @empty {
  }
  bir.func @core0 {
    %t = bir.tensor "t" : !nki.mem<sbuf 128x64xf32>
    bir.memset outs(%t[0 : 128 | 0 : 64] f32) ins(0.0 : f32)
  }
  bir.func @core1 {
    %t = bir.tensor "t" : !nki.mem<sbuf 128x64xf32>
    bir.memset outs(%t[0 : 128 | 0 : 64] f32) ins(0.0 : f32)
  }
}
func.func @other() {
  func.return
}

// RUN: not nki-sim %s --input 'x=zeros' 2>&1 | filecheck %s

// A register takes no infinity, which Python's int() would refuse with words of its own.
// CHECK: errors_hostile.mlir:9:5: error: 'bir.register_move' op src is inf, registers hold integers [X-REGNUM{{\]}}
bir.module @m {
  bir.func @f {
    %r = bir.register "r"
    %x = bir.tensor "x" kind external_input : !nki.mem<hbm 4xf32>
    bir.register_move outs(%r) ins(inf : f32)
  }
}

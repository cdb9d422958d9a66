// RUN: nki-sim %s --input n=arange --print | filecheck %s

// A loop whose bound is read from memory, and which indexes memory by its variable.

// CHECK:      y : 8xi32
// CHECK-NEXT: [7, 7, 7, 7, 7, 0, 0, 0]
bir.module @dynamic_loop {
  bir.func @f {
    %n = bir.tensor "n" kind external_input : !nki.mem<hbm 8xi32>
    %y = bir.tensor "y" kind external_output : !nki.mem<hbm 8xi32>
    %t = bir.tensor "t" : !nki.mem<sbuf 1x8xi32>
    %r = bir.register "r"
    bir.memset outs(%t[0 : 1 | 0 : 8] i32) ins(0 : i32)
    bir.tensor_load outs(%r) ins(%n[5 : 1] i32)
    bir.dynamic_for_loop %i = 0 to %r step 1 {
      bir.memset outs(%t[0 : 1 | %i : 1] i32) ins(7 : i32)
    }
    bir.save outs(%y[0 : 8] i32) ins(%t[0 : 1 | 0 : 8] i32)
  }
}

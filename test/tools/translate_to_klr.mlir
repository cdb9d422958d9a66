// What KLR cannot express is an error at the op, and no file is written.
// RUN: not nki-translate %s -o %t.klr 2>&1 | filecheck %s
// RUN: not nki-translate %t.klr 2>&1 | filecheck %s --check-prefix=NOTHING
// NOTHING: error: cannot read

klr.kernel @k {
  klr.body 0 {
    %t = klr.tensor "t" : !nki.mem<sbuf 128x64xf32>
    klr.block "main.1" {
      // CHECK: translate_to_klr.mlir:11:7: error: 'klr.reciprocal' op cannot be written as KLR: reciprocal has no field for when
      klr.reciprocal outs(%t[0 : 128 | 0 : 64] f32) ins(%t[0 : 128 | 0 : 64] f32) when(1 ge 0)
    }
  }
}

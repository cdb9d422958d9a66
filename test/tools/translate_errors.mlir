// Every failure is one message with its place.

// RUN: not nki-translate %S/../data/klr/head/gather.klr 2>&1 | filecheck %s --check-prefix=OPERAND
// OPERAND:      kernels_head.py:2:5: error: statement 'inst.5': ncDmaCopy.src: a tensor as offset (vectorOffset) is not supported
// OPERAND-NEXT: note: in the KLR file '{{.*}}gather.klr'

// RUN: not nki-translate %S/../data/klr/head/allops.klr -o - 2>&1 | filecheck %s --check-prefix=OPERATOR
// OPERATOR: kernels_head.py:1:5: error: statement 'inst.1': operator 'activate' is not supported

// RUN: not nki-translate %S/../data/klr/head/allops.klr --to klr --layout nxcc224 2>&1 | filecheck %s --check-prefix=LAYOUT
// LAYOUT: error: cannot write KLR: expected None for NcDmaCopy.priority, which neuronx-cc 2.24 does not have, got 23

// RUN: not nki-translate %s --from klr 2>&1 | filecheck %s --check-prefix=MAGIC
// MAGIC: translate_errors.mlir: byte 0: error: expected a KLR file, which starts with d9 d9 f7 83, found 2f 2f 20 45

// RUN: not nki-translate %S/../data/klr/head/add.klr --from mlir 2>&1 | filecheck %s --check-prefix=TEXT
// TEXT: add.klr: byte 0: error: expected MLIR text or a KLR file, got byte 0xd9

// RUN: not nki-translate %S/../data/klr/head/add.klr --layout head 2>&1 | filecheck %s --check-prefix=NOT-KLR
// NOT-KLR: error: --layout is for KLR files, the output is mlir (--to klr changes that)
// RUN: not nki-translate %s --strip-locations 2>&1 | filecheck %s --check-prefix=NOT-TEXT
// NOT-TEXT: error: --strip-locations is for MLIR text, the output is klr
// RUN: not nki-translate %s --no-verify 2>&1 | filecheck %s --check-prefix=NO-VERIFY
// NO-VERIFY: error: --no-verify is for MLIR text, the output is klr

// RUN: not nki-translate %t.missing 2>&1 | filecheck %s --check-prefix=MISSING
// MISSING: error: cannot read '{{.*}}.missing': No such file or directory
// RUN: not nki-translate %S/../data/klr/head/add.klr -o %t.missing/out.mlir 2>&1 | filecheck %s --check-prefix=FOLDER
// FOLDER: error: cannot write '{{.*}}out.mlir': No such file or directory

// RUN: not nki-translate %s -o - 2>&1 | filecheck %s --check-prefix=RULE
// RUN: nki-translate %s --to mlir --no-verify --strip-locations | filecheck %s --check-prefix=UNCHECKED
klr.kernel @k {
  klr.body 0 {
    %t = klr.tensor "t" : !nki.mem<sbuf 128x64xf32>
    klr.block "main.1" {
      // RULE: translate_errors.mlir:38:7: error: 'klr.reciprocal' op data reaches
      klr.reciprocal outs(%t[0 : 128 | 0 : 64] f32) ins(%t[0 : 128 | 32 : 64] f32)
      // UNCHECKED: klr.reciprocal outs(%t[0 : 128 | 0 : 64] f32) ins(%t[0 : 128 | 32 : 64] f32)
    }
  }
}

// A KLR file as text, and back by way of pipes.
// RUN: nki-translate %S/../data/klr/nxcc224/exp.klr --strip-locations | filecheck %s
// RUN: nki-translate %S/../data/klr/nxcc224/exp.klr | nki-translate - --to klr | nki-translate - --strip-locations | filecheck %s
// RUN: nki-translate %S/../data/klr/nxcc224/exp.klr -o %t.mlir
// RUN: nki-translate %t.mlir -o %t.klr
// RUN: nki-translate %t.klr --from klr --to mlir | filecheck %s --check-prefix=LOCATIONS

// CHECK:      klr.kernel @kernels_head.exp attributes {inputs = ["x"], outputs = ["o.1"], shared_buffers = ["o.1"], klr.disk = {layout = "nxcc224"}} {
// CHECK-NEXT:   klr.body 0 {
// CHECK-NEXT:     %x = klr.tensor "x" kind external_input {address_rotation} : !nki.mem<hbm 128x512xf32>
// CHECK-NEXT:     %o.1 = klr.tensor "o.1" kind external_output {address_rotation} : !nki.mem<hbm 128x512xf32>
// CHECK-NEXT:     %t.2 = klr.tensor "t.2" {address_rotation} : !nki.mem<sbuf 128x512xf32>
// CHECK-NEXT:     %y.3 = klr.tensor "y.3" {address_rotation} : !nki.mem<sbuf 128x512xf32>
// CHECK-NEXT:     klr.block "main.1" {
// CHECK-NEXT:       klr.nc_dma_copy "inst.4" outs(%t.2[0 : 128 | 0 : 512] f32) ins(%x[0 : 512*128, 512] f32)
// CHECK-NEXT:       klr.nc_activate exp "inst.5" outs(%y.3[0 : 128 | 0 : 512] f32) ins(%t.2[0 : 128 | 0 : 512] f32) {dtype = #nki.dtype<f32>}
// CHECK-NEXT:       klr.nc_dma_copy "inst.6" outs(%o.1[0 : 512*128, 512] f32) ins(%y.3[0 : 128 | 0 : 512] f32)

// LOCATIONS: klr.nc_activate exp "inst.5" {{.*}} loc(fused["kernels_head.py":2:5, "kernels_head.py":2:41])

// The other layout, which a KLR file gets without the dialect in between: all operators are known there.
// RUN: nki-translate %S/../data/klr/nxcc224/allops.klr --to klr --layout head -o %t.allops.klr
// RUN: nki-translate %S/../data/klr/nxcc224/exp.klr --to klr --layout head | nki-translate - | filecheck %s --check-prefix=HEAD
// HEAD: klr.kernel @kernels_head.exp attributes {inputs = ["x"], outputs = ["o.1"], shared_buffers = ["o.1"]} {

// RUN: nki-translate --help | filecheck %s --check-prefix=HELP
// HELP: usage: nki-translate
// HELP: --layout {nxcc224,head}
// HELP: examples:
// HELP-NEXT: nki-translate add.klr
// RUN: nki-translate --version | filecheck %s --check-prefix=VERSION
// VERSION: nki-translate {{[0-9.]+}} (xDSL

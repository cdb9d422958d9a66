"""From any of the three dialects to BIR that runs."""

import numpy as np
import pytest
from test_rows import parse

from nki_mlir.diagnostics import NkiError
from nki_mlir.isa.target import SUNDA
from nki_mlir.simulator import simulate
from nki_mlir.transforms.pipeline import lower_to_bir

PENGUIN = """
penguin.module @double {
  penguin.func @double {
    %x = penguin.tensor "x" kind external_input : !nki.mem<hbm 256x64xf32>
    %o = penguin.tensor "o" kind external_output : !nki.mem<hbm 256x64xf32>
    penguin.loop %i = 0 to 2 step 1 affine {
      %t = penguin.tensor "t" : !nki.mem<sbuf 128x64xf32>
      penguin.sb_atom_load outs(%t[0 : 128 | 0 : 64] f32) ins(%x[8192*%i : 64*128, 64] f32)
      penguin.tensor_scalar_ptr mult outs(%t[0 : 128 | 0 : 64] f32) ins(%t[0 : 128 | 0 : 64] f32, operand0 = 2.0 : f32)
      penguin.sb_atom_store outs(%o[8192*%i : 64*128, 64] f32) ins(%t[0 : 128 | 0 : 64] f32)
    }
  }
}
"""
KLR = """
klr.kernel @double attributes {inputs = ["x"], outputs = ["o"]} {
  klr.body 0 {
    %x = klr.tensor "x" : !nki.mem<hbm 256x64xf32>
    %o = klr.tensor "o" : !nki.mem<hbm 256x64xf32>
    %t = klr.tensor "t" : !nki.mem<sbuf 128x64xf32>
    klr.block "main.1" {
      klr.nc_dma_copy outs(%t[0 : 128 | 0 : 64] f32) ins(%x[0 : 64*128, 64] f32)
      klr.tensor_scalar mult outs(%t[0 : 128 | 0 : 64] f32) ins(%t[0 : 128 | 0 : 64] f32, operand0 = 2.0 : f32)
      klr.nc_dma_copy outs(%o[0 : 64*128, 64] f32) ins(%t[0 : 128 | 0 : 64] f32)
      klr.nc_dma_copy outs(%t[0 : 128 | 0 : 64] f32) ins(%x[8192 : 64*128, 64] f32)
      klr.tensor_scalar mult outs(%t[0 : 128 | 0 : 64] f32) ins(%t[0 : 128 | 0 : 64] f32, operand0 = 2.0 : f32)
      klr.nc_dma_copy outs(%o[8192 : 64*128, 64] f32) ins(%t[0 : 128 | 0 : 64] f32)
    }
  }
}
"""
BIR = PENGUIN.replace("penguin.sb_atom_load", "bir.load").replace("penguin.sb_atom_store", "bir.save")
BIR = BIR.replace("penguin.", "bir.")


@pytest.mark.parametrize("text", [PENGUIN, KLR, BIR], ids=["penguin", "klr", "bir"])
@pytest.mark.parametrize("unroll", [False, True])
@pytest.mark.parametrize("allocate", [False, True])
def test_the_result_runs(text: str, unroll: bool, allocate: bool):
    ctx, module = parse(text)
    lower_to_bir(ctx, module, unroll=unroll, allocate=allocate)
    module.verify()
    assert ("bir.loop" in str(module)) == (not unroll and text is not KLR)
    assert (" at <" in str(module)) == allocate
    assert "arch" not in str(module)
    x = np.arange(256 * 64, dtype=np.float32).reshape(256, 64)
    assert (simulate(module, {"x": x}).outputs["o"] == 2 * x).all()


@pytest.mark.parametrize("target", [SUNDA, "trn1", "gen2"])
@pytest.mark.parametrize("text", [PENGUIN, KLR, BIR], ids=["penguin", "klr", "bir"])
def test_the_target_is_that_of_the_result(text: str, target: object):
    ctx, module = parse(text)
    lower_to_bir(ctx, module, target=target)
    assert "arch = #nki.arch<gen2>" in str(module)


def test_nothing_to_lower():
    ctx, module = parse("")
    with pytest.raises(NkiError, match=r"expected a penguin\.module, klr\.kernel or bir\.module, found none of them"):
        lower_to_bir(ctx, module)

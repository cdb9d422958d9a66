"""Transposes move every bit, on either engine and for every element type."""

import numpy as np
import pytest
from test_rows import parse

from nki_mlir.isa.dtypes import Dtype
from nki_mlir.simulator import simulate
from nki_mlir.transforms.pipeline import lower_to_bir

FRAMES = {
    "penguin": ("penguin.module @k {{ penguin.func @k {{ {storage} {body} }} }}", "sb_atom_load", "sb_atom_store"),
    "klr": ('klr.kernel @k {{ klr.body 0 {{ {storage} klr.block "b" {{ {body} }} }} }}', "nc_dma_copy", "nc_dma_copy"),
}
TYPES = [Dtype.F32, Dtype.BF16, Dtype.F16, Dtype.I32, Dtype.U32, Dtype.I16, Dtype.U8, Dtype.I8, Dtype.F8E5]


def transposed(dialect: str, engine: str, space: str, dtype: Dtype, rows: int, columns: int) -> bool:
    """Whether a lowered transpose of random bits gives what numpy gives."""
    frame, load, store = FRAMES[dialect]
    storage = f"""
      %x = {dialect}.tensor "x" kind external_input : !nki.mem<hbm {rows}x{columns}x{dtype}>
      %o = {dialect}.tensor "o" kind external_output : !nki.mem<hbm {columns}x{rows}x{dtype}>
      %a = {dialect}.tensor "a" : !nki.mem<sbuf {rows}x{columns}x{dtype}>
      %b = {dialect}.tensor "b" : !nki.mem<{space} {columns}x{rows}x{dtype}>
    """
    body = f"""
      {dialect}.{load} outs(%a[0 : {rows} | 0 : {columns}] {dtype}) ins(%x[0 : {rows * columns}] {dtype})
      {dialect}.transpose {engine} outs(%b[0 : {columns} | 0 : {rows}] {dtype})
        ins(%a[0 : {rows} | 0 : {columns}] {dtype})
      {dialect}.{store} outs(%o[0 : {rows * columns}] {dtype}) ins(%b[0 : {columns} | 0 : {rows}] {dtype})
    """
    ctx, module = parse(frame.format(storage=storage, body=body))
    lower_to_bir(ctx, module)
    module.verify()
    bits = np.random.default_rng(0).integers(0, 256, rows * columns * dtype.size, np.uint8)
    x = bits.view(dtype.numpy).reshape(rows, columns)
    whole = np.dtype(f"u{dtype.size}")
    found = simulate(module, {"x": x}).outputs["o"]
    return bool((found.view(whole) == np.swapaxes(x.view(whole), 0, 1)).all())


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("dialect", FRAMES)
def test_on_the_tensor_engine(dialect: str, dtype: Dtype):
    assert transposed(dialect, "on pe", "psum", dtype, 128, 48)
    assert transposed(dialect, "", "psum", dtype, 20, 128)


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("dialect", FRAMES)
def test_on_the_vector_engine(dialect: str, dtype: Dtype):
    assert transposed(dialect, "on dve", "sbuf", dtype, 32, 7)
    assert transposed(dialect, "", "sbuf", dtype, 3, 32)

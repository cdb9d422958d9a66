"""A tile that is read and that nothing has written is reported, though another tile stood at its addresses."""

import numpy as np
import pytest
from xdsl.context import Context

import nki_mlir
import nki_mlir.nki as nki
import nki_mlir.nki.isa as nisa
import nki_mlir.nki.language as nl
from nki_mlir.diagnostics import NkiError
from nki_mlir.simulator import simulate
from nki_mlir.transforms.allocate_first_fit import AllocateFirstFit
from nki_mlir.transforms.unroll import Unroll

X = np.ones((128, 64), np.float32)


@nki.jit
def twice(x, written):
    out = nl.ndarray((2, *x.shape), dtype=x.dtype, buffer=nl.shared_hbm)
    first = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=first, src=x)
    nisa.dma_copy(dst=out[0], src=first)
    second = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    if written:
        nisa.memset(dst=second, value=3.0)
    nisa.dma_copy(dst=out[1], src=second)
    return out


def placed(frontend, written):
    module = nki_mlir.compile(twice, X, written, frontend=frontend, emit="bir")
    for step in (AllocateFirstFit(), Unroll()):
        step.apply(Context(), module)
    return module


@pytest.mark.parametrize("frontend", ["beta2", "beta3"])
def test_the_contents_of_another_tile_are_not_read(monkeypatch: pytest.MonkeyPatch, frontend: str):
    monkeypatch.setenv("NKI_FRONTEND", frontend)
    never = (
        r'"inst\.3": src reads 8192 of 8192 elements of \'second\.1\' that were never written, the first is element 0'
    )
    with pytest.raises(NkiError, match=never):
        nki.simulate(twice)(X, False)
    with pytest.raises(NkiError, match=never):
        simulate(placed(frontend, False), {"x": X})


@pytest.mark.parametrize("frontend", ["beta2", "beta3"])
def test_a_tile_that_is_written_may_take_the_place(monkeypatch: pytest.MonkeyPatch, frontend: str):
    monkeypatch.setenv("NKI_FRONTEND", frontend)
    assert np.array_equal(nki.simulate(twice)(X, True), np.stack([X, X * 3]))
    module = placed(frontend, True)
    assert str(module).count("at <0, 0>") == 2
    (found,) = simulate(module, {"x": X}).outputs.values()
    assert np.array_equal(found, np.stack([X, X * 3]))

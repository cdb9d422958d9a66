"""A tile that is read and that nothing has written is reported, though another tile stood at its addresses."""

import numpy as np
import pytest
from xdsl.context import Context

import nki_mlir
import nki_mlir.nki as nki
import nki_mlir.nki.isa as nisa
import nki_mlir.nki.language as nl
import nki_mlir.nki_legacy as nki_legacy
import nki_mlir.nki_legacy.language as legacy_nl
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


@nki_legacy.jit
def scratch(x, written):
    """Passes rows through scratch in HBM that each iteration makes, of which some may not write it."""
    out = legacy_nl.ndarray(x.shape, dtype=x.dtype, buffer=legacy_nl.shared_hbm)
    for i in legacy_nl.sequential_range(4):
        rows = slice(32 * i, 32 * i + 32)
        passed = legacy_nl.ndarray((32, x.shape[1]), dtype=x.dtype, buffer=legacy_nl.private_hbm)
        legacy_nl.store(passed, legacy_nl.load(x[rows]), mask=(i < written))
        legacy_nl.store(out[rows], legacy_nl.load(passed))
    return out


@pytest.mark.parametrize("frontend", ["beta2", "beta3"])
def test_scratch_in_hbm_is_new_in_each_iteration(monkeypatch: pytest.MonkeyPatch, frontend: str):
    monkeypatch.setenv("NKI_FRONTEND", frontend)
    monkeypatch.setenv("NKI_CHECK_TRACE", "1")
    assert np.array_equal(nki_legacy.simulate_kernel(scratch, X, 4), X)
    with pytest.raises(NkiError, match=r"reads 2048 of 2048 elements of 'passed.*' that were never written"):
        nki_legacy.simulate_kernel(scratch, X, 3)

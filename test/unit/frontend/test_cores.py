"""Kernels on two cores: HBM tensors that the cores share, their names, and which core writes what."""

from typing import Any

import numpy as np
import pytest

import nki_mlir.nki as nki
from nki_mlir.diagnostics import NkiError
from nki_mlir.isa.target import SUNDA
from nki_mlir.nki import isa as nisa
from nki_mlir.nki import language as nl

X = np.arange(256 * 8, dtype=np.float32).reshape(256, 8)


def output(shape: Any, name: str | None = None) -> Any:
    return nl.ndarray(shape, nl.float32, buffer=nl.shared_hbm, name=name or "")


def loaded(x: Any) -> Any:
    return copied(nl.ndarray(x.shape, x.dtype), x)


def copied(dst: Any, src: Any) -> Any:
    nisa.dma_copy(dst, src)
    return dst


def anonymous_output(a: Any) -> Any:
    """Nothing but its place in the order gives the output and the tile behind it a name."""
    half = nl.program_id(0) * 128
    outs = [output(a.shape)]
    copied(outs[0][half : half + 128], loaded(a[half : half + 128]))
    return outs[0]


def name_of_a_tile(a: Any) -> Any:
    """The user's name is what a tile without one would be called."""
    half = nl.program_id(0) * 128
    out = output(a.shape, name="t.1")
    copied(out[half : half + 128], loaded(a[half : half + 128]))
    return out


def one_core_writes(a: Any) -> Any:
    out = output(a.shape)
    if nl.program_id(0) == 1:
        for half in (0, 128):
            copied(out[half : half + 128], loaded(a[half : half + 128]))
    return out


@pytest.mark.parametrize("frontend", ["beta2", "beta3"])
@pytest.mark.parametrize("kernel", [anonymous_output, name_of_a_tile, one_core_writes])
def test_the_cores_make_one_output(kernel: Any, frontend: str) -> None:
    assert np.array_equal(nki.jit(kernel)[2].simulate((X,), frontend=frontend), X)


@pytest.mark.parametrize("frontend", ["beta2", "beta3"])
def test_an_output_a_core(frontend: str) -> None:
    def kernel(a: Any) -> Any:
        outs = [output((128, 8)) for _ in range(2)]
        core = nl.program_id(0)
        copied(outs[core], loaded(a[core * 128 : core * 128 + 128]))
        return outs

    first, second = nki.jit(kernel)[2].simulate((X,), frontend=frontend)
    assert np.array_equal(np.concatenate([first, second]), X)


def test_an_output_that_no_core_writes() -> None:
    def kernel(a: Any) -> Any:
        out, other = output(a.shape), output(a.shape)
        copied(out[:128], loaded(a[:128]))
        return out, other

    with pytest.raises(NkiError, match=r"^output t\.2 is never written \[tensor_output_not_written_to\]$") as caught:
        nki.jit(kernel)[2].simulate((X,))
    assert caught.value.location is not None
    assert caught.value.location.file == __file__


def test_before_trn2_a_kernel_has_one_core() -> None:
    message = r"^the launch grid is \[2\]; on trn1 a kernel runs on one core \[multi_cores_spmd_not_supported\]$"
    with pytest.raises(NkiError, match=message) as caught:
        nki.jit(anonymous_output)[2].simulate((X,), target="trn1")
    assert caught.value.location is not None
    assert caught.value.location.file == __file__
    nki.jit(anonymous_output)[1].trace((X,), {}, frontend="beta2", target=SUNDA)

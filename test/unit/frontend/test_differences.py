"""What NKI_CHECK_TRACE says of a kernel that reads state which the tracer cannot see."""

import sys
from pathlib import Path

import numpy as np
import pytest

from nki_mlir.frontend.differences import difference
from nki_mlir.frontend.errors import NKIRuntimeError
from nki_mlir.nki_legacy import jit
from nki_mlir.nki_legacy import language as nl

X = np.ones((64, 8), np.float32)
HERE = Path(__file__).name


@pytest.fixture(autouse=True)
def _count(monkeypatch):
    """`sys.count`: a global of another module, which is out of the tracer's sight."""
    monkeypatch.setattr(sys, "count", 0, raising=False)


def scaled(x):
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    sys.count = 1
    for i in nl.affine_range(4):
        nl.store(out[16 * i : 16 * i + 16, :], nl.load(x[16 * i : 16 * i + 16, :]) * float(sys.count))
        sys.count *= 2
    return out


def moved(x):
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    sys.count = 0
    for _ in nl.sequential_range(4):
        nl.store(out[16 * sys.count : 16 * sys.count + 16, :], nl.load(x[0:16, :]))
        sys.count += 1
    return out


def chosen(x):
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    sys.count = 0
    for i in nl.affine_range(4):
        tile = nl.load(x[16 * i : 16 * i + 16, :])
        nl.store(out[16 * i : 16 * i + 16, :], nl.exp(tile) if sys.count else nl.add(tile, tile))
        sys.count += 1
    return out


def longer(x):
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    sys.count = 0
    for i in nl.affine_range(4):
        nl.store(out[16 * i : 16 * i + 16, :], nl.load(x[16 * i : 16 * i + 16, :]))
        if sys.count == 3:
            nl.load(x[0:16, :])
        sys.count += 1
    return out


@pytest.mark.parametrize(
    ("function", "line", "message"),
    [
        (
            scaled,
            4,
            "instruction 4, tensor_scalar, operand0: 1.0 : f32 rolled, 2.0 : f32 unrolled",
        ),
        (
            moved,
            4,
            "instruction 3, dma_save, offsets of dst: (0, 0, 0) rolled, (0, 0, 128) unrolled",
        ),
        (chosen, 5, "instruction 4, the operation: tensor_tensor rolled, activation unrolled"),
        (longer, 6, "instruction 8, dma_load, which only the unrolled trace has"),
    ],
)
def test_the_first_difference_is_named(monkeypatch, function, line, message):
    monkeypatch.setenv("NKI_CHECK_TRACE", "1")
    with pytest.raises(NKIRuntimeError) as caught:
        jit(function).trace((X,), {}, frontend="beta3")
    name = function.__name__
    assert f"rolled and unrolled traces of {name} differ at {message} [NKI_CHECK_TRACE]" in str(caught.value)
    location = caught.value.location
    assert (Path(location.file).name, location.line) == (HERE, function.__code__.co_firstlineno + line)


def test_equal_traces_have_no_difference():
    kernel = jit(longer)
    first, second = (kernel.trace((X,), {}, frontend="beta2").programs[0].nodes for _ in range(2))
    assert difference(first, second) is None


def scratch(x):
    """Every iteration makes its own tensor in HBM; behind the loop its last one is meant."""
    out = nl.ndarray((3, 16, 8), x.dtype, buffer=nl.shared_hbm)
    for i in nl.affine_range(2):
        kept = nl.ndarray((16, 8), x.dtype, buffer=nl.private_hbm)
        nl.store(kept, nl.load(x[16 * i : 16 * i + 16, :]))
        nl.store(out[i], nl.load(kept))
    nl.store(out[2], nl.load(kept))
    return out


@pytest.mark.parametrize("grid", [(), (2,)])
def test_scratch_in_hbm_that_a_loop_makes_is_no_difference(monkeypatch, grid):
    monkeypatch.setenv("NKI_CHECK_TRACE", "1")
    monkeypatch.setenv("NKI_FRONTEND", "beta3")
    kernel = jit(scratch)[grid] if grid else jit(scratch)
    data = np.arange(512, dtype=np.float32).reshape(64, 8)
    assert np.array_equal(kernel(data), np.stack([data[:16], data[16:32], data[16:32]]))


def uneven(x):
    """The loop has one piece in the first program and several in the second, each with scratch of its own."""
    row = nl.program_id(0)
    for i in nl.affine_range(3):
        if row == 1 and i == 1:
            nl.load(x[0:16, :])
        kept = nl.ndarray((2, 16, 8), x.dtype, buffer=nl.private_hbm)
        nl.store(kept[row], nl.load(x[16 * i : 16 * i + 16, :]))
    out = nl.ndarray((2, 16, 8), x.dtype, buffer=nl.shared_hbm)
    nl.store(out[row], nl.load(x[16 * row : 16 * row + 16, :]))
    return out


@pytest.mark.parametrize("check", ["0", "1"])
@pytest.mark.parametrize("frontend", ["beta2", "beta3"])
def test_programs_whose_loops_make_unlike_scratch_share_the_output(monkeypatch, frontend, check):
    monkeypatch.setenv("NKI_CHECK_TRACE", check)
    monkeypatch.setenv("NKI_FRONTEND", frontend)
    data = np.arange(512, dtype=np.float32).reshape(64, 8)
    assert np.array_equal(jit(uneven)[2,](data), data[:32].reshape(2, 16, 8))

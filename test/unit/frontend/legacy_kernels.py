"""What the tests of the older API share."""

import numpy as np
import pytest

from nki_mlir.frontend.records import expand
from nki_mlir.nki_legacy import jit
from nki_mlir.nki_legacy import language as nl


def both(kernel, *args, **kwargs):
    """Returns the result of a kernel: the same bits through both front ends, rolled and unrolled traces equal."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NKI_CHECK_TRACE", "1")
        results = [kernel.simulate(args, kwargs, frontend=frontend) for frontend in ("beta2", "beta3")]
    first, second = (result if isinstance(result, tuple) else (result,) for result in results)
    for a, b in zip(first, second, strict=True):
        assert a.dtype == b.dtype
        assert a.tobytes() == b.tobytes()
    return results[0]


def mapped(function, dtype=None, shape=None):
    """Returns the kernel that loads its arguments, calls `function` with the tiles and stores what it returns."""

    @jit
    def kernel(*arrays):
        tiles = [nl.load(array) for array in arrays]
        result = function(*tiles)
        out = nl.ndarray(shape or result.shape, dtype=dtype or result.dtype, buffer=nl.shared_hbm)
        nl.store(out, result)
        return out

    return kernel


def trace(kernel, *args, frontend="beta3"):
    """Returns the finished tree of a kernel with one program."""
    return kernel.trace(args, {}, frontend=frontend).programs[0].nodes


def names(kernel, *args, frontend="beta3"):
    """Returns the names of the instructions that a kernel runs, loops expanded."""
    return [flat[0].name for flat in expand(trace(kernel, *args, frontend=frontend))]


def data(*shape, seed=0, low=-2.0, high=2.0, dtype=np.float32):
    return np.random.default_rng(seed).uniform(low, high, shape).astype(dtype)

"""Operands of the older API's functions: masks on every instruction, repeated partitions, numbers of numpy."""

import numpy as np
import pytest
from legacy_kernels import both, data, mapped, names, trace

from nki_mlir.frontend.records import FlatView, Loop, expand
from nki_mlir.isa.dtypes import Dtype
from nki_mlir.nki_legacy import isa as nisa
from nki_mlir.nki_legacy import jit
from nki_mlir.nki_legacy import language as nl

ROWS = 200
X = data(ROWS, 48)


def masked_kernel(function, width):
    """A kernel that runs `function(tile, mask)` on tiles of 128 rows, the last of which is ragged."""

    @jit
    def kernel(x):
        rows, columns = x.shape
        ip, jf = nl.arange(128)[:, None], nl.arange(columns)[None, :]
        out = nl.ndarray((rows, width), dtype=nl.float32, buffer=nl.shared_hbm)
        for i in nl.affine_range((rows + 127) // 128):
            mask = i * 128 + ip < rows
            result = function(nl.load(x[i * 128 + ip, jf], mask=mask), mask)
            nl.store(out[i * 128 + ip, nl.arange(width)[None, :]], result, mask=mask)
        return out

    return kernel


def in_psum(tile, mask):
    moved = nl.ndarray(tile.shape, dtype=nl.float32, buffer=nl.psum)
    moved[...] = nl.copy(tile, mask=mask)
    return moved


def positions(mask):
    ip, jf = nl.arange(128)[:, None], nl.arange(48)[None, :]
    return nisa.iota(ip * 48 + jf, dtype=nl.float32, mask=mask)


def triangle(tile, mask):
    ip, jf = nl.arange(128)[:, None], nl.arange(48)[None, :]
    return nisa.affine_select(ip >= jf, tile, -1.0, mask=mask)


IN_TILE = np.arange(ROWS)[:, None] % 128
EXP = np.exp(X - X.max(1, keepdims=True))
RMS = X / np.sqrt((X**2).mean(1, keepdims=True) + 1e-6)
MASKED = {
    "mean": (lambda t, m: nl.mean(t, axis=[1], mask=m), X.mean(1, keepdims=True)),
    "mean kept": (lambda t, m: nl.mean(t, axis=[1], mask=m, keepdims=True), X.mean(1, keepdims=True)),
    "var": (lambda t, m: nl.var(t, axis=[1], mask=m), X.var(1, keepdims=True)),
    "softmax": (lambda t, m: nl.softmax(t, axis=1, mask=m), EXP / EXP.sum(1, keepdims=True)),
    "rms_norm": (lambda t, m: nl.rms_norm(t, 1.0, 1, 48, mask=m), RMS),
    "bn_stats": (lambda t, m: nisa.bn_aggr(nisa.bn_stats(t, mask=m), mask=m)[:, 0:1], X.mean(1, keepdims=True)),
    "floor": (lambda t, m: nl.floor(t, mask=m), np.floor(X)),
    "trunc": (lambda t, m: nl.trunc(t, mask=m), np.trunc(X)),
    "tan": (lambda t, m: nl.tan(t, mask=m), np.tan(X)),
    "psum": (lambda t, m: nl.add(in_psum(t, m), in_psum(t, m), mask=m), X + X),
    "psum power": (lambda t, m: nl.power(in_psum(nl.abs(t, mask=m), m), in_psum(t, m), mask=m), np.abs(X) ** X),
    "iota": (lambda t, m: positions(m), IN_TILE * 48 + np.arange(48)),
    "affine_select": (triangle, np.where(np.arange(48) <= IN_TILE, X, -1.0)),
    "where": (lambda t, m: nl.where(in_psum(t, m), in_psum(t, m), 0.0, mask=m), X),
}


@pytest.mark.parametrize("name", MASKED)
def test_every_instruction_has_the_mask(name):
    function, expected = MASKED[name]
    kernel = masked_kernel(function, expected.shape[1])
    np.testing.assert_allclose(both(kernel, X), expected, rtol=1e-3, atol=1e-5)
    for _, roles, _ in expand(trace(kernel, X[:100])):
        for role, value in roles:
            if isinstance(value, FlatView) and value.space != "hbm":
                assert value.partitions in (((1, 100),), ()), role


def test_mask_over_an_axis_that_stays():
    """Of [4, 6, 5] the mask leaves 3 partitions and 2 of the 6; the mean goes over the 5."""
    x = data(4, 6, 5)

    @jit
    def kernel(x):
        ip, ja, kb = nl.arange(4)[:, None, None], nl.arange(6)[None, :, None], nl.arange(5)[None, None, :]
        out = nl.ndarray((4, 6), nl.float32, buffer=nl.shared_hbm)
        nl.store(out, nl.zeros((4, 6), nl.float32))
        mask = (ip < 3) & (ja < 2)
        mean = nl.mean(nl.load(x[ip, ja, kb], mask=mask), axis=2, mask=mask)
        i, j = nl.arange(4)[:, None], nl.arange(6)[None, :]
        nl.store(out[i, j], mean, mask=(i < 3) & (j < 2))
        return out

    expected = np.zeros((4, 6), np.float32)
    expected[:3, :2] = x[:3, :2].mean(2)
    np.testing.assert_allclose(both(kernel, x), expected, rtol=1e-5)


def test_mean_of_as_many_columns_as_partitions():
    """The condition on 8 partitions must not go to the 8 columns that stay."""
    x = data(8, 8, 5)

    @jit
    def kernel(x):
        ip, ja, kb = nl.arange(8)[:, None, None], nl.arange(8)[None, :, None], nl.arange(5)[None, None, :]
        out = nl.ndarray((8, 8), nl.float32, buffer=nl.shared_hbm)
        nl.store(out, nl.zeros((8, 8), nl.float32))
        mean = nl.mean(nl.load(x[ip, ja, kb]), axis=2, mask=ip < 3)
        nl.store(out[nl.arange(8)[:, None], nl.arange(8)[None, :]], mean, mask=nl.arange(8)[:, None] < 3)
        return out

    expected = np.zeros((8, 8), np.float32)
    expected[:3] = x[:3].mean(2)
    np.testing.assert_allclose(both(kernel, x), expected, rtol=1e-5)


REPEATED = {
    "operand": lambda x, g: nl.multiply(x, g.broadcast_to((64, 48))),
    "operator": lambda x, g: x * g.broadcast_to((64, 48)),
    "part of it": lambda x, g: nl.multiply(x, g.broadcast_to((64, 48))[0:64, 0:48]),
    "data": lambda x, g: nl.multiply(x, nl.copy(g.broadcast_to((64, 48)))),
    "both": lambda x, g: nl.multiply(x, nl.maximum(g.broadcast_to((64, 48)), g.broadcast_to((64, 48)))),
    "where": lambda x, g: nl.multiply(x, nl.where(nl.greater(x, -100.0), g.broadcast_to((64, 48)), 0.0)),
}


@pytest.mark.parametrize("name", REPEATED)
def test_a_repeated_partition_is_copied(name):
    x, g = data(64, 48), data(1, 48, seed=1)
    np.testing.assert_allclose(both(mapped(REPEATED[name]), x, g), x * g, rtol=1e-6)


def test_a_repeated_partition_is_assigned():
    def function(x, g):
        result = nl.ndarray((64, 48), nl.float32)
        result[...] = g.broadcast_to((64, 48))
        return result

    x, g = data(64, 48), data(1, 48, seed=1)
    np.testing.assert_array_equal(both(mapped(function), x, g), np.broadcast_to(g, (64, 48)))


def test_a_repeated_partition_is_stored_without_a_copy():
    @jit
    def kernel(g):
        out = nl.ndarray((64, 48), nl.float32, buffer=nl.shared_hbm)
        nl.store(out, nl.load(g).broadcast_to((64, 48)))
        return out

    g = data(1, 48)
    np.testing.assert_array_equal(both(kernel, g), np.broadcast_to(g, (64, 48)))
    assert names(kernel, g) == ["dma_load", "dma_save"]


NUMBERS = {
    "function": (lambda t: nl.multiply(t, 1 / np.sqrt(64)), lambda x: x / 8),
    "right": (lambda t: t * np.float64(0.5), lambda x: x / 2),
    "left": (lambda t: np.float64(0.5) * t, lambda x: x / 2),
    "integer": (lambda t: t + np.int64(3), lambda x: x + 3),
    "array": (lambda t: t + np.array(0.25), lambda x: x + 0.25),
    "half": (lambda t: t - np.float16(0.5), lambda x: x - 0.5),
    "truth": (lambda t: t + np.bool_(True), lambda x: x + 1),
    "where": (lambda t: nl.where(t > np.float64(0), t, np.float64(0)), lambda x: np.maximum(x, 0)),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_of_numpy(name):
    function, reference = NUMBERS[name]
    x = data(64, 48)
    result = both(mapped(function), x)
    assert result.dtype == np.float32
    np.testing.assert_allclose(result, reference(x), rtol=1e-6, atol=1e-6)


def test_64_bit_numbers_mean_the_types_of_python_numbers():
    from nki_mlir.frontend.functions import type_of

    values = (np.float64(1), np.int64(1), np.uint64(1), np.float16(1), np.int8(1), np.bool_(True), True, 1, 1.0)
    types = (Dtype.F32, Dtype.I32, Dtype.I32, Dtype.F16, Dtype.I8, Dtype.U8, Dtype.U8, Dtype.I32, Dtype.F32)
    assert [type_of(value) for value in values] == list(types)


# Masks that cut a tile at both ends -------------------------------------------------------------------------------

I, J = np.mgrid[0:128, 0:64]
CUTS = {
    "upper half": lambda i, j: i >= 64,
    "columns": lambda i, j: (j >= 10) & (j < 50),
    "first columns": lambda i, j: j < 40,
    "block": lambda i, j: (i >= 32) & (i < 64) & (j >= 3),
    "column": lambda i, j: j == 5,
}


def into(function):
    """Returns the kernel that writes function(tile, i, j) into a tile of nines, in the part that it computes."""

    def kernel(x):
        i, j = nl.mgrid[0:128, 0:64]
        result = nl.full((128, 64), 9.0, dtype=nl.float32)
        result[i, j] = function(x, i, j)
        return result

    return mapped(kernel)


@pytest.mark.parametrize("cut", CUTS)
def test_a_mask_moves_the_start_of_a_pattern(cut):
    mask, tile = CUTS[cut], data(128, 64)
    numbered = into(lambda x, i, j: nisa.iota(i * 64 - 3 * j, dtype=nl.float32, mask=mask(i, j)))
    np.testing.assert_array_equal(both(numbered, tile), np.where(mask(I, J), I * 64 - 3 * J, 9.0))
    selected = into(lambda x, i, j: nisa.affine_select(i >= 2 * j, x, -1.0, mask=mask(i, j)))
    np.testing.assert_array_equal(both(selected, tile), np.where(mask(I, J), np.where(I >= 2 * J, tile, -1.0), 9.0))


def test_a_pattern_under_a_mask_over_a_loop():
    @jit
    def kernel(x):
        out = nl.ndarray((5, 128, 64), dtype=nl.float32, buffer=nl.shared_hbm)
        i, j = nl.mgrid[0:128, 0:64]
        for n in nl.affine_range(5):
            result = nl.full((128, 64), 9.0, dtype=nl.float32)
            result[i, j] = nisa.iota(i * 64 + j, dtype=nl.float32, mask=(j >= 20 * n - 50) & (64 * n + j < 300))
            nl.store(out[n], result)
        return out

    n = np.arange(5)[:, None, None]
    expected = np.where((20 * n - 50 <= J) & (64 * n + J < 300), I * 64 + J, 9.0)
    np.testing.assert_array_equal(both(kernel, data(128, 64)), expected)
    # All of the tile is left in the first three iterations, which stay a loop.
    assert [node.bounds for node in trace(kernel, X) if isinstance(node, Loop)] == [(0, 3), (3, 4), (4, 5)]


@pytest.mark.parametrize("cut", [cut for cut in CUTS if cut != "column"])
def test_a_mask_over_the_reduced_axis_counts(cut):
    mask, tile = CUTS[cut], data(128, 64, seed=4)

    def kernel(x, function):
        i, j = nl.mgrid[0:128, 0:64]
        result = nl.full((128, 1), 9.0, dtype=nl.float32)
        result[i, 0] = function(x, axis=1, mask=mask(i, j))
        return result

    left = np.ma.array(tile, mask=~mask(I, J))
    for function, expected in ((nl.mean, left.mean(1)), (nl.var, left.var(1))):
        found = both(mapped(lambda x, function=function: kernel(x, function)), tile)
        np.testing.assert_allclose(found[:, 0], expected.filled(9.0), rtol=1e-4, atol=1e-5)


# Loop indices as numbers ------------------------------------------------------------------------------------------

AS_NUMBERS = {
    "full": (lambda x, n: nl.full((64, 48), n, dtype=nl.float32), lambda x, n: np.full((64, 48), n)),
    "memset": (lambda x, n: nisa.memset((64, 48), n * 2 + 1, np.float32), lambda x, n: np.full((64, 48), 2 * n + 1)),
    "truth": (lambda x, n: nl.full((64, 48), n > 1, dtype=nl.float32), lambda x, n: np.full((64, 48), n > 1)),
    "scale": (lambda x, n: nisa.activation(np.exp, x, scale=n), lambda x, n: np.exp(x * n)),
    "bias": (lambda x, n: nisa.activation(np.square, x, bias=n), lambda x, n: np.square(x + n)),
    "scalar": (lambda x, n: nisa.tensor_scalar(x, np.add, n), lambda x, n: x + n),
    "select": (
        lambda x, n: nisa.affine_select(nl.arange(64)[:, None] >= nl.arange(48)[None, :], x, n),
        lambda x, n: np.where(np.arange(64)[:, None] >= np.arange(48), x, n),
    ),
}


@pytest.mark.parametrize("name", AS_NUMBERS)
def test_a_loop_index_is_a_number(name):
    function, reference = AS_NUMBERS[name]
    tile = data(64, 48)

    @jit
    def kernel(x):
        out = nl.ndarray((3, 64, 48), dtype=nl.float32, buffer=nl.shared_hbm)
        for n in nl.affine_range(3):
            nl.store(out[n], function(nl.load(x), n))
        return out

    @jit
    def grid(x):
        out = nl.ndarray((3, 64, 48), dtype=nl.float32, buffer=nl.shared_hbm)
        nl.store(out[nl.program_id(0)], function(nl.load(x), nl.program_id(0)))
        return out

    expected = np.stack([reference(tile, n) for n in range(3)])
    np.testing.assert_allclose(both(kernel, tile), expected, rtol=1e-5)
    np.testing.assert_allclose(both(grid[3], tile), expected, rtol=1e-5)


def test_where_moves_integers_bit_by_bit():
    tile = np.array([[2**24 + 1, -(2**24) - 1, 2**31 - 1]], np.int32)
    kernel = mapped(lambda x: nl.where(nl.greater(x, 0), x, 0))
    np.testing.assert_array_equal(both(kernel, tile), np.where(tile > 0, tile, 0))

"""Iterations of an affine loop that write the same part of a tensor; both front ends say so, or neither."""

from pathlib import Path

import numpy as np
import pytest

from nki_mlir.frontend.errors import NKISyntaxError
from nki_mlir.nki_legacy import jit
from nki_mlir.nki_legacy import language as nl

X = np.ones((64, 8), np.float32)
MESSAGE = (
    "several iterations of an affine_range write the same part of out.1, use sequential_range "
    "[unexpected_output_dependencies]"
)


def whole(x, out):
    for i in nl.affine_range(4):
        nl.store(out, nl.load(x) * float(i))


def free_of_the_outer_loop(x, out):
    for i in nl.affine_range(3):
        for j in nl.affine_range(4):
            nl.store(out[16 * j : 16 * j + 16, :], nl.load(x[16 * j : 16 * j + 16, :]) * float(i))


def in_a_sequential_loop(x, out):
    for _ in nl.affine_range(3):
        for j in nl.sequential_range(4):
            nl.store(out[16 * j : 16 * j + 16, :], nl.load(x[16 * j : 16 * j + 16, :]))


def under_a_guard(x, out):
    for i in nl.affine_range(4):
        nl.store(out, nl.load(x), mask=i < 2)


def in_pieces(x, out):
    for i in nl.affine_range(5):
        if i % 2 == 0:
            nl.store(out, nl.load(x))


def every_other(x, out):
    for i in nl.affine_range(4):
        nl.store(out[32 * (i % 2) : 32 * (i % 2) + 32, :], nl.load(x[0:32, :]))


def with_carried_state(x, out):
    factor = 1.0
    for _ in nl.affine_range(6):
        nl.store(out, nl.load(x) * factor)
        factor *= 2


def behind_a_mask(x, out):
    ip, jf = nl.arange(64)[:, None], nl.arange(8)[None, :]
    for i in nl.affine_range(3):
        nl.store(out[ip, jf], nl.load(x[ip, jf]), mask=64 * i + ip < 150)


REFUSED = [
    whole,
    free_of_the_outer_loop,
    in_a_sequential_loop,
    under_a_guard,
    in_pieces,
    every_other,
    with_carried_state,
]


@pytest.mark.parametrize("frontend", ["beta2", "beta3"])
@pytest.mark.parametrize("body", [*REFUSED, behind_a_mask])
def test_the_same_part_is_written_again(body, frontend):
    @jit
    def kernel(x):
        out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
        body(x, out)
        return out

    with pytest.raises(NKISyntaxError) as caught:
        kernel.trace((X,), {}, frontend=frontend)
    assert str(caught.value) == MESSAGE
    first = body.__code__.co_firstlineno
    assert Path(caught.value.location.file).name == Path(__file__).name
    assert first < caught.value.location.line < first + 8


def rows(x, out):
    for i in nl.affine_range(4):
        nl.store(out[16 * i : 16 * i + 16, :], nl.load(x[16 * i : 16 * i + 16, :]))


def diagonal(x, out):
    for i in nl.affine_range(4):
        for j in nl.affine_range(4):
            nl.store(out[16 * i : 16 * i + 16, 2 * j : 2 * j + 2], nl.load(x[16 * i : 16 * i + 16, 2 * j : 2 * j + 2]))


def one_iteration(x, out):
    for _ in nl.affine_range(1):
        nl.store(out, nl.load(x))


def one_piece(x, out):
    rows(x, out)
    for i in nl.affine_range(4):
        if i == 2:
            nl.store(out, nl.load(x))


def one_by_the_mask(x, out):
    for i in nl.affine_range(4):
        nl.store(out, nl.load(x), mask=i < 1)


def sequential(x, out):
    for _ in nl.sequential_range(4):
        nl.store(out, nl.load(x))


def twice_in_an_iteration(x, out):
    for i in nl.affine_range(4):
        for _ in range(2):
            nl.store(out[16 * i : 16 * i + 16, :], nl.load(x[16 * i : 16 * i + 16, :]))


def accumulated(x, out):
    nl.store(out, nl.load(x))
    for _ in nl.affine_range(4):
        nl.store(out, nl.add(nl.load(out), nl.load(x)))


def scratch(x, out):
    tile = nl.ndarray((16, 8), nl.float32)
    for i in nl.affine_range(4):
        tile[...] = nl.load(x[16 * i : 16 * i + 16, :])
        nl.store(out[16 * i : 16 * i + 16, :], tile)


def own_tensor(x, out):
    for i in nl.affine_range(4):
        own = nl.ndarray((16, 8), nl.float32, buffer=nl.hbm)
        nl.store(own, nl.load(x[16 * i : 16 * i + 16, :]))
        nl.store(out[16 * i : 16 * i + 16, :], nl.load(own))


LEGAL = [rows, diagonal, one_iteration, one_piece, one_by_the_mask, sequential, twice_in_an_iteration]


@pytest.mark.parametrize("frontend", ["beta2", "beta3"])
@pytest.mark.parametrize("body", [*LEGAL, accumulated, scratch, own_tensor])
def test_what_is_legal(body, frontend):
    @jit
    def kernel(x):
        out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
        body(x, out)
        return out

    result = kernel.simulate((X,), frontend=frontend)
    np.testing.assert_array_equal(result, 5 * X if body is accumulated else X)

"""Ragged tiles as kernels have them: masks on loads and stores, or on loop indices alone, and none in between."""

import random

import numpy as np
import pytest

import nki_mlir.nki_legacy as nki
import nki_mlir.nki_legacy.language as nl
from nki_mlir.diagnostics import NkiError

DATA = np.random.default_rng(7).standard_normal((256, 64)).astype(np.float32)


def both(monkeypatch: pytest.MonkeyPatch, kernel, *arguments):
    """Returns what a kernel computes, the same through both front ends, its loops checked against their iterations."""
    found = []
    monkeypatch.setenv("NKI_CHECK_TRACE", "1")
    for frontend in ("beta2", "beta3"):
        monkeypatch.setenv("NKI_FRONTEND", frontend)
        found.append(nki.simulate_kernel(kernel, *arguments))
    assert np.array_equal(*found)
    return found[0]


@nki.jit
def rmsnorm(x, w):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    rows, columns = x.shape
    ix, iy = nl.arange(128)[:, None], nl.arange(columns)[None, :]
    weights = nl.load(w[nl.arange(1)[:, None], iy])
    for i in nl.affine_range((rows + 127) // 128):
        a = nl.load(x[i * 128 + ix, iy], mask=(i * 128 + ix < rows))
        mean = nl.sum(nl.square(a), axis=[1]) / columns
        normal = nl.multiply(a, nl.rsqrt(mean))
        scaled = nl.multiply(normal, weights.broadcast_to((128, columns)))
        nl.store(out[i * 128 + ix, iy], value=scaled, mask=(i * 128 + ix < rows))
    return out


@pytest.mark.parametrize("rows", [100, 128, 200, 256])
def test_rows_that_fill_no_tile(monkeypatch: pytest.MonkeyPatch, rows: int):
    x, w = DATA[:rows], DATA[:1] + 3
    expected = x / np.sqrt((x * x).mean(axis=1, keepdims=True)) * w
    np.testing.assert_allclose(both(monkeypatch, rmsnorm, x, w), expected, rtol=1e-5, atol=1e-6)


@nki.jit
def columns(x):
    """The ragged edge is in the free dimension."""
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    rows, width = x.shape
    ix, iy = nl.arange(rows)[:, None], nl.arange(48)[None, :]
    for i in nl.affine_range((width + 47) // 48):
        a = nl.load(x[ix, i * 48 + iy], mask=(i * 48 + iy < width))
        nl.store(out[ix, i * 48 + iy], value=nl.exp(a + a), mask=(i * 48 + iy < width))
    return out


def test_columns_that_fill_no_tile(monkeypatch: pytest.MonkeyPatch):
    np.testing.assert_allclose(both(monkeypatch, columns, DATA[:96]), np.exp(2 * DATA[:96]), rtol=1e-5)


@nki.jit
def matmul(a, b):
    """The product of a ragged tile is computed whole: the rows beyond are never stored."""
    out = nl.ndarray((a.shape[1], b.shape[1]), dtype=a.dtype, buffer=nl.shared_hbm)
    k, m = a.shape
    ik, im, jn = nl.arange(k)[:, None], nl.arange(64)[None, :], nl.arange(b.shape[1])[None, :]
    right = nl.load(b[ik, jn])
    for i in nl.affine_range((m + 63) // 64):
        left = nl.load(a[ik, i * 64 + im], mask=(i * 64 + im < m))
        product = nl.copy(nl.matmul(left, right, transpose_x=True))
        rows = nl.arange(64)[:, None]
        nl.store(out[i * 64 + rows, jn], value=product, mask=(i * 64 + rows < m))
    return out


def test_products_of_ragged_tiles(monkeypatch: pytest.MonkeyPatch):
    a, b = np.ascontiguousarray(DATA[:100].T), DATA[100:164]
    np.testing.assert_allclose(both(monkeypatch, matmul, a, b), a.T @ b, rtol=1e-4, atol=1e-4)


@nki.jit
def guarded(x):
    """The mask is on the loop alone, so what runs stays inside of the tensor."""
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    ip, jf = nl.arange(64)[:, None], nl.arange(64)[None, :]
    for i in nl.affine_range(5):
        t = nl.load(x[i * 64 + ip, jf], mask=(i < 4))
        nl.store(out[i * 64 + ip, jf], t, mask=(i < 4))
    return out


def test_a_mask_on_the_loop_alone(monkeypatch: pytest.MonkeyPatch):
    assert np.array_equal(both(monkeypatch, guarded, DATA), DATA)


@nki.jit
def unmasked_store(x):
    out = nl.ndarray((128, 64), dtype=x.dtype, buffer=nl.shared_hbm)
    ix, iy = nl.arange(128)[:, None], nl.arange(64)[None, :]
    t = nl.load(x[ix, iy], mask=(ix < 100))
    nl.store(out[ix, iy], value=nl.exp(t))
    return out


@pytest.mark.parametrize("frontend", ["beta2", "beta3"])
def test_undefined_rows_must_not_be_stored(monkeypatch: pytest.MonkeyPatch, frontend: str):
    monkeypatch.setenv("NKI_FRONTEND", frontend)
    message = (
        "data reads 1792 of 8192 elements of 't.1' that were never written, the first is element 0 of partition 100"
    )
    with pytest.raises(Exception, match=message):
        nki.simulate_kernel(unmasked_store, DATA[:100])


def moving(step, inner_step, rows, mask_step, inner_mask_step, limit, runs):
    """A kernel whose tile starts where two loops move it, with as many rows as a mask over them leaves."""

    def kernel(x):
        out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
        tile = nl.zeros((nl.par_dim(128), 8), dtype=x.dtype, buffer=nl.sbuf)
        ip, iy = nl.arange(rows)[:, None], nl.arange(8)[None, :]
        for i in nl.affine_range(3):
            for j in nl.affine_range(2):
                mask = ip + mask_step * i + inner_mask_step * j < limit
                if runs:
                    mask = mask & (i + j < runs)
                tile[step * i + inner_step * j + ip, iy] = nl.copy(nl.load(x[ip, iy]), mask=mask)
        nl.store(out, tile)
        return out

    return nki.jit(kernel)


@pytest.mark.parametrize("seed", range(6))
def test_both_front_ends_allow_the_same_masked_starts(monkeypatch: pytest.MonkeyPatch, seed: int):
    choose = random.Random(seed).choice
    outcomes = []
    for _ in range(10):
        kernel = moving(
            choose([0, 16, 32, 64]),
            choose([0, 8, 32, 64]),
            choose([8, 32, 40, 64, 128]),
            choose([0, 16, 32, 64]),
            choose([0, 8, 16, 64]),
            choose([8, 20, 32, 64, 100, 128]),
            choose([0, 0, 1, 2]),
        )
        found = []
        for frontend in ("beta2", "beta3"):
            monkeypatch.setenv("NKI_FRONTEND", frontend)
            try:
                found.append(nki.simulate_kernel(kernel, DATA[:128, :8]).tobytes())
            except NkiError as error:
                found.append(type(error))
        assert found[0] == found[1]
        outcomes.append(isinstance(found[0], bytes))
    assert len(set(outcomes)) == 2

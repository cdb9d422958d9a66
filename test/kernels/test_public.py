"""Published kernels, unmodified, against numpy: both front ends, bit for bit the same.

`NKI_SAMPLES` is the path of a git clone of the public repository of NKI samples (`make public SAMPLES=PATH` sets it);
the commits below are read from its history. Instead, it may be a folder that holds the tree of each commit in a folder
of that name. Without it the tests are skipped.
"""

import importlib.util
import io
import os
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from zipfile import ZipFile

import ml_dtypes
import numpy as np
import pytest

from nki_mlir import compat

CURRENT, LEGACY = "6905a68", "b2be1a5"
TUTORIALS = "src/nki_samples/tutorials"
SAMPLES = os.environ.get("NKI_SAMPLES", "")
MATMUL = f"{TUTORIALS}/matrix_multiplication/matrix_multiplication_nki_kernels.py"
ADDITION = f"{TUTORIALS}/tensor_addition/spmd_tensor_addition_nki_kernels.py"
TRANSPOSE = f"{TUTORIALS}/transpose2d/transpose2d_nki_kernels.py"
POOLING = f"{TUTORIALS}/average_pool2d/average_pool2d_nki_kernels.py"

pytestmark = pytest.mark.skipif(not SAMPLES, reason="NKI_SAMPLES names no clone of the public samples")


@pytest.fixture(autouse=True)
def _vendor_names():
    compat.install()
    yield
    compat.uninstall()


@cache
def checkout(commit):
    """Returns a folder with the tree of a commit of the clone."""
    folder = Path(SAMPLES) / commit
    if folder.is_dir():
        return folder
    tree = subprocess.run(
        ["git", "-C", SAMPLES, "archive", "--format=zip", commit, "src"], capture_output=True, check=False
    )
    assert tree.returncode == 0, f"{SAMPLES} has no commit {commit}: {tree.stderr.decode()}"
    copy = Path(tempfile.mkdtemp(prefix=f"samples-{commit}-"))
    with ZipFile(io.BytesIO(tree.stdout)) as files:
        files.extractall(copy)
    return copy


def load(commit, path):
    """Returns the module of a file of a commit."""
    file = checkout(commit) / path
    spec = importlib.util.spec_from_file_location(f"public_{commit}_{file.stem}", file)
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(file.parent))
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(file.parent))
    return module


def both(kernel, *args):
    """Returns the result of a kernel, the same bits through both front ends; the rolled trace is compared as well."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NKI_CHECK_TRACE", "1")
        first, second = (kernel.simulate(args, frontend=frontend) for frontend in ("beta2", "beta3"))
    assert first.dtype == second.dtype
    assert first.tobytes() == second.tobytes()
    return first


def matrices(dtype, k, m, n):
    rng = np.random.default_rng(7)
    lhs, rhs = (rng.standard_normal(shape, dtype=np.float32) for shape in ((k, m), (k, n)))
    return lhs.astype(dtype), rhs.astype(dtype)


def check_product(result, lhs, rhs):
    """fp32 within 1e-4 of the exact product, narrow types within one unit in the last place of its rounding."""
    exact = lhs.astype(np.float64).T @ rhs.astype(np.float64)
    size = np.abs(lhs).astype(np.float64).T @ np.abs(rhs).astype(np.float64)
    dtype = result.dtype
    if dtype == np.float32:
        assert (np.abs(result - exact) <= 1e-4 * np.maximum(np.abs(exact), 1e-2 * size)).all()
        return
    unit = float(ml_dtypes.finfo(dtype).eps)
    rounded = exact.astype(dtype).astype(np.float64)
    assert (np.abs(result.astype(np.float64) - rounded) <= unit * np.abs(exact) + 1e-5 * size).all()


TYPES = {"fp32": np.float32, "bf16": ml_dtypes.bfloat16, "fp16": np.float16}


@pytest.mark.parametrize("commit", [CURRENT, LEGACY])
@pytest.mark.parametrize("dtype", TYPES)
def test_matmul_basic(commit, dtype):
    lhs, rhs = matrices(TYPES[dtype], 128, 64, 512)
    check_product(both(load(commit, MATMUL).nki_matmul_basic_, lhs, rhs), lhs, rhs)


@pytest.mark.parametrize("commit", [CURRENT, LEGACY])
@pytest.mark.parametrize("name", ["tiled", "hoist_load", "block_free_dimension"])
@pytest.mark.parametrize("dtype", TYPES)
def test_matmul_tiled(commit, name, dtype):
    kernel = getattr(load(commit, MATMUL), f"nki_matmul_{name}_")
    lhs, rhs = matrices(TYPES[dtype], 256, 256, 1024)
    check_product(both(kernel, lhs, rhs), lhs, rhs)


@pytest.mark.parametrize("commit", [CURRENT, LEGACY])
@pytest.mark.parametrize("dtype", TYPES)
def test_matmul_fully_optimized(commit, dtype):
    kernel = load(commit, MATMUL).nki_matmul_fully_optimized_
    lhs, rhs = matrices(TYPES[dtype], 512, 512, 1024)
    result = both(kernel, lhs, rhs, 2, 1, 2)
    if dtype == "fp32":
        check_product(result, lhs, rhs)
        return
    # The kernel adds the products of two blocks of K in the type of its inputs: two roundings, each of which may go the
    # other way where the order of the additions within a product decides.
    halves = [lhs[k].astype(np.float32).T @ rhs[k].astype(np.float32) for k in (slice(0, 256), slice(256, 512))]
    first = halves[0].astype(result.dtype).astype(np.float32)
    expected = (first + halves[1]).astype(result.dtype).astype(np.float32)
    unit = float(ml_dtypes.finfo(result.dtype).eps)
    assert (np.abs(result.astype(np.float32) - expected) <= unit * (np.abs(first) + np.abs(expected)) + 1e-5).all()
    assert (result.astype(np.float32) == expected).mean() > 0.99


@pytest.mark.parametrize("dtype", TYPES)
def test_addition_over_a_grid(dtype):
    kernel = load(CURRENT, ADDITION).nki_tensor_add_kernel_
    rng = np.random.default_rng(8)
    a, b = (rng.random((256, 1024), dtype=np.float32).astype(TYPES[dtype]) for _ in range(2))
    result = both(kernel[2, 2], a, b)
    expected = (a.astype(np.float32) + b.astype(np.float32)).astype(a.dtype)
    assert result.tobytes() == expected.tobytes()


@pytest.mark.parametrize("dtype", [np.int8, np.float32, ml_dtypes.bfloat16])
def test_transpose_of_the_free_dimensions(dtype):
    kernel = load(CURRENT, TRANSPOSE).tensor_transpose2D_kernel_
    a = np.arange(5 * 12).astype(dtype).reshape(5, 12)
    result = both(kernel, a, (3, 4))
    assert (result == a.reshape(5, 3, 4).transpose(0, 2, 1).reshape(5, 12)).all()


@pytest.mark.parametrize("dtype", TYPES)
def test_average_pool(dtype):
    module = load(CURRENT, POOLING)
    a = np.random.default_rng(9).standard_normal((64, 12, 8), dtype=np.float32).astype(TYPES[dtype])
    result = both(module.tensor_avgpool_kernel, a, 2)
    assert result.dtype == a.dtype
    windows = a.astype(np.float32).reshape(64, 6, 2, 4, 2)
    if dtype == "fp32":
        np.testing.assert_allclose(result, windows.mean(axis=(2, 4)), rtol=1e-5, atol=1e-7)
        return
    # The sum is rounded to the type of the input before it is divided, which for four elements is exact.
    total = windows.sum(axis=(2, 4)).astype(result.dtype).astype(np.float32)
    unit = float(ml_dtypes.finfo(result.dtype).eps)
    assert (np.abs(result.astype(np.float32) - total / 4) <= unit * np.abs(total / 4)).all()
    np.testing.assert_allclose(result.astype(np.float32), windows.mean(axis=(2, 4)), rtol=2e-2, atol=1e-6)

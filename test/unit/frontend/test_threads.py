"""Kernels may be traced and simulated by several threads at once: what a process remembers serves all of them."""

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from nki_mlir import nki
from nki_mlir.nki import isa as nisa
from nki_mlir.nki import language as nl
from nki_mlir.simulator.threads import one_blas_thread

THREADS = 8


@pytest.fixture(autouse=True)
def switching() -> Iterator[None]:
    """Lets Python change threads as often as it can."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


def result(seed: int, frontend: str) -> Any:
    """What a kernel gives that is new to the process: its sizes and numbers are those of the seed."""
    rng = np.random.default_rng(seed)
    sizes = [int(size) for size in rng.integers(1, 60, 12)]
    x = rng.standard_normal((64, 128)).astype(np.float32)

    @nki.jit
    def kernel(a: Any) -> Any:
        out = nl.ndarray((64, 128), nl.float32, buffer=nl.shared_hbm)
        t = nl.ndarray((64, 128 + seed), nl.float32)
        nisa.dma_copy(t[0:64, seed : seed + 128], a)
        for size in sizes:
            part = t[0:64, seed + size : seed + 2 * size]
            nisa.tensor_scalar(part, part, "multiply", 1.0 + seed)
        nisa.dma_copy(out, t[0:64, seed : seed + 128])
        return out

    expected = x.copy()
    for size in sizes:
        expected[:, size : 2 * size] *= np.float32(1.0 + seed)
    return kernel.simulate((x,), frontend=frontend).tobytes() == expected.tobytes()


def blas_threads() -> list[int]:
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]


def test_the_threads_of_matrix_products_are_as_before_when_the_last_program_has_ended() -> None:
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        first, second = one_blas_thread(), one_blas_thread()
        first.__enter__()
        second.__enter__()
        first.__exit__(None, None, None)
        assert set(blas_threads()) == {1}
        second.__exit__(None, None, None)
        assert blas_threads() == before


@pytest.mark.parametrize("frontend", ["beta2", "beta3"])
def test_threads(frontend: str) -> None:
    first = 100 if frontend == "beta2" else 200
    with ThreadPoolExecutor(THREADS) as pool:
        # Two threads at a time run the same kernel, which neither the process nor the other thread has seen.
        found = list(pool.map(lambda k: result(first + k // 2, frontend), range(4 * THREADS)))
    assert all(found)

"""Element-wise addition, current API: tiles of 128 rows go through SBUF one after another."""

import nki
import nki.isa as nisa
import nki.language as nl
import numpy as np


@nki.jit
def add(a, b):
    """Returns a + b for two [rows, columns] tensors of any number of rows."""
    rows, columns = a.shape
    c = nl.ndarray(a.shape, a.dtype, buffer=nl.shared_hbm)
    for start in range(0, rows, nl.tile_size.pmax):
        stop = min(start + nl.tile_size.pmax, rows)
        left = nl.ndarray((stop - start, columns), a.dtype)
        right = nl.ndarray((stop - start, columns), b.dtype)
        nisa.dma_copy(left, a[start:stop, :])
        nisa.dma_copy(right, b[start:stop, :])
        nisa.tensor_tensor(left, left, right, op=nl.add)
        nisa.dma_copy(c[start:stop, :], left)
    return c


def inputs(rng, dtype=np.float32):
    return tuple(rng.standard_normal((300, 512), dtype=np.float32).astype(dtype) for _ in range(2))


def reference(a, b):
    return a.astype(np.float64) + b.astype(np.float64)


KERNEL = add
TOLERANCE = 1e-6

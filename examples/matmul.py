"""Tiled matmul, current API: sums over K stay in PSUM; the last tiles of K, M and N may be smaller than the others."""

import nki
import nki.isa as nisa
import nki.language as nl
import numpy as np


def spans(size, tile):
    """Yields (start, stop) of the tiles that cover `size`."""
    for start in range(0, size, tile):
        yield start, min(start + tile, size)


@nki.jit
def matmul(lhs_t, rhs):
    """Returns transpose(lhs_t) @ rhs for lhs_t [K, M] and rhs [K, N]."""
    k_size, m_size = lhs_t.shape
    _, n_size = rhs.shape
    out = nl.ndarray((m_size, n_size), nl.float32, buffer=nl.shared_hbm)
    for m0, m1 in spans(m_size, nl.tile_size.gemm_stationary_fmax):
        for n0, n1 in spans(n_size, nl.tile_size.gemm_moving_fmax):
            total = nl.ndarray((m1 - m0, n1 - n0), nl.float32, buffer=nl.psum)
            for k0, k1 in spans(k_size, nl.tile_size.pmax):
                stationary = nl.ndarray((k1 - k0, m1 - m0), lhs_t.dtype)
                moving = nl.ndarray((k1 - k0, n1 - n0), rhs.dtype)
                nisa.dma_copy(stationary, lhs_t[k0:k1, m0:m1])
                nisa.dma_copy(moving, rhs[k0:k1, n0:n1])
                nisa.nc_matmul(total, stationary, moving)
            result = nl.ndarray((m1 - m0, n1 - n0), nl.float32)
            nisa.tensor_copy(result, total)
            nisa.dma_copy(out[m0:m1, n0:n1], result)
    return out


def inputs(rng, dtype=np.float32):
    shapes = (320, 200), (320, 640)
    return tuple(rng.standard_normal(shape, dtype=np.float32).astype(dtype) for shape in shapes)


def reference(lhs_t, rhs):
    return lhs_t.T.astype(np.float64) @ rhs.astype(np.float64)


KERNEL = matmul
TOLERANCE = 1e-4

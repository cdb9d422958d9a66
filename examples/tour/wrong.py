"""A kernel that breaks a rule of the hardware, for the tour in the README."""

import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def wrong(a, b):
    out = nl.ndarray((128, 64), nl.float32, buffer=nl.shared_hbm)
    left, right = nl.ndarray((128, 256), a.dtype), nl.ndarray((128, 64), b.dtype)
    nisa.dma_copy(left, a)
    nisa.dma_copy(right, b)
    total = nl.ndarray((128, 64), nl.float32, buffer=nl.psum)
    nisa.nc_matmul(total, stationary=left, moving=right)
    return out

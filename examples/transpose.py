"""2-D transpose, legacy API: rolled loops over 128 x 128 blocks, each turned on the Tensor engine."""

import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl
import numpy as np


@nki.jit
def transpose(x):
    """Returns the transpose of x [rows, columns], both multiples of 128."""
    rows, columns = x.shape
    size = nl.tile_size.pmax
    out = nl.ndarray((columns, rows), dtype=x.dtype, buffer=nl.shared_hbm)
    for i in nl.affine_range(rows // size):
        for j in nl.affine_range(columns // size):
            block = nl.load(x[i * size : (i + 1) * size, j * size : (j + 1) * size])
            turned = nl.copy(nisa.nc_transpose(block))
            nl.store(out[j * size : (j + 1) * size, i * size : (i + 1) * size], turned)
    return out


def inputs(rng, dtype=np.float32):
    return (rng.standard_normal((256, 384), dtype=np.float32).astype(dtype),)


def reference(x):
    return x.T


KERNEL = transpose
TOLERANCE = 0.0

"""RMS normalization, legacy API: one rolled loop over tiles of rows."""

import neuronxcc.nki as nki
import neuronxcc.nki.language as nl
import numpy as np

EPSILON = 1e-6


@nki.jit
def rmsnorm(x, gamma):
    """Returns x / sqrt(mean(x * x) + epsilon) * gamma over the rows of x [rows, columns]; gamma is [1, columns]."""
    rows, columns = x.shape
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    weight = nl.load(gamma.broadcast_to((nl.tile_size.pmax, columns)), dtype=nl.float32)
    for tile in nl.affine_range(rows // nl.tile_size.pmax):
        data = nl.load(x[tile * nl.tile_size.pmax : (tile + 1) * nl.tile_size.pmax, :], dtype=nl.float32)
        square = nl.sum(nl.square(data), axis=1, keepdims=True)
        mean = nl.add(nl.multiply(square, 1.0 / columns), EPSILON)
        result = nl.multiply(nl.multiply(data, nl.rsqrt(mean)), weight)
        nl.store(out[tile * nl.tile_size.pmax : (tile + 1) * nl.tile_size.pmax, :], result)
    return out


def inputs(rng, dtype=np.float32):
    return tuple(rng.standard_normal(shape, dtype=np.float32).astype(dtype) for shape in ((512, 256), (1, 256)))


def reference(x, gamma):
    wide = x.astype(np.float64)
    return wide / np.sqrt((wide * wide).mean(axis=1, keepdims=True) + EPSILON) * gamma.astype(np.float64)


KERNEL = rmsnorm
TOLERANCE = 1e-5

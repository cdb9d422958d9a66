"""Average pooling, legacy API: a rolled loop over channels; an index grid of five axes makes the windows one access."""

import neuronxcc.nki as nki
import neuronxcc.nki.language as nl
import numpy as np

POOL = 2


@nki.jit
def average_pool(x):
    """Returns the means of the POOL x POOL windows of x [channels, height, width]; channels a multiple of 128."""
    channels, height, width = x.shape
    size = nl.tile_size.pmax
    out = nl.ndarray((channels, height // POOL, width // POOL), dtype=x.dtype, buffer=nl.shared_hbm)
    for tile in nl.affine_range(channels // size):
        image = nl.load(x[tile * size : (tile + 1) * size, :, :], dtype=nl.float32)
        part, up, across, down, right = nl.mgrid[0:size, 0 : height // POOL, 0 : width // POOL, 0:POOL, 0:POOL]
        windows = image[part, POOL * up + down, POOL * across + right]
        means = nl.multiply(nl.sum(windows, axis=[3, 4]), 1.0 / (POOL * POOL))
        nl.store(out[tile * size : (tile + 1) * size, :, :], means)
    return out


def inputs(rng, dtype=np.float32):
    return (rng.standard_normal((256, 12, 16), dtype=np.float32).astype(dtype),)


def reference(x):
    channels, height, width = x.shape
    windows = x.astype(np.float64).reshape(channels, height // POOL, POOL, width // POOL, POOL)
    return windows.mean(axis=(2, 4))


KERNEL = average_pool
TOLERANCE = 1e-6

"""Layer normalization, legacy API: rows in rolled tiles, the last of them cut by a mask."""

import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl
import numpy as np

EPSILON = 1e-5


@nki.jit
def layernorm(x, gamma, beta):
    """Returns (x - mean) / sqrt(variance + epsilon) * gamma + beta over the rows of x [rows, columns].

    gamma and beta are [1, columns]; a row has at most 512 columns.
    """
    rows, columns = x.shape
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    partition = nl.arange(nl.tile_size.pmax)[:, None]
    column = nl.arange(columns)[None, :]
    weight = nl.load(gamma.broadcast_to((nl.tile_size.pmax, columns)), dtype=nl.float32)
    shift = nl.load(beta.broadcast_to((nl.tile_size.pmax, columns)), dtype=nl.float32)
    for tile in nl.affine_range((rows + nl.tile_size.pmax - 1) // nl.tile_size.pmax):
        row = tile * nl.tile_size.pmax + partition
        data = nl.load(x[row, column], mask=(row < rows), dtype=nl.float32)
        statistics = nisa.bn_aggr(nisa.bn_stats(data, mask=(row < rows)), mask=(row < rows))
        mean, variance = statistics[:, 0:1], statistics[:, 1:2]
        inverse = nl.rsqrt(nl.add(variance, EPSILON, mask=(row < rows)), mask=(row < rows))
        normal = nisa.tensor_scalar(
            data, op0=np.subtract, operand0=mean, op1=np.multiply, operand1=inverse, mask=(row < rows)
        )
        scaled = nl.multiply(normal, weight, mask=(row < rows))
        nl.store(out[row, column], nl.add(scaled, shift, mask=(row < rows)), mask=(row < rows))
    return out


def inputs(rng, dtype=np.float32):
    shapes = (300, 384), (1, 384), (1, 384)
    return tuple(rng.standard_normal(shape, dtype=np.float32).astype(dtype) for shape in shapes)


def reference(x, gamma, beta):
    wide = x.astype(np.float64)
    normal = (wide - wide.mean(axis=1, keepdims=True)) / np.sqrt(wide.var(axis=1, keepdims=True) + EPSILON)
    return normal * gamma.astype(np.float64) + beta.astype(np.float64)


KERNEL = layernorm
TOLERANCE = 1e-5

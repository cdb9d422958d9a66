"""A small attention forward pass, current API: softmax(q @ transpose(k) / sqrt(d)) @ v for one head."""

import math

import nki
import nki.isa as nisa
import nki.language as nl
import numpy as np


@nki.jit
def attention(q_t, k_t, v):
    """Returns softmax(q @ transpose(k) / sqrt(d)) @ v.

    q_t and k_t are [d, sequence], v is [sequence, d], with d and the tiles of the sequence at most 128.
    """
    d, queries = q_t.shape
    _, keys = k_t.shape
    tile = nl.tile_size.pmax
    out = nl.ndarray((queries, d), nl.float32, buffer=nl.shared_hbm)

    k_sbuf = nl.ndarray((d, keys), k_t.dtype)
    nisa.dma_copy(k_sbuf, k_t)
    v_tiles = []
    for start in range(0, keys, tile):
        # fp32, as the weights are that it meets in a matmul; the DMA casts.
        v_tile = nl.ndarray((min(tile, keys - start), d), nl.float32)
        nisa.dma_copy(v_tile, v[start : start + v_tile.shape[0], :])
        v_tiles.append(v_tile)

    for start in range(0, queries, tile):
        size = min(tile, queries - start)
        q_sbuf = nl.ndarray((d, size), q_t.dtype)
        nisa.dma_copy(q_sbuf, q_t[:, start : start + size])

        scores = nl.ndarray((size, keys), nl.float32, buffer=nl.psum)
        nisa.nc_matmul(scores, stationary=q_sbuf, moving=k_sbuf)

        # The scale is positive, so that the greatest scaled score is the scaled greatest score.
        scale = 1.0 / math.sqrt(d)
        negative_max = nl.ndarray((size, 1), nl.float32)
        nisa.tensor_reduce(negative_max, op=nl.maximum, data=scores, axis=1, negate=True)
        nisa.tensor_scalar(negative_max, data=negative_max, op0=nl.multiply, operand0=scale)
        weights = nl.ndarray((size, keys), nl.float32)
        total = nl.ndarray((size, 1), nl.float32)
        nisa.activation_reduce(
            weights, op=nl.exp, data=scores, bias=negative_max, scale=scale, reduce_op=nl.add, reduce_res=total
        )

        mixed = nl.ndarray((size, d), nl.float32, buffer=nl.psum)
        for number, v_tile in enumerate(v_tiles):
            length = v_tile.shape[0]
            turned = nl.ndarray((length, size), nl.float32, buffer=nl.psum)
            nisa.nc_transpose(turned, weights[:, number * tile : number * tile + length])
            turned_sbuf = nl.ndarray((length, size), nl.float32)
            nisa.tensor_copy(turned_sbuf, turned)
            nisa.nc_matmul(mixed, stationary=turned_sbuf, moving=v_tile)

        nisa.reciprocal(total, total)
        result = nl.ndarray((size, d), nl.float32)
        nisa.tensor_scalar(result, data=mixed, op0=nl.multiply, operand0=total)
        nisa.dma_copy(out[start : start + size, :], result)
    return out


def inputs(rng, dtype=np.float32):
    shapes = (64, 256), (64, 256), (256, 64)
    return tuple(rng.standard_normal(shape, dtype=np.float32).astype(dtype) for shape in shapes)


def reference(q_t, k_t, v):
    q_t, k_t, v = (array.astype(np.float64) for array in (q_t, k_t, v))
    scores = q_t.T @ k_t / math.sqrt(q_t.shape[0])
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True) @ v


KERNEL = attention
TOLERANCE = 1e-4

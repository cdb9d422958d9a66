"""Kernels for the lit tests of this folder."""

import neuronxcc.nki as nki
import neuronxcc.nki.language as nl


@nki.jit
def rolled(x):
    """Nested loops, a condition that splits one of them, and a loop that Python state unrolls."""
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for i in nl.affine_range(4):
        for j in nl.sequential_range(2):
            tile = nl.load(x[i * 32 : (i + 1) * 32, j * 64 : (j + 1) * 64])
            if i < 3:
                tile = nl.multiply(tile, 2.0)
            nl.store(out[i * 32 : (i + 1) * 32, j * 64 : (j + 1) * 64], tile)
    return out


@nki.jit
def ragged(x):
    """A last tile that a mask cuts."""
    rows = x.shape[0]
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    part, column = nl.arange(32)[:, None], nl.arange(x.shape[1])[None, :]
    for i in nl.affine_range((rows + 31) // 32):
        row = i * 32 + part
        tile = nl.load(x[row, column], mask=(row < rows))
        nl.store(out[row, column], nl.exp(tile, mask=(row < rows)), mask=(row < rows))
    return out


@nki.jit
def grid(x):
    """One program for each tile of rows."""
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    i = nl.program_id(0)
    nl.store(out[i * 32 : (i + 1) * 32, :], nl.load(x[i * 32 : (i + 1) * 32, :]))
    return out


@nki.jit
def carried(x):
    """Python state that an iteration hands to the next one keeps the loop from being rolled."""
    out = nl.ndarray((32, 64), dtype=x.dtype, buffer=nl.shared_hbm)
    total = nl.load(x[0:32, :])
    start = 32
    for _ in nl.sequential_range(3):
        total += nl.load(x[start : start + 32, :])
        start += 32
    nl.store(out, total)
    return out

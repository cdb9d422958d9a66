"""Random programs of assignments in loops: folding copies away changes no number.

A program is a list of statements over a few tiles. It runs as a kernel through both front ends, and on numpy arrays by
an interpreter of its own.
"""

import random

import numpy as np
import pytest
from legacy_kernels import both, data

from nki_mlir.nki_legacy import jit
from nki_mlir.nki_legacy import language as nl

TILES, ROWS, COLUMNS = 3, 32, 8
PROGRAMS = 60


def generate(rng, depth=0, count=5):
    """Returns statements: loops, conditions on their index, and assignments to a part of a tile."""
    statements = []
    for _ in range(rng.randint(2, count)):
        kind = rng.random()
        if kind < 0.2 and depth < 2:
            statements.append(
                ("loop", rng.choice(["affine", "sequential"]), rng.randint(1, 4), generate(rng, depth + 1, 3))
            )
        elif kind < 0.3 and depth:
            statements.append(("if", rng.randint(0, 2), generate(rng, depth, 2)))
        else:
            start = rng.randint(0, 4)
            parts = tuple(rng.choice([start, rng.randint(0, 4)]) for _ in range(3))
            operands = tuple(rng.randrange(TILES) for _ in range(3))
            form = rng.choice(["assign", "assign", "name", "twice", "add", "number", "masked", "self"])
            statements.append((form, operands, parts))
    return statements


def part(tile, start):
    return tile[:, start : start + 4]


def run_kernel(statements, tiles, index=0):
    mask_rows = nl.arange(ROWS)[:, None]
    for form, *rest in statements:
        if form == "loop":
            kind, count, body = rest
            loop = nl.affine_range if kind == "affine" else nl.sequential_range
            for i in loop(count):
                run_kernel(body, tiles, i)
            continue
        if form == "if":
            if index >= rest[0]:
                run_kernel(rest[1], tiles, index)
            continue
        (a, b, c), (p, q, r) = rest
        x, y = part(tiles[b], q), part(tiles[c], r)
        target = tiles[a]
        if form == "assign":
            target[:, p : p + 4] = nl.add(x, y)
        elif form == "name":
            held = nl.multiply(x, 0.5)
            target[:, p : p + 4] = held
        elif form == "twice":
            held = nl.subtract(x, y)
            target[:, p : p + 4] = held
            part(tiles[b], q)[...] = nl.multiply(held, 0.25)
        elif form == "add":
            target[:, p : p + 4] += x
        elif form == "number":
            target[:, p : p + 4] = 0.125 * a
        elif form == "masked":
            target[:, p : p + 4] = nl.add(x, 1.0, mask=(mask_rows < 20 - 5 * index))
        else:
            target[:, p : p + 4] = x


def run_numpy(statements, tiles, index=0):
    for form, *rest in statements:
        if form == "loop":
            for i in range(rest[1]):
                run_numpy(rest[2], tiles, i)
            continue
        if form == "if":
            if index >= rest[0]:
                run_numpy(rest[1], tiles, index)
            continue
        (a, b, c), (p, q, r) = rest
        x, y = part(tiles[b], q).copy(), part(tiles[c], r).copy()
        target = part(tiles[a], p)
        if form == "assign":
            target[...] = x + y
        elif form == "name":
            target[...] = x * np.float32(0.5)
        elif form == "twice":
            target[...] = x - y
            part(tiles[b], q)[...] = (x - y) * np.float32(0.25)
        elif form == "add":
            target += x
        elif form == "number":
            target[...] = 0.125 * a
        elif form == "masked":
            rows = max(0, 20 - 5 * index)
            target[:rows] = x[:rows] + np.float32(1)
        else:
            target[...] = x


@pytest.mark.parametrize("seed", range(PROGRAMS))
def test_a_program_computes_what_numpy_does(seed):
    statements = generate(random.Random(seed))

    @jit
    def kernel(x):
        out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
        tiles = [nl.load(x[k * ROWS : (k + 1) * ROWS, :]) for k in range(TILES)]
        run_kernel(statements, tiles)
        for k in range(TILES):
            nl.store(out[k * ROWS : (k + 1) * ROWS, :], tiles[k])
        return out

    x = data(TILES * ROWS, COLUMNS, seed=seed)
    expected = x.copy()
    run_numpy(statements, [expected[k * ROWS : (k + 1) * ROWS] for k in range(TILES)])
    assert (both(kernel, x) == expected).all()

"""The numbers of every instruction, against formulas in pure Python, at every dtype and over any pattern."""

import itertools
import math
import operator
from functools import reduce
from typing import Any

import numpy as np
import pytest
from bir_programs import (
    FLOATS,
    INTEGERS,
    NUMBERS,
    Tile,
    Walk,
    at,
    f32,
    number,
    rounded,
    run_tiles,
    same,
    values,
    walks,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from nki_mlir.isa.dtypes import Dtype
from nki_mlir.isa.enums import ActivationFunction, AluOp
from nki_mlir.isa.instructions import INSTRUCTIONS, Instruction, registers

some = settings(max_examples=4, deadline=None)
seeds = st.integers(0, 2**16)
counts = st.sampled_from([1, 4, 6, 12])
partition_counts = st.sampled_from([1, 3, 8])


def test_no_instruction_is_forgotten() -> None:
    """Those on registers are in test_control_flow.py."""
    on_registers = {isa.name for isa in vars(registers).values() if isinstance(isa, Instruction)}
    tested = {name for name in _OPS if any(f"bir.{op}" in _SOURCE for op in _OPS[name])}
    assert tested == set(INSTRUCTIONS) - on_registers


_OPS = {
    "memset": ["memset"],
    "dma_load": ["load"],
    "dma_save": ["save"],
    "dma_copy": ["dma_copy"],
    "tensor_copy": ["tensor_copy"],
    "tensor_tensor": ["tensor_tensor"],
    "tensor_scalar": ["tensor_scalar_ptr"],
    "scalar_tensor_tensor": ["tensor_scalar_ptr"],
    "reciprocal": ["reciprocal"],
    "activation": ["activation"],
    "tensor_reduce": ["tensor_reduce"],
    "partition_reduce": ["tensor_reduce"],
    "bn_stats": ["bn_stats"],
    "bn_aggr": ["bn_stats_aggregate"],
    "iota": ["iota"],
    "affine_select": ["tensor_scalar_affine_select"],
    "select": ["select"],
    "copy_predicated": ["copy_predicated"],
    "matmul": ["matmult"],
    "transpose": ["stream_transpose"],
    "stream_transpose": ["stream_transpose"],
}
with open(__file__, encoding="utf-8") as _file:
    _SOURCE = _file.read()


def expect(tile: Tile, got: np.ndarray, walk: Walk, expected: dict[tuple[int, int], Any]) -> None:
    """Asserts that a tile holds `expected` by (partition, element of the walk), and elsewhere what it held before."""
    wanted = [[float(v) for v in row] for row in tile.values]
    for (partition, k), value in expected.items():
        wanted[partition][walk.columns[k]] = value
    same(got, [v for row in wanted for v in row], tile.dtype)


# Memory -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", NUMBERS)
@given(walk=walks(6), partitions=partition_counts, value=st.sampled_from([0, 1, 3]))
@some
def test_memset(dtype: Dtype, walk: Walk, partitions: int, value: int) -> None:
    tile = Tile(values(dtype, (partitions, walk.row), 1), dtype)
    immediate = f"{value} : {dtype}" if dtype.is_integer else f"{value}.1 : f32"
    got = run_tiles([f"bir.memset outs({at('t', walk, partitions, dtype)}) ins({immediate})"], {"t": tile})
    exact = value if dtype.is_integer else rounded(f32(value + 0.1), dtype)
    expect(tile, got["t"], walk, {(p, k): exact for p in range(partitions) for k in range(6)})


@pytest.mark.parametrize("target", NUMBERS)
@given(data=st.data(), source=st.sampled_from(NUMBERS), partitions=partition_counts, seed=seeds)
@some
def test_tensor_copy(target: Dtype, data: Any, source: Dtype, partitions: int, seed: int) -> None:
    out, in_ = data.draw(walks(12)), data.draw(walks(12, repeats=True))
    x = Tile(values(source, (partitions, in_.row), seed, 40.0), source)
    y = Tile(values(target, (partitions, out.row), seed + 1), target)
    line = f"bir.tensor_copy outs({at('y', out, partitions, target)}) ins({at('x', in_, partitions, source)})"
    got = run_tiles([line], {"x": x, "y": y})["y"]
    expected = {
        (p, k): x.values[p, c] if source is target else rounded(number(x.values[p, c]), target)
        for p in range(partitions)
        for k, c in enumerate(in_.columns)
    }
    expect(y, got, out, expected)


@pytest.mark.parametrize("packed", [Dtype.F8E4M3FN_X4, Dtype.F8E5M2_X4, Dtype.F4E2M1FN_X4])
def test_packed_types_are_copied_bit_by_bit(packed: Dtype) -> None:
    raw = np.arange(12, dtype=np.uint64).reshape(3, 4) * 0x11110F01 % 2 ** (8 * packed.size)
    x = Tile(raw.astype(packed.numpy), packed)
    y = Tile(np.zeros((3, 4), packed.numpy), packed)
    line = f"bir.tensor_copy outs(%y[0 : 3 | 3 : -1*4] {packed}) ins(%x[0 : 3 | 0 : 4] {packed})"
    assert np.array_equal(run_tiles([line], {"x": x, "y": y})["y"], x.values[:, ::-1])


@given(
    data=st.data(),
    source=st.sampled_from(NUMBERS),
    target=st.sampled_from(NUMBERS),
    seed=seeds,
    op=st.sampled_from(["bir.dma_copy", "bir.load", "bir.save"]),
)
@some
def test_dma_between_unlike_shapes(data: Any, source: Dtype, target: Dtype, seed: int, op: str) -> None:
    """24 elements go in order, however many partitions and pairs there are on either side."""
    sides: list[tuple[int, Walk]] = []
    for repeats in (False, True):
        partitions = data.draw(st.sampled_from([1, 2, 8, 24]))
        sides.append((partitions, data.draw(walks(24 // partitions, repeats=repeats))))
    (p_out, out), (p_in, in_) = sides
    y = Tile(values(target, (p_out, out.row), seed), target)
    x = Tile(values(source, (p_in, in_.row), seed + 1, 30.0), source)
    lines = []
    x_text, y_text = at("x", in_, p_in, source), at("y", out, p_out, target)
    if op == "bir.load":
        x_text = f"%x.in[{in_.offset} : {in_.row}*{p_in}, {in_.text().partition(': ')[2]}] {source}"
    elif op == "bir.save":
        whole = f"%h[0 : {out.row}*{p_out}, {out.row}] {target}"
        lines.append(f'%h = bir.tensor "h" : !nki.mem<hbm {p_out}x{out.row}x{target}>')
        lines.append(f"bir.save outs({whole}) ins(%y[0 : {p_out} | 0 : {out.row}] {target})")
        y_text = f"%h[{out.offset} : {out.row}*{p_out}, {out.text().partition(': ')[2]}] {target}"
    lines.append(f"{op} outs({y_text}) ins({x_text})")
    if op == "bir.save":
        lines.append(f"bir.load outs(%y[0 : {p_out} | 0 : {out.row}] {target}) ins({whole})")
    got = run_tiles(lines, {"x": x, "y": y})["y"]
    flat = [x.values[p, c] for p in range(p_in) for c in in_.columns]
    places = [(p, k) for p in range(p_out) for k in range(len(out.columns))]
    expected = {
        place: value if source is target else rounded(number(value), target)
        for place, value in zip(places, flat, strict=True)
    }
    expect(y, got, out, expected)


# Element-wise -----------------------------------------------------------------------------------------------------


def _divide(a: float, b: float) -> float:
    if b == 0:
        return math.nan if a == 0 or math.isnan(a) else math.copysign(math.inf, a) * math.copysign(1, b)
    return a / b


def _maximum(a: float, b: float) -> float:
    return math.nan if math.isnan(a) or math.isnan(b) else max(a, b)


def _magnitude(compare: Any) -> Any:
    return lambda a, b: a if compare(abs(a), abs(b)) else b


BINARY: dict[str, Any] = {
    "add": operator.add,
    "subtract": operator.sub,
    "mult": operator.mul,
    "divide": _divide,
    "max": _maximum,
    "min": min,
    "abs_max": _magnitude(operator.gt),
    "abs_min": _magnitude(operator.lt),
    "is_equal": operator.eq,
    "not_equal": operator.ne,
    "is_gt": operator.gt,
    "is_ge": operator.ge,
    "is_lt": operator.lt,
    "is_le": operator.le,
    "logical_and": lambda a, b: bool(a) and bool(b),
    "logical_or": lambda a, b: bool(a) or bool(b),
    "logical_xor": lambda a, b: bool(a) != bool(b),
}
BITWISE: dict[str, Any] = {
    "bitwise_and": operator.and_,
    "bitwise_or": operator.or_,
    "bitwise_xor": operator.xor,
}


def _check_binary(data: Any, target: Dtype, dtypes: tuple[Dtype, ...], op: str, partitions: int, seed: int) -> None:
    out, a, b = data.draw(walks(12)), data.draw(walks(12, repeats=True)), data.draw(walks(12, repeats=True))
    y = Tile(values(target, (partitions, out.row), seed), target)
    x1 = Tile(values(dtypes[0], (partitions, a.row), seed + 1), dtypes[0])
    x2 = Tile(values(dtypes[1], (partitions, b.row), seed + 2), dtypes[1])
    line = (
        f"bir.tensor_tensor {op} on dve outs({at('y', out, partitions, target)})"
        f" ins({at('a', a, partitions, dtypes[0])}, {at('b', b, partitions, dtypes[1])})"
    )
    got = run_tiles([line], {"y": y, "a": x1, "b": x2})["y"]
    expected = {}
    for p in range(partitions):
        for k in range(12):
            left, right = x1.values[p, a.columns[k]], x2.values[p, b.columns[k]]
            if op in BITWISE:
                expected[p, k] = rounded(BITWISE[op](int(left), int(right)), target)
            else:
                expected[p, k] = rounded(f32(float(BINARY[op](number(left), number(right)))), target)
    expect(y, got, out, expected)


@pytest.mark.parametrize("op", BINARY)
@given(data=st.data(), target=st.sampled_from(NUMBERS), partitions=partition_counts, seed=seeds)
@some
def test_tensor_tensor(op: str, data: Any, target: Dtype, partitions: int, seed: int) -> None:
    dtypes = tuple(data.draw(st.sampled_from(NUMBERS)) for _ in range(2))
    _check_binary(data, target, dtypes, op, partitions, seed)


@pytest.mark.parametrize("op", BITWISE)
@pytest.mark.parametrize("dtype", INTEGERS)
@given(data=st.data(), partitions=partition_counts, seed=seeds)
@settings(max_examples=2, deadline=None)
def test_bitwise_tensor_tensor(op: str, dtype: Dtype, data: Any, partitions: int, seed: int) -> None:
    _check_binary(data, dtype, (dtype, dtype), op, partitions, seed)


@pytest.mark.parametrize("op", ["add", "subtract", "mult"])
@pytest.mark.parametrize("dtype", [Dtype.I32, Dtype.U32])
def test_gpsimd_computes_exactly_and_wraps(op: str, dtype: Dtype) -> None:
    a, b = (Tile(values(dtype, (32, 8), seed), dtype) for seed in (3, 4))
    access = f"[0 : 32 | 0 : 8] {dtype}"
    got = run_tiles([f"bir.tensor_tensor {op} on pool outs(%a{access}) ins(%a{access}, %b{access})"], {"a": a, "b": b})
    for left, right, result in zip(a.values.flat, b.values.flat, got["a"].flat, strict=True):
        assert (int(result) - BINARY[op](int(left), int(right))) % 2**32 == 0


FINE = {Dtype.I32: [2**24, 2**24 + 1, -(2**24) - 1, -1], Dtype.U32: [2**24, 2**24 + 1, 2**32 - 1, 2**31]}
"""Neighbours that fp32 does not tell apart, and numbers whose bits mean something else with the other sign."""


@pytest.mark.parametrize("op", ["max", "min", "is_equal", "not_equal", "is_gt", "is_ge", "is_lt", "is_le"])
@pytest.mark.parametrize("kinds", list(itertools.product(FINE, repeat=2)), ids=str)
def test_gpsimd_compares_exactly(op: str, kinds: tuple[Dtype, Dtype]) -> None:
    left, right = zip(*itertools.product(*(FINE[kind] for kind in kinds)), strict=True)
    tiles = {n: Tile(np.array([v], k.numpy), k) for n, v, k in zip("ab", (left, right), kinds, strict=True)}
    tiles["y"] = Tile(np.zeros((1, 16), np.int32), Dtype.I32)
    texts = [f"%{name}[0 : 1 | 0 : 16] {tile.dtype}" for name, tile in tiles.items()]
    got = run_tiles([f"bir.tensor_tensor {op} outs({texts[2]}) ins({texts[0]}, {texts[1]})"], tiles)["y"][0]
    exact = {
        "max": max, "min": min, "is_equal": operator.eq, "not_equal": operator.ne, "is_gt": operator.gt,
        "is_ge": operator.ge, "is_lt": operator.lt, "is_le": operator.le,
    }  # fmt: skip
    assert got.tolist() == [min(int(exact[op](a, b)), 2**31 - 1) for a, b in zip(left, right, strict=True)]
    # The Vector engine computes in fp32, which does not tell these apart.
    line = f"bir.tensor_tensor is_equal on dve outs({texts[2]}) ins({texts[0]}, {texts[1]})"
    assert run_tiles([line], tiles)["y"][0, 1] == 1


@pytest.mark.parametrize(("compare", "kept"), [("is_gt", 1), ("is_le", 0)])
def test_tensor_scalar_compares_integers_exactly(compare: str, kept: int) -> None:
    tile = Tile(np.array([[2**24 + 1, 2**24]], np.int32), Dtype.I32)
    access = "%a[0 : 1 | 0 : 2] i32"
    line = f"bir.tensor_scalar {compare} outs({access}) ins({access}, operand0 = {2**24} : i32)"
    assert run_tiles([line], {"a": tile})["a"].tolist() == [[kept, 1 - kept]]


@given(
    data=st.data(),
    target=st.sampled_from(NUMBERS),
    source=st.sampled_from(NUMBERS),
    ops=st.tuples(st.sampled_from(list(BINARY)), st.sampled_from([*BINARY, None])),
    reverses=st.tuples(st.booleans(), st.booleans()),
    pointer=st.tuples(st.booleans(), st.booleans()),
    partitions=partition_counts,
    seed=seeds,
)
@settings(max_examples=25, deadline=None)
def test_tensor_scalar(
    data: Any,
    target: Dtype,
    source: Dtype,
    ops: tuple[str, str | None],
    reverses: tuple[bool, bool],
    pointer: tuple[bool, bool],
    partitions: int,
    seed: int,
) -> None:
    out, in_ = data.draw(walks(12)), data.draw(walks(12, repeats=True))
    y = Tile(values(target, (partitions, out.row), seed), target)
    x = Tile(values(source, (partitions, in_.row), seed + 1), source)
    vectors = [Tile(values(Dtype.F32, (partitions, 2), seed + 2 + n), Dtype.F32) for n in range(2)]
    texts, operands = [], []
    for n in range(1 if ops[1] is None else 2):
        if pointer[n]:
            texts.append(f"operand{n} = %v{n}[0 : {partitions} | 1 : 1] f32")
            operands.append([number(v) for v in vectors[n].values[:, 1]])
        else:
            texts.append(f"operand{n} = {n + 1}.7 : f32")
            operands.append([f32(n + 1.7)] * partitions)
    flags = "".join(f" reverse{n}" for n in range(2) if reverses[n] and ops[n])
    line = (
        f"bir.tensor_scalar_ptr {ops[0]} {ops[1] or ''}{flags} on dve outs({at('y', out, partitions, target)})"
        f" ins({at('x', in_, partitions, source)}, {', '.join(texts)})"
    )
    tiles = {"y": y, "x": x, "v0": vectors[0], "v1": vectors[1]}
    expected = {}
    for p in range(partitions):
        for k, column in enumerate(in_.columns):
            value = number(x.values[p, column])
            for n, vector in enumerate(operands):
                pair = (vector[p], value) if reverses[n] else (value, vector[p])
                value = f32(float(BINARY[str(ops[n])](*pair)))
            expected[p, k] = rounded(value, target)
    expect(y, run_tiles([line], tiles)["y"], out, expected)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_bitwise_tensor_scalar(dtype: Dtype) -> None:
    """Shifts by an immediate and a mask a partition; a bypassed operator does not shift the operands' places."""
    x, mask = Tile(values(dtype, (32, 6), 5), dtype), Tile(values(dtype, (32, 1), 6), dtype)
    access = f"[0 : 32 | 0 : 6] {dtype}"
    for op0, shift in (("logical_shift_right", 1), ("bypass", 0)):
        first = f"operand0 = {shift} : {dtype}, " if shift else ""
        ins = f"%x{access}, {first}operand1 = %mask[0 : 32 | 0 : 1] {dtype}"
        line = f"bir.tensor_scalar_ptr {op0} bitwise_and outs(%y{access}) ins({ins})"
        got = run_tiles([line], {"x": x, "mask": mask, "y": Tile(np.zeros_like(x.values), dtype)})["y"]
        bits = 2 ** (8 * dtype.size)
        for p in range(32):
            for k in range(6):
                expected = ((int(x.values[p, k]) % bits) >> shift) & (int(mask.values[p, 0]) % bits)
                assert int(got[p, k]) % bits == expected


@given(
    data=st.data(),
    dtypes=st.tuples(*[st.sampled_from(NUMBERS)] * 3),
    ops=st.tuples(st.sampled_from(list(BINARY)), st.sampled_from(list(BINARY))),
    reverses=st.tuples(st.booleans(), st.booleans()),
    partitions=partition_counts,
    seed=seeds,
)
@settings(max_examples=20, deadline=None)
def test_scalar_tensor_tensor(
    data: Any,
    dtypes: tuple[Dtype, ...],
    ops: tuple[str, str],
    reverses: tuple[bool, bool],
    partitions: int,
    seed: int,
) -> None:
    ways = [data.draw(walks(12, rank=2)), *(data.draw(walks(12, repeats=True, rank=2)) for _ in range(2))]
    tiles = {
        name: Tile(values(dtype, (partitions, walk.row), seed + n), dtype)
        for n, (name, dtype, walk) in enumerate(zip("yab", dtypes, ways, strict=True))
    }
    tiles["v"] = Tile(values(Dtype.F32, (partitions, 1), seed + 9), Dtype.F32)
    flags = "".join(f" reverse{n}" for n in range(2) if reverses[n])
    y, a, b = (at(name, walk, partitions, dtype) for name, walk, dtype in zip("yab", ways, dtypes, strict=True))
    line = (
        f"bir.tensor_scalar_ptr {ops[0]} {ops[1]}{flags} is_scalar_tensor_tensor outs({y})"
        f" ins({a}, operand0 = %v[0 : {partitions} | 0 : 1] f32, operand1 = {b})"
    )
    expected = {}
    for p in range(partitions):
        for k in range(12):
            value, scalar = number(tiles["a"].values[p, ways[1].columns[k]]), number(tiles["v"].values[p, 0])
            other = number(tiles["b"].values[p, ways[2].columns[k]])
            value = f32(float(BINARY[ops[0]](*((scalar, value) if reverses[0] else (value, scalar)))))
            value = f32(float(BINARY[ops[1]](*((other, value) if reverses[1] else (value, other)))))
            expected[p, k] = rounded(value, dtypes[0])
    expect(tiles["y"], run_tiles([line], tiles)["y"], ways[0], expected)


@pytest.mark.parametrize("target", NUMBERS)
@given(data=st.data(), source=st.sampled_from(NUMBERS), partitions=partition_counts, seed=seeds)
@some
def test_reciprocal(target: Dtype, data: Any, source: Dtype, partitions: int, seed: int) -> None:
    out, in_ = data.draw(walks(6)), data.draw(walks(6, repeats=True))
    y = Tile(values(target, (partitions, out.row), seed), target)
    x = Tile(values(source, (partitions, in_.row), seed + 1), source)
    line = f"bir.reciprocal outs({at('y', out, partitions, target)}) ins({at('x', in_, partitions, source)})"
    expected = {
        (p, k): rounded(f32(_divide(1.0, number(x.values[p, c]))), target)
        for p in range(partitions)
        for k, c in enumerate(in_.columns)
    }
    expect(y, run_tiles([line], {"x": x, "y": y})["y"], out, expected)


# Activation -------------------------------------------------------------------------------------------------------


def _sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x))


def _gelu_tanh(x: float) -> float:
    return 0.5 * x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def _gelu_dx(x: float) -> float:
    return 0.5 * (1 + math.erf(x / math.sqrt(2))) + x * math.exp(-x * x / 2) / math.sqrt(2 * math.pi)


def _gelu_sigmoid_dx(x: float) -> float:
    s = _sigmoid(1.702 * x)
    return s + 1.702 * x * s * (1 - s)


ACTIVATIONS: dict[str, Any] = {
    "identity": lambda x: x,
    "copy": lambda x: x,
    "square": lambda x: x * x,
    "relu": lambda x: max(x, 0.0),
    "sigmoid": _sigmoid,
    "tanh": math.tanh,
    "exp": math.exp,
    "softplus": lambda x: math.log1p(math.exp(x)),
    "sqrt": lambda x: math.sqrt(x) if x >= 0 else math.nan,
    "rsqrt": lambda x: 1 / math.sqrt(x) if x > 0 else math.nan if x else math.copysign(math.inf, x),
    "log": lambda x: math.log(x) if x > 0 else math.nan if x else -math.inf,
    "erf": math.erf,
    "erf_dx": lambda x: 2 / math.sqrt(math.pi) * math.exp(-x * x),
    "sin": math.sin,
    "arctan": math.atan,
    "sign": lambda x: (x > 0) - (x < 0),
    "gelu": lambda x: 0.5 * x * math.erfc(-x / math.sqrt(2)),
    "gelu_dx": _gelu_dx,
    "mish": lambda x: x * math.tanh(math.log1p(math.exp(x))),
    "gelu_apprx_tanh": _gelu_tanh,
    "gelu_apprx_sigmoid": lambda x: x * _sigmoid(1.702 * x),
    "gelu_apprx_sigmoid_dx": _gelu_sigmoid_dx,
    "abs": abs,
    "reciprocal": lambda x: _divide(1.0, x),
    "silu": lambda x: x * _sigmoid(x),
    "silu_dx": lambda x: _sigmoid(x) * (1 + x * (1 - _sigmoid(x))),
}


def test_every_activation_function_with_a_meaning_is_here() -> None:
    assert {*ACTIVATIONS, "prelu"} == {str(f) for f in ActivationFunction if f.has_meaning}


@pytest.mark.parametrize("func", ACTIVATIONS)
@given(
    data=st.data(),
    source=st.sampled_from(FLOATS),
    bias=st.sampled_from(FLOATS),
    partitions=partition_counts,
    seed=seeds,
)
@settings(max_examples=3, deadline=None)
def test_activation(func: str, data: Any, source: Dtype, bias: Dtype, partitions: int, seed: int) -> None:
    if bias is Dtype.F32R:
        bias = Dtype.F32
    out, in_ = data.draw(walks(12)), data.draw(walks(12, repeats=True))
    target = data.draw(st.sampled_from([Dtype.F32, Dtype.BF16, Dtype.F16]))
    y = Tile(values(target, (partitions, out.row), seed), target)
    x = Tile(values(source, (partitions, in_.row), seed + 1, 1.0), source)
    b = Tile(values(bias, (partitions, 1), seed + 2, 0.5), bias)
    s = Tile(values(Dtype.F32, (partitions, 1), 7), Dtype.F32)
    vector = data.draw(st.booleans())
    scale = f"%s[0 : {partitions} | 0 : 1] f32" if vector else "0.75 : f32"
    line = (
        f"bir.activation {func} outs({at('y', out, partitions, target)})"
        f" ins({at('x', in_, partitions, source)}, bias = %b[0 : {partitions} | 0 : 1] {bias}, scale = {scale})"
    )
    got = run_tiles([line], {"y": y, "x": x, "b": b, "s": s})["y"]
    wanted = y.values.astype(np.float64)
    for p in range(partitions):
        for k, c in enumerate(in_.columns):
            scaled = f32(number(x.values[p, c]) * (number(s.values[p, 0]) if vector else 0.75))
            argument = f32(scaled + number(b.values[p, 0]))
            if func == "sin" and abs(argument) > math.pi:
                argument = math.nan  # beyond its interval the function is this project's choice
            result = ACTIVATIONS[func](argument)
            wanted[p, out.columns[k]] = rounded(result, target) if abs(result) > 65504 else result
    unit = {Dtype.F32: 2e-6, Dtype.BF16: 2.0**-8, Dtype.F16: 2.0**-10}[target]
    known = ~np.isnan(wanted) | (func != "sin")
    np.testing.assert_allclose(got.astype(np.float64)[known], wanted[known], rtol=unit, atol=1e-6)


def test_activation_accumulates_over_instructions() -> None:
    """Each lane of the accumulator belongs to a physical partition, wherever an instruction starts."""
    x = Tile(values(Dtype.F32, (64, 8), 3), Dtype.F32)
    y, r = (Tile(np.zeros((64, width), np.float32), Dtype.F32) for width in (8, 1))
    tiles = {"x": x, "y": y, "r": r}

    def line(start: int, command: str, last: bool) -> str:
        part = f"[{start} : 32 | 0 : 8] f32"
        reduced = f", reduce_res = %r[{start} : 32 | 0 : 1] f32" if last else ""
        flag = f"{{accumulate = #nki.accumulate<{command}>}}"
        return f"bir.activation square outs(%y{part}{reduced}) ins(%x{part}) {flag}"

    lines = [
        line(0, "zero_accumulate", False),
        line(32, "zero_accumulate", False),
        line(0, "add_accumulate", True),
        line(32, "idle", True),
    ]
    got = run_tiles(lines, tiles)["r"]
    for p in range(64):
        once = math.fsum(number(v) ** 2 for v in x.values[p])
        assert math.isclose(got[p, 0], once * (2 if p < 32 else 1), rel_tol=1e-6)


# Reductions -------------------------------------------------------------------------------------------------------

FOLDS: dict[str, Any] = {
    "add": math.fsum,
    "max": max,
    "min": min,
    "mult": math.prod,
    "subtract": lambda v: v[0] - math.fsum(v[1:]),
    "logical_and": all,
    "logical_or": any,
    "logical_xor": lambda v: sum(map(bool, v)) % 2,
}
BIT_FOLDS: dict[str, Any] = {op: lambda v, f=f: reduce(f, v) for op, f in BITWISE.items()}


@pytest.mark.parametrize("op", [*FOLDS, *BIT_FOLDS])
@given(
    data=st.data(),
    axis=st.sampled_from(["x", "xy", "xyz"]),
    negate=st.booleans(),
    partitions=partition_counts,
    seed=seeds,
)
@settings(max_examples=3, deadline=None)
def test_tensor_reduce(op: str, data: Any, axis: str, negate: bool, partitions: int, seed: int) -> None:
    bits = op in BIT_FOLDS
    dtype = data.draw(st.sampled_from(INTEGERS if bits else NUMBERS))
    target = dtype if bits else data.draw(st.sampled_from(NUMBERS))
    kept, reduced = 3, [2] * len(axis)
    count = math.prod(reduced)
    gap = data.draw(st.integers(0, 2))
    order = data.draw(st.permutations(range(1 + len(reduced))))
    nums, steps, extent = [kept, *reduced], [0] * (1 + len(reduced)), 1
    for place in order:
        steps[place] = extent + gap
        extent = steps[place] * nums[place] + 1
    in_, out = Walk(1, tuple(zip(steps, nums, strict=True))), data.draw(walks(kept))
    x = Tile(values(dtype, (partitions, in_.row), seed, 1.5), dtype)
    y = Tile(values(target, (partitions, out.row), seed + 1), target)
    flag = " negate" if negate and not bits else ""
    line = (
        f"bir.tensor_reduce {op} {axis}{flag} outs({at('y', out, partitions, target)})"
        f" ins({at('x', in_, partitions, dtype)})"
    )
    got = run_tiles([line], {"x": x, "y": y})["y"]
    expected = {}
    for p in range(partitions):
        for k in range(kept):
            group = [x.values[p, c] for c in in_.columns[k * count : (k + 1) * count]]
            if bits:
                expected[p, k] = rounded(BIT_FOLDS[op]([int(v) for v in group]), target)
            else:
                exact = float(FOLDS[op]([number(v) for v in group]))
                expected[p, k] = -exact if flag else exact
    if bits or op in ("max", "min", "logical_and", "logical_or", "logical_xor"):
        expect(y, got, out, {place: rounded(value, target) for place, value in expected.items()})
        return
    for (p, k), value in expected.items():
        low, high = sorted((value * (1 - 1e-5), value * (1 + 1e-5)))
        scale = 1e-5 * max(abs(number(v)) for v in x.values[p]) * count
        result = float(got[p, out.columns[k]])
        low, high = float(rounded(f32(low - scale), target)), float(rounded(f32(high + scale), target))
        assert low <= result <= high or (math.isinf(value) and result == value) or math.isnan(low + high + result)


@pytest.mark.parametrize("op", ["add", "max", "bitwise_or", "bitwise_and", "average"])
@given(data=st.data(), partitions=st.sampled_from([1, 5, 64]), seed=seeds)
@settings(max_examples=4, deadline=None)
def test_partition_reduce(op: str, data: Any, partitions: int, seed: int) -> None:
    bits = op.startswith("bitwise")
    dtype = data.draw(st.sampled_from(INTEGERS if bits else FLOATS))
    in_, out = data.draw(walks(6, repeats=True)), data.draw(walks(6))
    target = dtype if bits else Dtype.F32
    x, y = Tile(values(dtype, (partitions, in_.row), seed), dtype), Tile(values(target, (1, out.row), seed), target)
    line = f"bir.tensor_reduce {op} c outs({at('y', out, 1, target)}) ins({at('x', in_, partitions, dtype)})"
    got = run_tiles([line], {"x": x, "y": y})["y"]
    for k, c in enumerate(in_.columns):
        column = x.values[:, c]
        result = got[0, out.columns[k]]
        if bits:
            assert int(result) == BIT_FOLDS[op]([int(v) for v in column])
        elif op == "max":
            assert float(result) == max(map(number, column))
        else:
            exact = math.fsum(map(number, column)) / (partitions if op == "average" else 1)
            assert math.isclose(result, exact, rel_tol=1e-5, abs_tol=1e-5 * max(abs(number(v)) for v in column))


@pytest.mark.parametrize("dtype", [Dtype.F32, Dtype.BF16, Dtype.F16])
@pytest.mark.parametrize("count", [1, 2, 7, 512])
def test_batch_norm_statistics(dtype: Dtype, count: int) -> None:
    """Statistics of the even and the odd elements, and mean and variance of all of them from these."""
    x = Tile(values(dtype, (3, count), count), dtype)
    tiles = {
        "x": x,
        "s": Tile(np.zeros((3, 6), np.float32), Dtype.F32),
        "y": Tile(np.zeros((3, 2), np.float32), Dtype.F32),
    }
    lines = [
        f"bir.bn_stats outs(%s[0 : 3 | 0 : 6] f32) ins(%x[0 : 3 | 0 : {count}] {dtype})",
        "bir.bn_stats_aggregate outs(%y[0 : 3 | 0 : 2] f32) ins(%s[0 : 3 | 0 : 6] f32)",
    ]
    got = run_tiles(lines, tiles)
    for p in range(3):
        row = [number(v) for v in x.values[p]]
        expected = []
        for part in (row[::2], row[1::2]):
            mean = math.fsum(part) / len(part) if part else 0.0
            expected += [len(part), mean, math.fsum((v - mean) ** 2 for v in part)]
        np.testing.assert_allclose(got["s"][p], expected, rtol=1e-4, atol=1e-5)
        mean = math.fsum(row) / count
        variance = math.fsum((v - mean) ** 2 for v in row) / count
        np.testing.assert_allclose(got["y"][p], [mean, variance], rtol=1e-4, atol=1e-5)


# Position and selection -------------------------------------------------------------------------------------------

patterns = st.sampled_from([((1, 12),), ((5, 3), (-2, 4)), ((7, 2), (0, 3), (1, 2))])


def _ramp(pattern: tuple[tuple[int, int], ...], offset: int, multiplier: int, p: int) -> list[int]:
    return [offset + multiplier * p + v for v in Walk(0, pattern).columns]


def _pattern_text(pattern: tuple[tuple[int, int], ...], offset: int, multiplier: int) -> str:
    body = ", ".join(f"{step}*{count}" for step, count in pattern)
    return f"{{pattern = #nki.pattern<{body}>, offset = {offset} : i64, channel_multiplier = {multiplier} : i64}}"


@pytest.mark.parametrize("dtype", NUMBERS)
@given(
    out=walks(12),
    pattern=patterns,
    offset=st.integers(-50, 50),
    multiplier=st.integers(-9, 9),
    partitions=partition_counts,
)
@some
def test_iota(dtype: Dtype, out: Walk, pattern: Any, offset: int, multiplier: int, partitions: int) -> None:
    tile = Tile(values(dtype, (partitions, out.row), 1), dtype)
    line = f"bir.iota outs({at('t', out, partitions, dtype)}) {_pattern_text(pattern, offset, multiplier)}"
    expected = {
        (p, k): rounded(float(value), dtype)
        for p in range(partitions)
        for k, value in enumerate(_ramp(pattern, offset, multiplier, p))
    }
    expect(tile, run_tiles([line], {"t": tile})["t"], out, expected)


@pytest.mark.parametrize("compare", ["is_gt", "is_ge", "is_equal", "not_equal", "is_lt", "is_le"])
@given(data=st.data(), pattern=patterns, offset=st.integers(-9, 9), multiplier=st.integers(-3, 3), seed=seeds)
@some
def test_affine_select(compare: str, data: Any, pattern: Any, offset: int, multiplier: int, seed: int) -> None:
    target, source = data.draw(st.sampled_from(NUMBERS)), data.draw(st.sampled_from(NUMBERS))
    out, in_ = data.draw(walks(12)), data.draw(walks(12, repeats=True))
    y, x = Tile(values(target, (5, out.row), seed), target), Tile(values(source, (5, in_.row), seed + 1), source)
    line = (
        f"bir.tensor_scalar_affine_select {compare} outs({at('y', out, 5, target)})"
        f" ins({at('x', in_, 5, source)}, -3.5 : f32) {_pattern_text(pattern, offset, multiplier)}"
    )
    expected = {}
    for p in range(5):
        for k, position in enumerate(_ramp(pattern, offset, multiplier, p)):
            element = x.values[p, in_.columns[k]] if BINARY[compare](position, 0) else np.float32(-3.5)
            moved = source is target and BINARY[compare](position, 0)
            expected[p, k] = element if moved else rounded(number(element), target)
    expect(y, run_tiles([line], {"x": x, "y": y})["y"], out, expected)


@pytest.mark.parametrize("target", NUMBERS)
@given(data=st.data(), seed=seeds, numbers=st.tuples(st.booleans(), st.booleans()))
@some
def test_select(target: Dtype, data: Any, seed: int, numbers: tuple[bool, bool]) -> None:
    kinds = [data.draw(st.sampled_from(NUMBERS)) for _ in range(3)]
    ways = [data.draw(walks(12)), *(data.draw(walks(12, repeats=True)) for _ in range(3))]
    tiles = {
        name: Tile(values(dtype, (5, walk.row), seed + n), dtype)
        for n, (name, dtype, walk) in enumerate(zip("ypab", [target, *kinds], ways, strict=True))
    }
    tiles["p"].values[:, ::2] = 0
    texts = [at(name, walk, 5, tiles[name].dtype) for name, walk in zip("ypab", ways, strict=True)]
    for n in range(2):
        if numbers[n]:
            texts[2 + n] = f"{n}.25 : f32"
    expected = {}
    for p in range(5):
        for k in range(12):
            chosen = 0 if float(tiles["p"].values[p, ways[1].columns[k]]) != 0 else 1
            element = tiles["ab"[chosen]].values[p, ways[2 + chosen].columns[k]]
            exact = not numbers[chosen] and kinds[1 + chosen] is target
            value = chosen + 0.25 if numbers[chosen] else element if exact else number(element)
            expected[p, k] = element if exact else rounded(value, target)
    line = f"bir.select outs({texts[0]}) ins({', '.join(texts[1:])})"
    expect(tiles["y"], run_tiles([line], tiles)["y"], ways[0], expected)


@pytest.mark.parametrize("dtype", NUMBERS)
@given(data=st.data(), seed=seeds, reverse=st.booleans(), immediate=st.booleans())
@some
def test_copy_predicated(dtype: Dtype, data: Any, seed: int, reverse: bool, immediate: bool) -> None:
    kind = data.draw(st.sampled_from(INTEGERS))
    out, in_, mask = data.draw(walks(12)), data.draw(walks(12, repeats=True)), data.draw(walks(12, repeats=True))
    tiles = {
        "y": Tile(values(dtype, (5, out.row), seed), dtype),
        "x": Tile(values(dtype, (5, in_.row), seed + 1), dtype),
        "p": Tile(values(kind, (5, mask.row), seed + 2), kind),
    }
    tiles["p"].values[:, ::2] = 0
    source = "2.0 : f32" if immediate else at("x", in_, 5, dtype)
    line = (
        f"bir.copy_predicated{' reverse_pred' if reverse else ''} outs({at('y', out, 5, dtype)})"
        f" ins({source}, {at('p', mask, 5, kind)})"
    )
    expected = {
        (p, k): rounded(2.0, dtype) if immediate else tiles["x"].values[p, in_.columns[k]]
        for p in range(5)
        for k in range(12)
        if (tiles["p"].values[p, mask.columns[k]] == 0) == reverse
    }
    expect(tiles["y"], run_tiles([line], tiles)["y"], out, expected)


# Tensor engine ----------------------------------------------------------------------------------------------------

MATMUL_INPUTS = (Dtype.F32, Dtype.BF16, Dtype.F16, Dtype.F8E4, Dtype.F8E5, Dtype.F8E3, Dtype.I8, Dtype.U8)


def _product(a: Tile, b: Tile, ka: Walk, kb: Walk, p: int, m: int, n: int) -> tuple[float, float]:
    """Returns one element of the product, and the sum of magnitudes that bounds its rounding."""
    terms = [number(a.values[k, ka.columns[m]]) * number(b.values[k, kb.columns[n]]) for k in range(p)]
    return math.fsum(terms), math.fsum(map(abs, terms))


@pytest.mark.parametrize("dtype", MATMUL_INPUTS)
@given(data=st.data(), size=st.tuples(st.sampled_from([1, 7, 32]), counts, counts), seed=seeds)
@settings(max_examples=3, deadline=None)
def test_matmul(dtype: Dtype, data: Any, size: tuple[int, int, int], seed: int) -> None:
    k, m, n = size
    narrow = st.sampled_from([d for d in MATMUL_INPUTS if d is not Dtype.F32])
    other = dtype if dtype is Dtype.F32 else data.draw(narrow)
    ka, kb, out = data.draw(walks(m, repeats=True)), data.draw(walks(n, repeats=True)), data.draw(walks(n))
    tiles = {
        "a": Tile(values(dtype, (k, ka.row), seed, 1.0), dtype),
        "b": Tile(values(other, (k, kb.row), seed + 1, 1.0), other),
        "y": Tile(values(Dtype.F32, (m, out.row), seed + 2), Dtype.F32, "psum"),
    }
    line = f"bir.matmult outs({at('y', out, m, Dtype.F32)}) ins({at('a', ka, k, dtype)}, {at('b', kb, k, other)})"
    got = run_tiles([line, line], tiles)["y"]
    for row in range(m):
        for column in range(n):
            exact, bound = _product(tiles["a"], tiles["b"], ka, kb, k, row, column)
            assert math.isclose(got[row, out.columns[column]], 2 * exact, rel_tol=1e-6, abs_tol=4e-6 * bound)


def test_double_row_matmul_contracts_pairs_of_rows() -> None:
    a, b = values(Dtype.F8E4, (16, 2 * 8), 1, 1.0), values(Dtype.F8E5, (16, 2 * 12), 2, 1.0)
    tiles = {
        "a": Tile(a, Dtype.F8E4),
        "b": Tile(b, Dtype.F8E5),
        "y": Tile(np.zeros((8, 12), np.float32), Dtype.F32, "psum"),
    }
    line = (
        "bir.matmult outs(%y[0 : 8 | 0 : 12] f32) ins(%a[0 : 16 | 0 : 8*2, 8] f8e4, %b[0 : 16 | 0 : 12*2, 12] f8e5)"
        " {perf_mode = #nki.perf_mode<double_row>}"
    )
    got = run_tiles([line], tiles)["y"]
    for m in range(8):
        for n in range(12):
            exact = math.fsum(float(a[k, 8 * j + m]) * float(b[k, 12 * j + n]) for k in range(16) for j in range(2))
            assert math.isclose(got[m, n], exact, rel_tol=1e-5, abs_tol=1e-5)


def test_bf16_accumulation_rounds_every_sum() -> None:
    a = Tile(np.eye(4, dtype=np.float32).astype(Dtype.BF16.numpy), Dtype.BF16)
    b = Tile(values(Dtype.BF16, (4, 4), 2, 1.0), Dtype.BF16)
    tiles = {"a": a, "b": b, "y": Tile(np.zeros((4, 4), Dtype.BF16.numpy), Dtype.BF16, "psum")}
    access = "[0 : 4 | 0 : 4] bf16"
    line = f"bir.matmult outs(%y{access}) ins(%a{access}, %b{access})"
    got = run_tiles([line] * 3, tiles)["y"]
    expected = []
    for value in b.values.reshape(-1):
        total = 0.0
        for _ in range(3):
            total = float(rounded(total + float(value), Dtype.BF16))
        expected.append(total)
    same(got, expected, Dtype.BF16)


@pytest.mark.parametrize("dtype", [Dtype.F32, Dtype.BF16, Dtype.F16, Dtype.F8E4])
@pytest.mark.parametrize("identity", ["moving", "stationary"])
def test_transpose_mode_moves_bits(dtype: Dtype, identity: str) -> None:
    """NaN and infinity survive; fp8 becomes 16-bit elements with an upper byte of zero."""
    data = values(dtype, (8, 5 if identity == "moving" else 6), 3)
    data[1, 2], data[3, 4] = np.nan, np.inf
    wide = Dtype.F16 if dtype is Dtype.F8E4 else dtype
    rows, columns = data.shape[1], 8
    tiles = {
        "x": Tile(data, dtype),
        "i": Tile(np.eye(8).astype(dtype.numpy), dtype),
        "y": Tile(np.zeros((rows, columns), wide.numpy), wide, "psum"),
    }
    x, i = f"%x[0 : 8 | 0 : {rows}] {dtype}", f"%i[0 : 8 | 0 : 8] {dtype}"
    ins = f"{x}, {i}" if identity == "moving" else f"{i}, {x}"
    got = run_tiles([f"bir.matmult is_transpose outs(%y[0 : {rows} | 0 : 8] {wide}) ins({ins})"], tiles)["y"]
    raw = np.ascontiguousarray(data).view(f"u{dtype.size}").T
    assert np.array_equal(got.view(f"u{wide.size}"), raw)


def test_is_transpose_is_an_ordinary_product_before_cayman() -> None:
    a, b = values(Dtype.F32, (4, 3), 1), values(Dtype.F32, (4, 5), 2)
    tiles = {
        "a": Tile(a, Dtype.F32),
        "b": Tile(b, Dtype.F32),
        "y": Tile(np.zeros((3, 5), np.float32), Dtype.F32, "psum"),
    }
    ins = "%a[0 : 4 | 0 : 3] f32, %b[0 : 4 | 0 : 5] f32"
    got = run_tiles([f"bir.matmult is_transpose outs(%y[0 : 3 | 0 : 5] f32) ins({ins})"], tiles, arch="gen2")["y"]
    for m in range(3):
        for n in range(5):
            assert math.isclose(got[m, n], math.fsum(float(a[k, m]) * float(b[k, n]) for k in range(4)), rel_tol=1e-5)


@pytest.mark.parametrize("dtype", [*NUMBERS, Dtype.F8E5M2_X4])
@given(data=st.data(), partitions=st.sampled_from([1, 5, 32]))
@settings(max_examples=2, deadline=None)
def test_stream_transpose(dtype: Dtype, data: Any, partitions: int) -> None:
    in_, out = data.draw(walks(12, repeats=True)), data.draw(walks(partitions))
    raw = np.random.default_rng(1).integers(0, 2 ** (8 * dtype.size), (partitions, in_.row), dtype=np.uint64)
    x = Tile(raw.astype(f"u{dtype.size}").view(dtype.numpy), dtype)
    y = Tile(np.zeros((12, out.row), dtype.numpy), dtype)
    line = f"bir.stream_transpose on dve outs({at('y', out, 12, dtype)}) ins({at('x', in_, partitions, dtype)})"
    got = run_tiles([line], {"x": x, "y": y})["y"].view(f"u{dtype.size}")
    for p in range(partitions):
        for k, c in enumerate(in_.columns):
            assert got[k, out.columns[p]] == raw[p, c]


UNARY: dict[str, Any] = {
    "bypass": lambda x: x,
    "abs": abs,
    "square": lambda x: x * x,
    "relu": lambda x: max(x, 0.0),
    "rsqrt": lambda x: 1 / f32(math.sqrt(x)) if x > 0 else math.nan,
    "reciprocal": lambda x: _divide(1.0, x),
    "logical_not": lambda x: not x,
}
SHIFTS: dict[str, Any] = {
    "logical_shift_left": lambda x, count, bits: x << count,
    "arith_shift_left": lambda x, count, bits: x << count,
    "logical_shift_right": lambda x, count, bits: x % bits >> count,
    "arith_shift_right": lambda x, count, bits: (x - bits if x >= bits // 2 else x) >> count,
    "bitwise_not": lambda x, count, bits: ~x,
}


@pytest.mark.parametrize("op", UNARY)
@pytest.mark.parametrize("target", [Dtype.F32, Dtype.BF16])
def test_unary_operators_of_tensor_scalar(op: str, target: Dtype) -> None:
    x = Tile(values(Dtype.F32, (3, 8), 5), Dtype.F32)
    y = Tile(np.zeros((3, 8), target.numpy), target)
    line = f"bir.tensor_scalar {op} outs(%y[0 : 3 | 0 : 8] {target}) ins(%x[0 : 3 | 0 : 8] f32)"
    expected = [rounded(f32(float(UNARY[op](float(v)))), target) for v in x.values.flat]
    same(run_tiles([line], {"x": x, "y": y})["y"], expected, target)


@pytest.mark.parametrize("op", SHIFTS)
@pytest.mark.parametrize("dtype", INTEGERS)
def test_shifts(op: str, dtype: Dtype) -> None:
    x, bits = Tile(values(dtype, (3, 8), 5), dtype), 2 ** (8 * dtype.size)
    access = f"[0 : 3 | 0 : 8] {dtype}"
    count = "" if op == "bitwise_not" else f", operand0 = 3 : {dtype}"
    got = run_tiles([f"bir.tensor_scalar {op} outs(%x{access}) ins(%x{access}{count})"], {"x": x})
    for before, after in zip(x.values.flat, got["x"].flat, strict=True):
        assert (int(after) - SHIFTS[op](int(before), 3, bits)) % bits == 0


@pytest.mark.parametrize("op", ["pow", "mod"])
def test_power_and_remainder(op: str) -> None:
    """The remainder has the sign of the divisor."""
    x = Tile(np.abs(values(Dtype.F32, (3, 8), 5)) * np.float32(1 if op == "pow" else -1), Dtype.F32)
    access = "%x[0 : 3 | 0 : 8] f32"
    line = f"bir.tensor_scalar {op} on pool outs({access}) ins({access}, operand0 = 1.5 : f32)"
    expected = [float(v) ** 1.5 if op == "pow" else float(v) % 1.5 for v in x.values.flat]
    np.testing.assert_allclose(run_tiles([line], {"x": x})["x"].reshape(-1), expected, rtol=1e-6)


def test_every_alu_operator_is_tested() -> None:
    tested = {*BINARY, *BITWISE, *UNARY, *SHIFTS, "pow", "mod"}
    assert tested == {str(op) for op in AluOp if op.has_meaning}

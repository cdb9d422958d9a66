"""Small BIR programs for tests, and what numbers do by pure Python, without code of the simulator."""

import itertools
import math
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, ModuleOp

from nki_mlir.dialects.bir import Bir
from nki_mlir.dialects.nki import NKI
from nki_mlir.dialects.verifier import verify_module
from nki_mlir.isa.dtypes import Dtype
from nki_mlir.simulator import Result, simulate
from nki_mlir.tools.mlir_parser import parse_mlir

FLOATS = (Dtype.F32, Dtype.F32R, Dtype.BF16, Dtype.F16, Dtype.F8E4, Dtype.F8E4M3FN, Dtype.F8E5, Dtype.F8E3)
INTEGERS = (Dtype.U8, Dtype.I8, Dtype.U16, Dtype.I16, Dtype.U32, Dtype.I32)
NUMBERS = (*FLOATS, *INTEGERS)


def parsed(text: str) -> ModuleOp:
    """Returns a verified module; its file is called test.mlir."""
    context = Context()
    for dialect in (Builtin, NKI, Bir):
        context.load_dialect(dialect)
    module = parse_mlir(context, text, "test.mlir")
    verify_module(module)
    return module


def program(body: str, attributes: str = "") -> str:
    """Returns the text of a module with one function; the body's first line is line 2."""
    return f"bir.module @m {attributes}{{ bir.func @f {{\n{body}\n}} }}"


def run(body: str, attributes: str = "", inputs: Mapping[str, Any] | None = None, **options: Any) -> Result:
    """Runs one function."""
    return simulate(parsed(program(body, attributes)), inputs or {}, **options)


@dataclass
class Tile:
    """Storage on chip that a test fills and looks at: [partitions, row] elements."""

    values: np.ndarray
    dtype: Dtype
    space: str = "sbuf"


def run_tiles(
    lines: Sequence[str], tiles: Mapping[str, Tile], arch: str = "gen4", **options: Any
) -> dict[str, np.ndarray]:
    """Loads all tiles, runs instructions that call them %name, and returns what the tiles then hold."""
    before, after, inputs = [], [], {}
    for name, tile in tiles.items():
        partitions, row = tile.values.shape
        hbm = f"!nki.mem<hbm {partitions}x{row}x{tile.dtype}>"
        before += [
            f'%{name}.in = bir.tensor "{name}" kind external_input : {hbm}',
            f'%{name}.out = bir.tensor "{name}.out" kind external_output : {hbm}',
            f'%{name} = bir.tensor "{name}.tile" : !nki.mem<{tile.space} {partitions}x{row}x{tile.dtype}>',
            f"bir.load outs(%{name}[0 : {partitions} | 0 : {row}] {tile.dtype})"
            f" ins(%{name}.in[0 : {row}*{partitions}, {row}] {tile.dtype})",
        ]
        after.append(
            f"bir.save outs(%{name}.out[0 : {row}*{partitions}, {row}] {tile.dtype})"
            f" ins(%{name}[0 : {partitions} | 0 : {row}] {tile.dtype})"
        )
        inputs[name] = tile.values
    text = "\n".join([*before, *lines, *after])
    result = run(text, f"attributes {{arch = #nki.arch<{arch}>}} ", inputs, **options)
    return {name: result.outputs[f"{name}.out"] for name in tiles}


# Access patterns --------------------------------------------------------------------------------------------------


@dataclass
class Walk:
    """The free part of an access: offset and (step, number) pairs."""

    offset: int
    pairs: tuple[tuple[int, int], ...]

    @property
    def columns(self) -> list[int]:
        """The elements in order."""
        ranges = [range(number) for _, number in self.pairs]
        return [
            self.offset + sum(step * k for (step, _), k in zip(self.pairs, index, strict=True))
            for index in itertools.product(*ranges)
        ]

    @property
    def row(self) -> int:
        """Elements that a row must have at least."""
        return max(self.columns) + 1

    def text(self) -> str:
        return f"{self.offset} : " + ", ".join(f"{step}*{number}" for step, number in self.pairs)


@st.composite
def walks(draw: Any, count: int, repeats: bool = False, rank: int = 3) -> Walk:
    """Draws a way over `count` elements: any rank, gaps, negative steps, any order; with step 0 if allowed."""
    nums: list[int] = []
    left = count
    for _ in range(draw(st.integers(0, rank - 1))):
        nums.append(draw(st.sampled_from([d for d in range(1, left + 1) if left % d == 0])))
        left //= nums[-1]
    nums.append(left)
    steps = [0] * len(nums)
    extent = 1
    for place in draw(st.permutations(range(len(nums)))):
        if repeats and draw(st.integers(0, 3)) == 0:
            continue
        step = extent + draw(st.integers(0, 2))
        steps[place] = draw(st.sampled_from([step, -step]))
        extent = step * nums[place] + 1
    low = sum(step * (number - 1) for step, number in zip(steps, nums, strict=True) if step < 0)
    return Walk(draw(st.integers(0, 3)) - low, tuple(zip(steps, nums, strict=True)))


def at(name: str, walk: Walk, partitions: int, dtype: Dtype, start: int = 0) -> str:
    """Returns the text of an access."""
    return f"%{name}[{start} : {partitions} | {walk.text()}] {dtype}"


# Numbers ----------------------------------------------------------------------------------------------------------

# dtype: precision in bits, least exponent of a normal number, greatest number, whether there is an infinity
_FORMATS = {
    Dtype.F32: (24, -126, (2 - 2.0**-23) * 2.0**127, True),
    Dtype.F32R: (11, -126, (2 - 2.0**-10) * 2.0**127, True),
    Dtype.BF16: (8, -126, (2 - 2.0**-7) * 2.0**127, True),
    Dtype.F16: (11, -14, 65504.0, True),
    Dtype.F8E4: (4, -6, 240.0, True),
    Dtype.F8E4M3FN: (4, -6, 448.0, False),
    Dtype.F8E5: (3, -14, 57344.0, True),
    Dtype.F8E3: (5, -2, 15.5, True),
}


def rounded(value: float, dtype: Dtype) -> float | int:
    """Returns what an element of the dtype holds after a number is written to it."""
    if dtype.is_integer:
        if math.isnan(value):
            return 0
        bits = 8 * dtype.size
        low, high = (0, 2**bits - 1) if str(dtype)[0] == "u" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
        if math.isinf(value):
            return high if value > 0 else low
        return max(low, min(high, round(value)))
    precision, least, greatest, infinite = _FORMATS[dtype]
    if math.isnan(value) or value == 0:
        return value
    over = math.copysign(math.inf, value) if infinite else math.nan
    if math.isinf(value):
        return over
    exponent = max(math.frexp(value)[1] - 1, least)
    quantum = math.ldexp(1.0, exponent - precision + 1)
    result = round(value / quantum) * quantum
    return over if abs(result) > greatest else result


def f32(value: float) -> float:
    """Returns a number rounded to fp32."""
    if math.isnan(value) or math.isinf(value):
        return value
    try:
        return struct.unpack("<f", struct.pack("<f", value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)


def number(element: Any) -> float:
    """Returns what an engine reads: an element as fp32."""
    return f32(float(element))


def same(got: Any, expected: Sequence[Any], dtype: Dtype) -> None:
    """Asserts that elements hold exactly the expected numbers (NaN equals NaN, zeros of both signs are equal)."""
    for k, (a, b) in enumerate(zip(np.asarray(got).reshape(-1).tolist(), expected, strict=True)):
        a, b = float(a), float(b)
        assert a == b or (math.isnan(a) and math.isnan(b)), f"element {k} of type {dtype}: got {a}, expected {b}"


def values(dtype: Dtype, shape: tuple[int, ...], seed: int, scale: float = 4.0) -> np.ndarray:
    """Returns numbers of a dtype: small and large integers, floats with a fraction."""
    generator = np.random.default_rng(seed)
    if dtype.is_integer:
        bits = 8 * dtype.size
        shifts = generator.integers(0, bits, shape, dtype=np.uint64)
        raw = generator.integers(0, 2**bits, shape, dtype=np.uint64) >> shifts
        return raw.astype(f"u{dtype.size}").view(dtype.numpy)
    exact = generator.standard_normal(shape) * scale
    numbers = np.array([rounded(v, dtype) for v in exact.reshape(-1).tolist()], np.float64)
    return numbers.astype(dtype.numpy).reshape(shape)

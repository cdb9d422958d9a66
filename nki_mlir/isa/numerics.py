"""What numbers do: how operands are read and written, and what ALU operators and activation functions compute.

Engines read any type as fp32, compute in fp32 and round when they write. Integers stay exact in the bitwise operators
and in the 32-bit integer arithmetic of GpSimd. Functions take numpy arrays of any strides, and numbers for immediates;
they are safe in place and let no numpy warning out. docs/numerics.md says where the published facts end and what was
chosen there.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

from nki_mlir.diagnostics import NkiError
from nki_mlir.isa.dtypes import Dtype
from nki_mlir.isa.enums import ActivationFunction, AluOp
from nki_mlir.isa.lazy import numpy as np

if TYPE_CHECKING:
    Array: TypeAlias = np.ndarray[Any, Any]

Write: TypeAlias = Callable[..., None]
Compute: TypeAlias = Callable[..., Any]


def _quiet(function: Any) -> Compute:
    """Returns the function with numpy's floating-point warnings off: infinity and NaN are results like any other."""
    return np.errstate(all="ignore")(function)


# Reading and writing ----------------------------------------------------------------------------------------------


def read(array: Array) -> Array:
    """Widens an array to fp32; an fp32 array is returned as it is, not copied.

    All float types and integers up to 2**24 are exact. Greater integers round to nearest, ties to even, as they do on
    their way through the fp32 engines.
    """
    return array if array.dtype == np.float32 else array.astype(np.float32)


@cache
def writer(dtype: Dtype) -> Write:
    """Returns f(dst, values), which rounds values to `dtype` and stores them in the view `dst`, broadcasting as needed.

    Values are fp32 or integers. Floats round to nearest, ties to even, and overflow as their type does: to infinity, or
    to NaN where it has none. Integers round likewise and saturate; NaN becomes 0. An x4 type takes only the raw bits.
    """
    if dtype is Dtype.F32:
        return np.copyto
    if dtype is Dtype.F32R:
        return _quiet(_write_tfloat32)
    if dtype.is_packed:
        return _raw_writer(dtype)
    return _quiet(_integer_writer(dtype) if dtype.is_integer else _write_narrow_float)


def constant(dtype: Dtype, value: float) -> Any:
    """Returns a Python number as a numpy scalar of `dtype`, rounded as `writer` rounds.

    For an x4 type the number is an integer, the raw bits of an element.
    """
    result = np.empty((), dtype.numpy)
    if isinstance(value, int) and dtype.is_integer:
        result[...] = max(dtype.min, min(dtype.max, value))
    elif dtype.is_packed and float(value).is_integer():
        result[...] = int(value) & ((1 << 8 * dtype.size) - 1)
    else:
        with np.errstate(all="ignore"):
            writer(dtype)(result, np.float32(value))
    return result[()]


def _write_narrow_float(dst: Array, values: Array) -> None:
    np.copyto(dst, read(np.asarray(values)), casting="unsafe")


_TFLOAT32_DROPPED = 13
"""Bits of fp32's fraction that tfloat32, with 10, does not have."""


def _write_tfloat32(dst: Array, values: Array) -> None:
    values = read(np.asarray(values))
    bits = values.view(np.uint32)
    half = np.uint32((1 << _TFLOAT32_DROPPED - 1) - 1)
    even = (bits >> np.uint32(_TFLOAT32_DROPPED)) & np.uint32(1)
    # Adding to the bits carries from fraction to exponent, which is what rounding up to a power of two needs.
    rounded = (bits + (half + even)) & np.uint32(0xFFFFFFFF << _TFLOAT32_DROPPED & 0xFFFFFFFF)
    np.copyto(dst, np.where(np.isnan(values), np.float32(np.nan), rounded.view(np.float32)))


def _raw_writer(dtype: Dtype) -> Write:
    def write(dst: Array, values: Array) -> None:
        if np.asarray(values).dtype.kind not in "iu":
            raise NkiError(f"{dtype} elements are packed; numbers cannot be converted to them one by one")
        np.copyto(dst, values, casting="same_kind")

    return write


def _integer_writer(dtype: Dtype) -> Write:
    low, high = dtype.min, dtype.max
    bottom, top, greatest = np.float32(low), np.float32(high), dtype.numpy.type(high)
    # `top` is the greatest fp32 within the range: above it lies `high` itself or something that saturates.
    if int(top) > high:
        top = np.nextafter(top, np.float32(0))

    def write(dst: Array, values: Array) -> None:
        values = np.asarray(values)
        kind = values.dtype.kind
        if kind == "b":
            np.copyto(dst, values, casting="unsafe")
        elif kind in "iu":
            have = np.iinfo(values.dtype)
            if have.min < low or have.max > high:
                values = np.clip(values, max(low, have.min), min(high, have.max))
            np.copyto(dst, values, casting="unsafe")
        else:
            rounded: Array = np.empty(values.shape, np.float32)
            np.rint(read(values), out=rounded)
            above = rounded > top if top < high else None
            np.copyto(rounded, 0, where=np.isnan(rounded))
            np.maximum(rounded, bottom, out=rounded)
            np.minimum(rounded, top, out=rounded)
            np.copyto(dst, rounded, casting="unsafe")
            if above is not None:
                np.copyto(dst, greatest, where=above)

    return write


# ALU --------------------------------------------------------------------------------------------------------------


def _magnitude(compare: Any) -> Compute:
    """Returns the operator that picks, of two numbers, the one whose magnitude compares true, the second on a tie."""

    def pick(a: Any, b: Any, out: Array | None = None) -> Any:
        first = compare(np.abs(a), np.abs(b)) | np.isnan(a)
        return _deliver(np.where(first, a, b), out)

    return pick


def _deliver(result: Any, out: Array | None) -> Any:
    """Returns the result as fp32, in `out` if there is one."""
    if out is None:
        return result.astype(np.float32)
    np.copyto(out, result)
    return out


def _truth(ufunc: Any) -> Compute:
    def decide(a: Any, b: Any, out: Array | None = None) -> Any:
        return _deliver(ufunc(a, b), out)

    return decide


def _binary(ufunc: Any) -> Compute:
    """Returns a ufunc that does not take `out` as its third positional argument as one that does."""

    def run(a: Any, b: Any, out: Array | None = None) -> Any:
        return ufunc(a, b, out=out)

    return run


def _unary(function: Any) -> Compute:
    def run(a: Any, b: Any = None, out: Array | None = None) -> Any:
        return function(a, out=out)

    return run


def _rsqrt(x: Any, out: Array | None = None) -> Any:
    return np.divide(1, np.sqrt(x), out=out)


def _relu(x: Any, out: Array | None = None) -> Any:
    return np.maximum(x, 0, out=out)


def _logical_not(x: Any, out: Array | None = None) -> Any:
    return _deliver(np.logical_not(x), out)


@cache
def _alu_functions() -> dict[AluOp, Compute]:
    functions: dict[AluOp, Compute] = {
        AluOp.BYPASS: _unary(np.positive),
        AluOp.ADD: np.add,
        AluOp.SUBTRACT: np.subtract,
        AluOp.MULT: np.multiply,
        AluOp.DIVIDE: np.divide,
        AluOp.MAX: _binary(np.maximum),
        AluOp.MIN: _binary(np.minimum),
        AluOp.POW: np.power,
        AluOp.MOD: np.mod,
        AluOp.ABS_MAX: _magnitude(np.greater),
        AluOp.ABS_MIN: _magnitude(np.less),
        AluOp.IS_EQUAL: _truth(np.equal),
        AluOp.NOT_EQUAL: _truth(np.not_equal),
        AluOp.IS_GT: _truth(np.greater),
        AluOp.IS_GE: _truth(np.greater_equal),
        AluOp.IS_LT: _truth(np.less),
        AluOp.IS_LE: _truth(np.less_equal),
        AluOp.LOGICAL_AND: _truth(np.logical_and),
        AluOp.LOGICAL_OR: _truth(np.logical_or),
        AluOp.LOGICAL_XOR: _truth(np.logical_xor),
        AluOp.LOGICAL_NOT: _unary(_logical_not),
        AluOp.RSQRT: _unary(_rsqrt),
        AluOp.ABS: _unary(np.abs),
        AluOp.SQUARE: _unary(np.square),
        AluOp.RELU: _unary(_relu),
        AluOp.RECIPROCAL: _unary(np.reciprocal),
    }
    return {op: _quiet(function) for op, function in functions.items()}


def _no_meaning(op: AluOp) -> NkiError:
    if op.is_bitwise:
        return NkiError(f"ALU operator '{op}' works on the bits of integers, not on numbers in fp32")
    return NkiError(f"ALU operator '{op}' has no published meaning, so it cannot be evaluated")


def alu(op: AluOp) -> Compute:
    """Returns f(a, b, out=None) on fp32; a unary operator ignores b, and comparisons and logic give 1.0 or 0.0.

    Raises `NkiError` for a bitwise operator and for one without a published meaning.
    """
    function = _alu_functions().get(op)
    if function is None:
        raise _no_meaning(op)
    return function


INTEGER_ALU = frozenset({AluOp.BYPASS, AluOp.ADD, AluOp.SUBTRACT, AluOp.MULT}) | {op for op in AluOp if op.is_bitwise}
"""The operators that `integer_alu` has."""


def integer_alu(op: AluOp, dtype: Dtype) -> Compute:
    """Returns f(a, b, out=None) on the raw bits of integers of `dtype`; the result has that type.

    Sums, differences and products keep the low bits. Shift counts are unsigned; bits shifted out are lost, and a count
    of the width or more leaves nothing but, after an arithmetic shift to the right, the sign.
    Raises `NkiError` if `dtype` is no integer type, or `op` neither bitwise nor in `INTEGER_ALU`.
    """
    if op not in INTEGER_ALU:
        raise NkiError(f"ALU operator '{op}' has no integer form")
    if not dtype.is_integer:
        raise NkiError(f"ALU operator '{op}' on raw bits needs an integer type, not {dtype}")
    return _integer_alu(op, dtype)


@cache
def _integer_alu(op: AluOp, dtype: Dtype) -> Compute:
    width = 8 * dtype.size
    native, unsigned, signed = dtype.numpy, np.dtype(f"u{dtype.size}"), np.dtype(f"i{dtype.size}")
    functions: dict[AluOp, Any] = {
        AluOp.BYPASS: _unary(np.positive),
        AluOp.BITWISE_NOT: _unary(np.invert),
        AluOp.BITWISE_AND: np.bitwise_and,
        AluOp.BITWISE_OR: np.bitwise_or,
        AluOp.BITWISE_XOR: np.bitwise_xor,
        AluOp.ARITH_SHIFT_LEFT: np.left_shift,
        AluOp.ARITH_SHIFT_RIGHT: np.right_shift,
        AluOp.LOGICAL_SHIFT_LEFT: np.left_shift,
        AluOp.LOGICAL_SHIFT_RIGHT: np.right_shift,
        AluOp.ADD: np.add,
        AluOp.SUBTRACT: np.subtract,
        AluOp.MULT: np.multiply,
    }
    function = functions[op]
    # All is done on unsigned numbers, where wrapping is numpy's own meaning; only this shift needs to see the sign.
    arithmetic = op is AluOp.ARITH_SHIFT_RIGHT
    working = signed if arithmetic else unsigned

    def bits(value: Any) -> Any:
        if isinstance(value, int):
            return unsigned.type(value & ((1 << width) - 1))
        return np.asarray(value).astype(native, copy=False).view(unsigned)

    def run(a: Any, b: Any = 0, out: Array | None = None) -> Any:
        b = bits(b)
        if arithmetic:
            b = np.minimum(b, unsigned.type(width - 1))
        result = function(bits(a).view(working), b.view(working), out=None if out is None else out.view(working))
        return result.view(native) if out is None else out

    return _quiet(run)


VALUE_ALU = frozenset({AluOp.MAX, AluOp.MIN}) | {op for op in AluOp if op.is_comparison}
"""The operators that `value_alu` has."""


def value_alu(op: AluOp) -> Compute:
    """Returns f(a, b) on the values of integers, whatever their types; the result is of 64 bits, a truth 1 or 0.

    Raises `NkiError` if `op` is not in `VALUE_ALU`.
    """
    if op not in VALUE_ALU:
        raise NkiError(f"ALU operator '{op}' does not compare integers")
    function = alu(op)

    def run(a: Any, b: Any) -> Any:
        return np.asarray(function(np.asarray(a, np.int64), np.asarray(b, np.int64))).astype(np.int64)

    return run


# Reductions -------------------------------------------------------------------------------------------------------

_IDENTITIES: dict[AluOp, float] = {
    AluOp.ADD: 0.0,
    AluOp.SUBTRACT: 0.0,
    AluOp.MULT: 1.0,
    AluOp.DIVIDE: 1.0,
    AluOp.MAX: -math.inf,
    AluOp.MIN: math.inf,
    AluOp.ABS_MAX: 0.0,
    AluOp.ABS_MIN: math.inf,
    AluOp.LOGICAL_AND: 1.0,
    AluOp.LOGICAL_OR: 0.0,
    AluOp.LOGICAL_XOR: 0.0,
    AluOp.BITWISE_AND: -1,
    AluOp.BITWISE_OR: 0,
    AluOp.BITWISE_XOR: 0,
}


def identity(op: AluOp) -> float:
    """Returns what an accumulator of the operator starts from: x op' identity is x (for `bitwise_and` all bits: -1)."""
    if op not in _IDENTITIES:
        raise NkiError(f"ALU operator '{op}' has no identity to start an accumulation from")
    return _IDENTITIES[op]


def _extreme(position: Any) -> Compute:
    """Returns the fold of abs_max or abs_min over the last axis: of equal magnitudes the last one stands."""

    def fold(values: Array) -> Array:
        last = values.shape[-1] - 1
        index = last - position(np.abs(values[..., ::-1]), axis=-1, keepdims=True)
        return np.take_along_axis(values, index, axis=-1)[..., 0]

    return fold


@cache
def _folds() -> dict[AluOp, Compute]:
    def fold(ufunc: Any) -> Compute:
        def run(values: Array) -> Array:
            return ufunc.reduce(values, axis=-1).astype(values.dtype, copy=False)

        return run

    folds: dict[AluOp, Compute] = {
        AluOp.ADD: fold(np.add),
        AluOp.SUBTRACT: fold(np.subtract),
        AluOp.MULT: fold(np.multiply),
        AluOp.DIVIDE: fold(np.divide),
        AluOp.MAX: fold(np.maximum),
        AluOp.MIN: fold(np.minimum),
        AluOp.ABS_MAX: _extreme(np.argmax),
        AluOp.ABS_MIN: _extreme(np.argmin),
        AluOp.LOGICAL_AND: fold(np.logical_and),
        AluOp.LOGICAL_OR: fold(np.logical_or),
        AluOp.LOGICAL_XOR: fold(np.logical_xor),
        AluOp.BITWISE_AND: fold(np.bitwise_and),
        AluOp.BITWISE_OR: fold(np.bitwise_or),
        AluOp.BITWISE_XOR: fold(np.bitwise_xor),
    }
    return {op: _quiet(function) for op, function in folds.items()}


def alu_reduce(op: AluOp) -> Compute:
    """Returns f(values, axis=-1), the reduction of fp32 values over one axis or a tuple of axes, which go.

    A bitwise operator takes integers. The elements of one result are laid out one after the other first, so that the
    order in which they are combined depends on their number only, not on strides: pairwise for `add`, left to right
    where order shows otherwise. Raises `NkiError` if the operator cannot reduce.
    """
    fold = _folds().get(op)
    if fold is None:
        raise NkiError(f"ALU operator '{op}' cannot reduce")

    def reduce(values: Array, axis: int | tuple[int, ...] = -1) -> Array:
        last = values.ndim - 1
        if axis in (-1, last, (last,)):
            return fold(np.ascontiguousarray(values))
        axes = {a % values.ndim for a in ((axis,) if isinstance(axis, int) else axis)}
        kept = [a for a in range(values.ndim) if a not in axes]
        ordered = np.ascontiguousarray(values.transpose(*kept, *sorted(axes)))
        count = math.prod(values.shape[a] for a in axes)
        return fold(ordered.reshape(*(values.shape[a] for a in kept), count))

    return reduce


# Activation functions ---------------------------------------------------------------------------------------------

_STEPS = 256
"""Intervals a unit of the error function's tables; the cubic of an interval is off by less than 2**-36."""
_ERF_END = 4
"""From here on erf is 1 in fp32."""
_ERFC_END = 11
"""From here on erfc is less than the least fp32, so its factor exp(x**2) no longer matters."""


@cache
def _erf_table() -> Array:
    """Value and derivatives, each divided by its factorial, of erf in the middle of every interval."""
    x = np.arange(_ERF_END * _STEPS + 1) / _STEPS
    value = np.array([math.erf(v) for v in x])
    slope = 2 / math.sqrt(math.pi) * np.exp(-x * x)
    return np.stack([value, slope, -x * slope, (2 * x * x - 1) / 3 * slope])


@cache
def _erfcx_table() -> Array:
    """The same for exp(x**2) * erfc(x), which falls slowly and so keeps erfc's relative accuracy far out."""
    x = np.arange(_ERFC_END * _STEPS + 1) / _STEPS
    value = np.array([math.exp(v * v) * math.erfc(v) for v in x])
    first = 2 * x * value - 2 / math.sqrt(math.pi)
    second = 2 * value + 2 * x * first
    third = 4 * first + 2 * x * second
    return np.stack([value, first, second / 2, third / 6])


def _cubic(table: Array, end: int, x: Array) -> Array:
    """Evaluates a table of cubics at min(x, end), x >= 0, in double precision; NaN stays NaN."""
    x = np.minimum(x, end)
    nearest = np.rint(x * _STEPS)
    h = x - nearest / _STEPS
    index = np.nan_to_num(nearest).astype(np.intp)
    c0, c1, c2, c3 = (row[index] for row in table)
    return c0 + h * (c1 + h * (c2 + h * c3))


def _erf(x: Array) -> Array:
    return np.copysign(_cubic(_erf_table(), _ERF_END, np.abs(x)), x)


def _erf_dx(x: Array) -> Array:
    return 2 / math.sqrt(math.pi) * np.exp(-x * x)


def _normal_cdf(x: Array) -> Array:
    """The standard normal distribution, with full relative accuracy in its lower tail."""
    tail = 0.5 * _cubic(_erfcx_table(), _ERFC_END, np.abs(x) / math.sqrt(2)) * np.exp(-x * x / 2)
    return np.where(x < 0, tail, 1 - tail)


def _gelu(x: Array) -> Array:
    return x * _normal_cdf(x)


def _gelu_dx(x: Array) -> Array:
    return _normal_cdf(x) + x * np.exp(-x * x / 2) / math.sqrt(2 * math.pi)


def _sigmoid(x: Any, out: Array | None = None) -> Any:
    return np.divide(1, 1 + np.exp(-x), out=out)


def _gelu_apprx_tanh(x: Array) -> Array:
    # 0.5 * (1 + tanh(u)) is sigmoid(2 * u), which keeps its accuracy where tanh(u) nears -1.
    return x * _sigmoid(2 * math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x))


def _gelu_apprx_sigmoid(x: Array) -> Array:
    return x * _sigmoid(1.702 * x)


def _gelu_apprx_sigmoid_dx(x: Array) -> Array:
    s = _sigmoid(1.702 * x)
    return s + 1.702 * x * s * (1 - s)


def _silu(x: Any, out: Array | None = None) -> Any:
    return np.divide(x, 1 + np.exp(-x), out=out)


def _silu_dx(x: Array) -> Array:
    s = _sigmoid(x)
    return s * (1 + x * (1 - s))


def _softplus(x: Array) -> Array:
    return np.logaddexp(0, x)


def _mish(x: Array) -> Array:
    return x * np.tanh(_softplus(x))


def _sin(x: Any, out: Array | None = None) -> Any:
    """The sine in [-pi, pi]; beyond, the cubic at the end of that interval (the hardware has no range reduction)."""
    far = np.abs(x) > math.pi
    if not far.any():
        return np.sin(x, out=out)
    d = np.abs(x, dtype=np.float64) - math.pi
    return _deliver(np.where(far, np.copysign(1, x) * d * (d * d / 6 - 1), np.sin(x)), out)


def _wide(function: Compute) -> Compute:
    """Returns a formula of several steps computed in double precision and rounded once."""

    def run(x: Any, out: Array | None = None) -> Any:
        return _deliver(function(np.asarray(x, np.float64)), out)

    return run


@cache
def _activations() -> dict[ActivationFunction, Compute]:
    functions: dict[ActivationFunction, Compute] = {
        ActivationFunction.IDENTITY: np.positive,
        ActivationFunction.SQUARE: np.square,
        ActivationFunction.RELU: _relu,
        ActivationFunction.SIGMOID: _sigmoid,
        ActivationFunction.TANH: np.tanh,
        ActivationFunction.EXP: np.exp,
        ActivationFunction.SOFTPLUS: _wide(_softplus),
        ActivationFunction.SQRT: np.sqrt,
        ActivationFunction.RSQRT: _rsqrt,
        ActivationFunction.LOG: np.log,
        ActivationFunction.ERF: _wide(_erf),
        ActivationFunction.SIN: _sin,
        ActivationFunction.ARCTAN: np.arctan,
        ActivationFunction.SIGN: np.sign,
        ActivationFunction.GELU: _wide(_gelu),
        ActivationFunction.MISH: _wide(_mish),
        ActivationFunction.GELU_APPRX_TANH: _wide(_gelu_apprx_tanh),
        ActivationFunction.GELU_APPRX_SIGMOID: _wide(_gelu_apprx_sigmoid),
        ActivationFunction.GELU_APPRX_SIGMOID_DX: _wide(_gelu_apprx_sigmoid_dx),
        ActivationFunction.GELU_DX: _wide(_gelu_dx),
        ActivationFunction.ERF_DX: _wide(_erf_dx),
        ActivationFunction.COPY: np.positive,
        ActivationFunction.ABS: np.abs,
        ActivationFunction.RECIPROCAL: np.reciprocal,
        ActivationFunction.SILU: _silu,
        ActivationFunction.SILU_DX: _wide(_silu_dx),
    }
    return {name: _quiet(function) for name, function in functions.items()}


def activation(func: ActivationFunction, alpha: Any = 0.0) -> Compute:
    """Returns f(x, out=None) of fp32 values; `alpha` is the slope of `prelu` below 0, a number or an fp32 array.

    Raises `NkiError` for a function without a published meaning.
    """
    if func is ActivationFunction.PRELU:

        def prelu(x: Any, out: Array | None = None) -> Any:
            return _deliver(np.where(x >= 0, x, x * np.asarray(alpha, np.float32)), out)

        return _quiet(prelu)
    function = _activations().get(func)
    if function is None:
        raise NkiError(f"activation function '{func}' has no published meaning, so it cannot be evaluated")
    return function

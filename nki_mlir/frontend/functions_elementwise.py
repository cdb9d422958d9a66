"""Element-wise functions: binary and unary operators, activation functions, selection.

`mask` is what `masked` makes of a `mask=` argument. Source: NKI ISA reference, §3.6.
"""

import math
from typing import Any

from nki_mlir.frontend.context import nki_ctx
from nki_mlir.frontend.errors import err_unexpected_type_of_operand
from nki_mlir.frontend.functions import (
    PSUM,
    Mask,
    apart,
    broadcast_shape,
    constant,
    domain_of,
    fresh,
    in_sbuf,
    is_vector,
    on_chip,
    result_type,
    scalar_or_tile,
    sema,
    spread,
    written,
)
from nki_mlir.frontend.records import Record
from nki_mlir.frontend.sema import number
from nki_mlir.frontend.storage import Tile
from nki_mlir.isa.dtypes import Dtype
from nki_mlir.isa.enums import ActivationFunction, AluOp
from nki_mlir.isa.instructions import INSTRUCTIONS

# Binary operators -----------------------------------------------------------------------------------------------


def binary(
    api: str,
    op: AluOp,
    x: Any,
    y: Any,
    dtype: Any = None,
    mask: Mask = True,
    *,
    promote: bool = True,
    partitions: bool = True,
) -> Tile:
    """Returns x op y, broadcast by numpy's rules; one operand may be a number.

    Without `dtype` the result has the promoted type of the operands (`promote`), or that of the first tile.
    `partitions` says whether one partition may be broadcast to several.

    Raises:
        NKITypeError: neither is a tile, or one is in HBM.
        NKIValueError: the shapes do not fit.
    """
    a, b = scalar_or_tile(api, "x", x), scalar_or_tile(api, "y", y)
    kind = result_type(dtype, a, b, promote=promote) if isinstance(a, Tile) or isinstance(b, Tile) else None
    if kind is None:
        raise err_unexpected_type_of_operand(api, "x", x, "a tile, as y is a number")
    if not isinstance(b, Tile):
        result = fresh(api, a.shape, kind)
        domain = domain_of(mask, result, data=a)
        sema().tensor_scalar(result, a, op, number(b), None, None, mask=mask, domain=domain)
    elif not isinstance(a, Tile):
        result = fresh(api, b.shape, kind)
        domain = domain_of(mask, result, data=b)
        reverse = not op.is_commutative
        sema().tensor_scalar(result, b, op, number(a), None, None, reverse0=reverse, mask=mask, domain=domain)
    else:
        result = fresh(api, broadcast_shape(api, a.shape, b.shape), kind)
        _tiles(api, op, result, a, b, mask, partitions)
    return result


def _tiles(api: str, op: AluOp, result: Tile, a: Tile, b: Tile, mask: Mask, partitions: bool) -> None:
    """Records result = a op b. One element a partition goes as the operand of a tensor-scalar instruction."""
    for data, operand, reverse in ((a, b, False), (b, a, not op.is_commutative)):
        if _is_operand(op, result, data, operand):
            domain = domain_of(mask, result, data=data)
            sema().tensor_scalar(result, data, op, operand, None, None, reverse0=reverse, mask=mask, domain=domain)
            return
    data1 = spread(api, a, result.shape, mask, partitions=partitions)
    data2 = apart(data1, spread(api, b, result.shape, mask, partitions=partitions), mask)
    if op is AluOp.POW:  # on GpSimd, which does not reach PSUM
        data1, data2 = in_sbuf(data1, mask), in_sbuf(data2, mask)
    domain = domain_of(mask, result, data1=data1, data2=data2)
    sema().tensor_tensor(result, data1, data2, op, None, mask=mask, domain=domain)


def _is_operand(op: AluOp, result: Tile, data: Tile, operand: Tile) -> bool:
    return (
        data.shape == result.shape
        and operand.element is Dtype.F32
        and not op.is_bitwise
        and is_vector(operand)
        and not is_vector(data)
        and operand.shape[0] == data.shape[0]
        and operand.ndim == data.ndim
    )


def in_place(api: str, op: AluOp, target: Tile, value: Any) -> None:
    """Records target = target op value, without a new tile and without broadcasting over partitions.

    A result of a matmul that is added to PSUM makes the matmul accumulate there in the end (`functions_folding`).
    """
    own = on_chip(api, "x", target, engine=False)
    other = scalar_or_tile(api, "y", value)
    if not isinstance(other, Tile):
        sema().tensor_scalar(own, own, op, number(other), None, None)
        return
    if _is_operand(op, own, own, other) and other.allocation.part is None:
        sema().tensor_scalar(own, own, op, other, None, None)
        return
    if other.shape[0] != own.shape[0]:
        spread(api, other, own.shape, partitions=False)
    pair = written(api, own, other)
    if pair is None:
        return
    where, what, mask = pair
    if own.buffer is PSUM and other.buffer is PSUM:
        if op is AluOp.ADD and other.allocation.fresh and _accumulates(where, what, mask):
            return
        what = _part_in_sbuf(api, other, what, mask) if other.shape == own.shape else in_sbuf(what, mask)
    sema().tensor_tensor(where, where, what, op, None, mask=mask)


def _part_in_sbuf(api: str, tile: Tile, part: Tile, mask: Mask) -> Tile:
    """Returns a copy in SBUF of the part of a tile that was written; the copy has room for all of the tile."""
    copied = fresh("tensor_copy", tile.shape, tile.element)
    if tile.allocation.part is not None and (cut := written(api, copied, tile)) is not None:
        copied = cut[0]
    sema().tensor_copy(copied, part, None, mask=mask)
    return copied


def _accumulates(target: Tile, source: Tile, mask: Mask) -> bool:
    """Adds the result of the matmul that was recorded last to a tile in PSUM; False if it is not its result.

    The instruction would read PSUM twice, so it does not pass the rules; the end of the trace makes it legal.
    """
    context = nki_ctx()
    body = context.recorder.body
    last = body[-1] if body else None
    if not isinstance(last, Record) or last.instr is not INSTRUCTIONS["matmul"]:
        return False
    if last.roles["dst"].storage is not source.storage or target.element is not source.element:
        return False
    record = context.sema.record(
        "tensor_tensor", {"dst": target, "data1": target, "data2": source}, {"op": AluOp.ADD}, mask=mask, check=False
    )
    if record is not None:
        context.assignments.append((body, record))
    return True


# Unary functions ------------------------------------------------------------------------------------------------


def activated(
    api: str,
    func: ActivationFunction,
    x: Any,
    dtype: Any = None,
    mask: Mask = True,
    *,
    bias: Any = None,
    scale: Any = None,
) -> Tile:
    """Returns func(x * scale + bias) on the Scalar engine, in the type of x unless `dtype` says another."""
    data = on_chip(api, "x", x)
    result = fresh(api, data.shape, result_type(dtype, data))
    sema().activation(result, func, data, bias, scale, mask=mask, domain=domain_of(mask, result, data=data))
    return result


def copied(api: str, x: Any, dtype: Any = None, mask: Mask = True, engine: Any = None) -> Tile:
    """Returns a copy of x in SBUF, cast to `dtype`."""
    data = on_chip(api, "x", x)
    result = fresh(api, data.shape, result_type(dtype, data))
    sema().tensor_copy(result, data, engine, mask=mask, domain=domain_of(mask, result, src=data))
    return result


def reciprocal(api: str, x: Any, dtype: Any = None, mask: Mask = True) -> Tile:
    """Returns 1 / x, on the Vector engine."""
    data = on_chip(api, "x", x)
    result = fresh(api, data.shape, result_type(dtype, data))
    sema().reciprocal(result, data, mask=mask, domain=domain_of(mask, result, data=data))
    return result


def combined(
    api: str,
    x: Any,
    op0: AluOp,
    operand0: Any,
    op1: AluOp | None,
    operand1: Any,
    dtype: Any = None,
    mask: Mask = True,
    *,
    reverse0: bool = False,
    reverse1: bool = False,
) -> Tile:
    """Returns (x op0 operand0) op1 operand1; operand0 is a number, operand1 a number or a tile of x's shape."""
    data = on_chip(api, "x", x)
    result = fresh(api, data.shape, result_type(dtype, data))
    first = number(operand0)
    if isinstance(operand1, Tile):
        assert op1 is not None
        domain = domain_of(mask, result, data=data, operand1=operand1)
        how: dict[str, Any] = {"reverse0": reverse0, "reverse1": reverse1, "mask": mask, "domain": domain}
        sema().scalar_tensor_tensor(result, data, op0, first, op1, apart(data, operand1, mask), **how)
    else:
        how = {"reverse0": reverse0, "reverse1": reverse1, "mask": mask, "domain": domain_of(mask, result, data=data)}
        sema().tensor_scalar(result, data, op0, first, op1, None if operand1 is None else number(operand1), **how)
    return result


def negative(api: str, x: Any, dtype: Any = None, mask: Mask = True) -> Tile:
    """Returns -x."""
    data = on_chip(api, "x", x)
    return combined(api, data, AluOp.MULT, -1 if data.element.is_integer else -1.0, None, None, dtype, mask)


def floor(api: str, x: Any, dtype: Any = None, mask: Mask = True) -> Tile:
    """Returns the greatest integer not above x: x - x mod 1."""
    data = on_chip(api, "x", x)
    return combined(api, data, AluOp.MOD, 1.0, AluOp.SUBTRACT, data, dtype, mask, reverse1=True)


def ceil(api: str, x: Any, dtype: Any = None, mask: Mask = True) -> Tile:
    """Returns the least integer not below x: x + (-x) mod 1."""
    data = on_chip(api, "x", x)
    below = combined(api, data, AluOp.MULT, -1.0, AluOp.MOD, 1.0, Dtype.F32, mask)
    return binary(api, AluOp.ADD, data, below, result_type(dtype, data), mask)


def trunc(api: str, x: Any, dtype: Any = None, mask: Mask = True) -> Tile:
    """Returns x without its fraction: sign(x) * floor(abs(x))."""
    data = on_chip(api, "x", x)
    size = activated(api, ActivationFunction.ABS, data, Dtype.F32, mask)
    sign = activated(api, ActivationFunction.SIGN, data, Dtype.F32, mask)
    return binary(api, AluOp.MULT, floor(api, size, None, mask), sign, result_type(dtype, data), mask)


def _bias(api: str, data: Tile, value: float, mask: Mask) -> Tile:
    return constant(api, (data.shape[0], *(1 for _ in data.shape[1:])), value, Dtype.F32, mask)


def sin(api: str, x: Any, dtype: Any = None, mask: Mask = True, *, reduced: bool = False) -> Tile:
    """Returns sin(x); the engine's function holds in [-pi, pi], `reduced` brings other arguments there first."""
    data = on_chip(api, "x", x)
    kind = result_type(dtype, data)
    if reduced:
        data = _in_period(api, data, mask)
    return activated(api, ActivationFunction.SIN, data, kind, mask)


def _in_period(api: str, data: Tile, mask: Mask) -> Tile:
    """Returns x - 2 pi k with the integer k nearest to x / (2 pi); the cast to an integer rounds to nearest."""
    turns = combined(api, data, AluOp.MULT, 1 / (2 * math.pi), None, None, Dtype.I32, mask)
    near = combined(api, turns, AluOp.MULT, -2 * math.pi, AluOp.ADD, data, Dtype.F32, mask)
    # Rounding may leave the result a little outside, where the engine's function does not hold.
    return combined(api, near, AluOp.MIN, math.pi, AluOp.MAX, -math.pi, None, mask)


def cos(api: str, x: Any, dtype: Any = None, mask: Mask = True, *, reduced: bool = False) -> Tile:
    """Returns cos(x) = sin(pi / 2 - abs(x)) for x in [-pi, pi]."""
    data = on_chip(api, "x", x)
    kind = result_type(dtype, data)
    if reduced:
        data = _in_period(api, data, mask)
    size = activated(api, ActivationFunction.ABS, data, Dtype.F32, mask)
    shift = _bias(api, data, math.pi / 2, mask)
    return activated(api, ActivationFunction.SIN, size, kind, mask, bias=shift, scale=number(-1.0, Dtype.F32))


def tan(api: str, x: Any, dtype: Any = None, mask: Mask = True, *, reduced: bool = False) -> Tile:
    """Returns tan(x) = sin(x) / cos(x)."""
    kind = result_type(dtype, on_chip(api, "x", x))
    over, under = (part(api, x, Dtype.F32, mask, reduced=reduced) for part in (sin, cos))
    return binary(api, AluOp.DIVIDE, over, under, kind, mask)


def inverted(api: str, x: Any, dtype: Any = None, mask: Mask = True) -> Tile:
    """Returns the bits of x inverted: x xor all ones."""
    data = on_chip(api, "x", x)
    ones = -1 if data.element.is_signed else data.element.max if data.element.is_integer else -1
    return binary(api, AluOp.BITWISE_XOR, data, ones, result_type(dtype, data), mask)


def logical_not(api: str, x: Any, dtype: Any = None, mask: Mask = True) -> Tile:
    """Returns 1 where x is 0, else 0."""
    return binary(api, AluOp.IS_EQUAL, on_chip(api, "x", x), 0.0, dtype, mask)


# Selection ------------------------------------------------------------------------------------------------------


def where(
    api: str, condition: Any, x: Any, y: Any, dtype: Any = None, mask: Mask = True, *, promote: bool = True
) -> Tile:
    """Returns x where condition is not 0, else y; all three broadcast."""
    predicate = on_chip(api, "condition", condition)
    first, second = scalar_or_tile(api, "x", x), scalar_or_tile(api, "y", y)
    promote = promote or not (isinstance(first, Tile) or isinstance(second, Tile))
    kind = result_type(dtype, first, second, promote=promote)
    shape = predicate.shape
    for value in (first, second):
        if isinstance(value, Tile):
            shape = broadcast_shape(api, shape, value.shape)
    predicate = spread(api, predicate, shape, mask)
    on_true: Any = number(first, Dtype.F32) if not isinstance(first, Tile) else spread(api, first, shape, mask)
    if isinstance(first, Tile):
        on_true = apart(predicate, on_true, mask)
    on_false = spread(api, second, shape, mask) if isinstance(second, Tile) else number(second, Dtype.F32)
    result = fresh(api, shape, kind)
    domain = domain_of(mask, result, predicate=predicate, on_true=on_true, on_false=on_false)
    sema().select(result, predicate, on_true, on_false, mask=mask, domain=domain)
    return result

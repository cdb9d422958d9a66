"""Reductions over free dimensions, and the functions made of them: mean, variance, softmax, RMS normalisation.

Source: NKI ISA reference, §2.13 (idioms), §3.6.
"""

import math
from collections.abc import Sequence
from typing import Any

from nki_mlir.frontend.errors import NKIValueError
from nki_mlir.frontend.functions import (
    Mask,
    Shape,
    domain_of,
    fresh,
    on_chip,
    regrid,
    result_type,
    sema,
)
from nki_mlir.frontend.functions_elementwise import activated, binary, combined, reciprocal
from nki_mlir.frontend.functions_operands import free_axes, real
from nki_mlir.frontend.masks import axis_limits, extent, nonempty
from nki_mlir.frontend.sema import number
from nki_mlir.frontend.storage import Tile
from nki_mlir.frontend.symbolic import Pred
from nki_mlir.isa.dtypes import Dtype
from nki_mlir.isa.enums import AccumulateCommand, ActivationFunction, AluOp


def reduced(
    api: str,
    op: AluOp,
    x: Any,
    axis: Any,
    dtype: Any = None,
    mask: Mask = True,
    *,
    keepdims: bool = False,
    negate: bool = False,
) -> Tile:
    """Returns the reduction of x over free axes, which need not be the last ones: the access is permuted.

    The reduced axes go, or stay with size 1 (`keepdims`); a result of one element a partition is [P, 1].

    Raises:
        NKISyntaxError: an axis is the partition axis or does not exist.
    """
    data = on_chip(api, "x", x)
    axes = free_axes(api, axis, data.ndim)
    kept = [dim for dim in range(data.ndim) if dim not in axes]
    shape = reduced_shape(data.shape, axes, keepdims=keepdims)
    result = fresh(api, shape, result_type(dtype, data))
    # The mask speaks of the data's dimensions: the result gets the reduced ones too, with size 1.
    view = result.reshape((*(data.shape[dim] for dim in kept), *(1 for _ in axes)))
    moved = moved_axes(data, [*kept, *axes])
    if isinstance(mask, Pred):
        limits, _ = axis_limits(mask, data)
        mask = nonempty(mask, [limits[dim] for dim in axes])
    sema().tensor_reduce(view, op, moved, len(axes), negate=negate, mask=mask, domain="data")
    _remember_part(result, data, axes, mask, keepdims)
    return result


def _remember_part(result: Tile, data: Tile, axes: Sequence[int], mask: Mask, keepdims: bool) -> None:
    """Notes at a result without the axes of `data` which part of it a mask over `data` has left."""
    if isinstance(mask, Pred):
        limits, _ = axis_limits(mask, data)
        left = [None if dim in axes else limits[dim] for dim in range(data.ndim) if keepdims or dim not in axes]
        result.allocation.part = ([*left, None][: result.ndim], mask) if result.allocation.written else ((), False)


def reduced_shape(shape: Shape, axes: Sequence[int], *, keepdims: bool) -> Shape:
    """Returns the shape of a reduction."""
    if keepdims:
        return tuple(1 if dim in axes else size for dim, size in enumerate(shape))
    kept = tuple(size for dim, size in enumerate(shape) if dim not in axes)
    return kept if len(kept) > 1 else (*kept, 1)


def moved_axes(tile: Tile, order: Sequence[int]) -> Tile:
    """Returns a tile with its dimensions in another order; the axes of its index grid move with them."""
    if list(order) == list(range(tile.ndim)):
        return tile
    axes = None if tile.grid is None else [tile.grid.axes[dim] for dim in order]
    return regrid(tile.permute(order), tile, axes)


def count_of(tile: Tile, axes: Sequence[int], mask: Mask = True) -> int:
    """Returns how many elements each result of a reduction is made of: those that a mask leaves."""
    limits, _ = axis_limits(mask, tile)
    return math.prod(extent(limits[dim], tile.shape[dim])[1] for dim in axes)


def mean(api: str, x: Any, axis: Any, dtype: Any = None, mask: Mask = True, *, keepdims: bool = False) -> Tile:
    """Returns the mean over free axes, summed in fp32; of integers it is fp32 unless `dtype` says another."""
    data = on_chip(api, "x", x)
    axes = free_axes(api, axis, data.ndim)
    kind = result_type(dtype, data) if dtype is not None or data.element.is_float else Dtype.F32
    if keepdims or not isinstance(mask, Pred):
        total = reduced(api, AluOp.ADD, data, axes, Dtype.F32, mask, keepdims=keepdims)
        return combined(api, total, AluOp.DIVIDE, float(count_of(data, axes, mask)), None, None, kind, mask)
    # A mask finds its dimensions by their places, which they keep while the reduced ones stay.
    total = reduced(api, AluOp.ADD, data, axes, Dtype.F32, mask, keepdims=True)
    result = fresh(api, reduced_shape(data.shape, axes, keepdims=False), kind)
    count = number(float(count_of(data, axes, mask)))
    sema().tensor_scalar(result.reshape(total.shape), total, AluOp.DIVIDE, count, None, None, mask=mask)
    _remember_part(result, data, axes, mask, keepdims)
    return result


def variance(api: str, x: Any, axis: Any, dtype: Any = None, mask: Mask = True, *, keepdims: bool = False) -> Tile:
    """Returns the population variance over free axes: the mean of (x - mean(x)) squared, in fp32."""
    data = on_chip(api, "x", x)
    axes = free_axes(api, axis, data.ndim)
    kind = result_type(dtype, data) if dtype is not None or data.element.is_float else Dtype.F32
    middle = mean(api, data, axes, Dtype.F32, mask, keepdims=True)
    away = binary(api, AluOp.SUBTRACT, data, middle, Dtype.F32, mask)
    square = activated(api, ActivationFunction.SQUARE, away, Dtype.F32, mask)
    return mean(api, square, axes, kind, mask, keepdims=keepdims)


def softmax(api: str, x: Any, axis: Any, dtype: Any = None, mask: Mask = True) -> Tile:
    """Returns exp(x - max) / sum(exp(x - max)) over free axes, computed in fp32.

    When all free axes are meant, the exponential takes -max as its bias and adds up its results on the way.
    """
    data = on_chip(api, "x", x)
    axes = free_axes(api, axis, data.ndim)
    kind = result_type(dtype, data)
    if len(axes) == data.ndim - 1:
        lowest = reduced(api, AluOp.MAX, data, axes, Dtype.F32, mask, keepdims=True, negate=True)
        powers, total = exponentials(api, data, lowest, mask)
        return binary(api, AluOp.MULT, powers, reciprocal(api, total, None, mask), kind, mask)
    highest = reduced(api, AluOp.MAX, data, axes, Dtype.F32, mask, keepdims=True)
    away = binary(api, AluOp.SUBTRACT, data, highest, Dtype.F32, mask)
    powers = activated(api, ActivationFunction.EXP, away, Dtype.F32, mask)
    total = reduced(api, AluOp.ADD, powers, axes, Dtype.F32, mask, keepdims=True)
    return binary(api, AluOp.MULT, powers, reciprocal(api, total, None, mask), kind, mask)


def exponentials(api: str, data: Tile, bias: Tile, mask: Mask) -> tuple[Tile, Tile]:
    """Returns exp(data + bias) in fp32, and its sum for each partition."""
    powers = fresh(api, data.shape, Dtype.F32)
    total = fresh(api, bias.shape, Dtype.F32)
    sema().activation(
        powers,
        ActivationFunction.EXP,
        data,
        bias,
        None,
        reduce_op=AluOp.ADD,
        reduce_res=total,
        accumulate=AccumulateCommand.ZERO_ACCUMULATE,
        mask=mask,
        domain=domain_of(mask, powers, data=data),
    )
    return powers, total


def rms_norm(
    api: str, x: Any, w: Any, axis: Any, n: Any, epsilon: float = 1e-6, dtype: Any = None, mask: Mask = True
) -> Tile:
    """Returns x / sqrt(sum(x * x) / n + epsilon) * w; the sum runs over the free axes `axis`.

    Raises:
        NKITypeError: n or epsilon is no number.
        NKIValueError: n is 0.
    """
    data = on_chip(api, "x", x)
    count, least = real(api, "n", n), real(api, "epsilon", epsilon)
    if count == 0:
        raise NKIValueError(f"{api}: n cannot be 0", rule="rms_norm")
    axes = free_axes(api, axis, data.ndim)
    square = activated(api, ActivationFunction.SQUARE, data, Dtype.F32, mask)
    total = reduced(api, AluOp.ADD, square, axes, Dtype.F32, mask, keepdims=True)
    size = combined(api, total, AluOp.MULT, 1.0 / count, AluOp.ADD, least, None, mask)
    inverse = activated(api, ActivationFunction.RSQRT, size, Dtype.F32, mask)
    scaled = binary(api, AluOp.MULT, data, inverse, Dtype.F32, mask)
    return binary(api, AluOp.MULT, scaled, w, result_type(dtype, data), mask)


def partition_reduced(api: str, op: AluOp, x: Any, dtype: Any = None, mask: Mask = True) -> Tile:
    """Returns the reduction of x over its partitions, [1, …]."""
    data = on_chip(api, "data", x)
    result = fresh(api, (1, *data.shape[1:]), result_type(dtype, data))
    sema().partition_reduce(result, op, data, mask=mask, domain="data")
    return result

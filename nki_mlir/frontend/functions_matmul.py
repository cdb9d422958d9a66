"""Matmul and transposes. A matmul that is added to a tile in PSUM accumulates there (`functions_folding`).

Source: NKI ISA reference, §2.3, §3.6.
"""

import math
from typing import Any

from nki_mlir.frontend.context import nki_ctx
from nki_mlir.frontend.errors import (
    err_exceed_max_supported_dimension,
    err_param_shape_incompatible_with_matmul,
    err_size_of_dimension_exceed_arch_limit,
)
from nki_mlir.frontend.functions import PSUM, SBUF, Mask, fresh, in_sbuf, on_chip, sema
from nki_mlir.frontend.masks import AxisLimit, axis_limits, check_bounds, guards, nonempty, restrict
from nki_mlir.frontend.storage import Tile
from nki_mlir.frontend.symbolic import Atom, Pred, axes_of
from nki_mlir.isa.dtypes import Dtype
from nki_mlir.isa.enums import Engine
from nki_mlir.isa.target import CAYMAN

VECTOR_LIMIT = 32
"""Rows and columns that the Vector engine transposes at once."""


def product(api: str, stationary: Any, moving: Any, mask: Mask = True, **attributes: Any) -> Tile:
    """Returns transpose(stationary [K, M]) @ moving [K, N], a tile [M, N] of fp32 in PSUM.

    Several free dimensions of an operand count as one.

    Raises:
        NKIValueError: the contraction sizes differ.
    """
    a, b = on_chip(api, "stationary", stationary), on_chip(api, "moving", moving)
    if a.shape[0] != b.shape[0]:
        raise err_param_shape_incompatible_with_matmul(api, a.shape, b.shape)
    rows, columns = math.prod(a.shape[1:]), math.prod(b.shape[1:])
    if rows > 128:
        raise err_size_of_dimension_exceed_arch_limit(api, "the free dimension of stationary", rows, 128)
    kind = a.element if attributes.get("is_transpose") and nki_ctx().target >= CAYMAN else Dtype.F32
    result = fresh(api, (rows, columns), kind, PSUM)
    if mask is True:
        sema().matmul(result, a, b, accumulate=False, **attributes)
        return result
    cut = None if mask is False else _cut(a, b, result, mask)
    result.allocation.part = (), False
    if cut is not None:
        a, b, dst, mask, limits = cut
        sema().matmul(dst, a, b, accumulate=False, mask=_guard(mask), **attributes)
        result.allocation.part = limits, mask
    return result


def _cut(a: Tile, b: Tile, result: Tile, mask: Pred) -> "tuple[Tile, Tile, Tile, Pred, list[AxisLimit | None]] | None":
    """Returns stationary, moving and result as a mask leaves them, the mask, and the limits of the result.

    None if nothing is left.

    The two free dimensions stand in the same place, so a condition goes to the operand whose index grid has its axis;
    without one, to every operand with a dimension of its size and place.
    """
    limits_a, _ = axis_limits(_for_operand(mask, a, b), a)
    limits_b, _ = axis_limits(_for_operand(mask, b, a), b)
    limits_a[0] = limits_b[0] = limits_a[0] or limits_b[0]  # the contraction
    limits = [own[-1] if tile.ndim == 2 else None for own, tile in ((limits_a, a), (limits_b, b))]
    check_bounds(a, mask)
    check_bounds(b, mask)
    cut = restrict(a, limits_a), restrict(b, limits_b), restrict(result, limits)
    if cut[0] is None or cut[1] is None or cut[2] is None:
        return None
    hidden = [limits_a[0], *(own for own in limits_a[1:] + limits_b[1:] if own not in limits)]
    return cut[0], cut[1], cut[2], nonempty(mask, hidden), limits


def _guard(mask: Pred) -> Mask:
    """Returns the part of a mask that no operand is cut by."""
    found = guards(mask)
    return Pred(found) if found else True


def _for_operand(mask: Pred, own: Tile, other: Tile) -> Pred:
    """Returns the conditions that are about `own`: those over its own axes, and those that are not about `other`."""

    def has(tile: Tile, atom: Atom) -> bool:
        axes = () if tile.grid is None else tile.grid.axes
        return any(axis is own_axis for axis in axes_of(atom.expr) for own_axis in axes)

    return Pred(tuple(atom for atom in mask.atoms if has(own, atom) or not has(other, atom)))


def matmul(api: str, x: Any, y: Any, transpose_x: bool = False, mask: Mask = True) -> Tile:
    """Returns x @ y, or transpose(x) @ y: a tile of fp32 in PSUM. Without `transpose_x` x is transposed first.

    Raises:
        NKIValueError: an operand has not two dimensions, or the contraction sizes differ.
    """
    a, b = on_chip(api, "x", x), on_chip(api, "y", y)
    for tile in (a, b):
        if tile.ndim != 2:
            raise err_exceed_max_supported_dimension(api, tile.ndim, 2)
    if a.shape[0 if transpose_x else 1] != b.shape[0]:
        raise err_param_shape_incompatible_with_matmul(api, a.shape, b.shape)
    if not transpose_x:
        a = in_sbuf(transposed(api, a, mask))
    return product(api, in_sbuf(a), in_sbuf(b), mask)


def transposed(api: str, x: Any, mask: Mask = True, engine: Engine | None = None) -> Tile:
    """Returns the transpose of x [P, F]; several free dimensions count as one.

    The Tensor engine transposes up to 128 x 128 into PSUM, the Vector engine (on request) up to 32 x 32 into SBUF.
    """
    data = on_chip(api, "data", x)
    vector = engine is Engine.DVE
    columns = math.prod(data.shape[1:])
    if columns > 128:
        raise err_size_of_dimension_exceed_arch_limit(api, "the free dimension of data", columns, 128)
    result = fresh(api, (columns, data.shape[0]), data.element, SBUF if vector else PSUM)
    unit = Engine.DVE if vector else Engine.PE
    source = data if vector else in_sbuf(data, mask)
    if not isinstance(mask, Pred):
        sema().transpose(result, source, unit, mask=mask)
        return result
    limits, _ = axis_limits(mask, data)
    check_bounds(data, mask)
    swapped = list(reversed(limits)) if data.ndim == 2 else [None, limits[0]]
    cut, cut_source = restrict(result, swapped), restrict(source, limits)
    result.allocation.part = (), False
    if cut is not None and cut_source is not None:
        sema().transpose(cut, cut_source, unit, mask=_guard(mask))
        result.allocation.part = swapped, mask
    return result

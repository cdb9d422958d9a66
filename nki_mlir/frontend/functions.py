"""What the value-returning functions of both API generations share: results, types, broadcasting, assignment.

Such a function records one instruction, or a few, into a fresh tile and returns the tile. The modules
`functions_elementwise`, `functions_reduce`, `functions_memory` and `functions_matmul` hold the functions; they take the
name of the API function for their messages, and a mask as `mask=` gave it.

Sources: NKI ISA reference, §3.2 (types), §3.6 (functions).
"""

import math
from collections.abc import Sequence
from typing import Any

from nki_mlir.frontend.context import nki_ctx
from nki_mlir.frontend.create import element_type
from nki_mlir.frontend.errors import (
    err_failed_to_infer_tile_from_local_tensor,
    err_leading_dimension_of_tensor_must_be_partition,
    err_num_partition_exceed_arch_limit,
    err_num_partition_mismatch,
    err_param_shape_incompatible_with_numpy,
    err_store_dst_shape_smaller_than_other_shape,
    err_unsupported_memory,
)
from nki_mlir.frontend.functions_operands import is_number, no_operand, tile_of
from nki_mlir.frontend.masks import as_mask, check_bounds, guards, restrict
from nki_mlir.frontend.sema import Sema, number
from nki_mlir.frontend.storage import Tile
from nki_mlir.frontend.subscripts import BLOCK, PARTITION, Grid
from nki_mlir.frontend.symbolic import Pred, plain, same, settled
from nki_mlir.isa.dtypes import Dtype
from nki_mlir.isa.enums import MemorySpace

SBUF, PSUM = MemorySpace.SBUF, MemorySpace.PSUM
Mask = Pred | bool
Shape = tuple[int, ...]
_REPEATED = PARTITION, 0
"""The layout of a partition dimension that is one partition, repeated."""


def sema() -> Sema:
    """Returns the semantic functions of the running trace."""
    return nki_ctx().sema


# Operands and results -------------------------------------------------------------------------------------------


def on_chip(api: str, operand: str, value: Any, *, engine: bool = True) -> Tile:
    """Returns an operand that must be a tile in SBUF or PSUM.

    What an `engine` reads must have all its partitions, so a view that repeats one partition is copied first.

    Raises:
        NKITypeError: it is in HBM, spans several blocks, or is no tensor.
    """
    tile = tile_of(api, operand, value)
    if not tile.on_chip:
        raise err_unsupported_memory(api, operand, tile.buffer, ("sbuf", "psum"))
    if tile.layout[0][0] == BLOCK:
        raise err_failed_to_infer_tile_from_local_tensor(tile.label, tile.shape)
    if engine and tile.layout[0] == _REPEATED:
        return regrid(_copied_by_dma(api, tile, True), tile)
    return tile


def scalar_or_tile(api: str, operand: str, value: Any, *, engine: bool = True) -> Any:
    """Returns a tile on chip (see `on_chip`), or a Python or numpy number; a loop index becomes the number it is.

    Raises:
        NKITypeError: it is something else.
    """
    if isinstance(value, Tile):
        return on_chip(api, operand, value, engine=engine)
    value = plain(value)
    if is_number(value):
        return value
    raise no_operand(api, operand, value, "a tile or a number")


def fresh(api: str, shape: Sequence[int], dtype: Dtype, space: MemorySpace = SBUF) -> Tile:
    """Returns a new tile for a result.

    Raises:
        NKIValueError: it would have more than 128 partitions.
        NKISyntaxError: it would have no free dimension.
    """
    if len(shape) < 2:
        raise err_leading_dimension_of_tensor_must_be_partition(f"result of {api}", shape)
    if shape[0] > 128:
        raise err_num_partition_exceed_arch_limit(api, shape[0], 128)
    tile: Tile = nki_ctx().allocate(shape, dtype, space)
    tile.allocation.fresh = True
    return tile


def masked(mask: Any) -> Mask:
    """Returns what a `mask=` argument means; True is no mask."""
    return True if mask is None else as_mask(mask)


def domain_of(mask: Mask, result: Tile, **operands: Any) -> str:
    """Returns the role whose dimensions the axes of a mask are matched with: an operand made by a grid, else `dst`."""
    if mask is not True:
        for role, operand in operands.items():
            if isinstance(operand, Tile) and operand.grid is not None and operand.shape == result.shape:
                return role
    return "dst"


# Types ----------------------------------------------------------------------------------------------------------

_FLOATS_16 = frozenset({Dtype.F16, Dtype.BF16})


def promoted(first: Dtype, second: Dtype) -> Dtype:
    """Returns the type of a binary result without `dtype=` (nki-isa.md §3.2)."""
    if first is second:
        return first
    if first.is_float and second.is_float:
        return _wider_float(first, second)
    if first.is_float or second.is_float:
        return first if first.is_float else second
    return _wider_integer(first, second)


def _wider_float(first: Dtype, second: Dtype) -> Dtype:
    sizes = first.size, second.size
    if 4 in sizes or (sizes == (2, 2)):
        return Dtype.F32
    if sizes == (1, 1):
        return Dtype.BF16
    return first if first.size == 2 else second


def _wider_integer(first: Dtype, second: Dtype) -> Dtype:
    narrow, wide = sorted((first, second), key=lambda dtype: dtype.size)
    if first.is_signed == second.is_signed or (wide.is_signed and wide.size > narrow.size):
        return wide
    unsigned = first if second.is_signed else second
    return {1: Dtype.I16, 2: Dtype.I32}.get(unsigned.size, Dtype.F32)


def type_of(value: Any) -> Dtype:
    """Returns the type of an operand: a tile's own, u8 of a truth value, else that of the immediate (`sema.number`)."""
    if isinstance(value, Tile):
        return value.element
    truth = isinstance(value, bool) or getattr(getattr(value, "dtype", None), "kind", "") == "b"
    return Dtype.U8 if truth else number(value).dtype


def result_type(dtype: Any, *operands: Any, promote: bool = True) -> Dtype:
    """Returns the type that `dtype` names; without one that of the operands promoted, or of the first tile."""
    if dtype is not None:
        return element_type(dtype)
    if not promote:
        return next(value.element for value in operands if isinstance(value, Tile))
    found = type_of(operands[0])
    for value in operands[1:]:
        found = promoted(found, type_of(value))
    return found


# Broadcasting ---------------------------------------------------------------------------------------------------


def broadcast_shape(api: str, first: Shape, second: Shape) -> Shape:
    """Returns the shape that numpy's rules give for two operands.

    Raises:
        NKIValueError: there is none.
    """
    if first == second:
        return first
    rank = max(len(first), len(second))
    a, b = (1,) * (rank - len(first)) + first, (1,) * (rank - len(second)) + second
    if any(m != n and 1 not in (m, n) for m, n in zip(a, b, strict=True)):
        raise err_param_shape_incompatible_with_numpy(api, first, second)
    return tuple(max(m, n) for m, n in zip(a, b, strict=True))


def regrid(view: Tile, source: Tile, axes: "Sequence[Any] | None" = None) -> Tile:
    """Gives a view made from `source` the grid that `source` was indexed by: its axes, and bounds still to check."""
    if source.grid is not None:
        kept = tuple(source.grid.axes if axes is None else axes)
        view.grid = Grid(kept, source.grid.pending)
    return view


def spread(api: str, tile: Tile, shape: Shape, mask: Mask = True, *, partitions: bool = True) -> Tile:
    """Returns a view of `tile` with the given shape, its dimensions of size 1 repeated.

    Engines read every partition once, so one partition is first copied to all of them by a DMA, as far as `mask` goes.

    Raises:
        NKIValueError: the shapes do not fit, or partitions would be repeated against `partitions`.
    """
    if tile.shape == shape:
        return tile
    view = deepened(api, tile, shape)
    if view.shape[0] != shape[0]:
        if not partitions:
            raise err_num_partition_mismatch(api, (tile.shape[0], shape[0]))
        view = _copied_by_dma(api, view.broadcast_to((shape[0], *view.shape[1:])), mask)
    return stretched(view, shape)


def stretched(tile: Tile, shape: Shape) -> Tile:
    """Returns a view with dimensions of size 1 repeated, partitions too; the grid of the tile stays with it."""
    return tile if tile.shape == shape else regrid(tile.broadcast_to(shape), tile)


def deepened(api: str, tile: Tile, shape: Shape) -> Tile:
    """Adds dimensions in front until there are as many as in `shape`, as numpy does.

    The first one is the partition dimension, so that of the tile must have size 1.

    Raises:
        NKIValueError: it has another size.
    """
    view = tile
    while view.ndim < len(shape):
        if view.shape[0] != 1:
            raise err_param_shape_incompatible_with_numpy(api, tile.shape, shape)
        axes = None if view.grid is None else [view.grid.axes[0], None, *view.grid.axes[1:]]
        view = regrid(view.expand_dim(1), view, axes)
    return view


def _copied_by_dma(api: str, repeated: Tile, mask: Mask) -> Tile:
    """Returns a tile with copies of the one partition that a view repeats."""
    result = fresh(api, repeated.shape, repeated.element)
    sema().dma_copy(result, repeated, mask=mask)
    return result


def is_vector(tile: Tile) -> bool:
    """Whether a tile has one element a partition."""
    return math.prod(tile.shape[1:]) == 1


def apart(first: Tile, second: Tile, mask: Mask = True) -> Tile:
    """Returns `second`, copied to SBUF if both are in PSUM: no instruction reads two operands there."""
    if first.buffer is PSUM and second.buffer is PSUM:
        return in_sbuf(second, mask)
    return second


def in_sbuf(tile: Tile, mask: Mask = True) -> Tile:
    """Returns a tile in SBUF with the contents of `tile` that a mask leaves: itself, or a copy."""
    if tile.buffer is SBUF:
        return tile
    copied = fresh("tensor_copy", tile.shape, tile.element)
    sema().tensor_copy(copied, tile, None, mask=mask, domain=domain_of(mask, copied, src=tile))
    return regrid(copied, tile)


# Assignment -----------------------------------------------------------------------------------------------------


def assign(target: Tile, value: Any, api: str = "assignment") -> None:
    """`target[...] = value`: copies a tile, broadcast to the target's shape, or writes one number everywhere.

    What a masked instruction did not write of its result is not copied. The copy of a result goes away in the end
    where the instruction can write the target itself (`functions_folding`).

    Raises:
        NKITypeError: target or value is in HBM, or the value is no tile or number.
        NKIValueError: the value does not fit.
    """
    if not target.on_chip:
        raise err_unsupported_memory(api, f"the target {target.label}", target.buffer, ("sbuf", "psum"))
    context = nki_ctx()
    updated, context.updated = context.updated, None
    if value is updated and same_elements(updated, target):
        return  # after `buffer[k] += …`, which has written the elements already
    source = scalar_or_tile(api, "the value", value)
    if not isinstance(source, Tile):
        for tile in target.tiles():
            sema().memset(tile, source, None)
        return
    pair = written(api, target, source)
    if pair is None:
        return
    where, what, mask = pair
    record = context.sema.record("tensor_copy", {"dst": where, "src": what}, {}, mask=mask)
    if record is not None and source.allocation.fresh:
        context.assignments.append((context.recorder.body, record))


def written(api: str, target: Tile, source: Tile) -> tuple[Tile, Tile, Mask] | None:
    """Returns target, source broadcast to it, and guards, cut to the part that the source's instruction has written.

    A masked instruction leaves part of its result undefined; that part is not read. None if there is nothing to read.

    Raises:
        NKIValueError: the source does not fit.
    """
    check_fits(target, source)
    part = source.allocation.part
    if part is None or source.shape != source.storage.shape or source.shape != target.shape:
        return target, spread(api, source, target.shape), True
    limits, mask = part
    if mask is False:
        return None
    check_bounds(target, mask)
    where, what = restrict(target, limits), restrict(source, limits)
    if where is None or what is None:
        return None
    found = guards(mask)
    return where, what, Pred(found) if found else True


def check_fits(target: Tile, source: Tile) -> None:
    """Checks that a value can be broadcast to its target.

    Raises:
        NKIValueError: it cannot.
    """
    shape, other = target.shape, source.shape
    if shape == other:
        return
    extra = len(shape) - len(other)
    if extra < 0 or any(n not in (1, m) for m, n in zip(shape[extra:], other, strict=True)):
        raise err_store_dst_shape_smaller_than_other_shape(shape, other)


def same_elements(first: Tile, second: Tile) -> bool:
    """Whether two views name the same elements in the same order."""
    return (
        first.storage is second.storage
        and first.element is second.element
        and first.shape == second.shape
        and first.layout == second.layout
        # The first of two subscripts may have fixed a loop variable, and only one of them has its number.
        and all(same(settled(a), settled(b)) for a, b in zip(first.offsets, second.offsets, strict=True))
        and _same_limits(first, second)
    )


def _same_limits(first: Tile, second: Tile) -> bool:
    a, b = first.limits or (), second.limits or ()
    if not any(a) and not any(b):
        return True
    if len(a) != len(b):
        return False
    for x, y in zip(a, b, strict=True):
        bounds_x, bounds_y = (x.bounds if x else ()), (y.bounds if y else ())
        if len(bounds_x) != len(bounds_y) or not all(map(same, bounds_x, bounds_y)):
            return False
    return True


def constant(api: str, shape: Sequence[int], value: Any, dtype: Dtype, mask: Mask = True) -> Tile:
    """Returns a new tile in SBUF with one value in all elements."""
    tile = fresh(api, shape, dtype)
    sema().memset(tile, value, None, mask=mask)
    return tile

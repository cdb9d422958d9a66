"""Subscripts of tensors: from a view and a key to another view.

Integers, slices, spans, `...` and None make one kind of subscript, index grids the other. Both only change offsets,
steps and sizes. Bounds are checked here, by intervals where that is certain and by decisions on loop variables where it
is not; a subscript by grids may be protected by the mask of the instruction that uses it, so what is uncertain about a
grid is kept in the view for that instruction to check (`masks.py`).

Source: NKI ISA reference, §3.4.
"""

from collections.abc import Sequence
from numbers import Integral
from typing import Any, NamedTuple, Protocol

from nki_mlir.frontend import integers
from nki_mlir.frontend.errors import (
    NKIIndexError,
    err_1d_arange_not_supported,
    err_indices_shape_mismatch,
    err_tensor_access_out_of_bound,
    err_tensor_index_not_supported,
    err_too_many_indices,
    err_unexpected_type_of_operand,
    err_unsupported_mixing_basic_advanced_tensor_indexing,
)
from nki_mlir.frontend.symbolic import (
    GE,
    Axis,
    Opaque,
    Sym,
    Term,
    Var,
    axes_of,
    bounds,
    concretise,
    decide,
    grid_rank,
    settled,
)

BLOCK, PARTITION, FREE = 0, 1, 2
"""The parts of a storage that a dimension of a view walks along; also the places of its three offsets."""

Index = int | Sym
Shape = tuple[int, ...]
Layout = tuple[tuple[int, int], ...]
"""(part, step) for each dimension; steps count blocks, partitions, or elements of the view's dtype."""
Offsets = tuple[Index, Index, Index]


class Pending(NamedTuple):
    """An index over a grid that may leave its dimension unless a mask keeps it inside."""

    expr: Sym
    size: int
    dimension: int


class Grid(NamedTuple):
    """What a subscript by grids leaves in its view: the axis behind each dimension, and the checks still to be made."""

    axes: tuple[Axis | None, ...]
    pending: tuple[Pending, ...]


class Limit(NamedTuple):
    """A part of a masked view: at most `size` elements of a dimension, and at most each of `bounds`."""

    size: int
    bounds: tuple[Sym, ...]


class Span:
    """`ds(start, size)`: like `start:start + size`, with a length that is known and an end that is not clamped."""

    __slots__ = ("size", "start")

    def __init__(self, start: Index, size: Any) -> None:
        self.start = integers.index("ds", "start", start)
        self.size = integers.integer("ds", "size", size)

    def __repr__(self) -> str:
        return f"ds({self.start!r}, {self.size})"


class Described(Protocol):
    """What this module reads of a view."""

    @property
    def shape(self) -> Shape: ...
    @property
    def layout(self) -> Layout: ...
    @property
    def offsets(self) -> Offsets: ...
    @property
    def on_chip(self) -> bool: ...
    @property
    def label(self) -> str: ...


class Result(NamedTuple):
    shape: Shape
    layout: Layout
    offsets: Offsets
    grid: Grid | None


def subscript(view: Described, key: Any) -> Result:
    """Returns shape, layout and offsets of `view[key]`.

    Raises:
        NKIIndexError: an index is out of bounds, a slice is empty, or there are too many indices.
        NKISyntaxError: slices and grids are mixed, or an index of a kind that does not exist.
    """
    given: Any = key
    keys = _filled(view, list(given) if isinstance(key, tuple) else [given])
    ranks = [grid_rank(item) for item in keys if isinstance(item, Sym)]
    rank = max(ranks, default=0)
    return _by_grid(view, keys, rank) if rank else _basic(view, keys)


def _filled(view: Described, keys: list[Any]) -> list[Any]:
    """`keys` with one entry for each dimension, besides the Nones."""
    whole = slice(None)
    given = sum(item is not None and item is not Ellipsis for item in keys)
    missing = len(view.shape) - given
    if missing < 0:
        raise err_too_many_indices(view.label, len(view.shape), given)
    at = next((place for place, item in enumerate(keys) if item is Ellipsis), None)
    if at is None:
        return keys + [whole] * missing
    if any(item is Ellipsis for item in keys[at + 1 :]):
        raise err_tensor_index_not_supported("...", "a subscript may have one Ellipsis")
    return keys[:at] + [whole] * missing + keys[at + 1 :]


def domains(value: Index) -> str:
    """The text of `value` for messages, with the iterations it stands for."""
    if not isinstance(value, Sym):
        return str(value)
    loops = [f"{term!r} in [{term.lo}, {term.hi})" for term in value.terms if isinstance(term, Var)]
    return f"{value!r}" + (f" with {', '.join(loops)}" if loops else "")


def out_of_bound(view: Described, dimension: int, size: int, first: Index, last: Index | None = None) -> NKIIndexError:
    """The error for the indices `first` to `last` of a dimension of `size`."""
    lowest, highest = bounds(first)
    if last is not None:
        highest = bounds(last)[1]
    return err_tensor_access_out_of_bound(
        view.label, dimension, size, lowest, highest, domains(first) if isinstance(first, Sym) else ""
    )


def integer(value: Any) -> Index | None:
    """`value` as an index, or None if it is none: a truth value means something else to numpy."""
    if type(value) is int or isinstance(value, Sym):
        return value
    return None if isinstance(value, bool) or not isinstance(value, Integral) else int(value)


# Integers and slices


def position(view: Described, dimension: int, size: int, index: Index) -> Index:
    """`index` counted from the start, checked to be inside of the dimension."""
    lo, hi = bounds(index)
    if lo >= 0 and hi < size:
        return index
    place = index
    if not decide(place, GE):
        place = place + size
    if not (decide(place, GE) and decide(size - 1 - place, GE)):
        raise out_of_bound(view, dimension, size, index)
    return settled(place)


def _clamped(index: Index, size: int) -> Index:
    """An end of a slice: counted from the start and cut to the dimension, as Python does."""
    lo, hi = bounds(index)
    if lo >= 0 and hi <= size:
        return index
    if not decide(index, GE):
        index = index + size
        if not decide(index, GE):
            return 0
    return size if decide(index - size, GE) else settled(index)


def _slice(view: Described, dimension: int, size: int, item: Any) -> tuple[Index, int, int]:
    """Start, step and length of a slice."""
    start, stop, step = item.start, item.stop, 1 if item.step is None else concretise(item.step)
    if step > 0:
        first = 0 if start is None else _clamped(_end(start), size)
        last = size if stop is None else _clamped(_end(stop), size)
        length = -((first - last) // step)
    else:
        start, stop = (None if end is None else concretise(_end(end)) for end in (start, stop))
        first, last, step = slice(start, stop, step).indices(size)
        length = -((first - last) // step)
    length = concretise(settled(length))
    if length <= 0:
        raise err_tensor_access_out_of_bound(
            view.label, dimension, size, bounds(first)[0], bounds(last)[0], "an empty slice"
        )
    return first, step, length


def _end(value: Any) -> Index:
    end = integer(value)
    if end is None:
        raise err_unexpected_type_of_operand("subscript", "the end of a slice", value, "an integer")
    return end


def _basic(view: Described, keys: Sequence[Any]) -> Result:
    shape, layout = view.shape, view.layout
    offsets = list(view.offsets)
    sizes: list[int] = []
    dims: list[tuple[int, int]] = []
    dropped: list[int] = []
    dimension = 0
    seen_partition = not view.on_chip
    for item in keys:
        if item is None:
            sizes.append(1)
            dims.append((FREE if seen_partition else BLOCK, 1))
            continue
        size, (part, step) = shape[dimension], layout[dimension]
        seen_partition = seen_partition or part == PARTITION
        if isinstance(item, slice):
            start, stride, length = _slice(view, dimension, size, item)
        elif isinstance(item, Span):
            start, stride, length = item.start, 1, item.size
            if length <= 0 or not (decide(start, GE) and decide(size - length - start, GE)):
                raise out_of_bound(view, dimension, size, start, start + (length - 1))
        else:
            index = integer(item)
            if index is None:
                raise err_tensor_index_not_supported(repr(item), f"{type(item).__name__} is no index")
            start, stride, length = position(view, dimension, size, index), 1, 1
            dropped.append(len(sizes))
        offsets[part] = offsets[part] + start * step
        sizes.append(length)
        dims.append((part, step * stride))
        dimension += 1
    if dropped:
        drop(view.on_chip, sizes, dims, dropped)
    return Result(tuple(sizes), tuple(dims), (offsets[0], offsets[1], offsets[2]), None)


def drop(on_chip: bool, sizes: list[int], dims: list[tuple[int, int]], indexed: list[int]) -> None:
    """Removes the dimensions `indexed` by integers, as far as they go; the others stay with size 1.

    HBM keeps at least one dimension. On chip the partition dimension stays, and at least one more that is no block.
    """
    kept = len(dims) - len(indexed)
    if on_chip:
        kept = 0
        for at, (part, _) in enumerate(dims):
            if part == PARTITION or (part == FREE and at not in indexed):
                kept += 1
    missing = 2 - kept if on_chip else 1 - kept
    for at in reversed(indexed):
        part = dims[at][0]
        if part == FREE and missing > 0:
            missing -= 1
        elif part != PARTITION:
            del sizes[at], dims[at]


# Index grids


def _by_grid(view: Described, keys: Sequence[Any], rank: int) -> Result:
    grid_shape, axes = _grid_shape(keys, rank)
    offsets = list(view.offsets)
    steps: list[dict[int, int]] = [{} for _ in range(rank)]
    pending: list[Pending] = []
    slices: list[int] = []
    indexed: list[int] = []
    for dimension, (item, size, (part, step)) in enumerate(zip(keys, view.shape, view.layout, strict=False)):
        if isinstance(item, slice):
            if not _is_whole(item, size):
                raise err_unsupported_mixing_basic_advanced_tensor_indexing(view.label)
            slices.append(dimension)
            continue
        index = integer(item)
        if index is None:
            raise err_unsupported_mixing_basic_advanced_tensor_indexing(view.label)
        indexed.append(dimension)
        if not isinstance(index, Sym) or not any(axes_of(index)):
            offsets[part] = offsets[part] + position(view, dimension, size, index) * step
            continue
        lo, hi = bounds(index)
        if lo < 0 or hi >= size:
            pending.append(Pending(index, size, dimension))
        base = Sym(index.const, {})
        for term, coefficient in index.terms.items():
            if isinstance(term, Axis):
                along = steps[rank + term.position]
                along[part] = along.get(part, 0) + coefficient * step if term.hi > 1 else along.get(part, 0)
            elif isinstance(term, Opaque) and any(axes_of(term.expr)):
                raise err_tensor_index_not_supported(repr(index), "'//' and '%' of an arange or mgrid are no multiples")
            else:
                base.terms[term] = coefficient
        offsets[part] = offsets[part] + (base if base.terms else base.const) * step
    if len(keys) != len(view.shape):
        raise err_unsupported_mixing_basic_advanced_tensor_indexing(view.label)
    dims = [_axis_dimension(view, keys, along) for along in steps]
    shape, layout, names = _merge(view, rank, slices, indexed, grid_shape, dims, axes)
    if view.on_chip and not any(part == PARTITION for part, _ in layout):
        shape, layout, names = _with_partition(shape, layout, names)
    layout = [
        (FREE, 1 if size == 1 else 0) if part < 0 else (part, step)
        for size, (part, step) in zip(shape, layout, strict=True)
    ]
    return Result(tuple(shape), tuple(layout), (offsets[0], offsets[1], offsets[2]), Grid(tuple(names), tuple(pending)))


_UNUSED = -1
"""The part of a dimension of a grid along which no index moves."""


def _is_whole(item: Any, size: int) -> bool:
    start, stop = item.start, item.stop
    return (
        (start is None or (type(start) is int and start == 0))
        and (stop is None or (type(stop) is int and stop >= size))
        and item.step in (None, 1)
    )


def _grid_shape(keys: Sequence[Any], rank: int) -> tuple[list[int], list[Axis | None]]:
    """The broadcast shape of all grids, and one axis for each dimension."""
    shape = [1] * rank
    axes: list[Axis | None] = [None] * rank
    for item in keys:
        for axis in axes_of(item) if isinstance(item, Sym) else ():
            if not axis.placed:
                raise err_1d_arange_not_supported()
            place = rank + axis.position
            if axis.hi != 1:
                if shape[place] not in (1, axis.hi):
                    raise err_indices_shape_mismatch(_shapes(keys))
                shape[place] = axis.hi
            if axes[place] is None or axis.hi != 1:
                axes[place] = axis
    return shape, axes


def _shapes(keys: Sequence[Any]) -> list[tuple[int, ...]]:
    shapes: list[tuple[int, ...]] = []
    for item in keys:
        if isinstance(item, Sym) and grid_rank(item):
            sizes = [1] * grid_rank(item)
            for axis in axes_of(item):
                sizes[axis.position] = max(sizes[axis.position], axis.hi)
            shapes.append(tuple(sizes))
    return shapes


def _axis_dimension(view: Described, keys: Sequence[Any], along: dict[int, int]) -> tuple[int, int]:
    used = [(part, step) for part, step in along.items() if step]
    if len(used) > 1:
        index = ", ".join(repr(item) for item in keys)
        raise err_tensor_index_not_supported(
            f"{view.label}[{index}]", "an axis moves along partitions and elements at once"
        )
    return used[0] if used else (_UNUSED, 0)


def _merge(
    view: Described,
    rank: int,
    slices: list[int],
    indexed: list[int],
    grid_shape: list[int],
    dims: list[tuple[int, int]],
    axes: list[Axis | None],
) -> tuple[list[int], list[tuple[int, int]], list[Axis | None]]:
    """Puts the dimensions of whole slices among those of the grid.

    A slice takes the place of a grid dimension that has size 1 and stands where the slice does, as in `x[:, i_f]` with
    `i_f = arange(n)[None, :]`. Otherwise the places are those of numpy.
    """
    shape = list(grid_shape)
    if not slices:
        return shape, dims, axes
    if rank == len(view.shape) and all(grid_shape[at] == 1 and dims[at][0] == _UNUSED for at in slices):
        for at in slices:
            shape[at], dims[at], axes[at] = view.shape[at], view.layout[at], None
        return shape, dims, axes
    together = indexed[-1] - indexed[0] + 1 == len(indexed)
    front = [at for at in slices if together and at < indexed[0]]
    back = [at for at in slices if at not in front]
    return (
        [view.shape[at] for at in front] + shape + [view.shape[at] for at in back],
        [view.layout[at] for at in front] + dims + [view.layout[at] for at in back],
        [None] * len(front) + axes + [None] * len(back),
    )


def _with_partition(
    shape: list[int], layout: list[tuple[int, int]], axes: list[Axis | None]
) -> tuple[list[int], list[tuple[int, int]], list[Axis | None]]:
    """Gives an on-chip view its partition dimension: a leading one that no index moves along, else a new one."""
    for at, (part, _) in enumerate(layout):
        if part == _UNUSED:
            return shape, [*layout[:at], (PARTITION, 1 if shape[at] == 1 else 0), *layout[at + 1 :]], axes
        if part == FREE:
            break
    at = sum(part == BLOCK for part, _ in layout)
    return [*shape[:at], 1, *shape[at:]], [*layout[:at], (PARTITION, 1), *layout[at:]], [*axes[:at], None, *axes[at:]]


def extreme(index: Sym, highest: bool) -> Index:
    """`index` where its grid axes take the values that make it lowest or highest; loop variables stay."""
    const = index.const
    terms: dict[Term, int] = {}
    for term, coefficient in index.terms.items():
        if isinstance(term, Axis):
            const += coefficient * (term.hi - 1) if (coefficient > 0) == highest else 0
        else:
            terms[term] = coefficient
    return Sym(const, terms) if terms else const

"""Accesses compiled to strided views of memory, with their bounds checked.

An access that names no loop variable or register is one view, made once. Where any other is, is found out at each use:
by a function of a few lines, which keeps some views, if the bounds of the loops prove that it stays inside its storage,
else by one that checks.
"""

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, NamedTuple, cast

import numpy as np

from nki_mlir.diagnostics import NkiError
from nki_mlir.dialects import affine
from nki_mlir.dialects.access import Access, Pair
from nki_mlir.dialects.affine import Expr, Interval
from nki_mlir.simulator.expressions import Slots, compiled
from nki_mlir.simulator.memory import WHOLE, Array, Place, Storage, Written, unsigned

MOST_VIEWS = 32
"""Views of an access over loop variables that are kept, each of some 100 bytes: making one costs more than all else."""


class Position(NamedTuple):
    """Where an access is at this moment: its block, first partition and element, and the numbers of its pairs."""

    block: int
    partition: int
    element: int
    nums: tuple[int, ...]


class CompiledAccess:
    """One access to one storage, where index value k of the access is in slot `numbers[k]`.

    `ranges[k]` bounds that index value; None stands for a register or a loop without iterations.
    """

    __slots__ = (
        "_block",
        "_element",
        "_masks",
        "_partition",
        "_registers",
        "access",
        "dims",
        "dtype",
        "fast",
        "fast_shadow",
        "first",
        "has_shadow",
        "numbers",
        "position",
        "row",
        "size",
        "slots",
        "steps",
        "storage",
    )

    def __init__(
        self,
        access: Access,
        storage: Storage,
        slots: Slots,
        numbers: Sequence[int] = (),
        ranges: Sequence[Interval | None] = (),
    ) -> None:
        fields, mem = access.data, storage.mem
        if fields.indirect is not None:
            raise NkiError("an access that is indexed at run time cannot be simulated")
        self.access = access
        self.storage = storage
        self.slots = slots
        self.numbers = numbers
        self.dtype = fields.dtype.numpy
        self.size = fields.dtype.size
        self.row = mem.row_bytes // self.size
        pairs = (fields.partition_pairs or ()) + fields.pairs
        self.steps = tuple(pair.step for pair in pairs)
        self.dims = 0 if fields.partition_pairs is None else len(fields.partition_pairs)
        """How many of the pairs walk over partitions."""
        self.has_shadow = storage.has_shadow
        self.first: int | None = None
        """The first physical partition where it does not depend on the run."""
        self.fast: Callable[[], Array] | None = None
        """Makes the view where the bounds of the loops prove that it stays inside its storage."""
        self.fast_shadow: Callable[[], Array] | None = None
        """The same for the shadow, if there is one."""
        self.position: Position | None = None
        """Where the access is, if that does not depend on the run."""
        block, partition, element = fields.block, fields.partition or 0, fields.offset
        if isinstance(block, int):
            self._check_block(block)
            if isinstance(partition, int):
                self.first = storage.places[block].partition + partition
                if isinstance(element, int) and not access.masked:
                    self.position = Position(block, partition, element, access.nums)
                    self._check(self.position)
                    return
        self._masks = _masks(pairs, numbers, slots)
        self._registers = tuple(n for n, bounds in zip(numbers, ranges, strict=True) if bounds is None)
        self._block = compiled(block, numbers, slots)
        self._partition = compiled(partition, numbers, slots)
        self._element = compiled(element, numbers, slots)
        if not self._masks and self._certain(ranges):
            self._make_fast()

    def first_partition(self) -> int:
        """Returns the first physical partition of the access now."""
        return self.storage.places[self._block()].partition + self._partition()

    # Positions

    def locate(self) -> Position | None:
        """Returns where the access is now, None if a mask leaves nothing of it; NkiError if it is out of bounds."""
        for number in self._registers:
            if self.slots[number] is None:
                raise NkiError(
                    f"an index of the access to '{self.storage.name}' is a register that nothing has written"
                )
        nums = self.access.nums
        if self._masks:
            shrunk = list(nums)
            for dim, bounds in self._masks:
                shrunk[dim] = min(shrunk[dim], *(bound() for bound in bounds))
                if shrunk[dim] <= 0:
                    return None
            nums = tuple(shrunk)
        position = Position(self._block(), self._partition(), self._element(), nums)
        self._check_block(position.block)
        self._check(position)
        return position

    def _check_block(self, block: int) -> None:
        blocks = self.storage.mem.data.blocks
        if not 0 <= block < blocks:
            raise NkiError(f"accesses block {block} of '{self.storage.name}', which has {blocks} [X-FMAX]")

    def _check(self, position: Position) -> None:
        mem, dims = self.storage.mem, self.dims
        low, high = _reach(self.steps[:dims], position.nums[:dims])
        if position.partition + low < 0 or position.partition + high >= mem.partitions:
            wrong = position.partition + (low if position.partition + low < 0 else high)
            raise NkiError(
                f"reaches partition {wrong} of '{self.storage.name}', which has {mem.partitions} partitions [X-FMAX]"
            )
        low, high = _reach(self.steps[dims:], position.nums[dims:])
        if position.element + low < 0 or position.element + high >= self.row:
            wrong = position.element + (low if position.element + low < 0 else high)
            where = "a partition of " if mem.on_chip else ""
            raise NkiError(
                f"reaches element {wrong} of {where}'{self.storage.name}', which has {self.row} elements [X-FMAX]"
            )

    def _certain(self, ranges: Sequence[Interval | None]) -> bool:
        """Whether no value of the loop variables leads out of the storage."""
        fields, mem, access, dims = self.access.data, self.storage.mem, self.access, self.dims
        low, high = _reach(self.steps[:dims], access.nums[:dims])
        return (
            _inside(fields.block, ranges, 0, 0, mem.blocks)
            and _inside(fields.partition or 0, ranges, low, high, mem.partitions)
            and _inside(fields.offset, ranges, access.low, access.high, self.row)
        )

    # Views

    def _strides(self, pitch: int) -> tuple[int, ...]:
        dims = self.dims
        return (*(step * pitch for step in self.steps[:dims]), *(step * self.size for step in self.steps[dims:]))

    def view(self, position: Position) -> Array:
        """Returns the elements at a position, partition pairs first."""
        place = self.storage.places[position.block]
        return self._view(place, place.data, self.dtype, position, position.nums)

    def shadow(self, position: Position) -> Array | None:
        """Returns the shadow of the elements, one number an element, repeated elements once; None if there is none."""
        place = self.storage.places[position.block]
        if place.shadow is None:
            return None
        return self._view(place, place.shadow, unsigned(self.size), position, self._once(position.nums))

    def written(self, position: Position) -> Written:
        """Returns what tells which of the elements matmuls wrote since the storage began."""
        marks, dims = self.storage.marks(position.block, self.size), self.dims
        whole = marks.array
        strides = [step * whole.strides[0] for step in self.steps[:dims]] + list(self.steps[dims:])
        first = position.partition * whole.strides[0] + position.element
        view = np.ndarray(position.nums, np.bool_, cast(Any, whole), first, tuple(strides))
        return Written(self.storage, position.block, marks, view)

    def _view(
        self, place: Place, buffer: Array, dtype: "np.dtype[Any]", position: Position, nums: tuple[int, ...]
    ) -> Array:
        first = place.base + position.partition * place.pitch + position.element * self.size
        return np.ndarray(nums, dtype, cast(Any, buffer), first, self._strides(place.pitch))

    def _make_fast(self) -> None:
        """Makes the functions that need no checks, unless the blocks are not evenly spread."""
        fields, places = self.access.data, self.storage.places
        first, block = places[0], fields.block
        if isinstance(block, int):
            first, distance = places[block], 0
        else:
            distance = places[1].base - first.base if len(places) > 1 else 0
            for number, place in enumerate(places):
                if place.data is not first.data or place.base != first.base + number * distance:
                    return
        start = affine.add(
            affine.add(first.base, affine.multiply(distance, block)),
            affine.add(affine.multiply(first.pitch, fields.partition or 0), affine.multiply(self.size, fields.offset)),
        )
        offset = compiled(start, self.numbers, self.slots)
        nums, dtype, strides, array = self.access.nums, self.dtype, self._strides(first.pitch), np.ndarray
        data, shadow, marks = cast(Any, first.data), cast(Any, first.shadow), unsigned(self.size)
        self.fast = _kept(offset, lambda at: array(nums, dtype, data, at, strides))
        if shadow is not None:
            once = self._once(nums)
            self.fast_shadow = _kept(offset, lambda at: array(once, marks, shadow, at, strides))

    def _once(self, nums: tuple[int, ...]) -> tuple[int, ...]:
        """Returns the numbers of the pairs with repeated elements taken once."""
        return tuple(number if step else 1 for number, step in zip(nums, self.steps, strict=True))

    # Messages

    def never_written(self, position: Position, shadow: Array) -> NkiError:
        """Returns the error for reading elements of which some were never written."""
        missing = np.argwhere(shadow != WHOLE[self.size])
        index, dims = cast("list[int]", missing[0].tolist()), self.dims
        moved = [k * step for k, step in zip(index, self.steps, strict=True)]
        where = f"element {position.element + sum(moved[dims:])}"
        if dims:
            where += f" of partition {position.partition + sum(moved[:dims])}"
        return NkiError(
            f"reads {len(missing)} of {prod(shadow.shape)} elements of '{self.storage.name}' that were never written,"
            f" the first is {where}"
        )


def _kept(offset: Callable[[], int], make: Callable[[int], Array]) -> Callable[[], Array]:
    """Returns the function that gives the view at the offset of now; the first ones are kept, as loops come back."""
    views: dict[int, Array] = {}

    def view() -> Array:
        at = offset()
        found = views.get(at)
        if found is None:
            found = make(at)
            if len(views) < MOST_VIEWS:
                views[at] = found
        return found

    return view


def _masks(pairs: Sequence[Pair], numbers: Sequence[int], slots: Slots) -> list[tuple[int, list[Callable[[], int]]]]:
    """Returns, for each pair that a mask bounds, its number and the functions that compute the bounds."""
    return [
        (dim, [compiled(bound, numbers, slots) for bound in pair.bounds])
        for dim, pair in enumerate(pairs)
        if pair.bounds
    ]


def _reach(steps: Sequence[int], nums: Sequence[int]) -> tuple[int, int]:
    """Returns the least and greatest distance of an element from the first one."""
    low = high = 0
    for step, number in zip(steps, nums, strict=True):
        if step < 0:
            low += step * (number - 1)
        else:
            high += step * (number - 1)
    return low, high


def _inside(expr: Expr, ranges: Sequence[Interval | None], low: int, high: int, end: int) -> bool:
    bounds = affine.interval(expr, ranges)
    return bounds is not None and bounds[0] + low >= 0 and bounds[1] + high < end

"""The memory of a run: byte arrays, and the places in them that storage has.

On-chip storage with a placement lies in one byte array a memory space, [partitions, bytes of a partition], so that
storages at the same addresses share bytes as they do on the chip. Other storage has bytes of its own. Beside the data
lies, on request, a shadow of the same layout: a byte of it is 0 until the byte of data is written, then 255.
"""

import os
from collections.abc import Iterable
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np

from nki_mlir.dialects.attributes import MemType
from nki_mlir.dialects.structure import StorageOp
from nki_mlir.isa.enums import MemorySpace
from nki_mlir.isa.target import CORE_V4, Target
from nki_mlir.simulator.errors import op_error

Array: TypeAlias = np.ndarray[Any, Any]

PARTITIONS = 128
MOST_BYTES = 16 << 30
"""The storage of a program, its shadow included, may take this much, or all memory of the machine if that is less."""


class Place(NamedTuple):
    """Where one block is: byte arrays, first byte, bytes from one partition to the next, first physical partition.

    The shadow is None where nothing is checked.
    """

    data: Array
    shadow: Array | None
    base: int
    pitch: int
    partition: int = 0


class Storage:
    """The memory behind one `bir.tensor`, or behind all those of a name that functions share."""

    __slots__ = ("_marks", "grows", "has_shadow", "lives", "mem", "name", "places")

    def __init__(self, name: str, mem: MemType, places: list[Place]) -> None:
        self.name = name
        self.mem = mem
        self.places = places
        self.has_shadow = any(place.shadow is not None for place in places)
        self.grows = False
        """Whether some matmul adds to it where earlier ones wrote."""
        self.lives = [0] * mem.blocks
        """How often each block was made new."""
        self._marks: dict[tuple[int, int], Marks] = {}

    def marks(self, block: int, size: int) -> "Marks":
        """Returns what matmuls wrote into a block since it began, for elements of `size` bytes."""
        found = self._marks.get((block, size))
        if found is None:
            shape = self.mem.partitions, self.mem.row_bytes // size
            found = self._marks[block, size] = Marks(np.zeros(shape, np.bool_), self.lives[block])
        return found

    def begin(self, blocks: Iterable[int]) -> None:
        """Makes blocks of the storage new: nothing in them is written."""
        shape = self.mem.partitions, self.mem.row_bytes
        for block in blocks:
            place = self.places[block]
            if place.shadow is not None:
                np.ndarray(shape, np.uint8, cast(Any, place.shadow), place.base, (place.pitch, 1)).fill(0)
        self.forget(blocks)

    def forget(self, blocks: Iterable[int]) -> None:
        """Forgets what matmuls wrote into blocks of the storage."""
        for block in blocks:
            self.lives[block] += 1

    def array(self, shadow: bool = False) -> Array:
        """Returns the contents of a tensor in HBM in its shape, blocks first where there are several."""
        place = self.places[0]
        shape = self.mem.shape if self.mem.blocks == 1 else (self.mem.blocks, *self.mem.shape)
        if shadow:
            assert place.shadow is not None
            return place.shadow.view(unsigned(self.mem.dtype.size)).reshape(shape)
        return place.data.view(self.mem.dtype.numpy).reshape(shape)


class Marks:
    """Which elements of a block matmuls wrote: [partitions, elements] booleans, which hold in one life of the block."""

    __slots__ = ("array", "life")

    def __init__(self, array: Array, life: int) -> None:
        self.array = array
        self.life = life


class Written:
    """Which elements of one access matmuls wrote since their block began.

    Marks are looked at only where the access was written in part: not before anything was, nor once all of it is.
    """

    __slots__ = ("_block", "_lives", "_marks", "_view", "_whole_in")

    def __init__(self, storage: Storage, block: int, marks: Marks, view: Array) -> None:
        """`view` has the elements of the access in the array of `marks`."""
        self._lives = storage.lives
        self._block = block
        self._marks = marks
        self._view = view
        self._whole_in = -1

    def state(self) -> bool | Array:
        """Returns True for all elements, False for none, else an array of booleans."""
        life = self._lives[self._block]
        if self._whole_in == life:
            return True
        if self._marks.life != life:
            return False
        if self._view.all():
            return True
        return self._view if self._view.any() else False

    def mark(self) -> None:
        """Marks all elements as written."""
        life, marks = self._lives[self._block], self._marks
        if self._whole_in == life:
            return
        if marks.life != life:
            marks.array.fill(False)
            marks.life = life
        self._view[...] = True
        self._whole_in = life


def unsigned(size: int) -> "np.dtype[Any]":
    """Returns the dtype in which the shadow of an element of `size` bytes is one number."""
    return _UNSIGNED[size]


_UNSIGNED = {size: np.dtype(f"u{size}") for size in (1, 2, 4, 8)}
WHOLE = {size: (1 << 8 * size) - 1 for size in _UNSIGNED}
"""The shadow of a written element, by its size in bytes."""


def separate(op: StorageOp, data: Array | None = None, *, shadow: bool) -> Storage:
    """Returns storage with bytes of its own, all 0 unless `data` holds them."""
    mem = op.mem
    block = mem.partitions * mem.row_bytes
    if data is None:
        data = np.zeros(mem.blocks * block, np.uint8)
    marks = np.zeros(data.size, np.uint8) if shadow else None
    places = [Place(data, marks, number * block, mem.row_bytes) for number in range(mem.blocks)]
    return Storage(op.sym.data, mem, places)


class CoreMemory:
    """SBUF, PSUM and the storage of one function, on a target (None: the largest one)."""

    def __init__(self, ops: Iterable[StorageOp], target: Target | None, *, poison: bool) -> None:
        self._target = target or CORE_V4
        self._poison = poison
        self._extent: dict[MemorySpace, int] = {}
        self._chip: dict[MemorySpace, Place] = {}
        for op in ops:
            if op.mem.on_chip and op.places is not None:
                ends = [place[1] + op.mem.row_bytes for place in op.placements() if place is not None]
                self._extent[op.mem.space] = max(self._extent.get(op.mem.space, 0), *ends, 0)

    def storage(self, op: StorageOp) -> Storage:
        """Returns the memory of a storage: placed blocks inside the chip's, others apart."""
        placements = op.placements() if op.mem.on_chip else [None]
        if all(placement is None for placement in placements):
            return separate(op, shadow=self._poison)
        mem, places = op.mem, list[Place]()
        for placement in placements:
            if placement is not None:
                self._check_place(op, *placement)
        chip = self._chip_memory(mem.space)
        apart = separate(op, shadow=self._poison) if None in placements else None
        for number, placement in enumerate(placements):
            if placement is None:
                assert apart is not None
                places.append(apart.places[number])
                continue
            partition, address = placement
            places.append(Place(chip.data, chip.shadow, partition * chip.pitch + address, chip.pitch, partition))
        return Storage(op.sym.data, mem, places)

    def _check_place(self, op: StorageOp, partition: int, address: int) -> None:
        mem, target = op.mem, self._target
        available = target.sbuf_partition_bytes if mem.space is MemorySpace.SBUF else target.psum_partition_bytes
        end = address + mem.row_bytes
        if end > available:
            raise op_error(
                op,
                f"{mem.row_bytes} bytes a partition at address {address} end at {end}, a partition of {mem.space} has"
                f" {available} bytes on {target}",
            )
        if partition + mem.partitions > PARTITIONS:
            raise op_error(op, f"{mem.partitions} partitions from partition {partition} do not fit in {PARTITIONS}")

    def _chip_memory(self, space: MemorySpace) -> Place:
        """Returns the memory of a space as far as the function uses it."""
        found = self._chip.get(space)
        if found is None:
            pitch = -(-self._extent[space] // _LINE) * _LINE or _LINE
            data = np.zeros(PARTITIONS * pitch, np.uint8)
            marks = np.zeros(PARTITIONS * pitch, np.uint8) if self._poison else None
            found = self._chip[space] = Place(data, marks, 0, pitch)
        return found


_LINE = 64
"""Bytes of a line of the processor's cache."""


def check_size(ops: Iterable[StorageOp], poison: bool) -> None:
    """Refuses storage that takes too much memory, before any is allocated."""
    sizes = {op: op.mem.blocks * op.mem.partitions * op.mem.row_bytes * (2 if poison else 1) for op in ops}
    total, limit = sum(sizes.values()), min(MOST_BYTES, _machine_bytes())
    if total <= limit:
        return
    largest = max(sizes, key=lambda op: sizes[op])
    raise op_error(
        largest,
        f"storage '{largest.sym.data}' takes {_readable(sizes[largest])} and all storage together {_readable(total)},"
        f" the simulator may use {_readable(limit)}",
    )


def _machine_bytes() -> int:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return MOST_BYTES


def _readable(size: float) -> str:
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if size < 1024:
            return f"{size:.4g} {unit}"
        size /= 1024
    return f"{size:.4g} TiB"

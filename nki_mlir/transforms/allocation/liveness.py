"""When the storage of a function is live.

Ops are numbered in one walk, those of a loop's body in the order of the text. A block is live from its first access to
its last one. Storage that is accessed in a loop and defined outside of it lives through the whole loop, since a later
iteration may read what an earlier one wrote; storage defined inside begins anew in each iteration. A loop of one
iteration is no loop in this respect.
"""

from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field
from typing import cast

from xdsl.ir import Block, Operation, Region, SSAValue

from nki_mlir.dialects.access import Access
from nki_mlir.dialects.attributes import MemType
from nki_mlir.dialects.instruction import InstructionOp, operands_of
from nki_mlir.dialects.structure import LoopOp, StorageOp
from nki_mlir.isa.enums import MemorySpace
from nki_mlir.transforms.allocation.problem import Interval

PSUM_ALIGNMENT = 4
"""Least alignment in PSUM: an engine writes there at 4-byte addresses (BIR312)."""


@dataclass(slots=True)
class _Span:
    """First and last position of accesses, and the size of the largest element that one of them has."""

    start: int
    end: int
    element: int


@dataclass(slots=True)
class _Storage:
    """A storage on chip: how many loops are around its definition, where that is, and its accesses by block.

    Accesses to a block that is not known, or to the whole storage, are under None.
    """

    op: StorageOp
    depth: int
    position: int
    blocks: dict[int | None, _Span] = field(default_factory=dict[int | None, _Span])


@dataclass(slots=True)
class _Loop:
    """An open loop: where it began, and what was accessed in it that was defined outside."""

    start: int
    touched: list[_Span] = field(default_factory=list[_Span])


class _Walk:
    """The walk over one function."""

    def __init__(self) -> None:
        self.position = 0
        self.storage: dict[SSAValue, _Storage] = {}
        self.loops: list[_Loop] = []
        self.extent: dict[Block, tuple[int, int]] = {}

    def region(self, region: Region) -> None:
        for block in region.blocks:
            start = self.position
            for op in block.ops:
                self.operation(op)
            self.extent[block] = start, self.position

    def operation(self, op: Operation) -> None:
        self.position += 1
        if isinstance(op, InstructionOp):
            for use in operands_of(op):
                if use.storage is not None and isinstance(use.pattern, Access) and use.pattern.on_chip:
                    block = use.pattern.data.block
                    self.access(use.storage, block if isinstance(block, int) else None, use.pattern.data.dtype.size)
        elif isinstance(op, StorageOp):
            if op.mem.on_chip:
                self.storage[op.results[0]] = _Storage(op, len(self.loops), self.position)
        else:
            for value in op.operands:
                if value in self.storage:
                    self.access(value, None, 1)
        if not op.regions:
            return
        repeats = not isinstance(op, LoopOp) or op.trip_count > 1
        loop = _Loop(self.position)
        if repeats:
            self.loops.append(loop)
        for region in op.regions:
            self.region(region)
        if repeats:
            self.loops.pop()
        for span in loop.touched:
            span.end = self.position

    def access(self, value: SSAValue, block: int | None, element: int) -> None:
        storage = self.storage.get(value)
        if storage is None:
            return
        start = self.position
        span = storage.blocks.get(block)
        outside = len(self.loops) > storage.depth
        if outside:
            start = self.loops[storage.depth].start
        if span is None:
            span = storage.blocks[block] = _Span(start, self.position, element)
        else:
            span.end = self.position
            span.element = max(span.element, element)
        if outside:
            loop = self.loops[storage.depth]
            if not loop.touched or loop.touched[-1] is not span:
                loop.touched.append(span)


def live_intervals(function: Operation) -> list[Interval]:
    """Returns an interval for each block of all storage on chip that a function defines."""
    walk = _Walk()
    for region in function.regions:
        walk.region(region)
    loops = _merged([loop for region in function.regions for loop in _back_edges(region, walk.extent)])
    return [
        _interval(storage, block, loops) for storage in walk.storage.values() for block in range(storage.op.mem.blocks)
    ]


def _interval(storage: _Storage, block: int, loops: tuple[list[int], list[int]]) -> Interval:
    mem = cast(MemType, storage.op.results[0].type)
    spans = [span for key in (block, None) if (span := storage.blocks.get(key)) is not None]
    start = min((span.start for span in spans), default=storage.position)
    end = max((span.end for span in spans), default=storage.position)
    if storage.depth == 0:
        start, end = _through(start, end, loops)
    alignment = max(mem.dtype.size, *(span.element for span in spans), 1)
    if mem.space is MemorySpace.PSUM:
        alignment = max(alignment, PSUM_ALIGNMENT)
    return Interval(
        storage.op, block, start, end, mem.partitions, mem.row_bytes, alignment, storage.op.placement(block)
    )


# Branches back, the other way to loop ----------------------------------------------------------------------------


def _back_edges(region: Region, extent: dict[Block, tuple[int, int]]) -> list[tuple[int, int]]:
    """Returns (first, last) position of each loop that a branch to an earlier block makes."""
    found: list[tuple[int, int]] = []
    for block in region.blocks:
        for target in () if block.last_op is None else block.last_op.successors:
            if extent[target][0] <= extent[block][0]:
                found.append((extent[target][0] + 1, extent[block][1]))
    return found


def _merged(spans: list[tuple[int, int]]) -> tuple[list[int], list[int]]:
    """Returns starts and ends of the spans in order, overlapping ones as one."""
    starts: list[int] = []
    ends: list[int] = []
    for start, end in sorted(spans):
        if ends and start <= ends[-1]:
            ends[-1] = max(ends[-1], end)
        else:
            starts.append(start)
            ends.append(end)
    return starts, ends


def _through(start: int, end: int, loops: tuple[list[int], list[int]]) -> tuple[int, int]:
    """Returns an interval that covers every loop in which it begins or ends."""
    starts, ends = loops
    first = bisect_left(ends, start)
    last = bisect_right(starts, end) - 1
    if first <= last:
        start, end = min(start, starts[first]), max(end, ends[last])
    return start, end

"""First fit: storage in the order in which it becomes live, each at the lowest address that is free by then.

All storage begins at partition 0, where any number of partitions may begin (HW-P2). What is placed already stays, and
its bytes are its own for the whole function: other storage may be another name for them.
"""

from bisect import bisect_left
from collections.abc import Sequence
from heapq import heappop, heappush

from nki_mlir.diagnostics import NkiError
from nki_mlir.transforms.allocation.problem import Interval, Memory, Place
from nki_mlir.transforms.errors import op_error


class _Free:
    """The free bytes of a memory, as sorted runs from `starts[k]` up to, not including, `ends[k]`."""

    def __init__(self, memory: Memory) -> None:
        self.starts = [0]
        self.ends = [memory.size]
        self.bank = memory.bank

    def take(self, size: int, alignment: int) -> int | None:
        """Takes the first `size` bytes that fit; returns their address, or None."""
        bank = self.bank
        for k, start in enumerate(self.starts):
            address = -(-start // alignment) * alignment
            if bank is not None and address % bank + size > bank:
                address = -(-address // bank) * bank
            if address + size <= self.ends[k]:
                self._cut(k, address, address + size)
                return address
        return None

    def occupy(self, start: int, end: int) -> None:
        """Takes whatever of the bytes from `start` to `end` is free."""
        k = bisect_left(self.ends, start + 1)
        while k < len(self.starts) and self.starts[k] < end:
            before = len(self.starts)
            self._cut(k, max(start, self.starts[k]), min(end, self.ends[k]))
            k += 1 + len(self.starts) - before

    def _cut(self, k: int, start: int, end: int) -> None:
        left, right = (self.starts[k], start), (end, self.ends[k])
        kept = [run for run in (left, right) if run[0] < run[1]]
        self.starts[k : k + 1] = [run[0] for run in kept]
        self.ends[k : k + 1] = [run[1] for run in kept]

    def give(self, start: int, end: int) -> None:
        """Gives back bytes that were taken; runs that touch become one."""
        k = bisect_left(self.starts, start)
        joins_left = k > 0 and self.ends[k - 1] == start
        joins_right = k < len(self.starts) and self.starts[k] == end
        if joins_left and joins_right:
            self.ends[k - 1] = self.ends[k]
            del self.starts[k], self.ends[k]
        elif joins_left:
            self.ends[k - 1] = end
        elif joins_right:
            self.starts[k] = start
        else:
            self.starts.insert(k, start)
            self.ends.insert(k, end)


def first_fit(intervals: Sequence[Interval], memory: Memory) -> list[Place]:
    """Returns a place for each interval; see `problem.Allocator`."""
    free = _Free(memory)
    places: list[Place] = [(0, 0)] * len(intervals)
    waiting: list[int] = []
    for k, interval in enumerate(intervals):
        if interval.place is not None:
            places[k] = interval.place
            free.occupy(interval.place[1], interval.place[1] + interval.size)
        else:
            waiting.append(k)
    ending: list[tuple[int, int, int]] = []
    for k in sorted(waiting, key=lambda k: intervals[k].start):
        interval = intervals[k]
        while ending and ending[0][0] < interval.start:
            _, start, end = heappop(ending)
            free.give(start, end)
        address = None if interval.partitions > memory.partitions else free.take(interval.size, interval.alignment)
        if address is None:
            raise _full(interval, memory, free)
        heappush(ending, (interval.end, address, address + interval.size))
        places[k] = 0, address
    return places


def _full(interval: Interval, memory: Memory, free: _Free) -> NkiError:
    """Returns the error for storage that does not fit."""
    space = memory.space
    if interval.partitions > memory.partitions:
        message = f"{interval.name} has {interval.partitions} partitions, {space} has {memory.partitions}"
        return op_error(interval.tensor, message, rule="X-PMAX")
    runs = [end - start for start, end in zip(free.starts, free.ends, strict=True)]
    message = (
        f"{interval.name} needs {interval.size} bytes in each partition of {space}; of {memory.size} bytes {sum(runs)}"
        " are free where it becomes live"
    )
    if len(runs) > 1 or memory.bank is not None:
        message += f", the longest run has {max(runs, default=0)}"
    return op_error(interval.tensor, message, rule="X-FMAX")

"""The problem that allocators solve: storage with live intervals in, places out."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from nki_mlir.dialects.structure import StorageOp
from nki_mlir.isa.enums import MemorySpace
from nki_mlir.isa.target import Target

Place: TypeAlias = tuple[int, int]
"""(first partition, byte address inside a partition)."""


@dataclass(slots=True)
class Interval:
    """One block of a storage: when it is live, and what place it needs.

    tensor      the storage
    block       which of its blocks; 0 for storage that is one
    start, end  first and last position, both included, in the numbering of `liveness`
    partitions  how many it takes
    size        bytes in each partition
    alignment   what its byte address has to be a multiple of
    place       where it is already, for storage that must stay there
    """

    tensor: StorageOp
    block: int
    start: int
    end: int
    partitions: int
    size: int
    alignment: int
    place: Place | None = None

    @property
    def name(self) -> str:
        """What messages call it."""
        name = self.tensor.sym.data
        return f"'{name}'" if self.tensor.mem.blocks == 1 else f"'{name}' block {self.block}"


@dataclass(frozen=True, slots=True)
class Memory:
    """A memory of the chip: `size` bytes in each of its partitions, in banks of `bank` bytes if it has banks.

    What is no larger than a bank must not reach across the end of one; what is larger begins with one. So the matrix
    products of a tile of several banks are each in one bank (BIR110), and a place suits every generation.
    """

    space: MemorySpace
    partitions: int
    size: int
    bank: int | None = None


def memories(target: Target) -> tuple[Memory, Memory]:
    """Returns SBUF, as far as a kernel may use it, and PSUM of a target."""
    return (
        Memory(MemorySpace.SBUF, target.partitions, target.sbuf_usable_bytes),
        Memory(MemorySpace.PSUM, target.psum_partitions, target.psum_partition_bytes, target.psum_bank_bytes),
    )


Allocator: TypeAlias = Callable[[Sequence[Interval], Memory], Sequence[Place]]
"""Returns a place for each interval, that of an interval which has one being the same.

Two intervals with a position in common must have no byte in common. Raises NkiError where that cannot be.
"""

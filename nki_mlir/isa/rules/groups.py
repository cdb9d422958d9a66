"""The rules that every operand of an engine has in common."""

from nki_mlir.isa.dtypes import Dtype
from nki_mlir.isa.enums import MemorySpace
from nki_mlir.isa.operands import ON_CHIP
from nki_mlir.isa.rules.base import Rule
from nki_mlir.isa.rules.counts import FreeLimit
from nki_mlir.isa.rules.dtypes import ElementSize, PsumDtype
from nki_mlir.isa.rules.memory import Aligned, InMemory, PsumAlignment
from nki_mlir.isa.rules.patterns import (
    ContiguousPartitions,
    Dimensions,
    DistinctDestination,
    InsideStorage,
    PartitionLimit,
    StartPartition,
    StepRange,
)


def on_chip(*roles: str, spaces: tuple[MemorySpace, ...] = ON_CHIP, psum: int = 4096) -> tuple[Rule, ...]:
    """Returns the rules common to every operand that an engine reads or writes on chip.

    `psum` is how many elements a partition the instruction can reach in PSUM.
    """
    return (
        InMemory(roles=roles, spaces=spaces),
        PartitionLimit(roles=roles),
        ContiguousPartitions(roles=roles),
        StartPartition(roles=roles),
        InsideStorage(roles=roles),
        Aligned(roles=roles),
        Dimensions(roles=roles),
        FreeLimit(roles=roles, psum=psum),
        StepRange(roles=roles),
        ElementSize(roles=roles),
    )


def destinations(*roles: str, psum: frozenset[Dtype] = frozenset()) -> tuple[Rule, ...]:
    """Returns the further rules of operands that are written; `psum`: types below 4 bytes that PSUM accepts here."""
    narrow = (PsumAlignment(roles=roles),) if psum else ()
    return (DistinctDestination(roles=roles), PsumDtype(roles=roles, extra=psum), *narrow)

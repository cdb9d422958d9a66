"""Operands as the rules of the instruction set see them: figures only, whatever dialect or front end they come from."""

from collections.abc import Mapping
from typing import Any

from nki_mlir.isa.dtypes import Dtype
from nki_mlir.isa.enums import MemorySpace

ON_CHIP = (MemorySpace.SBUF, MemorySpace.PSUM)


class Operand:
    """One operand. A figure that is not known is None, and a rule that reads None says nothing.

    partitions  number of partitions accessed (1 in HBM)
    free        elements accessed in each partition
    count       partitions * free
    dtype       element type of the access
    space       memory space of the storage; None for an immediate
    row         elements (of `dtype`) in one partition of the storage; in HBM, in the whole storage
    storage_partitions  partitions of the storage
    start       first physical partition accessed; over loops its constant part
    start_step  a number of partitions that certainly divides how far loops move `start` (0: they do not)
    spans       (first partition, number of partitions) in all iterations where loops move or masks shrink an access
    rows        range (lowest, highest) of partitions reached within the storage, over all loop iterations
    columns     the same of elements reached within the row
    elements    (lowest, highest) element reached within the row in each iteration, of placed storage in PSUM
    address     byte address of the storage inside a partition
    steps       steps of the free pairs, outermost first
    nums        numbers of the free pairs
    partition_steps  steps of the partition pairs (empty in HBM)
    partition_nums   numbers of the partition pairs (empty in HBM, and where there is one pair of `partitions`)
    immediate   the constant, for an operand that is a number
    passed      bits of the groups of rules that are known to hold for it, kept by `Instruction.violation`
    """

    __slots__ = (
        "address",
        "columns",
        "count",
        "dtype",
        "elements",
        "free",
        "immediate",
        "nums",
        "partition_nums",
        "partition_steps",
        "partitions",
        "passed",
        "row",
        "rows",
        "space",
        "spans",
        "start",
        "start_step",
        "steps",
        "storage_partitions",
    )

    def __init__(
        self,
        *,
        dtype: Dtype,
        space: MemorySpace | None = None,
        partitions: int | None = None,
        free: int | None = None,
        row: int | None = None,
        storage_partitions: int | None = None,
        start: int | None = None,
        start_step: int = 0,
        spans: tuple[tuple[int, int], ...] | None = None,
        rows: tuple[int, int] | None = None,
        columns: tuple[int, int] | None = None,
        elements: tuple[tuple[int, int], ...] | None = None,
        address: int | None = None,
        steps: tuple[int, ...] = (),
        nums: tuple[int, ...] = (),
        partition_steps: tuple[int, ...] = (),
        partition_nums: tuple[int, ...] = (),
        immediate: float | None = None,
    ) -> None:
        self.dtype = dtype
        self.space = space
        self.partitions = partitions
        self.free = free
        self.count = None if partitions is None or free is None else partitions * free
        self.row = row
        self.storage_partitions = storage_partitions
        self.start = start
        self.start_step = start_step
        self.spans = spans
        self.rows = rows
        self.columns = columns
        self.elements = elements
        self.address = address
        self.steps = steps
        self.nums = nums
        self.partition_steps = partition_steps
        self.partition_nums = partition_nums
        self.immediate = immediate
        self.passed = 0

    @property
    def on_chip(self) -> bool:
        return self.space in ON_CHIP

    @property
    def contiguous(self) -> bool:
        """Whether the elements accessed in a partition follow each other in order and without gaps."""
        step = 1
        for own, number in zip(reversed(self.steps), reversed(self.nums), strict=False):
            if number != 1 and own != step:
                return False
            step *= number
        return True


class Operands:
    """What one instruction says: its operands by role and its parameters by name.

    A variadic role holds a tuple of operands under its name. An absent optional role or parameter is missing.
    """

    __slots__ = ("parameters", "roles")

    def __init__(
        self, roles: Mapping[str, "Operand | tuple[Operand, ...]"], parameters: Mapping[str, Any] | None = None
    ) -> None:
        self.roles = roles
        self.parameters: Mapping[str, Any] = {} if parameters is None else parameters

    def of(self, role: str) -> tuple[tuple[str, Operand], ...]:
        """Returns (name for messages, operand) of a role: nothing when absent, one a member of a variadic role."""
        found = self.roles.get(role)
        if found is None:
            return ()
        if isinstance(found, Operand):
            return ((role, found),)
        return tuple((f"{role}[{number}]", operand) for number, operand in enumerate(found))

    def one(self, role: str) -> Operand | None:
        """Returns the operand of a role that is not variadic, or None."""
        found = self.roles.get(role)
        return None if isinstance(found, tuple) else found

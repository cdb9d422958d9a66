"""Rules on the number of partitions and of elements that operands access."""

from math import prod
from operator import attrgetter

from nki_mlir.isa.operands import Operand, Operands
from nki_mlir.isa.rules.base import PSUM, Limit, RoleRule, Rule, any_of, first_difference, limit_at
from nki_mlir.isa.target import Target


class SamePartitions(Rule):
    """Operands access equally many partitions."""

    ID = "X-PEQ"
    roles: tuple[str, ...]

    @property
    def statement(self) -> str:
        return f"{', '.join(self.roles)} must access equally many partitions"

    def check(self, operands: Operands, target: Target | None) -> str | None:
        found = first_difference(operands, self.roles, attrgetter("partitions"))
        if found is None:
            return None
        first, expected, name, got = found
        return f"{name} accesses {got} partitions, {first} accesses {expected}"


class PartitionCount(RoleRule):
    """The number of partitions is fixed."""

    ID = "X-PEQ"
    exactly: int

    @property
    def statement(self) -> str:
        return f"{any_of(self.roles)} must access exactly {self.exactly} partition{'s' if self.exactly > 1 else ''}"

    def check_one(self, operand: Operand, target: Target | None) -> str | None:
        if operand.partitions is None or operand.partitions == self.exactly:
            return None
        return f"accesses {operand.partitions} partitions, exactly {self.exactly} needed"


class SameFree(Rule):
    """Operands access equally many elements a partition; shapes may differ in rank."""

    ID = "X-FEQ"
    roles: tuple[str, ...]

    @property
    def statement(self) -> str:
        return f"{', '.join(self.roles)} must access equally many elements a partition"

    def check(self, operands: Operands, target: Target | None) -> str | None:
        found = first_difference(operands, self.roles, attrgetter("free"))
        if found is None:
            return None
        first, expected, name, got = found
        return f"{name} has {got} elements a partition, {first} has {expected}"


class SameCount(Rule):
    """Operands access equally many elements altogether."""

    ID = "DMA-COUNT"
    roles: tuple[str, ...]

    @property
    def statement(self) -> str:
        return f"{', '.join(self.roles)} must access equally many elements"

    def check(self, operands: Operands, target: Target | None) -> str | None:
        found = first_difference(operands, self.roles, attrgetter("count"))
        if found is None:
            return None
        first, expected, name, got = found
        return f"{name} accesses {got} elements, {first} accesses {expected}"


class FreeSize(RoleRule):
    """The number of elements a partition is bounded, fixed, or a multiple."""

    ID = "X-VEC"
    at_most: int | Limit | None = None
    exactly: int | None = None
    multiple_of: int | None = None

    @property
    def statement(self) -> str:
        what = any_of(self.roles)
        if self.exactly is not None:
            return f"{what} must have exactly {self.exactly} elements a partition"
        if self.multiple_of is not None:
            return f"{what} must have a multiple of {self.multiple_of} elements a partition"
        return f"{what} may have at most {limit_at(self.at_most or 0, None)} elements a partition"

    def check_one(self, operand: Operand, target: Target | None) -> str | None:
        free = operand.free
        if free is None:
            return None
        has = f"has {free} elements a partition"
        if self.exactly is not None and free != self.exactly:
            return f"{has}, exactly {self.exactly} needed"
        if self.multiple_of is not None and free % self.multiple_of:
            return f"{has}, a multiple of {self.multiple_of} needed"
        if self.at_most is not None and free > limit_at(self.at_most, target):
            return f"{has}, at most {limit_at(self.at_most, target)} allowed"
        return None


class FreeLimit(RoleRule):
    """An engine walks at most so many elements of each partition."""

    ID = "HW-SZ1"
    source: str = "NKI ISA reference, §1.4"
    sbuf: int = 65536
    psum: int = 4096

    @property
    def statement(self) -> str:
        return f"{any_of(self.roles)} may have {self.sbuf} elements a partition in SBUF, {self.psum} in PSUM"

    def check_one(self, operand: Operand, target: Target | None) -> str | None:
        limit = self.psum if operand.space is PSUM else self.sbuf
        if operand.free is None or operand.free <= limit:
            return None
        return f"has {operand.free} elements a partition, at most {limit} allowed in {operand.space}"


class VectorOrTile(Rule):
    """An operand has one element a partition, or as many as another."""

    ID = "X-VEC"
    role: str
    like: str

    @property
    def statement(self) -> str:
        return f"{self.role} must have one element a partition or as many as {self.like}"

    def check(self, operands: Operands, target: Target | None) -> str | None:
        operand, like = operands.one(self.role), operands.one(self.like)
        if operand is None or operand.space is None or operand.free in (None, 1):
            return None
        if like is None or like.free in (None, operand.free):
            return None
        return f"{self.role} has {operand.free} elements a partition, it must have 1 or {like.free} as {self.like}"


class PatternCovers(Rule):
    """A pattern of (step, number) pairs has as many elements as the operand has in a partition."""

    ID = "X-PATTERN"
    parameter: str
    role: str
    at_most: int = 4

    @property
    def statement(self) -> str:
        return f"{self.parameter} must cover {self.role}'s elements a partition with at most {self.at_most} pairs"

    def check(self, operands: Operands, target: Target | None) -> str | None:
        pattern, operand = operands.parameters.get(self.parameter), operands.one(self.role)
        if pattern is None or operand is None:
            return None
        if len(pattern) > self.at_most:
            return f"{self.parameter} has {len(pattern)} pairs, at most {self.at_most} allowed"
        covered = prod(number for _, number in pattern)
        if operand.free is None or covered == operand.free:
            return None
        return f"{self.parameter} covers {covered} elements, {self.role} has {operand.free} elements a partition"


class ReducedShape(Rule):
    """The result has one element for each one that is left when the innermost dimensions of `axis` are gone."""

    ID = "X-REDUCE"
    result: str
    data: str

    @property
    def statement(self) -> str:
        return f"{self.result} must have {self.data}'s elements a partition without the reduced dimensions"

    def check(self, operands: Operands, target: Target | None) -> str | None:
        data, result, axis = operands.one(self.data), operands.one(self.result), operands.parameters.get("axis")
        if data is None or result is None or axis is None:
            return None
        count = len(str(axis))
        if count > len(data.nums):
            dims = len(data.nums)
            return f"axis is {axis}, but {self.data} has {dims} free dimension{'s' if dims > 1 else ''}"
        if data.free is None or result.free is None:
            return None
        left = prod(data.nums[: len(data.nums) - count])
        if result.free == left:
            return None
        sizes = " x ".join(map(str, data.nums))
        return (
            f"{self.result} has {result.free} elements a partition, reducing {self.data} of {sizes} along axis {axis} "
            f"leaves {left}"
        )

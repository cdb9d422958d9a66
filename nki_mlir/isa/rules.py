"""The vocabulary of constraints that the instruction set puts on operands and parameters.

A rule is a small frozen object. The same object is a dialect's verifier, a row of the op reference, what an error
cites, and what the front end asks before an op exists. Identifiers are those of the public references: HW-… and X-…
(ISA documentation), BIR… (error catalogue of the backend). Where the documentation and the analysis of the backend
differ, what either calls legal is accepted; the rule's `source` says so.

A rule holds for the generations from `since` up to, not including, `before`. Without a target the most permissive
generation holds: a rule with `before` is skipped, and a limit that differs takes its largest value.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import cache
from math import prod
from operator import attrgetter
from typing import Any, ClassVar, cast

from nki_mlir.isa.dtypes import Dtype
from nki_mlir.isa.enums import AluOp, Engine, MemorySpace
from nki_mlir.isa.operands import ON_CHIP, Operand, Operands
from nki_mlir.isa.target import Target

SBUF, PSUM = MemorySpace.SBUF, MemorySpace.PSUM
HBM = (MemorySpace.HBM, MemorySpace.SHARED_HBM, MemorySpace.PRIVATE_HBM)


@dataclass(frozen=True)
class Limit:
    """A number that differs by generation: `default`, or that of the newest listed generation not above the target."""

    default: int
    newer: tuple[tuple[Target, int], ...] = ()

    def at(self, target: Target | None) -> int:
        """Returns the number for a target; the largest one without a target."""
        if target is None:
            return max((self.default, *(value for _, value in self.newer)))
        found = self.default
        for since, value in self.newer:
            if target >= since:
                found = value
        return found


def limit_at(limit: "int | Limit", target: Target | None) -> int:
    """Returns the number of a limit for a target; the largest one without a target."""
    return limit if isinstance(limit, int) else limit.at(target)


@dataclass(frozen=True, kw_only=True)
class Rule:
    """Base of all rules. `check` returns what is wrong in one phrase, or None."""

    ID: ClassVar[str] = ""

    since: Target | None = None
    before: Target | None = None
    id: str = ""
    source: str = ""

    def applies(self, target: Target | None) -> bool:
        """Whether the rule holds for the target."""
        if target is None:
            return self.before is None
        return (self.since is None or target >= self.since) and (self.before is None or target < self.before)

    @property
    def identifier(self) -> str:
        """The identifier that messages cite."""
        return self.id or self.ID

    @property
    def statement(self) -> str:
        """The rule in one line, for the op reference."""
        raise NotImplementedError

    def check(self, operands: Operands, target: Target | None) -> str | None:
        """Returns the violation as a phrase that begins with the operand's name, or None."""
        raise NotImplementedError


def _names(values: Collection[Any]) -> str:
    """Joins names for a message: `a`, `a or b`, `a, b or c`."""
    texts = [str(v) for v in values]
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} or {texts[-1]}"


@dataclass(frozen=True, kw_only=True)
class RoleRule(Rule):
    """A rule that looks at each operand of some roles on its own."""

    roles: tuple[str, ...] = ()

    def check(self, operands: Operands, target: Target | None) -> str | None:
        roles, check_one = operands.roles, self.check_one
        for role in self.roles:
            operand = roles.get(role)
            if operand is None:
                continue
            if isinstance(operand, Operand):
                if operand.space is not None and (found := check_one(operand, target)) is not None:
                    return f"{role} {found}"
                continue
            for number, member in enumerate(operand):
                if member.space is not None and (found := check_one(member, target)) is not None:
                    return f"{role}[{number}] {found}"
        return None

    def check_one(self, operand: Operand, target: Target | None) -> str | None:
        """Returns what is wrong with one operand in storage, without its name."""
        raise NotImplementedError


# Memory ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class InMemory(RoleRule):
    """The operand's storage is in one of some memory spaces."""

    ID = "BIR412"
    spaces: tuple[MemorySpace, ...]

    @property
    def statement(self) -> str:
        return f"{_names(self.roles)} must be in {_names(self.spaces)}"

    def check_one(self, operand: Operand, target: Target | None) -> str | None:
        if operand.space in self.spaces:
            return None
        return f"is in {operand.space}, it must be in {_names(self.spaces)}"


@dataclass(frozen=True, kw_only=True)
class PartitionLimit(RoleRule):
    """At most as many partitions as the memory has."""

    ID = "X-PMAX"
    at_most: int = 128

    @property
    def statement(self) -> str:
        return f"{_names(self.roles)} may access at most {self.at_most} partitions"

    def check_one(self, operand: Operand, target: Target | None) -> str | None:
        if operand.partitions is None or operand.partitions <= self.at_most or not operand.on_chip:
            return None
        return f"accesses {operand.partitions} partitions, at most {self.at_most} allowed"


@dataclass(frozen=True, kw_only=True)
class ContiguousPartitions(RoleRule):
    """An instruction walks neighbouring partitions: one partition pair with step 1."""

    ID = "HW-P1"

    @property
    def statement(self) -> str:
        return f"{_names(self.roles)} must access neighbouring partitions"

    def check_one(self, operand: Operand, target: Target | None) -> str | None:
        steps = operand.partition_steps
        if operand.partitions == 1:
            return None
        if len(steps) > 1:
            return f"has {len(steps)} partition pairs, one is allowed"
        for step in steps:
            if step != 1:
                return f"has partition step {step}, only step 1 is allowed"
        return None


@dataclass(frozen=True, kw_only=True)
class StartPartition(RoleRule):
    """65 to 128 partitions start at 0, 33 to 64 at 0 or 64, up to 32 at 0, 32, 64 or 96."""

    ID = "HW-P2"

    @property
    def statement(self) -> str:
        return f"{_names(self.roles)}: over 64 partitions start at 0, over 32 at 0 or 64, others at a multiple of 32"

    def check_one(self, operand: Operand, target: Target | None) -> str | None:
        start, count = operand.start, operand.partitions
        if start is None or count is None or not operand.on_chip:
            return None
        unit, allowed = (128, "0") if count > 64 else (64, "0 or 64") if count > 32 else (32, "0, 32, 64 or 96")
        if start % unit == 0 and operand.start_step % unit == 0:
            return None
        steps = f" in steps of {operand.start_step}" if operand.start_step else ""
        return f"accesses {count} partitions from partition {start}{steps}, they must start at {allowed}"


@dataclass(frozen=True, kw_only=True)
class InsideStorage(RoleRule):
    """No access outside the storage: its partitions, and the elements of one row (HBM: of the whole tensor)."""

    ID = "X-FMAX"

    @property
    def statement(self) -> str:
        return f"{_names(self.roles)} must stay inside the storage"

    def check_one(self, operand: Operand, target: Target | None) -> str | None:
        offset, partitions, available = operand.offset, operand.partitions, operand.storage_partitions
        if offset is not None and available is not None and partitions is not None and operand.on_chip:
            low, high = 0, partitions - 1
            if operand.partition_nums and operand.partition_steps != (1,):
                reach = [s * (n - 1) for s, n in zip(operand.partition_steps, operand.partition_nums, strict=True)]
                low, high = sum(r for r in reach if r < 0), sum(r for r in reach if r > 0)
            if offset[0] + low < 0:
                return f"reaches partition {offset[0] + low} of its storage, the first one is 0"
            if offset[1] + high >= available:
                return f"reaches partition {offset[1] + high}, its storage has {available} partitions"
        if operand.columns is not None and operand.row is not None:
            low, high = operand.columns
            where = "of a partition" if operand.on_chip else "of its tensor"
            if low < 0:
                return f"reaches element {low} {where}, the first one is 0"
            if high >= operand.row:
                return f"reaches element {high} {where}, it has {operand.row} elements"
        return None


@dataclass(frozen=True, kw_only=True)
class Aligned(RoleRule):
    """The first element's address is a multiple of the element's size."""

    ID = "BIR429"

    @property
    def statement(self) -> str:
        return f"{_names(self.roles)} must start at an address that is a multiple of the element size"

    def check_one(self, operand: Operand, target: Target | None) -> str | None:
        if operand.address is None or not operand.on_chip or operand.address % operand.dtype.size == 0:
            return None
        size, dtype = operand.dtype.size, operand.dtype
        return f"starts at byte {operand.address}, which is no multiple of {size}, the size of {dtype}"


@dataclass(frozen=True, kw_only=True)
class PsumAlignment(RoleRule):
    """Narrow elements written to PSUM in order begin at a multiple of 4 bytes, in reverse order between two."""

    ID = "BIR312"
    source: str = "BIR reference, §7.2 (BIR312, BIR309); NKI ISA reference, §1.4 (HW-ALN)"

    @property
    def statement(self) -> str:
        return (
            f"{_names(self.roles)} of less than 4 bytes in PSUM must start at a multiple of 4 bytes; "
            "in reverse order, 2-byte types 2 bytes behind one"
        )

    def check_one(self, operand: Operand, target: Target | None) -> str | None:
        size, columns = operand.dtype.size, operand.columns
        if operand.space is not PSUM or size >= 4 or operand.address is None or columns is None or not operand.steps:
            return None
        reach = sum(abs(s) * (n - 1) for s, n in zip(operand.steps, operand.nums, strict=True))
        if columns[1] - columns[0] != reach:  # moved by a loop
            return None
        step = operand.steps[-1]
        first = operand.address + (columns[0] if step >= 0 else columns[1]) * size
        if step == 1 and first % 4:
            return f"starts at byte {first} in PSUM, it must be a multiple of 4"
        if step == -1 and size == 2 and first % 4 != 2:
            return f"starts at byte {first} in PSUM in reverse order, it must be 2 behind a multiple of 4"
        return None


@dataclass(frozen=True, kw_only=True)
class InOnePsumBank(RoleRule):
    """An access to PSUM stays inside one bank."""

    ID = "BIR110"
    bank_bytes: int = 2048

    @property
    def statement(self) -> str:
        return f"{_names(self.roles)} must lie in one PSUM bank of {self.bank_bytes} bytes"

    def check_one(self, operand: Operand, target: Target | None) -> str | None:
        if operand.space is not PSUM or operand.columns is None or operand.address is None:
            return None
        size = operand.dtype.size
        first = (operand.address + operand.columns[0] * size) // self.bank_bytes
        last = (operand.address + (operand.columns[1] + 1) * size - 1) // self.bank_bytes
        return None if first == last else f"spans the PSUM banks {first} to {last}, it must lie in one"


def _unlike(
    operands: Operands, roles: tuple[str, ...], figure: Callable[[Operand], Any]
) -> tuple[str, Any, str, Any] | None:
    """Returns (name, figure) of the first operand in storage, and of the first one whose known figure differs."""
    first: tuple[str, Any] | None = None
    for role in roles:
        for name, operand in operands.of(role):
            if operand.space is None or (value := figure(operand)) is None:
                continue
            if first is None:
                first = name, value
            elif value != first[1]:
                return *first, name, value
    return None


# Shape ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class SamePartitions(Rule):
    """Operands access equally many partitions."""

    ID = "X-PEQ"
    roles: tuple[str, ...]

    @property
    def statement(self) -> str:
        return f"{', '.join(self.roles)} must access equally many partitions"

    def check(self, operands: Operands, target: Target | None) -> str | None:
        found = _unlike(operands, self.roles, attrgetter("partitions"))
        if found is None:
            return None
        first, expected, name, got = found
        return f"{name} accesses {got} partitions, {first} accesses {expected}"


@dataclass(frozen=True, kw_only=True)
class SameFree(Rule):
    """Operands access equally many elements a partition; shapes may differ in rank."""

    ID = "X-FEQ"
    roles: tuple[str, ...]

    @property
    def statement(self) -> str:
        return f"{', '.join(self.roles)} must access equally many elements a partition"

    def check(self, operands: Operands, target: Target | None) -> str | None:
        found = _unlike(operands, self.roles, attrgetter("free"))
        if found is None:
            return None
        first, expected, name, got = found
        return f"{name} has {got} elements a partition, {first} has {expected}"


@dataclass(frozen=True, kw_only=True)
class SameCount(Rule):
    """Operands access equally many elements altogether."""

    ID = "DMA-COUNT"
    roles: tuple[str, ...]

    @property
    def statement(self) -> str:
        return f"{', '.join(self.roles)} must access equally many elements"

    def check(self, operands: Operands, target: Target | None) -> str | None:
        found = _unlike(operands, self.roles, attrgetter("count"))
        if found is None:
            return None
        first, expected, name, got = found
        return f"{name} accesses {got} elements, {first} accesses {expected}"


@dataclass(frozen=True, kw_only=True)
class FreeSize(RoleRule):
    """The number of elements a partition is bounded, fixed, or a multiple."""

    ID = "X-VEC"
    at_most: int | Limit | None = None
    exactly: int | None = None
    multiple_of: int | None = None

    @property
    def statement(self) -> str:
        what = _names(self.roles)
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


@dataclass(frozen=True, kw_only=True)
class FreeLimit(RoleRule):
    """An engine walks at most so many elements of each partition."""

    ID = "HW-SZ1"
    source: str = "NKI ISA reference, §1.4"
    sbuf: int = 65536
    psum: int = 4096

    @property
    def statement(self) -> str:
        return f"{_names(self.roles)} may have {self.sbuf} elements a partition in SBUF, {self.psum} in PSUM"

    def check_one(self, operand: Operand, target: Target | None) -> str | None:
        limit = self.psum if operand.space is PSUM else self.sbuf
        if operand.free is None or operand.free <= limit:
            return None
        return f"has {operand.free} elements a partition, at most {limit} allowed in {operand.space}"


@dataclass(frozen=True, kw_only=True)
class StepRange(RoleRule):
    """The step of a pair is a signed 16-bit number."""

    ID = "HW-AP2"
    source: str = "NKI ISA reference, §1.4"

    @property
    def statement(self) -> str:
        return f"{_names(self.roles)} may have steps from -32768 to 32767"

    def check_one(self, operand: Operand, target: Target | None) -> str | None:
        for step, number in zip(operand.steps, operand.nums, strict=True):
            if number > 1 and not -32768 <= step <= 32767:
                return f"has step {step}, -32768 to 32767 allowed"
        return None


@dataclass(frozen=True, kw_only=True)
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


@dataclass(frozen=True, kw_only=True)
class PartitionCount(RoleRule):
    """The number of partitions is fixed."""

    ID = "X-PEQ"
    exactly: int

    @property
    def statement(self) -> str:
        return f"{_names(self.roles)} must access exactly {self.exactly} partition{'s' if self.exactly > 1 else ''}"

    def check_one(self, operand: Operand, target: Target | None) -> str | None:
        if operand.partitions is None or operand.partitions == self.exactly:
            return None
        return f"accesses {operand.partitions} partitions, exactly {self.exactly} needed"


@dataclass(frozen=True, kw_only=True)
class Dimensions(RoleRule):
    """An instruction has room for a few (step, number) pairs, partitions included."""

    ID = "BIR049"
    at_most: int = 5

    @property
    def statement(self) -> str:
        return f"{_names(self.roles)} may have at most {self.at_most} pairs, partitions included"

    def check_one(self, operand: Operand, target: Target | None) -> str | None:
        pairs = max(1, len(operand.partition_steps)) + len(operand.nums)
        return None if pairs <= self.at_most else f"has {pairs} pairs, at most {self.at_most} allowed"


@dataclass(frozen=True, kw_only=True)
class DistinctDestination(RoleRule):
    """A destination names each element once: no step of 0."""

    ID = "X-DSTEP"

    @property
    def statement(self) -> str:
        return f"{_names(self.roles)} must not repeat an element (step 0)"

    def check_one(self, operand: Operand, target: Target | None) -> str | None:
        repeated = any(s == 0 and n > 1 for s, n in zip(operand.steps, operand.nums, strict=True))
        if not repeated and not (0 in operand.partition_steps and operand.partitions != 1):
            return None
        return "is a destination and repeats elements with step 0"


# Dtypes ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class DtypeIn(Rule):
    """The element type is one of a set; `since_extra` adds types from a generation on."""

    ID = "X-DTYPE"
    roles: tuple[str, ...]
    dtypes: frozenset[Dtype]
    since_extra: tuple[tuple[Target, frozenset[Dtype]], ...] = ()

    @property
    def statement(self) -> str:
        return f"{_names(self.roles)} must be of type {_names(sorted(self.dtypes))}"

    def allowed(self, target: Target | None) -> frozenset[Dtype]:
        """Returns the types that the target allows."""
        found = self.dtypes
        for since, extra in self.since_extra:
            if target is None or target >= since:
                found = found | extra
        return found

    def check(self, operands: Operands, target: Target | None) -> str | None:
        allowed = self.allowed(target)
        for role in self.roles:
            for name, operand in operands.of(role):
                if operand.dtype not in allowed:
                    return f"{name} is of type {operand.dtype}, it must be {_names(sorted(allowed))}"
        return None


@cache
def _missing_dtypes(target: Target) -> frozenset[Dtype]:
    return frozenset(dtype for dtype in Dtype if dtype.since > target)


@dataclass(frozen=True, kw_only=True)
class DtypeAvailable(Rule):
    """Every element type exists on the target."""

    ID = "BIR533"

    @property
    def statement(self) -> str:
        return "element types must exist on the target"

    def check(self, operands: Operands, target: Target | None) -> str | None:
        if target is None or not (missing := _missing_dtypes(target)):
            return None
        for role in operands.roles:
            for name, operand in operands.of(role):
                if operand.dtype in missing:
                    return f"{name} is of type {operand.dtype}, which {target} does not have"
        return None


@dataclass(frozen=True, kw_only=True)
class ElementSize(RoleRule):
    """Engines have no 64-bit elements; DMA moves them."""

    ID = "X-DT64"
    source: str = "NKI ISA reference, §3.1"

    @property
    def statement(self) -> str:
        return f"{_names(self.roles)} must have elements of at most 4 bytes"

    def check_one(self, operand: Operand, target: Target | None) -> str | None:
        if operand.dtype.size <= 4:
            return None
        return f"is of type {operand.dtype}, engines take elements of at most 4 bytes"


@dataclass(frozen=True, kw_only=True)
class Unpacked(RoleRule):
    """Computing needs numbers, and the packed x4 types have none: no cast of them exists."""

    ID = "X-PACKED"
    source: str = "NKI ISA reference, §3.1"

    @property
    def statement(self) -> str:
        return f"{_names(self.roles)} must not be of a packed type"

    def check_one(self, operand: Operand, target: Target | None) -> str | None:
        if operand.dtype.lanes == 1:
            return None
        return f"is of the packed type {operand.dtype}, which this instruction cannot compute with"


@dataclass(frozen=True, kw_only=True)
class PackedCopy(Rule):
    """A packed type is copied as it is."""

    ID = "X-PACKED"
    source: str = "NKI ISA reference, §3.1"
    roles: tuple[str, ...]

    @property
    def statement(self) -> str:
        return f"{' and '.join(self.roles)} must have the same type if one is packed"

    def check(self, operands: Operands, target: Target | None) -> str | None:
        found = _unlike(operands, self.roles, attrgetter("dtype"))
        if found is None or (found[1].lanes == 1 and found[3].lanes == 1):
            return None
        first, a, second, b = found
        return f"{first} is of type {a} and {second} of type {b}, a packed type cannot be cast"


@dataclass(frozen=True, kw_only=True)
class VectorDtype(Rule):
    """Arithmetic takes its values a partition in fp32, or all operands as 32-bit integers."""

    ID = "X-VECDT"
    source: str = "NKI ISA reference, §2.5 (tensor_scalar)"
    parameters: tuple[str, ...]
    vectors: tuple[str, ...]
    others: tuple[str, ...]

    @property
    def statement(self) -> str:
        return f"{_names(self.vectors)} in storage must be f32 for arithmetic, or all operands 32-bit integers"

    def check(self, operands: Operands, target: Target | None) -> str | None:
        ops = [op for name in self.parameters if isinstance(op := operands.parameters.get(name), AluOp)]
        if any(op.is_bitwise for op in ops):
            return None
        wrong = [
            (name, operand)
            for role in self.vectors
            for name, operand in operands.of(role)
            if operand.space is not None and operand.dtype is not Dtype.F32
        ]
        exact = (Dtype.I32, Dtype.U32)
        roles = (*self.vectors, *self.others)
        if not wrong or all(operand.dtype in exact for role in roles for _, operand in operands.of(role)):
            return None
        name, operand = wrong[0]
        return f"{name} is of type {operand.dtype}, arithmetic takes one f32 a partition"


@dataclass(frozen=True, kw_only=True)
class FloatScalar(Rule):
    """A number for a floating-point destination is a floating-point number."""

    ID = "X-SCALARDT"
    source: str = "Penguin reference, §9.6 (tensor_copy_predicated)"
    immediate: str
    role: str

    @property
    def statement(self) -> str:
        return f"{self.immediate} as a number must be of a floating-point type if {self.role} is"

    def check(self, operands: Operands, target: Target | None) -> str | None:
        constant, operand = operands.one(self.immediate), operands.one(self.role)
        if constant is None or operand is None or constant.immediate is None:
            return None
        if operand.dtype.is_integer or operand.dtype.lanes > 1 or not constant.dtype.is_integer:
            return None
        return f"{self.immediate} is a number of type {constant.dtype}, {operand.dtype} takes a floating-point number"


@dataclass(frozen=True, kw_only=True)
class SameDtype(Rule):
    """Operands have the same element type; `when` names a parameter that must be set for the rule to hold."""

    ID = "X-SAMEDT"
    roles: tuple[str, ...]
    when: str = ""

    @property
    def statement(self) -> str:
        condition = f" with {self.when}" if self.when else ""
        return f"{', '.join(self.roles)} must have the same element type{condition}"

    def check(self, operands: Operands, target: Target | None) -> str | None:
        if self.when and not operands.parameters.get(self.when):
            return None
        found = _unlike(operands, self.roles, attrgetter("dtype"))
        if found is None:
            return None
        first, expected, name, got = found
        return f"{name} is of type {got}, {first} is of type {expected}"


@dataclass(frozen=True, kw_only=True)
class PsumDtype(RoleRule):
    """What an engine may write to PSUM: 4-byte types, and bf16 for the instructions that may."""

    ID = "BIR441"
    extra: frozenset[Dtype] = frozenset()

    @property
    def statement(self) -> str:
        also = f" or {_names(sorted(self.extra))}" if self.extra else ""
        return f"{_names(self.roles)} in PSUM must be of a 4-byte type{also}"

    def check_one(self, operand: Operand, target: Target | None) -> str | None:
        if operand.space is not PSUM or operand.dtype.size == 4 or operand.dtype in self.extra:
            return None
        also = f" or {_names(sorted(self.extra))}" if self.extra else ""
        return f"is of type {operand.dtype} in PSUM, it must be of a 4-byte type{also}"


# Engines and operators ------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class OnEngine(Rule):
    """The instruction runs on one of some engines (unassigned: a later pass chooses; all: every engine)."""

    ID = "BIR606"
    engines: frozenset[Engine]

    @property
    def statement(self) -> str:
        return f"engine must be {_names(sorted(self.engines))}"

    def check(self, operands: Operands, target: Target | None) -> str | None:
        engine = operands.parameters.get("engine")
        if engine is None or engine in self.engines or engine in (Engine.UNASSIGNED, Engine.ALL):
            return None
        return f"engine is {engine}, it must be {_names(sorted(self.engines))}"


@dataclass(frozen=True, kw_only=True)
class NotInPsumOn(Rule):
    """Operands are not in PSUM when the instruction runs on an engine that cannot reach it."""

    ID = "X-GPPSUM"
    engine: Engine
    roles: tuple[str, ...]

    @property
    def statement(self) -> str:
        return f"{_names(self.roles)} must be in sbuf on {self.engine}"

    def check(self, operands: Operands, target: Target | None) -> str | None:
        if operands.parameters.get("engine") is not self.engine:
            return None
        for role in self.roles:
            for name, operand in operands.of(role):
                if operand.space is PSUM:
                    return f"{name} is in psum, which engine {self.engine} cannot access"
        return None


@dataclass(frozen=True, kw_only=True)
class OpNotInPsum(Rule):
    """Some operators run on an engine that cannot reach PSUM, whether it is named yet or not."""

    ID = "X-GPPSUM"
    parameters: tuple[str, ...]
    ops: frozenset[AluOp]
    engine: Engine
    roles: tuple[str, ...]

    @property
    def statement(self) -> str:
        ops = _names(sorted(self.ops))
        return f"{_names(self.roles)} must be in sbuf with {_names(self.parameters)} {ops}, which runs on {self.engine}"

    def check(self, operands: Operands, target: Target | None) -> str | None:
        op = next((op for name in self.parameters if (op := operands.parameters.get(name)) in self.ops), None)
        if op is None:
            return None
        for role in self.roles:
            for name, operand in operands.of(role):
                if operand.space is PSUM:
                    return f"{name} is in psum, {op} runs on engine {self.engine}, which cannot access it"
        return None


@dataclass(frozen=True, kw_only=True)
class EngineSince(Rule):
    """An engine runs the instruction from a generation on."""

    ID = "X-ENGGEN"
    engine: Engine
    first: Target

    @property
    def statement(self) -> str:
        return f"engine {self.engine} needs {self.first} or newer"

    def check(self, operands: Operands, target: Target | None) -> str | None:
        if target is None or target >= self.first or operands.parameters.get("engine") is not self.engine:
            return None
        return f"engine is {self.engine}, which needs {self.first} or newer; the target is {target}"


@dataclass(frozen=True, kw_only=True)
class OperandOfOp(Rule):
    """A binary operator needs its operand; a unary one takes none, or the number 0."""

    ID = "X-UNARY"
    source: str = "NKI ISA reference, §2.5 (tensor_scalar)"
    parameter: str
    operand: str

    @property
    def statement(self) -> str:
        return f"{self.operand} must be given unless {self.parameter} is unary, then it must be absent or 0"

    def check(self, operands: Operands, target: Target | None) -> str | None:
        op, operand = operands.parameters.get(self.parameter), operands.one(self.operand)
        if not isinstance(op, AluOp):
            return None
        if not op.is_unary:
            return None if operand is not None else f"{self.parameter} is {op}, which needs {self.operand}"
        if operand is None or (operand.space is None and operand.immediate == 0):
            return None
        return f"{self.operand} is given, {self.parameter} {op} takes none or the number 0"


@dataclass(frozen=True, kw_only=True)
class NeedsTile(Rule):
    """An operand that some forms of an instruction can do without, or have as a number, is a tile in this one."""

    ID = "X-TILE"
    role: str

    @property
    def statement(self) -> str:
        return f"{self.role} must be given, in storage"

    def check(self, operands: Operands, target: Target | None) -> str | None:
        if self.role not in operands.roles:
            return f"{self.role} is missing, it must be a tile"
        return None if all(o.space is not None for _, o in operands.of(self.role)) else f"{self.role} must be a tile"


@dataclass(frozen=True, kw_only=True)
class ArithmeticOnly(Rule):
    """A flag goes with arithmetic operators only."""

    ID = "X-NEGATE"
    source: str = "NKI ISA reference, §2.5 (tensor_reduce)"
    flag: str
    parameter: str

    @property
    def statement(self) -> str:
        return f"{self.flag} needs an arithmetic {self.parameter}"

    def check(self, operands: Operands, target: Target | None) -> str | None:
        op = operands.parameters.get(self.parameter)
        if not operands.parameters.get(self.flag) or not isinstance(op, AluOp) or op.is_arithmetic:
            return None
        return f"{self.flag} is given, but {self.parameter} {op} is not arithmetic"


@dataclass(frozen=True, kw_only=True)
class NotBothPsum(Rule):
    """Two tensor inputs of one instruction are not both in PSUM."""

    ID = "X-2PSUM"
    roles: tuple[str, ...]

    @property
    def statement(self) -> str:
        return f"{' and '.join(self.roles)} must not both be in psum"

    def check(self, operands: Operands, target: Target | None) -> str | None:
        inside = [name for role in self.roles for name, operand in operands.of(role) if operand.space is PSUM]
        return f"{' and '.join(inside[:2])} are both in psum, at most one may be" if len(inside) > 1 else None


@dataclass(frozen=True, kw_only=True)
class OpIn(Rule):
    """An operator parameter is one of a set; `kind` names the set where it is too large to be listed."""

    ID = "X-OP"
    parameters: tuple[str, ...]
    ops: frozenset[Any]
    kind: str = ""

    @property
    def statement(self) -> str:
        return f"{_names(self.parameters)} must be {self.kind or _names(sorted(self.ops))}"

    def check(self, operands: Operands, target: Target | None) -> str | None:
        for name in self.parameters:
            op = operands.parameters.get(name)
            if op is not None and op not in self.ops:
                return f"{name} is {op}, it must be {self.kind or _names(sorted(self.ops))}"
        return None


@dataclass(frozen=True, kw_only=True)
class OpAvailable(Rule):
    """Operators and functions exist on the target."""

    ID = "BIR532"
    parameters: tuple[str, ...]

    @property
    def statement(self) -> str:
        return f"{_names(self.parameters)} must exist on the target"

    def check(self, operands: Operands, target: Target | None) -> str | None:
        if target is None:
            return None
        for name in self.parameters:
            op = operands.parameters.get(name)
            if op is not None and op.since > target:
                return f"{name} is {op}, which {target} does not have"
        return None


@dataclass(frozen=True, kw_only=True)
class SameOpClass(Rule):
    """All operators of one instruction are bitwise, or none is."""

    ID = "X-BITVEC"
    parameters: tuple[str, ...]

    @property
    def statement(self) -> str:
        return f"{' and '.join(self.parameters)} must be both bitwise or both arithmetic operators"

    def check(self, operands: Operands, target: Target | None) -> str | None:
        found = [
            (name, op)
            for name in self.parameters
            if isinstance(op := operands.parameters.get(name), AluOp) and op is not AluOp.BYPASS
        ]
        if len({op.is_bitwise for _, op in found}) < 2:
            return None
        (first, a), (second, b) = found[0], next(x for x in found[1:] if x[1].is_bitwise != found[0][1].is_bitwise)
        return f"{first} is {a} and {second} is {b}, they must be both bitwise or both arithmetic operators"


@dataclass(frozen=True, kw_only=True)
class BitwiseOnIntegers(Rule):
    """Bitwise operators take and give integers."""

    ID = "X-BITVEC"
    parameters: tuple[str, ...]
    roles: tuple[str, ...]

    @property
    def statement(self) -> str:
        return f"{_names(self.roles)} must be integers with a bitwise {_names(self.parameters)}"

    def check(self, operands: Operands, target: Target | None) -> str | None:
        for parameter in self.parameters:
            op = operands.parameters.get(parameter)
            if not isinstance(op, AluOp) or not op.is_bitwise:
                continue
            for role in self.roles:
                for name, operand in operands.of(role):
                    if not operand.dtype.is_integer:
                        return f"{name} is of type {operand.dtype}, {op} needs integers"
        return None


@dataclass(frozen=True, kw_only=True)
class OpOnEngines(Rule):
    """With some values of a parameter, only some engines can run the instruction."""

    ID = "X-OPENG"
    parameter: str
    ops: frozenset[Any]
    engines: frozenset[Engine]

    @property
    def statement(self) -> str:
        return f"{self.parameter} {_names(sorted(self.ops))} runs on {_names(sorted(self.engines))}"

    def check(self, operands: Operands, target: Target | None) -> str | None:
        op, engine = operands.parameters.get(self.parameter), operands.parameters.get("engine")
        if op not in self.ops or engine is None or engine in (Engine.UNASSIGNED, Engine.ALL) or engine in self.engines:
            return None
        return f"engine is {engine}, {self.parameter} {op} needs {_names(sorted(self.engines))}"


@dataclass(frozen=True, kw_only=True)
class Together(Rule):
    """Names (roles or parameters) are all given or all absent. The operator bypass goes with or without its operand."""

    ID = "X-BOTH"
    names: tuple[str, ...]

    @property
    def statement(self) -> str:
        return f"{' and '.join(self.names)} must be given together or not at all"

    def check(self, operands: Operands, target: Target | None) -> str | None:
        if any(operands.parameters.get(n) is AluOp.BYPASS for n in self.names):
            return None
        given = [n for n in self.names if n in operands.roles or operands.parameters.get(n) is not None]
        if not given or len(given) == len(self.names):
            return None
        missing = [n for n in self.names if n not in given]
        return f"{_and(given)} {'is' if len(given) == 1 else 'are'} given without {_and(missing)}"


def _and(names: list[str]) -> str:
    return " and ".join(names)


@dataclass(frozen=True, kw_only=True)
class Requires(Rule):
    """A role or parameter that is given, or has one of some values, needs others."""

    ID = "X-NEEDS"
    name: str
    needs: tuple[str, ...]
    values: frozenset[Any] = field(default_factory=frozenset[Any])

    @property
    def statement(self) -> str:
        value = f" {_names(sorted(self.values))}" if self.values else ""
        return f"{self.name}{value} needs {_and(list(self.needs))}"

    def check(self, operands: Operands, target: Target | None) -> str | None:
        value = operands.parameters.get(self.name)
        given = value in self.values if self.values else (self.name in operands.roles or value is not None)
        if not given:
            return None
        missing = [n for n in self.needs if n not in operands.roles and operands.parameters.get(n) is None]
        if not missing:
            return None
        shown = f" {value}" if self.values else ""
        return f"{self.name}{shown} is given without {_and(missing)}"


@dataclass(frozen=True, kw_only=True)
class ValueIn(Rule):
    """An integer parameter, or each member of a list of them, is one of a set; expressions are not checked."""

    ID = "X-VALUE"
    parameter: str
    values: tuple[int, ...]

    @property
    def statement(self) -> str:
        return f"{self.parameter} must be {_names(self.values)}"

    def check(self, operands: Operands, target: Target | None) -> str | None:
        value = operands.parameters.get(self.parameter)
        if value is None:
            return None
        for member in cast("tuple[Any, ...]", value) if isinstance(value, tuple) else (value,):
            if isinstance(member, int) and member not in self.values:
                return f"{self.parameter} is {member}, it must be {_names(self.values)}"
        return None


@dataclass(frozen=True, kw_only=True)
class SinceTarget(Rule):
    """The instruction exists from a generation on."""

    ID = "BIR530"
    first: Target

    @property
    def statement(self) -> str:
        return f"needs {self.first} or newer"

    def check(self, operands: Operands, target: Target | None) -> str | None:
        return (
            f"needs {self.first} or newer, the target is {target}"
            if target is not None and target < self.first
            else None
        )


# Rules of few instructions ---------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class SinceValue(Rule):
    """A parameter may have a value (None: any value) from a generation on."""

    ID = "X-SINCE"
    parameter: str
    value: Any
    first: Target

    @property
    def statement(self) -> str:
        value = "" if self.value is None else f" {self.value}"
        return f"{self.parameter}{value} needs {self.first} or newer"

    def check(self, operands: Operands, target: Target | None) -> str | None:
        found = operands.parameters.get(self.parameter)
        if target is None or target >= self.first or found is None or self.value not in (None, found):
            return None
        return f"{self.parameter} is {found}, which needs {self.first} or newer; the target is {target}"


@dataclass(frozen=True, kw_only=True)
class DmaCast(Rule):
    """A DMA casts through fp32, except for the packed x4 types and with descriptors made by hardware."""

    ID = "X-DMACAST"
    roles: tuple[str, ...]

    @property
    def statement(self) -> str:
        return f"{' and '.join(self.roles)} must have the same type if one is packed or dge_type is hwdge"

    def check(self, operands: Operands, target: Target | None) -> str | None:
        found = [(name, o) for role in self.roles for name, o in operands.of(role)]
        if len({o.dtype for _, o in found}) < 2:
            return None
        (first, a), (second, b) = found[:2]
        what = f"{first} is of type {a.dtype} and {second} of type {b.dtype}"
        if a.dtype.lanes > 1 or b.dtype.lanes > 1:
            return f"{what}, a packed type cannot be cast"
        if operands.parameters.get("dge_type") == "hwdge":
            return f"{what}, dge_type hwdge cannot cast"
        return None


@dataclass(frozen=True, kw_only=True)
class ImmediateFits(Rule):
    """An integer destination takes an integer constant in its range; a packed one only 0."""

    ID = "X-MEMSET"
    immediate: str
    role: str

    @property
    def statement(self) -> str:
        return f"{self.immediate} must be a value of {self.role}'s type; a packed type takes only 0"

    def check(self, operands: Operands, target: Target | None) -> str | None:
        constant, operand = operands.one(self.immediate), operands.one(self.role)
        if constant is None or operand is None or constant.immediate is None:
            return None
        value, dtype = constant.immediate, operand.dtype
        if dtype.lanes > 1:
            return f"{self.immediate} is {value}, a packed type takes only 0" if value else None
        if not dtype.is_integer:
            return None
        if isinstance(value, float) and not value.is_integer():
            return f"{self.immediate} is {value}, {dtype} takes an integer"
        if not dtype.min <= value <= dtype.max:
            return f"{self.immediate} is {value}, {dtype} holds {dtype.min} to {dtype.max}"
        return None


@dataclass(frozen=True, kw_only=True)
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


@dataclass(frozen=True, kw_only=True)
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
        are = "is" if left == 1 else "are"
        return f"{self.result} has {result.free} elements a partition, {left} {are} left after reducing {axis}"


@dataclass(frozen=True, kw_only=True)
class OpPairsOn(Rule):
    """An engine runs only some pairs of operators."""

    ID = "BIR444"
    engine: Engine
    pairs: frozenset[tuple[AluOp, AluOp | None]]

    @property
    def statement(self) -> str:
        return f"on {self.engine}, (op0, op1) must be {_names(sorted(_pair(*p) for p in self.pairs))}"

    def check(self, operands: Operands, target: Target | None) -> str | None:
        if operands.parameters.get("engine") is not self.engine:
            return None
        op1 = operands.parameters.get("op1")
        found = operands.parameters.get("op0"), None if op1 is AluOp.BYPASS else op1
        if found in self.pairs or found[0] is None:
            return None
        return (
            f"operators are {_pair(*found)}, engine {self.engine} takes {_names(sorted(_pair(*p) for p in self.pairs))}"
        )


def _pair(first: AluOp | None, second: AluOp | None) -> str:
    return f"({first}, {second or '-'})"


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


def check_all(rules: tuple[Rule, ...], operands: Operands, target: Target | None) -> tuple[str, Rule] | None:
    """Returns (violation, rule) of the first rule that does not hold, or None."""
    for rule in rules:
        if rule.applies(target):
            found = rule.check(operands, target)
            if found is not None:
                return found, rule
    return None


def by_identifier(rules: Collection[Rule]) -> Mapping[str, list[Rule]]:
    """Groups rules by the identifier that messages cite."""
    groups: dict[str, list[Rule]] = {}
    for rule in rules:
        groups.setdefault(rule.identifier, []).append(rule)
    return groups

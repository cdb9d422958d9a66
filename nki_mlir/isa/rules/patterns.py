"""Rules on access patterns: which partitions and elements an operand may name."""

from nki_mlir.isa.operands import Operand
from nki_mlir.isa.rules.base import RoleRule, any_of
from nki_mlir.isa.target import Target


class PartitionLimit(RoleRule):
    """At most as many partitions as the memory has."""

    ID = "X-PMAX"
    at_most: int = 128

    @property
    def statement(self) -> str:
        return f"{any_of(self.roles)} may access at most {self.at_most} partitions"

    def check_one(self, operand: Operand, target: Target | None) -> str | None:
        if operand.partitions is None or operand.partitions <= self.at_most or not operand.on_chip:
            return None
        return f"accesses {operand.partitions} partitions, at most {self.at_most} allowed"


class ContiguousPartitions(RoleRule):
    """An instruction walks neighbouring partitions: one partition pair with step 1."""

    ID = "HW-P1"

    @property
    def statement(self) -> str:
        return f"{any_of(self.roles)} must access neighbouring partitions"

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


class StartPartition(RoleRule):
    """65 to 128 partitions start at 0, 33 to 64 at 0 or 64, up to 32 at 0, 32, 64 or 96."""

    ID = "HW-P2"

    @property
    def statement(self) -> str:
        return f"{any_of(self.roles)}: over 64 partitions start at 0, over 32 at 0 or 64, others at a multiple of 32"

    def check_one(self, operand: Operand, target: Target | None) -> str | None:
        if not operand.on_chip:
            return None
        if operand.spans is not None:
            wrong = (self._wrong(start, 0, count) for start, count in operand.spans)
            return next((text for text in wrong if text is not None), None)
        if operand.start is None or operand.partitions is None:
            return None
        return self._wrong(operand.start, operand.start_step, operand.partitions)

    @staticmethod
    def _wrong(start: int, step: int, count: int) -> str | None:
        unit, allowed = (128, "0") if count > 64 else (64, "0 or 64") if count > 32 else (32, "0, 32, 64 or 96")
        if start % unit == 0 and step % unit == 0:
            return None
        steps = f" in steps of {step}" if step else ""
        return f"accesses {count} partitions from partition {start}{steps}, they must start at {allowed}"


class InsideStorage(RoleRule):
    """No access outside the storage: its partitions, and the elements of one row (HBM: of the whole tensor)."""

    ID = "X-FMAX"

    @property
    def statement(self) -> str:
        return f"{any_of(self.roles)} must stay inside the storage"

    def check_one(self, operand: Operand, target: Target | None) -> str | None:
        available = operand.storage_partitions
        if operand.rows is not None and available is not None and operand.on_chip:
            low, high = operand.rows
            if low < 0:
                return f"reaches partition {low} of its storage, the first one is 0"
            if high >= available:
                return f"reaches partition {high}, its storage has {available} partitions"
        if operand.columns is not None and operand.row is not None:
            low, high = operand.columns
            where = "of a partition" if operand.on_chip else "of its tensor"
            if low < 0:
                return f"reaches element {low} {where}, the first one is 0"
            if high >= operand.row:
                return f"reaches element {high} {where}, it has {operand.row} elements"
        return None


class Dimensions(RoleRule):
    """An instruction has room for a few (step, number) pairs, partitions included."""

    ID = "BIR049"
    at_most: int = 5

    @property
    def statement(self) -> str:
        return f"{any_of(self.roles)} may have at most {self.at_most} pairs, partitions included"

    def check_one(self, operand: Operand, target: Target | None) -> str | None:
        pairs = max(1, len(operand.partition_steps)) + len(operand.nums)
        return None if pairs <= self.at_most else f"has {pairs} pairs, at most {self.at_most} allowed"


class StepRange(RoleRule):
    """The step of a pair is a signed 16-bit number."""

    ID = "HW-AP2"
    source: str = "NKI ISA reference, §1.4"

    @property
    def statement(self) -> str:
        return f"{any_of(self.roles)} may have steps from -32768 to 32767"

    def check_one(self, operand: Operand, target: Target | None) -> str | None:
        for step, number in zip(operand.steps, operand.nums, strict=True):
            if number > 1 and not -32768 <= step <= 32767:
                return f"has step {step}, -32768 to 32767 allowed"
        return None


class DistinctDestination(RoleRule):
    """A destination names each element once: no step of 0."""

    ID = "X-DSTEP"

    @property
    def statement(self) -> str:
        return f"{any_of(self.roles)} must not repeat an element (step 0)"

    def check_one(self, operand: Operand, target: Target | None) -> str | None:
        repeated = any(s == 0 and n > 1 for s, n in zip(operand.steps, operand.nums, strict=True))
        if not repeated and not (0 in operand.partition_steps and operand.partitions != 1):
            return None
        return "is a destination and repeats elements with step 0"

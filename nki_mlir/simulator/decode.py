"""What an instruction op says, gathered for its evaluation: compiled accesses, numbers, types, parameters."""

from collections.abc import Sequence
from typing import Any, cast

from xdsl.ir import Attribute, SSAValue

from nki_mlir.diagnostics import NkiError
from nki_mlir.dialects.access import Access
from nki_mlir.dialects.affine import Interval
from nki_mlir.dialects.attributes import ExprAttr, Immediate, MemType, RegisterAttr, value_of
from nki_mlir.dialects.instruction import InstructionOp, Use, operands_of
from nki_mlir.isa.dtypes import Dtype
from nki_mlir.isa.enums import MemorySpace
from nki_mlir.isa.instructions.base import Instruction
from nki_mlir.isa.numerics import constant
from nki_mlir.simulator.accesses import CompiledAccess
from nki_mlir.simulator.expressions import Slots
from nki_mlir.simulator.memory import Array, Storage

_NO_PARAMETERS = frozenset({"name", "when"})


class Names:
    """What SSA values mean in a function: storage, and slots for loop variables and registers, with their bounds."""

    def __init__(self) -> None:
        self.storages: dict[SSAValue, Storage] = {}
        self.slots: Slots = []
        self.ranges: list[Interval | None] = []
        self._numbers: dict[SSAValue, int] = {}

    def new_slot(self, value: SSAValue, bounds: Interval | None = None) -> int:
        """Returns the number of a new slot for a loop variable with bounds, or for a register."""
        number = self._numbers[value] = len(self.slots)
        self.slots.append(None)
        self.ranges.append(bounds)
        return number

    def slot(self, value: SSAValue) -> int:
        """Returns the slot of a loop variable or register."""
        return self._numbers[value]

    def slots_of(self, values: Sequence[SSAValue]) -> list[int]:
        """Returns the slots of index values."""
        return [self._numbers[value] for value in values]


class Operand:
    """One operand: its access if it is in storage, and what is passed to the evaluation, None while that is open."""

    __slots__ = ("access", "argument", "out", "use")

    def __init__(self, use: Use, argument: Any = None, access: CompiledAccess | None = None) -> None:
        self.use = use
        self.argument = argument
        self.access = access
        self.out = use.role.group == "outs"

    def error(self, error: NkiError) -> NkiError:
        """Returns an error of the access as one that names the operand."""
        return NkiError(f"{self.use.label} {error}")


class Decoded:
    """An instruction: operands in order, and by role; element types and spaces by role; parameters.

    `open_parameters` are those over loop variables, with the slots of these. `key` is equal for instructions that can
    share one evaluation.
    """

    __slots__ = ("isa", "key", "open_parameters", "operands", "parameters", "roles", "spaces", "types")

    def __init__(self, isa: Instruction) -> None:
        self.isa = isa
        self.operands: list[Operand] = []
        self.roles: dict[str, Operand | list[Operand]] = {}
        self.types: dict[str, Dtype] = {}
        self.spaces: dict[str, MemorySpace | None] = {}
        self.parameters: dict[str, Any] = {}
        self.open_parameters: dict[str, tuple[ExprAttr, list[int]]] = {}
        self.key: list[Any] = [isa.name]

    def arguments(self) -> list[Any]:
        """Returns what the evaluation is called with, in the descriptor's order of roles."""
        found: list[Any] = []
        for name in self.isa.role_names:
            held = self.roles.get(name)
            if isinstance(held, list):
                found.append(tuple(operand.argument for operand in held))
            else:
                found.append(None if held is None else held.argument)
        return found

    def result(self) -> CompiledAccess:
        """Returns the access of the first output."""
        return next(operand.access for operand in self.operands if operand.out and operand.access is not None)


class Decoder:
    """Decodes the instructions of one function."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self._accesses: dict[tuple[Storage, Access], tuple[CompiledAccess, Array]] = {}
        self._numbers: dict[Immediate, float | int] = {}

    def decode(self, op: InstructionOp, isa: Instruction) -> Decoded:
        """Returns what an instruction says; NkiError if an access is out of bounds for certain."""
        decoded = Decoded(isa)
        key, seen = decoded.key, {role.name for role in op.ROLES}
        for use in operands_of(op):
            name, pattern = use.role.name, use.pattern
            if isinstance(pattern, ExprAttr):
                if pattern.indices:
                    decoded.open_parameters[name] = pattern, self.names.slots_of(use.indices)
                else:
                    decoded.parameters[name] = pattern.value()
                    key.append((name, pattern))
                continue
            operand = self.operand(use)
            decoded.operands.append(operand)
            if use.role.variadic:
                cast("list[Operand]", decoded.roles.setdefault(name, [])).append(operand)
            else:
                decoded.roles[name] = operand
            dtype, space = _type_of(use)
            decoded.types[name], decoded.spaces[name] = dtype, space
            key.append((name, dtype, space))
        for name, attribute in op.properties.items():
            if name not in seen and name not in _NO_PARAMETERS:
                decoded.parameters[name] = value_of(attribute)
                key.append((name, attribute))
        return decoded

    def operand(self, use: Use) -> Operand:
        """Returns one operand, with the view or number that does not depend on the run."""
        pattern = use.pattern
        if isinstance(pattern, Immediate):
            return Operand(use, self._number(pattern))
        if not isinstance(pattern, Access) or use.storage is None:
            kind = "a register" if isinstance(pattern, RegisterAttr) else str(pattern)
            raise NkiError(f"{use.label} is {kind}, which cannot be evaluated here")
        storage = self.names.storages[use.storage]
        operand = Operand(use)
        try:
            if use.indices:
                numbers = self.names.slots_of(use.indices)
                ranges = [self.names.ranges[number] for number in numbers]
                operand.access = CompiledAccess(pattern, storage, self.names.slots, numbers, ranges)
            else:
                operand.access, operand.argument = self._fixed(storage, pattern)
        except NkiError as error:
            raise operand.error(error) from None
        return operand

    def _fixed(self, storage: Storage, pattern: Access) -> tuple[CompiledAccess, Array]:
        known = self._accesses.get((storage, pattern))
        if known is None:
            access = CompiledAccess(pattern, storage, self.names.slots)
            assert access.position is not None
            known = self._accesses[storage, pattern] = access, access.view(access.position)
        return known

    def _number(self, immediate: Immediate) -> float | int:
        """Returns the number of an immediate, rounded to the type it is encoded in."""
        known = self._numbers.get(immediate)
        if known is None:
            value, dtype = immediate.data
            known = value if dtype.is_integer or dtype is Dtype.F32 else float(constant(dtype, value))
            self._numbers[immediate] = known
        return known


def _type_of(use: Use) -> tuple[Dtype, MemorySpace | None]:
    pattern: Attribute = use.pattern
    if isinstance(pattern, Immediate):
        return pattern.data.dtype, None
    assert isinstance(pattern, Access) and use.storage is not None
    return pattern.data.dtype, cast(MemType, use.storage.type).space

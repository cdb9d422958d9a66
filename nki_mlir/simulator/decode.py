"""What an instruction op says, gathered for its evaluation: compiled accesses, numbers, types, parameters."""

from collections.abc import Sequence
from typing import Any, cast

from xdsl.ir import SSAValue

from nki_mlir.diagnostics import NkiError
from nki_mlir.dialects.access import Access
from nki_mlir.dialects.affine import Interval
from nki_mlir.dialects.attributes import ExprAttr, Immediate, RegisterAttr, value_of
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
    """An instruction: operands in order, and by role (a list for a variadic one).

    `open_parameters` are those over loop variables, with the slots of these. `fixed` tells that all accesses stay where
    they are, `shadowed` that some storage has a shadow. `key` is equal for instructions that can share an evaluation.
    """

    __slots__ = ("fixed", "isa", "key", "op", "open_parameters", "operands", "roles", "shadowed")

    def __init__(self, op: InstructionOp, isa: Instruction) -> None:
        self.op = op
        self.isa = isa
        self.operands: list[Operand] = []
        self.roles: dict[str, Operand | list[Operand]] = {}
        self.open_parameters: dict[str, tuple[ExprAttr, list[int]]] | None = None
        self.fixed = True
        self.shadowed = False
        self.key: list[Any] = [isa.name]

    def arguments(self) -> list[Any]:
        """Returns what the evaluation is called with, in the descriptor's order of roles."""
        found: list[Any] = []
        roles = self.roles
        for name in self.isa.role_names:
            held = roles.get(name)
            if held is None:
                found.append(None)
            elif type(held) is Operand:
                found.append(held.argument)
            else:
                found.append(tuple(operand.argument for operand in cast("list[Operand]", held)))
        return found

    def result(self) -> CompiledAccess:
        """Returns the access of the first output."""
        access = self.operands[0].access
        assert access is not None
        return access

    def types(self) -> tuple[dict[str, Dtype], dict[str, MemorySpace | None]]:
        """Returns the element types and the memory spaces by role; an immediate is in no space."""
        types: dict[str, Dtype] = {}
        spaces: dict[str, MemorySpace | None] = {}
        for operand in self.operands:
            name, pattern = operand.use.role.name, operand.use.pattern
            types[name] = cast("Access | Immediate", pattern).data.dtype
            spaces[name] = None if operand.access is None else operand.access.storage.mem.space
        return types, spaces

    def parameters(self) -> dict[str, Any]:
        """Returns the parameters that do not depend on the run, as rules and evaluations see them."""
        operands = {operand.use.role.name for operand in self.operands}
        hidden = operands | _NO_PARAMETERS | (self.open_parameters or {}).keys()
        return {name: value_of(held) for name, held in self.op.properties.items() if name not in hidden}


class Decoder:
    """Decodes the instructions of one function."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self._known: dict[tuple[SSAValue, Access, Sequence[SSAValue]], tuple[CompiledAccess, Array | None]] = {}
        self._numbers: dict[Immediate, float | int] = {}

    def decode(self, op: InstructionOp, isa: Instruction) -> Decoded:
        """Returns what an instruction says; NkiError if an access is out of bounds for certain."""
        decoded = Decoded(op, isa)
        key, roles, operands = decoded.key, decoded.roles, decoded.operands
        for use in operands_of(op):
            role, pattern = use.role, use.pattern
            if type(pattern) is ExprAttr:
                if pattern.indices:
                    if decoded.open_parameters is None:
                        decoded.open_parameters = {}
                    decoded.open_parameters[role.name] = pattern, self.names.slots_of(use.indices)
                continue
            operand = self.operand(use)
            operands.append(operand)
            access = operand.access
            if access is not None:
                key += (access.access.data.dtype, access.storage.mem.data.space)
                decoded.fixed &= access.position is not None
                decoded.shadowed |= access.has_shadow
            else:
                key += (cast(Immediate, pattern).data.dtype, None)
            if role.variadic:
                cast("list[Operand]", roles.setdefault(role.name, [])).append(operand)
            else:
                roles[role.name] = operand
        for name, attribute in op.properties.items():
            if name not in roles:
                key += (name, attribute)
            else:
                key.append(name)
        return decoded

    def operand(self, use: Use) -> Operand:
        """Returns one operand, with the view or number that does not depend on the run."""
        pattern = use.pattern
        if type(pattern) is Immediate:
            return Operand(use, self._number(pattern))
        if type(pattern) is not Access or use.storage is None:
            kind = "a register" if type(pattern) is RegisterAttr else str(pattern)
            raise NkiError(f"{use.label} is {kind}, which cannot be evaluated here")
        key = use.storage, pattern, use.indices
        known = self._known.get(key)
        if known is None:
            try:
                access = self._access(use.storage, pattern, use.indices)
            except NkiError as error:
                raise Operand(use).error(error) from None
            view = None if access.position is None else access.view(access.position)
            known = self._known[key] = access, view
        return Operand(use, known[1], known[0])

    def _access(self, value: SSAValue, pattern: Access, indices: Sequence[SSAValue]) -> CompiledAccess:
        storage, numbers = self.names.storages[value], self.names.slots_of(indices)
        ranges = [self.names.ranges[number] for number in numbers]
        return CompiledAccess(pattern, storage, self.names.slots, numbers, ranges)

    def _number(self, immediate: Immediate) -> float | int:
        """Returns the number of an immediate, rounded to the type it is encoded in."""
        known = self._numbers.get(immediate)
        if known is None:
            value, dtype = immediate.data
            known = value if dtype.is_integer or dtype is Dtype.F32 else float(constant(dtype, value))
            self._numbers[immediate] = known
        return known

"""The base of every instruction op: roles, name, engine, guard, memory effects, verifier.

A role is a property that holds an access pattern, an immediate, an expression, or a list of these. All SSA operands
are one variadic list: role by role in the order of the class, its storage, then the index values its pattern mentions.
Nothing else depends on that layout: `operands_of` reads it, `set_role` and `drop_role` change it, `build` makes it.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cache
from types import MappingProxyType, ModuleType
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self, TypeVar, cast

from xdsl.dialects.builtin import ArrayAttr, LocationAttr, StringAttr, UnitAttr
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue, SSAValues
from xdsl.ir import Use as UseOfValue
from xdsl.irdl import (
    AnyAttr,
    IRDLOperation,
    base,
    irdl_op_definition,
    opt_prop_def,
    prop_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import EffectInstance, MemoryEffect, MemoryEffectKind
from xdsl.utils.exceptions import VerifyException

from nki_mlir.dialects import rawtext
from nki_mlir.dialects.access import Access
from nki_mlir.dialects.attributes import (
    REG,
    ConditionAttr,
    EngineAttr,
    ExprAttr,
    RegisterAttr,
)
from nki_mlir.isa.instructions.base import Instruction

if TYPE_CHECKING:
    from nki_mlir.dialects.legality import Legality

GROUPS = ("outs", "ins", "indirection", "params")


class Role(NamedTuple):
    """One role of an instruction class: its name, the group it is printed in, and what it may be.

    `kinds` tells what may stand in it: "storage" (an access), "number" (an immediate), "register"; of a parameter
    "expression", "list" (of expressions).
    """

    name: str
    group: str
    optional: bool
    variadic: bool
    kinds: frozenset[str]


class Use(NamedTuple):
    """One operand of an instruction: a role (and the member of a variadic one), its pattern, and its SSA values."""

    role: Role
    member: int
    pattern: Attribute
    storage: SSAValue | None
    indices: tuple[SSAValue, ...]

    @property
    def label(self) -> str:
        """The operand's name in messages."""
        return f"{self.role.name}[{self.member}]" if self.role.variadic else self.role.name


# Fields of instruction classes -----------------------------------------------------------------------------------


STORAGE = frozenset({"storage"})
NUMBER = frozenset({"number"})
EITHER = STORAGE | NUMBER
REGISTER_ONLY = frozenset({"register"})
REGISTER_OR_NUMBER = REGISTER_ONLY | NUMBER


def _role_field(
    field: Any, group: str, kinds: frozenset[str], *, optional: bool = False, variadic: bool = False
) -> Any:
    field.nki_role = (group, optional, variadic, kinds)
    return field


def out(kinds: frozenset[str] = STORAGE) -> Any:
    """A storage (or register) that the instruction writes."""
    return _role_field(prop_def(Attribute), "outs", kinds)


def opt_out() -> Access | None:
    """A storage that the instruction may write."""
    return _role_field(opt_prop_def(Attribute), "outs", STORAGE, optional=True)


def in_(kinds: frozenset[str] = STORAGE) -> Any:
    """What the instruction reads: a storage, or what `kinds` names."""
    return _role_field(prop_def(Attribute), "ins", kinds)


def opt_in(kinds: frozenset[str] = STORAGE) -> Any:
    """What the instruction may read."""
    return _role_field(opt_prop_def(Attribute), "ins", kinds, optional=True)


def in_list() -> Any:
    """Any number of storages or numbers that the instruction reads; at most one such role a class."""
    return _role_field(prop_def(Attribute), "ins", EITHER, variadic=True)


def opt_param(*, lists: bool = True) -> ExprAttr | None:
    """A number, or list of numbers unless there are none, that may be affine in index values."""
    kinds = frozenset({"expression", "list"} if lists else {"expression"})
    return _role_field(opt_prop_def(Attribute), "params", kinds, optional=True)


def enum(attribute: type[Any], *, inline: bool = True) -> Any:
    """A required enum; inline ones are printed as a word right after the op's name, in the order of the class."""
    field: Any = prop_def(base(attribute))
    field.nki_inline = (attribute, False) if inline else None
    return field


def opt_enum(attribute: type[Any], *, inline: bool = False) -> Any:
    """An optional enum, in the attribute dictionary unless inline (then it must be the last inline one)."""
    field: Any = opt_prop_def(base(attribute))
    field.nki_inline = (attribute, True) if inline else None
    return field


def flag() -> Any:
    """A property that is present or not, printed as the word of its name after the inline enums."""
    field: Any = opt_prop_def(UnitAttr)
    field.nki_flag = True
    return field


class RoleEffects(MemoryEffect):
    """Instructions write the storage of their `outs`; they read that of all other roles, and registers as indices."""

    @classmethod
    def get_effects(cls, op: Operation) -> AbstractSet[EffectInstance]:
        instruction = cast(InstructionOp, op)
        found: set[EffectInstance] = set()
        indices = [*guard_indices(instruction)]
        for use in operands_of(instruction):
            indices += use.indices
            if use.storage is not None:
                kind = MemoryEffectKind.WRITE if use.role.group == "outs" else MemoryEffectKind.READ
                found.add(EffectInstance(kind, use.storage))
        found |= {EffectInstance(MemoryEffectKind.READ, value) for value in indices if value.type == REG}
        return found


@cache
def _syntax() -> ModuleType:
    """Returns the module of the custom syntax, which imports this one."""
    from nki_mlir.dialects import syntax

    return syntax


class InstructionOp(IRDLOperation):
    """Base of all instruction ops of all dialects."""

    ISA: ClassVar[Instruction | None] = None
    OPCODE: ClassVar[int | None] = None
    ROLES: ClassVar[tuple[Role, ...]] = ()
    INLINE: ClassVar[tuple[tuple[str, type[Any], bool], ...]] = ()
    FLAGS: ClassVar[tuple[str, ...]] = ()
    LEGALITY: "ClassVar[Legality]"

    values = var_operand_def(AnyAttr())
    inst_name = opt_prop_def(StringAttr, prop_name="name")
    engine = opt_prop_def(EngineAttr)
    when = opt_prop_def(ConditionAttr)

    traits = traits_def(RoleEffects())

    def descriptor(self) -> Instruction | None:
        """Returns the hardware instruction that the op is; an op that stands for several looks at its parameters."""
        return self.ISA

    def verify(self, verify_nested_ops: bool = True) -> None:
        """Verifies the op, unless one like it has been found legal before."""
        signature = self.LEGALITY.unknown(self)
        if signature is not None:
            super().verify(verify_nested_ops)
            self.LEGALITY.admit(signature)

    def verify_(self) -> None:
        from nki_mlir.dialects.legality import verify_instruction

        verify_instruction(self)

    def __post_init__(self) -> None:
        """Leaves out what xDSL does here for every new op: no property of an instruction has a default value."""

    @classmethod
    def create(
        cls,
        *,
        operands: Sequence[SSAValue] = (),
        result_types: Sequence[Attribute] = (),
        properties: Mapping[str, Attribute] = MappingProxyType({}),
        attributes: Mapping[str, Attribute] = MappingProxyType({}),
        location: LocationAttr | None = None,
        successors: Sequence[Block] = (),
        regions: Sequence[Region] = (),
    ) -> Self:
        """Makes an op from its parts as xDSL does, in half the time where there are only those of most instructions."""
        if location is None or result_types or successors or regions:
            return super().create(
                operands=operands,
                result_types=result_types,
                properties=properties,
                attributes=attributes,
                location=location,
                successors=successors,
                regions=regions,
            )
        op = cls.assemble(operands, dict(properties), location)
        op.attributes.update(attributes)
        return op

    @classmethod
    def assemble(cls, values: Sequence[SSAValue], properties: dict[str, Attribute], location: LocationAttr) -> Self:
        """Makes an op that keeps `properties` as its own, and has no other attributes."""
        op = cls.__new__(cls)
        op._operands = SSAValues(values)
        uses: list[UseOfValue] = []
        for index, value in enumerate(values):
            first = value.first_use
            use = UseOfValue(op, index, None, first)
            if first is not None:
                first._prev_use = use  # pyright: ignore[reportPrivateUsage]
            value.first_use = use
            uses.append(use)
        op._operand_uses = tuple(uses)
        op.properties = properties
        op.attributes = {}
        op.location = location
        return op

    @classmethod
    def parse(cls, parser: Parser) -> "InstructionOp":
        op, end = cls.parse_at(parser, rawtext.position(parser))
        if end is not None:
            rawtext.resume(parser, end)
        return op

    @classmethod
    def parse_at(
        cls, parser: Parser, at: int, location: LocationAttr | None = None
    ) -> "tuple[InstructionOp, int | None]":
        """Parses the op from position `at` of the text, which is where its name ends; it gets the location.

        Returns it with the position where its text ends, None if the parser's tokens go on from there already.
        """
        return _syntax().parse_instruction(cls, parser, at, location)

    def print(self, printer: Printer) -> None:
        _syntax().print_instruction(self, printer)

    def print_whole(self, printer: Printer) -> None:
        """Prints the op with its name, in the custom form."""
        _syntax().print_instruction(self, printer, self.name)


COMMON_PROPERTIES = frozenset({"name", "engine", "when"})
I = TypeVar("I", bound=InstructionOp)


def instruction(isa: Instruction | None = None, *, opcode: int | None = None) -> Callable[[type[I]], type[I]]:
    """Decorates an instruction class: collects its roles and refuses one whose roles are not the descriptor's.

    `opcode` is the published number of a BIR opcode or KLR operator.
    """

    from nki_mlir.dialects.legality import Legality

    def decorate(cls: type[I]) -> type[I]:
        roles: list[Role] = []
        inline: list[tuple[str, type[Any], bool]] = []
        flags: list[str] = []
        for name, field in _fields(cls):
            if (role := getattr(field, "nki_role", None)) is not None:
                roles.append(Role(name, *role))
            elif (found := getattr(field, "nki_inline", None)) is not None:
                inline.append((name, *found))
            elif getattr(field, "nki_flag", False):
                flags.append(name)
        storages = tuple(role.name for role in roles if role.group != "params")
        if isa is not None and storages != isa.role_names:
            raise TypeError(f"{cls.__name__} has the roles {storages}, {isa.name} has {isa.role_names}")
        if sum(role.variadic for role in roles) > 1:
            raise TypeError(f"{cls.__name__} has more than one variadic role")
        custom = cls.verify_
        finished = irdl_op_definition(cls)
        finished.ISA = isa
        finished.OPCODE = opcode
        finished.ROLES = tuple(roles)
        finished.INLINE = tuple(inline)
        finished.FLAGS = tuple(flags)
        legality = Legality(finished, custom)

        def verify_(op: InstructionOp) -> None:
            legality.verify(op)

        finished.LEGALITY = legality
        setattr(finished, "verify_", verify_)  # noqa: B010
        return finished

    return decorate


def _fields(cls: type[Any]) -> list[tuple[str, Any]]:
    """Returns the fields of a class in order, those of its bases first; one given anew keeps its place."""
    fields: dict[str, Any] = {}
    for part in reversed(cls.__mro__):
        fields.update(part.__dict__)
    return list(fields.items())


# Reading and changing roles --------------------------------------------------------------------------------------


def width(pattern: Attribute) -> int:
    """Returns how many SSA values a pattern takes: its storage, if it has one, and its index values."""
    kind = type(pattern)
    if kind is Access:
        return 1 + cast(Access, pattern).indices
    if kind is ExprAttr:
        return cast(ExprAttr, pattern).indices
    return 1 if kind is RegisterAttr else 0


def operands_of(op: InstructionOp) -> Iterator[Use]:
    """Yields the operands in order, absent roles left out.

    Raises `VerifyException` if there are fewer SSA values than the patterns mention.
    """
    values = tuple(op.operands)
    properties = op.properties
    position = 0
    for role in op.ROLES:
        held = properties.get(role.name)
        if held is None:
            continue
        for member, pattern in enumerate(cast("ArrayAttr[Attribute]", held).data) if role.variadic else ((0, held),):
            end = position + width(pattern)
            if end > len(values):
                raise VerifyException(f"{role.name} needs {end} values in all, the op has {len(values)}")
            kind = type(pattern)
            if kind is Access or kind is RegisterAttr:
                yield Use(role, member, pattern, values[position], values[position + 1 : end])
            else:
                yield Use(role, member, pattern, None, values[position:end])
            position = end


def guard_indices(op: InstructionOp) -> tuple[SSAValue, ...]:
    """Returns the index values of the guard, which are the last SSA values of the op."""
    when = op.when
    return () if when is None else tuple(op.operands[len(op.operands) - when.indices :])


def role_of(op: InstructionOp, name: str) -> Use | None:
    """Returns the operand of a role that is not variadic, or None where it is absent."""
    for use in operands_of(op):
        if use.role.name == name:
            return use
    return None


class Given(NamedTuple):
    """What `build` and `set_role` take for a role: the pattern and the SSA values it needs."""

    pattern: Attribute
    storage: SSAValue | None = None
    indices: Sequence[SSAValue] = ()

    def values(self) -> list[SSAValue]:
        """Returns the SSA values in the order of the operand list."""
        return [*self.indices] if self.storage is None else [self.storage, *self.indices]


def build(
    cls: type[I],
    roles: Mapping[str, "Given | Sequence[Given] | None"],
    properties: Mapping[str, Attribute],
    *,
    when: Given | None = None,
    location: Any = None,
    attributes: Mapping[str, Attribute] | None = None,
) -> I:
    """Returns an instruction of a class from its operands by role and its other properties."""
    operands: list[SSAValue] = []
    held = dict(properties)
    for role in cls.ROLES:
        given = roles.get(role.name)
        if given is None:
            continue
        if isinstance(given, Given):
            held[role.name], storage, indices = given
            if storage is not None:
                operands.append(storage)
            if indices:
                operands += indices
        else:
            held[role.name] = ArrayAttr([member.pattern for member in given])
            for member in given:
                operands += member.values()
    if when is not None:
        held["when"] = when.pattern
        operands += when.indices
    return cls.create(operands=operands, properties=held, attributes=attributes or {}, location=location)


def given_roles(op: InstructionOp) -> dict[str, Given | list[Given]]:
    """Returns the operands by role as `build` takes them."""
    found: dict[str, Given | list[Given]] = {}
    for use in operands_of(op):
        given = Given(use.pattern, use.storage, use.indices)
        if use.role.variadic:
            cast("list[Given]", found.setdefault(use.role.name, [])).append(given)
        else:
            found[use.role.name] = given
    return found


def other_properties(op: InstructionOp) -> dict[str, Attribute]:
    """Returns the properties that are neither roles nor the guard."""
    names = {role.name for role in op.ROLES}
    return {k: v for k, v in op.properties.items() if k not in names and k != "when"}


def guard_of(op: InstructionOp) -> Given | None:
    """Returns the guard as `build` takes it."""
    return None if op.when is None else Given(op.when, None, guard_indices(op))


def _rewrite(op: InstructionOp, roles: Mapping[str, Given | Sequence[Given] | None]) -> None:
    fresh = build(type(op), roles, other_properties(op), when=guard_of(op))
    operands, properties = list(fresh.operands), fresh.properties
    fresh.drop_all_references()
    op.operands = operands
    op.properties = properties


def set_role(op: InstructionOp, name: str, given: "Given | Sequence[Given]") -> None:
    """Gives a role a new pattern and new values."""
    _rewrite(op, {**given_roles(op), name: given})


def drop_role(op: InstructionOp, name: str) -> None:
    """Removes an optional role and its values."""
    _rewrite(op, {k: v for k, v in given_roles(op).items() if k != name})

"""The base of every instruction op: roles, name, engine, guard, memory effects, verifier.

A role is a property that holds an access pattern, an immediate, an expression, or a list of these. All SSA operands
are one variadic list: role by role in the order of the class, its storage, then the index values its pattern mentions.
Nothing else depends on that layout: `operands_of` reads it, `set_role` and `drop_role` change it, `build` makes it.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence, Set as AbstractSet
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, TypeVar, cast

from xdsl.dialects.builtin import ArrayAttr, StringAttr, UnitAttr
from xdsl.ir import Attribute, Operation, SSAValue
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

from nki_mlir.dialects.access import Access
from nki_mlir.dialects.attributes import (
    REG,
    ConditionAttr,
    EngineAttr,
    ExprAttr,
    Immediate,
    IndexType,
    MemType,
    RegisterAttr,
    RegisterType,
)
from nki_mlir.isa.instructions.base import Instruction
from nki_mlir.isa.rules import check_all

GROUPS = ("outs", "ins", "indirection", "params")


class Role(NamedTuple):
    """One role of an instruction class: its name, the group it is printed in, and what it may be.

    `kinds` tells what may stand in it: "storage" (an access), "number" (an immediate), "register".
    """

    name: str
    group: str
    optional: bool
    variadic: bool
    kinds: frozenset[str]


@dataclass(frozen=True, slots=True)
class Use:
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


def _role_field(field: Any, group: str, kinds: frozenset[str], *, optional: bool = False, variadic: bool = False) -> Any:
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


def opt_param() -> ExprAttr | None:
    """A number, or list of numbers, that may be affine in index values."""
    return _role_field(opt_prop_def(Attribute), "params", frozenset({"expression"}), optional=True)


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
    """Instructions write the storage of their `outs` and read that of all other roles."""

    @classmethod
    def get_effects(cls, op: Operation) -> AbstractSet[EffectInstance]:
        found: set[EffectInstance] = set()
        for use in operands_of(cast(InstructionOp, op)):
            if use.storage is not None:
                kind = MemoryEffectKind.WRITE if use.role.group == "outs" else MemoryEffectKind.READ
                found.add(EffectInstance(kind, use.storage))
        return found


class InstructionOp(IRDLOperation):
    """Base of all instruction ops of all dialects."""

    ISA: ClassVar[Instruction | None] = None
    OPCODE: ClassVar[int | None] = None
    ROLES: ClassVar[tuple[Role, ...]] = ()
    INLINE: ClassVar[tuple[tuple[str, type[Any], bool], ...]] = ()
    FLAGS: ClassVar[tuple[str, ...]] = ()

    values = var_operand_def(AnyAttr())
    inst_name = opt_prop_def(StringAttr, prop_name="name")
    engine = opt_prop_def(EngineAttr)
    when = opt_prop_def(ConditionAttr)

    traits = traits_def(RoleEffects())

    def descriptor(self) -> Instruction | None:
        """Returns the hardware instruction that the op is; an op that stands for several looks at its parameters."""
        return self.ISA

    def verify_(self) -> None:
        verify_instruction(self)

    @classmethod
    def parse(cls, parser: Parser) -> "InstructionOp":
        from nki_mlir.dialects.syntax import parse_instruction

        return parse_instruction(cls, parser)

    def print(self, printer: Printer) -> None:
        from nki_mlir.dialects.syntax import print_instruction

        print_instruction(self, printer)


COMMON_PROPERTIES = frozenset({"name", "engine", "when"})
I = TypeVar("I", bound=InstructionOp)


def instruction(isa: Instruction | None = None, *, opcode: int | None = None) -> Callable[[type[I]], type[I]]:
    """Decorates an instruction class: collects its roles and refuses one whose roles are not the descriptor's.

    `opcode` is the published number of a BIR opcode or KLR operator.
    """

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
        finished = irdl_op_definition(cls)
        finished.ISA = isa
        finished.OPCODE = opcode
        finished.ROLES = tuple(roles)
        finished.INLINE = tuple(inline)
        finished.FLAGS = tuple(flags)
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
    if isinstance(pattern, Access):
        return 1 + pattern.indices
    if isinstance(pattern, ExprAttr):
        return pattern.indices
    return 1 if isinstance(pattern, RegisterAttr) else 0


def operands_of(op: InstructionOp) -> Iterator[Use]:
    """Yields the operands in order, absent roles left out.

    Raises `VerifyException` if there are fewer SSA values than the patterns mention.
    """
    values = op.operands
    position = 0
    for role in op.ROLES:
        held = op.properties.get(role.name)
        if held is None:
            continue
        members = cast("ArrayAttr[Attribute]", held).data if role.variadic else (held,)
        for member, pattern in enumerate(members):
            end = position + width(pattern)
            if end > len(values):
                raise VerifyException(f"{role.name} needs {end} values in all, the op has {len(values)}")
            if isinstance(pattern, Access | RegisterAttr):
                yield Use(role, member, pattern, values[position], tuple(values[position + 1 : end]))
            else:
                yield Use(role, member, pattern, None, tuple(values[position:end]))
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
            held[role.name] = given.pattern
            operands += given.values()
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


# Verification ----------------------------------------------------------------------------------------------------


def verify_instruction(op: InstructionOp) -> None:
    """Raises `VerifyException` if the op's operands are not what its patterns say, or break a rule of the ISA."""
    from nki_mlir.dialects.operands import rule_operands, target_of

    used = 0
    for role in op.ROLES:
        held = op.properties.get(role.name)
        if held is None and role.optional:
            continue
        if held is None:
            raise VerifyException(f"{role.name} is missing")
        if role.variadic and not isinstance(held, ArrayAttr):
            raise VerifyException(f"{role.name} must be an array of access patterns")
    for use in operands_of(op):
        _verify_use(use)
        used += width(use.pattern)
    when = op.when
    if when is not None:
        used += when.indices
        if used == len(op.operands):
            _verify_indices("when", guard_indices(op))
    if used != len(op.operands):
        raise VerifyException(f"patterns name {used} values, the op has {len(op.operands)}")
    isa = op.descriptor()
    if isa is None:
        return
    found = check_all(isa.rules, rule_operands(op), target_of(op))
    if found is not None:
        message, rule = found
        raise VerifyException(f"{message} [{rule.identifier}]")


def _verify_use(use: Use) -> None:
    pattern, role = use.pattern, use.role
    kind = _KINDS.get(type(pattern))
    if kind is None or kind not in role.kinds:
        found = pattern.text() if isinstance(pattern, Immediate) else kind or str(pattern)
        raise VerifyException(f"{use.label} is {found}, it must be a {' or '.join(sorted(role.kinds))}")
    if isinstance(pattern, Access):
        mem = None if use.storage is None else use.storage.type
        if not isinstance(mem, MemType):
            raise VerifyException(f"{use.label} must access storage, got a value of type {mem}")
        if mem.on_chip != pattern.on_chip:
            place = "has a partition part" if pattern.on_chip else "has no partition part"
            raise VerifyException(f"{use.label} {place}, but its storage is in {mem.space}")
        block = pattern.data.block
        if isinstance(block, int) and not 0 <= block < mem.blocks:
            raise VerifyException(f"{use.label} accesses block {block}, its storage has {mem.blocks}")
    elif isinstance(pattern, RegisterAttr) and (use.storage is None or use.storage.type != REG):
        raise VerifyException(f"{use.label} must be a register, got a value of type {use.storage and use.storage.type}")
    if use.indices:
        _verify_indices(use.label, use.indices)


_KINDS: dict[type, str] = {Access: "storage", Immediate: "number", RegisterAttr: "register", ExprAttr: "expression"}


def _verify_indices(label: str, indices: Sequence[SSAValue]) -> None:
    for value in indices:
        if not isinstance(value.type, IndexType | RegisterType):
            raise VerifyException(f"{label} is indexed by a value of type {value.type}, not a loop variable or register")


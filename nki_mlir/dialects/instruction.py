"""The base of every instruction op: roles, name, engine, guard, memory effects, verifier.

A role is a property that holds an access pattern, an immediate, an expression, or a list of these. All SSA operands
are one variadic list: role by role in the order of the class, its storage, then the index values its pattern mentions.
Nothing else depends on that layout: `operands_of` reads it, `set_role` and `drop_role` change it, `build` makes it.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, ClassVar, NamedTuple, TypeAlias, TypeVar, cast

from xdsl.dialects.builtin import ArrayAttr, LocationAttr, StringAttr, UnitAttr
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    AnyAttr,
    AttrConstraint,
    BaseAttr,
    IRDLOperation,
    OpDef,
    OptPropertyDef,
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

from nki_mlir.dialects import affine, rawtext
from nki_mlir.dialects.access import Access
from nki_mlir.dialects.affine import Expr
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
from nki_mlir.dialects.places import verify_inside_function
from nki_mlir.isa.instructions.base import Instruction

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

    def __post_init__(self) -> None:
        """Leaves out what xDSL does here for every new op: no property of an instruction has a default value."""

    @classmethod
    def parse(cls, parser: Parser) -> "InstructionOp":
        return cls.parse_at(parser, rawtext.position(parser))

    @classmethod
    def parse_at(cls, parser: Parser, at: int, location: LocationAttr | None = None) -> "InstructionOp":
        """Parses the op from position `at` of the text, which is where its name ends; it gets the location."""
        from nki_mlir.dialects.syntax import parse_instruction

        return parse_instruction(cls, parser, at, location)

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
        custom = cls.verify_
        finished = irdl_op_definition(cls)
        setattr(finished, "verify_", _verifier(finished.get_irdl_definition(), custom, roles))  # noqa: B010
        finished.ISA = isa
        finished.OPCODE = opcode
        finished.ROLES = tuple(roles)
        finished.INLINE = tuple(inline)
        finished.FLAGS = tuple(flags)
        return finished

    return decorate


def _verifier(
    definition: OpDef, custom: Callable[[Any], None], roles: Sequence[Role]
) -> Callable[[InstructionOp], None]:
    """Returns the verifier of a finished class: what xDSL's definition of it says, then `custom`.

    Asking the definition costs as much as all rules of the instruction. So whether an op has the shape that it asks
    for, and properties of the classes that it names, is looked up here; only where that is not certain, the definition
    judges, and words the error. Ops that are right in the same way as one before are not looked at again.
    """
    classes = {name: _class_of(part.constr) for name, part in definition.properties.items()}
    required = [name for name, part in definition.properties.items() if not isinstance(part, OptPropertyDef)]
    successors = len(definition.successors)
    traits = [trait for trait in definition.traits if not isinstance(trait, MemoryEffect)]

    def verify(op: InstructionOp) -> None:
        verify_inside_function(op)
        properties = op.properties
        certain = not op.results and not op.regions and len(op.successors) == successors
        for name, held in properties.items():
            expected = classes.get(name)
            if expected is not Attribute and type(held) is not expected:
                certain = False
        for name in required:
            if name not in properties:
                certain = False
        for name in op.attributes:
            if name in classes:
                raise VerifyException(f"has '{name}' among its attributes, where it is a property")
        if not certain:
            definition.verify(op)
        else:
            for trait in traits:
                trait.verify(op)
        custom(op)

    if traits or successors or custom is not InstructionOp.verify_ or any(role.variadic for role in roles):
        return verify
    names = tuple(role.name for role in roles)
    others = tuple(name for name in definition.properties if name not in names and name not in ("name", "when"))
    admitted: set[Signature] = set()

    def verify_once(op: InstructionOp) -> None:
        signature = _signature(op, names, others)
        if signature is None or op.results or op.regions or op.successors or op.attributes:
            verify(op)
        elif signature not in admitted:
            verify(op)
            admitted.add(signature)

    return verify_once


Signature: TypeAlias = tuple[object, ...]
"""All that decides whether an op of a class verifies: ops that share it all do, or none does."""


def _signature(op: InstructionOp, roles: Sequence[str], others: Sequence[str]) -> Signature | None:
    """Returns the signature of an op, or None for one that is to be looked at itself."""
    from nki_mlir.dialects.operands import admission, placement_of, target_of

    properties, values = op.properties, tuple(op.operands)
    label = properties.get("name")
    if "when" in properties or (label is not None and type(label) is not StringAttr):
        return None
    found: list[object] = [target_of(op), type(op.parent_op())]
    position = 0
    for name in roles:
        held = properties.get(name)
        if type(held) is not Access:
            found.append(held)
            continue
        if held.indices or position == len(values):
            return None
        storage = values[position]
        position += 1
        mem = storage.type
        if type(mem) is not MemType:
            return None
        placement = placement_of(storage, held.data.block)
        form = admission(held, mem, placement)
        if form is None:
            return None
        found += form, mem, placement
    if position != len(values):
        return None
    found += map(properties.get, others)
    known = sum(name in properties for name in (*roles, *others)) + (label is not None)
    return tuple(found) if known == len(properties) else None


def _class_of(constraint: AttrConstraint[Any]) -> type[Attribute] | None:
    """Returns the class whose attributes the constraint allows, `Attribute` for any, None if it is not that simple."""
    if isinstance(constraint, AnyAttr):
        return Attribute
    return cast("type[Attribute]", constraint.attr) if isinstance(constraint, BaseAttr) else None


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
    from nki_mlir.dialects.operands import ranges_of, rule_operands, target_of

    for role in op.ROLES:
        if role.variadic and not isinstance(op.properties[role.name], ArrayAttr):
            raise VerifyException(f"{role.name} must be an array of access patterns")
    uses = list(operands_of(op))
    ranges = ranges_of(op, uses)
    used = 0
    for use in uses:
        _verify_use(op, use, ranges)
        used += len(use.indices) if use.storage is None else 1 + len(use.indices)
    guards = 0 if op.when is None else op.when.indices
    values = len(op.operands)
    if used + guards != values:
        raise VerifyException(f"patterns name {used + guards} values, the op has {values}")
    if guards:
        _verify_indices("when", guard_indices(op))
    isa = op.descriptor()
    if isa is None:
        return
    found = isa.violation(rule_operands(op, uses, ranges), target_of(op))
    if found is not None:
        message, rule = found
        raise VerifyException(f"{message} [{rule.identifier}]")


def _verify_use(op: InstructionOp, use: Use, ranges_of: Callable[[SSAValue], affine.Domain | None]) -> None:
    pattern, role = use.pattern, use.role
    kind = _KINDS.get(type(pattern))
    if kind is None or kind not in role.kinds:
        found = f"the number {pattern.text()}" if isinstance(pattern, Immediate) else _PHRASES.get(kind or "", pattern)
        allowed = " or ".join(_PHRASES[kind] for kind in sorted(role.kinds))
        raise VerifyException(f"{use.label} is {found}, it must be {allowed}")
    if use.storage is not None:
        mem = use.storage.type
        if kind == "register":
            if not isinstance(mem, RegisterType):
                raise VerifyException(f"{use.label} must be a register, got a value of type {mem}")
            return
        if type(mem) is not MemType:
            raise VerifyException(f"{use.label} must access storage, got a value of type {mem}")
        access = cast(Access, pattern)
        fields = access.data
        if mem.on_chip is (fields.partition is None):
            place = "has a partition part" if access.on_chip else "has no partition part"
            raise VerifyException(f"{use.label} {place}, but its storage is in {mem.space}")
        if fields.indirect is not None and all(role.group != "indirection" for role in op.ROLES):
            raise VerifyException(f"{use.label} is indexed at run time, which this instruction has no operand for")
        if fields.block != 0:
            _verify_block(use, fields.block, mem.blocks, [ranges_of(value) for value in use.indices])
    if use.indices:
        _verify_indices(use.label, use.indices)


def _verify_block(use: Use, block: Expr, blocks: int, ranges: Sequence[affine.Domain | None]) -> None:
    bounds = affine.interval(block, ranges)
    if bounds is not None and not 0 <= bounds[0] <= bounds[1] < blocks:
        bounds = affine.exact_interval(block, ranges)
    if bounds is not None and not 0 <= bounds[0] <= bounds[1] < blocks:
        wrong = bounds[0] if bounds[0] < 0 else bounds[1]
        raise VerifyException(f"{use.label} accesses block {wrong}, its storage has {blocks} [X-FMAX]")


_PHRASES = {"storage": "storage", "number": "a number", "register": "a register", "expression": "an expression"}
_KINDS: dict[type, str] = {Access: "storage", Immediate: "number", RegisterAttr: "register", ExprAttr: "expression"}


def _verify_indices(label: str, indices: Sequence[SSAValue]) -> None:
    for value in indices:
        if type(value.type) is not IndexType and type(value.type) is not RegisterType:
            raise VerifyException(
                f"{label} is indexed by a value of type {value.type}, not a loop variable or register"
            )
    if len(set(indices)) < len(indices):
        raise VerifyException(f"{label} has the same value twice among its index values, where text has it once")

"""Turning a finished trace into IR: what the two builders share.

A builder walks the tree of loops and records once, in order, and creates operations. A dialect's builder says which op
class an instruction becomes and what its structure ops are; nothing else differs.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

from xdsl.dialects.builtin import (
    DenseArrayBase,
    FileLineColLoc,
    IntAttr,
    IntegerAttr,
    LocationAttr,
    StringAttr,
    UnitAttr,
    UnknownLoc,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue

from nki_mlir.dialects import affine
from nki_mlir.dialects.affine import Expr
from nki_mlir.dialects.attributes import (
    IV,
    AccumulateCommandAttr,
    ActivationFunctionAttr,
    AluOpAttr,
    AxisListAttr,
    ConditionAttr,
    ConditionFields,
    DgeTypeAttr,
    EngineAttr,
    ExprAttr,
    ExprFields,
    Immediate,
    OobModeAttr,
    PatternAttr,
    PatternFields,
    PerfModeAttr,
    TensorKindAttr,
    renumbered,
)
from nki_mlir.dialects.blocks import insert
from nki_mlir.dialects.instruction import Given, InstructionOp, build
from nki_mlir.dialects.locations import string
from nki_mlir.dialects.structure import StorageOp
from nki_mlir.frontend.locations import Frames, innermost
from nki_mlir.frontend.records import Likeness, Loop, Node, Record, Scope
from nki_mlir.frontend.sema import Number
from nki_mlir.frontend.storage import Allocation, Encoded, Tile, expression
from nki_mlir.frontend.symbolic import GE, Var
from nki_mlir.frontend.tensors import Storage
from nki_mlir.isa.enums import (
    AccumulateCommand,
    ActivationFunction,
    AluOp,
    AxisList,
    DgeType,
    Engine,
    LoopKind,
    MatmultPerfMode,
    OobMode,
    TensorKind,
)

PARAMS = frozenset({"accumulate", "tile_position", "tile_size"})
_ENUMS: dict[type, Callable[[Any], Attribute]] = {
    AluOp: AluOpAttr,
    ActivationFunction: ActivationFunctionAttr,
    AccumulateCommand: AccumulateCommandAttr,
    AxisList: AxisListAttr,
    Engine: EngineAttr,
    DgeType: DgeTypeAttr,
    OobMode: OobModeAttr,
    MatmultPerfMode: PerfModeAttr,
}
_integers: dict[int, Attribute] = {}
_locations: dict[int, tuple[Frames, LocationAttr]] = {}
"""Locations by the id of the interned frames: the hash of a code object runs over all its constants."""
UNIT = UnitAttr()
UNKNOWN = UnknownLoc()


def location_of(frames: Frames) -> LocationAttr | None:
    """Returns the location attribute of the user's innermost frame."""
    known = _locations.get(id(frames))
    if known is None:
        place = innermost(frames)
        if place is None:
            return None
        found = FileLineColLoc(StringAttr(place.file), IntAttr(place.line), IntAttr(place.column))
        known = _locations[id(frames)] = (frames, found)
    return known[1]


def attribute_of(name: str, value: Any) -> Attribute:
    """Returns the attribute of an instruction's parameter."""
    make = _ENUMS.get(value.__class__)
    if make is not None:
        return make(value)
    if value is True:
        return UNIT
    if isinstance(value, int):
        known = _integers.get(value)
        if known is None:
            known = _integers[value] = IntegerAttr(value, i64)
        return known
    if name == "pattern":
        return PatternAttr(PatternFields(value))
    raise TypeError(f"parameter {name} has the value {value!r}, which no attribute holds")


class Program(NamedTuple):
    """One trace of a kernel: what one core, or all programs of a grid, do."""

    nodes: Sequence[Node]
    allocations: Sequence[Allocation]
    inputs: Sequence[Allocation]
    outputs: Sequence[Allocation]


class Template(NamedTuple):
    """The op of a record, from which those of other records that are alike are made.

    roles       the operands that the op has of the record's, in the op's order
    properties  of the op; patterns, numbers and the name are those of another record
    """

    cls: type[InstructionOp]
    roles: tuple[str, ...]
    properties: Mapping[str, Attribute]


class Builder:
    """Creates the ops of one program. Subclasses name the dialect's classes."""

    TENSOR: ClassVar[type[StorageOp]]
    OPS: ClassVar[Mapping[str, type[InstructionOp]]]

    def __init__(self, program: Program) -> None:
        self.program = program
        self.storages: dict[Storage, SSAValue] = {}
        self.templates: dict[Likeness, Template | None] = {}
        self.values: dict[Var, SSAValue | int] = {}
        self.counter = 0
        self.taken: set[str] = set()
        self.ops: list[Operation] = []
        self.scoped: dict[Loop | None, list[Allocation]] = {}
        for allocation in program.allocations:
            self.scoped.setdefault(allocation.scope, []).append(allocation)

    def run(self) -> list[Operation]:
        """Returns the ops of the whole program, storage first."""
        self.allocate(None)
        self.nodes(self.program.nodes)
        return self.ops

    # Storage ------------------------------------------------------------------------------------------------------

    def allocate(self, loop: Loop | None) -> None:
        """Creates the storage that a loop's body (None: the program) makes anew."""
        for allocation in self.scoped.get(loop, ()):
            op = self.tensor(allocation)
            op.results[0].name_hint = hint(allocation.name)
            self.storages[allocation] = op.results[0]
            self.ops.append(op)

    def tensor(self, allocation: Allocation) -> StorageOp:
        """Returns the op that declares a storage."""
        properties: dict[str, Attribute] = {"name": StringAttr(allocation.name)}
        if allocation.kind is not TensorKind.INTERNAL:
            properties["kind"] = TensorKindAttr(allocation.kind)
        if allocation.place is not None:
            properties["places"] = DenseArrayBase.from_list(i64, list(allocation.place))
        location = location_of(allocation.frames)
        return self.TENSOR.create(result_types=[allocation.mem], properties=properties, location=location)

    # Nodes --------------------------------------------------------------------------------------------------------

    def nodes(self, nodes: Sequence[Node]) -> None:
        for node in nodes:
            if isinstance(node, Record):
                self.instruction(node)
            elif isinstance(node, Loop):
                self.loop(node)
            else:
                self.scope(node)

    def loop(self, loop: Loop) -> None:
        """Creates a loop; a piece of one iteration is straight-line code."""
        if loop.var is None or loop.single:
            if loop.var is not None:
                self.values[loop.var] = loop.bounds[0]
            self.allocate(loop)
            self.nodes(loop.body)
            return
        body = Block(arg_types=[IV])
        body.args[0].name_hint = hint(loop.name) or "i"
        self.values[loop.var] = body.args[0]
        outer, self.ops = self.ops, []
        self.allocate(loop)
        self.nodes(loop.body)
        insert(body, self.ops)
        self.ops = outer
        self.ops.append(self.loop_op(loop, body))

    def loop_op(self, loop: Loop, body: Block) -> Operation:
        """Returns the loop op around a finished body."""
        raise NotImplementedError

    def scope(self, scope: Scope) -> None:
        """Creates a scope."""
        raise NotImplementedError

    def instruction(self, record: Record) -> None:
        """Creates the op of a record."""
        if record.like is None or record.predicates:
            self.resolved(record)
            return
        template = self.templates.get(record.like)
        if template is not None:
            values, properties = self.filled(template, record)
            properties["name"] = self.name(record)
            location = location_of(record.location) or UNKNOWN
            self.ops.append(template.cls.assemble(values, properties, location))
            return
        before = len(self.ops)
        self.resolved(record)
        if record.like not in self.templates:
            self.templates[record.like] = self.template(record, self.ops[before:])

    def template(self, record: Record, ops: Sequence[Operation]) -> Template | None:
        """Returns the template of a record that became `ops`, None if others like it may need more than that."""
        op = ops[0] if len(ops) == 1 else None
        blocks = any(isinstance(value, Tile) and value.storage.blocks > 1 for value in record.roles.values())
        if not isinstance(op, InstructionOp) or blocks:
            return None
        template = Template(type(op), tuple(r.name for r in op.ROLES if r.name in record.roles), op.properties)
        return template if self.filled(template, record) == (list(op.operands), op.properties) else None

    def filled(self, template: Template, record: Record) -> tuple[list[SSAValue], dict[str, Attribute]]:
        """Returns the SSA values of a record's op, and its properties but the name."""
        values: list[SSAValue] = []
        properties = {**template.properties}
        for role in template.roles:
            value = record.roles[role]
            if type(value) is Number:
                properties[role] = Immediate.of(value.value, value.dtype)
            else:
                properties[role] = value.encoded.access
                values.append(self.storages[value.storage])
        return values, properties

    def resolved(self, record: Record) -> None:
        """Creates the ops of a record from resolved operands, none where its mask or guard leaves nothing."""
        isa = record.instr.name
        roles: dict[str, Given | None] = {}
        for role, value in record.roles.items():
            given = self.operand(value)
            if given is None:
                return
            roles[role] = given
        properties: dict[str, Attribute] = {}
        for key, value in record.attributes.items():
            if key in PARAMS and type(value) not in _ENUMS:
                roles[key] = self.param(value)
            elif key != "name":
                properties[key] = attribute_of(key, value)
        when = self.guard(record.predicates) if record.predicates else True
        if when is not False:
            self.emit(isa, roles, properties, record, None if when is True else when)

    def emit(
        self,
        isa: str,
        roles: Mapping[str, Given | None],
        properties: dict[str, Attribute],
        record: Record,
        when: Given | None = None,
    ) -> None:
        """Creates one op from resolved operands."""
        properties["name"] = self.name(record)
        op = build(self.OPS[isa], roles, properties, when=when, location=location_of(record.location))
        self.ops.append(op)

    def name(self, record: Record) -> StringAttr:
        """Returns the user's name of an instruction, or the next `inst.N`."""
        given = record.attributes.get("name")
        if given is None:
            self.counter += 1
            return string(f"inst.{self.counter}")
        return self.unique(str(given))

    def unique(self, given: str) -> StringAttr:
        """Returns a name that no instruction of the program has yet: the one given, or with a number."""
        name, count = given, 0
        while name in self.taken:
            count += 1
            name = f"{given}.{count}"
        self.taken.add(name)
        return string(name)

    # Operands -----------------------------------------------------------------------------------------------------

    def operand(self, value: Any) -> Given | None:
        """Returns pattern and SSA values of a tile or a number; None for a tile of which a mask leaves nothing."""
        if isinstance(value, Number):
            return Given(Immediate.of(value.value, value.dtype))
        tile: Tile = value
        return self.access(tile.storage, tile.encode())

    def access(self, storage: Storage, encoded: Encoded) -> Given | None:
        """Returns pattern and SSA values of an access to a storage; None where a mask leaves nothing of it."""
        access, variables, _ = encoded
        accessed = self.storages[storage]
        if not variables:
            return Given(access, accessed)
        values = [self.values[variable] for variable in variables]
        if not any(isinstance(v, int) for v in values):
            return Given(access, accessed, [v for v in values if isinstance(v, SSAValue)])
        resolved, order = access.at(lambda k: v if isinstance(v := values[k], int) else affine.index(k))
        if resolved is None:
            return None
        return Given(resolved, accessed, [v for k in order if isinstance(v := values[k], SSAValue)])

    def param(self, value: Any) -> Given:
        """Returns expression and SSA values of a parameter that may be affine, or a tuple of them."""
        is_list = value.__class__ is tuple
        found, values = self.expressions(value if is_list else (value,))
        renamed, order = renumbered(found)
        return Given(ExprAttr(ExprFields(renamed, is_list)), None, [values[k] for k in order])

    def expressions(self, members: Sequence[Any]) -> tuple[tuple[Expr, ...], dict[int, SSAValue]]:
        """Returns indices as expressions over common numbers, and the SSA values of those numbers.

        Variables of pieces with one iteration have become numbers already.
        """
        numbers: dict[Var, int] = {}
        found: list[Expr] = []
        for member in members:
            expr, variables = expression(member)

            def replaced(k: int, variables: tuple[Var, ...] = variables) -> Expr:
                value = self.values[variables[k]]
                return value if isinstance(value, int) else affine.index(numbers.setdefault(variables[k], len(numbers)))

            found.append(affine.substitute(expr, replaced))
        values: dict[int, SSAValue] = {}
        for variable, k in numbers.items():
            value = self.values[variable]
            assert isinstance(value, SSAValue)
            values[k] = value
        return tuple(found), values

    def guard(self, predicates: Sequence[Any]) -> "Given | bool":
        """Returns the guard of an instruction; True if it always runs, False if it never does."""
        found, values = self.expressions([expr for expr, _ in predicates])
        renamed, order = renumbered(found)
        atoms = tuple(zip(renamed, (kind == GE for _, kind in predicates), strict=True))
        condition, left = ConditionAttr(ConditionFields(atoms)).at(affine.index)
        return condition if isinstance(condition, bool) else Given(condition, None, [values[order[k]] for k in left])


def hint(name: str) -> str | None:
    """Returns an SSA name hint for a name: MLIR's names hold letters, digits, `_`, `$`, `.` and `-`."""
    clean = "".join(c if c.isascii() and (c.isalnum() or c in "_$.-") else "_" for c in name)
    return clean if clean and not clean[0].isdigit() else None


LOOP_KINDS = {
    "affine": LoopKind.AFFINE,
    "sequential": LoopKind.SEQUENTIAL,
    "parallel": LoopKind.PARALLEL,
    "program": LoopKind.SPMD,
}

"""Instructions as plain data, from which ops of any dialect are built: the legal examples of the rule matrix."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from xdsl.dialects.builtin import IntegerAttr, StringAttr, UnitAttr, i64
from xdsl.ir import Attribute, Block, Region

from nki_mlir.dialects import get_all_dialects
from nki_mlir.dialects.access import Access, AccessFields, Pair
from nki_mlir.dialects.attributes import (
    REG,
    AccumulateCommandAttr,
    ActivationFunctionAttr,
    AluOpAttr,
    ArchAttr,
    AxisListAttr,
    BranchCompareOpAttr,
    DgeTypeAttr,
    EngineAttr,
    ExprAttr,
    ExprFields,
    Immediate,
    MemFields,
    MemType,
    PatternAttr,
    PatternFields,
    PerfModeAttr,
    RegisterAttr,
)
from nki_mlir.dialects.bir import FuncOp, ModuleOp, RegisterOp, ReturnOp, TensorOp
from nki_mlir.dialects.instruction import Given, InstructionOp, build
from nki_mlir.dialects.operands import rule_operands
from nki_mlir.isa.dtypes import Dtype
from nki_mlir.isa.enums import (
    AccumulateCommand,
    ActivationFunction,
    AluOp,
    AxisList,
    BranchCompareOp,
    DgeType,
    Engine,
    MatmultPerfMode,
    MemorySpace,
)
from nki_mlir.isa.instructions.base import Instruction
from nki_mlir.isa.rules import Rule
from nki_mlir.isa.target import Target

SBUF, PSUM, HBM = MemorySpace.SBUF, MemorySpace.PSUM, MemorySpace.HBM
F32, BF16, I32 = Dtype.F32, Dtype.BF16, Dtype.I32

ATTRIBUTES: dict[type, Any] = {
    AluOp: AluOpAttr,
    ActivationFunction: ActivationFunctionAttr,
    AccumulateCommand: AccumulateCommandAttr,
    AxisList: AxisListAttr,
    BranchCompareOp: BranchCompareOpAttr,
    DgeType: DgeTypeAttr,
    Engine: EngineAttr,
    MatmultPerfMode: PerfModeAttr,
}


class Tile(NamedTuple):
    """An operand in storage: (step, number) pairs, and where the storage is placed."""

    partitions: tuple[tuple[int, int], ...] = ((1, 32),)
    pairs: tuple[tuple[int, int], ...] = ((1, 8),)
    dtype: Dtype = F32
    space: MemorySpace = SBUF
    partition: int = 0
    offset: int = 0
    place: tuple[int, int] = (0, 0)
    row: int | None = None

    @property
    def free(self) -> int:
        """Elements a partition."""
        count = 1
        for _, number in self.pairs:
            count *= number
        return count

    @property
    def reach(self) -> int:
        """Elements that a row must have to hold the access."""
        return self.offset + 1 + sum(max(step, 0) * (number - 1) for step, number in self.pairs)

    def storage(self) -> MemType:
        """The type of a storage that has just room enough."""
        row = self.reach if self.row is None else self.row
        shape = (row,) if self.space is HBM else (256, row)
        return MemType(MemFields(self.space, shape, self.dtype))

    def access(self) -> Access:
        """The pattern; in HBM its partitions are not there."""
        pairs = tuple(Pair(*pair) for pair in self.pairs)
        if self.space is HBM:
            return Access(AccessFields(0, None, None, self.offset, pairs, self.dtype))
        partitions = tuple(Pair(*pair) for pair in self.partitions)
        return Access(AccessFields(0, self.partition, partitions, self.offset, pairs, self.dtype))


class Number(NamedTuple):
    """An operand that is a number."""

    value: float
    dtype: Dtype = F32


class Register(NamedTuple):
    """An operand that is a register."""


Held = Tile | Number | Register
KINDS = {Tile: "storage", Number: "number", Register: "register"}


@dataclass(frozen=True)
class Case:
    """One instruction: operands by role, parameters by name; `make(p, f)` is the same with other sizes."""

    roles: Mapping[str, Held]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    make: Callable[[int, int], "Case"] | None = None

    def put(self, role: str, **changes: Any) -> "Case":
        """Changes fields of an operand in storage."""
        operand = self.roles[role]
        assert isinstance(operand, Tile)
        return replace(self, roles={**self.roles, role: operand._replace(**changes)})

    def give(self, role: str, operand: Held) -> "Case":
        """Gives a role another operand."""
        return replace(self, roles={**self.roles, role: operand})

    def set(self, **parameters: Any) -> "Case":
        """Sets parameters."""
        return replace(self, parameters={**self.parameters, **parameters})

    def drop(self, *names: str) -> "Case":
        """Takes away roles and parameters."""
        return replace(
            self,
            roles={name: operand for name, operand in self.roles.items() if name not in names},
            parameters={name: value for name, value in self.parameters.items() if name not in names},
        )

    def size(self, p: int = 32, f: int = 8) -> "Case":
        """The same instruction with other sizes, parameters as they are now."""
        assert self.make is not None
        fresh = self.make(p, f)
        return replace(fresh, parameters={**self.parameters, **fresh.parameters}, make=self.make)

    def tiles(self) -> list[str]:
        """The roles in storage."""
        return [role for role, operand in self.roles.items() if isinstance(operand, Tile)]

    def integers(self, **parameters: Any) -> "Case":
        """All operands 32-bit integers."""

        def exact(operand: Held) -> Held:
            if isinstance(operand, Tile):
                return operand._replace(dtype=I32)
            return Number(int(operand.value), I32) if isinstance(operand, Number) else operand

        return replace(self, roles={role: exact(held) for role, held in self.roles.items()}).set(**parameters)


def _row(f: int) -> tuple[tuple[int, int], ...]:
    return ((1, f),)


def tile(p: int, f: int, **fields: Any) -> Tile:
    """A tile of p partitions with f elements each."""
    return Tile(partitions=((1, p),), pairs=_row(f), **fields)


def rows(p: int, f: int, **fields: Any) -> Tile:
    """p rows of f elements in HBM."""
    return Tile(pairs=((f, p), (1, f)), space=HBM, **fields)


Maker = Callable[[int, int], Case]

EXAMPLES: dict[str, tuple[Maker, ...]] = {
    "memset": (lambda p, f: Case({"dst": tile(p, f), "value": Number(0.0)}),),
    "dma_load": (lambda p, f: Case({"dst": tile(p, f), "src": rows(p, f)}),),
    "dma_save": (lambda p, f: Case({"dst": rows(p, f), "src": tile(p, f)}),),
    "dma_copy": (lambda p, f: Case({"dst": tile(p, f), "src": rows(p, f)}),),
    "tensor_copy": (lambda p, f: Case({"dst": tile(p, f), "src": tile(p, f)}),),
    "tensor_tensor": (
        lambda p, f: Case({"dst": tile(p, f), "data1": tile(p, f), "data2": tile(p, f)}, {"op": AluOp.ADD}),
    ),
    "tensor_scalar": (
        lambda p, f: Case(
            {"dst": tile(p, f), "data": tile(p, f), "operand0": tile(p, 1), "operand1": tile(p, 1)},
            {"op0": AluOp.MULT, "op1": AluOp.ADD},
        ),
        lambda p, f: Case(
            {"dst": tile(p, f), "data": tile(p, f), "operand0": Number(2.0), "operand1": Number(3.0)},
            {"op0": AluOp.MULT, "op1": AluOp.ADD},
        ),
    ),
    "scalar_tensor_tensor": (
        lambda p, f: Case(
            {"dst": tile(p, f), "data": tile(p, f), "operand0": tile(p, 1), "operand1": tile(p, f)},
            {"op0": AluOp.MULT, "op1": AluOp.ADD},
        ),
    ),
    "reciprocal": (lambda p, f: Case({"dst": tile(p, f), "data": tile(p, f)}),),
    "activation": (
        lambda p, f: Case(
            {
                "dst": tile(p, f),
                "reduce_res": tile(p, 1),
                "data": tile(p, f),
                "bias": tile(p, 1),
                "scale": tile(p, 1),
            },
            {
                "func": ActivationFunction.EXP,
                "accumulate": AccumulateCommand.ZERO_ACCUMULATE,
                "reduce_op": AluOp.ADD,
            },
        ),
        lambda p, f: Case(
            {"dst": tile(p, f), "data": tile(p, f), "bias": Number(0.0), "scale": Number(2.0)},
            {"func": ActivationFunction.COPY},
        ),
    ),
    "tensor_reduce": (
        lambda p, f: Case({"dst": tile(p, 1), "data": tile(p, f)}, {"op": AluOp.MAX, "axis": AxisList.X}),
        # The reduced dimension is the second one, so that dst has as many elements as is wanted.
        lambda p, f: Case(
            {"dst": tile(p, f), "data": Tile(((1, p),), ((2, f), (1, 2)))}, {"op": AluOp.MAX, "axis": AxisList.X}
        ),
    ),
    "partition_reduce": (lambda p, f: Case({"dst": tile(1, f), "data": tile(p, f)}, {"op": AluOp.ADD}),),
    "bn_stats": (lambda p, f: Case({"dst": tile(p, 6), "data": tile(p, f)}),),
    "bn_aggr": (lambda p, f: Case({"dst": tile(p, 2), "data": tile(p, 3 * f)}),),
    "iota": (lambda p, f: Case({"dst": tile(p, f, dtype=I32)}, {"pattern": ((1, f),)}),),
    "affine_select": (
        lambda p, f: Case(
            {"dst": tile(p, f), "on_true": tile(p, f), "on_false": Number(0.0)},
            {"pattern": ((1, f),), "cmp_op": AluOp.IS_GE},
        ),
    ),
    "select": (
        lambda p, f: Case(
            {
                "dst": tile(p, f),
                "predicate": tile(p, f, dtype=Dtype.U8),
                "on_true": tile(p, f),
                "on_false": tile(p, f),
            }
        ),
    ),
    "copy_predicated": (
        lambda p, f: Case({"dst": tile(p, f), "src": tile(p, f), "predicate": tile(p, f, dtype=I32)}),
        lambda p, f: Case({"dst": tile(p, f), "src": Number(1.0), "predicate": tile(p, f, dtype=I32)}),
    ),
    "matmul": (
        lambda p, f: Case(
            {
                "dst": tile(min(f, 32), f, space=PSUM),
                "stationary": tile(p, min(f, 32), dtype=BF16),
                "moving": tile(p, f, dtype=BF16),
            }
        ),
    ),
    "transpose": (lambda p, f: Case({"dst": tile(f, p), "data": tile(p, f)}),),
    "stream_transpose": (lambda p, f: Case({"dst": tile(f, p), "data": tile(p, f)}),),
    "register_move": (
        lambda p, f: Case({"dst": Register(), "src": Number(7, I32)}),
        lambda p, f: Case({"dst": Register(), "src": Register()}),
    ),
    "register_alu": (
        lambda p, f: Case({"dst": Register(), "src": Register(), "operand": Number(7, I32)}, {"op": AluOp.ADD}),
        lambda p, f: Case({"dst": Register(), "src": Register(), "operand": Register()}, {"op": AluOp.ADD}),
    ),
    "register_load": (lambda p, f: Case({"dst": Register(), "src": tile(1, 1, dtype=I32)}),),
    "register_store": (lambda p, f: Case({"dst": tile(1, 1, dtype=I32), "src": Register()}),),
    "compare_and_branch": (
        lambda p, f: Case({"left": Register(), "right": Number(7, I32)}, {"comp_op": BranchCompareOp.LT_IMM}),
        lambda p, f: Case({"left": Register(), "right": Register()}, {"comp_op": BranchCompareOp.LT_REG}),
        lambda p, f: Case({}, {"comp_op": BranchCompareOp.ALWAYS}),
    ),
}


def examples(isa: Instruction) -> list[Case]:
    """The legal examples of an instruction."""
    return [replace(make(32, 8), make=make) for make in EXAMPLES[isa.name]]


# Ops -------------------------------------------------------------------------------------------------------------


def op_classes() -> list[type[InstructionOp]]:
    """All instruction classes of all dialects."""
    ops = [op for dialect in get_all_dialects().values() for op in dialect().operations]
    return [op for op in ops if issubclass(op, InstructionOp)]


def attribute(value: Any) -> Attribute:
    """The attribute of a parameter's value."""
    if isinstance(value, bool):
        return UnitAttr()
    if type(value) in ATTRIBUTES:
        return ATTRIBUTES[type(value)](value)
    if isinstance(value, tuple):
        return PatternAttr(PatternFields(value))
    return IntegerAttr(value, i64)


def expressible(cls: type[InstructionOp], case: Case, extra: Mapping[str, Attribute] | None = None) -> bool:
    """Whether the class has the roles, kinds of operands and parameters of the case, and the case what it needs."""
    roles = {role.name: role for role in cls.ROLES}
    defined = cls.get_irdl_definition().properties
    for name, operand in case.roles.items():
        if name not in roles or KINDS[type(operand)] not in roles[name].kinds:
            return False
    if any(not role.optional and not role.variadic and name not in case.roles for name, role in roles.items()):
        return False
    needed = {name for name, _, optional in cls.INLINE if not optional} - set(extra or ())
    return needed <= set(case.parameters) <= set(defined) | set(roles)


def op_of(
    cls: type[InstructionOp], case: Case, target: Target | None = None, extra: Mapping[str, Attribute] | None = None
) -> InstructionOp:
    """Builds the op in a BIR function of a module for the target, every storage placed."""
    roles: dict[str, Given] = {}
    properties = dict(extra or {})
    inside: list[Any] = []
    for name, operand in case.roles.items():
        if isinstance(operand, Number):
            roles[name] = Given(Immediate.of(operand.value, operand.dtype))
            continue
        if isinstance(operand, Register):
            register = RegisterOp.create(result_types=[REG], properties={"name": _string(name)})
            inside.append(register)
            roles[name] = Given(RegisterAttr(), register.results[0])
            continue
        storage = TensorOp.create(result_types=[operand.storage()], properties={"name": _string(name)})
        storage.place([operand.place])
        inside.append(storage)
        roles[name] = Given(operand.access(), storage.results[0])
    parameters = {role.name for role in cls.ROLES if role.group == "params"}
    for name, value in case.parameters.items():
        if name in parameters:
            values = value if isinstance(value, tuple) else (value,)
            roles[name] = Given(ExprAttr(ExprFields(values, isinstance(value, tuple))))
        else:
            properties[name] = attribute(value)
    op = build(cls, roles, properties | TARGETS_OF_BRANCHES.get(cls.name, {}))
    func = _function([*inside, op], target)
    op.successors = [func.body.blocks[1]] * len(cls.get_irdl_definition().successors)
    return op


TARGETS_OF_BRANCHES = {"klr.cmp_branch": {"true_label": StringAttr("a"), "false_label": StringAttr("b")}}
"""What branches have beside operands and parameters."""


def _string(text: str) -> StringAttr:
    return StringAttr(text)


def _function(ops: list[Any], target: Target | None) -> FuncOp:
    """A function of a module; its second block is where branches go."""
    body = Region([Block(ops), Block([ReturnOp.create()])])
    func = FuncOp.create(properties={"sym_name": _string("f")}, regions=[body])
    properties: dict[str, Attribute] = {"sym_name": _string("m")}
    if target is not None:
        properties["arch"] = ArchAttr(target)
    ModuleOp.create(properties=properties, regions=[Region(Block([func]))])
    return func


def violated(isa: Instruction, op: InstructionOp, target: Target | None) -> list[Rule]:
    """All rules of an instruction that the op breaks, each asked on its own."""
    operands = rule_operands(op)
    return [rule for rule in isa.rules if rule.applies(target) and rule.check(operands, target) is not None]

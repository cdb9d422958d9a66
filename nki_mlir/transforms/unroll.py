"""Unrolls the static loops of BIR."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias, cast

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, ModuleOp, StringAttr
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass

from nki_mlir.diagnostics import NkiError, debug
from nki_mlir.dialects import affine, bir
from nki_mlir.dialects.access import Access
from nki_mlir.dialects.attributes import ConditionAttr, ExprAttr
from nki_mlir.dialects.blocks import insert
from nki_mlir.dialects.instruction import InstructionOp, guard_indices, operands_of
from nki_mlir.dialects.locations import place_of, string
from nki_mlir.dialects.structure import RegisterOp, StorageOp
from nki_mlir.transforms.errors import op_error
from nki_mlir.transforms.ordered import keeps_order

MOST_INSTRUCTIONS = 2_000_000
"""Instructions that take about 3 GB of memory."""

_COPIED = (InstructionOp, StorageOp, RegisterOp, bir.LoopOp, bir.DynamicForLoopOp, bir.DoWhileOp)


@dataclass(frozen=True)
class Unroll(ModulePass):
    """Replaces each static loop of BIR by copies of its body, one an iteration.

    A copy has the numbers of its iteration in place of loop variables. Guards and masks that these decide are gone, and
    so is an instruction whose guard does not hold or whose access has no element left. Instructions and storage of the
    body get unique names that end in the values of the loop variables; storage placed before is placed the same in all
    copies. Storage that all functions share under its name is one, before the loops. The result computes the same bits.

    Loops with bounds in registers stay, and so do the regions in which instructions keep their order, with everything
    inside them unrolled. `max_trip_count` also keeps loops of more iterations. A result of more than `max_instructions`
    ops, each of which takes about 1.4 KB, is an error that leaves the module as it was. Idempotent.
    """

    name = "unroll"

    max_trip_count: int | None = None
    max_instructions: int = MOST_INSTRUCTIONS

    def __post_init__(self) -> None:
        for option, most in (("max-trip-count", self.max_trip_count), ("max-instructions", self.max_instructions)):
            if most is not None and most < 0:
                raise ValueError(f"{option} must be at least 0, got {most}")

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        count = self._count_in(op, False)
        if count > self.max_instructions and (loops := [inner for inner in op.walk() if self._unrolls(inner)]):
            longest = max(loops, key=lambda loop: self._count_in(loop, True) * cast(bir.LoopOp, loop).trip_count)
            message = f"unrolling gives {count} ops, at most {self.max_instructions} are allowed"
            raise NkiError(f"{message} (option max-instructions)", place_of(longest.location))
        self._enter(op)

    def _unrolls(self, op: Operation) -> bool:
        if not isinstance(op, bir.LoopOp) or keeps_order(op):
            return False
        return self.max_trip_count is None or op.trip_count <= self.max_trip_count

    def _count_in(self, op: Operation, inside: bool) -> int:
        """Returns the number of ops that those in an op become; raises for one in a loop that cannot be copied."""
        total = 0
        for block in (block for region in op.regions for block in region.blocks):
            for inner in block.ops:
                if inside and (inner.successors or not isinstance(inner, _COPIED)):
                    message = "stands in a loop, of which only instructions, storage and loops can be unrolled"
                    raise op_error(inner, message)
                total += 1
                if inner.regions:
                    unrolls = self._unrolls(inner)
                    body = self._count_in(inner, inside or unrolls)
                    total += body * cast(bir.LoopOp, inner).trip_count - 1 if unrolls else body
        return total

    def _enter(self, op: Operation) -> None:
        """Unrolls what is inside an op that is no function."""
        for region in op.regions:
            for block in region.blocks:
                for inner in block.ops:
                    if isinstance(inner, bir.FuncOp):
                        _Unroller(self._unrolls, inner).enter(inner)
                    elif inner.regions:
                        self._enter(inner)


Environment: TypeAlias = dict[SSAValue, "SSAValue | int"]
"""What stands for a value of the loop in the copy being made: a number for a loop variable, a copy of storage."""

Copy: TypeAlias = Callable[[Environment, str, list[Operation]], None]
"""Appends what an op becomes in one iteration; the string is what the names in this iteration end in."""


class _Unroller:
    """Unrolls the loops of one function. How to copy an op of a loop is found out once, not in each iteration."""

    def __init__(self, unrolls: Callable[[Operation], bool], function: bir.FuncOp) -> None:
        self.unrolls = unrolls
        self.function = function.sym_name.data
        self.names: set[str] = set()
        self.shared: list[Operation] = []
        """Storage of the loops around the current op that goes before them."""
        for op in function.walk():
            if isinstance(name := op.properties.get("name"), StringAttr):
                self.names.add(name.data)
        self.resolved: dict[tuple[Attribute, tuple[int | None, ...]], tuple[Any, tuple[int, ...]]] = {}

    def enter(self, op: Operation) -> None:
        """Unrolls the loops inside an op that stays."""
        for region in op.regions:
            for block in region.blocks:
                for inner in list(block.ops):
                    if self.unrolls(inner):
                        made: list[Operation] = []
                        self.copier(inner)({}, "", made)
                        debug(__name__, "@%s: a loop becomes %d ops", self.function, len(made))
                        insert(block, self.shared + made, inner)
                        self.shared.clear()
                        block.erase_op(inner)
                    elif inner.regions:
                        self.enter(inner)

    def copier(self, op: Operation) -> Copy:
        """Returns how to copy an op that stands in a loop, or the loop itself."""
        if isinstance(op, InstructionOp):
            return self._instruction(op)
        if isinstance(op, bir.LoopOp) and self.unrolls(op):
            # Iterations without instructions count as none, but they would take time.
            body = self._body(op)
            return partial(_iterations, op.variable, op.range(), body) if body and op.trip_count else _nothing
        if op.regions:
            return partial(_region, op, self._body(op))
        if isinstance(op, bir.TensorOp) and op.is_shared:
            return self._shared(op)
        return partial(self._declaration, op)

    def _shared(self, op: bir.TensorOp) -> Copy:
        """Returns how to copy storage that is the same in all iterations."""
        new = op.clone()
        self.shared.append(new)

        def copy(env: Environment, suffix: str, out: list[Operation]) -> None:
            env[op.results[0]] = new.results[0]

        return copy

    def _body(self, op: Operation) -> list[Copy]:
        copiers = (self.copier(inner) for inner in op.regions[0].block.ops)
        return [copier for copier in copiers if copier is not _nothing]

    def fresh(self, name: str) -> StringAttr:
        """Returns the name, made unique."""
        while name in self.names:
            name += "_"
        self.names.add(name)
        return string(name)

    def _declaration(self, op: Operation, env: Environment, suffix: str, out: list[Operation]) -> None:
        """Copies storage or a register."""
        name = cast(StringAttr, op.properties["name"]).data
        new = type(op).create(
            result_types=[op.results[0].type],
            properties=op.properties | {"name": self.fresh(name + suffix)},
            attributes=op.attributes,
            location=op.location,
        )
        new.results[0].name_hint = op.results[0].name_hint
        env[op.results[0]] = new.results[0]
        out.append(new)

    def _instruction(self, op: InstructionOp) -> Copy:
        """Returns how to copy an instruction."""
        uses: list[tuple[str, int | None, Attribute, SSAValue | None, tuple[SSAValue, ...]]] = [
            (use.role.name, use.member if use.role.variadic else None, use.pattern, use.storage, use.indices)
            for use in operands_of(op)
        ]
        if op.when is not None:
            uses.append(("when", None, op.when, None, guard_indices(op)))
        indexed = any(indices for *_, indices in uses)
        cls, location, attributes, fixed, old = type(op), op.location, op.attributes, op.properties, tuple(op.operands)
        name = None if op.inst_name is None else op.inst_name.data

        def copy(env: Environment, suffix: str, out: list[Operation]) -> None:
            properties = fixed.copy()
            operands: list[Any]  # index values that are numbers now do not get into it
            if not indexed:
                operands = [env.get(value, value) for value in old]
            else:
                operands = []
                for role, member, pattern, storage, indices in uses:
                    if storage is not None:
                        operands.append(env.get(storage, storage))
                    if not indices:
                        continue
                    values = [env.get(value, value) for value in indices]
                    new, order = self.at(pattern, values)
                    if new is None or new is False:
                        return
                    operands += [values[k] for k in order]
                    if new is True:
                        del properties[role]
                    elif member is None:
                        properties[role] = new
                    else:
                        properties[role] = _with_member(properties[role], member, new)
            if name is not None:
                properties["name"] = self.fresh(name + suffix)
            new_op = cls.assemble(operands, properties, location)
            if attributes:
                new_op.attributes.update(attributes)
            out.append(new_op)

        return copy

    def at(self, pattern: Attribute, values: Sequence["SSAValue | int"]) -> tuple[Any, tuple[int, ...]]:
        """Returns the pattern with numbers in place of its index values, and which index values it still has.

        The pattern is None if it has no element left; of a guard it is whether it holds, once that is known.
        """
        key = pattern, tuple([value if type(value) is int else None for value in values])
        known = self.resolved.get(key)
        if known is None:
            numbers = key[1]
            known = self.resolved[key] = cast("Access | ExprAttr | ConditionAttr", pattern).at(
                lambda k: affine.index(k) if (number := numbers[k]) is None else number
            )
        return known


def _with_member(listed: Attribute, member: int, new: Attribute) -> Attribute:
    members = list(cast("ArrayAttr[Attribute]", listed).data)
    members[member] = new
    return ArrayAttr(members)


def _nothing(env: Environment, suffix: str, out: list[Operation]) -> None:
    """Copies a loop without instructions."""


def _iterations(
    variable: SSAValue, values: range, body: Sequence[Copy], env: Environment, suffix: str, out: list[Operation]
) -> None:
    """Copies the body of a loop once for each value of its variable."""
    for value in values:
        env[variable] = value
        name = f"{suffix}_{value}"
        for copy in body:
            copy(env, name, out)


def _region(op: Operation, body: Sequence[Copy], env: Environment, suffix: str, out: list[Operation]) -> None:
    """Copies a loop that stays a loop."""
    old = op.regions[0].block
    block = Block(arg_types=[argument.type for argument in old.args])
    for argument, new in zip(old.args, block.args, strict=True):
        new.name_hint = argument.name_hint
        env[argument] = new
    inside: list[Operation] = []
    for copy in body:
        copy(env, suffix, inside)
    insert(block, inside)
    out.append(
        type(op).create(
            operands=[cast(SSAValue, env.get(value, value)) for value in op.operands],
            properties=op.properties,
            attributes=op.attributes,
            regions=[Region(block)],
            location=op.location,
        )
    )

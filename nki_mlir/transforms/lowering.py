"""What the lowerings to BIR share: rows, registered by op class, and the one rewrite pattern that looks them up.

An instruction that means the same in BIR lowers by a row, `same(penguin.TensorTensorOp, bir.TensorTensorOp)`: roles,
access patterns and storage types are shared, so its operands carry over as they are. Where something changes, a row
names a function, `Row(penguin.TransposeOp, lower_transpose)`, that returns the new ops. Locations and the name of the
instruction are carried over for all of them here.

Everything that may fail is checked before the first op changes, so that after an error the module is what it was.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias, cast

from xdsl.dialects.builtin import ModuleOp, StringAttr, UnitAttr, UnknownLoc
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, PatternRewriteWalker, RewritePattern
from xdsl.rewriter import InsertPoint, Rewriter

from nki_mlir.diagnostics import debug
from nki_mlir.dialects.attributes import ArchAttr
from nki_mlir.dialects.bir.structure import FuncOp
from nki_mlir.dialects.blocks import insert
from nki_mlir.dialects.instruction import InstructionOp
from nki_mlir.dialects.structure import RegisterOp, StorageOp
from nki_mlir.isa.enums import TensorKind
from nki_mlir.isa.target import parse_target
from nki_mlir.transforms.errors import op_error


class Conversion:
    """One run of a lowering: the rewriter, and what ops inside a function or kernel need to know of it."""

    def __init__(self) -> None:
        self.rewriter: PatternRewriter
        self.kinds: dict[str, TensorKind] = {}
        """What tensors are to the outside, by name, where the kernel being lowered says it."""
        self.labels: dict[str, Block] = {}
        """Blocks of the function being lowered, where branches name them."""
        self.values: dict[SSAValue, SSAValue] = {}
        """For each result of an op that has been lowered the one in its place; its uses change with their own ops."""
        self.shared: dict[tuple[Block, Any], StorageOp] = {}
        """Storage that the lowering itself added, by the function's first block and what it is for."""

    def at_head(self, op: Operation, key: Any, make: Callable[[set[str]], Sequence[Operation]]) -> StorageOp:
        """Returns storage that `make` adds at the head of the function around `op`, one for each `key`.

        `make` gets the names that are taken; it returns the storage, then the instructions that fill it.
        """
        block = _first_block(op)
        known = self.shared.get((block, key))
        if known is not None:
            return known
        region = block.parent
        inside = region.walk() if region is not None else block.walk()
        names = (other.properties.get("name") for other in inside)
        storage, *filling = make({name.data for name in names if isinstance(name, StringAttr)})
        assert isinstance(storage, StorageOp)
        first = block.first_op
        while isinstance(first, StorageOp | RegisterOp):
            first = first.next_op
        assert first is not None
        for new in (storage, *filling):
            new.location = op.location
        self.rewriter.insert((storage, *filling), InsertPoint.before(first))
        self.shared[block, key] = storage
        return storage


def _first_block(op: Operation) -> Block:
    """Returns the first block of the function around an op, or of the module where there is no function."""
    block = op.parent
    assert block is not None
    while (parent := block.parent_op()) is not None and not isinstance(parent, FuncOp | ModuleOp):
        assert parent.parent is not None
        block = parent.parent
    region = block.parent
    return block if region is None or region.first_block is None else region.first_block


Lower: TypeAlias = Callable[[Any, Conversion], Sequence[Operation]]
"""Returns the ops that take the place of an op; the results of the last one are the new results."""


@dataclass(frozen=True, slots=True)
class Row:
    """How the ops of one class lower. `check` returns what is wrong with an op that cannot be lowered, or None."""

    source: type[Operation]
    lower: Lower
    check: Callable[[Any], str | None] | None = None


def same(
    source: type[InstructionOp],
    target: type[InstructionOp],
    *,
    drop: Iterable[str] = (),
    add: Mapping[str, Attribute] | None = None,
) -> Row:
    """Returns the row of an instruction that is the same in BIR, under another name.

    `drop` names properties that BIR has no place for, `add` are properties that tell BIR's instruction which of several
    it is. Raises TypeError where the classes differ in anything else.
    """
    dropped, added = tuple(drop), dict(add or {})
    if [role.name for role in source.ROLES] != [role.name for role in target.ROLES]:
        raise TypeError(f"{source.name} and {target.name} differ in their roles")
    kept = source.get_irdl_definition().properties.keys() - set(dropped)
    lost = kept - target.get_irdl_definition().properties.keys()
    if lost:
        raise TypeError(f"{target.name} has no {', '.join(sorted(lost))}, which {source.name} has")
    return Row(source, partial(_lower_same, target, dropped, added))


def _lower_same(
    target: type[InstructionOp],
    dropped: tuple[str, ...],
    added: dict[str, Attribute],
    op: InstructionOp,
    conversion: Conversion,
) -> tuple[Operation]:
    properties, new = op.properties, conversion.values
    if dropped or added:
        properties = properties | added
        for name in dropped:
            properties.pop(name, None)
    operands = [new.get(value, value) for value in op.operands]
    return (target.create(operands=operands, properties=properties, attributes=op.attributes, location=op.location),)


def moved(source: type[Operation], target: type[Operation], *, drop: Iterable[str] = ()) -> Row:
    """Returns the row of a structure op that has the same operands, results, properties and regions in BIR."""
    return Row(source, lambda op, _: (move(op, target, drop=drop),))


def move(
    op: Operation,
    target: type[Operation],
    *,
    drop: Iterable[str] = (),
    add: Mapping[str, Attribute] | None = None,
) -> Operation:
    """Returns an op of another class with everything that `op` has; its regions leave `op`."""
    return target.create(
        operands=op.operands,
        result_types=[result.type for result in op.results],
        properties={k: v for k, v in op.properties.items() if k not in drop} | dict(add or {}),
        attributes=op.attributes,
        regions=[op.detach_region(region) for region in op.regions],
        location=op.location,
    )


def placed_by_user(op: StorageOp) -> Mapping[str, Attribute]:
    """Returns the property of BIR's storage that says who placed it: before a lowering only the user can have.

    Where blocks are left for an allocator to place, it does not stand.
    """
    return {} if None in op.placements() else {"user_allocated": UnitAttr()}


class Lowering:
    """The rows of a lowering, by the class of op.

    `roots` are the classes whose whole contents the lowering takes to BIR. Attributes of the dialect they belong to are
    left behind, others go with their op.
    """

    def __init__(self, roots: tuple[type[Operation], ...], *families: Sequence[Row]) -> None:
        self.roots = roots
        self.prefix = roots[0].name.partition(".")[0] + "."
        self.rows: dict[type[Operation], Row] = {}
        for row in (row for family in families for row in family):
            if row.source in self.rows:
                raise TypeError(f"{row.source.name} has two rows")
            self.rows[row.source] = row

    def run(self, module: ModuleOp, target: str | None = None) -> None:
        """Lowers what the module holds; `target` becomes the generation of each module that the lowering makes.

        Raises NkiError, with the module as it was, if something in it cannot be lowered, or for an unknown target.
        """
        arch = None if target is None else ArchAttr(parse_target(target))
        tops = self._check(module)
        if arch is not None:
            for top in tops:
                top.properties["arch"] = arch
        pattern = _RowPattern(self)
        PatternRewriteWalker(pattern, apply_recursively=False).rewrite_module(module)
        debug(__name__, "%d ops of %s are lowered", pattern.lowered, self.prefix[:-1])
        for old, new in pattern.conversion.values.items():
            old.replace_all_uses_with(new)
            Rewriter.erase_op(cast(Operation, old.owner))

    def _check(self, module: ModuleOp) -> list[Operation]:
        """Returns the roots; raises the error of the first op that cannot be lowered."""
        rows, roots = self.rows, self.roots
        tops: list[Operation] = []
        for op in module.walk():
            row = rows.get(type(op))
            if row is None:
                if not op.name.startswith("bir.") and self._inside(op):
                    raise op_error(op, "has no lowering to BIR")
                continue
            if isinstance(op, roots):
                tops.append(op)
            if row.check is not None and (message := row.check(op)) is not None:
                raise op_error(op, message)
        return tops

    def _inside(self, op: Operation) -> bool:
        parent = op.parent_op()
        while parent is not None:
            if isinstance(parent, self.roots):
                return True
            parent = parent.parent_op()
        return False


class _RowPattern(RewritePattern):
    """The one pattern of a run of a lowering: looks the row of an op up by its class."""

    def __init__(self, lowering: Lowering) -> None:
        self.rows = lowering.rows
        self.prefix = lowering.prefix
        self.conversion = Conversion()
        self.lowered = 0

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        row = self.rows.get(type(op))
        if row is None:
            return
        self.lowered += 1
        self.conversion.rewriter = rewriter
        new_ops = row.lower(op, self.conversion)
        for new in new_ops:
            if isinstance(new.location, UnknownLoc):
                new.location = op.location
            if new.attributes:
                new.attributes = {k: v for k, v in new.attributes.items() if not k.startswith(self.prefix)}
        if isinstance(op, InstructionOp) and "name" in op.properties and isinstance(new_ops[-1], InstructionOp):
            new_ops[-1].properties["name"] = op.properties["name"]
        self._replace(op, new_ops)
        rewriter.has_done_action = True

    def _replace(self, op: Operation, new_ops: Sequence[Operation]) -> None:
        """Puts new ops in the place of an op. One with results stays until all that use it are lowered as well.

        `PatternRewriter.replace` does the same in twice the time: it gives each use the new value, only to drop it with
        the op whose use it is, and it tells listeners, of which there are none.
        """
        block = op.parent
        assert block is not None
        insert(block, new_ops, op)
        if not op.results:
            block.erase_op(op)
            return
        for old, new in zip(op.results, new_ops[-1].results, strict=True):
            new.name_hint = old.name_hint
            self.conversion.values[old] = new

"""Operands of an op as the rules of the instruction set see them, and the target an op is for."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, cast

from xdsl.ir import Attribute, Block, Operation, SSAValue

from nki_mlir.dialects import affine
from nki_mlir.dialects.access import Access
from nki_mlir.dialects.affine import Domain, Expr, Interval
from nki_mlir.dialects.attributes import ArchAttr, ExprAttr, Immediate, MemType, RegisterAttr, value_of
from nki_mlir.dialects.domains import Condition, masks, narrowed
from nki_mlir.dialects.instruction import InstructionOp, Use, guard_indices, operands_of
from nki_mlir.dialects.reach import reached, spans_of, start_of, windows
from nki_mlir.dialects.structure import LoopOp, StorageOp
from nki_mlir.isa.dtypes import Dtype
from nki_mlir.isa.enums import MemorySpace
from nki_mlir.isa.operands import Operand, Operands
from nki_mlir.isa.target import CORE_V4, Target

Placement = tuple[int, int]
"""(first partition, byte address inside a partition) of a block of storage."""

_KNOWN: dict[tuple[Access, MemType, Placement | None], Operand] = {}
_IMMEDIATES: dict[Immediate, Operand] = {}

REGISTER = Operand(dtype=Dtype.I32, space=MemorySpace.REG)
"""A register as an operand (KLR reference, §5.1: of type int32)."""


def target_of(op: Operation) -> Target | None:
    """Returns the target of the nearest enclosing op with an `arch`, or None."""
    parent: Operation | None = op.parent_op() if isinstance(op, InstructionOp) else op
    while parent is not None:
        arch = parent.properties.get("arch") or parent.attributes.get("nki.arch")
        if type(arch) is ArchAttr:
            return arch.data
        block = parent.parent
        region = None if block is None else block.parent
        parent = None if region is None else region.parent
    return None


def index_range(value: SSAValue) -> range | None:
    """Returns the values of a loop variable; None for a register and a loop whose bounds are not constant.

    That of a loop that never runs counts as its lower bound. So what is inside is checked like all else, whether or not
    it depends on the loop: an access of constants does not know the loops around it.
    """
    owner = value.owner
    if isinstance(owner, Block) and isinstance(loop := owner.parent_op(), LoopOp):
        values = loop.range()
        return values or range(values.start, values.start + 1)
    return None


Ranges = Callable[[SSAValue], Domain | None]
"""The values of a loop variable for which an instruction runs; None where they are not known."""


def ranges_of(op: InstructionOp, uses: Iterable[Use]) -> Ranges | None:
    """Returns the values of loop variables for which an instruction runs, its guard and masks considered; None if it
    never does.
    """
    conditions: list[tuple[Condition, Sequence[SSAValue]]] = []
    for use in uses:
        if use.indices and type(use.pattern) is Access and use.pattern.masked:
            conditions += ((condition, use.indices) for condition in masks(use.pattern))
    when = op.when
    if when is not None:
        keys = guard_indices(op)
        conditions += ((Condition(expr, not ge), keys) for expr, ge in when.data.atoms)
    if not conditions:
        return index_range
    found = narrowed({key: index_range(key) for _, keys in conditions for key in keys}, conditions)
    return None if found is None else lambda value: found[value] if value in found else index_range(value)


def placement_of(storage: SSAValue, block: Expr) -> Placement | None:
    """Returns where a block of a storage is placed; None while it is not.

    Where an index chooses the block, the first one stands for all if they are alike to all rules, else None.
    """
    owner = storage.owner
    if not isinstance(owner, StorageOp):
        return None
    if isinstance(block, int):
        return owner.placement(block)
    places = [owner.placement(number) for number in range(owner.mem.blocks)]
    # No rule looks at more of an address than where in a bank of PSUM it is.
    alike = {place and (place[0], place[1] % CORE_V4.psum_bank_bytes) for place in places}
    return places[0] if len(alike) == 1 else None


def admission(
    access: Access, mem: MemType, placement: Placement | None, ranges: Sequence[Domain] = ()
) -> object | None:
    """Returns what rules see of an access beside `mem`, `placement` and the domains of its index values: accesses that
    share all of these are legal in the same instructions. None if more must be known of it, as of one that leaves its
    storage.

    Rules look at the column offset only to see that it stays inside the row, which is done here, and at placed PSUM.
    """
    fields: Any = access.data
    low = high = fields.offset
    if type(low) is not int:
        low, high = cast(Interval, affine.interval(low, ranges))
    if low + access.low < 0 or (high + access.high + 1) * fields.dtype.size > mem.row_bytes or access.masked:
        return None
    if type(fields.block) is not int or not 0 <= fields.block < mem.blocks:
        return None
    return access if placement is not None and mem.space is MemorySpace.PSUM else access.form


def rule_operands(op: InstructionOp) -> Operands:
    """Returns what an instruction says to the rules: operands by role, parameters by name."""
    uses = list(operands_of(op))
    return operands_seen(op, uses, ranges_of(op, uses))


def operands_seen(op: InstructionOp, uses: Sequence[Use], ranges: Ranges | None) -> Operands:
    """Returns the same where the operands and `ranges_of` them are known already."""
    roles: dict[str, Any] = {}
    parameters: dict[str, Any] = {}
    for role, _, pattern, storage, indices in uses:
        if type(pattern) is ExprAttr:
            parameters[role.name] = _parameter(pattern, [ranges(value) if ranges else None for value in indices])
            continue
        operand = operand_for(pattern, storage, indices, ranges)
        if operand is None:
            continue
        if role.variadic:
            roles[role.name] = (*roles.get(role.name, ()), operand)
        else:
            roles[role.name] = operand
    for name, attribute in op.properties.items():
        if name not in roles and name not in parameters and name != "name" and name != "when":
            parameters[name] = value_of(attribute)
    return Operands(roles, parameters)


def _parameter(pattern: ExprAttr, domains: Sequence[Domain | None]) -> Any:
    """Returns a parameter as rules see it: integers, and for what depends on loops the set of its values, if known."""
    found = tuple(
        value if isinstance(value, int) else affine.values(value, tuple(domains)) for value in pattern.data.values
    )
    return found if pattern.data.is_list else found[0]


def operand_for(
    pattern: Attribute, storage: SSAValue | None, indices: tuple[SSAValue, ...], ranges: Ranges | None
) -> Operand | None:
    """Returns the figures of one operand."""
    if type(pattern) is Immediate:
        known = _IMMEDIATES.get(pattern)
        if known is None:
            known = Operand(dtype=pattern.data.dtype, immediate=pattern.data.value)
            _IMMEDIATES[pattern] = known
        return known
    if type(pattern) is RegisterAttr:
        return REGISTER
    if storage is None:
        return None
    access, kind = cast(Access, pattern), cast(MemType, storage.type)
    placement = placement_of(storage, access.data.block)
    if ranges is None:
        return figures(access, kind, placement, None)
    if not indices:
        key = access, kind, placement
        known = _KNOWN.get(key)
        if known is None:
            known = _KNOWN[key] = figures(access, kind, placement, [])
        return known
    return figures(access, kind, placement, [ranges(value) for value in indices])


def figures(
    access: Access, kind: MemType, placement: Placement | None, ranges: Sequence[Domain | None] | None
) -> Operand:
    """Returns the figures of an access to storage of a type: `ranges[k]` is the domain of index value k.

    Without ranges the instruction never runs: nothing is known of where the access is.
    """
    fields = access.data
    dtype: Dtype = fields.dtype
    row = kind.row_bytes // dtype.size
    columns: Interval | None = None
    elements: tuple[Interval, ...] | None = None
    rows: Interval | None = None
    start: int | None = None
    start_step = 0
    spans: tuple[tuple[int, int], ...] | None = None
    if ranges is not None:
        if fields.indirect is None:
            columns = reached(fields.offset, fields.pairs, ranges, row)
            if kind.space is MemorySpace.PSUM and placement is not None:
                elements = windows(fields.offset, fields.pairs, ranges)
        if fields.partition is not None and fields.partition_pairs is not None:
            if fields.indirect is None or access.partitions is not None:
                rows = reached(fields.partition, fields.partition_pairs, ranges, kind.partitions)
            if kind.partitions > 64 or placement is not None:
                # Storage of more than 64 partitions can only start at partition 0, placed or not.
                first = 0 if placement is None else placement[0]
                start, start_step = start_of(fields.partition, ranges)
                start += first
                if access.partitions is None or not isinstance(fields.partition, int):
                    spans = spans_of(fields.partition, fields.partition_pairs, ranges, first)
    return Operand(
        dtype=dtype,
        space=kind.space,
        partitions=access.partitions,
        free=access.free,
        row=row,
        storage_partitions=kind.partitions,
        start=start,
        start_step=start_step,
        spans=spans,
        rows=rows,
        columns=columns,
        elements=elements,
        address=None if placement is None else placement[1],
        steps=tuple(pair.step for pair in fields.pairs),
        nums=tuple(pair.number for pair in fields.pairs),
        partition_steps=tuple(pair.step for pair in fields.partition_pairs or ()),
        partition_nums=tuple(pair.number for pair in fields.partition_pairs or ()),
    )

"""Operands of an op as the rules of the instruction set see them, and the target an op is for."""

from collections.abc import Callable, Iterable, Sequence
from math import gcd, prod
from typing import Any, cast

from xdsl.ir import Attribute, Block, Operation, SSAValue

from nki_mlir.dialects import affine
from nki_mlir.dialects.access import Access
from nki_mlir.dialects.affine import Cases, Domain, Expr, Interval
from nki_mlir.dialects.attributes import ArchAttr, ExprAttr, Immediate, MemType, RegisterAttr, value_of
from nki_mlir.dialects.domains import Condition, masks, narrowed
from nki_mlir.dialects.instruction import InstructionOp, Use, guard_indices, operands_of
from nki_mlir.dialects.structure import LoopOp, StorageOp
from nki_mlir.isa.dtypes import Dtype
from nki_mlir.isa.enums import MemorySpace
from nki_mlir.isa.operands import Operand, Operands
from nki_mlir.isa.target import Target

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


def ranges_of(op: InstructionOp, uses: Iterable[Use]) -> Ranges:
    """Returns the values of loop variables for which an instruction runs, its guard and masks considered."""
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
    return lambda value: found[value] if value in found else index_range(value)


def placement_of(storage: SSAValue, block: Expr) -> Placement | None:
    """Returns where a block of a storage is placed; None while it is not, or while the block is not constant."""
    owner = storage.owner
    return owner.placement(block) if isinstance(owner, StorageOp) and isinstance(block, int) else None


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


def rule_operands(op: InstructionOp, uses: Sequence[Use] | None = None, ranges: Ranges | None = None) -> Operands:
    """Returns what an instruction says to the rules: operands by role, parameters by name.

    `uses` are its operands and `ranges` the values of their index values where the caller has them already.
    """
    if uses is None:
        uses = list(operands_of(op))
    if ranges is None:
        ranges = ranges_of(op, uses)
    roles: dict[str, Any] = {}
    parameters: dict[str, Any] = {}
    for role, _, pattern, storage, indices in uses:
        if type(pattern) is ExprAttr:
            parameters[role.name] = _parameter(pattern, [ranges(value) for value in indices])
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
    pattern: Attribute, storage: SSAValue | None, indices: tuple[SSAValue, ...], ranges: Ranges
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
    if not indices:
        key = access, kind, placement
        known = _KNOWN.get(key)
        if known is None:
            known = _KNOWN[key] = figures(access, kind, placement, [])
        return known
    return figures(access, kind, placement, [ranges(value) for value in indices])


def figures(access: Access, kind: MemType, placement: Placement | None, ranges: Sequence[Domain | None]) -> Operand:
    """Returns the figures of an access to storage of a type: `ranges[k]` is the domain of index value k."""
    fields = access.data
    dtype: Dtype = fields.dtype
    row = kind.row_bytes // dtype.size
    columns: Interval | None = None
    if access.free is not None and fields.indirect is None:
        first = _bounds(fields.offset, ranges, -access.low, row - access.high)
        if first is not None:
            columns = first[0] + access.low, first[1] + access.high
    start: int | None = None
    start_step = 0
    spans: tuple[tuple[int, int], ...] | None = None
    offset: Interval | None = None
    if fields.partition is not None:
        offset = _bounds(fields.partition, ranges, 0, kind.partitions - (access.partitions or 1) + 1)
        if kind.partitions > 64 or placement is not None:
            # Storage of more than 64 partitions can only start at partition 0, placed or not.
            first = 0 if placement is None else placement[0]
            start, start_step = _start(fields.partition, ranges)
            start = None if start is None else start + first
            if access.partitions is None:
                spans = _spans(access, ranges, first)
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
        offset=offset,
        columns=columns,
        address=None if placement is None else placement[1],
        steps=tuple(pair.step for pair in fields.pairs),
        nums=tuple(pair.number for pair in fields.pairs),
        partition_steps=tuple(pair.step for pair in fields.partition_pairs or ()),
        partition_nums=tuple(pair.number for pair in fields.partition_pairs or ()),
    )


def _bounds(expr: Expr, ranges: Sequence[Domain | None], low: int, high: int) -> Interval | None:
    """Returns bounds of an offset, exact ones if it does not certainly stay from `low` up to, not including, `high`."""
    found = affine.interval(expr, ranges)
    if found is None or low <= found[0] <= found[1] < high:
        return found
    return affine.exact_interval(expr, ranges)


def _start(expr: Expr, ranges: Sequence[Domain | None]) -> tuple[int | None, int]:
    """Returns one value of a partition offset, and a number that divides the distance of all others from it; None for
    an offset that is never used.
    """
    if isinstance(expr, int):
        return expr, 0
    start, steps, exact = expr.constant, list[int](), True
    for coefficient, atom in expr.terms:
        domain = ranges[atom] if isinstance(atom, int) else None
        if domain is None or isinstance(domain, Cases):
            steps.append(coefficient)
            exact = False
            continue
        start += coefficient * domain[0]
        if domain[0] != domain[-1]:
            steps.append(coefficient * (domain.step if isinstance(domain, range) else 1))
    step = gcd(*steps)
    if not exact and (found := affine.values(expr, tuple(ranges))) is not None:
        start = min(found, default=None)
        step = gcd(*(value - start for value in found)) if start is not None else 0
    return start, step


def _spans(access: Access, ranges: Sequence[Domain | None], first: int) -> tuple[tuple[int, int], ...] | None:
    """Returns start and number of the partitions that a masked access has in its iterations, in order, if known."""
    fields = access.data
    assert fields.partition is not None
    assert fields.partition_pairs is not None
    pairs = fields.partition_pairs
    exprs = fields.partition, *(bound for pair in pairs for bound in pair.bounds)
    found = affine.combinations(exprs, tuple(ranges))
    if found is None:
        return None
    spans: set[tuple[int, int]] = set()
    for start, *bounds in found:
        left = iter(bounds)
        count = prod(min(pair.number, *(next(left) for _ in pair.bounds)) for pair in pairs)
        if all(bound > 0 for bound in bounds):
            spans.add((first + start, count))
    return tuple(sorted(spans))

"""Every op of every dialect applies every rule of its instruction.

A breaker turns a legal example of an instruction into pairs (just legal, just illegal) for one rule. Those count whose
illegal half breaks this rule and no other; ops of all classes are built from them and verified, with a target or none.
What cannot be broken alone, or not in some class, is listed by name with the reason; nothing else is skipped.
"""

from collections.abc import Callable, Iterator
from functools import cache
from itertools import product
from typing import Any

import pytest
from rule_cases import (
    EXAMPLES,
    F32,
    HBM,
    I32,
    PSUM,
    SBUF,
    Case,
    Number,
    Register,
    Tile,
    attribute,
    examples,
    expressible,
    op_classes,
    op_of,
    rows,
    tile,
    violated,
)
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from nki_mlir.dialects.instruction import InstructionOp
from nki_mlir.isa import rules
from nki_mlir.isa.dtypes import Dtype
from nki_mlir.isa.enums import (
    ActivationFunction,
    AluOp,
    AxisList,
    BranchCompareOp,
    DgeType,
    Engine,
    MatmultPerfMode,
)
from nki_mlir.isa.instructions import INSTRUCTIONS, Instruction, activation, matmul
from nki_mlir.isa.rules import Rule
from nki_mlir.isa.target import TARGETS, Target
from nki_mlir.tools.op_reference import ALTERNATIVES

Pairs = Iterator[tuple[Case, Case]]
Breaker = Callable[[Any, Instruction, Case], Pairs]
BREAKERS: dict[type[Rule], Breaker] = {}

VARIANTS: dict[str, dict[str, dict[str, Any]]] = {
    "penguin.tensor_scalar_ptr": {"scalar_tensor_tensor": {"is_scalar_tensor_tensor": True}},
    "bir.tensor_scalar_ptr": {"scalar_tensor_tensor": {"is_scalar_tensor_tensor": True}},
    "bir.tensor_reduce": {"partition_reduce": {"axis": AxisList.C}},
}
"""The further instructions that a class stands for, and what its ops must hold then."""

NOT_ALONE: dict[tuple[str, str], str] = {
    ("memset", "PsumDtype dst"): "only 8-byte types are left, which no engine takes (X-DT64)",
    ("tensor_copy", "PsumDtype dst"): "only 8-byte types are left (X-DT64)",
    ("matmul", "PsumDtype dst"): "only 8-byte types are left (X-DT64)",
    ("transpose", "PsumDtype dst"): "only 8-byte types are left (X-DT64)",
    ("stream_transpose", "PsumDtype dst"): "only 8-byte types are left (X-DT64)",
    ("bn_stats", "FreeLimit dst data"): "the instruction takes at most 512 elements (X-BNSTATS)",
    ("matmul", "FreeLimit stationary moving"): "the tile sizes of a matmul are smaller (BIR039, BIR040)",
    ("matmul", "FreeLimit dst"): "dst is as wide as moving, whose size is smaller (BIR039)",
    ("matmul", "PartitionLimit dst"): "dst has as many partitions as stationary columns (BIR040)",
    ("matmul", "TileSize stationary"): "dst has as many partitions as stationary columns (X-PMAX)",
    ("matmul", "ElementSize stationary moving"): "a matmul takes few types (X-MMDT)",
    ("matmul", "ElementSize dst"): "a matmul writes few types (BIR032)",
    ("transpose", "PartitionLimit dst data"): "a transposed tile is at most 128 x 128 (X-TRANSPOSE)",
    ("transpose", "FreeLimit dst data"): "a transposed tile is at most 128 x 128 (X-TRANSPOSE)",
    ("stream_transpose", "PartitionLimit dst data"): "a transposed tile is at most 32 x 32 (X-TRANSPOSE)",
    ("register_load", "DtypeAvailable"): "types that some target does not have are none of integers (X-DTYPE)",
    ("register_store", "DtypeAvailable"): "types that some target does not have are none of integers (X-DTYPE)",
    ("stream_transpose", "FreeLimit dst data"): "a transposed tile is at most 32 x 32 (X-TRANSPOSE)",
}
"""Rules (instruction, class and roles) that are always broken together with another one, and which."""

NEVER: dict[tuple[str, str], str] = {
    ("register_move", "DtypeAvailable"): "every target has integers of 32 bits, and numbers are none of its types",
    ("register_alu", "DtypeAvailable"): "as with register_move",
    ("compare_and_branch", "DtypeAvailable"): "as with register_move",
    ("dma_copy", "InMemory dst"): "every memory is allowed",
    ("dma_copy", "InMemory src"): "every memory is allowed",
}
"""Rules that nothing breaks."""

NOT_IN_CLASS: dict[tuple[str, str], str] = {
    ("penguin.dma_copy", "X-PRIORITY"): "the dialect has no priority",
    ("bir.dma_copy", "X-PRIORITY"): "the dialect has no priority",
    ("klr.nc_scalar_tensor_tensor", "X-TILE"): "the class takes nothing else",
    ("bir.tensor_scalar", "X-VEC"): "operands are numbers",
    ("bir.tensor_scalar", "X-VECDT"): "operands are numbers",
    ("bir.tensor_reduce", "X-AXIS"): "axis c makes it another instruction, xyzwc needs more dimensions than there are",
}
"""Ops (name, rule) whose class lacks what it takes to break the rule."""


def breaks(kind: type[Rule]) -> Callable[[Breaker], Breaker]:
    """Registers the breaker of a rule class."""

    def register(breaker: Breaker) -> Breaker:
        BREAKERS[kind] = breaker
        return breaker

    return register


def roles_of(rule: Any, case: Case) -> list[str]:
    """The roles of a rule that the case has in storage."""
    return [role for role in rule.roles if isinstance(case.roles.get(role), Tile)]


def tile_of(case: Case, role: str) -> Tile:
    operand = case.roles[role]
    assert isinstance(operand, Tile)
    return operand


def tied(isa: Instruction, role: str) -> list[str]:
    """The role and those that must have its element type."""
    found = [role]
    for rule in isa.rules:
        if isinstance(rule, rules.SameDtype) and not rule.when and role in rule.roles:
            found += [other for other in rule.roles if other != role]
    return found


def with_dtype(isa: Instruction, case: Case, role: str, dtype: Dtype) -> Case:
    """The case with another element type of a role in storage and those tied to it."""
    for name in tied(isa, role):
        if isinstance(case.roles.get(name), Tile):
            case = case.put(name, dtype=dtype)
    return case


# Memory ----------------------------------------------------------------------------------------------------------


@breaks(rules.InMemory)
def _(rule: rules.InMemory, isa: Instruction, case: Case) -> Pairs:
    for role in roles_of(rule, case):
        operand = tile_of(case, role)
        for space in (SBUF, PSUM):
            if space not in rule.spaces:
                yield (
                    case,
                    case.give(
                        role, tile(32, 8, space=space) if operand.space is HBM else operand._replace(space=space)
                    ),
                )
        if HBM not in rule.spaces:  # one partition, as HBM has none, or all in rows
            yield case, case.give(role, rows(32, 8))
            single = case.size(p=1)
            yield single, single.put(role, space=HBM)


@breaks(rules.PartitionLimit)
def _(rule: rules.PartitionLimit, isa: Instruction, case: Case) -> Pairs:
    yield case.size(p=rule.at_most), case.size(p=rule.at_most + 1)
    yield case, case.size(p=rule.at_most + 1)
    if isa.name == "matmul":
        yield case, case.put("stationary", pairs=((1, 129),)).put("dst", partitions=((1, 129),))


@breaks(rules.ContiguousPartitions)
def _(rule: rules.ContiguousPartitions, isa: Instruction, case: Case) -> Pairs:
    for role in roles_of(rule, case):
        (_, count) = tile_of(case, role).partitions[0]
        yield case.put(role, partitions=((1, count),)), case.put(role, partitions=((2, count),))
        if count > 1:
            yield case, case.put(role, partitions=((count // 2, 2), (1, count // 2)))


@breaks(rules.StartPartition)
def _(rule: rules.StartPartition, isa: Instruction, case: Case) -> Pairs:
    for role in roles_of(rule, case):
        yield case.put(role, partition=32), case.put(role, partition=16)
        yield case.put(role, place=(96, 0)), case.put(role, place=(48, 0))


@breaks(rules.InsideStorage)
def _(rule: rules.InsideStorage, isa: Instruction, case: Case) -> Pairs:
    for role in roles_of(rule, case):
        operand = tile_of(case, role)
        last = operand.reach
        yield case.put(role, offset=1, row=last + 1), case.put(role, offset=2, row=last + 1)
        yield case, case.put(role, offset=-1, row=last)
        if operand.space is not HBM:
            yield case.put(role, partition=192, place=(-192, 0)), case.put(role, partition=256, place=(-256, 0))


@breaks(rules.Aligned)
def _(rule: rules.Aligned, isa: Instruction, case: Case) -> Pairs:
    for role in roles_of(rule, case):
        size = tile_of(case, role).dtype.size
        yield case.put(role, place=(0, 4)), case.put(role, place=(0, 4 + size // 2))


@breaks(rules.InOnePsumBank)
def _(rule: rules.InOnePsumBank, isa: Instruction, case: Case) -> Pairs:
    for role in roles_of(rule, case):
        operand = tile_of(case, role)
        last = rule.bank_bytes - operand.free * operand.dtype.size
        yield case.put(role, place=(0, last)), case.put(role, place=(0, last + operand.dtype.size))


@breaks(rules.PsumAlignment)
def _(rule: rules.PsumAlignment, isa: Instruction, case: Case) -> Pairs:
    for role in roles_of(rule, case):
        for dtype in (Dtype.BF16, Dtype.U8):
            narrow = with_dtype(isa, case, role, dtype).put(role, space=PSUM)
            yield narrow.put(role, place=(0, 4)), narrow.put(role, place=(0, 2))
        last = tile_of(case, role).free - 1
        back = with_dtype(isa, case, role, Dtype.BF16).put(role, space=PSUM, pairs=((-1, last + 1),), offset=last)
        yield back.put(role, place=(0, 4 - 2 * last % 4 + 2)), back.put(role, place=(0, 4 - 2 * last % 4))


# Shape -----------------------------------------------------------------------------------------------------------


@breaks(rules.SamePartitions)
def _(rule: rules.SamePartitions, isa: Instruction, case: Case) -> Pairs:
    for role in roles_of(rule, case):
        yield case, case.put(role, partitions=((1, 16),))


@breaks(rules.SameFree)
def _(rule: rules.SameFree, isa: Instruction, case: Case) -> Pairs:
    for role in roles_of(rule, case):
        wide = tile_of(case, role).free
        yield case.put(role, pairs=((1, 1), (1, wide))), case.put(role, pairs=((1, wide + 1),))


@breaks(rules.SameCount)
def _(rule: rules.SameCount, isa: Instruction, case: Case) -> Pairs:
    yield case, case.put("src", pairs=((1, 7),))
    yield case, case.put("dst", pairs=((1, 7),))


@breaks(rules.FreeSize)
def _(rule: rules.FreeSize, isa: Instruction, case: Case) -> Pairs:
    for role in roles_of(rule, case):
        size = tile_of(case, role).free
        if rule.at_most is not None:
            limit = rules.limit_at(rule.at_most, None)
            yield case.put(role, pairs=((1, limit),)), case.put(role, pairs=((1, limit + 1),))
        else:
            yield case, case.put(role, pairs=((1, size + 1),))
            yield case, case.put(role, pairs=((1, max(1, size - 1)),))


@breaks(rules.PartitionCount)
def _(rule: rules.PartitionCount, isa: Instruction, case: Case) -> Pairs:
    for role in roles_of(rule, case):
        yield case, case.put(role, partitions=((1, rule.exactly + 1),))


@breaks(rules.Dimensions)
def _(rule: rules.Dimensions, isa: Instruction, case: Case) -> Pairs:
    for role in roles_of(rule, case):
        pairs = tile_of(case, role).pairs
        fits = ((1, 1),) * (rule.at_most - 1 - len(pairs)) + pairs
        yield case.put(role, pairs=fits), case.put(role, pairs=((1, 1), *fits))


@breaks(rules.FreeLimit)
def _(rule: rules.FreeLimit, isa: Instruction, case: Case) -> Pairs:
    small = case.size(p=1)
    limit = rule.sbuf // 3 if isa.name == "bn_aggr" else rule.sbuf
    yield small.size(1, limit), small.size(1, limit + 1)
    yield small, small.size(1, limit + 1)
    for role in roles_of(rule, case):
        inside, beyond = small.size(1, rule.psum), small.size(1, rule.psum + 1)
        yield inside.put(role, space=PSUM), beyond.put(role, space=PSUM)


@breaks(rules.StepRange)
def _(rule: rules.StepRange, isa: Instruction, case: Case) -> Pairs:
    for role in roles_of(rule, case):
        half = tile_of(case, role).free // 2
        for inside, beyond in ((32767, 32768), (-32768, -32769)):
            pairs = [(((step, 2), (1, half)) if half else ((step, 2),)) for step in (inside, beyond)]
            start = 32768 * 2 if inside < 0 else 0
            yield case.put(role, pairs=pairs[0], offset=start), case.put(role, pairs=pairs[1], offset=start)


@breaks(rules.VectorOrTile)
def _(rule: rules.VectorOrTile, isa: Instruction, case: Case) -> Pairs:
    yield case, case.put(rule.role, pairs=((1, 4),))
    yield case.put(rule.role, pairs=((1, 1),)), case.put(rule.role, pairs=((1, 2),))


@breaks(rules.DistinctDestination)
def _(rule: rules.DistinctDestination, isa: Instruction, case: Case) -> Pairs:
    for role in roles_of(rule, case):
        free = tile_of(case, role).free
        yield case.put(role, pairs=((0, 1), (1, free))), case.put(role, pairs=((0, free),))


# Element types ---------------------------------------------------------------------------------------------------


@breaks(rules.DtypeIn)
def _(rule: rules.DtypeIn, isa: Instruction, case: Case) -> Pairs:
    for role in rule.roles:
        operand = case.roles.get(role)
        for dtype in Dtype:
            if dtype in rule.allowed(None) or operand is None:
                continue
            if isinstance(operand, Tile):
                yield case, with_dtype(isa, case, role, dtype)
            elif isinstance(operand, Number) and dtype.may_be_immediate and not dtype.is_integer:
                yield case, case.give(role, operand._replace(dtype=dtype))


@breaks(rules.DtypeAvailable)
def _(rule: rules.DtypeAvailable, isa: Instruction, case: Case) -> Pairs:
    for role in case.tiles():
        for dtype in (Dtype.F8E3, Dtype.F8E8M0FNU, Dtype.F8E5M2_X4):
            changed = with_dtype(isa, case, role, dtype)
            for other in ("dst", "src", "stationary", "moving"):
                both = changed.put(other, dtype=dtype) if isinstance(case.roles.get(other), Tile) else changed
                yield case, both
    if isa.name == "matmul":
        yield case, case.put("stationary", dtype=Dtype.F8E3).put("moving", dtype=Dtype.F8E3)


@breaks(rules.SameDtype)
def _(rule: rules.SameDtype, isa: Instruction, case: Case) -> Pairs:
    legal = case
    if rule.when:
        legal = case.size(f=32).set(**{rule.when: True}).put("dst", dtype=Dtype.BF16)
    for role, dtype in product(roles_of(rule, legal), (Dtype.BF16, Dtype.F16, F32)):
        if dtype is not tile_of(legal, role).dtype:
            yield legal, legal.put(role, dtype=dtype)


@breaks(rules.PsumDtype)
def _(rule: rules.PsumDtype, isa: Instruction, case: Case) -> Pairs:
    for role, dtype in product(roles_of(rule, case), Dtype):
        if dtype.size != 4 and dtype not in rule.extra:
            yield case.put(role, space=PSUM), with_dtype(isa, case, role, dtype).put(role, space=PSUM)


@breaks(rules.ElementSize)
def _(rule: rules.ElementSize, isa: Instruction, case: Case) -> Pairs:
    for role in roles_of(rule, case):
        yield case, with_dtype(isa, case, role, Dtype.I64)


@breaks(rules.Unpacked)
def _(rule: rules.Unpacked, isa: Instruction, case: Case) -> Pairs:
    for role in roles_of(rule, case):
        yield case.put(role, dtype=Dtype.F8E5) if role != "operand0" else case, case.put(role, dtype=Dtype.F8E5M2_X4)


@breaks(rules.PackedCopy)
def _(rule: rules.PackedCopy, isa: Instruction, case: Case) -> Pairs:
    packed = case
    for role in rule.roles:
        packed = packed.put(role, dtype=Dtype.F8E5M2_X4)
    for role in rule.roles:
        yield packed, packed.put(role, dtype=Dtype.F8E4M3FN_X4)
        yield case, case.put(role, dtype=Dtype.F8E5M2_X4)


@breaks(rules.DmaCast)
def _(rule: rules.DmaCast, isa: Instruction, case: Case) -> Pairs:
    yield from _packed_or_wide(case, rule.roles)
    hwdge = case.set(dge_type=DgeType.HWDGE)
    yield hwdge, hwdge.put("src", dtype=Dtype.BF16)


def _packed_or_wide(case: Case, roles: tuple[str, ...]) -> Pairs:
    packed = case
    for role in roles:
        packed = packed.put(role, dtype=Dtype.F8E5M2_X4)
    yield packed, packed.put("src", dtype=F32)


@breaks(rules.VectorDtype)
def _(rule: rules.VectorDtype, isa: Instruction, case: Case) -> Pairs:
    for role in rule.vectors:
        if isinstance(case.roles.get(role), Tile):
            yield case, case.put(role, dtype=Dtype.BF16)
            exact = case.integers()
            yield exact, exact.put("dst", dtype=F32)


@breaks(rules.FloatScalar)
def _(rule: rules.FloatScalar, isa: Instruction, case: Case) -> Pairs:
    if isinstance(case.roles[rule.immediate], Number):
        yield case, case.give(rule.immediate, Number(1, I32))


@breaks(rules.ImmediateFits)
def _(rule: rules.ImmediateFits, isa: Instruction, case: Case) -> Pairs:
    if not isinstance(case.roles[rule.immediate], Number):
        return
    bytes_ = case.put(rule.role, dtype=Dtype.U8)
    for legal, illegal in ((Number(255, I32), Number(256, I32)), (Number(2.0), Number(2.5))):
        yield bytes_.give(rule.immediate, legal), bytes_.give(rule.immediate, illegal)
    packed = case.put(rule.role, dtype=Dtype.F8E5M2_X4)
    yield packed.give(rule.immediate, Number(0.0)), packed.give(rule.immediate, Number(1.0))


# Engines and operators -------------------------------------------------------------------------------------------


@breaks(rules.OnEngine)
def _(rule: rules.OnEngine, isa: Instruction, case: Case) -> Pairs:
    wrong = sorted(set(Engine) - rule.engines - {Engine.ALL, Engine.UNASSIGNED})
    for engine in wrong:
        yield case.set(engine=min(rule.engines)), case.set(engine=engine)
    for engine in sorted(rule.engines | {Engine.ALL, Engine.UNASSIGNED}):
        yield case.set(engine=engine), case.set(engine=wrong[0])


@breaks(rules.NotInPsumOn)
def _(rule: rules.NotInPsumOn, isa: Instruction, case: Case) -> Pairs:
    for role in roles_of(rule, case):
        yield case.set(engine=rule.engine), case.set(engine=rule.engine).put(role, space=PSUM)


@breaks(rules.NotBothPsum)
def _(rule: rules.NotBothPsum, isa: Instruction, case: Case) -> Pairs:
    found = roles_of(rule, case)
    if len(found) > 1:
        one = case.put(found[0], space=PSUM)
        yield one, one.put(found[1], space=PSUM)


@breaks(rules.OpNotInPsum)
def _(rule: rules.OpNotInPsum, isa: Instruction, case: Case) -> Pairs:
    for op, role in product(rule.ops, roles_of(rule, case)):
        legal = case.set(**{rule.parameters[0]: op})
        yield legal, legal.put(role, space=PSUM)


@breaks(rules.OpIn)
def _(rule: rules.OpIn, isa: Instruction, case: Case) -> Pairs:
    members: list[Any] = list(type(next(iter(rule.ops))))
    for name, member in product(rule.parameters, members):
        if name in case.parameters and member not in rule.ops:
            yield case, case.set(**{name: member})


@breaks(rules.OpAvailable)
def _(rule: rules.OpAvailable, isa: Instruction, case: Case) -> Pairs:
    for name, op in product(rule.parameters, AluOp):
        if op.since > TARGETS[0]:
            yield case, case.set(**{name: op})


@breaks(rules.SameOpClass)
def _(rule: rules.SameOpClass, isa: Instruction, case: Case) -> Pairs:
    first, second = rule.parameters
    bits = case.integers(**{first: AluOp.BITWISE_AND, second: AluOp.BITWISE_OR})
    yield bits, bits.set(**{second: AluOp.ADD})
    yield bits, bits.set(**{first: AluOp.ADD})


@breaks(rules.BitwiseOnIntegers)
def _(rule: rules.BitwiseOnIntegers, isa: Instruction, case: Case) -> Pairs:
    bits = case.integers(**dict.fromkeys(rule.parameters, AluOp.BITWISE_OR))
    for role in rule.roles:
        if isinstance(bits.roles.get(role), Tile):
            yield bits, bits.put(role, dtype=F32)
        elif role in bits.roles:
            yield bits, bits.give(role, Number(2.0))


@breaks(rules.OpOnEngines)
def _(rule: rules.OpOnEngines, isa: Instruction, case: Case) -> Pairs:
    legal = min(rule.engines & isa.engines)
    for op, engine in product(sorted(rule.ops), isa.engines - rule.engines):
        chosen = case.set(**{rule.parameter: op})
        if isinstance(op, AluOp) and op.is_bitwise:
            chosen = chosen.integers()
        if rule.parameter == "op0":
            chosen = chosen.drop("op1", "operand1", *(("operand0",) if op.is_unary else ()))
        if rule.parameter == "op1":
            chosen = chosen.set(op0=AluOp.BYPASS).drop("operand0", *(("operand1",) if op.is_unary else ()))
        yield chosen.set(engine=legal), chosen.set(engine=engine)


@breaks(rules.OpPairsOn)
def _(rule: rules.OpPairsOn, isa: Instruction, case: Case) -> Pairs:
    on = case.set(engine=rule.engine)
    yield on.set(op0=AluOp.MULT, op1=AluOp.ADD), on.set(op0=AluOp.ADD, op1=AluOp.MULT)
    yield on.set(op0=AluOp.MULT).drop("op1", "operand1"), on.set(op0=AluOp.MAX).drop("op1", "operand1")


@breaks(rules.EngineSince)
def _(rule: rules.EngineSince, isa: Instruction, case: Case) -> Pairs:
    yield case, case.set(engine=rule.engine)


@breaks(rules.OperandOfOp)
def _(rule: rules.OperandOfOp, isa: Instruction, case: Case) -> Pairs:
    yield case, case.drop(rule.operand)
    unary = case.set(**{rule.parameter: AluOp.ABS})
    yield unary.drop(rule.operand), unary
    yield unary.give(rule.operand, Number(0.0)), unary.give(rule.operand, Number(1.0))


@breaks(rules.NeedsTile)
def _(rule: rules.NeedsTile, isa: Instruction, case: Case) -> Pairs:
    yield case, case.drop(rule.role)
    yield case, case.give(rule.role, Number(1.0))


@breaks(rules.ArithmeticOnly)
def _(rule: rules.ArithmeticOnly, isa: Instruction, case: Case) -> Pairs:
    bits = case.integers(**{rule.parameter: AluOp.BITWISE_OR})
    yield bits, bits.set(**{rule.flag: True})
    yield case.set(**{rule.flag: True}), bits.set(**{rule.flag: True})


@breaks(rules.Together)
def _(rule: rules.Together, isa: Instruction, case: Case) -> Pairs:
    if isa.name == "matmul":
        case = case.set(tile_position=(0, 0), tile_size=(128, 128))
    for name in rule.names:
        yield case.drop(*rule.names), case.drop(name)


@breaks(rules.Requires)
def _(rule: rules.Requires, isa: Instruction, case: Case) -> Pairs:
    if rule.name in case.roles:
        yield case, case.drop(*rule.needs)


@breaks(rules.ValueIn)
def _(rule: rules.ValueIn, isa: Instruction, case: Case) -> Pairs:
    yield case.set(**{rule.parameter: 3}), case.set(**{rule.parameter: 4})


@breaks(rules.SinceTarget)
def _(rule: rules.SinceTarget, isa: Instruction, case: Case) -> Pairs:
    yield case, case


@breaks(rules.SinceValue)
def _(rule: rules.SinceValue, isa: Instruction, case: Case) -> Pairs:
    if rule.value is MatmultPerfMode.DOUBLE_ROW:
        yield case, double_row(case)
    else:
        yield case, case.set(**{rule.parameter: 0 if rule.value is None else rule.value})


@breaks(rules.PatternCovers)
def _(rule: rules.PatternCovers, isa: Instruction, case: Case) -> Pairs:
    free = tile_of(case, rule.role).free
    yield case, case.set(**{rule.parameter: ((1, free + 1),)})
    ones = ((1, 1),) * (rule.at_most - 1)
    full = (*ones, (1, free))
    yield case.set(**{rule.parameter: full}), case.set(**{rule.parameter: ((1, 1), *full)})


@breaks(rules.ReducedShape)
def _(rule: rules.ReducedShape, isa: Instruction, case: Case) -> Pairs:
    free = tile_of(case, rule.result).free
    yield case, case.put(rule.result, pairs=((1, free + 1),))
    dims = len(tile_of(case, rule.data).pairs)
    axes = (AxisList.X, AxisList.XY, AxisList.XYZ, AxisList.XYZW)
    whole = case.put(rule.result, pairs=((1, 1),)).set(axis=axes[dims - 1])
    yield whole, whole.set(axis=axes[dims])


# Registers -------------------------------------------------------------------------------------------------------


@breaks(rules.OneElement)
def _(rule: rules.OneElement, isa: Instruction, case: Case) -> Pairs:
    for role in roles_of(rule, case):
        yield case, case.put(role, pairs=((1, 2),))
        yield case, case.put(role, partitions=((1, 2),))


@breaks(rules.RegisterNumber)
def _(rule: rules.RegisterNumber, isa: Instruction, case: Case) -> Pairs:
    yield case.give(rule.role, Number(2.0)), case.give(rule.role, Number(2.5))
    for legal, illegal in ((2**32 - 1, 2**32), (-(2**31), -(2**31) - 1)):
        yield (
            case.give(rule.role, Number(legal, Dtype.I64)),
            case.give(rule.role, Number(illegal, Dtype.I64)),
        )


@breaks(rules.ComparisonForm)
def _(rule: rules.ComparisonForm, isa: Instruction, case: Case) -> Pairs:
    number, register = Number(1, I32), Register()
    if case.parameters[rule.parameter] is not BranchCompareOp.ALWAYS:
        yield case, case.give(rule.right, number if isinstance(case.roles[rule.right], Register) else register)
        yield case, case.set(**{rule.parameter: BranchCompareOp.ALWAYS})


# Rules of one instruction ----------------------------------------------------------------------------------------


@breaks(activation.ImmediateBias)
def _(rule: activation.ImmediateBias, isa: Instruction, case: Case) -> Pairs:
    if isinstance(case.roles["bias"], Number):
        yield case.set(func=ActivationFunction.RECIPROCAL), case.set(func=ActivationFunction.EXP)


@breaks(activation.BiasOfReciprocal)
def _(rule: activation.BiasOfReciprocal, isa: Instruction, case: Case) -> Pairs:
    yield case, case.set(func=ActivationFunction.RECIPROCAL)


@breaks(matmul.MatmulShape)
def _(rule: matmul.MatmulShape, isa: Instruction, case: Case) -> Pairs:
    for role in ("stationary", "moving"):
        yield case, case.put(role, partitions=((1, 16),))
    yield case, case.put("dst", pairs=((1, 9),))
    yield case, case.put("dst", partitions=((1, 9),))
    yield case, case.put("moving", pairs=((1, 9),))


@breaks(matmul.TileSize)
def _(rule: matmul.TileSize, isa: Instruction, case: Case) -> Pairs:
    if rule.role == "stationary":
        inside, beyond = (
            case.put("stationary", pairs=((1, count),)).put("dst", partitions=((1, count),)) for count in (128, 129)
        )
        yield inside, beyond
        return
    for limit in sorted({rules.limit_at(rule.at_most, target) for target in TARGETS}):
        yield _columns(case, limit), _columns(case, limit + 1)
    if rule.bf16 is not None:
        limit = rules.limit_at(rule.bf16, None)
        half = case.put("dst", dtype=Dtype.BF16)
        yield _columns(half, limit), _columns(half, limit + 1)


def _columns(case: Case, count: int) -> Case:
    return case.put("moving", pairs=((1, count),)).put("dst", pairs=((1, count),))


@breaks(matmul.InputDtype)
def _(rule: matmul.InputDtype, isa: Instruction, case: Case) -> Pairs:
    moved = case.size(f=32).set(is_transpose=True)
    for dtype in (I32, Dtype.U16):
        for role in ("stationary", "moving"):
            yield case, case.put(role, dtype=dtype)
        data = moved
        for role in ("stationary", "moving", "dst"):
            data = data.put(role, dtype=dtype)
        yield data, data.set(is_transpose=False)


@breaks(matmul.EqualWidths)
def _(rule: matmul.EqualWidths, isa: Instruction, case: Case) -> Pairs:
    yield case.put("moving", dtype=Dtype.F16), case.put("moving", dtype=F32)
    yield case.put("stationary", dtype=F32).put("moving", dtype=Dtype.F32R), case.put("stationary", dtype=F32)
    fp8 = case.put("stationary", dtype=Dtype.F8E4)
    yield fp8.put("moving", dtype=Dtype.F8E5), fp8.put("moving", dtype=Dtype.F8E4M3FN)


@breaks(matmul.ResultDtype)
def _(rule: matmul.ResultDtype, isa: Instruction, case: Case) -> Pairs:
    if rule.transpose:
        moved = case.size(f=32).set(is_transpose=True).put("dst", dtype=Dtype.BF16)
        yield moved, moved.put("dst", dtype=F32)
        return
    yield case, case.put("dst", dtype=Dtype.F16)
    yield case, case.put("dst", dtype=I32)


@breaks(matmul.TransposeStart)
def _(rule: matmul.TransposeStart, isa: Instruction, case: Case) -> Pairs:
    moved = case.size(f=32).set(is_transpose=True).put("dst", dtype=Dtype.BF16)
    yield moved, moved.put("dst", partition=32)


def double_row(case: Case) -> Case:
    """A legal matmul of fp8 in double-row mode."""
    case = case.set(perf_mode=MatmultPerfMode.DOUBLE_ROW)
    for role in ("stationary", "moving"):
        case = case.put(role, pairs=((8, 2), (1, 8)), dtype=Dtype.F8E4)
    return case


@breaks(matmul.DoubleRow)
def _(rule: matmul.DoubleRow, isa: Instruction, case: Case) -> Pairs:
    double = double_row(case)
    yield double, double.put("moving", dtype=Dtype.BF16)
    yield double, double.put("stationary", pairs=((1, 16),))
    yield double, double.put("stationary", pairs=((4, 4), (1, 4)))
    tiled = double.set(tile_position=(0, 0), tile_size=(64, 128))
    yield tiled, tiled.set(tile_size=(64, 64))
    yield double, double.set(is_transpose=True).put("dst", dtype=Dtype.BF16)


@breaks(matmul.TileSizes)
def _(rule: matmul.TileSizes, isa: Instruction, case: Case) -> Pairs:
    def of(rows: int, columns: int) -> Case:
        return case.set(tile_position=(0, 0), tile_size=(rows, columns))

    yield of(128, 128), of(16, 128)
    yield of(64, 64), of(64, 96)


@breaks(matmul.TilePosition)
def _(rule: matmul.TilePosition, isa: Instruction, case: Case) -> Pairs:
    def at(row: int, column: int, rows: int, columns: int) -> Case:
        return case.set(tile_position=(row, column), tile_size=(rows, columns))

    yield at(32, 64, 32, 64), at(16, 64, 32, 64)
    yield at(64, 0, 64, 128), at(128, 0, 64, 128)
    big = case.size(p=64).set(tile_position=(0, 0), tile_size=(64, 128))
    yield big, big.set(tile_size=(32, 128))
    low = at(32, 0, 32, 128).put("stationary", partition=32)
    yield low, low.set(tile_position=(0, 0))
    yield at(0, 0, 32, 64), at(0, 0, 32, 32)  # on gen2
    yield at(0, 64, 64, 32), at(0, 96, 64, 32)
    yield at(0, 0, 128, 128), case.set(tile_position=(0, 0), tile_size=(128,))


@breaks(matmul.TransposeLimits)
def _(rule: matmul.TransposeLimits, isa: Instruction, case: Case) -> Pairs:
    vector = case.set(engine=Engine.DVE)
    yield vector.size(32, 32), vector.size(33, 32)
    yield vector.size(32, 32), vector.size(32, 33)
    if Engine.PE in isa.engines:
        tensor = case.set(engine=Engine.PE).put("dst", space=PSUM)
        yield tensor, tensor.put("dst", space=SBUF)
        yield tensor, tensor.put("data", space=PSUM)
        yield case.size(32, 128), case.size(32, 129)


@breaks(matmul.TransposedShape)
def _(rule: matmul.TransposedShape, isa: Instruction, case: Case) -> Pairs:
    yield case, case.put("dst", partitions=((1, 9),))
    yield case, case.put("dst", pairs=((1, 31),))


# The matrix ------------------------------------------------------------------------------------------------------

Sample = tuple[Case, Case, Target | None]


def holds(isa: Instruction, cls: type[InstructionOp], case: Case, extra: dict[str, Attribute]) -> bool:
    """Whether an op of the class can be the case, and is then the instruction."""
    return expressible(cls, case, extra) and op_of(cls, case, None, extra).descriptor() is isa


def reference_class(isa: Instruction, case: Case) -> tuple[type[InstructionOp], dict[str, Attribute]] | None:
    """A class that can hold the case."""
    for cls, extra in classes_of(isa):
        if holds(isa, cls, case, extra):
            return cls, extra
    return None


@cache
def _classes() -> dict[str, list[tuple[type[InstructionOp], dict[str, Attribute]]]]:
    found: dict[str, list[tuple[type[InstructionOp], dict[str, Attribute]]]] = {name: [] for name in INSTRUCTIONS}
    for cls in op_classes():
        if cls.ISA is not None:
            found[cls.ISA.name].append((cls, {}))
        for name, fields in VARIANTS.get(cls.name, {}).items():
            found[name].append((cls, {key: attribute(value) for key, value in fields.items()}))
    return found


def classes_of(isa: Instruction) -> list[tuple[type[InstructionOp], dict[str, Attribute]]]:
    """The classes that stand for an instruction, and the properties they then have."""
    return _classes()[isa.name]


def targets_of(rule: Rule) -> list[Target | None]:
    """The targets at which to look for a case: those for which the rule holds."""
    return [target for target in (None, *reversed(TARGETS)) if rule.applies(target)]


@cache
def samples(name: str, number: int) -> tuple[list[Sample], list[Sample]]:
    """The cases for a rule of an instruction: those that break it alone, and those that break it with others."""
    isa = INSTRUCTIONS[name]
    rule = isa.rules[number]
    alone: list[Sample] = []
    together: list[Sample] = []
    for example in examples(isa):
        for legal, illegal in BREAKERS[type(rule)](rule, isa, example):
            first, second = reference_class(isa, legal), reference_class(isa, illegal)
            if first is None or second is None:
                continue
            for target in targets_of(rule):
                fine = op_of(first[0], legal, target, first[1])
                broken = violated(isa, op_of(second[0], illegal, target, second[1]), target)
                if violated(isa, fine, target) or not any(found is rule for found in broken):
                    continue
                (alone if len(broken) == 1 else together).append((legal, illegal, target))
                break
    return alone, together


ROWS = [
    pytest.param(isa, number, id=f"{isa.name}-{type(rule).__name__}-{rule.identifier}-{number}")
    for isa in INSTRUCTIONS.values()
    for number, rule in enumerate(isa.rules)
]


def test_every_instruction_has_examples_and_ops() -> None:
    assert set(EXAMPLES) == set(INSTRUCTIONS)
    rows = {key for row in ROWS for key in [(row.values[0].name, described(row.values[0].rules[row.values[1]]))]}
    assert set(NOT_ALONE) | set(NEVER) <= rows
    for isa in INSTRUCTIONS.values():
        assert classes_of(isa), f"no op is {isa.name}"
        for cls, extra in classes_of(isa):
            assert any(holds(isa, cls, example, extra) for example in examples(isa)), f"{cls.name} has no example"


def test_classes_that_stand_for_several_instructions_are_known() -> None:
    several = {cls.name for cls in op_classes() if cls.descriptor is not InstructionOp.descriptor}
    assert several == set(VARIANTS)


ABSENT = {
    "dma_load": {"klr"},
    "dma_save": {"klr"},
    "transpose": {"bir"},
    "stream_transpose": {"klr", "penguin"},
    "register_alu": {"penguin"},
    "register_store": {"penguin"},
    "compare_and_branch": {"penguin"},
}
"""The dialects that have no op of their own for an instruction."""


def test_every_instruction_is_an_op_of_each_dialect() -> None:
    """So a class that stands for one more instruction is not forgotten in `VARIANTS`, nor in the op reference."""
    for isa in INSTRUCTIONS.values():
        there = {cls.name.partition(".")[0] for cls, _ in classes_of(isa)}
        assert {"penguin", "klr", "bir"} - there == ABSENT.get(isa.name, set()), isa.name
    for name, instructions in VARIANTS.items():
        assert set(instructions) < set(ALTERNATIVES[name])


def test_every_rule_class_has_a_breaker() -> None:
    used = {type(rule) for isa in INSTRUCTIONS.values() for rule in isa.rules}
    named = {value for value in vars(rules).values() if isinstance(value, type) and issubclass(value, Rule)}
    abstract = {Rule, rules.RoleRule}
    assert set(BREAKERS) >= (used | named) - abstract


@pytest.mark.parametrize("isa", INSTRUCTIONS.values(), ids=lambda isa: isa.name)
def test_examples_verify(isa: Instruction) -> None:
    for example in examples(isa):
        for cls, extra in classes_of(isa):
            if holds(isa, cls, example, extra):
                assert message(op_of(cls, example, None, extra)) is None


def message(op: InstructionOp) -> str | None:
    """What is wrong with an op."""
    try:
        op.verify_()  # all but printing the module
    except VerifyException as error:
        return str(error)
    return None


@pytest.mark.parametrize("isa, number", ROWS)
def test_rule(isa: Instruction, number: int) -> None:
    rule = isa.rules[number]
    alone, together = samples(isa.name, number)
    key = isa.name, described(rule)
    assert (not alone and bool(together)) == (key in NOT_ALONE), f"{key}: with others {together[:1]}"
    assert (not alone and not together) == (key in NEVER), f"nothing breaks {rule}"
    identifiers = {rule.identifier} if alone else {other.identifier for other in isa.rules}
    for cls, extra in classes_of(isa):
        tried = [
            (legal, illegal, target)
            for legal, illegal, target in alone or together
            if holds(isa, cls, legal, extra) and holds(isa, cls, illegal, extra)
        ]
        missing = key not in NEVER and not tried
        assert missing == ((cls.name, rule.identifier) in NOT_IN_CLASS), f"{cls.name}, {rule}"
        for legal, illegal, target in tried:
            assert message(op_of(cls, legal, target, extra)) is None
            found = message(op_of(cls, illegal, target, extra))
            assert found is not None
            assert found.endswith("]")
            assert found[found.rindex("[") + 1 : -1] in identifiers, found


def described(rule: Rule) -> str:
    """The class of a rule and the roles or parameters that it looks at."""
    named = [getattr(rule, name, ()) for name in ("roles", "parameters", "parameter", "role")]
    words = [name for names in named for name in ([names] if isinstance(names, str) else names)]
    return " ".join([type(rule).__name__, *words])


@pytest.mark.parametrize(
    "isa, number",
    [row for row in ROWS if row.values[0].rules[row.values[1]].since or row.values[0].rules[row.values[1]].before],
)
def test_rules_of_some_generations(isa: Instruction, number: int) -> None:
    rule = isa.rules[number]
    alone, _ = samples(isa.name, number)
    seen: set[bool] = set()
    for target in (None, *TARGETS):
        applies = rule.before is None if target is None else rule.applies(target)
        if target is not None:
            assert applies == ((rule.since or TARGETS[0]) <= target and (rule.before is None or target < rule.before))
        for _, illegal, _ in alone:
            cls, extra = reference_class(isa, illegal) or (None, None)
            assert cls is not None
            op = op_of(cls, illegal, target, extra)
            assert any(found is rule for found in violated(isa, op, target)) == applies
            seen.add(applies)
    assert seen == {True, False}

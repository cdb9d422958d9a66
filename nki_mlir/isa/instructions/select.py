"""Position and selection: iota, affine select, select, predicated copy."""

from collections.abc import Callable, Mapping
from typing import Any

from nki_mlir.isa.dtypes import Dtype
from nki_mlir.isa.enums import AluOp, Engine, MemorySpace
from nki_mlir.isa.instructions.base import (
    MINIMUM_CYCLES,
    Array,
    Evaluation,
    Instruction,
    Run,
    Spread,
    both_in_sbuf,
    by_element,
    elements,
    fp32,
    free_of,
    gpsimd,
    like,
)
from nki_mlir.isa.lazy import numpy as np
from nki_mlir.isa.numerics import alu, constant, writer
from nki_mlir.isa.operands import Operands
from nki_mlir.isa.rules import (
    DistinctDestination,
    DtypeIn,
    FloatScalar,
    FreeSize,
    ImmediateFits,
    NotBothPsum,
    OpIn,
    PatternCovers,
    SameDtype,
    SameFree,
    SamePartitions,
    Unpacked,
    VectorOrTile,
    destinations,
    on_chip,
)
from nki_mlir.isa.target import Target

INTEGERS = frozenset(d for d in Dtype if d.is_integer and d.size <= 4)
COMPARISONS = frozenset({AluOp.IS_GT, AluOp.IS_GE, AluOp.IS_EQUAL, AluOp.NOT_EQUAL, AluOp.IS_LT, AluOp.IS_LE})


def positions(e: Evaluation, partitions: int) -> Array:
    """Returns the [partitions, n] int32 values offset + partition * channel_multiplier + sum(index * step)."""
    free = np.zeros((1,), np.int64)
    for step, number in e.pattern:
        free = (free[:, None] + step * np.arange(number, dtype=np.int64)).reshape(-1)
    first = np.arange(partitions, dtype=np.int64) * (e.channel_multiplier or 0) + (e.offset or 0)
    return (first[:, None] + free).astype(np.int32)


def _iota(e: Evaluation) -> Run:
    write = writer(e.dtypes["dst"])

    def run(dst: Array) -> None:
        write(dst, positions(e, dst.shape[0]).reshape(dst.shape))

    return run


IOTA = Instruction(
    "iota",
    "dst = offset + partition * channel_multiplier + sum of index * step over the pattern, in int32",
    engines=frozenset({Engine.POOL, Engine.DVE}),
    roles="dst",
    outs=1,
    parameters=("pattern", "offset", "channel_multiplier", "engine"),
    rules=(
        *on_chip("dst", spaces=(MemorySpace.SBUF,)),
        DistinctDestination(roles=("dst",)),
        PatternCovers(parameter="pattern", role="dst"),
        Unpacked(roles=("dst",)),
    ),
    evaluate=_iota,
    cycles=gpsimd("dst"),
)


def _holds(e: Evaluation, dst: Array) -> Array:
    """Returns the booleans that tell where an affine select takes on_true."""
    compare = alu(e.cmp_op or AluOp.IS_EQUAL)
    return (compare(positions(e, dst.shape[0]), np.float32(0)) != 0).reshape(dst.shape)


def _branch(e: Evaluation, role: str) -> Callable[[Array, Any], Any]:
    """Returns f(dst, operand), an operand of a choice as dst's type has it: as it is if it has that type, else cast."""
    dtype = e.dtypes["dst"]
    same, write = e.dtypes[role] is dtype, writer(dtype)

    def in_type(dst: Array, operand: Any) -> Any:
        if not hasattr(operand, "shape"):
            return constant(dtype, float(operand))
        values = like(dst, operand)
        if same:
            return values
        result = np.empty(values.shape, dst.dtype)
        write(result, fp32(values))
        return result

    return in_type


def _affine_select(e: Evaluation) -> Run:
    branch, other = _branch(e, "on_true"), _branch(e, "on_false")

    def run(dst: Array, on_true: Array, on_false: Any) -> None:
        dst[...] = np.where(_holds(e, dst), branch(dst, on_true), other(dst, on_false))

    return run


def _selected(e: Evaluation) -> Spread:
    """What on_false replaces does not matter."""

    def spread(states: Mapping[str, Array], out: Array) -> Array:
        np.copyto(out, like(out, states["on_true"]), where=_holds(e, out))
        return out

    return spread


AFFINE_SELECT = Instruction(
    "affine_select",
    "dst = on_true where the affine value of the position compares true with 0, else the number on_false",
    engines=frozenset({Engine.POOL, Engine.DVE}),
    roles="dst on_true on_false",
    outs=1,
    parameters=("pattern", "offset", "channel_multiplier", "cmp_op", "engine"),
    rules=(
        *on_chip("dst", "on_true", spaces=(MemorySpace.SBUF,)),
        DistinctDestination(roles=("dst",)),
        SamePartitions(roles=("dst", "on_true")),
        SameFree(roles=("dst", "on_true")),
        PatternCovers(parameter="pattern", role="dst"),
        OpIn(parameters=("cmp_op",), ops=COMPARISONS),
        Unpacked(roles=("dst", "on_true")),
    ),
    evaluate=_affine_select,
    cycles=gpsimd("dst"),
    spread=_selected,
)


def _select(e: Evaluation) -> Run:
    first, second = _branch(e, "on_true"), _branch(e, "on_false")

    def run(dst: Array, predicate: Array, on_true: Any, on_false: Any) -> None:
        dst[...] = np.where(like(dst, predicate) != 0, first(dst, on_true), second(dst, on_false))

    return run


SELECT = Instruction(
    "select",
    "dst = on_true where predicate is not 0, else on_false",
    engines=frozenset({Engine.DVE}),
    roles="dst predicate on_true on_false",
    outs=1,
    parameters=("engine",),
    rules=(
        *on_chip("dst", "predicate", "on_true", "on_false"),
        *destinations("dst"),
        SamePartitions(roles=("dst", "predicate", "on_true", "on_false")),
        SameFree(roles=("dst", "predicate", "on_true")),
        VectorOrTile(role="on_false", like="dst"),
        NotBothPsum(roles=("predicate", "on_true")),
        Unpacked(roles=("dst", "predicate", "on_true", "on_false")),
    ),
    evaluate=_select,
    cycles=elements("dst", factor=2),
    spread=by_element,
)


SELECT_REDUCE = (
    DtypeIn(roles=("predicate",), dtypes=frozenset({Dtype.I8, Dtype.U8, Dtype.I16, Dtype.U16})),
    DtypeIn(
        roles=("on_true",),
        dtypes=frozenset(d for d in Dtype if d.lanes == 1 and d.size <= 4) - {Dtype.I32, Dtype.U32, Dtype.F32R},
    ),
    DtypeIn(roles=("on_false",), dtypes=frozenset({Dtype.F32})),
    FreeSize(roles=("on_false",), exactly=1),
    OpIn(parameters=("reduce_op",), ops=frozenset({AluOp.MAX})),
)
"""What the API's select_reduce takes (nki-isa.md §2.5), which is less than the dialects' select; other functions of the
API are made of that too."""


def _copy_predicated(e: Evaluation) -> Run:
    dtype, reverse = e.dtypes["dst"], bool(e.reverse_pred)

    def run(dst: Array, src: Any, predicate: Array) -> Array:
        holds = like(dst, predicate) == 0 if reverse else like(dst, predicate) != 0
        value = like(dst, src) if hasattr(src, "shape") else constant(dtype, src)
        np.copyto(dst, value, where=holds)
        return holds

    return run


def _copy_predicated_cycles(operands: Operands, target: Target) -> int:
    passes = 2 if both_in_sbuf(operands, "src", "predicate") else 1
    return max(MINIMUM_CYCLES, passes * free_of(operands, "dst"))


COPY_PREDICATED = Instruction(
    "copy_predicated",
    "dst = src where predicate is not 0 (is 0 with reverse_pred); other elements keep their value",
    engines=frozenset({Engine.DVE}),
    roles="dst src predicate",
    outs=1,
    parameters=("reverse_pred", "engine"),
    rules=(
        *on_chip("dst", "src", "predicate"),
        *destinations("dst"),
        SamePartitions(roles=("dst", "src", "predicate")),
        SameFree(roles=("dst", "src", "predicate")),
        SameDtype(roles=("dst", "src")),
        ImmediateFits(immediate="src", role="dst", id="X-SCALARDT"),
        FloatScalar(immediate="src", role="dst"),
        DtypeIn(roles=("predicate",), dtypes=INTEGERS),
        NotBothPsum(roles=("src", "predicate")),
    ),
    evaluate=_copy_predicated,
    cycles=_copy_predicated_cycles,
    spread=by_element,
)

"""Reductions: over free dimensions, over partitions, and the two batch-norm statistics instructions."""

from collections.abc import Mapping
from typing import Any

from nki_mlir.isa.dtypes import Dtype
from nki_mlir.isa.enums import AluOp, AxisList, Engine, MemorySpace
from nki_mlir.isa.instructions.base import (
    MINIMUM_CYCLES,
    Array,
    Evaluation,
    Instruction,
    Run,
    Spread,
    all_bf16,
    by_partition,
    elements,
    fp32,
    free_of,
    gpsimd,
    half,
)
from nki_mlir.isa.lazy import numpy as np
from nki_mlir.isa.numerics import alu_reduce, integer_alu, writer
from nki_mlir.isa.operands import Operands
from nki_mlir.isa.rules import (
    ArithmeticOnly,
    BitwiseOnIntegers,
    DistinctDestination,
    FreeSize,
    OpIn,
    OpOnEngines,
    PartitionCount,
    ReducedShape,
    SameFree,
    SamePartitions,
    Unpacked,
    destinations,
    on_chip,
)
from nki_mlir.isa.target import Target

BITWISE = frozenset(op for op in AluOp if op.is_bitwise)
REDUCING = frozenset(op for op in AluOp if op.reduces)
FREE_AXES = {AxisList.X: 1, AxisList.XY: 2, AxisList.XYZ: 3, AxisList.XYZW: 4}


def _bitwise_reduce(op: AluOp, dtype: Dtype, data: Array, axes: tuple[int, ...]) -> Array:
    """Folds a bitwise operator over axes of an integer array, one axis after the other."""
    function = integer_alu(op, dtype)
    for axis in sorted(axes, reverse=True):
        parts = [data.take(k, axis) for k in range(data.shape[axis])]
        result = parts[0]
        for part in parts[1:]:
            result = function(result, part)
        data = result
    return data


def _tensor_reduce(e: Evaluation) -> Run:
    op: AluOp = e.op
    count = FREE_AXES[e.axis]
    write, negate = writer(e.dtypes["dst"]), bool(e.negate)
    dtype = e.dtypes["data"]
    reduce: Any = None if op.is_bitwise else alu_reduce(op)

    def run(dst: Array, data: Array) -> None:
        axes = tuple(range(data.ndim - count, data.ndim))
        if reduce is None:
            write(dst, _bitwise_reduce(op, dtype, data, axes).reshape(dst.shape))
            return
        result = reduce(fp32(data), axes)
        write(dst, (-result if negate else result).reshape(dst.shape))

    return run


def _tensor_reduce_spread(e: Evaluation) -> Spread:
    count = FREE_AXES[e.axis]

    def spread(states: Mapping[str, Array], out: Array) -> Array:
        data = states["data"]
        return data.min(axis=tuple(range(data.ndim - count, data.ndim))).reshape(out.shape)

    return spread


def _tensor_reduce_cycles(operands: Operands, target: Target) -> int:
    free = free_of(operands, "data")
    fast = operands.parameters.get("op") in (AluOp.ADD, AluOp.MAX) and all_bf16(operands, "dst", "data")
    return max(MINIMUM_CYCLES, half(free) if fast else free)


TENSOR_REDUCE = Instruction(
    "tensor_reduce",
    "dst = reduction of the innermost 1 to 4 free dimensions of data by op",
    engines=frozenset({Engine.DVE, Engine.POOL}),
    roles="dst data",
    outs=1,
    parameters=("op", "axis", "negate", "engine"),
    rules=(
        *on_chip("dst", "data"),
        *destinations("dst"),
        SamePartitions(roles=("dst", "data")),
        OpIn(parameters=("op",), ops=REDUCING),
        OpIn(parameters=("axis",), ops=frozenset(FREE_AXES), id="X-AXIS"),
        ReducedShape(result="dst", data="data"),
        BitwiseOnIntegers(parameters=("op",), roles=("dst", "data")),
        OpOnEngines(parameter="op", ops=BITWISE, engines=frozenset({Engine.DVE}), id="X-BITVEC"),
        ArithmeticOnly(flag="negate", parameter="op"),
        Unpacked(roles=("dst", "data")),
    ),
    evaluate=_tensor_reduce,
    cycles=_tensor_reduce_cycles,
    spread=_tensor_reduce_spread,
)

PARTITION_REDUCING = frozenset({AluOp.ADD, AluOp.MAX, AluOp.BITWISE_OR, AluOp.BITWISE_AND, AluOp.AVERAGE})


def _partition_reduce(e: Evaluation) -> Run:
    op: AluOp = e.op
    write, dtype = writer(e.dtypes["dst"]), e.dtypes["data"]
    if op.is_bitwise:

        def bitwise(dst: Array, data: Array) -> None:
            write(dst, _bitwise_reduce(op, dtype, data, (0,)).reshape(dst.shape))

        return bitwise
    reduce = alu_reduce(AluOp.ADD if op is AluOp.AVERAGE else op)

    def run(dst: Array, data: Array) -> None:
        # Partitions become the innermost dimension, so that the order of additions is that of a free reduction.
        result = reduce(fp32(data).reshape(data.shape[0], -1).T, (1,))
        if op is AluOp.AVERAGE:
            result = result / data.shape[0]
        write(dst, result.reshape(dst.shape))

    return run


PARTITION_REDUCE = Instruction(
    "partition_reduce",
    "dst = reduction of data over its partitions by op, one partition of results",
    engines=frozenset({Engine.POOL, Engine.DVE}),
    roles="dst data",
    outs=1,
    parameters=("op", "engine"),
    rules=(
        *on_chip("dst", "data", spaces=(MemorySpace.SBUF,)),
        DistinctDestination(roles=("dst",)),
        PartitionCount(roles=("dst",), exactly=1),
        SameFree(roles=("dst", "data")),
        OpIn(parameters=("op",), ops=PARTITION_REDUCING),
        BitwiseOnIntegers(parameters=("op",), roles=("dst", "data")),
        Unpacked(roles=("dst", "data")),
    ),
    evaluate=_partition_reduce,
    cycles=gpsimd("data"),
)

# Batch-norm statistics -------------------------------------------------------------------------------------------


def _statistics(x: Array) -> tuple[Any, Array, Array]:
    """Returns (count, mean, variance * count) of each row of a [P, N] fp32 array."""
    count = x.shape[1]
    if not count:
        zero = np.zeros(x.shape[0], np.float32)
        return np.float32(0), zero, zero
    mean = x.sum(axis=1, dtype=np.float32) / np.float32(count)
    deviation = x - mean[:, None]
    return np.float32(count), mean, (deviation * deviation).sum(axis=1, dtype=np.float32)


def _bn_stats(e: Evaluation) -> Run:
    write = writer(e.dtypes["dst"])

    def run(dst: Array, data: Array) -> None:
        x = fp32(data).reshape(data.shape[0], -1)
        result = np.empty((x.shape[0], 6), np.float32)
        for first in (0, 1):
            count, mean, spread = _statistics(np.ascontiguousarray(x[:, first::2]))
            result[:, 3 * first] = count
            result[:, 3 * first + 1] = mean
            result[:, 3 * first + 2] = spread
        write(dst, result.reshape(dst.shape))

    return run


BN_STATS = Instruction(
    "bn_stats",
    "dst = count, mean and variance * count of the even and of the odd elements of each partition",
    engines=frozenset({Engine.DVE, Engine.POOL}),
    roles="dst data",
    outs=1,
    parameters=("engine",),
    rules=(
        *on_chip("dst", "data"),
        *destinations("dst"),
        SamePartitions(roles=("dst", "data")),
        FreeSize(roles=("data",), at_most=512, id="X-BNSTATS"),
        FreeSize(roles=("dst",), exactly=6, id="X-BN6"),
        Unpacked(roles=("dst", "data")),
    ),
    evaluate=_bn_stats,
    cycles=elements("data"),
    spread=by_partition,
)


def _bn_aggr(e: Evaluation) -> Run:
    write = writer(e.dtypes["dst"])

    def run(dst: Array, data: Array) -> None:
        triples = fp32(data).reshape(data.shape[0], -1, 3)
        count, mean, spread = (np.ascontiguousarray(triples[:, :, k]) for k in range(3))
        total = count.sum(axis=1, dtype=np.float32)
        with np.errstate(divide="ignore", invalid="ignore"):
            average = (count * mean).sum(axis=1, dtype=np.float32) / total
            away = mean - average[:, None]
            variance = (spread + count * away * away).sum(axis=1, dtype=np.float32) / total
        write(dst, np.stack([average, variance], axis=1).reshape(dst.shape))

    return run


def _bn_aggr_cycles(operands: Operands, target: Target) -> int:
    return max(MINIMUM_CYCLES, 13 * free_of(operands, "data") // 3)


BN_AGGR = Instruction(
    "bn_aggr",
    "dst = mean and population variance of the (count, mean, variance * count) triples of each partition",
    engines=frozenset({Engine.DVE, Engine.POOL}),
    roles="dst data",
    outs=1,
    parameters=("engine",),
    rules=(
        *on_chip("dst", "data"),
        *destinations("dst"),
        SamePartitions(roles=("dst", "data")),
        FreeSize(roles=("data",), multiple_of=3, id="BIR226"),
        FreeSize(roles=("dst",), exactly=2, id="X-BN2"),
        Unpacked(roles=("dst", "data")),
    ),
    evaluate=_bn_aggr,
    cycles=_bn_aggr_cycles,
    spread=by_partition,
)

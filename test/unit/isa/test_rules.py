"""Each rule class on its own: what it allows at its boundary, and the exact message beyond."""

from typing import Any, ClassVar

import pytest

from nki_mlir.isa import rules
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
from nki_mlir.isa.instructions import INSTRUCTIONS
from nki_mlir.isa.instructions.activation import BiasOfReciprocal, ImmediateBias
from nki_mlir.isa.instructions.matmul import (
    DoubleRow,
    EqualWidths,
    InputDtype,
    MatmulShape,
    ResultDtype,
    TilePosition,
    TileSize,
    TileSizes,
    TransposedShape,
    TransposeLimits,
    TransposeStart,
)
from nki_mlir.isa.operands import Operand, Operands
from nki_mlir.isa.rules import Limit, Rule, by_identifier, check_all, limit_at
from nki_mlir.isa.rules.base import Parameters
from nki_mlir.isa.target import CAYMAN, CORE_V4, SUNDA, TARGETS, TONGA, Target

SBUF, PSUM, HBM = MemorySpace.SBUF, MemorySpace.PSUM, MemorySpace.HBM
F32, BF16, I32, U8, X4 = Dtype.F32, Dtype.BF16, Dtype.I32, Dtype.U8, Dtype.F8E5M2_X4


def at(**figures: Any) -> Operand:
    """An operand in SBUF with 32 partitions of 8 fp32 elements each."""
    base: dict[str, Any] = {"dtype": F32, "space": SBUF, "partitions": 32, "free": 8, "steps": (1,), "nums": (8,)}
    base |= {"partition_steps": (1,), "partition_nums": (figures.get("partitions", 32) or 1,)}
    if figures.get("space") is HBM:
        base |= {"partition_steps": (), "partition_nums": (), "partitions": 1}
    return Operand(**(base | figures))


def number(value: float, dtype: Dtype = F32) -> Operand:
    """An operand that is a number."""
    return Operand(dtype=dtype, immediate=value)


def given(**names: Any) -> Operands:
    """Roles (operands, or tuples of them) and parameters by name."""
    roles = {
        k: v
        for k, v in names.items()
        if isinstance(v, Operand) or (isinstance(v, tuple) and v and isinstance(v[0], Operand))
    }
    return Operands(roles, {k: v for k, v in names.items() if k not in roles})


Row = tuple[Rule, dict[str, Any], dict[str, Any], str]
"""A rule, what it just allows, what it just forbids, and the message."""

x = ("x",)
MEMORY: list[Row] = [
    (
        rules.InMemory(roles=x, spaces=(SBUF,)),
        {"x": at()},
        {"x": at(space=PSUM)},
        "x is in psum, it must be in sbuf",
    ),
    (
        rules.InMemory(roles=x, spaces=(SBUF, PSUM)),
        {"x": at(space=PSUM)},
        {"x": at(space=HBM)},
        "x is in hbm, it must be in sbuf or psum",
    ),
    (
        rules.InMemory(roles=x, spaces=(SBUF,)),
        {"x": number(1.0)},
        {"x": (at(), at(space=PSUM))},
        "x[1] is in psum, it must be in sbuf",
    ),
    (
        rules.PartitionLimit(roles=x),
        {"x": at(partitions=128)},
        {"x": at(partitions=129)},
        "x accesses 129 partitions, at most 128 allowed",
    ),
    (
        rules.ContiguousPartitions(roles=x),
        {"x": at(partition_steps=(1,))},
        {"x": at(partition_steps=(2,))},
        "x has partition step 2, only step 1 is allowed",
    ),
    (
        rules.ContiguousPartitions(roles=x),
        {"x": at(partitions=1, partition_steps=(4, 1), partition_nums=(1, 1))},
        {"x": at(partition_steps=(4, 1), partition_nums=(2, 4))},
        "x has 2 partition pairs, one is allowed",
    ),
    (
        rules.StartPartition(roles=x),
        {"x": at(partitions=32, start=96)},
        {"x": at(partitions=8, start=48)},
        "x accesses 8 partitions from partition 48, they must start at 0, 32, 64 or 96",
    ),
    (
        rules.StartPartition(roles=x),
        {"x": at(partitions=64, start=64)},
        {"x": at(partitions=33, start=32)},
        "x accesses 33 partitions from partition 32, they must start at 0 or 64",
    ),
    (
        rules.StartPartition(roles=x),
        {"x": at(partitions=128, start=0)},
        {"x": at(partitions=65, start=64)},
        "x accesses 65 partitions from partition 64, they must start at 0",
    ),
    (
        rules.StartPartition(roles=x),
        {"x": at(partitions=16, start=0, start_step=32)},
        {"x": at(partitions=16, start=0, start_step=16)},
        "x accesses 16 partitions from partition 0 in steps of 16, they must start at 0, 32, 64 or 96",
    ),
    (
        rules.StartPartition(roles=x),
        {"x": at(partitions=None, spans=((0, 100), (32, 32), (64, 36)))},
        {"x": at(partitions=None, spans=((0, 100), (32, 33), (64, 36)))},
        "x accesses 33 partitions from partition 32, they must start at 0 or 64",
    ),
    (
        rules.InsideStorage(roles=x),
        {"x": at(rows=(0, 127), storage_partitions=128)},
        {"x": at(rows=(0, 128), storage_partitions=128)},
        "x reaches partition 128, its storage has 128 partitions",
    ),
    (
        rules.InsideStorage(roles=x),
        {"x": at(rows=(0, 31), storage_partitions=128)},
        {"x": at(rows=(-1, 31), storage_partitions=128)},
        "x reaches partition -1 of its storage, the first one is 0",
    ),
    (
        rules.InsideStorage(roles=x),
        {"x": at(columns=(0, 511), row=512)},
        {"x": at(columns=(0, 512), row=512)},
        "x reaches element 512 of a partition, it has 512 elements",
    ),
    (
        rules.InsideStorage(roles=x),
        {"x": at(columns=(0, 7), row=512)},
        {"x": at(columns=(-1, 7), row=512)},
        "x reaches element -1 of a partition, the first one is 0",
    ),
    (
        rules.InsideStorage(roles=x),
        {"x": at(space=HBM, columns=(0, 511), row=512)},
        {"x": at(space=HBM, columns=(0, 512), row=512)},
        "x reaches element 512 of its tensor, it has 512 elements",
    ),
    (
        rules.Aligned(roles=x),
        {"x": at(address=4)},
        {"x": at(address=6)},
        "x starts at byte 6, which is no multiple of 4, the size of f32",
    ),
    (
        rules.InOnePsumBank(roles=x),
        {"x": at(space=PSUM, address=2048, elements=((0, 511), (512, 1023)))},
        {"x": at(space=PSUM, address=2048, elements=((0, 511), (512, 1024)))},
        "x spans the PSUM banks 2 to 3, it must lie in one",
    ),
    (
        rules.PsumAlignment(roles=x),
        {"x": at(space=PSUM, dtype=BF16, address=4, elements=((2, 9), (4, 11)))},
        {"x": at(space=PSUM, dtype=BF16, address=4, elements=((2, 9), (1, 8)))},
        "x starts at byte 6 in PSUM, it must be a multiple of 4",
    ),
    (
        rules.PsumAlignment(roles=x),
        {"x": at(space=PSUM, dtype=BF16, address=0, elements=((0, 7),), steps=(-1,))},
        {"x": at(space=PSUM, dtype=BF16, address=0, elements=((1, 8),), steps=(-1,))},
        "x starts at byte 16 in PSUM in reverse order, it must be 2 behind a multiple of 4",
    ),
]
SHAPE: list[Row] = [
    (
        rules.SamePartitions(roles=("x", "y")),
        {"x": at(), "y": at(), "z": at(partitions=1)},
        {"x": at(), "y": at(partitions=31)},
        "y accesses 31 partitions, x accesses 32",
    ),
    (
        rules.SameFree(roles=("x", "y")),
        {"x": at(), "y": at(nums=(2, 4), steps=(4, 1))},
        {"x": at(), "y": at(free=9)},
        "y has 9 elements a partition, x has 8",
    ),
    (
        rules.SameCount(roles=("x", "y")),
        {"x": at(), "y": at(partitions=16, free=16)},
        {"x": at(), "y": at(free=9)},
        "y accesses 288 elements, x accesses 256",
    ),
    (
        rules.FreeSize(roles=x, at_most=8),
        {"x": at(free=8)},
        {"x": at(free=9)},
        "x has 9 elements a partition, at most 8 allowed",
    ),
    (
        rules.FreeSize(roles=x, exactly=1),
        {"x": at(free=1)},
        {"x": at(free=2)},
        "x has 2 elements a partition, exactly 1 needed",
    ),
    (
        rules.FreeSize(roles=x, multiple_of=3),
        {"x": at(free=6)},
        {"x": at(free=7)},
        "x has 7 elements a partition, a multiple of 3 needed",
    ),
    (
        rules.FreeLimit(roles=x),
        {"x": at(free=65536)},
        {"x": at(free=65537)},
        "x has 65537 elements a partition, at most 65536 allowed in sbuf",
    ),
    (
        rules.FreeLimit(roles=x),
        {"x": at(space=PSUM, free=4096)},
        {"x": at(space=PSUM, free=4097)},
        "x has 4097 elements a partition, at most 4096 allowed in psum",
    ),
    (
        rules.StepRange(roles=x),
        {"x": at(steps=(32767, 99999), nums=(2, 1))},
        {"x": at(steps=(32768,), nums=(2,))},
        "x has step 32768, -32768 to 32767 allowed",
    ),
    (
        rules.StepRange(roles=x),
        {"x": at(steps=(-32768,), nums=(2,))},
        {"x": at(steps=(-32769,), nums=(2,))},
        "x has step -32769, -32768 to 32767 allowed",
    ),
    (
        rules.VectorOrTile(role="x", like="y"),
        {"x": at(free=1), "y": at()},
        {"x": at(free=2), "y": at()},
        "x has 2 elements a partition, it must have 1 or 8 as y",
    ),
    (
        rules.PartitionCount(roles=x, exactly=1),
        {"x": at(partitions=1)},
        {"x": at(partitions=2)},
        "x accesses 2 partitions, exactly 1 needed",
    ),
    (
        rules.Dimensions(roles=x, at_most=3),
        {"x": at(nums=(2, 4), steps=(4, 1))},
        {"x": at(nums=(1, 2, 4), steps=(8, 4, 1))},
        "x has 4 pairs, at most 3 allowed",
    ),
    (
        rules.DistinctDestination(roles=x),
        {"x": at(steps=(0, 1), nums=(1, 8))},
        {"x": at(steps=(0,), nums=(8,))},
        "x is a destination and repeats elements with step 0",
    ),
    (
        rules.DistinctDestination(roles=x),
        {"x": at(partitions=1, partition_steps=(0,))},
        {"x": at(partition_steps=(0,))},
        "x is a destination and repeats elements with step 0",
    ),
]
DTYPES: list[Row] = [
    (
        rules.DtypeIn(roles=x, dtypes=frozenset({F32, BF16})),
        {"x": at(dtype=BF16)},
        {"x": at(dtype=I32)},
        "x is of type i32, it must be bf16 or f32",
    ),
    (
        rules.SameDtype(roles=("x", "y")),
        {"x": at(), "y": at()},
        {"x": at(), "y": at(dtype=BF16)},
        "y is of type bf16, x is of type f32",
    ),
    (
        rules.SameDtype(roles=("x", "y"), when="flag"),
        {"x": at(), "y": at(dtype=BF16)},
        {"x": at(), "y": at(dtype=BF16), "flag": True},
        "y is of type bf16, x is of type f32",
    ),
    (
        rules.PsumDtype(roles=x),
        {"x": at(space=PSUM, dtype=I32)},
        {"x": at(space=PSUM, dtype=BF16)},
        "x is of type bf16 in PSUM, it must be of a 4-byte type",
    ),
    (
        rules.PsumDtype(roles=x, extra=frozenset({BF16})),
        {"x": at(space=PSUM, dtype=BF16)},
        {"x": at(space=PSUM, dtype=Dtype.F16)},
        "x is of type f16 in PSUM, it must be of a 4-byte type or bf16",
    ),
    (
        rules.ElementSize(roles=x),
        {"x": at(dtype=Dtype.U32)},
        {"x": at(dtype=Dtype.U64)},
        "x is of type u64, engines take elements of at most 4 bytes",
    ),
    (
        rules.Unpacked(roles=x),
        {"x": at(dtype=Dtype.F8E5)},
        {"x": at(dtype=X4)},
        "x is of the packed type f8e5m2_x4, which this instruction cannot compute with",
    ),
    (
        rules.PackedCopy(roles=("x", "y")),
        {"x": at(dtype=X4), "y": at(dtype=X4)},
        {"x": at(dtype=X4), "y": at()},
        "x is of type f8e5m2_x4 and y of type f32, a packed type cannot be cast",
    ),
    (
        rules.DmaCast(roles=("x", "y")),
        {"x": at(dtype=BF16), "y": at(), "dge_type": DgeType.SWDGE},
        {"x": at(dtype=BF16), "y": at(), "dge_type": DgeType.HWDGE},
        "x is of type bf16 and y of type f32, dge_type hwdge cannot cast",
    ),
    (
        rules.DmaCast(roles=("x", "y")),
        {"x": at(dtype=X4), "y": at(dtype=X4), "dge_type": DgeType.HWDGE},
        {"x": at(dtype=X4), "y": at()},
        "x is of type f8e5m2_x4 and y of type f32, a packed type cannot be cast",
    ),
    (
        rules.VectorDtype(parameters=("op",), vectors=("v",), others=("x",)),
        {"v": at(), "x": at(dtype=BF16), "op": AluOp.ADD},
        {"v": at(dtype=BF16), "x": at(), "op": AluOp.ADD},
        "v is of type bf16, arithmetic takes one f32 a partition",
    ),
    (
        rules.VectorDtype(parameters=("op",), vectors=("v",), others=("x",)),
        {"v": at(dtype=I32), "x": at(dtype=Dtype.U32), "op": AluOp.ADD},
        {"v": at(dtype=I32), "x": at(dtype=BF16), "op": AluOp.ADD},
        "v is of type i32, arithmetic takes one f32 a partition",
    ),
    (
        rules.FloatScalar(immediate="v", role="x"),
        {"v": number(1, I32), "x": at(dtype=I32)},
        {"v": number(1, I32), "x": at(dtype=BF16)},
        "v is a number of type i32, bf16 takes a floating-point number",
    ),
    (
        rules.ImmediateFits(immediate="v", role="x"),
        {"v": number(255.0), "x": at(dtype=U8)},
        {"v": number(256.0), "x": at(dtype=U8)},
        "v is 256.0, u8 holds 0 to 255",
    ),
    (
        rules.ImmediateFits(immediate="v", role="x"),
        {"v": number(0.0), "x": at(dtype=U8)},
        {"v": number(-1, I32), "x": at(dtype=U8)},
        "v is -1, u8 holds 0 to 255",
    ),
    (
        rules.ImmediateFits(immediate="v", role="x"),
        {"v": number(2.5), "x": at()},
        {"v": number(2.5), "x": at(dtype=I32)},
        "v is 2.5, i32 takes an integer",
    ),
    (
        rules.ImmediateFits(immediate="v", role="x"),
        {"v": number(0.0), "x": at(dtype=X4)},
        {"v": number(1.0), "x": at(dtype=X4)},
        "v is 1.0, a packed type takes only 0",
    ),
]
BITS = frozenset({AluOp.BITWISE_AND})
PARAMETERS: list[Row] = [
    (
        rules.OnEngine(engines=frozenset({Engine.DVE, Engine.POOL})),
        {"engine": Engine.ALL},
        {"engine": Engine.PE},
        "engine is pe, it must be dve or pool",
    ),
    (
        rules.NotInPsumOn(engine=Engine.POOL, roles=x),
        {"x": at(space=PSUM), "engine": Engine.DVE},
        {"x": at(space=PSUM), "engine": Engine.POOL},
        "x is in psum, which engine pool cannot access",
    ),
    (
        rules.OpNotInPsum(parameters=("op",), ops=frozenset({AluOp.POW}), engine=Engine.POOL, roles=x),
        {"x": at(), "op": AluOp.POW},
        {"x": at(space=PSUM), "op": AluOp.POW},
        "x is in psum, pow runs on engine pool, which cannot access it",
    ),
    (
        rules.NotBothPsum(roles=("x", "y")),
        {"x": at(space=PSUM), "y": at()},
        {"x": at(space=PSUM), "y": at(space=PSUM)},
        "x and y are both in psum, at most one may be",
    ),
    (
        rules.OpIn(parameters=("op",), ops=frozenset({AluOp.MAX, AluOp.ADD})),
        {"op": AluOp.MAX},
        {"op": AluOp.MIN},
        "op is min, it must be add or max",
    ),
    (
        rules.SameOpClass(parameters=("op0", "op1")),
        {"op0": AluOp.BYPASS, "op1": AluOp.BITWISE_OR},
        {"op0": AluOp.ADD, "op1": AluOp.BITWISE_OR},
        "op0 is add and op1 is bitwise_or, they must be both bitwise or both arithmetic operators",
    ),
    (
        rules.BitwiseOnIntegers(parameters=("op",), roles=x),
        {"op": AluOp.BITWISE_OR, "x": at(dtype=I32)},
        {"op": AluOp.BITWISE_OR, "x": at()},
        "x is of type f32, bitwise_or needs integers",
    ),
    (
        rules.BitwiseOnIntegers(parameters=("op",), roles=x),
        {"op": AluOp.ADD, "x": at()},
        {"op": AluOp.BITWISE_OR, "x": number(1.0)},
        "x is of type f32, bitwise_or needs integers",
    ),
    (
        rules.OpOnEngines(parameter="op", ops=BITS, engines=frozenset({Engine.DVE})),
        {"op": AluOp.BITWISE_AND, "engine": Engine.DVE},
        {"op": AluOp.BITWISE_AND, "engine": Engine.POOL},
        "engine is pool, op bitwise_and needs dve",
    ),
    (
        rules.OpPairsOn(engine=Engine.ACT, pairs=frozenset({(AluOp.MULT, AluOp.ADD), (AluOp.ADD, None)})),
        {"engine": Engine.ACT, "op0": AluOp.ADD, "op1": AluOp.BYPASS},
        {"engine": Engine.ACT, "op0": AluOp.ADD, "op1": AluOp.ADD},
        "operators are (add, add), engine act takes (add, -) or (mult, add)",
    ),
    (
        rules.OperandOfOp(parameter="op1", operand="y"),
        {"op1": AluOp.BYPASS},
        {"y": at()},
        "y is given without op1",
    ),
    (
        rules.Together(names=("op1", "y", "z")),
        {"op1": AluOp.ADD, "y": at(), "z": at()},
        {"y": at(), "z": at()},
        "y and z are given without op1",
    ),
    (
        rules.Requires(name="y", needs=("command",)),
        {"y": at(), "command": AccumulateCommand.ZERO},
        {"y": at()},
        "y is given without command",
    ),
    (
        rules.Requires(name="dge_type", needs=("y",), values=frozenset({DgeType.HWDGE})),
        {"dge_type": DgeType.SWDGE},
        {"dge_type": DgeType.HWDGE},
        "dge_type hwdge is given without y",
    ),
    (
        rules.ValueIn(parameter="n", values=(0, 1, 2)),
        {"n": 2},
        {"n": 3},
        "n is 3, it must be 0, 1 or 2",
    ),
    (
        rules.ValueIn(parameter="n", values=(0, 1)),
        {"n": (0, 1)},
        {"n": (0, 2)},
        "n is 2, it must be 0 or 1",
    ),
    (
        rules.OperandOfOp(parameter="op", operand="y"),
        {"op": AluOp.ABS},
        {"op": AluOp.ADD},
        "op is add, which needs y",
    ),
    (
        rules.OperandOfOp(parameter="op", operand="y"),
        {"op": AluOp.ABS, "y": number(0.0)},
        {"op": AluOp.ABS, "y": number(1.0)},
        "y is given, op abs takes none or the number 0",
    ),
    (
        rules.NeedsTile(role="x"),
        {"x": at()},
        {"x": number(1.0)},
        "x must be a tile",
    ),
    (
        rules.NeedsTile(role="x"),
        {"x": at(space=PSUM)},
        {"y": at()},
        "x is missing, it must be a tile",
    ),
    (
        rules.ArithmeticOnly(flag="negate", parameter="op"),
        {"negate": True, "op": AluOp.ADD},
        {"negate": True, "op": AluOp.BITWISE_OR},
        "negate is given, but op bitwise_or is not arithmetic",
    ),
    (
        rules.PatternCovers(parameter="pattern", role="x"),
        {"pattern": ((4, 2), (1, 4)), "x": at()},
        {"pattern": ((4, 2), (1, 3)), "x": at()},
        "pattern covers 6 elements, x has 8 elements a partition",
    ),
    (
        rules.PatternCovers(parameter="pattern", role="x"),
        {"pattern": ((1, 1),) * 3 + ((1, 8),), "x": at()},
        {"pattern": ((1, 1),) * 4 + ((1, 8),), "x": at()},
        "pattern has 5 pairs, at most 4 allowed",
    ),
    (
        rules.ReducedShape(result="y", data="x"),
        {"x": at(nums=(2, 4), steps=(4, 1)), "y": at(free=2), "axis": AxisList.X},
        {"x": at(nums=(2, 4), steps=(4, 1)), "y": at(free=1), "axis": AxisList.X},
        "y has 1 elements a partition, reducing x of 2 x 4 along axis x leaves 2",
    ),
    (
        rules.ReducedShape(result="y", data="x"),
        {"x": at(), "y": at(free=1), "axis": AxisList.X},
        {"x": at(), "y": at(free=2), "axis": AxisList.X},
        "y has 2 elements a partition, reducing x of 8 along axis x leaves 1",
    ),
    (
        rules.OpIn(parameters=("op",), ops=frozenset({AluOp.MAX}), kind="the greatest"),
        {"op": AluOp.MAX},
        {"op": AluOp.MIN},
        "op is min, it must be the greatest",
    ),
    (
        rules.ReducedShape(result="y", data="x"),
        {"x": at(nums=(2, 4), steps=(4, 1)), "y": at(free=1), "axis": AxisList.XY},
        {"x": at(nums=(2, 4), steps=(4, 1)), "y": at(free=1), "axis": AxisList.XYZ},
        "axis is xyz, but x has 2 free dimensions",
    ),
    (
        ImmediateBias(),
        {"bias": number(0.0), "func": ActivationFunction.COPY},
        {"bias": number(0.0), "func": ActivationFunction.EXP},
        "bias is a number, which exp takes from trn2 on",
    ),
    (
        BiasOfReciprocal(),
        {"bias": number(1.0), "func": ActivationFunction.RECIPROCAL},
        {"bias": at(free=1), "func": ActivationFunction.RECIPROCAL},
        "bias is in storage, which reciprocal takes from trn2 on",
    ),
]


def product(m: int = 64, n: int = 512, k: int = 128, **changes: Any) -> dict[str, Any]:
    """A matmul of [k, m] and [k, n]."""
    found = {
        "dst": at(space=PSUM, partitions=m, free=n),
        "stationary": at(partitions=k, free=m, dtype=BF16),
        "moving": at(partitions=k, free=n, dtype=BF16),
    }
    return found | changes


FP8 = {"dtype": Dtype.F8E4, "nums": (2, 8), "steps": (8, 1), "free": 16}
DOUBLE = {
    "perf_mode": MatmultPerfMode.DOUBLE_ROW,
    "dst": at(space=PSUM, partitions=8),
    "stationary": at(**FP8),
    "moving": at(**FP8),
}
MATMUL: list[Row] = [
    (
        MatmulShape(),
        product(),
        product(moving=at(partitions=64, free=512)),
        "stationary accesses 128 partitions, moving accesses 64",
    ),
    (
        MatmulShape(),
        DOUBLE,
        product(dst=at(space=PSUM, partitions=64, free=511)),
        "dst is [64, 511], but stationary [128, 64] and moving [128, 512] give [64, 512]",
    ),
    (
        MatmulShape(),
        product(m=128, n=64, k=128, is_transpose=True, dst=at(space=PSUM, partitions=64, free=128)),
        product(m=128, n=64, k=128, dst=at(space=PSUM, partitions=64, free=128)),
        "dst is [64, 128], but stationary [128, 128] and moving [128, 64] give [128, 64]",
    ),
    (
        TileSize(role="stationary", at_most=128),
        product(m=128),
        product(m=129),
        "stationary has 129 elements a partition, at most 128 allowed",
    ),
    (
        TileSize(role="moving", at_most=8, bf16=16),
        product(n=16, dst=at(space=PSUM, dtype=BF16)),
        product(n=16),
        "moving has 16 elements a partition, at most 8 allowed",
    ),
    (
        InputDtype(),
        product(is_transpose=True, stationary=at(dtype=I32), moving=at(dtype=I32)),
        product(stationary=at(dtype=I32), moving=at(dtype=I32)),
        "stationary is of type i32, it must be bf16, f16, f32, f32r, f8e3, f8e4, f8e4m3fn, f8e5, i8 or u8",
    ),
    (
        InputDtype(),
        product(moving=at(dtype=Dtype.U8)),
        product(moving=at(dtype=Dtype.U16)),
        "moving is of type u16, it must be bf16, f16, f32, f32r, f8e3, f8e4, f8e4m3fn, f8e5, i8 or u8",
    ),
    (
        EqualWidths(),
        {"stationary": at(), "moving": at(dtype=Dtype.F32R)},
        {"stationary": at(), "moving": at(dtype=BF16)},
        "stationary is of type f32 and moving of type bf16, 32-bit types pair only with each other",
    ),
    (
        EqualWidths(),
        {"stationary": at(dtype=Dtype.F8E4), "moving": at(dtype=Dtype.F8E5)},
        {"stationary": at(dtype=Dtype.F8E4), "moving": at(dtype=Dtype.F8E4M3FN)},
        "stationary is of type f8e4 and moving of type f8e4m3fn, the two e4m3 formats do not mix",
    ),
    (
        ResultDtype(transpose=False),
        product(dst=at(space=PSUM, dtype=BF16)),
        product(dst=at(space=PSUM, dtype=I32)),
        "dst is of type i32, a matmul writes f32 or bf16",
    ),
    (
        ResultDtype(transpose=True),
        product(is_transpose=True, dst=at(dtype=BF16)),
        product(is_transpose=True),
        "dst is of type f32, transposing bf16 needs the same type",
    ),
    (
        ResultDtype(transpose=True),
        product(is_transpose=True, stationary=at(dtype=Dtype.F8E4), dst=at(dtype=Dtype.U16)),
        product(is_transpose=True, stationary=at(dtype=Dtype.F8E4), dst=at()),
        "dst is of type f32, transposing f8e4 needs the same type",
    ),
    (
        TransposeStart(),
        product(is_transpose=True, dst=at(start=0)),
        product(is_transpose=True, dst=at(start=32)),
        "dst starts at partition 32, transposing needs 0",
    ),
    (
        DoubleRow(),
        DOUBLE,
        DOUBLE | {"moving": at(dtype=BF16)},
        "moving is of type bf16, perf_mode double_row needs fp8",
    ),
    (
        DoubleRow(),
        DOUBLE,
        DOUBLE | {"stationary": at(dtype=Dtype.F8E4, nums=(16,), steps=(1,))},
        "stationary has the free dimensions [16], perf_mode double_row needs the first to be 2",
    ),
    (DoubleRow(), DOUBLE, DOUBLE | {"is_transpose": True}, "perf_mode double_row cannot transpose"),
    (
        DoubleRow(),
        DOUBLE | {"tile_size": (64, 128)},
        DOUBLE | {"tile_size": (128, 64)},
        "tile_size has column size 64, perf_mode double_row needs all 128 columns",
    ),
    (
        TilePosition(),
        {"tile_position": (96, 0), "tile_size": (32, 128)},
        {"tile_position": (16, 0), "tile_size": (32, 128)},
        "tile_position has row 16, it must be a multiple of 32 with the tile inside 128",
    ),
    (
        TilePosition(),
        {"tile_position": (0, 64), "tile_size": (128, 64)},
        {"tile_position": (0, 128), "tile_size": (128, 64)},
        "tile_position has column 128, it must be a multiple of 64 with the tile inside 128",
    ),
    (
        TileSizes(),
        {"tile_position": (0, 0), "tile_size": (32, 32)},
        {"tile_position": (0, 0), "tile_size": (16, 32)},
        "tile_size: row size must be in [32, 64, 128], got 16",
    ),
    (
        TilePosition(),
        {"tile_position": (0, 0), "tile_size": (64, 64), **product(m=64, k=64)},
        {"tile_position": (0, 0), "tile_size": (64, 64), **product(m=64, k=65)},
        "tile_size has row size 64, the operands need 65",
    ),
    (
        TilePosition(),
        {"tile_position": (32, 0), "tile_size": (32, 128), "stationary": at(start=32)},
        {"tile_position": (0, 0), "tile_size": (32, 128), "stationary": at(start=32)},
        "tile_position has row 0, the operands start at partition 32",
    ),
    (
        TilePosition(),
        {"tile_position": (0, 0), "tile_size": (128, 128)},
        {"tile_position": (0,), "tile_size": (128, 128)},
        "tile_position and tile_size must be pairs (row, column)",
    ),
    (
        TransposeLimits(),
        {"data": at(partitions=32, free=32), "dst": at(), "engine": Engine.DVE},
        {"data": at(partitions=32, free=33), "dst": at(), "engine": Engine.DVE},
        "data has 33 elements a partition, at most 32 allowed",
    ),
    (
        TransposeLimits(),
        {"data": at(partitions=128, free=128), "dst": at()},
        {"data": at(partitions=129, free=128), "dst": at()},
        "data accesses 129 partitions, at most 128 allowed",
    ),
    (
        TransposeLimits(engine=Engine.DVE),
        {"data": at(partitions=32), "dst": at()},
        {"data": at(partitions=33), "dst": at()},
        "data accesses 33 partitions, at most 32 allowed",
    ),
    (
        TransposeLimits(),
        {"data": at(), "dst": at(space=PSUM), "engine": Engine.PE},
        {"data": at(), "dst": at(), "engine": Engine.PE},
        "dst is in sbuf, engine pe transposes to psum",
    ),
    (
        TransposeLimits(),
        {"data": at(), "dst": at(space=PSUM), "engine": Engine.PE},
        {"data": at(space=PSUM), "dst": at(space=PSUM), "engine": Engine.PE},
        "data is in psum, engine pe transposes from sbuf",
    ),
    (
        TransposedShape(),
        {"data": at(partitions=32, free=8), "dst": at(partitions=8, free=32)},
        {"data": at(partitions=32, free=8), "dst": at(partitions=8, free=31)},
        "dst is [8, 31], the transpose of data is [8, 32]",
    ),
]

Gate = tuple[Rule, dict[str, Any], Target, str]
"""A rule that looks at the target, what it forbids, the newest target that does not have it, and the message."""
GATES: list[Gate] = [
    (
        rules.DtypeAvailable(),
        {"x": at(dtype=X4)},
        CAYMAN,
        "x is of type f8e5m2_x4, which trn2 does not have",
    ),
    (
        rules.DtypeAvailable(),
        {"x": at(dtype=Dtype.F8E3)},
        TONGA,
        "x is of type f8e3, which inf1 does not have",
    ),
    (
        rules.OpAvailable(parameters=("op",)),
        {"op": AluOp.ABS_MAX},
        CAYMAN,
        "op is abs_max, which trn2 does not have",
    ),
    (
        rules.EngineSince(engine=Engine.ACT, first=CAYMAN),
        {"engine": Engine.ACT},
        SUNDA,
        "engine is act, which needs trn2 or newer; the target is trn1",
    ),
    (
        rules.SinceTarget(first=CAYMAN),
        {},
        SUNDA,
        "needs trn2 or newer, the target is trn1",
    ),
    (
        rules.SinceValue(parameter="mode", value="fast", first=CORE_V4),
        {"mode": "fast"},
        CAYMAN,
        "mode is fast, which needs trn3 or newer; the target is trn2",
    ),
    (
        rules.SinceValue(parameter="mode", value=None, first=CORE_V4),
        {"mode": 0},
        CAYMAN,
        "mode is 0, which needs trn3 or newer; the target is trn2",
    ),
    (
        rules.DtypeIn(roles=x, dtypes=frozenset({F32}), since_extra=((CAYMAN, frozenset({BF16})),)),
        {"x": at(dtype=BF16)},
        SUNDA,
        "x is of type bf16, it must be f32",
    ),
    (
        rules.FreeSize(roles=x, at_most=Limit(8, ((CORE_V4, 16),))),
        {"x": at(free=16)},
        CAYMAN,
        "x has 16 elements a partition, at most 8 allowed",
    ),
    (
        InputDtype(),
        product(is_transpose=True, moving=at(dtype=I32)),
        SUNDA,
        "moving is of type i32, it must be bf16, f16, f32, f32r, f8e3, f8e4, f8e5, i8 or u8",
    ),
    (
        InputDtype(),
        product(stationary=at(dtype=Dtype.F8E4M3FN)),
        CAYMAN,
        "stationary is of type f8e4m3fn, it must be bf16, f16, f32, f32r, f8e3, f8e4, f8e5, i8 or u8",
    ),
    (
        ResultDtype(transpose=False),
        product(dst=at(space=PSUM, dtype=BF16)),
        CAYMAN,
        "dst is of type bf16, a matmul writes f32",
    ),
    (
        TilePosition(),
        {"tile_position": (0, 0), "tile_size": (32, 32)},
        SUNDA,
        "tile_size is 32 x 32, which trn1 does not have",
    ),
    (
        TilePosition(),
        {"tile_position": (0, 96), "tile_size": (64, 32)},
        SUNDA,
        "tile_position has column 96, which trn1 does not have",
    ),
]

REGISTER = at(space=MemorySpace.REG, dtype=I32)
REGISTERS: list[Row] = [
    (
        rules.OneElement(roles=x),
        {"x": at(partitions=1, free=1)},
        {"x": at(partitions=2, free=1)},
        "x accesses 2 elements, a register holds one",
    ),
    (
        rules.RegisterNumber(role="x"),
        {"x": number(2**32 - 1, Dtype.I64)},
        {"x": number(2**32, Dtype.I64)},
        "x is 4294967296, registers hold 32 bits",
    ),
    (
        rules.RegisterNumber(role="x"),
        {"x": number(-(2**31), Dtype.I64)},
        {"x": number(-(2**31) - 1, Dtype.I64)},
        "x is -2147483649, registers hold 32 bits",
    ),
    (
        rules.RegisterNumber(role="x"),
        {"x": number(1.0)},
        {"x": number(1.5)},
        "x is 1.5, registers hold integers",
    ),
    (
        rules.ComparisonForm(parameter="op", left="x", right="y"),
        {"x": REGISTER, "y": REGISTER, "op": BranchCompareOp.EQ_REG},
        {"x": REGISTER, "y": number(1, I32), "op": BranchCompareOp.EQ_REG},
        "y is a number, op eq_reg needs a register",
    ),
    (
        rules.ComparisonForm(parameter="op", left="x", right="y"),
        {"x": REGISTER, "y": number(1, I32), "op": BranchCompareOp.EQ_IMM},
        {"x": REGISTER, "y": REGISTER, "op": BranchCompareOp.EQ_IMM},
        "y is a register, op eq_imm needs a number",
    ),
    (
        rules.ComparisonForm(parameter="op", left="x", right="y"),
        {"op": BranchCompareOp.ALWAYS},
        {"y": number(1, I32), "op": BranchCompareOp.ALWAYS},
        "y is given, op always takes none",
    ),
    (
        rules.ComparisonForm(parameter="op", left="x", right="y"),
        {"x": REGISTER, "y": REGISTER, "op": BranchCompareOp.UNSUPPORTED},
        {"x": REGISTER, "y": REGISTER, "op": BranchCompareOp.ALWAYS},
        "x is given, op always takes none",
    ),
]

TABLE = MEMORY + SHAPE + DTYPES + PARAMETERS + MATMUL + REGISTERS


@pytest.mark.parametrize("rule, allowed, forbidden, message", TABLE)
def test_boundary(rule: Rule, allowed: dict[str, Any], forbidden: dict[str, Any], message: str) -> None:
    assert rule.check(given(**allowed), None) is None
    assert rule.check(given(**forbidden), None) == message
    assert check_all((rule,), given(**forbidden), None) == (message, rule)


@pytest.mark.parametrize("rule, forbidden, last, message", GATES)
def test_generations(rule: Rule, forbidden: dict[str, Any], last: Target, message: str) -> None:
    assert rule.check(given(**forbidden), None) is None
    assert rule.check(given(**forbidden), last) == message
    for target in TARGETS:
        assert (rule.check(given(**forbidden), target) is None) == (target > last)


def test_every_rule_class_is_here() -> None:
    named = {value for value in vars(rules).values() if isinstance(value, type) and issubclass(value, Rule)}
    used = {type(rule) for isa in INSTRUCTIONS.values() for rule in isa.rules}
    here = {type(row[0]) for row in [*TABLE, *GATES]}
    assert here == (named | used) - {Rule, rules.RoleRule}


@pytest.mark.parametrize("rule", [row[0] for row in [*TABLE, *GATES]], ids=lambda rule: type(rule).__name__)
def test_what_is_not_there_breaks_nothing(rule: Rule) -> None:
    assert rule.check(Operands({}), None) is None or isinstance(rule, rules.NeedsTile)


@pytest.mark.parametrize("rule", [row[0] for row in MEMORY + SHAPE], ids=lambda rule: type(rule).__name__)
def test_unknown_figures_break_nothing(rule: Rule) -> None:
    unknown = Operand(dtype=F32, space=SBUF)
    assert rule.check(given(x=unknown, y=unknown), None) is None


@pytest.mark.parametrize("rule", [rule for isa in INSTRUCTIONS.values() for rule in isa.rules])
def test_every_rule_has_identifier_and_statement(rule: Rule) -> None:
    assert rule.identifier
    assert rule.statement == " ".join(rule.statement.split())
    assert not rule.statement.endswith(".")


def test_since_and_before() -> None:
    rule = rules.Aligned(roles=x, since=SUNDA, before=CORE_V4)
    assert [rule.applies(target) for target in TARGETS] == [False, True, True, False]
    assert not rule.applies(None), "the newest generation does not have the rule"
    assert rules.Aligned(roles=x, since=CORE_V4).applies(None)
    assert check_all((rule,), given(x=at(address=1)), None) is None
    assert check_all((rule,), given(x=at(address=1)), CAYMAN) is not None


def test_limits() -> None:
    limit = Limit(8, ((SUNDA, 16), (CORE_V4, 4)))
    assert [limit.at(target) for target in TARGETS] == [8, 16, 16, 4]
    assert limit.at(None) == 16
    assert limit_at(7, CAYMAN) == 7


def test_variadic_roles_are_named_by_number() -> None:
    rule = rules.SameFree(roles=("x",))
    assert rule.check(given(x=(at(), at(free=9))), None) == "x[1] has 9 elements a partition, x[0] has 8"


def test_rules_by_identifier() -> None:
    first, second = rules.Aligned(roles=x), rules.Aligned(roles=("y",), id="X-1")
    assert by_identifier([first, second, first]) == {"BIR429": [first, first], "X-1": [second]}


def test_instructions_report_their_first_violation_and_remember_what_holds() -> None:
    isa = INSTRUCTIONS["tensor_copy"]
    good, bad = at(start=0), at(start=0, partitions=129)
    assert isa.violation(given(dst=good, src=good), None) is None
    assert isa.violation(given(dst=good, src=good), CAYMAN) is None
    found = isa.violation(given(dst=good, src=bad), None)
    assert found is not None
    assert found[0] == "src accesses 129 partitions, at most 128 allowed"
    assert found[1].identifier == "X-PMAX"
    # What holds for one target or one instruction is not taken to hold for another.
    half = at(start=0, space=PSUM, dtype=BF16)
    assert isa.violation(given(dst=half, src=half), None) is None
    found = INSTRUCTIONS["tensor_tensor"].violation(given(dst=half, data1=good, data2=good, op=AluOp.ADD), None)
    assert found is not None
    assert found[1].identifier == "BIR441"


# What makes rules -------------------------------------------------------------------------------------------------


class _Sized(Parameters):
    KIND: ClassVar[str] = "none of the parameters"

    size: int
    names: tuple[str, ...] = ()


class _Longer(_Sized):
    names: tuple[str, ...] = ("a",)
    more: bool = False


def test_parameters_are_those_of_the_class_and_its_bases() -> None:
    made = _Longer(size=3, more=True)
    assert (made.size, made.names, made.more) == (3, ("a",), True)
    assert repr(made) == "_Longer(size=3, names=('a',), more=True)"
    assert made.with_(size=4) == _Longer(size=4, more=True)


def test_equal_parameters_make_equal_objects() -> None:
    assert _Sized(size=3) == _Sized(size=3, names=())
    assert hash(_Sized(size=3)) == hash(_Sized(size=3))
    assert _Sized(size=3) != _Sized(size=4)
    assert _Sized(size=3, names=("a",)) != _Longer(size=3)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "_Sized lacks ['size'] or does not have []"),
        ({"size": 1, "KIND": "x"}, "_Sized lacks [] or does not have ['KIND']"),
    ],
)
def test_wrong_parameters(given: dict[str, Any], message: str) -> None:
    with pytest.raises(TypeError) as caught:
        _Sized(**given)
    assert str(caught.value) == message


def test_parameters_do_not_change() -> None:
    with pytest.raises(AttributeError, match=r"^.size. of _Sized does not change$"):
        setattr(_Sized(size=3), "size", 4)  # noqa: B010

"""The cost of each instruction in cycles, as the published table has it (NKI ISA reference, §2.12).

Every expected number is worked out from the table's text; N is the elements a partition of the main input.
"""

from typing import Any

import pytest

from nki_mlir.isa.dtypes import Dtype
from nki_mlir.isa.enums import ActivationFunction, AluOp, DgeType, Engine, MatmultPerfMode, MemorySpace
from nki_mlir.isa.instructions import INSTRUCTIONS
from nki_mlir.isa.operands import Operand, Operands
from nki_mlir.isa.target import CAYMAN, CORE_V4, SUNDA, TARGETS, Target

SBUF, PSUM, HBM = MemorySpace.SBUF, MemorySpace.PSUM, MemorySpace.HBM
F32, F32R, BF16, F16 = Dtype.F32, Dtype.F32R, Dtype.BF16, Dtype.F16
ADD, SUB, MULT, MAX = AluOp.ADD, AluOp.SUBTRACT, AluOp.MULT, AluOp.MAX


def tile(
    free: int,
    dtype: Dtype = F32,
    space: MemorySpace = SBUF,
    partitions: int = 128,
    pairs: tuple[tuple[int, int], ...] | None = None,
) -> Operand:
    """Returns a tile; `pairs` are the (step, number) of its free dimensions, contiguous unless given."""
    steps, nums = zip(*(((1, free),) if pairs is None else pairs), strict=True)
    return Operand(dtype=dtype, space=space, partitions=partitions, free=free, steps=steps, nums=nums)


def number(value: float, dtype: Dtype = F32) -> Operand:
    return Operand(dtype=dtype, immediate=value)


def row(what: str, expected: int, roles: dict[str, Operand], target: Target = CAYMAN, **parameters: Any) -> Any:
    """Returns the arguments of one test: `what` is the instruction, then the condition."""
    return pytest.param(what.split(":")[0], roles, parameters, target, expected, id=what)


def matmul(free: int, columns: int = 128, moving: Dtype = BF16, stationary: Dtype | None = None) -> dict[str, Operand]:
    return {
        "dst": tile(free, F32, PSUM),
        "stationary": tile(columns, stationary or moving),
        "moving": tile(free, moving),
    }


def double_row(free: int, columns: int = 128) -> dict[str, Operand]:
    def inputs(size: int) -> Operand:
        return tile(2 * size, Dtype.F8E4, pairs=((size, 2), (1, size)))

    return {"dst": tile(free, F32, PSUM), "stationary": inputs(columns), "moving": inputs(free)}


def transposed(partitions: int, free: int, space: MemorySpace = SBUF) -> dict[str, Operand]:
    return {"dst": tile(partitions, BF16, space, free), "data": tile(free, BF16, SBUF, partitions)}


def unary(free: int, dtype: Dtype = F32) -> dict[str, Operand]:
    return {"dst": tile(free, dtype), "data": tile(free, dtype)}


def copied(free: int) -> dict[str, Operand]:
    return {"dst": tile(free), "src": tile(free)}


def pair(first: Operand, second: Operand, dst: Dtype = BF16) -> dict[str, Operand]:
    return {"dst": tile(first.free or 0, dst), "data1": first, "data2": second}


def predicated(src: Operand, predicate: Operand) -> dict[str, Operand]:
    return {"dst": tile(predicate.free or 0), "src": src, "predicate": predicate}


def chained(free: int, data: Dtype = BF16, operand1: Dtype = BF16) -> dict[str, Operand]:
    return {"dst": tile(free), "data": tile(free, data), "operand0": number(2), "operand1": tile(free, operand1)}


def reduced(free: int, data: Dtype = BF16, dst: Dtype = BF16) -> dict[str, Operand]:
    return {"dst": tile(1, dst), "data": tile(free, data)}


def filled(free: int, dtype: Dtype, value: float) -> dict[str, Operand]:
    return {"dst": tile(free, dtype), "value": number(value, dtype)}


WIDE, SPREAD = ((1, 256),), ((2, 256),)
ROWS, GAPS, TURNED = ((64, 4), (1, 64)), ((128, 4), (1, 64)), ((1, 4), (4, 64))
U8 = Dtype.U8

PUBLISHED = [
    # nc_matmul: max(min(64, N_st), N_mv), of fp32 four times that
    row("matmul: N_mv", 512, matmul(512)),
    row("matmul: N_mv below 64", 64, matmul(8)),
    row("matmul: both below 64", 40, matmul(8, columns=40)),
    row("matmul: N_mv between", 50, matmul(50, columns=40)),
    row("matmul: fp8", 512, matmul(512, moving=Dtype.F8E4)),
    row("matmul: fp16", 512, matmul(512, moving=F16)),
    row("matmul: tf32", 512, matmul(512, moving=F32R)),
    row("matmul: fp32", 4 * 512, matmul(512, moving=F32)),
    row("matmul: fp32, N_mv below 64", 4 * 64, matmul(8, moving=F32)),
    row("matmul: fp32 meets tf32", 4 * 512, matmul(512, moving=F32R, stationary=F32)),
    # §1.6: an fp32 operand of zeros and ones, and fp32 transposes from trn2 on, take half; double_row contracts 2 rows
    row("matmul: fp32, moving of 0 and 1", 2 * 512, matmul(512, moving=F32), is_moving_onezero=True),
    row("matmul: fp32, stationary of 0 and 1", 2 * 512, matmul(512, moving=F32), is_stationary_onezero=True),
    row("matmul: only the tf32 operand of 0 and 1", 4 * 512, matmul(512, 128, F32R, F32), is_moving_onezero=True),
    row("matmul: bf16 of 0 and 1", 512, matmul(512), is_moving_onezero=True),
    row("matmul: fp32 transpose", 2 * 128, matmul(128, moving=F32), is_transpose=True),
    row("matmul: fp32 transpose on trn1", 4 * 128, matmul(128, moving=F32), SUNDA, is_transpose=True),
    row("matmul: bf16 transpose", 128, matmul(128), is_transpose=True),
    row("matmul: double_row", 512, double_row(512), perf_mode=MatmultPerfMode.DOUBLE_ROW),
    row("matmul: double_row below 64", 40, double_row(8, columns=40), perf_mode=MatmultPerfMode.DOUBLE_ROW),
    # nc_transpose: Tensor max(P, min(64, F)), Vector max(64, N)
    row("transpose: Tensor, P", 128, transposed(128, 128, PSUM), engine=Engine.PE),
    row("transpose: Tensor, F above 64", 64, transposed(16, 128, PSUM), engine=Engine.PE),
    row("transpose: Tensor, F below 64", 40, transposed(16, 40, PSUM), engine=Engine.PE),
    row("transpose: Vector", 64, transposed(32, 32), engine=Engine.DVE),
    row("stream_transpose: below 64", 64, transposed(32, 32)),
    row("stream_transpose: N", 96, transposed(32, 96)),
    # activation: max(64, N); activation_reduce: 64 more
    row("activation: N", 512, unary(512), func=ActivationFunction.EXP),
    row("activation: below 64", 64, unary(63), func=ActivationFunction.EXP),
    row("activation: reciprocal", 512, unary(512), func=ActivationFunction.RECIPROCAL),
    row("activation: with a sum", 512 + 64, unary(512) | {"reduce_res": tile(1)}, func=ActivationFunction.EXP),
    row("activation: with a sum, below 64", 64 + 64, unary(1) | {"reduce_res": tile(1)}, func=ActivationFunction.EXP),
    # tensor_copy: max(64, N)
    row("tensor_copy: N", 512, copied(512)),
    row("tensor_copy: below 64", 64, copied(32)),
    # tensor_copy_predicated: max(64, N) with one of src and predicate in PSUM, max(64, 2N) with both in SBUF
    row("copy_predicated: both in SBUF", 2 * 512, predicated(tile(512), tile(512, U8))),
    row("copy_predicated: both in SBUF, 2N above 64", 80, predicated(tile(40), tile(40, U8))),
    row("copy_predicated: both in SBUF, below 64", 64, predicated(tile(20), tile(20, U8))),
    row("copy_predicated: src in PSUM", 512, predicated(tile(512, space=PSUM), tile(512, U8))),
    row("copy_predicated: predicate in PSUM", 512, predicated(tile(512), tile(512, U8, PSUM))),
    row("copy_predicated: predicate in PSUM, below 64", 64, predicated(tile(40), tile(40, U8, PSUM))),
    row("copy_predicated: src a number", 512, predicated(number(1), tile(512, U8))),
    # tensor_tensor: max(64, N) with one input in PSUM, or for bf16 add, mul and sub of unit stride; else max(64, 2N)
    row("tensor_tensor: data1 in PSUM", 256, pair(tile(256, space=PSUM), tile(256)), op=MAX),
    row("tensor_tensor: data2 in PSUM", 256, pair(tile(256), tile(256, space=PSUM)), op=MAX),
    row("tensor_tensor: PSUM, below 64", 64, pair(tile(40), tile(40, space=PSUM)), op=ADD),
    row("tensor_tensor: bf16 add", 256, pair(tile(256, BF16), tile(256, BF16)), op=ADD),
    row("tensor_tensor: bf16 subtract", 256, pair(tile(256, BF16), tile(256, BF16)), op=SUB),
    row("tensor_tensor: bf16 multiply", 256, pair(tile(256, BF16), tile(256, BF16)), op=MULT),
    row("tensor_tensor: bf16, below 64", 64, pair(tile(40, BF16), tile(40, BF16)), op=ADD),
    row("tensor_tensor: bf16 maximum", 512, pair(tile(256, BF16), tile(256, BF16)), op=MAX),
    row("tensor_tensor: data1 of f32", 512, pair(tile(256), tile(256, BF16)), op=ADD),
    row("tensor_tensor: data2 of f16", 512, pair(tile(256, BF16), tile(256, F16)), op=ADD),
    row("tensor_tensor: dst of f32", 512, pair(tile(256, BF16), tile(256, BF16), F32), op=ADD),
    row("tensor_tensor: data1 strided", 512, pair(tile(256, BF16, pairs=SPREAD), tile(256, BF16)), op=ADD),
    row("tensor_tensor: data2 strided", 512, pair(tile(256, BF16), tile(256, BF16, pairs=SPREAD)), op=ADD),
    row("tensor_tensor: rows that touch", 256, pair(tile(256, BF16, pairs=ROWS), tile(256, BF16)), op=ADD),
    row("tensor_tensor: rows with gaps", 512, pair(tile(256, BF16, pairs=GAPS), tile(256, BF16)), op=ADD),
    row("tensor_tensor: columns", 512, pair(tile(256, BF16), tile(256, BF16, pairs=TURNED)), op=ADD),
    row("tensor_tensor: a step of one", 256, pair(tile(256, BF16, pairs=((9, 1), *WIDE)), tile(256, BF16)), op=ADD),
    row("tensor_tensor: otherwise", 512, pair(tile(256), tile(256), F32), op=ADD),
    row("tensor_tensor: otherwise, 2N above 64", 80, pair(tile(40), tile(40), F32), op=ADD),
    row("tensor_tensor: otherwise, below 64", 64, pair(tile(20), tile(20), F32), op=ADD),
    # tensor_scalar: max(64, N) for one or two operators
    row("tensor_scalar: one operator", 512, unary(512) | {"operand0": number(2)}, op0=MULT),
    row(
        "tensor_scalar: two operators",
        512,
        unary(512) | {"operand0": number(2), "operand1": tile(1)},
        op0=MULT,
        op1=ADD,
    ),
    row("tensor_scalar: below 64", 64, unary(63) | {"operand0": number(2)}, op0=MULT),
    # scalar_tensor_tensor: N for bf16 subtract and multiply with N even, else 2N; the floor is the engine's (§1.9)
    row("scalar_tensor_tensor: bf16", 256, chained(256), op0=SUB, op1=MULT),
    row("scalar_tensor_tensor: bf16, N odd", 2 * 255, chained(255), op0=SUB, op1=MULT),
    row("scalar_tensor_tensor: another op0", 512, chained(256), op0=ADD, op1=MULT),
    row("scalar_tensor_tensor: another op1", 512, chained(256), op0=SUB, op1=ADD),
    row("scalar_tensor_tensor: data of f32", 512, chained(256, data=F32), op0=SUB, op1=MULT),
    row("scalar_tensor_tensor: operand1 of f16", 512, chained(256, operand1=F16), op0=SUB, op1=MULT),
    row("scalar_tensor_tensor: bf16, below 64", 64, chained(40), op0=SUB, op1=MULT),
    row("scalar_tensor_tensor: otherwise, 2N above 64", 80, chained(40), op0=ADD, op1=MULT),
    row("scalar_tensor_tensor: otherwise, below 64", 64, chained(20), op0=ADD, op1=MULT),
    # tensor_reduce: N/2 for bf16 add and maximum, else N; the floor is the engine's (§1.9)
    row("tensor_reduce: bf16 add", 256, reduced(512), op=ADD),
    row("tensor_reduce: bf16 maximum", 256, reduced(512), op=MAX),
    row("tensor_reduce: bf16 add, N odd", 257, reduced(513), op=ADD),
    row("tensor_reduce: bf16 minimum", 512, reduced(512), op=AluOp.MIN),
    row("tensor_reduce: data of f32", 512, reduced(512, data=F32), op=ADD),
    row("tensor_reduce: dst of f32", 512, reduced(512, dst=F32), op=ADD),
    row("tensor_reduce: bf16 add, below 64", 64, reduced(100), op=ADD),
    row("tensor_reduce: otherwise, above 64", 100, reduced(100, data=F32), op=ADD),
    row("tensor_reduce: otherwise, below 64", 64, reduced(1, data=F32), op=ADD),
    # bn_stats: max(64, N); bn_aggr: max(64, 13 N / 3)
    row("bn_stats: N", 512, {"dst": tile(6), "data": tile(512)}),
    row("bn_stats: below 64", 64, {"dst": tile(6), "data": tile(63)}),
    row("bn_aggr: N", 130, {"dst": tile(2), "data": tile(30)}),
    row("bn_aggr: just above 64", 65, {"dst": tile(2), "data": tile(15)}),
    row("bn_aggr: below 64", 64, {"dst": tile(2), "data": tile(12)}),
    # reciprocal: max(64, 8 N)
    row("reciprocal: N", 8 * 512, unary(512)),
    row("reciprocal: just above 64", 72, unary(9)),
    row("reciprocal: below 64", 64, unary(7)),
    # memset: max(64, N/2) for zeros in 2-byte floats, else max(64, N)
    row("memset: zeros of bf16", 256, filled(512, BF16, 0.0)),
    row("memset: zeros of f16", 256, filled(512, F16, 0.0)),
    row("memset: zeros of bf16, N odd", 257, filled(513, BF16, 0.0)),
    row("memset: ones of bf16", 512, filled(512, BF16, 1.0)),
    row("memset: zeros of f32", 512, filled(512, F32, 0.0)),
    row("memset: zeros of u16", 512, filled(512, Dtype.U16, 0)),
    row("memset: zeros of bf16, below 64", 64, filled(100, BF16, 0.0)),
    row("memset: below 64", 64, filled(63, F32, 0.0)),
    # iota, affine_select: 150 + N
    row("iota: N", 150 + 512, {"dst": tile(512)}),
    row("iota: below 64", 150 + 8, {"dst": tile(8)}),
    row("affine_select: N", 150 + 512, {"dst": tile(512), "on_true": tile(512), "on_false": number(0)}),
    row("affine_select: below 64", 150 + 8, {"dst": tile(8), "on_true": tile(8), "on_false": number(0)}),
]


def moved(free: int, dst: MemorySpace, src: MemorySpace) -> dict[str, Operand]:
    """Returns 128 rows of bf16."""
    return {"dst": tile(free, BF16, dst), "src": tile(free, BF16, src)}


DERIVED = [
    # The table has none; the rates of §1.7 and §1.9 give two tile inputs on Vector, and one on GpSimd.
    row("select: two tiles", 2 * 512, {"dst": tile(512), "predicate": tile(512, U8), "on_true": tile(512)}),
    row("select: below 64", 64, {"dst": tile(8), "predicate": tile(8, U8), "on_true": tile(8)}),
    row("partition_reduce: N", 150 + 512, {"dst": tile(512, partitions=1), "data": tile(512)}, op=ADD),
    # §1.8, in ns: 1300, and the bytes over 16 engines of 17, 23 or 33 bytes a ns. 128 * 4096 * 2 bytes are 1 MiB.
    row("dma_load: trn1", 1300 + 3855, moved(4096, SBUF, HBM), SUNDA),  # 1048576 / 272 = 3855.06
    row("dma_load: trn2", 1300 + 2849, moved(4096, SBUF, HBM), CAYMAN),  # 1048576 / 368 = 2849.39
    row("dma_save: trn3", 1300 + 1986, moved(4096, HBM, SBUF), CORE_V4),  # 1048576 / 528 = 1985.94
    row("dma_copy: one element a row", 1301, moved(1, SBUF, SBUF), CAYMAN, dge_type=DgeType.SWDGE),  # 256 / 368 = 0.70
]
UNPUBLISHED = ("register_move", "register_alu", "register_load", "register_store", "compare_and_branch")
"""What no page gives a cost of."""


@pytest.mark.parametrize(("name", "roles", "parameters", "target", "expected"), PUBLISHED + DERIVED)
def test_cost(name: str, roles: dict[str, Operand], parameters: dict[str, Any], target: Target, expected: int) -> None:
    instruction = INSTRUCTIONS[name]
    assert roles.keys() <= set(instruction.role_names)
    assert parameters.keys() <= set(instruction.parameters)
    assert instruction.cycles(Operands(roles, parameters), target) == expected


@pytest.mark.parametrize("name", UNPUBLISHED)
@pytest.mark.parametrize("target", TARGETS)
def test_an_instruction_without_a_published_cost_takes_the_fewest_cycles(name: str, target: Target) -> None:
    assert INSTRUCTIONS[name].cycles(Operands({}), target) == 64


def test_every_instruction_has_its_row() -> None:
    rows = [str(row.values[0]) for row in PUBLISHED + DERIVED]
    assert set(rows).isdisjoint(UNPUBLISHED)
    assert {*rows, *UNPUBLISHED} == set(INSTRUCTIONS)

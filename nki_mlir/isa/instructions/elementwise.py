"""Vector instructions on whole tiles: tensor_tensor, tensor_scalar, scalar_tensor_tensor, reciprocal."""

from typing import Any

from nki_mlir.isa.dtypes import Dtype
from nki_mlir.isa.enums import AluOp, Engine, MemorySpace
from nki_mlir.isa.instructions.base import (
    MINIMUM_CYCLES,
    Array,
    Evaluation,
    Instruction,
    Run,
    all_bf16,
    both_in_sbuf,
    by_element,
    column,
    elements,
    fp32,
    free_of,
    like,
)
from nki_mlir.isa.lazy import numpy as np
from nki_mlir.isa.numerics import VALUE_ALU, alu, integer_alu, value_alu, writer
from nki_mlir.isa.operands import Operands
from nki_mlir.isa.rules import (
    BitwiseOnIntegers,
    Dimensions,
    EngineSince,
    FreeSize,
    NeedsTile,
    NotBothPsum,
    NotInPsumOn,
    OpAvailable,
    OperandOfOp,
    OpIn,
    OpNotInPsum,
    OpOnEngines,
    OpPairsOn,
    SameFree,
    SameOpClass,
    SamePartitions,
    Unpacked,
    VectorDtype,
    destinations,
    on_chip,
)
from nki_mlir.isa.target import CAYMAN, CORE_V4, Target

VECTOR_ENGINES = frozenset({Engine.DVE, Engine.POOL})
EXACT_INTEGERS = frozenset({Dtype.I32, Dtype.U32})
BINARY = frozenset(op for op in AluOp if not op.is_unary)
ARITHMETIC = frozenset(op for op in AluOp if op.is_arithmetic)
SCALAR_ENGINE_PAIRS = frozenset({(AluOp.MULT, AluOp.ADD), (AluOp.MULT, None), (AluOp.ADD, None)})
GPSIMD_ONLY = frozenset({AluOp.POW})
BITWISE = frozenset(op for op in AluOp if op.is_bitwise)
FAST_OPS = frozenset({AluOp.ADD, AluOp.SUBTRACT, AluOp.MULT})
"""What tensor_tensor does at one element a cycle with bf16 (nki-isa.md §2.12)."""
RSQRT = frozenset({AluOp.RSQRT})
RSQRT_ENGINES = frozenset({Engine.POOL, Engine.ACT})


EXACT_OPS = VALUE_ALU | {AluOp.ADD, AluOp.SUBTRACT, AluOp.MULT}


def exact_integers(e: Evaluation, op: AluOp, *roles: str) -> bool:
    """Whether the instruction computes on 32-bit integers exactly, as GpSimd does, instead of through fp32.

    That is so on GpSimd, and while no engine is chosen if no operand is in PSUM (nki-isa.md §2.5, tensor_tensor).
    """
    if op not in EXACT_OPS:
        return False
    # A truth value is one in any type.
    if any(e.dtypes[role] not in EXACT_INTEGERS for role in roles if not (role == "dst" and op.is_comparison)):
        return False
    if e.engine is Engine.POOL:
        return True
    return e.engine in (None, Engine.UNASSIGNED) and all(e.spaces[role] is not MemorySpace.PSUM for role in roles)


def _exact(op: AluOp, dtype: Dtype) -> Any:
    """Returns f(a, b) of an operator on integers, the first of `dtype`: by value to compare, else on the low bits."""
    return value_alu(op) if op in VALUE_ALU else integer_alu(op, dtype)


def _tensor_tensor(e: Evaluation) -> Run:
    op: AluOp = e.op
    if op.is_bitwise or exact_integers(e, op, "dst", "data1", "data2"):
        integer, store = _exact(op, e.dtypes["data1"]), writer(e.dtypes["dst"])

        def exact(dst: Array, a: Array, b: Array) -> None:
            store(dst, integer(like(dst, a), like(dst, b)))

        return exact
    function = alu(op)
    if e.dtypes["dst"] is Dtype.F32:

        def direct(dst: Array, a: Array, b: Array) -> None:
            function(fp32(like(dst, a)), fp32(like(dst, b)), dst)

        return direct
    write = writer(e.dtypes["dst"])

    def run(dst: Array, a: Array, b: Array) -> None:
        write(dst, function(fp32(like(dst, a)), fp32(like(dst, b))))

    return run


def _tensor_tensor_cycles(operands: Operands, target: Target) -> int:
    fast = (
        operands.parameters.get("op") in FAST_OPS
        and all_bf16(operands, "data1", "data2", "dst")
        and all(tile.contiguous for role in ("data1", "data2") for _, tile in operands.of(role))
    )
    passes = 2 if both_in_sbuf(operands, "data1", "data2") and not fast else 1
    return max(MINIMUM_CYCLES, passes * free_of(operands, "dst"))


TENSOR_TENSOR = Instruction(
    "tensor_tensor",
    "dst = data1 op data2, element by element",
    engines=VECTOR_ENGINES,
    roles="dst data1 data2",
    outs=1,
    parameters=("op", "engine"),
    rules=(
        *on_chip("dst", "data1", "data2"),
        *destinations("dst"),
        SamePartitions(roles=("dst", "data1", "data2")),
        SameFree(roles=("dst", "data1", "data2")),
        NotBothPsum(roles=("data1", "data2")),
        NotInPsumOn(engine=Engine.POOL, roles=("dst", "data1", "data2")),
        OpIn(parameters=("op",), ops=BINARY, kind="a binary operator"),
        OpAvailable(parameters=("op",)),
        OpOnEngines(parameter="op", ops=GPSIMD_ONLY, engines=frozenset({Engine.POOL})),
        OpNotInPsum(parameters=("op",), ops=GPSIMD_ONLY, engine=Engine.POOL, roles=("dst", "data1", "data2")),
        OpOnEngines(parameter="op", ops=BITWISE, engines=frozenset({Engine.DVE}), id="X-BITVEC"),
        BitwiseOnIntegers(parameters=("op",), roles=("dst", "data1", "data2")),
        Unpacked(roles=("dst", "data1", "data2")),
    ),
    evaluate=_tensor_tensor,
    cycles=_tensor_tensor_cycles,
    spread=by_element,
)


def _step(op: AluOp, reverse: bool) -> Any:
    """Returns f(x, operand, out=None) of one operator of a tensor-scalar instruction, operands swapped if reversed."""
    function = alu(op)

    def swapped(x: Any, operand: Any, out: Array | None = None) -> Any:
        return function(operand, x, out)

    return swapped if reverse else function


def _vector(dst: Array, operand: Any) -> Any:
    """Returns a number, or one value a partition, as fp32 that broadcasts over the destination."""
    if operand is None:
        return np.float32(0.0)
    return column(dst, fp32(operand)) if hasattr(operand, "shape") else np.float32(operand)


def _tensor_scalar(e: Evaluation) -> Run:
    chain = _integer_chain(e)
    if chain is not None:
        return chain
    first = _step(e.op0, bool(e.reverse0))
    second = None if e.op1 is None or e.op1 is AluOp.BYPASS else _step(e.op1, bool(e.reverse1))
    write = writer(e.dtypes["dst"])
    if second is None and e.dtypes["dst"] is Dtype.F32:

        def direct(dst: Array, data: Array, operand0: Any, operand1: Any) -> None:
            first(fp32(like(dst, data)), _vector(dst, operand0), dst)

        return direct

    def run(dst: Array, data: Array, operand0: Any, operand1: Any) -> None:
        x = first(fp32(like(dst, data)), _vector(dst, operand0))
        if second is not None:
            x = second(x, _vector(dst, operand1))
        write(dst, x)

    return run


def _integer_chain(e: Evaluation) -> Run | None:
    """Returns the form on raw integers: for bitwise operators, and for 32-bit data where GpSimd computes exactly."""
    ops = [(k, op) for k, op in enumerate((e.op0, e.op1)) if op is not None and op is not AluOp.BYPASS]
    roles = [role for role in ("dst", "data", "operand0", "operand1") if role in e.dtypes]
    bitwise = any(op.is_bitwise for _, op in ops)
    if not bitwise and not (ops and all(exact_integers(e, op, *roles) for _, op in ops)):
        return None
    store = writer(e.dtypes["dst"])
    steps = [(k, _exact(op, e.dtypes["data"]), bool((e.reverse0, e.reverse1)[k])) for k, op in ops]

    def run(dst: Array, data: Array, operand0: Any, operand1: Any) -> None:
        x, operands = like(dst, data), (operand0, operand1)
        for k, function, reverse in steps:
            value = _integer(dst, operands[k])
            x = function(value, x) if reverse else function(x, value)
        store(dst, x)

    return run


def _integer(dst: Array, operand: Any) -> Any:
    """Returns an integer, or one a partition."""
    if operand is None:
        return 0
    return column(dst, operand) if hasattr(operand, "shape") else int(operand)


TENSOR_SCALAR = Instruction(
    "tensor_scalar",
    "dst = (data op0 operand0) op1 operand1; operands are numbers or one value a partition",
    engines=frozenset({Engine.DVE, Engine.POOL, Engine.ACT}),
    roles="dst data operand0? operand1?",
    outs=1,
    parameters=("op0", "op1", "reverse0", "reverse1", "engine"),
    rules=(
        *on_chip("dst", "data", "operand0", "operand1"),
        *destinations("dst"),
        SamePartitions(roles=("dst", "data", "operand0", "operand1")),
        SameFree(roles=("dst", "data")),
        FreeSize(roles=("operand0", "operand1"), exactly=1),
        NotInPsumOn(engine=Engine.POOL, roles=("dst", "data", "operand0", "operand1")),
        OpAvailable(parameters=("op0", "op1")),
        EngineSince(engine=Engine.ACT, first=CAYMAN),
        OpPairsOn(engine=Engine.ACT, pairs=SCALAR_ENGINE_PAIRS, before=CORE_V4),
        *(OpOnEngines(parameter=op, ops=RSQRT, engines=RSQRT_ENGINES) for op in ("op0", "op1")),
        *(
            OpOnEngines(parameter=op, ops=BITWISE, engines=frozenset({Engine.DVE}), id="X-BITVEC")
            for op in ("op0", "op1")
        ),
        OperandOfOp(parameter="op0", operand="operand0"),
        OperandOfOp(parameter="op1", operand="operand1"),
        SameOpClass(parameters=("op0", "op1")),
        BitwiseOnIntegers(parameters=("op0", "op1"), roles=("dst", "data", "operand0", "operand1")),
        VectorDtype(parameters=("op0", "op1"), vectors=("operand0", "operand1"), others=("dst", "data")),
        Unpacked(roles=("dst", "data", "operand0", "operand1")),
    ),
    evaluate=_tensor_scalar,
    cycles=elements("data"),
    spread=by_element,
)


def _scalar_tensor_tensor(e: Evaluation) -> Run:
    write = writer(e.dtypes["dst"])
    first, second = _step(e.op0, bool(e.reverse0)), _step(e.op1, bool(e.reverse1))

    def run(dst: Array, data: Array, operand0: Any, operand1: Array) -> None:
        x = first(fp32(like(dst, data)), _vector(dst, operand0))
        write(dst, second(x, fp32(like(dst, operand1))))

    return run


def _scalar_tensor_tensor_cycles(operands: Operands, target: Target) -> int:
    free, parameters = free_of(operands, "data"), operands.parameters
    pair = parameters.get("op0"), parameters.get("op1")
    fast = pair == (AluOp.SUBTRACT, AluOp.MULT) and all_bf16(operands, "data", "operand1") and free % 2 == 0
    return max(MINIMUM_CYCLES, free if fast else 2 * free)


SCALAR_TENSOR_TENSOR = Instruction(
    "scalar_tensor_tensor",
    "dst = (data op0 operand0) op1 operand1; operand0 is a number or one value a partition, operand1 a tile",
    engines=VECTOR_ENGINES,
    roles="dst data operand0 operand1",
    outs=1,
    parameters=("op0", "op1", "reverse0", "reverse1", "engine"),
    rules=(
        *on_chip("dst", "data", "operand0", "operand1"),
        *destinations("dst"),
        SamePartitions(roles=("dst", "data", "operand0", "operand1")),
        NeedsTile(role="operand1"),
        SameFree(roles=("dst", "data", "operand1")),
        FreeSize(roles=("operand0",), exactly=1),
        NotBothPsum(roles=("data", "operand1")),
        NotInPsumOn(engine=Engine.POOL, roles=("dst", "data", "operand0", "operand1")),
        OpIn(parameters=("op0", "op1"), ops=ARITHMETIC, kind="an arithmetic operator"),
        OpAvailable(parameters=("op0", "op1")),
        OperandOfOp(parameter="op0", operand="operand0"),
        VectorDtype(parameters=("op0", "op1"), vectors=("operand0",), others=("dst", "data", "operand1")),
        Dimensions(roles=("data", "operand1"), at_most=3, id="BIR133"),
        Dimensions(roles=("dst",), at_most=3, id="BIR134"),
        Unpacked(roles=("dst", "data", "operand0", "operand1")),
    ),
    evaluate=_scalar_tensor_tensor,
    cycles=_scalar_tensor_tensor_cycles,
    spread=by_element,
)


def _reciprocal(e: Evaluation) -> Run:
    write, function = writer(e.dtypes["dst"]), alu(AluOp.RECIPROCAL)

    def run(dst: Array, data: Array) -> None:
        write(dst, function(fp32(like(dst, data)), None))

    return run


RECIPROCAL = Instruction(
    "reciprocal",
    "dst = 1 / data",
    engines=frozenset({Engine.DVE}),
    roles="dst data",
    outs=1,
    parameters=("engine",),
    rules=(
        *on_chip("dst", "data"),
        *destinations("dst"),
        SamePartitions(roles=("dst", "data")),
        SameFree(roles=("dst", "data")),
        Unpacked(roles=("dst", "data")),
    ),
    evaluate=_reciprocal,
    cycles=elements("data", factor=8),
    spread=by_element,
)

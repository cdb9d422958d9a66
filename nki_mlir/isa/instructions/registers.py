"""What the engines' sequencers run on registers: moves, arithmetic, one element to or from memory, branches.

A register is a Python integer to a Run, signed and of 32 bits. One that is an output is None, and the Run returns what
it takes; that of a branch returns whether it is taken. Arithmetic wraps.
"""

import operator
from collections.abc import Callable
from typing import Any

from nki_mlir.isa.dtypes import Dtype
from nki_mlir.isa.enums import AluOp, BranchCompareOp, Engine, MemorySpace
from nki_mlir.isa.instructions.base import MINIMUM_CYCLES, Array, Evaluation, Instruction, Run
from nki_mlir.isa.operands import Operands
from nki_mlir.isa.rules import (
    HBM,
    Aligned,
    ComparisonForm,
    DtypeIn,
    InMemory,
    InsideStorage,
    OneElement,
    OpIn,
    RegisterNumber,
    Rule,
)
from nki_mlir.isa.rules.registers import REGISTER_BITS
from nki_mlir.isa.target import Target

SEQUENCERS = frozenset({Engine.POOL, Engine.ACT, Engine.PE, Engine.DVE, Engine.SP})
"""The engines with a sequencer, which are all but the DMA rings (NKI ISA reference, §1.3)."""
REGISTER_DTYPES = frozenset({dtype for dtype in Dtype if dtype.is_integer} | {Dtype.F32})
"""What registers hold, 64-bit types in pairs of them (NKI ISA reference, §1.3)."""


def wrapped(value: int) -> int:
    """Returns the low 32 bits of an integer as a signed number."""
    half = 1 << REGISTER_BITS - 1
    return (value + half) % (2 * half) - half


def _unsigned(value: int) -> int:
    return value % (1 << REGISTER_BITS)


def _shift(value: int, count: int, *, left: bool) -> int:
    """Shifts; a count is unsigned, and one of the width or more shifts everything out but the sign."""
    count = min(_unsigned(count), REGISTER_BITS)
    return value << count if left else value >> count


_ALU: dict[AluOp, Callable[[int, int], int]] = {
    AluOp.BYPASS: lambda a, b: a,
    AluOp.ADD: operator.add,
    AluOp.SUBTRACT: operator.sub,
    AluOp.MULT: operator.mul,
    AluOp.MAX: max,
    AluOp.MIN: min,
    AluOp.BITWISE_NOT: lambda a, b: ~a,
    AluOp.BITWISE_AND: lambda a, b: a & b,
    AluOp.BITWISE_OR: lambda a, b: a | b,
    AluOp.BITWISE_XOR: lambda a, b: a ^ b,
    AluOp.LOGICAL_SHIFT_LEFT: lambda a, b: _shift(a, b, left=True),
    AluOp.ARITH_SHIFT_LEFT: lambda a, b: _shift(a, b, left=True),
    AluOp.LOGICAL_SHIFT_RIGHT: lambda a, b: _shift(_unsigned(a), b, left=False),
    AluOp.ARITH_SHIFT_RIGHT: lambda a, b: _shift(a, b, left=False),
    AluOp.IS_EQUAL: operator.eq,
    AluOp.NOT_EQUAL: operator.ne,
    AluOp.IS_GT: operator.gt,
    AluOp.IS_GE: operator.ge,
    AluOp.IS_LT: operator.lt,
    AluOp.IS_LE: operator.le,
    AluOp.LOGICAL_AND: lambda a, b: bool(a) and bool(b),
    AluOp.LOGICAL_OR: lambda a, b: bool(a) or bool(b),
    AluOp.LOGICAL_XOR: lambda a, b: bool(a) is not bool(b),
}
"""The operators with a meaning on integers of one register each."""

_COMPARE: dict[BranchCompareOp, Callable[[Any, Any], bool]] = {
    BranchCompareOp.LT_IMM: operator.lt,
    BranchCompareOp.LE_IMM: operator.le,
    BranchCompareOp.EQ_IMM: operator.eq,
    BranchCompareOp.NE_IMM: operator.ne,
    BranchCompareOp.GE_IMM: operator.ge,
    BranchCompareOp.GT_IMM: operator.gt,
    BranchCompareOp.LT_REG: operator.lt,
    BranchCompareOp.LE_REG: operator.le,
    BranchCompareOp.EQ_REG: operator.eq,
    BranchCompareOp.NE_REG: operator.ne,
    BranchCompareOp.GE_REG: operator.ge,
    BranchCompareOp.GT_REG: operator.gt,
}


def _cycles(operands: Operands, target: Target) -> int:
    """Returns the fewest cycles of an instruction, for nothing is published of those on registers."""
    return MINIMUM_CYCLES


def _move(e: Evaluation) -> Run:
    def run(dst: None, src: int) -> int:
        return wrapped(src)

    return run


def _alu(e: Evaluation) -> Run:
    function = _ALU[e.op]

    def run(dst: None, src: int, operand: int) -> int:
        return wrapped(int(function(src, operand)))

    return run


def _load(e: Evaluation) -> Run:
    def run(dst: None, src: Array) -> int:
        return wrapped(int(src.item()))

    return run


def _store(e: Evaluation) -> Run:
    def run(dst: Array, src: int) -> None:
        bits = src % (1 << 8 * dst.itemsize)
        dst.view(f"u{dst.itemsize}")[...] = bits

    return run


def _compare(e: Evaluation) -> Run:
    return _COMPARE[e.comp_op]


def _element(role: str) -> tuple[Rule, ...]:
    return (
        InMemory(roles=(role,), spaces=(*HBM, MemorySpace.SBUF), source="NKI ISA reference, §2.10"),
        OneElement(roles=(role,)),
        DtypeIn(roles=(role,), dtypes=REGISTER_DTYPES),
        InsideStorage(roles=(role,)),
        Aligned(roles=(role,)),
    )


REGISTER_MOVE = Instruction(
    "register_move",
    "dst = src, a register or a number",
    engines=SEQUENCERS,
    roles="dst src",
    outs=1,
    parameters=("engine",),
    rules=(RegisterNumber(role="src"),),
    evaluate=_move,
    cycles=_cycles,
)

REGISTER_ALU = Instruction(
    "register_alu",
    "dst = src op operand, a register or a number",
    engines=SEQUENCERS,
    roles="dst src operand",
    outs=1,
    parameters=("op", "engine"),
    rules=(
        OpIn(parameters=("op",), ops=frozenset(_ALU), kind="an operator on integers", id="X-REGOP"),
        RegisterNumber(role="operand"),
    ),
    evaluate=_alu,
    cycles=_cycles,
)

REGISTER_LOAD = Instruction(
    "register_load",
    "dst = the low 32 bits of one element of src",
    engines=SEQUENCERS,
    roles="dst src",
    outs=1,
    parameters=("engine",),
    rules=_element("src"),
    evaluate=_load,
    cycles=_cycles,
)

REGISTER_STORE = Instruction(
    "register_store",
    "one element of dst = the low bits of src",
    engines=SEQUENCERS,
    roles="dst src",
    outs=1,
    parameters=("engine",),
    rules=_element("dst"),
    evaluate=_store,
    cycles=_cycles,
)

COMPARE_AND_BRANCH = Instruction(
    "compare_and_branch",
    "goes to one block where left comp_op right holds, to another where it does not",
    engines=SEQUENCERS,
    roles="left? right?",
    outs=0,
    parameters=("comp_op", "engine"),
    rules=(
        ComparisonForm(parameter="comp_op", left="left", right="right"),
        DtypeIn(
            roles=("right",),
            dtypes=frozenset({Dtype.F32, Dtype.I32, Dtype.U32}),
            id="BIR073",
            source="BIR reference, §7.4, which gives BIR072, 073 and 142 to this row together",
        ),
    ),
    evaluate=_compare,
    cycles=_cycles,
)

"""The Scalar engine's activation: a function of data * scale + bias, with an optional running sum."""

from collections.abc import Mapping
from typing import Any

from nki_mlir.diagnostics import NkiError
from nki_mlir.isa.dtypes import Dtype
from nki_mlir.isa.enums import AccumulateCommand, ActivationFunction, AluOp, Engine
from nki_mlir.isa.instructions.base import (
    MINIMUM_CYCLES,
    NEVER_RESET,
    Array,
    Evaluation,
    Instruction,
    Run,
    Spread,
    by_element,
    column,
    fp32,
    free_of,
    like,
)
from nki_mlir.isa.lazy import numpy as np
from nki_mlir.isa.numerics import activation, alu_reduce, writer
from nki_mlir.isa.operands import Operands
from nki_mlir.isa.rules import (
    DtypeIn,
    FreeSize,
    OpIn,
    Requires,
    Rule,
    SameFree,
    SamePartitions,
    Unpacked,
    destinations,
    on_chip,
)
from nki_mlir.isa.target import CAYMAN, Target

ACCUMULATOR_READ = 64
"""Cycles to read an accumulator register out (nki-isa.md §1.9, ACC_READ)."""
RESETTING = frozenset({AccumulateCommand.ZERO, AccumulateCommand.ZERO_ACCUMULATE})
DEFINED = 255
JUST_MARKED = 2
"""The mark of an accumulator that the running instruction will leave undefined, 1 once it has."""
ADDING = frozenset({AccumulateCommand.ACCUMULATE, AccumulateCommand.ADD_ACCUMULATE, AccumulateCommand.ZERO_ACCUMULATE})


def _activation(e: Evaluation) -> Run:
    function = activation(e.func)
    command = e.accumulate or AccumulateCommand.IDLE
    direct = e.dtypes["dst"] is Dtype.F32
    write = writer(e.dtypes["dst"])

    def argument(dst: Array, data: Array, bias: Any, scale: Any) -> Array:
        x = fp32(like(dst, data))
        if scale is not None and not (isinstance(scale, float | int) and scale == 1.0):
            x = x * _vector(dst, scale)
        if bias is not None and not (isinstance(bias, float | int) and bias == 0.0):
            x = x + _vector(dst, bias)
        return x

    if command is AccumulateCommand.IDLE and "reduce_res" not in e.dtypes:

        def plain(dst: Array, reduce_res: None, data: Array, bias: Any, scale: Any) -> None:
            x = argument(dst, data, bias, scale)
            if direct:
                function(x, dst)
            else:
                write(dst, function(x))

        return plain
    if command not in RESETTING | ADDING | {AccumulateCommand.IDLE}:
        raise NkiError(f"activation with accumulate command '{command}' has no published meaning")
    accumulator, total = e.accumulators.of(Engine.ACT), alu_reduce(AluOp.ADD)
    undefined = e.accumulators.undefined(Engine.ACT)
    write_result = writer(e.dtypes["reduce_res"]) if "reduce_res" in e.dtypes else None

    def run(dst: Array, reduce_res: Array | None, data: Array, bias: Any, scale: Any) -> None:
        result = function(argument(dst, data, bias, scale))
        write(dst, result)
        lanes, marks = accumulator[: dst.shape[0]], undefined[: dst.shape[0]]
        if command in RESETTING:
            lanes[:] = 0.0
            np.equal(marks, JUST_MARKED, out=marks)
        elif (marks == NEVER_RESET).any():
            raise NkiError("the accumulator was never reset, so that it holds nothing to add to or to read")
        elif marks.any():
            raise NkiError("the accumulator holds the sum of elements that were never written")
        if command in ADDING:
            lanes += total(result.reshape(dst.shape[0], -1))
        if reduce_res is not None and write_result is not None:
            write_result(reduce_res, lanes.reshape(reduce_res.shape))

    return run


def _spread(e: Evaluation) -> Spread:
    """The accumulator keeps what it was given for instructions to come: it may be undefined for one that resets it."""
    if e.accumulate in (None, AccumulateCommand.IDLE, AccumulateCommand.ZERO):
        return by_element(e)
    if e.accumulate not in RESETTING:
        return lambda states, out: None
    inner, undefined = by_element(e), e.accumulators.undefined(Engine.ACT)

    def spread(states: Mapping[str, Array], out: Array) -> Array | None:
        for state in states.values():
            rows = state.reshape(state.shape[0], -1).min(axis=1)
            undefined[: rows.size][rows != DEFINED] = JUST_MARKED
        return inner(states, out)

    return spread


def _vector(dst: Array, operand: Any) -> Any:
    return column(dst, fp32(operand)) if hasattr(operand, "shape") else np.float32(operand)


def _cycles(operands: Operands, target: Target) -> int:
    return max(MINIMUM_CYCLES, free_of(operands, "data")) + (ACCUMULATOR_READ if "reduce_res" in operands.roles else 0)


COMMANDS = frozenset(c for c in AccumulateCommand if c is not AccumulateCommand.LOAD_ACCUMULATE)
"""An activation has no operand from which the accumulator could be loaded (Penguin reference, §9.6)."""
NUMBER_AS_BIAS = frozenset({ActivationFunction.COPY, ActivationFunction.RECIPROCAL})


LEGACY_BIAS = (DtypeIn(roles=("bias",), dtypes=frozenset({Dtype.F32, Dtype.F16, Dtype.BF16}), id="X-BIAS"),)
"""What the older API's activation takes as a tile of biases (nki-isa.md §2.4)."""


class ImmediateBias(Rule):
    """Before trn2 the bias is a vector, except for the two functions that need no table."""

    ID = "BIR605"
    source: str = "BIR reference, §7.4; NKI ISA reference, §2.4"

    @property
    def statement(self) -> str:
        return "bias as a number needs func copy or reciprocal"

    def check(self, operands: Operands, target: Target | None) -> str | None:
        bias, func = operands.one("bias"), operands.parameters.get("func")
        if bias is None or bias.immediate is None or func in NUMBER_AS_BIAS:
            return None
        return f"bias is a number, which {func} takes from {CAYMAN} on"


class BiasOfReciprocal(Rule):
    """Before trn2 a reciprocal takes no vector as its bias."""

    ID = "X-RECBIAS"
    source: str = "NKI ISA reference, §2.4 and §2.15"

    @property
    def statement(self) -> str:
        return "bias must not be in storage with func reciprocal"

    def check(self, operands: Operands, target: Target | None) -> str | None:
        bias = operands.one("bias")
        if operands.parameters.get("func") is not ActivationFunction.RECIPROCAL or bias is None or bias.space is None:
            return None
        return f"bias is in storage, which reciprocal takes from {CAYMAN} on"


ACTIVATION = Instruction(
    "activation",
    "dst = func(data * scale + bias); the accumulator may add dst over the free dimensions",
    engines=frozenset({Engine.ACT}),
    roles="dst reduce_res? data bias? scale?",
    outs=2,
    parameters=("func", "accumulate", "reduce_op", "engine"),
    rules=(
        *on_chip("dst", "reduce_res", "data", "bias", "scale"),
        *destinations("dst", "reduce_res"),
        SamePartitions(roles=("dst", "data", "reduce_res", "bias", "scale")),
        SameFree(roles=("dst", "data")),
        FreeSize(roles=("bias", "reduce_res"), exactly=1),
        FreeSize(roles=("scale",), exactly=1),
        DtypeIn(
            roles=("bias",),
            dtypes=frozenset(d for d in Dtype if d.lanes == 1 and d.size <= 4 and d is not Dtype.F32R),
            id="X-BIAS",
            source="newer documentation: any type but tf32; older: fp32, fp16, bf16",
        ),
        DtypeIn(roles=("scale",), dtypes=frozenset({Dtype.F32}), id="X-SCALE"),
        ImmediateBias(before=CAYMAN),
        BiasOfReciprocal(before=CAYMAN),
        OpIn(parameters=("reduce_op",), ops=frozenset({AluOp.ADD})),
        OpIn(parameters=("accumulate",), ops=COMMANDS, id="X-ACCCMD"),
        Unpacked(roles=("dst", "reduce_res", "data")),
        Requires(
            name="reduce_res",
            needs=("accumulate",),
            id="X-REDRES",
        ),
    ),
    evaluate=_activation,
    cycles=_cycles,
    spread=_spread,
)

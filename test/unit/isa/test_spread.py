"""Undefined elements of operands: whatever a result element depends on makes it undefined, and nothing else does.

The reference is the instruction itself, run with two sets of garbage in the undefined elements: where the results
differ, the result depends on them.
"""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nki_mlir.isa.dtypes import Dtype
from nki_mlir.isa.enums import AccumulateCommand, ActivationFunction, AluOp, AxisList, Engine, MemorySpace
from nki_mlir.isa.instructions import INSTRUCTIONS, Evaluation
from nki_mlir.isa.target import CAYMAN, SUNDA, Target

DEFINED = 255


class Registers:
    def of(self, engine: Engine) -> Any:
        return np.zeros(128, np.float32)

    def undefined(self, engine: Engine) -> Any:
        return np.zeros(128, np.uint8)


def evaluation(parameters: dict[str, Any], roles: list[str], target: Target = CAYMAN) -> Evaluation:
    types = dict.fromkeys(roles, Dtype.F32)
    return Evaluation(parameters, types, dict.fromkeys(roles, MemorySpace.SBUF), target, Registers())


P, F = 4, 6
TILE, COLUMN = (P, F), (P, 1)
CASES = {
    "copy": ("tensor_copy", {}, {"dst": TILE, "src": TILE}),
    "copy of another shape": ("dma_copy", {}, {"dst": (F, P), "src": TILE}),
    "load": ("dma_load", {}, {"dst": (2, 2, F), "src": TILE}),
    "save": ("dma_save", {}, {"dst": (P * F,), "src": TILE}),
    "tensor_tensor": ("tensor_tensor", {"op": AluOp.ADD}, {"dst": TILE, "data1": (P, 2, 3), "data2": TILE}),
    "tensor_scalar": (
        "tensor_scalar",
        {"op0": AluOp.MULT, "op1": AluOp.ADD},
        {"dst": TILE, "data": TILE, "operand0": COLUMN, "operand1": COLUMN},
    ),
    "scalar_tensor_tensor": (
        "scalar_tensor_tensor",
        {"op0": AluOp.MULT, "op1": AluOp.ADD},
        {"dst": TILE, "data": TILE, "operand0": COLUMN, "operand1": TILE},
    ),
    "reciprocal": ("reciprocal", {}, {"dst": TILE, "data": TILE}),
    "activation": (
        "activation",
        {"func": ActivationFunction.COPY},
        {"dst": TILE, "reduce_res": None, "data": TILE, "bias": COLUMN, "scale": COLUMN},
    ),
    "tensor_reduce": ("tensor_reduce", {"op": AluOp.ADD, "axis": AxisList.X}, {"dst": (P, 2), "data": (P, 2, 3)}),
    "bn_stats": ("bn_stats", {}, {"dst": (P, 6), "data": TILE}),
    "bn_aggr": ("bn_aggr", {}, {"dst": (P, 2), "data": TILE}),
    "affine_select": (
        "affine_select",
        {"pattern": ((1, F),), "channel_multiplier": -1, "cmp_op": AluOp.IS_GE},
        {"dst": TILE, "on_true": TILE, "on_false": None},
    ),
    "select": ("select", {}, {"dst": TILE, "predicate": TILE, "on_true": TILE, "on_false": TILE}),
    "copy_predicated": ("copy_predicated", {}, {"dst": TILE, "src": TILE, "predicate": TILE}),
    "matmul": ("matmul", {}, {"dst": (5, F), "stationary": (P, 5), "moving": TILE}),
    "matmul before trn2": ("matmul", {"is_transpose": True}, {"dst": (5, F), "stationary": (P, 5), "moving": TILE}),
    "transpose": ("transpose", {}, {"dst": (F, P), "data": TILE}),
    "stream_transpose": ("stream_transpose", {}, {"dst": (F, P), "data": TILE}),
}
EXACT = CASES.keys() - {"bn_stats", "bn_aggr", "select", "copy_predicated"}
"""Those whose spread is no wider than the dependence; the others go by the partition, or by any operand of a choice."""


def test_every_instruction_that_spreads_is_here():
    spreading = {name for name, isa in INSTRUCTIONS.items() if isa.spread is not None}
    assert spreading == {name for name, _, _ in CASES.values()}


@pytest.mark.parametrize("case", CASES)
@given(seed=st.integers(0, 2**32 - 1), density=st.sampled_from([0.02, 0.1, 0.5]))
@settings(deadline=None, max_examples=25)
def test_results_that_depend_on_undefined_elements_are_undefined(case: str, seed: int, density: float):
    name, parameters, shapes = CASES[case]
    isa, draw = INSTRUCTIONS[name], np.random.default_rng(seed)
    roles = [role for role in isa.role_names if shapes.get(role) is not None or role == "on_false"]
    target = SUNDA if case.endswith("trn2") else CAYMAN
    found = evaluation(parameters, roles, target)
    run = isa.evaluate(found)
    inputs = {role: shape for role, shape in shapes.items() if shape is not None and role != "dst"}
    data = {role: draw.uniform(1, 2, shape).astype(np.float32) for role, shape in inputs.items()}
    if "predicate" in data:
        data["predicate"] = draw.integers(0, 2, inputs["predicate"]).astype(np.float32)
    undefined = {role: draw.random(shape) < density for role, shape in inputs.items()}

    def result(garbage: float) -> Any:
        dst = np.full(shapes["dst"], 7, np.float32)
        given = {role: np.where(undefined[role], np.float32(garbage), data[role]) for role in inputs}
        arguments = [dst if role == "dst" else given.get(role) for role in isa.role_names]
        if name == "affine_select":
            arguments[-1] = 0.5
        run(*arguments, *([False] if isa.accumulates else []))
        return dst

    depends = np.logical_or.reduce([(result(x) != result(y)) for x, y in ((3, 5), (0, 11), (-2, 0.25))])
    assert isa.spread is not None
    states = {role: np.where(mask, 9, DEFINED).astype(np.uint8) for role, mask in undefined.items() if mask.any()}
    if not states:
        return
    after = isa.spread(found)(states, np.full(shapes["dst"], DEFINED, np.uint8))
    assert set(np.unique(after)) <= {9, DEFINED}
    assert (after[depends] == 9).all()
    if case in EXACT:
        assert (after[~depends] == DEFINED).all()


@pytest.mark.parametrize("moved", ["stationary", "moving"])
def test_what_a_matmul_moves_stays_apart(moved: str):
    roles = ["dst", "stationary", "moving"]
    spread = INSTRUCTIONS["matmul"].spread
    assert spread is not None
    state = np.full((4, 6), DEFINED, np.uint8)
    state[1, 2] = 3
    after = spread(evaluation({"is_transpose": True}, roles))({moved: state}, np.full((6, 4), DEFINED, np.uint8))
    assert np.array_equal(after, state.T)


def test_what_is_added_to_stays_undefined():
    spread = INSTRUCTIONS["matmul"].spread
    assert spread is not None
    state = np.full((5, 6), DEFINED, np.uint8)
    state[4, 0] = 3
    after = spread(evaluation({}, ["dst", "stationary", "moving"]))({"dst": state}, np.full((5, 6), 255, np.uint8))
    assert np.array_equal(after, state)


def test_nothing_undefined_enters_an_accumulator():
    spread = INSTRUCTIONS["activation"].spread
    assert spread is not None
    parameters = {"func": ActivationFunction.COPY, "accumulate": AccumulateCommand.ACCUMULATE}
    state = np.full(TILE, 3, np.uint8)
    out = np.full(TILE, DEFINED, np.uint8)
    assert spread(evaluation(parameters, ["dst", "data"]))({"data": state}, out) is None

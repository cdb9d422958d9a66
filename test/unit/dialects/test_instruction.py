"""How instructions hold their operands: reading, building, changing roles; figures for the rules; declarations."""

from typing import Any, cast

import pytest
from parsing import body, instruction, instructions, printed
from xdsl.dialects.builtin import ArrayAttr, FileLineColLoc, IntAttr, StringAttr
from xdsl.ir import Operation
from xdsl.utils.exceptions import VerifyException

from nki_mlir.dialects import get_all_dialects
from nki_mlir.dialects.access import Access
from nki_mlir.dialects.attributes import REGISTER, AluOpAttr, EngineAttr, ExprAttr, Immediate, MemFields, MemType
from nki_mlir.dialects.bir import ActivationOp, LoopOp, MemsetOp, TensorCopyOp, TensorOp, TensorTensorOp
from nki_mlir.dialects.forms import CopyForm, UnaryForm
from nki_mlir.dialects.instruction import (
    Given,
    InstructionOp,
    build,
    drop_role,
    given_roles,
    guard_indices,
    guard_of,
    in_list,
    operands_of,
    other_properties,
    out,
    role_of,
    set_role,
)
from nki_mlir.dialects.instruction import instruction as declare
from nki_mlir.dialects.operands import figures, index_range, placement_of, rule_operands, target_of
from nki_mlir.isa.dtypes import Dtype
from nki_mlir.isa.enums import AluOp, Engine, MemorySpace
from nki_mlir.isa.instructions import INSTRUCTIONS
from nki_mlir.isa.target import CAYMAN, CORE_V4

WHOLE = Access.read("[0 : 128 | 0 : 512] f32")
WHOLE_TYPE = MemType(MemFields(MemorySpace.SBUF, (128, 512), Dtype.F32))
ACTIVATION = (
    'bir.loop %i = 0 to 4 affine {{ bir.activation exp on act "x" outs(%u{{%i}}[0 : 128 | 0 : 512] f32)'
    " ins(%t[0 : 128 | 0 : 512] f32, bias = %t[0 : 128 | %r : 1] f32, scale = 2.0 : f32){} }}"
)


def activation(tail: str = " when(%i - 1 ge 0, %q eq 0)") -> InstructionOp:
    return instruction(ACTIVATION.format(tail))


# Operands --------------------------------------------------------------------------------------------------------


def test_operands_in_order() -> None:
    op = activation()
    uses = list(operands_of(op))
    assert [(use.role.name, use.role.group, use.label) for use in uses] == [
        ("dst", "outs", "dst"),
        ("data", "ins", "data"),
        ("bias", "ins", "bias"),
        ("scale", "ins", "scale"),
    ]
    named = [(use.storage and use.storage.name_hint, [v.name_hint for v in use.indices]) for use in uses]
    assert named == [("u", ["i"]), ("t", []), ("t", ["r"]), (None, [])]
    assert uses[3].pattern is Immediate.of(2.0, Dtype.F32)
    assert [value.name_hint for value in guard_indices(op)] == ["i", "q"]
    assert role_of(op, "reduce_res") is None
    assert role_of(op, "bias") == uses[2]
    assert len(op.operands) == 7


def test_building_what_was_taken_apart() -> None:
    op = activation()
    again = build(type(op), given_roles(op), other_properties(op), when=guard_of(op), location=op.location)
    assert again.properties == op.properties
    assert [*again.operands] == [*op.operands]
    assert again.location == op.location


def test_a_new_operand() -> None:
    op = activation()
    other = cast(Any, op.parent_op()).parent.first_op.results[0]
    set_role(op, "data", Given(WHOLE, other))
    set_role(op, "bias", Given(Immediate.of(1.0, Dtype.F32)))
    set_role(op, "reduce_res", Given(Access.read("[0 : 128 | d0 : 1] f32"), other, [op.operands[1]]))
    assert "outs(%u{%i}[0 : 128 | 0 : 512] f32, reduce_res = %t[0 : 128 | %i : 1] f32)" in printed(op)
    assert "ins(%t[0 : 128 | 0 : 512] f32, bias = 1.0 : f32, scale = 2.0 : f32)" in printed(op)
    assert "when(%i - 1 ge 0, %q eq 0)" in printed(op)
    assert all(use.operation is op for use in op.operands[-1].uses)


def test_dropping_an_operand() -> None:
    op = activation()
    register = op.operands[4]
    assert register.name_hint == "r"
    drop_role(op, "bias")
    drop_role(op, "scale")
    assert "bias" not in op.properties
    assert not [*register.uses]
    assert "ins(%t[0 : 128 | 0 : 512] f32) when(%i - 1 ge 0, %q eq 0)" in printed(op)
    drop_role(op, "scale")
    op.verify_()


def test_uses_of_a_storage_are_its_readers_and_writers() -> None:
    module = body(
        "bir.memset outs(%t[0 : 128 | 0 : 512] f32) ins(0.0 : f32)"
        " bir.tensor_copy outs(%u[0 : 128 | 0 : 512] f32) ins(%t[0 : 128 | 0 : 512] f32)"
    )
    storage = next(op for op in module.walk() if isinstance(op, TensorOp)).results[0]
    roles = [
        (use.operation.name, found.role.name)
        for use in storage.uses
        for found in operands_of(cast(InstructionOp, use.operation))
        if found.storage is storage
    ]
    assert sorted(roles) == [("bir.memset", "dst"), ("bir.tensor_copy", "src")]


def variadic() -> type[Any]:
    """A class with a variadic role, which no instruction has yet; its name belongs to no dialect."""

    @declare()
    class SumOp(InstructionOp):
        """A sum of any number of operands."""

        name = "test.sum"
        dst = out()
        srcs = in_list()

    return SumOp


def test_variadic_roles() -> None:
    cls = variadic()
    t, u = (op.results[0] for op in list(body("").walk()) if isinstance(op, TensorOp) and op.mem.on_chip)
    srcs = [Given(WHOLE, t), Given(Immediate.of(1.0, Dtype.F32)), Given(WHOLE, u)]
    op = build(cls, {"dst": Given(WHOLE, t), "srcs": srcs}, {})
    op.verify_()
    assert [use.label for use in operands_of(op)] == ["dst", "srcs[0]", "srcs[1]", "srcs[2]"]
    assert given_roles(op)["srcs"] == [
        Given(WHOLE, t, ()),
        Given(Immediate.of(1.0, Dtype.F32), None, ()),
        Given(WHOLE, u, ()),
    ]
    assert len(rule_operands(op).roles["srcs"]) == 3
    set_role(op, "srcs", [])
    assert op.properties["srcs"] == ArrayAttr([])
    assert len(op.operands) == 1
    op.properties["srcs"] = WHOLE
    with pytest.raises(VerifyException, match="srcs must be an array of access patterns"):
        op.verify_()


# Declarations ----------------------------------------------------------------------------------------------------


def test_a_class_has_the_roles_of_its_descriptor() -> None:
    with pytest.raises(TypeError, match=r"WrongOp has the roles \('dst', 'data'\), tensor_copy has \('dst', 'src'\)"):

        @declare(INSTRUCTIONS["tensor_copy"])
        class WrongOp(UnaryForm):
            """Wrong."""

            name = "test.wrong"


def test_a_class_has_one_variadic_role() -> None:
    with pytest.raises(TypeError, match="TwoOp has more than one variadic role"):

        @declare()
        class TwoOp(InstructionOp):
            """Two."""

            name = "test.two"
            dst = in_list()
            srcs = in_list()


def test_what_a_class_declares() -> None:
    assert TensorTensorOp.OPCODE == 31
    assert TensorTensorOp.ISA is INSTRUCTIONS["tensor_tensor"]
    assert [role.name for role in ActivationOp.ROLES] == ["dst", "reduce_res", "data", "bias", "scale"]
    assert [role.optional for role in ActivationOp.ROLES] == [False, True, False, True, True]
    assert issubclass(TensorCopyOp, CopyForm)


def test_numbers_of_a_dialect_are_its_own() -> None:
    for name, dialect in get_all_dialects().items():
        numbers = [op.OPCODE for op in dialect().operations if getattr(op, "OPCODE", None) is not None]
        assert len(numbers) == len(set(numbers)), name


def test_every_class_says_what_it_is() -> None:
    for dialect in get_all_dialects().values():
        for op in dialect().operations:
            assert (op.__doc__ or "").strip(), op.name
            assert op.name == f"{dialect().name}.{op.name.partition('.')[2]}"


# What rules see --------------------------------------------------------------------------------------------------


def at(access: str, storage: str = "sbuf 128x512xf32", loop: str = "0 to 4", place: str = "") -> Any:
    """The figures of an access in a loop over %i."""
    op = instruction(
        f'%x = bir.tensor "x" {place} : !nki.mem<{storage}>'
        f" bir.loop %i = {loop} affine {{ bir.memset outs(%x{access}) ins(0.0 : f32) }}"
    )
    return rule_operands(op).roles["dst"]


def test_figures_of_an_access() -> None:
    found = at("[32 : 64 | 8 : 16*4, 2] f32", place="at <0, 2048>")
    assert (found.partitions, found.free, found.count) == (64, 8, 512)
    assert (found.row, found.storage_partitions, found.address) == (512, 128, 2048)
    assert (found.rows, found.columns, found.start) == ((32, 95), (8, 57), 32)
    assert (found.steps, found.nums, found.partition_steps, found.partition_nums) == ((16, 1), (4, 2), (1,), (64,))
    assert found.on_chip


def test_figures_in_another_type() -> None:
    assert at("[0 : 128 | 0 : 2048] u8").row == 2048
    assert at("[0 : 4 | 0 : 2] f32", "sbuf 4x10xu8").row == 2, "the rest of a row is out of reach"


def test_figures_over_a_loop() -> None:
    found = at("[32*%i : 32 | 7*%i + 1 : 8] f32")
    assert (found.rows, found.columns) == ((0, 127), (1, 29))
    assert (found.start, found.start_step) == (0, 32)
    assert found.spans == ((0, 32), (32, 32), (64, 32), (96, 32))
    found = at("[%i : 32 | 0 : 8] f32", loop="32 to 128 step 64")
    assert (found.rows, found.start, found.start_step) == ((32, 127), 32, 64)
    found = at("[32*%i : 32 | 0 : 8] f32", loop="3 to 4")
    assert (found.start, found.start_step) == (96, 0)
    found = at("[16*%i + 16*(%i mod 2) : 8 | 0 : 8] f32", loop="0 to 6")
    assert (found.start, found.start_step, found.rows) == (0, 32, (0, 103))
    found = at("[0 : 128 | %i - (%i mod 2) : 8] f32", loop="0 to 506")
    assert found.columns == (0, 511), "exact bounds, where those of the terms would reach further"


def test_figures_of_what_is_not_known() -> None:
    assert at("[0 : 8 | %r : 8] f32").columns is None
    found = at("[0 : min(128, %i + 1) | 0 : min(8, %i + 1)] f32")
    assert (found.partitions, found.free, found.count, found.columns) == (None, None, None, (0, 7))
    assert at("[0 : 8 | 0 : 8] f32", "sbuf 64x512xf32").start is None, "storage that may start at 0 or 64"
    assert at("[0 : 8 | 0 : 8] f32", "sbuf 64x512xf32", place="at <64, 0>").start == 64
    assert at("[%i : 8 | %i : 8] f32", loop="4 to 4").columns == (4, 11), "a loop that never runs"
    assert at("[%r : 32 | 0 : 8] f32").start_step == 1


def test_parameters_that_rules_see() -> None:
    op = instruction(
        "bir.matmult is_transpose on pe outs(%t[0 : 32 | 0 : 512] f32)"
        " ins(%t[0 : 32 | 0 : 32] f32, %t[0 : 32 | 0 : 512] f32)"
        " params(accumulate = 1, tile_size = [32, 64])"
    )
    assert dict(rule_operands(op).parameters) == {
        "is_transpose": True,
        "engine": Engine.PE,
        "accumulate": 1,
        "tile_size": (32, 64),
    }
    op = instruction(
        'bir.tensor_scalar add "n" outs(%t[0 : 128 | 0 : 1] f32) ins(%t[0 : 128 | 0 : 1] f32, operand0 = 1.0 : f32)'
    )
    found = rule_operands(op)
    assert dict(found.parameters) == {"op0": AluOp.ADD}
    operand = found.one("operand0")
    assert operand is not None
    assert (operand.immediate, operand.space, operand.dtype) == (1.0, None, Dtype.F32)


def test_operands_without_index_values_are_shared() -> None:
    text = "bir.memset outs(%t[0 : 128 | 0 : 512] f32) ins(0.0 : f32)"
    first, second = instructions(body(text + " " + text))
    assert rule_operands(first).roles["dst"] is rule_operands(second).roles["dst"]


def test_targets() -> None:
    op = instruction("bir.memset outs(%t[0 : 128 | 0 : 512] f32) ins(0.0 : f32)")
    assert target_of(op) is None
    func = op.parent_op()
    assert func is not None
    module = cast(Any, func.parent_op())
    from nki_mlir.dialects.attributes import ArchAttr

    module.properties["arch"] = ArchAttr(CAYMAN)
    assert target_of(op) is CAYMAN
    func.attributes["nki.arch"] = ArchAttr(CORE_V4)
    assert target_of(op) is CORE_V4, "the nearest one"
    assert target_of(module) is CAYMAN


def test_ranges_and_placements() -> None:
    module = body(
        '%x = bir.tensor "x" at <0, 64>, <> : !nki.mem<sbuf 4x4xf32, blocks 2>'
        " bir.loop %i = 0 to 10 step 4 affine { bir.memset outs(%x[0 : 4 | 0 : 4] f32) ins(0.0 : f32) }"
    )
    loop = next(op for op in module.walk() if isinstance(op, LoopOp))
    assert index_range(loop.variable) == range(0, 10, 4)
    (op,) = instructions(module)
    storage = op.operands[0]
    assert [placement_of(storage, block) for block in (0, 1, 2)] == [(0, 64), None, None]
    assert placement_of(storage, cast(Any, ExprAttr.read("d0").value())) is None
    tensor = cast(TensorOp, storage.owner)
    tensor.place([None, (0, 128)])
    assert tensor.placements() == [None, (0, 128)]
    assert [tensor.placement(block) for block in (-1, 0, 1, 2)] == [None, None, (0, 128), None]
    assert figures(WHOLE, tensor.mem, None, []).address is None


# Making ----------------------------------------------------------------------------------------------------------


def test_an_instruction_is_made_as_xdsl_makes_an_op() -> None:
    """Pins what `InstructionOp.create` relies on of xDSL's private state."""
    t, u = (TensorOp.create(result_types=[WHOLE_TYPE], properties={"name": StringAttr(n)}).results[0] for n in "tu")
    parts: dict[str, Any] = {
        "operands": [t, u, t],
        "properties": {"dst": WHOLE, "data1": WHOLE, "data2": WHOLE, "op": AluOpAttr(AluOp.ADD)},
        "attributes": {"note": StringAttr("x")},
        "location": FileLineColLoc(StringAttr("a.py"), IntAttr(3), IntAttr(4)),
    }
    ours = TensorTensorOp.create(**parts)
    assert [(use.operation is ours, use.index) for use in t.uses] == [(True, 2), (True, 0)]
    theirs = cast(Any, Operation.create).__func__(TensorTensorOp, **parts)
    assert ours.is_structurally_equivalent(theirs)
    assert vars(ours).keys() <= vars(theirs).keys()
    for name, value in vars(theirs).items():
        if name != "_operand_uses":
            assert getattr(ours, name) == value, name
    assert ours.properties is not parts["properties"]
    ours.operands[0] = u
    assert [use.operation for use in t.uses] == [theirs, theirs, ours]
    for op in (ours, theirs):
        op.erase()
    assert t.first_use is u.first_use is None


# Verification ----------------------------------------------------------------------------------------------------


def broken(change: Any) -> str:
    op = activation()
    change(op)
    with pytest.raises(VerifyException) as caught:
        op.verify_()
    return str(caught.value)


def _extra(op: Operation) -> None:
    op.operands = [*op.operands, op.operands[0]]


def _fewer(op: Operation) -> None:
    op.operands = [*op.operands][:2]


@pytest.mark.parametrize(
    "change, message",
    [
        (lambda op: op.properties.__setitem__("scale", EngineAttr(Engine.PE)), "scale is #nki.engine<pe>, it must be"),
        (
            lambda op: op.properties.__setitem__("scale", REGISTER),
            "scale is a register, it must be a number or storage",
        ),
        (lambda op: op.properties.__setitem__("data", StringAttr("x")), 'data is "x", it must be storage'),
        (lambda op: op.properties.__delitem__("data"), "property 'data' expected in operation 'bir.activation'"),
        (lambda op: op.properties.__setitem__("engine", StringAttr("act")), "act"),
        (lambda op: op.properties.__setitem__("colour", StringAttr("x")), "property 'colour' is not defined"),
        (_extra, "patterns name 7 values, the op has 8"),
        (_fewer, "data needs 3 values in all, the op has 2"),
    ],
)
def test_what_the_generic_form_can_get_wrong(change: Any, message: str) -> None:
    assert message in broken(change)


def test_an_op_that_verified_is_looked_at_again_when_it_changes() -> None:
    op = instruction("bir.tensor_copy outs(%t[0 : 128 | 0 : 512] f32) ins(%u[0 : 128 | 0 : 512] f32)")
    op.verify()
    for wrong, message in (
        ("[0 : 129 | 0 : 512] f32", "at most 128 allowed"),
        ("[0 : 128 | 1 : 512] f32", "X-FMAX"),
        ("{4}[0 : 128 | 0 : 512] f32", "accesses block 4, its storage has 4"),
        ("[0 : 128 | 0 : 511] f32", "X-FEQ"),
    ):
        op.properties["src"] = Access.read(wrong)
        with pytest.raises(VerifyException, match=message):
            op.verify()
    op.properties["src"] = Access.read("{3}[0 : 128 | 511 : -1*512] f32")
    op.verify()


def test_memset_in_generic_text_is_the_same_op() -> None:
    op = instruction(
        '"bir.memset"(%t) <{dst = #nki.access<[0 : 128 | 0 : 512] f32>, value = #nki.imm<0.0 : f32>}>'
        " : (!nki.mem<sbuf 128x512xf32>) -> ()"
    )
    assert isinstance(op, MemsetOp)
    assert printed(op) == "bir.memset outs(%t[0 : 128 | 0 : 512] f32) ins(0.0 : f32)"

"""The operands and parameters of each instruction, described once for its ops in all dialects.

A dialect's op class derives from the form, adds its published name and number, and what only that dialect has.
"""

from xdsl.dialects.builtin import IntegerAttr
from xdsl.irdl import opt_prop_def, prop_def
from xdsl.utils.exceptions import VerifyException

from nki_mlir.dialects.affine import LARGEST
from nki_mlir.dialects.attributes import (
    AccumulateCommandAttr,
    ActivationFunctionAttr,
    AluOpAttr,
    AxisListAttr,
    BranchCompareOpAttr,
    DgeTypeAttr,
    PatternAttr,
    PerfModeAttr,
)
from nki_mlir.dialects.instruction import (
    EITHER,
    NUMBER,
    REGISTER_ONLY,
    REGISTER_OR_NUMBER,
    InstructionOp,
    enum,
    flag,
    in_,
    opt_enum,
    opt_in,
    opt_out,
    opt_param,
    out,
)

# Memory ---------------------------------------------------------------------------------------------------------


class MemsetForm(InstructionOp):
    dst = out()
    value = in_(NUMBER)


class CopyForm(InstructionOp):
    dst = out()
    src = in_()


class DmaForm(CopyForm):
    dge_type = opt_enum(DgeTypeAttr)


# Elementwise ----------------------------------------------------------------------------------------------------


class TensorTensorForm(InstructionOp):
    op = enum(AluOpAttr)
    dst = out()
    data1 = in_()
    data2 = in_()


class TensorScalarForm(InstructionOp):
    op0 = enum(AluOpAttr)
    op1 = opt_enum(AluOpAttr, inline=True)
    reverse0 = flag()
    reverse1 = flag()
    dst = out()
    data = in_()
    operand0 = opt_in(EITHER)
    operand1 = opt_in(EITHER)


class ScalarTensorTensorForm(InstructionOp):
    op0 = enum(AluOpAttr)
    op1 = enum(AluOpAttr)
    reverse0 = flag()
    reverse1 = flag()
    dst = out()
    data = in_()
    operand0 = in_(EITHER)
    operand1 = in_()


class UnaryForm(InstructionOp):
    dst = out()
    data = in_()


class ActivationForm(InstructionOp):
    func = enum(ActivationFunctionAttr)
    accumulate = opt_enum(AccumulateCommandAttr)
    reduce_op = opt_enum(AluOpAttr)
    dst = out()
    reduce_res = opt_out()
    data = in_()
    bias = opt_in(EITHER)
    scale = opt_in(EITHER)


# Reductions -----------------------------------------------------------------------------------------------------


class TensorReduceForm(InstructionOp):
    op = enum(AluOpAttr)
    axis = enum(AxisListAttr)
    negate = flag()
    dst = out()
    data = in_()


class PartitionReduceForm(InstructionOp):
    op = enum(AluOpAttr)
    dst = out()
    data = in_()


# Position and selection -----------------------------------------------------------------------------------------


class RampForm(InstructionOp):
    """What iota and affine select share: offset + partition * channel_multiplier + the ramp of the pattern."""

    pattern = prop_def(PatternAttr)
    offset = opt_prop_def(IntegerAttr)
    channel_multiplier = opt_prop_def(IntegerAttr)

    def verify_(self) -> None:
        for name in ("offset", "channel_multiplier"):
            held = self.properties.get(name)
            if isinstance(held, IntegerAttr) and not -LARGEST <= held.value.data < LARGEST:
                raise VerifyException(f"{name} must be an integer of 64 bits, got {held.value.data}")
        super().verify_()


class IotaForm(RampForm):
    dst = out()


class AffineSelectForm(RampForm):
    cmp_op = enum(AluOpAttr)
    dst = out()
    on_true = in_()
    on_false = in_(NUMBER)


class SelectForm(InstructionOp):
    dst = out()
    predicate = in_()
    on_true = in_(EITHER)
    on_false = in_(EITHER)


class CopyPredicatedForm(InstructionOp):
    reverse_pred = flag()
    dst = out()
    src = in_(EITHER)
    predicate = in_()


# Tensor engine --------------------------------------------------------------------------------------------------


class MatmulForm(InstructionOp):
    is_transpose = flag()
    is_stationary_onezero = flag()
    is_moving_onezero = flag()
    perf_mode = opt_enum(PerfModeAttr)
    dst = out()
    stationary = in_()
    moving = in_()
    accumulate = opt_param(lists=False)
    tile_position = opt_param()
    tile_size = opt_param()


# Registers ------------------------------------------------------------------------------------------------------


class RegisterMoveForm(InstructionOp):
    dst = out(REGISTER_ONLY)
    src = in_(REGISTER_OR_NUMBER)


class RegisterAluForm(InstructionOp):
    op = enum(AluOpAttr)
    dst = out(REGISTER_ONLY)
    src = in_(REGISTER_ONLY)
    operand = in_(REGISTER_OR_NUMBER)


class RegisterLoadForm(InstructionOp):
    dst = out(REGISTER_ONLY)
    src = in_()


class RegisterStoreForm(InstructionOp):
    dst = out()
    src = in_(REGISTER_ONLY)


class CompareForm(InstructionOp):
    comp_op = enum(BranchCompareOpAttr)
    left = in_(REGISTER_ONLY)
    right = in_(REGISTER_OR_NUMBER)

"""Penguin: element-wise instructions, activation, reductions, selection."""

from nki_mlir.dialects.forms import (
    ActivationForm,
    AffineSelectForm,
    CopyPredicatedForm,
    IotaForm,
    PartitionReduceForm,
    SelectForm,
    TensorReduceForm,
    TensorScalarForm,
    TensorTensorForm,
    UnaryForm,
)
from nki_mlir.dialects.instruction import flag, instruction
from nki_mlir.isa.instructions.activation import ACTIVATION
from nki_mlir.isa.instructions.base import Instruction
from nki_mlir.isa.instructions.elementwise import RECIPROCAL, SCALAR_TENSOR_TENSOR, TENSOR_SCALAR, TENSOR_TENSOR
from nki_mlir.isa.instructions.reduce import BN_AGGR, BN_STATS, PARTITION_REDUCE, TENSOR_REDUCE
from nki_mlir.isa.instructions.select import AFFINE_SELECT, COPY_PREDICATED, IOTA, SELECT


@instruction(TENSOR_TENSOR)
class TensorTensorOp(TensorTensorForm):
    """TensorTensorOp: element-wise binary operator."""

    name = "penguin.tensor_tensor"


@instruction(TENSOR_SCALAR)
class TensorScalarPtrOp(TensorScalarForm):
    """TensorScalarPtrOp: op1(op0(data, operand0), operand1), operands immediate or one value a partition."""

    name = "penguin.tensor_scalar_ptr"

    is_scalar_tensor_tensor = flag()

    def descriptor(self) -> Instruction | None:
        return SCALAR_TENSOR_TENSOR if self.is_scalar_tensor_tensor else TENSOR_SCALAR


@instruction(ACTIVATION)
class ActivationOp(ActivationForm):
    """ActivationOp: dst = func(data * scale + bias)."""

    name = "penguin.activation"


@instruction(ACTIVATION)
class ActivationAccumulationOp(ActivationForm):
    """ActivationAccumulationOp: an activation with a running sum over the free dimensions."""

    name = "penguin.activation_accumulation"


@instruction(RECIPROCAL)
class ReciprocalOp(UnaryForm):
    """ReciprocalOp: 1 / data."""

    name = "penguin.reciprocal"


@instruction(TENSOR_REDUCE)
class TensorReduceOp(TensorReduceForm):
    """TensorReduceOp: reduction of the innermost free dimensions."""

    name = "penguin.tensor_reduce"


@instruction(PARTITION_REDUCE)
class PartitionReduceOp(PartitionReduceForm):
    """PartitionReduceOp: reduction over partitions."""

    name = "penguin.partition_reduce"


@instruction(BN_STATS)
class SundaBNStats(UnaryForm):
    """SundaBNStats: partial statistics."""

    name = "penguin.sunda_bn_stats"


@instruction(BN_AGGR)
class SundaBNAggr(UnaryForm):
    """SundaBNAggr: combines statistics."""

    name = "penguin.sunda_bn_aggr"


@instruction(IOTA)
class IndexValueInst(IotaForm):
    """IndexValueInst: an affine ramp."""

    name = "penguin.index_value"


@instruction(AFFINE_SELECT)
class AffSelTensorScalarOp(AffineSelectForm):
    """AffSelTensorScalarOp: selects by one affine predicate."""

    name = "penguin.aff_sel_tensor_scalar"


@instruction(SELECT)
class TensorSelect(SelectForm):
    """TensorSelect: ternary select by a mask of data."""

    name = "penguin.tensor_select"


@instruction(COPY_PREDICATED)
class TensorCopyPredicated(CopyPredicatedForm):
    """TensorCopyPredicated: conditional copy."""

    name = "penguin.tensor_copy_predicated"

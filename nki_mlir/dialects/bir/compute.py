"""BIR: element-wise instructions, activation, reductions, selection."""

from nki_mlir.dialects.forms import (
    ActivationForm,
    AffineSelectForm,
    CopyPredicatedForm,
    IotaForm,
    SelectForm,
    TensorReduceForm,
    TensorScalarForm,
    TensorTensorForm,
    UnaryForm,
)
from nki_mlir.dialects.instruction import NUMBER, flag, instruction, opt_in
from nki_mlir.isa.enums import AxisList
from nki_mlir.isa.instructions.activation import ACTIVATION
from nki_mlir.isa.instructions.base import Instruction
from nki_mlir.isa.instructions.elementwise import RECIPROCAL, SCALAR_TENSOR_TENSOR, TENSOR_SCALAR, TENSOR_TENSOR
from nki_mlir.isa.instructions.reduce import BN_AGGR, BN_STATS, PARTITION_REDUCE, TENSOR_REDUCE
from nki_mlir.isa.instructions.select import AFFINE_SELECT, COPY_PREDICATED, IOTA, SELECT


@instruction(TENSOR_TENSOR, opcode=31)
class TensorTensorOp(TensorTensorForm):
    """TensorTensor: element-wise binary operator."""

    name = "bir.tensor_tensor"


@instruction(TENSOR_SCALAR, opcode=28)
class TensorScalarOp(TensorScalarForm):
    """TensorScalar: two operators with immediate scalars."""

    name = "bir.tensor_scalar"

    operand0 = opt_in(NUMBER)
    operand1 = opt_in(NUMBER)


@instruction(TENSOR_SCALAR, opcode=29)
class TensorScalarPtrOp(TensorScalarForm):
    """TensorScalarPtr: two operators with per-partition scalars or immediates.

    With `is_scalar_tensor_tensor` operand1 is a whole tile.
    """

    name = "bir.tensor_scalar_ptr"

    is_scalar_tensor_tensor = flag()

    def descriptor(self) -> Instruction | None:
        return SCALAR_TENSOR_TENSOR if self.is_scalar_tensor_tensor else TENSOR_SCALAR


@instruction(ACTIVATION, opcode=4)
class ActivationOp(ActivationForm):
    """Activation: dst = func(data * scale + bias)."""

    name = "bir.activation"


@instruction(RECIPROCAL, opcode=21)
class ReciprocalOp(UnaryForm):
    """Reciprocal: dst = 1 / data."""

    name = "bir.reciprocal"


@instruction(TENSOR_REDUCE, opcode=27)
class TensorReduceOp(TensorReduceForm):
    """TensorReduce: reduces the innermost 1 to 4 free dimensions, or the partitions with axis `c`."""

    name = "bir.tensor_reduce"

    def descriptor(self) -> Instruction | None:
        return PARTITION_REDUCE if self.axis.data is AxisList.C else TENSOR_REDUCE


@instruction(BN_STATS, opcode=34)
class BNStatsOp(UnaryForm):
    """BNStats: count, mean and variance * count of the even and odd elements."""

    name = "bir.bn_stats"


@instruction(BN_AGGR, opcode=35)
class BNStatsAggregateOp(UnaryForm):
    """BNStatsAggregate: mean and variance of the given statistics."""

    name = "bir.bn_stats_aggregate"


@instruction(IOTA, opcode=61)
class IotaOp(IotaForm):
    """Iota: an affine ramp."""

    name = "bir.iota"


@instruction(AFFINE_SELECT, opcode=62)
class TensorScalarAffineSelectOp(AffineSelectForm):
    """TensorScalarAffineSelect: selects by an affine predicate of the position."""

    name = "bir.tensor_scalar_affine_select"


@instruction(SELECT, opcode=51)
class SelectOp(SelectForm):
    """Select: dst = predicate ? on_true : on_false."""

    name = "bir.select"


@instruction(COPY_PREDICATED, opcode=52)
class CopyPredicatedOp(CopyPredicatedForm):
    """CopyPredicated: copies where the predicate is set."""

    name = "bir.copy_predicated"

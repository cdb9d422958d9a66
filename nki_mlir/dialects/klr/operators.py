"""KLR: the operators, with what only their records on disk have beside the shared form.

Properties that begin a record's own field: `dtype` (the Option on disk), `dge_mode`, `oob_mode`, `keepdims` and so on.
"""

from xdsl.dialects.builtin import IntegerAttr
from xdsl.irdl import opt_prop_def

from nki_mlir.dialects.attributes import AluOpAttr, DtypeAttr, OobModeAttr
from nki_mlir.dialects.forms import (
    ActivationForm,
    AffineSelectForm,
    CopyForm,
    CopyPredicatedForm,
    DmaForm,
    IotaForm,
    MatmulForm,
    MemsetForm,
    PartitionReduceForm,
    RegisterAluForm,
    RegisterLoadForm,
    RegisterMoveForm,
    RegisterStoreForm,
    ScalarTensorTensorForm,
    SelectForm,
    TensorReduceForm,
    TensorScalarForm,
    TensorTensorForm,
    UnaryForm,
)
from nki_mlir.dialects.instruction import flag, instruction, opt_enum
from nki_mlir.isa.instructions.activation import ACTIVATION
from nki_mlir.isa.instructions.elementwise import RECIPROCAL, SCALAR_TENSOR_TENSOR, TENSOR_SCALAR, TENSOR_TENSOR
from nki_mlir.isa.instructions.matmul import MATMUL, TRANSPOSE
from nki_mlir.isa.instructions.memory import DMA_COPY, MEMSET, TENSOR_COPY
from nki_mlir.isa.instructions.reduce import BN_AGGR, BN_STATS, PARTITION_REDUCE, TENSOR_REDUCE
from nki_mlir.isa.instructions.registers import REGISTER_ALU, REGISTER_LOAD, REGISTER_MOVE, REGISTER_STORE
from nki_mlir.isa.instructions.select import AFFINE_SELECT, COPY_PREDICATED, IOTA, SELECT


@instruction(ACTIVATION, opcode=1)
class NcActivateOp(ActivationForm):
    """ncActivate: dst = func(data * scale + bias)."""

    name = "klr.nc_activate"
    dtype = opt_enum(DtypeAttr)


@instruction(ACTIVATION, opcode=2)
class ActivationReduceOp(ActivationForm):
    """activationReduce: an activation with a sum over the free dimensions."""

    name = "klr.activation_reduce"
    dtype = opt_enum(DtypeAttr)


@instruction(AFFINE_SELECT, opcode=4)
class NcAffineSelectOp(AffineSelectForm):
    """ncAffineSelect: selects by an affine predicate of the position."""

    name = "klr.nc_affine_select"
    dtype = opt_enum(DtypeAttr)


@instruction(BN_AGGR, opcode=5)
class BatchNormAggregateOp(UnaryForm):
    """batchNormAggregate: combines statistics."""

    name = "klr.batch_norm_aggregate"
    dtype = opt_enum(DtypeAttr)


@instruction(BN_STATS, opcode=6)
class BatchNormStatsOp(UnaryForm):
    """batchNormStats: partial statistics."""

    name = "klr.batch_norm_stats"
    dtype = opt_enum(DtypeAttr)


@instruction(TENSOR_COPY, opcode=8)
class NcCopyOp(CopyForm):
    """ncCopy: on-chip copy with cast."""

    name = "klr.nc_copy"
    dtype = opt_enum(DtypeAttr)


@instruction(COPY_PREDICATED, opcode=9)
class CopyPredicatedOp(CopyPredicatedForm):
    """copyPredicated: conditional copy."""

    name = "klr.copy_predicated"
    dtype = opt_enum(DtypeAttr)


@instruction(DMA_COPY, opcode=11)
class NcDmaCopyOp(DmaForm):
    """ncDmaCopy: DMA between any two memories."""

    name = "klr.nc_dma_copy"
    oob_mode = opt_enum(OobModeAttr)
    unique_indices = flag()
    priority = opt_prop_def(IntegerAttr)


@instruction(IOTA, opcode=15)
class IotaOp(IotaForm):
    """iota: an affine ramp."""

    name = "klr.iota"
    dtype = opt_enum(DtypeAttr)


@instruction(MATMUL, opcode=21)
class NcMatMulOp(MatmulForm):
    """ncMatMul: dst (+)= transpose(stationary) @ moving.

    `accumulate` has no field on disk; without it the first write of a location overwrites and later ones add.
    """

    name = "klr.nc_mat_mul"


@instruction(MEMSET, opcode=25)
class MemSetOp(MemsetForm):
    """memSet: fills a tile with a constant."""

    name = "klr.mem_set"
    dtype = opt_enum(DtypeAttr)


@instruction(RECIPROCAL, opcode=28)
class ReciprocalOp(UnaryForm):
    """reciprocal: 1 / data."""

    name = "klr.reciprocal"
    dtype = opt_enum(DtypeAttr)


@instruction(SCALAR_TENSOR_TENSOR, opcode=30)
class NcScalarTensorTensorOp(ScalarTensorTensorForm):
    """ncScalarTensorTensor: op1(op0(data, operand0), operand1) with a whole tile as operand1."""

    name = "klr.nc_scalar_tensor_tensor"
    dtype = opt_enum(DtypeAttr)


@instruction(TENSOR_REDUCE, opcode=32)
class TensorReduceOp(TensorReduceForm):
    """tensorReduce: reduction of the innermost free dimensions."""

    name = "klr.tensor_reduce"
    dtype = opt_enum(DtypeAttr)
    keepdims = flag()


@instruction(TENSOR_SCALAR, opcode=33)
class TensorScalarOp(TensorScalarForm):
    """tensorScalar: op1(op0(data, operand0), operand1)."""

    name = "klr.tensor_scalar"
    dtype = opt_enum(DtypeAttr)


@instruction(TENSOR_TENSOR, opcode=34)
class TensorTensorOp(TensorTensorForm):
    """tensorTensor: element-wise binary operator."""

    name = "klr.tensor_tensor"
    dtype = opt_enum(DtypeAttr)


@instruction(PARTITION_REDUCE, opcode=36)
class TensorPartitionReduceOp(PartitionReduceForm):
    """tensorPartitionReduce: reduction over partitions."""

    name = "klr.tensor_partition_reduce"
    dtype = opt_enum(DtypeAttr)


@instruction(TRANSPOSE, opcode=38)
class TransposeOp(UnaryForm):
    """transpose: 2-D transpose that is not on the Tensor engine."""

    name = "klr.transpose"
    dtype = opt_enum(DtypeAttr)


@instruction(SELECT, opcode=39)
class SelectReduceOp(SelectForm):
    """selectReduce without a reduction: dst = predicate ? on_true : on_false.

    `reduce_op` is there in files and means nothing.
    """

    name = "klr.select_reduce"
    dtype = opt_enum(DtypeAttr)
    reduce_op = opt_enum(AluOpAttr)


@instruction(REGISTER_LOAD, opcode=43)
class TensorLoadOp(RegisterLoadForm):
    """tensorLoad: one element of a tensor to a register."""

    name = "klr.tensor_load"


@instruction(REGISTER_STORE, opcode=44)
class TensorStoreOp(RegisterStoreForm):
    """tensorStore: a register to one element of a tensor."""

    name = "klr.tensor_store"


@instruction(REGISTER_MOVE, opcode=45)
class RegisterMoveOp(RegisterMoveForm):
    """registerMove: dst = a number."""

    name = "klr.register_move"


@instruction(REGISTER_ALU, opcode=47)
class RegisterAluOp(RegisterAluForm):
    """registerAluOp: dst = src op a number."""

    name = "klr.register_alu_op"

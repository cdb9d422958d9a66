"""KLR to BIR: element-wise instructions, activation, reductions, selection.

The `dtype` of KLR's records repeats that of the destination, which its access has.
"""

from xdsl.dialects.builtin import UnitAttr

from nki_mlir.dialects import bir, klr
from nki_mlir.dialects.attributes import AxisListAttr
from nki_mlir.isa.enums import AxisList
from nki_mlir.transforms.lowering import same

ROWS = (
    same(klr.TensorTensorOp, bir.TensorTensorOp, drop=["dtype"]),
    same(klr.TensorScalarOp, bir.TensorScalarPtrOp, drop=["dtype"]),
    same(
        klr.NcScalarTensorTensorOp,
        bir.TensorScalarPtrOp,
        drop=["dtype"],
        add={"is_scalar_tensor_tensor": UnitAttr()},
    ),
    same(klr.NcActivateOp, bir.ActivationOp, drop=["dtype"]),
    same(klr.ActivationReduceOp, bir.ActivationOp, drop=["dtype"]),
    same(klr.ReciprocalOp, bir.ReciprocalOp, drop=["dtype"]),
    same(klr.TensorReduceOp, bir.TensorReduceOp, drop=["dtype", "keepdims"]),
    same(klr.TensorPartitionReduceOp, bir.TensorReduceOp, drop=["dtype"], add={"axis": AxisListAttr(AxisList.C)}),
    same(klr.BatchNormStatsOp, bir.BNStatsOp, drop=["dtype"]),
    same(klr.BatchNormAggregateOp, bir.BNStatsAggregateOp, drop=["dtype"]),
    same(klr.IotaOp, bir.IotaOp, drop=["dtype"]),
    same(klr.NcAffineSelectOp, bir.TensorScalarAffineSelectOp, drop=["dtype"]),
    same(klr.SelectReduceOp, bir.SelectOp, drop=["dtype", "reduce_op"]),
    same(klr.CopyPredicatedOp, bir.CopyPredicatedOp, drop=["dtype"]),
)

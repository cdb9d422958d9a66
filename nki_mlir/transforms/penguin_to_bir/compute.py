"""Penguin to BIR: element-wise instructions, activation, reductions, selection."""

from nki_mlir.dialects import bir, penguin
from nki_mlir.dialects.attributes import AxisListAttr
from nki_mlir.isa.enums import AxisList
from nki_mlir.transforms.lowering import same

ROWS = (
    same(penguin.TensorTensorOp, bir.TensorTensorOp),
    same(penguin.TensorScalarPtrOp, bir.TensorScalarPtrOp),
    same(penguin.ActivationOp, bir.ActivationOp),
    same(penguin.ActivationAccumulationOp, bir.ActivationOp),
    same(penguin.ReciprocalOp, bir.ReciprocalOp),
    same(penguin.TensorReduceOp, bir.TensorReduceOp),
    same(penguin.PartitionReduceOp, bir.TensorReduceOp, add={"axis": AxisListAttr(AxisList.C)}),
    same(penguin.SundaBNStats, bir.BNStatsOp),
    same(penguin.SundaBNAggr, bir.BNStatsAggregateOp),
    same(penguin.IndexValueInst, bir.IotaOp),
    same(penguin.AffSelTensorScalarOp, bir.TensorScalarAffineSelectOp),
    same(penguin.TensorSelect, bir.SelectOp),
    same(penguin.TensorCopyPredicated, bir.CopyPredicatedOp),
)

"""The BIR dialect: the physical IR of the backend, one op for each opcode."""

from xdsl.ir import Dialect

from nki_mlir.dialects.bir.compute import (
    ActivationOp,
    BNStatsAggregateOp,
    BNStatsOp,
    CopyPredicatedOp,
    IotaOp,
    ReciprocalOp,
    SelectOp,
    TensorReduceOp,
    TensorScalarAffineSelectOp,
    TensorScalarOp,
    TensorScalarPtrOp,
    TensorTensorOp,
)
from nki_mlir.dialects.bir.memory import DMACopyOp, LoadOp, MemsetOp, SaveOp, TensorCopyOp
from nki_mlir.dialects.bir.registers import RegisterAluOp, RegisterMoveOp, TensorLoadOp, TensorSaveOp
from nki_mlir.dialects.bir.structure import (
    CompareAndBranchOp,
    DoWhileOp,
    DynamicForLoopOp,
    FuncOp,
    LoopOp,
    ModuleOp,
    RegisterOp,
    ReturnOp,
    TensorOp,
    UnconditionalBranchOp,
)
from nki_mlir.dialects.bir.tensor_engine import MatmultOp, StreamTransposeOp

Bir = Dialect(
    "bir",
    [
        ModuleOp,
        FuncOp,
        TensorOp,
        RegisterOp,
        LoopOp,
        DynamicForLoopOp,
        DoWhileOp,
        CompareAndBranchOp,
        UnconditionalBranchOp,
        ReturnOp,
        MemsetOp,
        LoadOp,
        SaveOp,
        DMACopyOp,
        TensorCopyOp,
        TensorTensorOp,
        TensorScalarOp,
        TensorScalarPtrOp,
        ActivationOp,
        ReciprocalOp,
        TensorReduceOp,
        BNStatsOp,
        BNStatsAggregateOp,
        IotaOp,
        TensorScalarAffineSelectOp,
        SelectOp,
        CopyPredicatedOp,
        MatmultOp,
        StreamTransposeOp,
        RegisterAluOp,
        RegisterMoveOp,
        TensorLoadOp,
        TensorSaveOp,
    ],
)

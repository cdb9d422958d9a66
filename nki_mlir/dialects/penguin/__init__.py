"""The Penguin dialect: the structured, symbolic IR that the beta3 front end builds."""

from xdsl.ir import Dialect

from nki_mlir.dialects.penguin.compute import (
    ActivationAccumulationOp,
    ActivationOp,
    AffSelTensorScalarOp,
    IndexValueInst,
    PartitionReduceOp,
    ReciprocalOp,
    SundaBNAggr,
    SundaBNStats,
    TensorCopyPredicated,
    TensorReduceOp,
    TensorScalarPtrOp,
    TensorSelect,
    TensorTensorOp,
)
from nki_mlir.dialects.penguin.memory import (
    DMACopyOp,
    LoadTensorToRegister,
    MemsetOp,
    RegisterMove,
    SBAtomLoad,
    SBAtomStore,
    TensorCopyOp,
)
from nki_mlir.dialects.penguin.structure import (
    DynamicLoopOp,
    FuncOp,
    LoopOp,
    ModuleOp,
    RegisterOp,
    ScopeOp,
    TensorOp,
    WhileOp,
)
from nki_mlir.dialects.penguin.tensor_engine import MatMulOp, TransposeOp

Penguin = Dialect(
    "penguin",
    [
        ModuleOp,
        FuncOp,
        TensorOp,
        RegisterOp,
        LoopOp,
        DynamicLoopOp,
        WhileOp,
        ScopeOp,
        MemsetOp,
        SBAtomLoad,
        SBAtomStore,
        DMACopyOp,
        TensorCopyOp,
        LoadTensorToRegister,
        RegisterMove,
        TensorTensorOp,
        TensorScalarPtrOp,
        ActivationOp,
        ActivationAccumulationOp,
        ReciprocalOp,
        TensorReduceOp,
        PartitionReduceOp,
        SundaBNStats,
        SundaBNAggr,
        IndexValueInst,
        AffSelTensorScalarOp,
        TensorSelect,
        TensorCopyPredicated,
        MatMulOp,
        TransposeOp,
    ],
)

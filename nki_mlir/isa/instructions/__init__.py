"""The instructions of the hardware, one module a family. `INSTRUCTIONS` lists them by name."""

from nki_mlir.isa.instructions.activation import ACTIVATION
from nki_mlir.isa.instructions.base import Accumulators, Evaluation, Instruction, Run
from nki_mlir.isa.instructions.elementwise import RECIPROCAL, SCALAR_TENSOR_TENSOR, TENSOR_SCALAR, TENSOR_TENSOR
from nki_mlir.isa.instructions.matmul import MATMUL, STREAM_TRANSPOSE, TRANSPOSE
from nki_mlir.isa.instructions.memory import DMA_COPY, DMA_LOAD, DMA_SAVE, MEMSET, TENSOR_COPY
from nki_mlir.isa.instructions.reduce import BN_AGGR, BN_STATS, PARTITION_REDUCE, TENSOR_REDUCE
from nki_mlir.isa.instructions.registers import (
    COMPARE_AND_BRANCH,
    REGISTER_ALU,
    REGISTER_LOAD,
    REGISTER_MOVE,
    REGISTER_STORE,
)
from nki_mlir.isa.instructions.select import AFFINE_SELECT, COPY_PREDICATED, IOTA, SELECT

INSTRUCTIONS: dict[str, Instruction] = {
    instruction.name: instruction
    for instruction in (
        MEMSET,
        DMA_LOAD,
        DMA_SAVE,
        DMA_COPY,
        TENSOR_COPY,
        TENSOR_TENSOR,
        TENSOR_SCALAR,
        SCALAR_TENSOR_TENSOR,
        RECIPROCAL,
        ACTIVATION,
        TENSOR_REDUCE,
        PARTITION_REDUCE,
        BN_STATS,
        BN_AGGR,
        IOTA,
        AFFINE_SELECT,
        SELECT,
        COPY_PREDICATED,
        MATMUL,
        TRANSPOSE,
        STREAM_TRANSPOSE,
        REGISTER_MOVE,
        REGISTER_ALU,
        REGISTER_LOAD,
        REGISTER_STORE,
        COMPARE_AND_BRANCH,
    )
}

__all__ = ["INSTRUCTIONS", "Accumulators", "Evaluation", "Instruction", "Run"]

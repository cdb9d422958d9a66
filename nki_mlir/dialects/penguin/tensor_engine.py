"""Penguin: matmul and transpose."""

from nki_mlir.dialects.forms import MatmulForm, UnaryForm
from nki_mlir.dialects.instruction import instruction
from nki_mlir.isa.instructions.matmul import MATMUL, TRANSPOSE


@instruction(MATMUL)
class MatMulOp(MatmulForm):
    """MatMulOp: dst (+)= transpose(stationary) @ moving."""

    name = "penguin.mat_mul"


@instruction(TRANSPOSE)
class TransposeOp(UnaryForm):
    """TransposeOp: 2-D transpose on the Tensor or Vector engine."""

    name = "penguin.transpose"

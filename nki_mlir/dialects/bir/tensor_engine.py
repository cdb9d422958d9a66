"""BIR: matmul and transpose."""

from nki_mlir.dialects.forms import MatmulForm, UnaryForm
from nki_mlir.dialects.instruction import instruction
from nki_mlir.isa.instructions.matmul import MATMUL, STREAM_TRANSPOSE


@instruction(MATMUL, opcode=8)
class MatmultOp(MatmulForm):
    """Matmult: stationary (weights) times moving (ifmap) into PSUM.

    Without `accumulate`, the first write of a location since its storage began overwrites and later ones add.
    """

    name = "bir.matmult"


@instruction(STREAM_TRANSPOSE, opcode=40)
class StreamTransposeOp(UnaryForm):
    """StreamTranspose: transposes a block on the Vector engine."""

    name = "bir.stream_transpose"

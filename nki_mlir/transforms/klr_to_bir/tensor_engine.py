"""KLR to BIR: matmul and transpose."""

from nki_mlir.dialects import bir, klr
from nki_mlir.transforms.lowering import Row, same
from nki_mlir.transforms.transposes import check_transpose, lower_transpose

ROWS = (
    same(klr.NcMatMulOp, bir.MatmultOp),
    Row(klr.TransposeOp, lower_transpose, check_transpose),
)

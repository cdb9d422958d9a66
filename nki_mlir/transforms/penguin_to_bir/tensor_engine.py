"""Penguin to BIR: matmul and transpose."""

from nki_mlir.dialects import bir, penguin
from nki_mlir.transforms.lowering import Row, same
from nki_mlir.transforms.transposes import check_transpose, lower_transpose

ROWS = (
    same(penguin.MatMulOp, bir.MatmultOp),
    Row(penguin.TransposeOp, lower_transpose, check_transpose),
)

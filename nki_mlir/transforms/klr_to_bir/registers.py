"""KLR to BIR: registers and the instructions on them."""

from nki_mlir.dialects import bir, klr
from nki_mlir.transforms.lowering import moved, same

ROWS = (
    moved(klr.RegisterOp, bir.RegisterOp),
    same(klr.RegisterMoveOp, bir.RegisterMoveOp),
    same(klr.RegisterAluOp, bir.RegisterAluOp),
    same(klr.TensorLoadOp, bir.TensorLoadOp),
    same(klr.TensorStoreOp, bir.TensorSaveOp),
)

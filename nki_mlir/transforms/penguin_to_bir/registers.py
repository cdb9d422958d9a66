"""Penguin to BIR: runtime scalars."""

from nki_mlir.dialects import bir, penguin
from nki_mlir.transforms.lowering import moved, same

ROWS = (
    moved(penguin.RegisterOp, bir.RegisterOp),
    same(penguin.LoadTensorToRegister, bir.TensorLoadOp),
    same(penguin.RegisterMove, bir.RegisterMoveOp),
)

"""Penguin to BIR: filling and moving memory."""

from nki_mlir.dialects import bir, penguin
from nki_mlir.transforms.lowering import same

ROWS = (
    same(penguin.MemsetOp, bir.MemsetOp),
    same(penguin.SBAtomLoad, bir.LoadOp),
    same(penguin.SBAtomStore, bir.SaveOp),
    # What the field says concerns accesses with indices from memory.
    same(penguin.DMACopyOp, bir.DMACopyOp, drop=["oob_mode"]),
    same(penguin.TensorCopyOp, bir.TensorCopyOp),
)

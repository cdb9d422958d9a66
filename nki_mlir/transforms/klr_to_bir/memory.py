"""KLR to BIR: filling and moving memory."""

from nki_mlir.dialects import bir, klr
from nki_mlir.transforms.lowering import same

ROWS = (
    same(klr.MemSetOp, bir.MemsetOp, drop=["dtype"]),
    same(klr.NcCopyOp, bir.TensorCopyOp, drop=["dtype"]),
    # What the three fields say concerns accesses with indices from memory, and the order of queues.
    same(klr.NcDmaCopyOp, bir.DMACopyOp, drop=["oob_mode", "unique_indices", "priority"]),
)

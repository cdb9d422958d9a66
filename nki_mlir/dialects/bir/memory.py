"""BIR: filling and moving memory."""

from nki_mlir.dialects.forms import CopyForm, DmaForm, MemsetForm
from nki_mlir.dialects.instruction import instruction
from nki_mlir.isa.instructions.memory import DMA_COPY, DMA_LOAD, DMA_SAVE, MEMSET, TENSOR_COPY


@instruction(MEMSET, opcode=10)
class MemsetOp(MemsetForm):
    """Memset: fills a tile with a constant."""

    name = "bir.memset"


@instruction(DMA_LOAD, opcode=19)
class LoadOp(DmaForm):
    """Load: DMA from DRAM to the chip."""

    name = "bir.load"


@instruction(DMA_SAVE, opcode=22)
class SaveOp(DmaForm):
    """Save: DMA from the chip to DRAM."""

    name = "bir.save"


@instruction(DMA_COPY, opcode=32)
class DMACopyOp(DmaForm):
    """DMACopy: DMA between any two memories."""

    name = "bir.dma_copy"


@instruction(TENSOR_COPY, opcode=23)
class TensorCopyOp(CopyForm):
    """TensorCopy: on-chip copy or cast."""

    name = "bir.tensor_copy"

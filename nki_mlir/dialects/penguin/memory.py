"""Penguin: filling and moving memory."""

from nki_mlir.dialects.attributes import OobModeAttr
from nki_mlir.dialects.forms import (
    CopyForm,
    DmaForm,
    MemsetForm,
    RegisterLoadForm,
    RegisterMoveForm,
)
from nki_mlir.dialects.instruction import instruction, opt_enum
from nki_mlir.isa.instructions.memory import DMA_COPY, DMA_LOAD, DMA_SAVE, MEMSET, TENSOR_COPY
from nki_mlir.isa.instructions.registers import REGISTER_LOAD, REGISTER_MOVE


@instruction(MEMSET)
class MemsetOp(MemsetForm):
    """MemsetOp: fills a tile with a constant."""

    name = "penguin.memset"


@instruction(DMA_LOAD)
class SBAtomLoad(DmaForm):
    """SBAtomLoad: HBM to SBUF."""

    name = "penguin.sb_atom_load"


@instruction(DMA_SAVE)
class SBAtomStore(DmaForm):
    """SBAtomStore: SBUF to HBM."""

    name = "penguin.sb_atom_store"


@instruction(DMA_COPY)
class DMACopyOp(DmaForm):
    """DMACopyOp: copy between any two spaces."""

    name = "penguin.dma_copy"
    oob_mode = opt_enum(OobModeAttr)


@instruction(TENSOR_COPY)
class TensorCopyOp(CopyForm):
    """TensorCopyOp: on-chip copy with cast."""

    name = "penguin.tensor_copy"


@instruction(REGISTER_LOAD)
class LoadTensorToRegister(RegisterLoadForm):
    """LoadTensorToRegister: one element of a tensor to a runtime scalar."""

    name = "penguin.load_tensor_to_register"


@instruction(REGISTER_MOVE)
class RegisterMove(RegisterMoveForm):
    """A runtime scalar's initial value; the traced `register_alloc` and `register_move` of the current API."""

    name = "penguin.register_move"

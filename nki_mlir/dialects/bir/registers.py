"""BIR: instructions of an engine's sequencer on registers."""

from nki_mlir.dialects.forms import RegisterAluForm, RegisterLoadForm, RegisterMoveForm, RegisterStoreForm
from nki_mlir.dialects.instruction import instruction
from nki_mlir.isa.instructions.registers import REGISTER_ALU, REGISTER_LOAD, REGISTER_MOVE, REGISTER_STORE


@instruction(REGISTER_ALU, opcode=73)
class RegisterAluOp(RegisterAluForm):
    """RegisterAlu: dst = src op operand."""

    name = "bir.register_alu"


@instruction(REGISTER_MOVE, opcode=74)
class RegisterMoveOp(RegisterMoveForm):
    """RegisterMove: dst = src."""

    name = "bir.register_move"


@instruction(REGISTER_LOAD, opcode=75)
class TensorLoadOp(RegisterLoadForm):
    """TensorLoad: one element of a tensor to a register."""

    name = "bir.tensor_load"


@instruction(REGISTER_STORE, opcode=76)
class TensorSaveOp(RegisterStoreForm):
    """TensorSave: a register to one element of a tensor."""

    name = "bir.tensor_save"

"""Instructions on registers, compiled to steps: registers hold 32-bit signed integers here, and floats are refused."""

from collections.abc import Callable
from typing import TypeAlias

from xdsl.ir import SSAValue

from nki_mlir.diagnostics import NkiError
from nki_mlir.dialects.access import Access
from nki_mlir.dialects.attributes import Immediate, value_of
from nki_mlir.dialects.bir.registers import RegisterAluOp, RegisterMoveOp, TensorLoadOp, TensorSaveOp
from nki_mlir.dialects.bir.structure import CompareAndBranchOp, RegisterOp
from nki_mlir.dialects.instruction import InstructionOp, Use, operands_of
from nki_mlir.isa.enums import BranchCompareOp
from nki_mlir.isa.instructions.base import Evaluation, Run
from nki_mlir.isa.target import Target
from nki_mlir.simulator.decode import Decoder, Names
from nki_mlir.simulator.instructions import Lanes
from nki_mlir.simulator.memory import WHOLE, Array

Reader: TypeAlias = Callable[[], int]


def register_reader(names: Names, register: SSAValue) -> Reader:
    """Returns the function that reads a register, which raises NkiError while nothing was written to it."""
    slots, number = names.slots, names.slot(register)
    owner = register.owner
    name = f" '{owner.sym.data}'" if isinstance(owner, RegisterOp) else ""

    def read() -> int:
        value = slots[number]
        if value is None:
            raise NkiError(f"reads the register{name} before anything was written to it")
        return value

    return read


def _uses(op: InstructionOp) -> dict[str, Use]:
    return {use.role.name: use for use in operands_of(op)}


def _source(names: Names, use: Use) -> Reader:
    """Returns the function that reads a register or gives an immediate number."""
    if isinstance(use.pattern, Immediate):
        value = use.pattern.data.value
        if isinstance(value, float) and not value.is_integer():
            raise NkiError(f"{use.label} is {value}, registers hold integers")
        return lambda: int(value)
    assert use.storage is not None
    return register_reader(names, use.storage)


def _evaluation(op: InstructionOp, target: Target) -> Run:
    """Returns what the instruction computes, a function of integers."""
    isa = op.descriptor()
    assert isa is not None
    parameters = {name: value_of(op.properties[name]) for name in isa.parameters if name in op.properties}
    return isa.evaluate(Evaluation(parameters, {}, {}, target, Lanes({})))


def register_move(op: RegisterMoveOp, decoder: Decoder, target: Target) -> Callable[[], None]:
    """dst = src."""
    uses, slots, run = _uses(op), decoder.names.slots, _evaluation(op, target)
    number, read = _target(decoder, uses), _source(decoder.names, uses["src"])

    def step() -> None:
        slots[number] = run(None, read())

    return step


def register_alu(op: RegisterAluOp, decoder: Decoder, target: Target) -> Callable[[], None]:
    """dst = src op operand."""
    uses, slots, run = _uses(op), decoder.names.slots, _evaluation(op, target)
    number = _target(decoder, uses)
    read, read_operand = _source(decoder.names, uses["src"]), _source(decoder.names, uses["operand"])

    def step() -> None:
        slots[number] = run(None, read(), read_operand())

    return step


def _target(decoder: Decoder, uses: dict[str, Use]) -> int:
    register = uses["dst"].storage
    assert register is not None
    return decoder.names.slot(register)


def tensor_load(op: TensorLoadOp, decoder: Decoder, target: Target) -> Callable[[], None]:
    """The register takes the low 32 bits of one integer of a tensor."""
    uses, slots, run = _uses(op), decoder.names.slots, _evaluation(op, target)
    number, view = _target(decoder, uses), _element(decoder, uses["src"])

    def step() -> None:
        slots[number] = run(None, view(False))

    return step


def tensor_save(op: TensorSaveOp, decoder: Decoder, target: Target) -> Callable[[], None]:
    """One integer of a tensor takes the low bits of the register."""
    uses, run = _uses(op), _evaluation(op, target)
    read, view = _source(decoder.names, uses["src"]), _element(decoder, uses["dst"])

    def step() -> None:
        run(view(True), read())

    return step


def _element(decoder: Decoder, use: Use) -> Callable[[bool], Array]:
    """Returns f(write), the view of the one integer that an operand is, checked or marked in the shadow."""
    pattern = use.pattern
    assert isinstance(pattern, Access)
    if not pattern.data.dtype.is_integer:
        raise NkiError(f"{use.label} is of type {pattern.data.dtype}, registers hold integers")
    operand = decoder.operand(use)
    access = operand.access
    assert access is not None

    def view(write: bool) -> Array:
        try:
            position = access.position or access.locate()
            assert position is not None
            shadow = access.shadow(position)
            if shadow is not None and write:
                shadow.fill(WHOLE[access.size])
            elif shadow is not None and shadow.min() != WHOLE[access.size]:
                raise access.never_written(position, shadow)
        except NkiError as error:
            raise operand.error(error) from None
        return access.view(position)

    return view


def comparison(op: CompareAndBranchOp, decoder: Decoder, target: Target) -> Callable[[], bool]:
    """Returns the function that tells whether the branch to `on_true` is taken."""
    uses, kind = _uses(op), op.comp_op.data
    if kind is BranchCompareOp.UNSUPPORTED:
        raise NkiError(f"the comparison '{kind}' has no published meaning, so it cannot be evaluated")
    run = _evaluation(op, target)
    left, right = _source(decoder.names, uses["left"]), _source(decoder.names, uses["right"])
    return lambda: run(left(), right())

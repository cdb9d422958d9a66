"""Instructions on registers, compiled to steps: registers hold 32-bit signed integers, and arithmetic wraps.

Only operators with an integer meaning can be evaluated.
"""

import operator
from collections.abc import Callable
from typing import Any, TypeAlias

from xdsl.ir import SSAValue

from nki_mlir.diagnostics import NkiError
from nki_mlir.dialects.access import Access
from nki_mlir.dialects.attributes import Immediate
from nki_mlir.dialects.bir.registers import RegisterAluOp, RegisterMoveOp, TensorLoadOp, TensorSaveOp
from nki_mlir.dialects.bir.structure import CompareAndBranchOp, RegisterOp
from nki_mlir.dialects.instruction import InstructionOp, Use, operands_of
from nki_mlir.isa.enums import AluOp, BranchCompareOp
from nki_mlir.simulator.decode import Decoder, Names
from nki_mlir.simulator.memory import WHOLE, Array

_BITS = 32


def wrapped(value: int) -> int:
    """Returns the low 32 bits of an integer as a signed number."""
    half = 1 << _BITS - 1
    return (value + half) % (2 * half) - half


def _unsigned(value: int) -> int:
    return value % (1 << _BITS)


def _shift(value: int, count: int, *, left: bool) -> int:
    """Shifts; a count is unsigned, and one of the width or more shifts everything out but the sign."""
    count = min(_unsigned(count), _BITS)
    return value << count if left else value >> count


_ALU: dict[AluOp, Callable[[int, int], int]] = {
    AluOp.BYPASS: lambda a, b: a,
    AluOp.ADD: operator.add,
    AluOp.SUBTRACT: operator.sub,
    AluOp.MULT: operator.mul,
    AluOp.MAX: max,
    AluOp.MIN: min,
    AluOp.BITWISE_NOT: lambda a, b: ~a,
    AluOp.BITWISE_AND: lambda a, b: a & b,
    AluOp.BITWISE_OR: lambda a, b: a | b,
    AluOp.BITWISE_XOR: lambda a, b: a ^ b,
    AluOp.LOGICAL_SHIFT_LEFT: lambda a, b: _shift(a, b, left=True),
    AluOp.ARITH_SHIFT_LEFT: lambda a, b: _shift(a, b, left=True),
    AluOp.LOGICAL_SHIFT_RIGHT: lambda a, b: _shift(_unsigned(a), b, left=False),
    AluOp.ARITH_SHIFT_RIGHT: lambda a, b: _shift(a, b, left=False),
    AluOp.IS_EQUAL: operator.eq,
    AluOp.NOT_EQUAL: operator.ne,
    AluOp.IS_GT: operator.gt,
    AluOp.IS_GE: operator.ge,
    AluOp.IS_LT: operator.lt,
    AluOp.IS_LE: operator.le,
    AluOp.LOGICAL_AND: lambda a, b: bool(a) and bool(b),
    AluOp.LOGICAL_OR: lambda a, b: bool(a) or bool(b),
    AluOp.LOGICAL_XOR: lambda a, b: bool(a) is not bool(b),
}

_COMPARE: dict[BranchCompareOp, Callable[[Any, Any], bool]] = {
    BranchCompareOp.LT_IMM: operator.lt,
    BranchCompareOp.LE_IMM: operator.le,
    BranchCompareOp.EQ_IMM: operator.eq,
    BranchCompareOp.NE_IMM: operator.ne,
    BranchCompareOp.GE_IMM: operator.ge,
    BranchCompareOp.GT_IMM: operator.gt,
    BranchCompareOp.LT_REG: operator.lt,
    BranchCompareOp.LE_REG: operator.le,
    BranchCompareOp.EQ_REG: operator.eq,
    BranchCompareOp.NE_REG: operator.ne,
    BranchCompareOp.GE_REG: operator.ge,
    BranchCompareOp.GT_REG: operator.gt,
}

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


def register_move(op: RegisterMoveOp, decoder: Decoder) -> Callable[[], None]:
    """dst = src."""
    uses, slots = _uses(op), decoder.names.slots
    number, read = _target(decoder, uses), _source(decoder.names, uses["src"])

    def step() -> None:
        slots[number] = wrapped(read())

    return step


def register_alu(op: RegisterAluOp, decoder: Decoder) -> Callable[[], None]:
    """dst = src op operand."""
    uses, slots, alu = _uses(op), decoder.names.slots, op.op.data
    function = _ALU.get(alu)
    if function is None:
        raise NkiError(f"ALU operator '{alu}' has no published meaning on registers, so it cannot be evaluated")
    number = _target(decoder, uses)
    read, read_operand = _source(decoder.names, uses["src"]), _source(decoder.names, uses["operand"])

    def step() -> None:
        slots[number] = wrapped(int(function(read(), read_operand())))

    return step


def _target(decoder: Decoder, uses: dict[str, Use]) -> int:
    register = uses["dst"].storage
    assert register is not None
    return decoder.names.slot(register)


def tensor_load(op: TensorLoadOp, decoder: Decoder) -> Callable[[], None]:
    """The register takes the low 32 bits of one integer of a tensor."""
    uses, slots = _uses(op), decoder.names.slots
    number, view = _target(decoder, uses), _element(decoder, uses["src"])

    def step() -> None:
        slots[number] = wrapped(int(view(False).item()))

    return step


def tensor_save(op: TensorSaveOp, decoder: Decoder) -> Callable[[], None]:
    """One integer of a tensor takes the low bits of the register."""
    uses = _uses(op)
    read, view = _source(decoder.names, uses["src"]), _element(decoder, uses["dst"])

    def step() -> None:
        element = view(True)
        bits = read() % (1 << 8 * element.itemsize)
        element.view(f"u{element.itemsize}")[...] = bits

    return step


def _element(decoder: Decoder, use: Use) -> Callable[[bool], Array]:
    """Returns f(write), the view of the one integer that an operand is, checked or marked in the shadow."""
    pattern = use.pattern
    assert isinstance(pattern, Access)
    if not pattern.data.dtype.is_integer:
        raise NkiError(f"{use.label} is of type {pattern.data.dtype}, registers hold integers")
    if pattern.count != 1:
        raise NkiError(f"{use.label} must access exactly one element, which a register holds")
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


def comparison(op: CompareAndBranchOp, decoder: Decoder) -> Callable[[], bool]:
    """Returns the function that tells whether the branch to `on_true` is taken."""
    uses, kind = _uses(op), op.comp_op.data
    compare = _COMPARE.get(kind)
    if compare is None:
        raise NkiError(f"the comparison '{kind}' has no published meaning, so it cannot be evaluated")
    left, right = _source(decoder.names, uses["left"]), _source(decoder.names, uses["right"])
    return lambda: compare(left(), right())

"""Rules on where operands are: memory spaces, addresses, PSUM banks."""

from nki_mlir.isa.enums import MemorySpace
from nki_mlir.isa.operands import Operand, Operands
from nki_mlir.isa.rules.base import PSUM, RoleRule, Rule, any_of
from nki_mlir.isa.target import Target


class InMemory(RoleRule):
    """The operand's storage is in one of some memory spaces."""

    ID = "BIR412"
    spaces: tuple[MemorySpace, ...]

    @property
    def statement(self) -> str:
        return f"{any_of(self.roles)} must be in {any_of(self.spaces)}"

    def check_one(self, operand: Operand, target: Target | None) -> str | None:
        if operand.space in self.spaces:
            return None
        return f"is in {operand.space}, it must be in {any_of(self.spaces)}"


class NotBothPsum(Rule):
    """Two tensor inputs of one instruction are not both in PSUM."""

    ID = "X-2PSUM"
    roles: tuple[str, ...]

    @property
    def statement(self) -> str:
        return f"{' and '.join(self.roles)} must not both be in psum"

    def check(self, operands: Operands, target: Target | None) -> str | None:
        inside = [name for role in self.roles for name, operand in operands.of(role) if operand.space is PSUM]
        return f"{' and '.join(inside[:2])} are both in psum, at most one may be" if len(inside) > 1 else None


class Aligned(RoleRule):
    """The first element's address is a multiple of the element's size."""

    ID = "BIR429"

    @property
    def statement(self) -> str:
        return f"{any_of(self.roles)} must start at an address that is a multiple of the element size"

    def check_one(self, operand: Operand, target: Target | None) -> str | None:
        if operand.address is None or not operand.on_chip or operand.address % operand.dtype.size == 0:
            return None
        size, dtype = operand.dtype.size, operand.dtype
        return f"starts at byte {operand.address}, which is no multiple of {size}, the size of {dtype}"


class PsumAlignment(RoleRule):
    """Narrow elements written to PSUM in order begin at a multiple of 4 bytes, in reverse order between two."""

    ID = "BIR312"
    source: str = "BIR reference, §7.2 (BIR312, BIR309); NKI ISA reference, §1.4 (HW-ALN)"

    @property
    def statement(self) -> str:
        return (
            f"{any_of(self.roles)} of less than 4 bytes in PSUM must start at a multiple of 4 bytes; "
            "in reverse order, 2-byte types 2 bytes behind one"
        )

    def check_one(self, operand: Operand, target: Target | None) -> str | None:
        size, address = operand.dtype.size, operand.address
        if operand.space is not PSUM or size >= 4 or address is None or not operand.steps:
            return None
        step = operand.steps[-1]
        for low, high in operand.elements or ():
            first = address + (low if step >= 0 else high) * size
            if step == 1 and first % 4:
                return f"starts at byte {first} in PSUM, it must be a multiple of 4"
            if step == -1 and size == 2 and first % 4 != 2:
                return f"starts at byte {first} in PSUM in reverse order, it must be 2 behind a multiple of 4"
        return None


class InOnePsumBank(RoleRule):
    """An access to PSUM stays inside one bank."""

    ID = "BIR110"
    bank_bytes: int = 2048

    @property
    def statement(self) -> str:
        return f"{any_of(self.roles)} must lie in one PSUM bank of {self.bank_bytes} bytes"

    def check_one(self, operand: Operand, target: Target | None) -> str | None:
        if operand.space is not PSUM or operand.address is None:
            return None
        for low, high in operand.elements or ():
            first = (operand.address + low * operand.dtype.size) // self.bank_bytes
            last = (operand.address + (high + 1) * operand.dtype.size - 1) // self.bank_bytes
            if first != last:
                return f"spans the PSUM banks {first} to {last}, it must lie in one"
        return None

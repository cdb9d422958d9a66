"""Rules of the instructions that the engines' sequencers run on registers."""

from nki_mlir.isa.enums import BranchCompareOp, MemorySpace
from nki_mlir.isa.operands import Operand, Operands
from nki_mlir.isa.rules.base import RoleRule, Rule, any_of
from nki_mlir.isa.target import Target

REGISTER_BITS = 32


class OneElement(RoleRule):
    """A register takes one element of a tensor, and gives one."""

    ID = "X-REGONE"
    source: str = "NKI ISA reference, §2.10"

    @property
    def statement(self) -> str:
        return f"{any_of(self.roles)} must be one element"

    def check_one(self, operand: Operand, target: Target | None) -> str | None:
        if operand.count is None or operand.count == 1:
            return None
        return f"accesses {operand.count} elements, a register holds one"


class RegisterNumber(Rule):
    """A number that goes to a register, or is computed with one, is an integer of 32 bits, signed or not."""

    ID = "X-REGNUM"
    source: str = "KLR reference, §2 (RegisterMove, RegisterAluOp: imm is an Int32)"
    role: str

    @property
    def statement(self) -> str:
        return f"{self.role} must be an integer of {REGISTER_BITS} bits where it is a number"

    def check(self, operands: Operands, target: Target | None) -> str | None:
        for name, operand in operands.of(self.role):
            number = operand.immediate
            if number is None:
                continue
            if isinstance(number, float) and not number.is_integer():
                return f"{name} is {number}, registers hold integers"
            if not -(1 << REGISTER_BITS - 1) <= number < 1 << REGISTER_BITS:
                return f"{name} is {int(number)}, registers hold {REGISTER_BITS} bits"
        return None


class ComparisonForm(Rule):
    """The comparison names its form: a register with a number, with another register, or nothing with nothing."""

    ID = "X-BRCMP"
    source: str = "BIR reference, §2.8; KLR reference, §1.2 (BrCmpOp)"
    parameter: str
    left: str
    right: str

    @property
    def statement(self) -> str:
        return (
            f"{self.right} must be a number with {self.parameter} …_imm and a register with …_reg;"
            f" always takes neither {self.left} nor {self.right}"
        )

    def check(self, operands: Operands, target: Target | None) -> str | None:
        kind, right = operands.parameters.get(self.parameter), operands.one(self.right)
        if kind is BranchCompareOp.ALWAYS:
            given = [name for name in (self.left, self.right) if name in operands.roles]
            return f"{given[0]} is given, {self.parameter} always takes none" if given else None
        if kind is None or kind is BranchCompareOp.UNSUPPORTED or right is None:
            return None
        wanted, got = str(kind).endswith("_reg"), right.space is MemorySpace.REG
        if wanted == got:
            return None
        names = ("a number", "a register")
        return f"{self.right} is {names[got]}, {self.parameter} {kind} needs {names[wanted]}"

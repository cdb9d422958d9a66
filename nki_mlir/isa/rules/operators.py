"""Rules on operators and functions, and on the operands and flags that go with them."""

from typing import Any

from nki_mlir.isa.enums import AluOp
from nki_mlir.isa.operands import Operands
from nki_mlir.isa.rules.base import Rule, any_of
from nki_mlir.isa.target import Target


class OpIn(Rule):
    """An operator parameter is one of a set; `kind` names the set where it is too large to be listed."""

    ID = "X-OP"
    parameters: tuple[str, ...]
    ops: frozenset[Any]
    kind: str = ""

    @property
    def statement(self) -> str:
        return f"{any_of(self.parameters)} must be {self.kind or any_of(sorted(self.ops))}"

    def check(self, operands: Operands, target: Target | None) -> str | None:
        for name in self.parameters:
            op = operands.parameters.get(name)
            if op is not None and op not in self.ops:
                return f"{name} is {op}, it must be {self.kind or any_of(sorted(self.ops))}"
        return None


class SameOpClass(Rule):
    """All operators of one instruction are bitwise, or none is."""

    ID = "X-BITVEC"
    parameters: tuple[str, ...]

    @property
    def statement(self) -> str:
        return f"{' and '.join(self.parameters)} must be both bitwise or both arithmetic operators"

    def check(self, operands: Operands, target: Target | None) -> str | None:
        found = [
            (name, op)
            for name in self.parameters
            if isinstance(op := operands.parameters.get(name), AluOp) and op is not AluOp.BYPASS
        ]
        if len({op.is_bitwise for _, op in found}) < 2:
            return None
        (first, a), (second, b) = found[0], next(x for x in found[1:] if x[1].is_bitwise != found[0][1].is_bitwise)
        return f"{first} is {a} and {second} is {b}, they must be both bitwise or both arithmetic operators"


class BitwiseOnIntegers(Rule):
    """Bitwise operators take and give integers."""

    ID = "X-BITVEC"
    parameters: tuple[str, ...]
    roles: tuple[str, ...]

    @property
    def statement(self) -> str:
        return f"{any_of(self.roles)} must be integers with a bitwise {any_of(self.parameters)}"

    def check(self, operands: Operands, target: Target | None) -> str | None:
        for parameter in self.parameters:
            op = operands.parameters.get(parameter)
            if not isinstance(op, AluOp) or not op.is_bitwise:
                continue
            for role in self.roles:
                for name, operand in operands.of(role):
                    if not operand.dtype.is_integer:
                        return f"{name} is of type {operand.dtype}, {op} needs integers"
        return None


class OperandOfOp(Rule):
    """A binary operator needs its operand; a unary one takes none, or the number 0. Without operator there is none."""

    ID = "X-UNARY"
    source: str = "NKI ISA reference, §2.5 (tensor_scalar)"
    parameter: str
    operand: str

    @property
    def statement(self) -> str:
        return f"{self.operand} must be given unless {self.parameter} is unary, then it must be absent or 0"

    def check(self, operands: Operands, target: Target | None) -> str | None:
        op, operand = operands.parameters.get(self.parameter), operands.one(self.operand)
        if op is None:
            return None if operand is None else f"{self.operand} is given without {self.parameter}"
        if not isinstance(op, AluOp):
            return None
        if not op.is_unary:
            return None if operand is not None else f"{self.parameter} is {op}, which needs {self.operand}"
        if operand is None or (operand.space is None and operand.immediate == 0):
            return None
        return f"{self.operand} is given, {self.parameter} {op} takes none or the number 0"


class ArithmeticOnly(Rule):
    """A flag goes with arithmetic operators only."""

    ID = "X-NEGATE"
    source: str = "NKI ISA reference, §2.5 (tensor_reduce)"
    flag: str
    parameter: str

    @property
    def statement(self) -> str:
        return f"{self.flag} needs an arithmetic {self.parameter}"

    def check(self, operands: Operands, target: Target | None) -> str | None:
        op = operands.parameters.get(self.parameter)
        if not operands.parameters.get(self.flag) or not isinstance(op, AluOp) or op.is_arithmetic:
            return None
        return f"{self.flag} is given, but {self.parameter} {op} is not arithmetic"

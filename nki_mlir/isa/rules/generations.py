"""Rules on what a generation of the hardware has: instructions, engines, operators, types, values."""

from functools import cache
from typing import Any

from nki_mlir.isa.dtypes import Dtype
from nki_mlir.isa.enums import Engine
from nki_mlir.isa.operands import Operands
from nki_mlir.isa.rules.base import Rule, any_of
from nki_mlir.isa.target import Target


class SinceTarget(Rule):
    """The instruction exists from a generation on."""

    ID = "BIR530"
    first: Target

    @property
    def statement(self) -> str:
        return f"needs {self.first} or newer"

    def check(self, operands: Operands, target: Target | None) -> str | None:
        return (
            f"needs {self.first} or newer, the target is {target}"
            if target is not None and target < self.first
            else None
        )


class EngineSince(Rule):
    """An engine runs the instruction from a generation on."""

    ID = "X-ENGGEN"
    engine: Engine
    first: Target

    @property
    def statement(self) -> str:
        return f"engine {self.engine} needs {self.first} or newer"

    def check(self, operands: Operands, target: Target | None) -> str | None:
        if target is None or target >= self.first or operands.parameters.get("engine") is not self.engine:
            return None
        return f"engine is {self.engine}, which needs {self.first} or newer; the target is {target}"


class OpAvailable(Rule):
    """Operators and functions exist on the target."""

    ID = "BIR532"
    parameters: tuple[str, ...]

    @property
    def statement(self) -> str:
        return f"{any_of(self.parameters)} must exist on the target"

    def check(self, operands: Operands, target: Target | None) -> str | None:
        if target is None:
            return None
        for name in self.parameters:
            op = operands.parameters.get(name)
            if op is not None and op.since > target:
                return f"{name} is {op}, which {target} does not have"
        return None


@cache
def _missing_dtypes(target: Target) -> frozenset[Dtype]:
    return frozenset(dtype for dtype in Dtype if dtype.since > target)


class DtypeAvailable(Rule):
    """Every element type exists on the target."""

    ID = "BIR533"

    @property
    def statement(self) -> str:
        return "element types must exist on the target"

    def check(self, operands: Operands, target: Target | None) -> str | None:
        if target is None or not (missing := _missing_dtypes(target)):
            return None
        for role in operands.roles:
            for name, operand in operands.of(role):
                if operand.dtype in missing:
                    return f"{name} is of type {operand.dtype}, which {target} does not have"
        return None


class SinceValue(Rule):
    """A parameter may have a value (None: any value) from a generation on."""

    ID = "X-SINCE"
    parameter: str
    value: Any
    first: Target

    @property
    def statement(self) -> str:
        value = "" if self.value is None else f" {self.value}"
        return f"{self.parameter}{value} needs {self.first} or newer"

    def check(self, operands: Operands, target: Target | None) -> str | None:
        found = operands.parameters.get(self.parameter)
        if target is None or target >= self.first or found is None or self.value not in (None, found):
            return None
        return f"{self.parameter} is {found}, which needs {self.first} or newer; the target is {target}"

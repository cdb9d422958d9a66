"""Rules on which roles and parameters are given, and with what values."""

from typing import Any, cast

from nki_mlir.isa.operands import Operands
from nki_mlir.isa.rules.base import Rule, any_of
from nki_mlir.isa.target import Target


class NeedsTile(Rule):
    """An operand that some forms of an instruction can do without, or have as a number, is a tile in this one."""

    ID = "X-TILE"
    role: str

    @property
    def statement(self) -> str:
        return f"{self.role} must be given, in storage"

    def check(self, operands: Operands, target: Target | None) -> str | None:
        if self.role not in operands.roles:
            return f"{self.role} is missing, it must be a tile"
        return None if all(o.space is not None for _, o in operands.of(self.role)) else f"{self.role} must be a tile"


def _and(names: list[str]) -> str:
    return " and ".join(names)


class Together(Rule):
    """Names (roles or parameters) are all given or all absent."""

    ID = "X-BOTH"
    names: tuple[str, ...]

    @property
    def statement(self) -> str:
        return f"{' and '.join(self.names)} must be given together or not at all"

    def check(self, operands: Operands, target: Target | None) -> str | None:
        given = [n for n in self.names if n in operands.roles or operands.parameters.get(n) is not None]
        if not given or len(given) == len(self.names):
            return None
        missing = [n for n in self.names if n not in given]
        return f"{_and(given)} {'is' if len(given) == 1 else 'are'} given without {_and(missing)}"


class Requires(Rule):
    """A role or parameter that is given, or has one of some values, needs others."""

    ID = "X-NEEDS"
    name: str
    needs: tuple[str, ...]
    values: frozenset[Any] = frozenset()

    @property
    def statement(self) -> str:
        value = f" {any_of(sorted(self.values))}" if self.values else ""
        return f"{self.name}{value} needs {_and(list(self.needs))}"

    def check(self, operands: Operands, target: Target | None) -> str | None:
        value = operands.parameters.get(self.name)
        given = value in self.values if self.values else (self.name in operands.roles or value is not None)
        if not given:
            return None
        missing = [n for n in self.needs if n not in operands.roles and operands.parameters.get(n) is None]
        if not missing:
            return None
        shown = f" {value}" if self.values else ""
        return f"{self.name}{shown} is given without {_and(missing)}"


class ValueIn(Rule):
    """An integer parameter, or each member of a list of them, is one of a set; expressions are not checked."""

    ID = "X-VALUE"
    parameter: str
    values: tuple[int, ...]

    @property
    def statement(self) -> str:
        return f"{self.parameter} must be {any_of(self.values)}"

    def check(self, operands: Operands, target: Target | None) -> str | None:
        value = operands.parameters.get(self.parameter)
        if value is None:
            return None
        for member in cast("tuple[Any, ...]", value) if isinstance(value, tuple) else (value,):
            if isinstance(member, int) and member not in self.values:
                return f"{self.parameter} is {member}, it must be {any_of(self.values)}"
        return None

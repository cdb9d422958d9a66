"""What all rules have in common: the base classes, numbers that differ by generation, checking, and wording."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self, dataclass_transform, get_origin

from nki_mlir.isa.enums import MemorySpace
from nki_mlir.isa.operands import Operand, Operands
from nki_mlir.isa.target import Target

PSUM = MemorySpace.PSUM
HBM = (MemorySpace.HBM, MemorySpace.SHARED_HBM, MemorySpace.PRIVATE_HBM)


@dataclass(frozen=True)
class Limit:
    """A number that differs by generation: `default`, or that of the newest listed generation not above the target."""

    default: int
    newer: tuple[tuple[Target, int], ...] = ()

    def at(self, target: Target | None) -> int:
        """Returns the number for a target; the largest one without a target."""
        if target is None:
            return max((self.default, *(value for _, value in self.newer)))
        found = self.default
        for since, value in self.newer:
            if target >= since:
                found = value
        return found


def limit_at(limit: "int | Limit", target: Target | None) -> int:
    """Returns the number of a limit for a target; the largest one without a target."""
    return limit if isinstance(limit, int) else limit.at(target)


_NEEDED: Any = object()
"""What stands for the default of a parameter that has none."""


@dataclass_transform(frozen_default=True, kw_only_default=True)
class Parameters:
    """Base of a class whose annotated names are its parameters, given by name; objects of equal ones are equal.

    That is what a frozen dataclass does, but one takes a millisecond to make, and every tool would wait for all rules.
    """

    _parameters: ClassVar[dict[str, Any]] = {}

    def __init_subclass__(cls) -> None:
        own = [name for name, kind in cls.__annotations__.items() if get_origin(kind) is not ClassVar]
        cls._parameters = {**cls._parameters, **{name: cls.__dict__.get(name, _NEEDED) for name in own}}

    def __init__(self, **given: Any) -> None:
        values = {**self._parameters, **given}
        missing = [name for name, value in values.items() if value is _NEEDED]
        unknown = [name for name in given if name not in self._parameters]
        if missing or unknown:
            raise TypeError(f"{type(self).__name__} lacks {missing} or does not have {unknown}")
        self.__dict__.update(values)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"'{name}' of {type(self).__name__} does not change")

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.__dict__ == other.__dict__

    def __hash__(self) -> int:
        return hash((type(self), *self.__dict__.values()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self.__dict__.items())})"

    def with_(self, **changes: Any) -> Self:
        """Returns the same with other parameters."""
        return type(self)(**{**self.__dict__, **changes})


class Rule(Parameters):
    """Base of all rules. `check` returns what is wrong in one phrase, or None."""

    ID: ClassVar[str] = ""

    since: Target | None = None
    before: Target | None = None
    id: str = ""
    source: str = ""

    def applies(self, target: Target | None) -> bool:
        """Whether the rule holds for the target."""
        if target is None:
            return self.before is None
        return (self.since is None or target >= self.since) and (self.before is None or target < self.before)

    @property
    def identifier(self) -> str:
        """The identifier that messages cite."""
        return self.id or self.ID

    @property
    def statement(self) -> str:
        """The rule in one line, for the op reference."""
        raise NotImplementedError

    def check(self, operands: Operands, target: Target | None) -> str | None:
        """Returns the violation as a phrase that begins with the operand's name, or None."""
        raise NotImplementedError


class RoleRule(Rule):
    """A rule that looks at each operand of some roles on its own."""

    roles: tuple[str, ...] = ()

    def check(self, operands: Operands, target: Target | None) -> str | None:
        roles, check_one = operands.roles, self.check_one
        for role in self.roles:
            operand = roles.get(role)
            if operand is None:
                continue
            if isinstance(operand, Operand):
                if operand.space is not None and (found := check_one(operand, target)) is not None:
                    return f"{role} {found}"
                continue
            for number, member in enumerate(operand):
                if member.space is not None and (found := check_one(member, target)) is not None:
                    return f"{role}[{number}] {found}"
        return None

    def check_one(self, operand: Operand, target: Target | None) -> str | None:
        """Returns what is wrong with one operand in storage, without its name."""
        raise NotImplementedError


def any_of(values: Collection[Any]) -> str:
    """Joins names for a message: `a`, `a or b`, `a, b or c`."""
    texts = [str(v) for v in values]
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} or {texts[-1]}"


def first_difference(
    operands: Operands, roles: tuple[str, ...], figure: Callable[[Operand], Any]
) -> tuple[str, Any, str, Any] | None:
    """Returns (name, figure) of the first operand in storage, and of the first one whose known figure differs."""
    first: tuple[str, Any] | None = None
    for role in roles:
        for name, operand in operands.of(role):
            if operand.space is None or (value := figure(operand)) is None:
                continue
            if first is None:
                first = name, value
            elif value != first[1]:
                return *first, name, value
    return None


def check_all(rules: tuple[Rule, ...], operands: Operands, target: Target | None) -> tuple[str, Rule] | None:
    """Returns (violation, rule) of the first rule that does not hold, or None."""
    for rule in rules:
        if rule.applies(target):
            found = rule.check(operands, target)
            if found is not None:
                return found, rule
    return None


def by_identifier(rules: Collection[Rule]) -> Mapping[str, list[Rule]]:
    """Groups rules by the identifier that messages cite."""
    groups: dict[str, list[Rule]] = {}
    for rule in rules:
        groups.setdefault(rule.identifier, []).append(rule)
    return groups

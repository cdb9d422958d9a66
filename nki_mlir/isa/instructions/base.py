"""The descriptor of an instruction: what it requires, computes and costs, the same in every dialect."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any, NamedTuple, Protocol, TypeAlias

from nki_mlir.isa.dtypes import Dtype
from nki_mlir.isa.enums import Engine, MemorySpace
from nki_mlir.isa.lazy import numpy as np
from nki_mlir.isa.numerics import read
from nki_mlir.isa.operands import Operand, Operands
from nki_mlir.isa.rules import DtypeAvailable, OnEngine, RoleRule, Rule, SinceTarget, check_all
from nki_mlir.isa.target import Target

Array: TypeAlias = Any
"""A numpy array; its type is not spelled out because importing numpy here would slow every tool down."""

Run: TypeAlias = Callable[..., Any]
"""Called with one argument a role, in the descriptor's order: a numpy view, a Python number, a tuple of these for a
variadic role, or None. Writes the outputs in place.

The first dimension of a view on chip is the partition (a DMA may have several partition dimensions). An instruction
that leaves some elements of its output alone returns the booleans, in the output's shape, that tell which it wrote."""


Spread: TypeAlias = Callable[[Mapping[str, Array], Array], Array | None]
"""Where undefined elements of operands lead: called with arrays of u8 by role, in the operands' shapes, 255 for an
element that is defined and less for one that is not (roles that are wholly defined are absent), and with an array of
255 in an output's shape, it returns the same of the output. None: the instruction cannot run on them."""


NEVER_RESET = 3
"""What `Accumulators.undefined` holds at first where reading what was never written is looked for."""


class Accumulators(Protocol):
    """The accumulator registers of the engines, 128 fp32 values each, kept between instructions."""

    def of(self, engine: Engine) -> Array:
        """Returns the [128] fp32 array of an engine."""
        ...

    def undefined(self, engine: Engine) -> Array:
        """Returns the [128] u8 array that tells where they hold sums of undefined elements: not 0."""
        ...


class Evaluation:
    """What `evaluate` specialises for: parameters, element types and spaces by role, the target, the engines' state."""

    __slots__ = ("accumulators", "dtypes", "parameters", "spaces", "target")

    def __init__(
        self,
        parameters: Mapping[str, Any],
        dtypes: Mapping[str, Dtype],
        spaces: Mapping[str, MemorySpace | None],
        target: Target,
        accumulators: Accumulators,
    ) -> None:
        self.parameters = parameters
        self.dtypes = dtypes
        self.spaces = spaces
        self.target = target
        self.accumulators = accumulators

    def __getattr__(self, name: str) -> Any:
        """Returns a parameter by name, or None where it is absent."""
        return self.parameters.get(name)


class _Plan(NamedTuple):
    """The rules of an instruction that apply to a target, sorted for speed.

    Most rules look at each operand of a role on its own, and the same operands come again and again, so an operand
    remembers by a bit that it satisfies a group of such rules.
    """

    target: Target | None
    groups: tuple[tuple[str, int, tuple[RoleRule, ...]], ...]
    others: tuple[Rule, ...]

    def holds(self, operands: Operands) -> bool:
        """Whether all the rules hold."""
        roles, target = operands.roles, self.target
        for role, bit, rules in self.groups:
            found = roles.get(role)
            if found is None:
                continue
            for operand in (found,) if isinstance(found, Operand) else found:
                if operand.passed & bit or operand.space is None:
                    continue
                for rule in rules:
                    if rule.check_one(operand, target) is not None:
                        return False
                operand.passed |= bit
        for rule in self.others:  # noqa: SIM110, a loop is faster than a generator
            if rule.check(operands, target) is not None:
                return False
        return True


_numbers = count()
_BITS: dict[tuple[Target | None, tuple[RoleRule, ...]], int] = {}
"""The bit of each group of rules of one operand, by the target and the rules without the roles they are given for."""


def _plan(roles: tuple[str, ...], rules: tuple[Rule, ...], target: Target | None) -> _Plan:
    applicable = [rule for rule in rules if rule.applies(target)]
    groups: list[tuple[str, int, tuple[RoleRule, ...]]] = []
    for role in roles:
        group = tuple(rule for rule in applicable if isinstance(rule, RoleRule) and role in rule.roles)
        key = target, tuple(rule.with_(roles=()) for rule in group)
        bit = _BITS.get(key) or _BITS.setdefault(key, 1 << next(_numbers))
        groups.append((role, bit, group))
    return _Plan(target, tuple(groups), tuple(rule for rule in applicable if not isinstance(rule, RoleRule)))


@dataclass(frozen=True)
class Instruction:
    """One instruction of the hardware.

    roles      names of the operands, outputs first; `?` marks an optional one, `*` the variadic one
    outs       how many roles are outputs
    parameters names of the parameters that rules, `evaluate` and `cycles` read
    rules      what must hold; the rules on dtypes and engines that hold for all are added
    evaluate   Evaluation -> Run
    cycles     (operands, target) -> engine cycles, from the published cost formulas
    accumulates  whether the output may be added to (PSUM): Run then takes a further argument `written`: True adds,
               False overwrites, else an object whose `state()` tells where earlier instructions of the group wrote
    spread     Evaluation -> Spread; without it, reading an undefined element is an error
    """

    name: str
    summary: str
    engines: frozenset[Engine]
    roles: str
    outs: int
    rules: tuple[Rule, ...]
    evaluate: Callable[[Evaluation], Run]
    cycles: Callable[[Operands, Target], int]
    parameters: tuple[str, ...] = ()
    since: Target | None = None
    accumulates: bool = False
    spread: Callable[[Evaluation], Spread] | None = None
    role_names: tuple[str, ...] = field(init=False)
    _plans: dict[Target | None, _Plan] = field(
        init=False, repr=False, compare=False, default_factory=dict[Target | None, _Plan]
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "role_names", tuple(role.rstrip("?*") for role in self.roles.split()))
        since = () if self.since is None else (SinceTarget(first=self.since),)
        rules = (*since, OnEngine(engines=self.engines), *self.rules, DtypeAvailable())
        object.__setattr__(self, "rules", rules)

    def violation(self, operands: Operands, target: Target | None) -> tuple[str, Rule] | None:
        """Returns (what is wrong, the rule that it breaks) of the first rule that does not hold, or None."""
        plan = self._plans.get(target)
        if plan is None:
            plan = self._plans[target] = _plan(self.role_names, self.rules, target)
        return None if plan.holds(operands) else check_all(self.rules, operands, target)

    @property
    def required(self) -> tuple[str, ...]:
        """The roles that every instruction has."""
        return tuple(role for role in self.roles.split() if role[-1] not in "?*")


# Pieces that many evaluations share ------------------------------------------------------------------------------


def like(destination: Array, value: Array) -> Array:
    """Returns `value` in the destination's shape: same order of elements; a column (P, 1) is left to broadcast."""
    if value.shape == destination.shape:
        return value
    if value.size == destination.size:
        return value.reshape(destination.shape)
    return column(destination, value)


def column(destination: Array, value: Array) -> Array:
    """Returns a per-partition vector, one element a partition, so that it broadcasts over the destination's shape."""
    return value.reshape(value.shape[0], *([1] * (destination.ndim - 1)))


def by_element(e: Evaluation) -> Spread:
    """The spread of an instruction whose result depends on the elements at its place, or on a value a partition."""

    def spread(states: Mapping[str, Array], out: Array) -> Array:
        for state in states.values():
            if state.size != out.size:
                state = state.reshape(state.shape[0], -1).min(axis=1)
            out = np.minimum(out, like(out, state))
        return out

    return spread


def by_partition(e: Evaluation) -> Spread:
    """The spread of an instruction whose results depend on all elements of their own partition."""

    def spread(states: Mapping[str, Array], out: Array) -> Array:
        for state in states.values():
            out = np.minimum(out, column(out, state.reshape(state.shape[0], -1).min(axis=1)))
        return out

    return spread


def fp32(value: Any) -> Any:
    """Widens a view to fp32; a number stays a number."""
    return read(value) if hasattr(value, "shape") else value


# Cost -----------------------------------------------------------------------------------------------------------

# The formulas are those published for the instructions one by one (nki-isa.md §2.12), which later generations' faster
# modes for some types and layouts (§1.7) are not part of.

MINIMUM_CYCLES = 64
"""Fewest cycles of a Vector or Scalar instruction, also of one whose row of the table leaves this bound out
(nki-isa.md §1.7 and §1.9, MIN_II)."""
GPSIMD_START = 150
"""Start of a GpSimd instruction in cycles (nki-isa.md §1.9)."""


def free_of(operands: Operands, role: str) -> int:
    """Returns the elements a partition of a role; 1 where it is absent or unknown."""
    operand = operands.one(role)
    return 1 if operand is None or operand.free is None else operand.free


def half(free: int) -> int:
    """Returns the cycles of two elements a cycle, the last of an odd number alone."""
    return (free + 1) // 2


def all_bf16(operands: Operands, *roles: str) -> bool:
    """Whether the operands of these roles are all of type bf16."""
    return all(operand.dtype is Dtype.BF16 for role in roles for _, operand in operands.of(role))


def both_in_sbuf(operands: Operands, *roles: str) -> bool:
    """Whether these inputs are tiles that are all in SBUF; two of them cost twice what one there and one in PSUM do."""
    return all((operand := operands.one(role)) is not None and operand.space is MemorySpace.SBUF for role in roles)


def elements(role: str, factor: int = 1, extra: int = 0) -> Callable[[Operands, Target], int]:
    """Returns the cost max(64, factor * N) + extra, N the elements a partition of the role (nki-isa.md §2.12)."""

    def cycles(operands: Operands, target: Target) -> int:
        return max(MINIMUM_CYCLES, factor * free_of(operands, role)) + extra

    return cycles


def gpsimd(role: str) -> Callable[[Operands, Target], int]:
    """Returns the cost 150 + N of GpSimd instructions (nki-isa.md §2.12)."""

    def cycles(operands: Operands, target: Target) -> int:
        return GPSIMD_START + free_of(operands, role)

    return cycles

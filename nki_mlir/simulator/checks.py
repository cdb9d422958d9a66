"""Steps of instructions that are checked when they run: never written elements, bounds, shapes left by masks."""

from collections.abc import Callable, Sequence
from typing import Any

from nki_mlir.diagnostics import NkiError
from nki_mlir.dialects.operands import figures, rule_operands, target_of
from nki_mlir.isa.instructions.base import Run
from nki_mlir.isa.operands import Operand as Figures
from nki_mlir.isa.operands import Operands
from nki_mlir.isa.rules import check_all
from nki_mlir.simulator.accesses import CompiledAccess, Position
from nki_mlir.simulator.decode import Decoded, Operand
from nki_mlir.simulator.memory import WHOLE, Array


class _Shadow:
    """The shadow of one operand at a position: checked before the instruction runs if it is read, marked after."""

    __slots__ = ("access", "operand", "position", "view", "whole")

    def __init__(self, operand: Operand, access: CompiledAccess, position: Position, view: Array) -> None:
        self.operand = operand
        self.access = access
        self.position = position
        self.view = view
        self.whole = WHOLE[access.size]

    def check(self) -> None:
        """Raises NkiError if some element was never written."""
        if self.view.min() != self.whole:
            raise self.operand.error(self.access.never_written(self.position, self.view))

    def mark(self, written: Array | None) -> None:
        """Marks all elements, or those that `written` tells, as written."""
        if written is None:
            self.view.fill(self.whole)
        else:
            self.view[written] = self.whole


def _shadows(
    accesses: Sequence[tuple[Operand, CompiledAccess]], positions: Sequence[Position], adds: bool
) -> tuple[list[_Shadow], list[_Shadow]]:
    """Returns the shadows to check and those to mark; a result that is added to is both."""
    reads: list[_Shadow] = []
    writes: list[_Shadow] = []
    for (operand, access), position in zip(accesses, positions, strict=True):
        view = access.shadow(position)
        if view is None:
            continue
        shadow = _Shadow(operand, access, position, view)
        if operand.out:
            writes.append(shadow)
        if adds or not operand.out:
            reads.append(shadow)
    return reads, writes


def checked_fixed_step(decoded: Decoded, run: Run, arguments: list[Any], adds: bool) -> Callable[[], None]:
    """Returns the step of an instruction that always accesses the same elements, with its shadows prepared."""
    accesses = [(operand, operand.access) for operand in decoded.operands if operand.access is not None]
    positions = [access.position for _, access in accesses if access.position is not None]
    reads, writes = _shadows(accesses, positions, adds)

    def step() -> None:
        for shadow in reads:
            shadow.check()
        written: Any = run(*arguments)
        for shadow in writes:
            shadow.mark(written)

    return step


def checked_moving_step(
    decoded: Decoded, run: Run, arguments: list[Any], moving: list[tuple[int, Callable[[], Array]]], adds: bool
) -> Callable[[], None]:
    """Returns the step of an instruction whose views, made by the functions of `moving`, need no bounds check."""
    reads: list[tuple[Operand, CompiledAccess, Callable[[], Array], int]] = []
    writes: list[tuple[Callable[[], Array], int]] = []
    for operand in decoded.operands:
        access = operand.access
        shadow = None if access is None else _shadow_maker(access)
        if access is None or shadow is None:
            continue
        if adds or not operand.out:
            reads.append((operand, access, shadow, WHOLE[access.size]))
        if operand.out:
            writes.append((shadow, WHOLE[access.size]))

    def step() -> None:
        for number, view in moving:
            arguments[number] = view()
        for operand, access, shadow, whole in reads:
            found = shadow()
            if found.min() != whole:
                position = access.locate()
                assert position is not None
                raise operand.error(access.never_written(position, found))
        written: Any = run(*arguments)
        for shadow, whole in writes:
            if written is None:
                shadow().fill(whole)
            else:
                shadow()[written] = whole

    return step


def _shadow_maker(access: CompiledAccess) -> Callable[[], Array] | None:
    """Returns the function that gives the shadow of an access, None if there is none."""
    if access.position is None:
        return access.fast_shadow
    view = access.shadow(access.position)
    return None if view is None else lambda: view


class CheckedStep:
    """The step of an instruction whose accesses depend on the run; `accumulate` as in `instructions`."""

    def __init__(
        self,
        decoded: Decoded,
        run: Run,
        accumulate: bool | Callable[[], bool] | None,
        *,
        poison: bool,
    ) -> None:
        self._decoded = decoded
        self._run = run
        self._accumulate = accumulate
        self._poison = poison
        self._accesses = [(operand, operand.access) for operand in decoded.operands if operand.access is not None]
        self._masked = any(access.access.masked for _, access in self._accesses)
        self._known_shapes: set[tuple[tuple[int, ...], ...]] = set()

    def run(self) -> None:
        """Runs the instruction once; it does nothing where a mask leaves nothing of an operand."""
        positions: list[Position] = []
        for operand, access in self._accesses:
            position = access.position
            if position is None:
                try:
                    position = access.locate()
                except NkiError as error:
                    raise operand.error(error) from None
                if position is None:
                    return
                operand.argument = access.view(position)
            positions.append(position)
        if self._masked:
            self._check_shapes(positions)
        arguments = self._decoded.arguments()
        adds = False
        if self._decoded.isa.accumulates:
            if self._accumulate is None:
                result = next(k for k, (operand, _) in enumerate(self._accesses) if operand.out)
                arguments.append(self._accesses[result][1].written(positions[result]))
            else:
                adds = self._accumulate() if callable(self._accumulate) else self._accumulate
                arguments.append(adds)
        if not self._poison:
            self._run(*arguments)
            return
        reads, writes = _shadows(self._accesses, positions, adds)
        for shadow in reads:
            shadow.check()
        written: Any = self._run(*arguments)
        for shadow in writes:
            shadow.mark(written)

    def _check_shapes(self, positions: Sequence[Position]) -> None:
        """Checks the rules of the instruction for the shapes that masks have left, each combination once."""
        shapes = tuple(position.nums for position in positions)
        if shapes in self._known_shapes:
            return
        found = rule_operands(self._decoded.op)
        roles: dict[str, Any] = dict(found.roles)
        for operand, access in self._accesses:
            if access.access.masked and not operand.use.role.variadic:
                roles[operand.use.role.name] = _resolved(access)
        violation = check_all(self._decoded.isa.rules, Operands(roles, found.parameters), target_of(self._decoded.op))
        if violation is not None:
            raise NkiError(f"{violation[0]} [{violation[1].identifier}]")
        self._known_shapes.add(shapes)


def _resolved(access: CompiledAccess) -> Figures:
    """Returns what rules see of a masked access where the loops are now."""
    values = [access.slots[number] for number in access.numbers]
    now, _ = access.access.at(lambda number: values[number])
    assert now is not None
    return figures(now, access.storage.mem, None, [])

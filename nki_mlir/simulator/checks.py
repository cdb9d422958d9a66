"""Steps of instructions that are checked when they run: never written elements, bounds, shapes left by masks."""

from collections.abc import Callable, Sequence
from typing import Any, cast

from nki_mlir.diagnostics import NkiError
from nki_mlir.dialects.operands import figures, rule_operands, target_of
from nki_mlir.isa.instructions.base import Run
from nki_mlir.isa.operands import Operand as Figures
from nki_mlir.isa.operands import Operands
from nki_mlir.isa.rules import check_all
from nki_mlir.simulator.accesses import CompiledAccess, Position
from nki_mlir.simulator.decode import Decoded, Operand
from nki_mlir.simulator.memory import WHOLE, Array, Written
from nki_mlir.simulator.undefined import Read, Spreading


def _shadows(
    accesses: Sequence[tuple[Operand, CompiledAccess]], positions: Sequence[Position], adds: bool
) -> tuple[list[Read], list[Array]]:
    """Returns the operands to check and the shadows to mark; a result that is added to is both."""
    reads: list[Read] = []
    writes: list[Array] = []
    for (operand, access), position in zip(accesses, positions, strict=True):
        marks = access.shadow(position)
        if marks is None:
            continue
        if operand.out:
            writes.append(marks)
        if adds or not operand.out:
            reads.append(Read(operand, access, position, marks))
    return reads, writes


def checked_fixed_step(
    decoded: Decoded, run: Run, arguments: list[Any], adds: bool, care: Spreading
) -> Callable[[], None]:
    """Returns the step of an instruction that always accesses the same elements, with its shadows prepared."""
    accesses = [(operand, operand.access) for operand in decoded.operands if operand.access is not None]
    positions = [access.position for _, access in accesses if access.position is not None]
    reads, writes = _shadows(accesses, positions, adds)
    checks = [(read.marks, WHOLE[read.access.size]) for read in reads]
    marked = [(marks, WHOLE[marks.dtype.itemsize]) for marks in writes]
    grows = _adds_where_written(arguments)
    adding = _shadows(accesses, positions, True)[0]

    def step() -> None:
        if grows is not None and care.adds_to_undefined(grows):
            care.run(adding, writes, run, arguments)
            return
        for marks, whole in checks:
            if marks.min() != whole:
                care.run(reads, writes, run, arguments)
                return
        written: Any = run(*arguments)
        for marks, whole in marked:
            if written is None:
                marks.fill(whole)
            else:
                marks[written] = whole

    return step


def _adds_where_written(arguments: Sequence[Any]) -> Written | None:
    """Returns what tells where earlier matmuls wrote, if that decides whether this one adds."""
    return arguments[-1] if arguments and isinstance(arguments[-1], Written) else None


def checked_moving_step(
    decoded: Decoded,
    run: Run,
    arguments: list[Any],
    moving: list[tuple[int, Callable[[], Array]]],
    adds: bool,
    care: Spreading,
) -> Callable[[], None]:
    """Returns the step of an instruction whose views, made by the functions of `moving`, need no bounds check."""
    reads: list[tuple[Callable[[], Array], int]] = []
    writes: list[tuple[Callable[[], Array], int]] = []
    accesses = [(operand, operand.access) for operand in decoded.operands if operand.access is not None]
    for operand, access in accesses:
        shadow = _shadow_maker(access)
        if shadow is None:
            continue
        if adds or not operand.out:
            reads.append((shadow, WHOLE[access.size]))
        if operand.out:
            writes.append((shadow, WHOLE[access.size]))
    grows = _adds_where_written(arguments)

    def careful(with_result: bool) -> None:
        positions = [cast(Position, access.position or access.locate()) for _, access in accesses]
        reads, _ = _shadows(accesses, positions, with_result)
        care.run(reads, _shadows(accesses, positions, False)[1], run, arguments)

    def step() -> None:
        for number, view in moving:
            arguments[number] = view()
        if grows is not None and care.adds_to_undefined(grows):
            careful(True)
            return
        for shadow, whole in reads:
            if shadow().min() != whole:
                careful(adds)
                return
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
        care: Spreading | None,
    ) -> None:
        self._decoded = decoded
        self._run = run
        self._accumulate = accumulate
        self._care = care
        self._accesses = [(operand, operand.access) for operand in decoded.operands if operand.access is not None]
        self._masked = any(access.access.masked for _, access in self._accesses)
        self._known_shapes: set[tuple[tuple[int, tuple[int, ...]], ...]] = set()

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
        adds, care = False, self._care
        if self._decoded.isa.accumulates:
            if self._accumulate is None:
                result = next(k for k, (operand, _) in enumerate(self._accesses) if operand.out)
                arguments.append(self._accesses[result][1].written(positions[result]))
            else:
                adds = self._accumulate() if callable(self._accumulate) else self._accumulate
                arguments.append(adds)
        if care is None:
            self._run(*arguments)
            return
        grows = _adds_where_written(arguments)
        if grows is not None and care.adds_to_undefined(grows):
            adds = True
        reads, writes = _shadows(self._accesses, positions, adds)
        care.run(reads, writes, self._run, arguments)

    def _check_shapes(self, positions: Sequence[Position]) -> None:
        """Checks the rules of the instruction for the shapes that masks have left, each combination of them and of
        first partitions once.
        """
        shapes = tuple((position.partition, position.nums) for position in positions)
        if shapes in self._known_shapes:
            return
        op = self._decoded.op
        found = rule_operands(op)
        roles: dict[str, Any] = dict(found.roles)
        for operand, access in self._accesses:
            if access.access.masked and not operand.use.role.variadic:
                roles[operand.use.role.name] = _resolved(access)
        violation = check_all(self._decoded.isa.rules, Operands(roles, found.parameters), target_of(op))
        if violation is not None:
            raise NkiError(f"{violation[0]} [{violation[1].identifier}]")
        self._known_shapes.add(shapes)


def _resolved(access: CompiledAccess) -> Figures:
    """Returns what rules see of a masked access where the loops are now."""
    values = [access.slots[number] for number in access.numbers]
    now, _ = access.access.at(lambda number: values[number])
    assert now is not None
    return figures(now, access.storage.mem, None, [])

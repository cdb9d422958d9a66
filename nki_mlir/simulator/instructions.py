"""Instructions compiled to steps: functions without arguments that evaluate the instruction on memory.

What an instruction computes is its descriptor's `evaluate`, called once for equal parameters and types. Where nothing
has to be checked, a step is a bare call on prepared views; `checks` has the steps of all others.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from nki_mlir.dialects.attributes import value_of
from nki_mlir.dialects.instruction import InstructionOp
from nki_mlir.isa.enums import Engine
from nki_mlir.isa.instructions.base import NEVER_RESET, Evaluation, Instruction, Run
from nki_mlir.isa.target import Target
from nki_mlir.simulator.accesses import CompiledAccess
from nki_mlir.simulator.checks import CheckedStep, checked_fixed_step, checked_moving_step
from nki_mlir.simulator.decode import Decoded, Decoder, Names, Operand
from nki_mlir.simulator.expressions import compiled
from nki_mlir.simulator.memory import PARTITIONS, Array
from nki_mlir.simulator.undefined import Spreading, Undefined

Step: TypeAlias = Callable[[], object]
Accumulate: TypeAlias = bool | Callable[[], bool] | None
"""Whether a matmul adds to its result; None: where an earlier one wrote since the storage began."""


class Lanes:
    """The accumulator registers of one core's engines, seen from the first partition of an instruction.

    `mark` is what marks a register as undefined that nothing has reset: 0, if that is not looked for.
    """

    def __init__(self, registers: dict[Engine, tuple[Array, Array]], first: int = 0, mark: int = 0) -> None:
        self._registers = registers
        self._mark = mark
        self._first = first

    def of(self, engine: Engine) -> Array:
        """Returns the fp32 registers of an engine from the first partition on."""
        return self._both(engine)[0][self._first :]

    def undefined(self, engine: Engine) -> Array:
        """Returns which of them hold sums of undefined elements."""
        return self._both(engine)[1][self._first :]

    def _both(self, engine: Engine) -> tuple[Array, Array]:
        found = self._registers.get(engine)
        if found is None:
            marks = np.full(PARTITIONS, self._mark, np.uint8)
            found = self._registers[engine] = np.zeros(PARTITIONS, np.float32), marks
        return found

    def seen_from(self, first: int) -> "Lanes":
        """Returns the same registers seen from another partition."""
        return Lanes(self._registers, first, self._mark) if first else self


class InstructionCompiler:
    """Compiles the instructions of one function."""

    def __init__(self, names: Names, target: Target, undefined: Undefined | None) -> None:
        self.decoder = Decoder(names)
        self._names = names
        self._target = target
        self._undefined = undefined
        self._lanes = Lanes({}, mark=0 if undefined is None else NEVER_RESET)
        self._runs: dict[tuple[Any, ...], Run] = {}

    def compile(self, op: InstructionOp, isa: Instruction) -> Step:
        """Returns the step of an instruction; NkiError if it cannot run at all."""
        decoded = self.decoder.decode(op, isa)
        return self._step(decoded)

    # Evaluations

    def _run(self, decoded: Decoded) -> Run:
        """Returns the evaluation of an instruction, which looks up what depends on the run when it is called."""
        result = decoded.result()
        if result.first is not None and not decoded.open_parameters:
            return self._evaluation(decoded, {}, result.first)
        slots = self._names.slots
        open_values = [
            (name, attribute.data.is_list, [compiled(value, numbers, slots) for value in attribute.data.values])
            for name, (attribute, numbers) in (decoded.open_parameters or {}).items()
        ]

        def run(*arguments: Any) -> Any:
            found: dict[str, Any] = {}
            for name, is_list, values in open_values:
                found[name] = tuple(value() for value in values) if is_list else values[0]()
            first = result.first_partition() if result.first is None else result.first
            return self._evaluation(decoded, found, first)(*arguments)

        return run

    def _evaluation(self, decoded: Decoded, values: dict[str, Any], first: int) -> Run:
        key = (*decoded.key, *values.values(), first)
        run = self._runs.get(key)
        if run is None:
            run = self._runs[key] = decoded.isa.evaluate(self._context(decoded, values, first))
        return run

    def _context(self, decoded: Decoded, values: dict[str, Any], first: int) -> Evaluation:
        types, spaces = decoded.types()
        parameters = {**decoded.parameters(), **values}
        return Evaluation(parameters, types, spaces, self._target, self._lanes.seen_from(first))

    def _care(self, decoded: Decoded) -> Spreading | None:
        """Returns what runs the instruction on undefined elements, None where nothing is checked."""
        if self._undefined is None:
            return None
        return Spreading(decoded, self._names, self._undefined, lambda: self._context(decoded, {}, 0))

    def _accumulate(self, decoded: Decoded) -> Accumulate:
        """Returns how a matmul accumulates, and takes a flag over loop variables out of the open parameters."""
        found = (decoded.open_parameters or {}).pop("accumulate", None)
        if found is not None:
            attribute, numbers = found
            flag = compiled(attribute.data.values[0], numbers, self._names.slots)
            return lambda: bool(flag())
        held = decoded.op.properties.get("accumulate")
        return None if held is None else bool(value_of(held))

    # Steps

    def _step(self, decoded: Decoded) -> Step:
        run, care = self._run(decoded), self._care(decoded)
        adds: Accumulate = False
        open_result, written = False, list[Any]()
        if decoded.isa.accumulates:
            adds, result = self._accumulate(decoded), decoded.result()
            if adds is not None:
                run = _telling(run, result)
                written.append(adds)
            else:
                result.storage.grows = True
                open_result = result.position is None
                written.append(None if result.position is None else result.written(result.position))
        if callable(adds) or open_result or not (decoded.fixed or _is_bound(decoded)):
            return CheckedStep(decoded, run, adds, care).run
        arguments = decoded.arguments() + written
        shadowed = care if decoded.shadowed else None
        if decoded.fixed:
            if shadowed is None:
                return partial(run, *arguments)
            return checked_fixed_step(decoded, run, arguments, adds is True, shadowed)
        moving = _moving(decoded)
        if shadowed is not None:
            return checked_moving_step(decoded, run, arguments, moving, adds is True, shadowed)

        def step() -> None:
            for number, view in moving:
                arguments[number] = view()
            run(*arguments)

        return step


def _telling(run: Run, result: CompiledAccess) -> Run:
    """Returns the evaluation of a matmul with a flag, which tells those without one where it has written."""

    def telling(*arguments: Any) -> Any:
        found = run(*arguments)
        if result.storage.grows and (position := result.position or result.locate()) is not None:
            result.written(position).mark()
        return found

    return telling


def _is_bound(decoded: Decoded) -> bool:
    """Whether every view is either made already or can be made without checks."""
    return all(
        operand.access is None or operand.access.position is not None or operand.access.fast is not None
        for operand in decoded.operands
    ) and all(type(held) is Operand for held in decoded.roles.values())


def _moving(decoded: Decoded) -> list[tuple[int, Callable[[], Array]]]:
    """Returns the numbers of the arguments that depend on loop variables, with the functions that make their views."""
    moving: list[tuple[int, Callable[[], Array]]] = []
    for number, name in enumerate(decoded.isa.role_names):
        operand = decoded.roles.get(name)
        if isinstance(operand, Operand) and operand.access is not None and operand.access.fast is not None:
            moving.append((number, operand.access.fast))
    return moving

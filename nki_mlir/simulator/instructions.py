"""Instructions compiled to steps: functions without arguments that evaluate the instruction on memory.

What an instruction computes is its descriptor's `evaluate`, called once for equal parameters and types. Where nothing
has to be checked, a step is a bare call on prepared views; `checks` has the steps of all others.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from nki_mlir.diagnostics import NkiError
from nki_mlir.dialects.instruction import InstructionOp, guard_indices
from nki_mlir.isa.enums import Engine
from nki_mlir.isa.instructions.base import Evaluation, Instruction, Run
from nki_mlir.isa.target import Target
from nki_mlir.simulator.accesses import CompiledAccess
from nki_mlir.simulator.checks import CheckedStep, checked_fixed_step
from nki_mlir.simulator.decode import Decoded, Decoder, Names, Operand
from nki_mlir.simulator.expressions import compiled
from nki_mlir.simulator.memory import PARTITIONS, Array

Step: TypeAlias = Callable[[], object]
Accumulate: TypeAlias = bool | Callable[[], bool] | None
"""Whether a matmul adds to its result; None: where an earlier one wrote since the storage began."""


class Lanes:
    """The accumulator registers of one core's engines, seen from the first partition of an instruction."""

    def __init__(self, registers: dict[Engine, Array], first: int = 0) -> None:
        self._registers = registers
        self._first = first

    def of(self, engine: Engine) -> Array:
        """Returns the fp32 registers of an engine from the first partition on."""
        found = self._registers.get(engine)
        if found is None:
            found = self._registers[engine] = np.zeros(PARTITIONS, np.float32)
        return found[self._first :]

    def seen_from(self, first: int) -> "Lanes":
        """Returns the same registers seen from another partition."""
        return Lanes(self._registers, first) if first else self


class InstructionCompiler:
    """Compiles the instructions of one function."""

    def __init__(self, names: Names, target: Target, *, poison: bool) -> None:
        self.decoder = Decoder(names)
        self._names = names
        self._target = target
        self._poison = poison
        self._lanes = Lanes({})
        self._runs: dict[tuple[Any, ...], Run] = {}

    def compile(self, op: InstructionOp, isa: Instruction) -> Step:
        """Returns the step of an instruction; NkiError if it cannot run at all."""
        decoded = self.decoder.decode(op, isa)
        accumulate = self._accumulate(decoded)
        return self._guarded(op, self._step(op, decoded, self._run(decoded), accumulate))

    # Evaluations

    def _run(self, decoded: Decoded) -> Run:
        """Returns the evaluation of an instruction, which looks up what depends on the run when it is called."""
        first = _first_partition(decoded)
        if isinstance(first, int) and not decoded.open_parameters:
            return self._evaluation(decoded, {}, first)
        slots = self._names.slots
        open_values = [
            (name, attribute.data.is_list, [compiled(value, numbers, slots) for value in attribute.data.values])
            for name, (attribute, numbers) in decoded.open_parameters.items()
        ]

        def run(*arguments: Any) -> Any:
            found: dict[str, Any] = {}
            for name, is_list, values in open_values:
                found[name] = tuple(value() for value in values) if is_list else values[0]()
            start = first if isinstance(first, int) else first.first_partition()
            return self._evaluation(decoded, found, start)(*arguments)

        return run

    def _evaluation(self, decoded: Decoded, values: dict[str, Any], first: int) -> Run:
        key = (*decoded.key, *values.items(), first)
        run = self._runs.get(key)
        if run is None:
            parameters, lanes = {**decoded.parameters, **values}, self._lanes.seen_from(first)
            evaluation = Evaluation(parameters, decoded.types, decoded.spaces, self._target, lanes)
            run = self._runs[key] = decoded.isa.evaluate(evaluation)
        return run

    def _accumulate(self, decoded: Decoded) -> Accumulate:
        if not decoded.isa.accumulates:
            return False
        found = decoded.open_parameters.pop("accumulate", None)
        if found is not None:
            attribute, numbers = found
            flag = compiled(attribute.data.values[0], numbers, self._names.slots)
            return lambda: bool(flag())
        value = decoded.parameters.get("accumulate")
        return None if value is None else bool(value)

    # Steps

    def _step(self, op: InstructionOp, decoded: Decoded, run: Run, accumulate: Accumulate) -> Step:
        accesses = [operand.access for operand in decoded.operands if operand.access is not None]
        fixed = all(access.position is not None for access in accesses)
        if callable(accumulate) or (accumulate is None and not fixed):
            return CheckedStep(op, decoded, run, accumulate, poison=self._poison).run
        arguments = decoded.arguments()
        if decoded.isa.accumulates:
            result = decoded.result()
            written = accumulate
            if written is None and result.position is not None:
                arguments.append(result.written(result.position))
            else:
                arguments.append(written)
        if self._poison and any(access.has_shadow for access in accesses):
            if fixed:
                return checked_fixed_step(decoded, run, arguments, adds=accumulate is True)
            return CheckedStep(op, decoded, run, accumulate, poison=True).run
        if fixed:
            return partial(run, *arguments)
        open_access = any(access.position is None and access.fast is None for access in accesses)
        if open_access or any(isinstance(held, list) for held in decoded.roles.values()):
            return CheckedStep(op, decoded, run, accumulate, poison=False).run
        return _moving_step(decoded, run, arguments)

    def _guarded(self, op: InstructionOp, step: Step) -> Step:
        """Returns the step that runs another only where the guard of the instruction holds."""
        when = op.when
        if when is None:
            return step
        slots, numbers = self._names.slots, self._names.slots_of(guard_indices(op))
        registers = [number for number in numbers if self._names.ranges[number] is None]
        atoms = [(compiled(expression, numbers, slots), ge) for expression, ge in when.data.atoms]

        def guarded() -> None:
            for number in registers:
                if slots[number] is None:
                    raise NkiError("the guard reads a register that nothing has written")
            for expression, ge in atoms:
                value = expression()
                if value < 0 if ge else value != 0:
                    return
            step()

        return guarded


def _moving_step(decoded: Decoded, run: Run, arguments: list[Any]) -> Step:
    """Returns the step that makes the views over loop variables anew, without checks."""
    moving = [
        (number, operand.access.fast)
        for number, name in enumerate(decoded.isa.role_names)
        if isinstance(operand := decoded.roles.get(name), Operand)
        and operand.access is not None
        and operand.access.fast is not None
    ]

    def step() -> None:
        for number, view in moving:
            arguments[number] = view()
        run(*arguments)

    return step


def _first_partition(decoded: Decoded) -> int | CompiledAccess:
    """Returns the first physical partition of the result, or its access where that depends on the run."""
    result = decoded.result()
    return result if result.first is None else result.first

"""Elements computed from elements that nothing has written.

A mask shrinks a load, what follows computes on the whole tile, and the mask of the store leaves out what was never
defined. So reading undefined elements is no error in itself. Where an instruction tells how they spread, its results
are undefined in their turn, and remember which read they come from; an output may not hold any. Where it does not
tell, and where they would be mixed with others, the read is an error at once.

The shadow of a byte is 0 until it is written, then 255; in between is the number of the read from which it comes.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from nki_mlir.diagnostics import NkiError
from nki_mlir.dialects.bir.structure import DynamicForLoopOp, LoopOp
from nki_mlir.isa.instructions.base import Evaluation, Run
from nki_mlir.simulator.accesses import CompiledAccess, Position
from nki_mlir.simulator.decode import Decoded, Names, Operand
from nki_mlir.simulator.errors import located
from nki_mlir.simulator.memory import WHOLE, Array, unsigned

DEFINED = 255
_LAST = 254
"""Reads beyond that many share a number, and the first of them is named for all."""


class Undefined:
    """The reads of undefined elements of one run whose results are undefined themselves."""

    def __init__(self) -> None:
        self._reads: list[NkiError] = []

    def __bool__(self) -> bool:
        return bool(self._reads)

    def number(self, error: NkiError) -> int:
        """Returns the number of a read, which would be this error."""
        if len(self._reads) < _LAST:
            self._reads.append(error)
        return len(self._reads)

    def error(self, marks: Array) -> NkiError | None:
        """Returns the error of the read that undefined elements among some come from; None if they are none."""
        states = states_of(marks)
        numbers = states[(states != 0) & (states != DEFINED)]
        return self._reads[int(numbers[0]) - 1] if numbers.size else None


def states_of(marks: Array) -> Array:
    """Returns the state of each element, one byte: that of its first byte that is not defined."""
    found = (marks & 255).astype(np.uint8)
    for byte in range(1, marks.dtype.itemsize):
        found = np.minimum(found, (marks >> 8 * byte & 255).astype(np.uint8))
    return found


def marks_of(states: Array, size: int) -> Array:
    """Returns the shadow of elements of `size` bytes in these states."""
    return states.astype(unsigned(size)) * (WHOLE[size] // DEFINED)


class Read(NamedTuple):
    """An operand that is read: where it is now, and its shadow."""

    operand: Operand
    access: CompiledAccess
    position: Position
    marks: Array

    @property
    def whole(self) -> bool:
        return self.marks.min() == WHOLE[self.access.size]


class Spreading:
    """Runs one instruction on operands with undefined elements."""

    def __init__(self, decoded: Decoded, names: Names, found: Undefined, evaluation: Callable[[], Evaluation]) -> None:
        self._decoded = decoded
        self._names = names
        self._found = found
        self._evaluation = evaluation
        self._number = 0

    def adds_to_undefined(self, written: Any) -> bool:
        """Whether a matmul that adds where earlier ones wrote (`written`) may add to undefined elements."""
        return bool(self._found) and written.state() is not False

    def run(self, reads: Sequence[Read], writes: Sequence[Array], run: Run, arguments: list[Any]) -> None:
        """Runs the instruction and marks its results.

        Raises NkiError for the first operand with undefined elements if the instruction cannot run on them.
        """
        states: dict[str, Array] = {}
        errors: list[NkiError] = []
        for read in reads:
            if read.whole:
                continue
            errors.append(read.operand.error(read.access.never_written(read.position, read.marks)))
            state = states_of(read.marks)
            if not state.all():
                state[state == 0] = self._numbered(errors[-1])
            states[read.operand.use.role.name] = np.broadcast_to(state, read.position.nums)
        spread = self._decoded.isa.spread
        if errors and spread is None:
            raise errors[0]
        results: list[Array | int] = [WHOLE[marks.dtype.itemsize] for marks in writes]
        if states and spread is not None:
            function = spread(self._evaluation())
            for number, marks in enumerate(writes):
                result = function(states, np.full(marks.shape, DEFINED, np.uint8))
                if result is None:
                    raise errors[0]
                results[number] = marks_of(result, marks.dtype.itemsize)
        written: Any = run(*arguments)
        for marks, result in zip(writes, results, strict=True):
            np.copyto(marks, result, where=True if written is None else written)

    def _numbered(self, error: NkiError) -> int:
        """Returns the number of this instruction's reads, of which the first stands for all."""
        if not self._number:
            op = self._decoded.op
            found = located(error, op)
            parent = op.parent_op()
            while parent is not None:
                if isinstance(parent, LoopOp | DynamicForLoopOp):
                    variable = parent.body.block.args[0]
                    value = self._names.slots[self._names.slot(variable)]
                    found.add_note(f"in the iteration %{variable.name_hint or 'i'} = {value}")
                parent = parent.parent_op()
            self._number = self._found.number(found)
        return self._number

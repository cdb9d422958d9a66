"""The ranges of kernels, and how a rolled loop runs.

`for i in affine_range(n)` gives its body one symbolic index for all iterations. Whatever the body needs to know for
certain narrows the index's domain (`symbolic.py`), and so does Python state that the body carries along (`carried.py`);
then the loop runs the body again for the rest. So a loop is recorded in pieces, consecutive and in order, and the trace
means exactly what plain Python would.

Plain integers are yielded where a loop cannot be rolled: outside of a `for` statement (`enumerate`, `zip`, `list`,
comprehensions), in a generator of the user's, without source, and after three pieces of one iteration in a row.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from math import prod
from types import CodeType, TracebackType
from typing import Any, Self

from nki_mlir.frontend.carried import Snapshot
from nki_mlir.frontend.integers import MOST_ITERATIONS, bounds_of, too_many_iterations, trip_count
from nki_mlir.frontend.records import Loop, LoopInstance, Recorder
from nki_mlir.frontend.statements import for_statement
from nki_mlir.frontend.symbolic import Sym, Var

AFFINE, SEQUENTIAL, STATIC, PROGRAM = "affine", "sequential", "static", "program"

_PATIENCE = 3
"""Pieces of one iteration in a row after which the rest of a loop is unrolled."""


class LoopInt(int):
    """An index of an unrolled loop that knows which loop it belongs to."""

    loop: LoopInstance

    def __new__(cls, value: int, loop: LoopInstance) -> Self:
        made = super().__new__(cls, value)
        made.loop = loop
        return made


def loop_of(index: object) -> LoopInstance | None:
    """The loop that an index, rolled or not, comes from; None for other numbers and for sums of several indices."""
    if isinstance(index, LoopInt):
        return index.loop
    if isinstance(index, Sym):
        loops = [term.loop for term in index.terms if isinstance(term, Var)]
        if len(loops) == 1 and isinstance(loops[0], LoopInstance):
            return loops[0]
    return None


class KernelRange:
    """What `affine_range(...)` and its kin return; `kind` is AFFINE, SEQUENTIAL or STATIC.

    Its bounds are plain integers: a symbolic one takes a single value.
    """

    __slots__ = ("kind", "recorder", "values")

    def __init__(self, recorder: Recorder, kind: str, *bounds: Any) -> None:
        self.recorder = recorder
        self.kind = kind
        self.values = bounds_of(f"{kind}_range", bounds)

    def __iter__(self) -> Iterator[Any]:
        # The iterator must be reachable by the loop statement alone: then Python closes it the moment the loop ends.
        frame = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
        statement = None if self.kind == STATIC else for_statement(frame)
        if statement is None:
            check_count(self.recorder, self.values)
            instance = LoopInstance(self.kind, "", self.values)
            return iter([LoopInt(value, instance) for value in self.values])
        live_in = statement.live_in
        instance = LoopInstance(self.kind, statement.target, self.values, statement)
        return _pieces(self.recorder, instance, lambda: Snapshot(frame, live_in).changed)

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, index: int) -> int:
        return self.values[index]

    def __contains__(self, value: object) -> bool:
        return value in self.values

    def __reversed__(self) -> Iterator[int]:
        return reversed(self.values)

    def __repr__(self) -> str:
        return f"{self.kind}_range({self.values.start}, {self.values.stop}, {self.values.step})"


def check_count(recorder: Recorder, values: range) -> None:
    """Checks that a loop which is to be unrolled does not run for ever, those around it considered.

    Raises:
        NKIValueError: it has more iterations than a kernel may have instructions.
    """
    around = [trip_count(loop.instance.values) for loop in recorder.loops if loop.var is None]
    iterations = prod([*around, trip_count(values)])
    if iterations > MOST_ITERATIONS:
        raise too_many_iterations(iterations)


def failed_loops(recorder: Recorder, traceback: TracebackType | None) -> list[Loop]:
    """Returns the loops around the place that a traceback leads to, outermost first, with the iteration as `bounds`.

    When somebody catches an exception, Python has closed the loops that it left.
    """
    places: list[tuple[CodeType, int]] = []
    while traceback is not None:
        places.append((traceback.tb_frame.f_code, traceback.tb_lineno))
        traceback = traceback.tb_next
    left: list[Loop] = []
    for loop in reversed(recorder.left):
        statement = loop.instance.statement
        if statement is not None and any(code is statement.code and line in statement.lines for code, line in places):
            left.append(loop)
    return [*recorder.loops, *left]


def programs(recorder: Recorder, sizes: Sequence[int]) -> Iterator[tuple[Any, ...]]:
    """Yields the program ids of a grid, outermost axis first: symbolic ones if the recorder rolls, else numbers.

    The kernel runs once for each tuple. What it needs to know of an id narrows it, as with loops.
    """
    if not sizes:
        yield ()
        return
    instance = LoopInstance(PROGRAM, f"p{recorder.depth}", range(sizes[0]))
    for index in _pieces(recorder, instance, None):
        for others in programs(recorder, sizes[1:]):
            yield (index, *others)


def _pieces(
    recorder: Recorder, instance: LoopInstance, watch: Callable[[], Callable[[], bool]] | None
) -> Iterator[Any]:
    """Runs one loop: yields the index of each piece and closes the piece when the body is done.

    `watch` starts to observe the Python state and returns what tells whether it has changed.
    """
    values = instance.values
    low, count = 0, trip_count(values)
    patience = _PATIENCE if recorder.rolling else 0
    counted = False
    try:
        while low < count:
            rolled = patience > 0 and count - low > 1
            if not rolled and not counted:
                check_count(recorder, values[low:])
                counted = True
            var = Var(low, count, recorder.depth, instance.name, instance) if rolled else None
            loop = recorder.open_loop(var, instance, (low, low + 1))
            changed = watch() if var is not None and watch is not None else None
            finished = False
            try:
                if var is None:
                    yield LoopInt(values[low], instance)
                else:
                    yield Sym(values.start, {var: values.step})
                finished = True
            finally:  # `break`, `return` and exceptions close this generator at the yield
                recorder.close_loop(loop)
                if not finished:
                    recorder.left.append(loop)
                if var is not None:
                    if not finished or (changed is not None and changed()):
                        var.hi = low + 1
                    loop.bounds = (low, var.hi)
                    var.lo = var.hi - 1
            high = loop.bounds[1]
            if rolled:
                patience = patience - 1 if high - low == 1 else _PATIENCE
            low = high
    finally:
        instance.open = False

"""A BIR function compiled to steps and run: blocks and branches, loops, storage that begins anew.

A region becomes a list of steps, a loop a step that runs such a list. Nothing is interpreted while the function runs,
and what went wrong is traced to its op only when it did.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, cast

from xdsl.dialects.builtin import UnregisteredOp
from xdsl.ir import Block, Operation, Region, SSAValue

from nki_mlir.diagnostics import NkiError
from nki_mlir.dialects.access import Access
from nki_mlir.dialects.bir.registers import RegisterAluOp, RegisterMoveOp, TensorLoadOp, TensorSaveOp
from nki_mlir.dialects.bir.structure import (
    CompareAndBranchOp,
    DoWhileOp,
    DynamicForLoopOp,
    FuncOp,
    LoopOp,
    RegisterOp,
    ReturnOp,
    TensorOp,
    UnconditionalBranchOp,
)
from nki_mlir.dialects.instruction import InstructionOp, guard_indices, operands_of
from nki_mlir.dialects.operands import ranges_of
from nki_mlir.isa.enums import MemorySpace
from nki_mlir.isa.target import Target
from nki_mlir.simulator.decode import Names
from nki_mlir.simulator.errors import RunError, located
from nki_mlir.simulator.expressions import compiled
from nki_mlir.simulator.instructions import InstructionCompiler, Step
from nki_mlir.simulator.memory import CoreMemory, Storage
from nki_mlir.simulator.registers import (
    comparison,
    register_alu,
    register_move,
    register_reader,
    tensor_load,
    tensor_save,
)
from nki_mlir.simulator.undefined import Undefined

Terminator = Callable[[], int | None]
"""Returns the number of the block that runs next, None to end the function."""


ITERATIONS = "max-iterations"
"""The rule that a program breaks which takes too many iterations; also what the limit is called."""


MOST_ITERATIONS = 100_000_000
"""How many iterations of loops and branches a run takes at most, where nothing else is said."""

MOST_REPEATED = 1_000_000
"""How many steps (instructions, and iterations of the loops around them) a run takes at most, where nothing else is
said, in what repeats for as long as a register has it: half a minute, if they are memsets of 128x512 elements."""


class Budget:
    """How many iterations of loops and branches a run may take, so that none goes on for ever.

    By default those whose number is known when the loop begins are counted apart from what may never end: `do_while`,
    blocks that run again, and all that these hold.
    """

    def __init__(self, most: int | None) -> None:
        self._most = MOST_ITERATIONS if most is None else most
        self._left = self._most
        self._repeated = MOST_REPEATED if most is None else None
        self.repeats = False
        """Whether what runs now may repeat for ever."""

    def spend(self, count: int, steps: int) -> None:
        """Takes iterations of so many steps each from the budget; NkiError if it is used up."""
        self._left -= count
        if self._left < 0:
            raise NkiError(
                f"the program takes more than {self._most} iterations of loops and branches", rule=ITERATIONS
            )
        if self.repeats and self._repeated is not None:
            self._repeated -= count * (1 + steps)
            if self._repeated < 0:
                raise NkiError(
                    f"the program takes more than {MOST_REPEATED} steps in loops and branches that may not end",
                    rule=ITERATIONS,
                )

    def check(self, functions: Iterable[FuncOp]) -> None:
        """Raises NkiError if the static loops alone, whose iterations are known, use the budget up.

        Loops that may not run, behind a branch, are left to the run; so is what runtime loops repeat.
        """
        loops = [
            (_iterations(op), op)
            for func in functions
            for block in list(func.body.blocks)[:1]
            for op in block.ops
            if op.regions
        ]
        total = sum(count for count, _ in loops)
        if total > self._most:
            longest = max(loops, key=lambda loop: loop[0])[1]
            message = f"the static loops of the program take {total} iterations, at most {self._most} are allowed"
            raise located(NkiError(message, rule=ITERATIONS), longest)


def _iterations(op: Operation) -> int:
    """Returns how many iterations of static loops an op takes for certain."""
    if not isinstance(op, LoopOp | DoWhileOp):
        return 0
    inside = sum(_iterations(inner) for inner in op.body.block.ops if inner.regions)
    return op.trip_count * (1 + inside) if isinstance(op, LoopOp) else inside


class Steps:
    """The steps of a block, and the ops that they stand for; `depth` is how many loops that repeat are around it."""

    def __init__(self, depth: int) -> None:
        self.depth = depth
        self.steps: list[Step] = []
        self.ops: list[Operation] = []

    def add(self, op: Operation, step: Step) -> None:
        """Adds the step of an op."""
        self.steps.append(step)
        self.ops.append(op)

    def blame(self, error: NkiError, step: Step) -> RunError:
        """Returns the error of a step as one about its op."""
        return located(error, next(op for op, one in zip(self.ops, self.steps, strict=True) if one is step))


_DEFINITIONS = frozenset({TensorOp, RegisterOp})
_TERMINATORS = frozenset({CompareAndBranchOp, UnconditionalBranchOp, ReturnOp})


def _idle() -> None:
    """Does nothing."""


def definitions(region: Region) -> Iterator[TensorOp | RegisterOp]:
    """Yields the storage and registers that a region defines, in loops too, in order."""
    for block in region.blocks:
        for op in block.ops:
            if type(op) in _DEFINITIONS:
                yield cast("TensorOp | RegisterOp", op)
            for inner in op.regions:
                yield from definitions(inner)


class Function:
    """A function compiled for one run: its names and memory are those of this run."""

    def __init__(
        self,
        func: FuncOp,
        shared: dict[str, Storage],
        target: Target,
        *,
        memory_target: Target | None,
        undefined: Undefined | None,
        budget: Budget,
    ) -> None:
        self._names = Names()
        self._target = target
        self._instructions = InstructionCompiler(self._names, target, undefined)
        self._budget = budget
        self._checked = undefined is not None
        self._private: set[Storage] = set()
        self._open: list[Steps] = []
        self._waiting: dict[SSAValue, _Waiting] = {}
        defined = list(definitions(func.body))
        tensors = [op for op in defined if isinstance(op, TensorOp)]
        memory = CoreMemory(tensors, memory_target, poison=undefined is not None)
        for op in defined:
            if isinstance(op, RegisterOp):
                self._names.new_slot(op.results[0])
                continue
            storage = shared.get(op.sym.data) if op.is_shared else None
            if storage is None:
                storage = memory.storage(op)
                self._private.add(storage)
            self._names.storages[op.results[0]] = storage
        blocks = list(func.body.blocks)
        self._numbers = {block: number for number, block in enumerate(blocks)}
        decoder = self._instructions.decoder
        self._compilers: dict[type[Operation], Callable[[Any, bool], Step]] = {
            TensorOp: self._tensor,
            RegisterOp: self._register,
            LoopOp: self._loop,
            DynamicForLoopOp: self._dynamic_for_loop,
            DoWhileOp: self._do_while,
            RegisterMoveOp: lambda op, _: register_move(op, decoder, target),
            RegisterAluOp: lambda op, _: register_alu(op, decoder, target),
            TensorLoadOp: lambda op, _: tensor_load(op, decoder, target),
            TensorSaveOp: lambda op, _: tensor_save(op, decoder, target),
        }
        last = len(blocks) - 1
        self._blocks = [
            self._block(block, repeats=last > 0, following=None if number == last else number + 1)
            for number, block in enumerate(blocks)
        ]

    def run(self) -> None:
        """Runs the function to its end."""
        number: int | None = 0 if self._blocks else None
        ran: set[int] = set()
        budget = self._budget
        while number is not None:
            body, terminator = self._blocks[number]
            budget.repeats = number in ran
            ran.add(number)
            _run_steps(body)
            following, end = terminator
            try:
                number = following()
                if number is not None:
                    budget.spend(1, len(body.steps))
            except NkiError as error:
                raise located(error, cast(Operation, end)) from error

    @property
    def storages(self) -> list[Storage]:
        """The storage that the function uses, in order."""
        return list(self._names.storages.values())

    # Compilation

    def _block(
        self, block: Block, *, repeats: bool, following: int | None = None
    ) -> tuple[Steps, tuple[Terminator, Operation | None]]:
        """Returns the steps of a block and what runs after it: without a terminator the block that follows."""
        around = self._open[-1] if self._open else None
        depth = 0 if around is None else around.depth + (not _runs_once(block.parent_op()))
        steps = Steps(depth)
        self._open.append(steps)
        try:
            for op in block.ops:
                try:
                    if type(op) in _TERMINATORS:
                        return steps, (self._terminator(op), op)
                    if self._waiting:
                        self._begin_before(op)
                    step = self._compile(op, repeats)
                except NkiError as error:
                    raise located(error, op) from error
                if step is not _idle:
                    steps.add(op, step)
            return steps, ((lambda: following), None)
        finally:
            self._open.pop()

    def _tensor(self, op: TensorOp, repeats: bool) -> Step:
        """Storage whose bytes are its own begins anew where it is defined; placed storage at its first access.

        Until then other storage that an allocator gave the same addresses may hold what is still read. The contents of
        places that the user chose stay, only what matmuls add to begins anew: no other storage has a part in that.
        """
        storage, blocks = self._names.storages[op.results[0]], range(op.mem.blocks)
        if storage not in self._private:
            return _idle
        if op.places is None or not op.mem.on_chip:
            return partial(storage.begin, blocks) if repeats else _idle
        if op.user_allocated is not None:
            return partial(storage.forget, blocks) if repeats else _idle
        if self._checked or op.mem.space is MemorySpace.PSUM:
            self._waiting[op.results[0]] = _Waiting(op, storage, self._open[0], self._open[-1].depth)
            if repeats and len(self._numbers) > 1:  # the first access may be in another block of the function
                return partial(storage.forget, blocks)
        return _idle

    def _begin_before(self, op: Operation) -> None:
        """Lets those blocks of storage begin that no op before this one accesses.

        What is defined outside of a loop begins before it. What only another block of the function accesses does not
        begin: branches, not the order of the text, say which access is the first.
        """
        waiting = self._waiting
        for value in op.operands:
            found = waiting.get(value)
            if found is None:
                continue
            taken = found.take(op, value)
            if taken and found.root is self._open[0]:
                steps = next(one for one in reversed(self._open) if one.depth == found.depth)
                steps.add(found.op, partial(found.storage.begin, taken))
            if not found.blocks:
                del waiting[value]

    def _terminator(self, op: Operation) -> Terminator:
        if isinstance(op, ReturnOp):
            return _no_block
        if isinstance(op, UnconditionalBranchOp):
            destination = self._numbers[op.destination]
            return lambda: destination
        assert isinstance(op, CompareAndBranchOp)
        holds = comparison(op, self._instructions.decoder, self._target)
        on_true, on_false = self._numbers[op.on_true], self._numbers[op.on_false]
        return lambda: on_true if holds() else on_false

    def _compile(self, op: Operation, repeats: bool) -> Step:
        guarded = cast(InstructionOp, op) if "when" in op.properties else None
        if guarded is not None and ranges_of(guarded, operands_of(guarded)) is None:
            return _idle  # the guard never holds: accesses may be out of bounds
        compile_one = self._compilers.get(type(op))
        if compile_one is not None:
            step = compile_one(op, repeats)
        elif isinstance(op, InstructionOp) and op.name.startswith("bir.") and (isa := op.descriptor()) is not None:
            step = self._instructions.compile(op, isa)
        else:
            raise unsupported(op)
        return step if guarded is None else self._guarded(guarded, step)

    def _guarded(self, op: InstructionOp, step: Step) -> Step:
        """Returns the step that runs another only where the guard of the instruction holds."""
        when = op.when
        assert when is not None
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

    def _register(self, op: RegisterOp, repeats: bool) -> Step:
        number, slots = self._names.slot(op.results[0]), self._names.slots

        def step() -> None:
            slots[number] = None

        return step if repeats else _idle

    def _body(self, region: Region) -> Steps:
        steps, _ = self._block(region.block, repeats=True)
        return steps

    def _loop(self, op: LoopOp, repeats: bool) -> Step:
        values = op.range()
        number = self._names.new_slot(op.variable, op.interval())
        return self._counted(op, number, self._body(op.body), lambda: values)

    def _dynamic_for_loop(self, op: DynamicForLoopOp, repeats: bool) -> Step:
        lower, stride = op.bound("lower", 0), op.bound("step", 1)
        if stride <= 0:
            raise NkiError(f"the step of a loop must be positive, got {stride}")
        upper = register_reader(self._names, op.upper)
        number = self._names.new_slot(op.body.block.args[0])
        return self._counted(op, number, self._body(op.body), lambda: range(lower, upper(), stride))

    def _counted(self, op: Operation, number: int, body: Steps, bounds: Callable[[], range]) -> Step:
        """Returns the step that runs a body for every value of a loop variable."""
        slots, steps, budget = self._names.slots, body.steps, self._budget
        name = op.regions[0].block.args[0].name_hint or "i"

        def loop() -> None:
            values = bounds()
            budget.spend(max(0, -((values.start - values.stop) // values.step)), len(steps))
            step: Any = None
            try:
                for slots[number] in values:
                    for step in steps:
                        step()
            except NkiError as error:
                found = body.blame(error, step)
                found.add_note(f"in the iteration %{name} = {slots[number]}")
                raise found from error.__cause__

        return loop

    def _do_while(self, op: DoWhileOp, repeats: bool) -> Step:
        condition, body, budget = register_reader(self._names, op.condition), self._body(op.body), self._budget

        def loop() -> None:
            outside = budget.repeats
            while True:
                budget.spend(1, len(body.steps))
                _run_steps(body)
                if condition() == 0:
                    break
                budget.repeats = True
            budget.repeats = outside

        return loop


def _runs_once(op: Operation | None) -> bool:
    return isinstance(op, LoopOp) and op.trip_count == 1


class _Waiting:
    """Storage of which blocks have not begun; the outermost steps around its definition, and the depth of it."""

    __slots__ = ("blocks", "depth", "op", "root", "storage")

    def __init__(self, op: TensorOp, storage: Storage, root: Steps, depth: int) -> None:
        self.op = op
        self.storage = storage
        self.root = root
        self.depth = depth
        self.blocks = list(range(op.mem.blocks))

    def take(self, op: Operation, value: SSAValue) -> list[int]:
        """Returns the blocks that an op accesses and none before it did."""
        if self.op.mem.blocks > 1 and isinstance(op, InstructionOp):
            patterns = [use.pattern for use in operands_of(op) if use.storage is value]
            touched = {one.data.block if isinstance(one, Access) else None for one in patterns}
            if all(isinstance(number, int) for number in touched):
                taken = [number for number in self.blocks if number in touched]
                self.blocks = [number for number in self.blocks if number not in touched]
                return taken
        taken, self.blocks = self.blocks, []
        return taken


def _run_steps(body: Steps) -> None:
    step: Any = None
    try:
        for step in body.steps:
            step()
    except NkiError as error:
        raise body.blame(error, step) from error.__cause__


def _no_block() -> None:
    """Ends the function."""


def unsupported(op: Operation) -> NkiError:
    """Returns the error for an op that the simulator does not run."""
    if isinstance(op, UnregisteredOp):
        return NkiError(f"the operation '{op.op_name.data}' is not registered, so it cannot be simulated")
    dialect = op.name.partition(".")[0]
    if dialect in ("penguin", "klr"):
        return NkiError(f"the simulator runs BIR, lower the {dialect} dialect with convert-{dialect}-to-bir first")
    return NkiError("the simulator cannot run this operation")

"""What a trace is made of: instructions in a tree of loops and scopes, light enough to record 100,000 of them.

A builder turns the finished tree into operations. A loop's bounds are known only when its body is done, so nothing is
built before the kernel has ended, and an exception leaves nothing half built.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, cast

from nki_mlir.frontend.statements import ForStatement
from nki_mlir.frontend.symbolic import GE, NE, Atom, Axis, Sym, Var, evaluate
from nki_mlir.frontend.tensors import Pattern, Storage, View


class LoopInstance:
    """One execution of a loop statement, which is recorded as one `Loop` for each piece of its range.

    `loop_reduce` and the like name a loop by it; storage made in the body is in scope as long as it is `open`.
    `statement` is where it is in the user's source, None if that is unknown.
    """

    __slots__ = ("kind", "name", "open", "statement", "values")

    def __init__(self, kind: str, name: str, values: range, statement: ForStatement | None = None) -> None:
        self.kind = kind
        self.name = name
        self.values = values
        self.statement = statement
        self.open = True


class Loop:
    """A piece of a loop. The index of iteration k in `bounds` = (lo, hi) is `start + step * k`.

    `var` is the variable that counts k, None for an iteration that was never symbolic. A `single` piece has one
    iteration and is straight-line code.
    """

    __slots__ = ("body", "bounds", "instance", "kind", "name", "parent", "start", "step", "var")

    def __init__(self, var: Var | None, instance: LoopInstance, parent: "Loop | None", bounds: tuple[int, int]) -> None:
        self.var = var
        self.instance = instance
        self.kind = instance.kind
        self.name = instance.name
        self.start = instance.values.start
        self.step = instance.values.step
        self.parent = parent
        self.bounds = bounds
        self.body: list[Node] = []

    @property
    def single(self) -> bool:
        return self.bounds[1] - self.bounds[0] == 1


class Scope:
    """A region that is no loop, such as `no_reorder`."""

    __slots__ = ("attributes", "body", "kind")

    def __init__(self, kind: str, attributes: Mapping[str, Any]) -> None:
        self.kind = kind
        self.attributes = attributes
        self.body: list[Node] = []


class Likeness:
    """What records have in common that differ in nothing but places and names, and in views in nothing but which of
    the same form they are: the parameters, none of which depends on a loop.
    """

    __slots__ = ("attributes",)

    def __init__(self, attributes: Mapping[str, Any]) -> None:
        self.attributes = attributes


def constant(value: Any) -> bool:
    """Whether a parameter is the same in all iterations of loops."""
    if isinstance(value, tuple):
        return all(map(constant, cast("tuple[Any, ...]", value)))
    return not isinstance(value, Sym)


class Record:
    """One instruction.

    instr       the instruction's descriptor or name
    roles       role -> View, number, Sym, or a list of them
    attributes  everything else; values may be symbolic
    predicates  conditions over loop variables under which the instruction runs
    location    the user's frames (`locations.here`)
    like        what it has in common with records of this and other traces, None if that is unknown
    """

    __slots__ = ("attributes", "instr", "like", "location", "predicates", "roles")

    def __init__(
        self,
        instr: Any,
        roles: Mapping[str, Any],
        attributes: Mapping[str, Any],
        predicates: tuple[Atom, ...] = (),
        location: Any = (),
        like: Likeness | None = None,
    ) -> None:
        self.instr = instr
        self.like = like
        self.roles = roles
        self.attributes = attributes
        self.predicates = predicates
        self.location = location


Node = Record | Loop | Scope


class Recorder:
    """The tree while it grows.

    rolling  whether loops stay loops
    body     where the next record goes
    loops    the open loops, outermost first
    left     loops left early since the last one was opened, innermost first; an exception leaves all of them
    count    instructions recorded
    """

    def __init__(self, rolling: bool) -> None:
        self.rolling = rolling
        self.root: list[Node] = []
        self.body = self.root
        self.loops: list[Loop] = []
        self.left: list[Loop] = []
        self.count = 0
        self._stack: list[Loop | Scope] = []

    @property
    def depth(self) -> int:
        return len(self.loops)

    @property
    def loop(self) -> Loop | None:
        """The innermost open loop."""
        return self.loops[-1] if self.loops else None

    def open_loop(self, var: Var | None, instance: LoopInstance, bounds: tuple[int, int]) -> Loop:
        loop = Loop(var, instance, self.loop, bounds)
        self._push(loop)
        self.loops.append(loop)
        self.left.clear()
        return loop

    def close_loop(self, loop: Loop) -> None:
        """Ends `loop` and whatever was left open inside of it, by an exception for example."""
        self._pop(loop)

    def open_scope(self, kind: str, attributes: Mapping[str, Any]) -> Scope:
        scope = Scope(kind, attributes)
        self._push(scope)
        return scope

    def close_scope(self, scope: Scope) -> None:
        self._pop(scope)

    def _push(self, node: "Loop | Scope") -> None:
        self.body.append(node)
        self._stack.append(node)
        self.body = node.body

    def _pop(self, node: "Loop | Scope") -> None:
        if node in self._stack:
            del self._stack[self._stack.index(node) :]
            self.loops = [loop for loop in self._stack if isinstance(loop, Loop)]
            self.body = self._stack[-1].body if self._stack else self.root


class FlatView(NamedTuple):
    """A tensor operand of an expanded trace: the storage and the access, all numbers."""

    storage: int
    space: str
    shape: tuple[int, ...]
    dtype: Any
    offsets: tuple[int, ...]
    partitions: tuple[tuple[int, int], ...]
    elements: tuple[tuple[int, int], ...]
    order: tuple[int, ...]


FlatRecord = tuple[Any, tuple[tuple[str, Any], ...], tuple[tuple[str, Any], ...]]


def expand(nodes: Sequence[Node]) -> Iterator[FlatRecord]:
    """Yields the instructions one by one as (instr, roles, attributes), with every loop run and every index a number.

    Tensors are `FlatView`s. Instructions whose predicates fail or whose masks leave nothing are left out. Storage is
    numbered by its first appearance, each iteration's own storage anew, so that two traces of one kernel give equal
    lists if and only if they mean the same.
    """
    for _, flat in _Expansion().run(nodes):
        yield flat


def expand_records(nodes: Sequence[Node]) -> "Iterator[tuple[Record, FlatRecord]]":
    """Yields what `expand` does together with the record that each instruction comes from."""
    yield from _Expansion().run(nodes)


def scope_scratch(nodes: Sequence[Node], storages: Iterable[Storage]) -> None:
    """Makes scratch in HBM that only the body of the loop that makes it mentions new in each iteration."""
    waiting = {storage for storage in storages if storage.maker is not storage.scope}
    if waiting:
        outside = set[Storage]()
        _find_outside(nodes, (), waiting, outside)
        for storage in waiting - outside:
            storage.scope = storage.maker


def _find_outside(
    nodes: Sequence[Node], around: tuple[Loop, ...], storages: set[Storage], outside: set[Storage]
) -> None:
    """Finds storages that are mentioned outside of the loop that makes them; `around` are the loops around `nodes`."""
    for node in nodes:
        if isinstance(node, Record):
            for value in node.roles.values():
                views = cast("Sequence[Any]", value if isinstance(value, list | tuple) else (value,))
                for view in views:
                    if isinstance(view, View) and view.storage in storages and view.storage.maker not in around:
                        outside.add(view.storage)
        elif isinstance(node, Loop):
            _find_outside(node.body, (*around, node), storages, outside)
        else:
            _find_outside(node.body, around, storages, outside)


class _Expansion:
    def __init__(self) -> None:
        self.values: dict[Var | Axis, int] = {}
        self.numbers: dict[tuple[Any, ...], int] = {}
        self.patterns: dict[int, Pattern] = {}  # by view, which the tree keeps alive

    def run(self, nodes: Sequence[Node]) -> Iterator[tuple[Record, FlatRecord]]:
        for node in nodes:
            if isinstance(node, Record):
                flat = self.record(node)
                if flat is not None:
                    yield node, flat
            elif isinstance(node, Scope) or node.var is None:
                yield from self.run(node.body)
            else:
                for value in range(*node.bounds):
                    self.values[node.var] = value
                    yield from self.run(node.body)
                del self.values[node.var]

    def record(self, record: Record) -> FlatRecord | None:
        for expr, kind in record.predicates:
            number = evaluate(expr, self.values)
            if not (number >= 0 if kind == GE else (number == 0) is not (kind == NE)):
                return None
        known = len(self.numbers)
        roles: list[tuple[str, Any]] = []
        for name, value in record.roles.items():
            concrete = self.value(value)
            if concrete is _NOTHING:
                while len(self.numbers) > known:  # storage that only this instruction has mentioned
                    self.numbers.popitem()
                return None
            roles.append((name, concrete))
        return record.instr, tuple(roles), tuple((name, self.value(v)) for name, v in record.attributes.items())

    def value(self, value: Any) -> Any:
        items: Any = value
        if isinstance(value, View):
            return self.view(value)
        if isinstance(value, Sym):
            return evaluate(value, self.values)
        if isinstance(value, list | tuple):
            concrete = tuple(map(self.value, items))
            return _NOTHING if any(item is _NOTHING for item in concrete) else concrete
        return value

    def view(self, view: View) -> Any:
        storage = view.storage
        pattern = self.patterns.get(id(view))
        if pattern is None:
            pattern = self.patterns[id(view)] = view.pattern()
        pairs: list[tuple[tuple[int, int], ...]] = []
        for part in (pattern.partition_pairs, pattern.free_pairs):
            concrete: list[tuple[int, int]] = []
            for step, num in part:
                if isinstance(num, tuple):
                    num = min(num[0], *(evaluate(bound, self.values) for bound in num[1]))
                if num <= 0:
                    return _NOTHING
                concrete.append((step, num))
            pairs.append(tuple(concrete))
        offsets = tuple(evaluate(offset, self.values) for offset in (pattern.block, pattern.partition, pattern.free))
        number = self.number(storage)
        access = offsets, pairs[0], pairs[1], pattern.order
        return FlatView(number, str(storage.space), storage.shape, view.element, *access)

    def number(self, storage: Storage) -> int:
        key: list[Any] = [id(storage)]
        loop = storage.maker
        while loop is not None:
            if loop.var is not None:  # behind a loop its last iteration's storage is meant
                key.append(self.values.get(loop.var, loop.bounds[1] - 1))
            loop = loop.parent
        return self.numbers.setdefault(tuple(key), len(self.numbers))


_NOTHING: Any = object()

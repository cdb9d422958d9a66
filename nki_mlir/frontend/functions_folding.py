"""Folding away the copies of `tensor[...] = function(...)`, when a trace of the older API is finished.

A function records its instruction into a fresh tile, and the assignment records a copy. Where nothing else reads the
fresh tile, the instruction writes the target itself and the copy goes; a result of a matmul that is added to PSUM makes
the matmul accumulate there. That needs all uses, so it is done when the kernel has ended.
"""

from collections.abc import Sequence
from typing import Any

from nki_mlir.frontend.context import TraceContext
from nki_mlir.frontend.functions import PSUM, SBUF, same_elements
from nki_mlir.frontend.locations import innermost
from nki_mlir.frontend.records import Node, Record
from nki_mlir.frontend.sema import OUTPUTS
from nki_mlir.frontend.storage import Tile
from nki_mlir.frontend.symbolic import Atom, same
from nki_mlir.frontend.tensors import Storage
from nki_mlir.isa.instructions import INSTRUCTIONS

ELEMENTWISE = frozenset(
    INSTRUCTIONS[name]
    for name in ("tensor_copy", "tensor_tensor", "tensor_scalar", "scalar_tensor_tensor", "reciprocal", "activation")
)
"""Instructions that may write over an operand that is read at the same elements."""
MATMUL, ADD = INSTRUCTIONS["matmul"], INSTRUCTIONS["tensor_tensor"]


class Uses:
    """How many records write and read each storage."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        self.writers: dict[Storage, int] = {}
        self.readers: dict[Storage, int] = {}
        self._count(nodes)

    def _count(self, nodes: Sequence[Node]) -> None:
        for node in nodes:
            if not isinstance(node, Record):
                self._count(node.body)
                continue
            outputs = OUTPUTS[node.instr.name]
            for role, value in node.roles.items():
                if isinstance(value, Tile):
                    counts = self.writers if role in outputs else self.readers
                    counts[value.storage] = counts.get(value.storage, 0) + 1


def fold_assignments(context: TraceContext) -> None:
    """Folds the copies of a finished trace into the instructions before them, and drops the tiles that are gone."""
    if not context.assignments:
        return
    uses = Uses(context.recorder.root)
    bodies: dict[int, tuple[list[Any], set[int]]] = {}
    for body, record in context.assignments:
        bodies.setdefault(id(body), (body, set()))[1].add(id(record))
    gone: set[Storage] = set()
    folding = _Folding(context, uses, gone)
    for body, copies in bodies.values():
        body[:] = folding.run(body, copies)
    context.assignments.clear()
    context.allocations[:] = [allocation for allocation in context.allocations if allocation not in gone]


class _Folding:
    """One pass over the instructions of a loop's body."""

    def __init__(self, context: TraceContext, uses: Uses, gone: set[Storage]) -> None:
        self.context = context
        self.uses = uses
        self.gone = gone
        self.legal: dict[Any, bool] = {}

    def run(self, body: Sequence[Node], copies: set[int]) -> list[Node]:
        """Returns the body without the copies that are folded; `copies` holds the ids of those that may be."""
        out: list[Node] = []
        written: dict[Storage, int] = {}  # storage -> place in `out` of the record that wrote it last
        touched: dict[Storage, int] = {}  # the same of the last one that wrote or read it
        barrier = -1
        for node in body:
            if not isinstance(node, Record):
                barrier = len(out)
                out.append(node)
                continue
            if id(node) in copies:
                source: Tile = node.roles["data2" if node.instr is ADD else "src"]
                target: Tile = node.roles["dst"]
                place = written.get(source.storage, -1)
                near = place > barrier and touched.get(target.storage, -1) <= place
                record = out[place] if near else None
                if isinstance(record, Record) and self.fold(record, node, source, target):
                    written[target.storage] = touched[target.storage] = place
                    continue
                if node.instr is ADD:
                    out += self.apart(node, source)
            outputs = OUTPUTS[node.instr.name]
            for role, value in node.roles.items():
                if isinstance(value, Tile):
                    touched[value.storage] = len(out)
                    if role in outputs:
                        written[value.storage] = len(out)
            out.append(node)
        return out

    def fold(self, record: Record, copy: Record, source: Tile, target: Tile) -> bool:
        """Makes `record` write the target of a copy instead of the copy's source, if that means the same."""
        storage = source.storage
        if self.uses.writers.get(storage) != 1 or self.uses.readers.get(storage) != 1:
            return False
        outputs = {role: record.roles.get(role) for role in OUTPUTS[record.instr.name]}
        roles = [role for role, value in outputs.items() if isinstance(value, Tile) and value.storage is storage]
        if len(roles) != 1 or target.element is not source.element:
            return False
        role = roles[0]
        if not same_elements(record.roles[role], source) or not _same_guards(record.predicates, copy.predicates):
            return False
        adds = copy.instr is ADD
        if adds and (record.instr is not MATMUL or target.buffer is not PSUM):
            return False
        changed = {**record.roles, role: target}
        if not all(_may_overlap(record, value, target) for r, value in record.roles.items() if r != role):
            return False
        attributes = {**record.attributes, "accumulate": 1} if adds else record.attributes
        if not self.admits(record, changed, attributes):
            return False
        record.roles, record.attributes, record.like = changed, attributes, None
        self.gone.add(storage)
        return True

    def admits(self, record: Record, roles: dict[str, Any], attributes: Any) -> bool:
        """Whether the rules of the instruction allow its new destination where its guard lets it run."""
        key: list[Any] = [record.instr.name, *attributes.items()]
        moved = bool(record.predicates)
        for role, value in roles.items():
            if isinstance(value, Tile):
                access, variables, _ = value.encode()
                key += (role, value.allocation.mem, value.allocation.place, access)
                moved = moved or bool(variables)
            else:
                key += (role, value)
        if moved:  # the answer depends on more than the key
            return self.context.sema.violation(record.instr, roles, attributes, record.predicates) is None
        form = tuple(key)
        known = self.legal.get(form)
        if known is None:
            known = self.legal[form] = self.context.sema.violation(record.instr, roles, attributes) is None
        return known

    def apart(self, node: Record, source: Tile) -> list[Node]:
        """Copies the second operand of an addition to SBUF if both are in PSUM; returns the copy.

        Raises:
            NkiValidationError: the addition breaks a rule all the same.
        """
        copies: list[Node] = []
        if source.buffer is PSUM:
            name = self.context.names.unique("t")
            copied: Tile = self.context.allocate(source.shape, source.element, SBUF, name=name)
            copied.allocation.scope = source.allocation.scope
            copied.allocation.written = True
            if source.limits is not None:
                copied = copied.with_limits(source.shape, copied.offsets, source.limits)
            roles = {"dst": copied, "src": source}
            copies.append(Record(INSTRUCTIONS["tensor_copy"], roles, {}, node.predicates, node.location))
            node.roles, node.like = {**node.roles, "data2": copied}, None
        error = self.context.sema.violation(node.instr, node.roles, node.attributes, node.predicates)
        if error is not None:
            error.location = innermost(node.location)
            raise error
        return copies


def _may_overlap(record: Record, value: Any, target: Tile) -> bool:
    """Whether an operand may be read while the target is written."""
    if not isinstance(value, Tile) or value.storage is not target.storage:
        return True
    return record.instr in ELEMENTWISE and same_elements(value, target)


def _same_guards(first: tuple[Atom, ...], second: tuple[Atom, ...]) -> bool:
    return len(first) == len(second) and all(
        a.kind == b.kind and same(a.expr, b.expr) for a, b in zip(first, second, strict=True)
    )

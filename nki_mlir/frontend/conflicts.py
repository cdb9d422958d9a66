"""Iterations of an `affine_range` that write the same location, found when a trace of the older API is finished.

Such a loop promises that its iterations write different outputs, so that they may run in any order. A kernel is refused
only where it certainly breaks the promise: one transfer that overwrites, in two iterations, the same elements of a
tensor in HBM that was made outside of the loop, without having read that tensor before in the iteration. What reads it
first accumulates or carries a value on purpose. On chip, a tile that each iteration fills for itself before it reads it
gives the same results in order, and kernels are free to use one.

Source: NKI ISA reference, §3.7 (affine_range check).
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from nki_mlir.frontend.errors import err_unexpected_output_dependencies
from nki_mlir.frontend.locations import innermost
from nki_mlir.frontend.loops import AFFINE
from nki_mlir.frontend.records import Loop, LoopInstance, Node, Record
from nki_mlir.frontend.sema import OUTPUTS
from nki_mlir.frontend.storage import Tile
from nki_mlir.frontend.symbolic import GE, NE, Atom, Sym, Var, evaluate
from nki_mlir.frontend.tensors import Storage
from nki_mlir.isa.instructions import INSTRUCTIONS

_ITERATIONS = 4096
"""Iterations of a piece of a loop that are gone through; in more of them no conflict is looked for."""

_OVERWRITING = frozenset(INSTRUCTIONS[name] for name in ("dma_copy", "dma_load", "dma_save"))
"""Transfers that write all elements of their `dst`."""


class _Open:
    """An open piece of an affine loop: the storage read and the instructions of each place met in its iteration."""

    def __init__(self, loop: Loop, depth: int, written: dict[Any, int]) -> None:
        self.loop = loop
        self.depth = depth
        self.written = written
        self.read: set[Storage] = set()
        self.met: Counter[int] = Counter()


class _Search:
    def __init__(self) -> None:
        self.loops: list[Loop] = []
        self.open: list[_Open] = []
        self.written: dict[LoopInstance, dict[Any, int]] = {}

    def run(self, nodes: Sequence[Node]) -> None:
        for node in nodes:
            if isinstance(node, Record):
                if self.open:
                    self.record(node)
                continue
            if not isinstance(node, Loop):
                self.run(node.body)
                continue
            affine = node.instance.kind == AFFINE
            if affine:
                written = self.written.setdefault(node.instance, {})
                self.open.append(_Open(node, len(self.loops), written))
            self.loops.append(node)
            self.run(node.body)
            self.loops.pop()
            if affine:
                self.open.pop()

    def record(self, record: Record) -> None:
        outputs = OUTPUTS[record.instr.name]
        read = {v.storage for role, v in record.roles.items() if isinstance(v, Tile) and role not in outputs}
        for piece in self.open:
            piece.read |= read
        target = record.roles.get("dst")
        if record.instr not in _OVERWRITING or not isinstance(target, Tile):
            return
        if target.on_chip or target.allocation.in_loop:
            return
        for piece in self.open:
            place = id(record.location)
            piece.met[place] += 1
            if target.storage in piece.read:
                continue
            if self.conflicts(piece, record, target, (place, piece.met[place])):
                error = err_unexpected_output_dependencies(target.label)
                error.location = innermost(record.location)
                raise error

    def conflicts(self, piece: _Open, record: Record, target: Tile, place: Any) -> bool:
        """Whether this instruction writes elements that another iteration of the loop has written from its place."""
        var, (low, high) = piece.loop.var, piece.loop.bounds
        if high - low > _ITERATIONS or any(set(_variables(atom.expr)) != {var} for atom in record.predicates):
            return False
        inner = tuple(loop.bounds for loop in self.loops[piece.depth + 1 :])
        for value in range(low, high):
            own: dict[Any, int] = {} if var is None else {var: value}
            if not all(_holds(atom, own) for atom in record.predicates):
                continue
            sizes = self.sizes(target, own)
            if sizes is None:
                continue
            offsets = tuple(self.settled(offset, own) for offset in target.offsets)
            key = (place, target.storage, target.layout, sizes, inner, offsets)
            if piece.written.setdefault(key, value) != value:
                return True
        return False

    def sizes(self, target: Tile, own: dict[Any, int]) -> tuple[Any, ...] | None:
        """The sizes that a mask leaves of the dimensions of a tensor; None if nothing is left."""
        found: list[Any] = list(target.shape)
        for at, limit in enumerate(target.limits or ()):
            if limit is not None:
                ends = [self.settled(bound, own) for bound in limit.bounds]
                least = min([limit.size, *(end for end in ends if isinstance(end, int))])
                if least <= 0:
                    return None
                symbolic = [end for end in ends if not isinstance(end, int)]
                found[at] = (least, *symbolic) if symbolic else least
        return tuple(found)

    def settled(self, value: "int | Sym", own: dict[Any, int]) -> Any:
        """An index in terms of the places of the open loops; a loop with one iteration, or a value in `own`, is a
        number."""
        if isinstance(value, int):
            return value
        constant, terms = value.const, list[tuple[int, int]]()
        for term, coefficient in value.terms.items():
            assert isinstance(term, Var)
            at = next((at for at, loop in enumerate(self.loops) if loop.var is term), None)
            if term in own or at is None or self.loops[at].single:
                constant += coefficient * own.get(term, term.lo)
            else:
                terms.append((at, coefficient))
        return (constant, tuple(sorted(terms))) if terms else constant


def _variables(value: "int | Sym") -> Sequence[Any]:
    """The variables of an index in a finished trace, whose loops have all ended."""
    return () if isinstance(value, int) else tuple(value.terms)


def _holds(atom: Atom, values: dict[Any, int]) -> bool:
    number = evaluate(atom.expr, values)
    return number >= 0 if atom.kind == GE else (number == 0) is not (atom.kind == NE)


def check_affine_loops(nodes: Sequence[Node]) -> None:
    """Checks the affine loops of a finished trace.

    Raises:
        NKISyntaxError: two iterations of one certainly write the same location.
    """
    _Search().run(nodes)

"""Gives the storage of functions their places, by whichever allocator."""

from collections.abc import Iterable

from xdsl.dialects.builtin import ModuleOp

from nki_mlir.diagnostics import debug
from nki_mlir.dialects import bir
from nki_mlir.dialects.attributes import ArchAttr
from nki_mlir.dialects.operands import target_of
from nki_mlir.dialects.structure import StorageOp
from nki_mlir.isa.target import parse_target
from nki_mlir.transforms.allocation.liveness import live_intervals
from nki_mlir.transforms.allocation.problem import Allocator, Place, memories
from nki_mlir.transforms.target import target_for


def assign(module: ModuleOp, allocator: Allocator, target: str | None) -> None:
    """Places all storage on chip that has no place yet, in every function of a module; accesses stay as they are.

    `target` is the option of the pass, see `target_for`; where it is given, a module that names no generation gets it.
    Raises NkiError, with nothing placed, if storage does not fit.
    """
    found: dict[StorageOp, list[Place | None]] = {}
    for function in _functions(module):
        intervals = live_intervals(function)
        for memory in memories(target_for(function, target)):
            inside = [interval for interval in intervals if interval.tensor.mem.space is memory.space]
            if all(interval.place is not None for interval in inside):
                continue
            places = allocator(inside, memory)
            end = max(place[1] + interval.size for interval, place in zip(inside, places, strict=True))
            debug(
                __name__, "@%s: %d tensors in %s, up to byte %d", function.sym_name.data, len(inside), memory.space, end
            )
            for interval, place in zip(inside, places, strict=True):
                found.setdefault(interval.tensor, []).append(place)
    for tensor, places in found.items():
        if tensor.placements() != places:
            tensor.place(places)
    if target is not None:
        for function in _functions(module):
            if target_of(function) is None and (parent := function.parent_op()) is not None:
                parent.properties["arch"] = ArchAttr(parse_target(target))


def _functions(module: ModuleOp) -> Iterable[bir.FuncOp]:
    for op in module.ops:
        if isinstance(op, bir.ModuleOp):
            yield from (inner for inner in op.body.ops if isinstance(inner, bir.FuncOp))
        elif isinstance(op, ModuleOp):
            yield from _functions(op)

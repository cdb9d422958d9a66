"""Penguin to BIR: modules, functions, tensors, loops, scopes.

A scope that keeps the order of its instructions becomes a loop of one iteration marked `no_reorder`, which is how BIR
says it; any other scope is gone, its contents stand where it stood. Source: Penguin reference, §5.1.
"""

from collections.abc import Sequence

from xdsl.dialects.builtin import IntegerAttr, i64
from xdsl.ir import Operation

from nki_mlir.dialects import bir, penguin
from nki_mlir.transforms.lowering import Conversion, Row, move, moved, placed_by_user
from nki_mlir.transforms.ordered import ordered_region


def _tensor(op: penguin.TensorOp, _: Conversion) -> Sequence[Operation]:
    return (move(op, bir.TensorOp, add=placed_by_user(op)),)


def _dynamic_loop(op: penguin.DynamicLoopOp, _: Conversion) -> Sequence[Operation]:
    return (move(op, bir.DynamicForLoopOp, add={"lower": IntegerAttr(0, i64), "step": IntegerAttr(1, i64)}),)


def _scope(op: penguin.ScopeOp, _: Conversion) -> Sequence[Operation]:
    body = op.body.block
    if op.no_reorder:
        return (ordered_region(op.body.detach_block(body), None if op.label is None else op.label.data),)
    inside = list(body.ops)
    for inner in inside:
        inner.detach()
    return inside


ROWS = (
    moved(penguin.ModuleOp, bir.ModuleOp),
    moved(penguin.FuncOp, bir.FuncOp),
    Row(penguin.TensorOp, _tensor),
    moved(penguin.LoopOp, bir.LoopOp),
    moved(penguin.WhileOp, bir.DoWhileOp),
    Row(penguin.DynamicLoopOp, _dynamic_loop),
    Row(penguin.ScopeOp, _scope),
)

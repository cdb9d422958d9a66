"""Errors of passes: one message that names the op and its place."""

from xdsl.dialects.builtin import UnregisteredOp
from xdsl.ir import Operation

from nki_mlir.diagnostics import NkiError
from nki_mlir.dialects.locations import place_of


def op_error(op: Operation, message: str, *, rule: str = "") -> NkiError:
    """Returns the error `'dialect.op' op message` at the op's place."""
    name = op.op_name.data if isinstance(op, UnregisteredOp) else op.name
    return NkiError(f"'{name}' op {message}", place_of(op.location), rule=rule)

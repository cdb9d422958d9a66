"""Errors of passes: one message that names the op and its place."""

from xdsl.dialects.builtin import CallSiteLoc, FileLineColLoc, FusedLoc, NameLoc, UnregisteredOp
from xdsl.ir import Attribute, Operation

from nki_mlir.diagnostics import Location, NkiError


def op_error(op: Operation, message: str, *, rule: str = "") -> NkiError:
    """Returns the error `'dialect.op' op message` at the op's place."""
    name = op.op_name.data if isinstance(op, UnregisteredOp) else op.name
    return NkiError(f"'{name}' op {message}", _place(op.location), rule=rule)


def _place(location: Attribute) -> Location | None:
    """Returns the place in a file that a location stands for: of a call the callee, of several the first known."""
    match location:
        case FileLineColLoc():
            return Location(location.filename.data, location.line.data, location.column.data)
        case NameLoc():
            return _place(location.location)
        case CallSiteLoc():
            return _place(location.callee) or _place(location.caller)
        case FusedLoc():
            parts = getattr(location.locations, "data", ())
            return next((place for part in parts if (place := _place(part)) is not None), None)
        case _:
            return None

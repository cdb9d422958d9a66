"""Errors of a run: which instruction is wrong, and where it stands in the source."""

from typing import cast

from xdsl.dialects.builtin import CallSiteLoc, FileLineColLoc, FusedLoc, NameLoc, StringAttr
from xdsl.ir import Attribute, Operation

from nki_mlir.diagnostics import Location, NkiError


class RunError(NkiError):
    """An error that already says which instruction it is about."""


def place_of(location: Attribute) -> Location | None:
    """Returns the place in a file that a location stands for: of a call the callee, of several the first known."""
    match location:
        case FileLineColLoc():
            return Location(location.filename.data, location.line.data, location.column.data)
        case NameLoc():
            return place_of(location.location)
        case CallSiteLoc():
            return place_of(location.callee) or place_of(location.caller)
        case FusedLoc():
            parts = cast("tuple[Attribute, ...]", getattr(location.locations, "data", ()))
            return next((place for part in parts if (place := place_of(part)) is not None), None)
        case _:
            return None


def label(op: Operation) -> str:
    """Returns how messages call an op: `'bir.load' op "I-1"`."""
    name = op.properties.get("name")
    return f"'{op.name}' op" + (f' "{name.data}"' if isinstance(name, StringAttr) and name.data else "")


def op_error(op: Operation, message: str) -> RunError:
    """Returns an error about an op, at its place."""
    return RunError(f"{label(op)}: {message}", place_of(op.location))


def located(error: NkiError, op: Operation) -> RunError:
    """Returns an error that an op met as an error about that op; one that is about an op already stays as it is."""
    if isinstance(error, RunError):
        return error
    found = RunError(f"{label(op)}: {error}", error.location or place_of(op.location))
    found.rule = error.rule
    return found

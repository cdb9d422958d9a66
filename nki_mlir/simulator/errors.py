"""Errors of a run: which instruction is wrong, and where it stands in the source."""

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation

from nki_mlir.diagnostics import NkiError
from nki_mlir.dialects.locations import place_of


class RunError(NkiError):
    """An error that already says which instruction it is about."""


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

"""From a trace to verified IR: what is compiled and what is simulated go through the same checks."""

from typing import TYPE_CHECKING

from xdsl.context import Context

from nki_mlir.frontend.kernel import Trace, collector_off
from nki_mlir.transforms.pipeline import lower_to_bir

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp


def built(trace: Trace, frontend: str) -> "ModuleOp":
    """Returns the trace as a verified Penguin or KLR module.

    Raises:
        NkiError: the kernel breaks a rule.
    """
    with collector_off():
        module = trace.build(frontend)
        _verify(module)
    return module


def lowered(trace: Trace, frontend: str) -> "ModuleOp":
    """Returns the trace as a verified BIR module with its storage placed, which some rules wait for.

    Raises:
        NkiError: the kernel breaks a rule.
    """
    with collector_off():
        module = trace.build(frontend)
        lower_to_bir(_context(), module, target=trace.target)
        _verify(module)
    return module


def _context() -> Context:
    """Returns an xDSL context that knows all dialects a lowering meets."""
    from nki_mlir.dialects import get_all_dialects

    context = Context()
    for name, factory in get_all_dialects().items():
        context.register_dialect(name, factory)
    return context


def _verify(module: "ModuleOp") -> None:
    """Raises the first error of a module at its place in the kernel; the group of all of them is its cause."""
    from nki_mlir.dialects.verifier import verify_module

    try:
        verify_module(module)
    except ExceptionGroup as found:
        raise found.exceptions[0] from found

"""From a kernel and its arguments to a module of one of the dialects."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from nki_mlir.frontend.errors import NKIValueError
from nki_mlir.frontend.kernel import Kernel, chosen_frontend
from nki_mlir.isa.target import Target, parse_target

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

BUILT_BY = {"penguin": "beta3", "klr": "beta2"}
"""The front end that builds a dialect."""


def compile_kernel(
    kernel: Kernel,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    *,
    frontend: str | None = None,
    target: Target | str | None = None,
    emit: str | None = None,
) -> "ModuleOp":
    """Returns the verified module of a kernel; see `nki_mlir.compile`.

    Raises:
        NkiError: the kernel breaks a rule, or frontend, target or emit is none or do not go together.
    """
    if emit not in (None, "bir", *BUILT_BY):
        raise NKIValueError(f"unknown emit '{emit}'; known: penguin, klr, bir", rule="emit")
    needed = BUILT_BY.get(emit or "")
    if needed is not None and frontend not in (None, needed):
        raise NKIValueError(f"emit '{emit}' needs front end {needed}, got {frontend}", rule="emit")
    chosen = chosen_frontend(frontend or needed)
    named = parse_target(target) if isinstance(target, str) else target
    trace = kernel.trace(args, kwargs, frontend=chosen, target=named)
    if emit == "bir":
        from nki_mlir.frontend.execute import lowered

        module = lowered(trace, chosen, trace.target)
    else:
        module = trace.build(chosen)
    _verify(module)
    return module


def _verify(module: "ModuleOp") -> None:
    """Raises the first error of a module at its place in the kernel; the group of all of them is its cause."""
    from nki_mlir.dialects.verifier import verify_module

    try:
        verify_module(module)
    except ExceptionGroup as found:
        raise found.exceptions[0] from found

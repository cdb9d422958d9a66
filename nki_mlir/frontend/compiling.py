"""From a kernel and its arguments to a module of one of the dialects."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from nki_mlir.frontend.errors import NKIValueError
from nki_mlir.frontend.kernel import Kernel, chosen_frontend
from nki_mlir.frontend.lowering import built, lowered
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
    return lowered(trace, chosen) if emit == "bir" else built(trace, chosen)

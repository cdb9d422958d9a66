"""Functions of the published API that are not there yet: they can be imported, and refuse by name to be called."""

from collections.abc import Callable, Sequence
from typing import Any

from nki_mlir.frontend.errors import NKINotImplementedError
from nki_mlir.frontend.functions_table import named


def refusing(module: str, short: str, names: Sequence[str]) -> Callable[[str], Any]:
    """Returns the `__getattr__` of a module: a refusing function for each of the names, AttributeError for others.

    `short` is how users write the module, and so do messages: `nl.rand is not supported by this front end`.
    """

    def module_getattr(name: str) -> Any:
        if name not in names:
            raise AttributeError(f"module '{module}' has no attribute '{name}'")

        def function(*args: Any, **kwargs: Any) -> Any:
            raise NKINotImplementedError(f"{short}.{name} is not supported by this front end", rule="unsupported")

        return named(function, name, "Refused: this front end does not have it.", module)

    return module_getattr

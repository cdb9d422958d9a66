"""`nki.jit` and `nki.simulate`."""

from collections.abc import Callable
from typing import Any

from nki_mlir.frontend.errors import NKITypeError
from nki_mlir.frontend.kernel import Kernel, checked_function
from nki_mlir.frontend.options import CompileOpts
from nki_mlir.nki.tensor import CURRENT

IGNORED = frozenset({"mode", "debug_kernel", "show_compiler_tb", "experimental_flags", "address_rotation"})
"""Keywords of `jit` that change nothing here; the first is deprecated in the API itself."""


def jit(func: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Makes a kernel of a function; `@nki.jit` and `@nki.jit(...)`.

    Raises:
        NKITypeError: an option that the API does not have, or no function.
    """
    unknown = sorted(options.keys() - IGNORED)
    if unknown:
        raise NKITypeError(f"nki.jit has no option {', '.join(unknown)}", rule="unsupported_args")

    def make(function: Callable[..., Any]) -> Kernel:
        return Kernel(checked_function("nki.jit", function), CURRENT, CompileOpts())

    return make if func is None else make(func)


class Simulation:
    """A kernel that runs on the simulator when called; `nki.simulate(kernel)[grid](…)` launches a grid."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel

    def __getitem__(self, grid: Any) -> "Simulation":
        return Simulation(self.kernel[grid])

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.kernel.simulate(args, kwargs)


def simulate(kernel: Any) -> Simulation:
    """Returns the kernel as a function of numpy (or torch, or JAX) arrays that runs on the simulator."""
    return Simulation(kernel if isinstance(kernel, Kernel) else jit(checked_function("nki.simulate", kernel)))

"""An open MLIR-style compiler and simulator for the Neuron Kernel Interface."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

__version__ = "0.1.0"
__all__ = ["__version__", "compile"]


def compile(
    kernel: Any,
    *args: Any,
    frontend: str | None = None,
    target: Any = None,
    emit: str | None = None,
    **kwargs: Any,
) -> "ModuleOp":
    """Returns the module of a kernel called with `args` and `kwargs`; print it to see its IR.

    kernel    what `nki.jit` returns, with a launch grid or without; a plain function counts as one of the current API
    args      arrays, or anything with a shape and a dtype in their place; everything else is a constant
    frontend  beta2 or beta3; by default the one that `emit` needs, else NKI_FRONTEND, else beta2
    target    a hardware generation or its name; by default the kernel's own, else trn2
    emit      penguin (beta3), klr (beta2) or bir; by default what the front end builds

    Raises:
        NkiError: the kernel is no function, or not one that NKI or the hardware allows; or frontend and emit do not go
            together.
    """
    from nki_mlir.frontend.compiling import compile_kernel
    from nki_mlir.frontend.kernel import Kernel, checked_function

    if not isinstance(kernel, Kernel):
        from nki_mlir.nki import jit

        kernel = jit(checked_function("nki_mlir.compile", kernel))
    return compile_kernel(kernel, args, kwargs, frontend=frontend, target=target, emit=emit)

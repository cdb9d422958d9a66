"""`nki.jit`, `nki.simulate_kernel` and the run tools of the older API.

Source: NKI ISA reference, §4.1, §4.3, §4.4.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

from nki_mlir.frontend.arguments import is_array
from nki_mlir.frontend.errors import (
    NKINotImplementedError,
    NKITypeError,
    NKIValueError,
    err_annotation_shape_mismatch,
    err_cannot_update_immutable_parameter,
    err_mutable_parameter_not_returned,
)
from nki_mlir.frontend.kernel import Kernel, Trace, checked_function, parameter_names
from nki_mlir.frontend.options import CompileOpts
from nki_mlir.isa.target import Target, parse_target
from nki_mlir.nki_legacy.tensor import LEGACY
from nki_mlir.nki_legacy.typing import Annotation

MODES = ("auto", "jax", "torchxla", "baremetal", "benchmark", "simulation", "trace")
"""What `jit(mode=…)` takes. Every mode runs on the simulator; `trace` marks a function that kernels call."""
IGNORED = frozenset({"debug_kernel", "show_compiler_tb", "experimental_flags", "additional_compile_opt"})


class LegacyKernel(Kernel):
    """A kernel of the older API: annotations of its parameters are checked."""

    def _trace(self, args: Sequence[Any], kwargs: Mapping[str, Any], target: Target, rolling: bool) -> Trace:
        annotated = _annotations(self.func)
        given = {**dict(zip(parameter_names(self.func, len(args)), args, strict=True)), **kwargs}
        for name, annotation in annotated.items():
            value: Any = given.get(name)
            if annotation.shape is not None and is_array(value) and tuple(value.shape) != annotation.shape:
                raise err_annotation_shape_mismatch(name, tuple(value.shape), annotation.shape)
        trace = super()._trace(args, kwargs, target, rolling)
        for path, allocation in trace.inputs.items():
            annotation = annotated.get(str(path[0]))
            if annotation is None or not allocation.written:
                continue
            if not annotation.mutable:
                raise err_cannot_update_immutable_parameter(allocation.name)
            if all(output is not allocation for program in trace.programs for output in program.outputs):
                raise err_mutable_parameter_not_returned(allocation.name)
        return trace


def _annotations(func: Callable[..., Any]) -> dict[str, Annotation]:
    """Returns the parameters that are annotated with `nt.tensor` or `nt.mutable_tensor`."""
    found = inspect.get_annotations(inspect.unwrap(getattr(func, "func", func)))
    return {name: value for name, value in found.items() if isinstance(value, Annotation)}


def jit(func: Callable[..., Any] | None = None, mode: str = "auto", **options: Any) -> Any:
    """Makes a kernel of a function; `@nki.jit`, `@nki.jit(mode=…)` and `nki.jit(function)`.

    Raises:
        NKIValueError: there is no such mode.
        NKITypeError: an option that the API does not have, or no function.
    """
    if mode not in MODES:
        raise NKIValueError(f"unknown mode '{mode}' passed to nki.jit; known: {', '.join(MODES)}", rule="jit")
    target = options.pop("platform_target", None)
    unknown = sorted(options.keys() - IGNORED)
    if unknown:
        raise NKITypeError(f"nki.jit has no option {', '.join(unknown)}", rule="unsupported_args")
    opts = CompileOpts(platform_target=parse_target(target) if isinstance(target, str) else target)

    def make(function: Callable[..., Any]) -> Kernel:
        return LegacyKernel(checked_function("nki.jit", function), LEGACY, opts)

    return make if func is None else make(func)


def trace(func: Callable[..., Any]) -> Any:
    """Marks a function that kernels call; it is traced into its caller."""
    return jit(func, mode="trace")


def simulate_kernel(kernel: Any, *args: Any, **kwargs: Any) -> Any:
    """Runs a kernel, or a plain function as one, on the simulator with numpy arrays, and returns what it returns.

    Arrays that the kernel writes are updated in place.
    """
    found = kernel if isinstance(kernel, Kernel) else jit(checked_function("nki.simulate_kernel", kernel))
    return found.simulate(args, kwargs)


def baremetal(kernel: Any = None, **options: Any) -> Any:
    """Makes a kernel that runs when it is called; here on the simulator, so nothing is saved.

    Raises:
        NKINotImplementedError: a file of the compiler's is to be saved.
    """
    saved = sorted(key for key, value in options.items() if value and key not in IGNORED)
    if saved:
        raise NKINotImplementedError(f"nki.baremetal: {', '.join(saved)} needs the vendor's compiler", rule="baremetal")

    def make(function: Any) -> Kernel:
        if isinstance(function, Kernel):
            return function
        return jit(checked_function("nki.baremetal", function), mode="baremetal")

    return make if kernel is None else make(kernel)


def benchmark(kernel: Any = None, **options: Any) -> Any:
    """Refused when the kernel is called: latencies are measured on a device.

    Raises:
        NKINotImplementedError: always, by the kernel that is returned.
    """
    return _needs_device("benchmark", kernel)


def profile(func: Any = None, **options: Any) -> Any:
    """Refused when the kernel is called: profiles are taken on a device.

    Raises:
        NKITypeError: there is no working directory.
        NKINotImplementedError: by the kernel that is returned.
    """
    if not options.get("working_directory"):
        raise NKITypeError("Please specify working directory", rule="profile")
    return _needs_device("profile", func)


def _needs_device(api: str, kernel: Any) -> Any:
    def make(function: Any) -> Callable[..., NoReturn]:
        name = getattr(function, "__name__", "kernel")

        def run(*args: Any, **kwargs: Any) -> NoReturn:
            raise NKINotImplementedError(f"nki.{api} of {name} needs a device; call the kernel itself", rule=api)

        return run

    return make if kernel is None else make(kernel)

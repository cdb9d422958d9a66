"""The option decorators of kernels, and the scopes of `nki.compiler`.

Every decorator returns a new kernel; the given one stays as it is. Source: the seeds' page on compiler options.
"""

import logging
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

from nki_mlir.frontend.context import nki_ctx
from nki_mlir.frontend.errors import NKIAssertionError, NKIRuntimeError, NKIValueError
from nki_mlir.frontend.integers import integer
from nki_mlir.frontend.kernel import Kernel
from nki_mlir.frontend.options import AllocatorType, OptLevel
from nki_mlir.isa.target import Target, parse_target


def _kernel(value: Any) -> Kernel:
    if not isinstance(value, Kernel):
        raise NKIAssertionError("Can only update compile options of nki kernel!", rule="compile_opts")
    return value


def update_compile_opts(**changes: Any) -> Callable[[Any], Kernel]:
    """Returns the decorator that replaces fields of a kernel's options."""

    def decorate(kernel: Any) -> Kernel:
        own = _kernel(kernel)
        return own.copy_kernel(opts=replace(own.opts, **changes))

    return decorate


def _both_forms(decorator: Callable[[Any], Kernel], func: Any) -> Any:
    """`@decorator` and `@decorator()` mean the same."""
    return decorator if func is None else decorator(func)


def skip_middle_end_transformations(func: Any = None) -> Any:
    """Skips all transformations of the middle end; allocators of the user's need it."""
    return _both_forms(update_compile_opts(skip_middle_end=OptLevel.skip_middle_end), func)


def override_platform_target_for_test(func: Any = None, platform_target: Target | str | None = None) -> Any:
    """Fixes the target of a kernel."""
    target = parse_target(platform_target) if isinstance(platform_target, str) else platform_target
    return _both_forms(update_compile_opts(platform_target=target), func)


def force_auto_alloc(func: Any = None) -> Any:
    """Makes the compiler place all tensors, whatever the kernel asks for."""

    def decorate(kernel: Any) -> Kernel:
        own = _kernel(kernel)
        if own.opts.allocator_class is not None:
            raise NKIRuntimeError(
                f"`@force_auto_alloc` is not compatible with `Allocator '{own.opts.allocator_class.name}'`!",
                rule="compile_opts",
            )
        return update_compile_opts(force_auto_alloc=True)(own)

    return _both_forms(decorate, func)


def update_allocator(allocator_type: AllocatorType) -> Callable[[Any], Kernel]:
    """Returns the decorator that selects a user-space allocator.

    Raises:
        NKIRuntimeError: another allocator is set, `force_auto_alloc` is, or the middle end is not skipped.
    """

    def decorate(kernel: Any) -> Kernel:
        own = _kernel(kernel)
        opts = own.opts
        if opts.allocator_type is not None and opts.allocator_type is not allocator_type:
            raise NKIRuntimeError(
                f"Allocator already set on nki kernel: '{opts.allocator_type.name}'", rule="compile_opts"
            )
        if opts.force_auto_alloc:
            raise NKIRuntimeError(
                f"Allocator '{allocator_type.name}' is not compatible with `@force_auto_alloc`!", rule="compile_opts"
            )
        if opts.opt_level is not OptLevel.skip_middle_end:
            raise NKIRuntimeError(
                "Cannot set allocator for kernel without `@skip_middle_end_transformations`!", rule="compile_opts"
            )
        changed = replace(opts, allocator_type=allocator_type, skip_allocators=OptLevel.skip_allocators)
        return own.copy_kernel(opts=changed)

    return decorate


def enable_stack_allocator(func: Any = None, log_level: int = logging.CRITICAL) -> Any:
    """Selects the stack allocator; `log_level` is accepted and has no effect here, as in the original."""
    return _both_forms(update_allocator(AllocatorType.stack), func)


@contextmanager
def _scope(kind: str, attributes: Mapping[str, Any]) -> Generator[None]:
    recorder = nki_ctx().recorder
    scope = recorder.open_scope(kind, attributes)
    try:
        yield
    finally:
        recorder.close_scope(scope)


no_reorder = partial(_scope, "no_reorder", {})
allocation_scope = partial(_scope, "allocation_scope", {})


def multi_buffer(factor: int = 2) -> Any:
    """A scope whose tensors get `factor` buffers.

    Raises:
        NKITypeError: the factor is no integer.
        NKIValueError: it is less than 1 or larger than any memory.
    """
    buffers = integer("multi_buffer", "factor", factor)
    if not 1 <= buffers < 1 << 31:
        raise NKIValueError(f"multi_buffer: factor must be a positive number of buffers, got {buffers}", rule="scope")
    return _scope("multi_buffer", {"multi_buffer": buffers})

"""Kernels: tracing a function, building its IR, and running it on the simulator."""

import gc
import inspect
import operator
import os
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from types import TracebackType
from typing import TYPE_CHECKING, Any, NoReturn

from nki_mlir.diagnostics import Location
from nki_mlir.frontend import loops
from nki_mlir.frontend.arguments import Path, bind_input, check_written, map_arrays, outputs_of
from nki_mlir.frontend.builder import Program
from nki_mlir.frontend.context import TraceContext, nki_ctx_or_none
from nki_mlir.frontend.differences import difference
from nki_mlir.frontend.errors import (
    KernelError,
    NKINotImplementedError,
    NKIRuntimeError,
    NKITypeError,
    NKIValueError,
    err_multi_cores_spmd_not_supported,
    err_nested_kernel_with_spmd_grid,
    err_unexpected_type_of_operand,
    shown,
)
from nki_mlir.frontend.locations import entry, here, innermost, raised_at
from nki_mlir.frontend.options import CompileOpts
from nki_mlir.frontend.records import scope_scratch
from nki_mlir.frontend.storage import Allocation, Tile
from nki_mlir.isa.enums import TensorKind
from nki_mlir.isa.target import CAYMAN, Target, default_target, parse_target

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

FRONTENDS = ("beta2", "beta3")
FRONTEND_VARIABLE = "NKI_FRONTEND"
CHECK_VARIABLE = "NKI_CHECK_TRACE"
ARGUMENTS = "arguments"
"""The rule that a call breaks whose arguments the kernel does not take."""


def chosen_frontend(frontend: str | None) -> str:
    """Returns the front end in use: the argument, else NKI_FRONTEND, else beta2.

    Raises:
        NKIValueError: there is no such front end.
    """
    name = frontend or os.environ.get(FRONTEND_VARIABLE) or "beta2"
    if name not in FRONTENDS:
        raise NKIValueError(f"unknown front end '{name}'; known: {', '.join(FRONTENDS)}", rule=FRONTEND_VARIABLE)
    return name


@dataclass(frozen=True)
class Generation:
    """What differs between the two generations of the API where kernels are traced.

    tensor          the class of tensors
    rolls           whether loops may stay loops on the Penguin path
    any_grid        any number of grid axes of any size, programs one after another in one trace; else one axis of 1
                    or 2 cores with one trace each
    shared_outputs  whether results must be in shared HBM: private HBM belongs to one core
    finish          what is done to a trace when the kernel has ended
    """

    name: str
    tensor: type[Tile]
    rolls: bool
    any_grid: bool
    shared_outputs: bool
    finish: Callable[[TraceContext], None] | None = None


@dataclass
class Trace:
    """A finished trace: one program a core, and what the kernel returned with tensors in it."""

    name: str
    target: Target
    programs: list[Program]
    result: Any
    inputs: dict[Path, Allocation]

    def build(self, frontend: str) -> "ModuleOp":
        """Returns the trace as Penguin (beta3) or KLR (beta2)."""
        if frontend == "beta3":
            from nki_mlir.frontend.penguin_builder import build_penguin

            return build_penguin(self.name, self.programs, self.target)
        from nki_mlir.frontend.klr_builder import build_klr

        return build_klr(self.name, self.programs, self.target)


@contextmanager
def collector_off() -> Generator[None]:
    """Switches the garbage collector off: a trace only grows, and going over it again and again is most of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


class Kernel:
    """A function decorated with `nki.jit`.

    Calling it with numpy arrays runs it on the simulator; inside another kernel it is inlined; `kernel[grid]` gives
    the kernel with a launch grid.
    """

    def __init__(
        self,
        func: Callable[..., Any],
        generation: Generation,
        opts: CompileOpts | None = None,
        grid: Sequence[Any] = (),
    ) -> None:
        self.func = func
        self.generation = generation
        self.opts = opts or CompileOpts()
        self.grid = tuple(grid)
        self.func_name = getattr(func, "__name__", "unnamed")
        self.__name__ = self.func_name
        self.__doc__ = func.__doc__
        self.__wrapped__ = func
        self.__module__ = getattr(func, "__module__", "")

    def copy_kernel(self, **changes: Any) -> "Kernel":
        """Returns a new kernel with some of func, generation, opts and grid replaced; this one stays as it is."""
        held: dict[str, Any] = {"func": self.func, "generation": self.generation, "opts": self.opts, "grid": self.grid}
        return type(self)(**(held | changes))

    def with_schedule(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Refused: this front end records no edges between instructions."""
        message = "with_schedule of a kernel is not supported by this front end"
        raise NKINotImplementedError(message, defined_at(self.func), rule="unsupported")

    def __getitem__(self, grid: Any) -> "Kernel":
        """Returns the kernel with a launch grid: the number of programs along each axis.

        Raises:
            NKITypeError: an axis is no integer.
            NKIValueError: the grid is not one that this generation of the API has.
        """
        given: Any = grid
        axes: tuple[Any, ...] = given if isinstance(grid, tuple) else (given,)
        try:
            sizes = [operator.index(axis) for axis in axes]
        except TypeError:
            message = f"the launch grid must be integers, got {', '.join(shown(axis) for axis in axes)}"
            raise NKITypeError(message, innermost(here()), rule="grid") from None
        if any(size < 1 for size in sizes):
            message = f"the launch grid {sizes} must have positive sizes"
            raise NKIValueError(message, innermost(here()), rule="grid")
        if not self.generation.any_grid and sizes not in ([], [1], [2]):
            message = f"the launch grid is {sizes}; it must be one number, 1 or 2 logical cores"
            raise NKIValueError(message, innermost(here()), rule="grid")
        return self.copy_kernel(grid=axes)

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        return self if instance is None else self.copy_kernel(func=self.func.__get__(instance, owner))

    def __repr__(self) -> str:
        return f"<nki kernel {self.func_name}>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        context = nki_ctx_or_none()
        if context is not None:
            if self.grid:
                raise err_nested_kernel_with_spmd_grid(self.func_name)
            return self.func(*args, **kwargs)
        return self.simulate(args, kwargs)

    # Tracing ------------------------------------------------------------------------------------------------------

    def trace(
        self, args: Sequence[Any], kwargs: Mapping[str, Any], *, frontend: str, target: Target | None = None
    ) -> Trace:
        """Runs the function under a trace.

        `args` and `kwargs` are what the kernel is called with; of arrays only shape and dtype matter.

        Raises:
            KernelError: with the place in the kernel, for what NKI or the hardware does not allow.
            Exception: whatever the kernel's own Python raises, with a note of the place.
        """
        chosen = target or self.opts.platform_target or default_target()
        rolling = frontend == "beta3" and self.generation.rolls
        trace = self._trace(args, kwargs, chosen, rolling)
        if rolling and os.environ.get(CHECK_VARIABLE, "") not in ("", "0"):
            # Compared as they are recorded: what finishing does to a loop may depend on all its iterations.
            plain = self.copy_kernel(generation=replace(self.generation, finish=None))
            rolled, unrolled = (plain._trace(args, kwargs, chosen, rolls) for rolls in (True, False))
            self._check(rolled, unrolled)
        return trace

    def _trace(self, args: Sequence[Any], kwargs: Mapping[str, Any], target: Target, rolling: bool) -> Trace:
        grid = tuple(operator.index(axis) for axis in self.grid)
        cores = 1 if self.generation.any_grid else (grid[0] if grid else 1)
        if cores > 1 and target < CAYMAN:
            error = err_multi_cores_spmd_not_supported(grid, target)
            error.location = defined_at(self.func)
            raise error
        programs: list[Program] = []
        shared: list[Allocation] = []
        result: Any = None
        inputs: dict[Path, Allocation] = {}
        with collector_off():
            for core in range(cores):
                context = TraceContext.new_ctx(self.opts, target, self.generation.tensor, rolling=rolling)
                context.grid = grid
                run = _Run(self, context, args, kwargs, shared)
                with context.activate():
                    if self.generation.any_grid:
                        for ids in loops.programs(context.recorder, grid):
                            context.program_ids = ids
                            run.once()
                    else:
                        context.program_ids = (core,) if grid else ()
                        run.once()
                    with _about(self.func):
                        if self.generation.finish is not None:
                            self.generation.finish(context)
                        outputs = outputs_of(run.result, shared=self.generation.shared_outputs)
                internal = [one for one in context.allocations if one.kind is TensorKind.INTERNAL]
                scope_scratch(context.recorder.root, internal)
                programs.append(Program(context.recorder.root, context.allocations, list(run.inputs.values()), outputs))
                result, inputs = run.result, run.inputs
                shared = shared or context.hbm.made
            with _about(self.func):
                check_written(programs)
        return Trace(self.func_name, target, programs, result, inputs)

    def _check(self, rolled: Trace, unrolled: Trace) -> None:
        """Compares the rolled trace, expanded, with the unrolled one.

        Raises:
            NKIRuntimeError: they differ, which is a defect of the tracer or a kernel that reads state it cannot see.
        """
        for first, second in zip(rolled.programs, unrolled.programs, strict=True):
            found = difference(first.nodes, second.nodes)
            if found is not None:
                message = f"rolled and unrolled traces of {self.func_name} differ at {found.text}"
                raise NKIRuntimeError(message, found.location, rule=CHECK_VARIABLE)

    # Running ------------------------------------------------------------------------------------------------------

    def simulate(
        self,
        args: Sequence[Any],
        kwargs: Mapping[str, Any] | None = None,
        *,
        frontend: str | None = None,
        target: Target | str | None = None,
        poison: bool = True,
    ) -> Any:
        """Runs the kernel on the simulator and returns what it returns, numpy arrays in place of tensors.

        Arguments that the kernel writes are updated in place.
        """
        from nki_mlir.frontend.execute import execute

        given = dict(kwargs or {})
        named = parse_target(target) if isinstance(target, str) else target
        trace = self.trace(args, given, frontend=chosen_frontend(frontend), target=named)
        return execute(self, trace, args, given, frontend=chosen_frontend(frontend), poison=poison)


def checked_function(api: str, function: Any) -> Callable[..., Any]:
    """Returns what a kernel is to be made of.

    Raises:
        NKITypeError: it is no function.
    """
    if callable(function) and not isinstance(function, type):
        return function
    error = err_unexpected_type_of_operand(api, "the kernel", function, "a function")
    error.location = innermost(here())
    raise error


class _Run:
    """The runs of the function that make one program: one, or one for each part of a symbolic grid.

    Inputs are bound once; HBM tensors of later runs are those of the first, matched by the order they are made in.
    """

    def __init__(
        self,
        kernel: Kernel,
        context: TraceContext,
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        shared: list[Allocation],
    ) -> None:
        self.kernel = kernel
        self.context = context
        self.args = args
        self.kwargs = kwargs
        self.inputs: dict[Path, Allocation] = {}
        self.tensors: dict[Path, Any] = {}
        self.result: Any = None
        context.hbm.shared = shared
        for allocation in shared:
            context.names.unique(allocation.name, numbered=False)

    def bind(self, array: Any, path: Path) -> Any:
        """Returns the input tensor of an array argument; it lives outside of the grid's loops."""
        known = self.tensors.get(path)
        if known is None:
            known = self.tensors[path] = bind_input(self.context, array, path)
            self.inputs[path] = known.allocation
        return known

    def once(self) -> None:
        """Runs the function once."""
        names = parameter_names(self.kernel.func, len(self.args))
        args = [map_arrays(value, (name,), self.bind) for name, value in zip(names, self.args, strict=True)]
        kwargs = {name: map_arrays(value, (name,), self.bind) for name, value in self.kwargs.items()}
        self.context.hbm.begin()
        self.result = enter(self.kernel.func, self.context, args, kwargs)


def parameter_names(func: Callable[..., Any], count: int) -> list[str]:
    """Returns the names of the first `count` positional parameters; surplus ones are called after `*args`."""
    names: list[str] = []
    rest = "arg"
    for parameter in inspect.signature(func).parameters.values():
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
            names.append(parameter.name)
        elif parameter.kind is parameter.VAR_POSITIONAL:
            rest = parameter.name
    names += [f"{rest}.{k}" for k in range(count - len(names))]
    return names[:count]


@entry
def enter(func: Callable[..., Any], context: TraceContext, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """Calls the kernel's function; frames of locations end here.

    Errors of ours get the innermost place in the user's code, and wrong arguments are one of them; the kernel's own
    exceptions keep type and text and get a note with the place and the open loops.
    """
    try:
        return func(*args, **kwargs)
    except KernelError as error:
        place = raised_at(error.__traceback__)
        if error.location is None and place is not None:
            error.location = place
        raise
    except Exception as error:
        trace = error.__traceback__
        if isinstance(error, TypeError) and trace is not None and trace.tb_next is None:
            # Raised by the call itself, before the function ran.
            raise NKITypeError(str(error), rule=ARGUMENTS) from None
        place = raised_at(trace)
        if place is not None and not getattr(error, "__notes__", None):
            error.add_note(f"{place}: in the kernel{_around(context, error.__traceback__)}")
        raise


@contextmanager
def _about(func: Callable[..., Any]) -> Generator[None]:
    """Gives errors that are found when a kernel has ended, and have no other place, that of its definition."""
    try:
        yield
    except KernelError as error:
        if error.location is None:
            error.location = defined_at(func)
        raise


def defined_at(func: Callable[..., Any]) -> Location | None:
    """Returns where a function is defined, None if it is none of Python's."""
    code = getattr(func, "__code__", None)
    return None if code is None else Location(code.co_filename, code.co_firstlineno)


def _around(context: TraceContext, traceback: TracebackType | None) -> str:
    """Returns the loops around the place of an exception, with the iterations it may have happened in."""
    shown = [
        f"{loop.name} in [{loop.bounds[0]}, {loop.bounds[1]})"
        for loop in loops.failed_loops(context.recorder, traceback)
        if loop.name
    ]
    return f", loop {', '.join(shown)}" if shown else ""

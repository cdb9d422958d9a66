"""The context of a trace: what every API function reads, and the accessors of the seeds' tracing layer."""

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar, Token
from types import BuiltinFunctionType, FunctionType
from typing import TYPE_CHECKING, Any, ClassVar

from nki_mlir.dialects.structure import PARTITIONS
from nki_mlir.frontend.errors import NKIRuntimeError, NKITypeError, NKIValueError, err_nki_api_outside_of_nki_kernel
from nki_mlir.frontend.locations import called, here
from nki_mlir.frontend.loops import PROGRAM
from nki_mlir.frontend.naming import Names, variable_name
from nki_mlir.frontend.records import Record, Recorder
from nki_mlir.frontend.storage import Allocation
from nki_mlir.isa.dtypes import Dtype
from nki_mlir.isa.enums import MemorySpace, TensorKind
from nki_mlir.isa.target import Target

if TYPE_CHECKING:
    from nki_mlir.frontend.options import CompileOpts

_current: ContextVar["TraceContext | None"] = ContextVar("nki_trace_context", default=None)
EXCLUDED_MODULES = ("neuronxcc.nki", "neuronxcc.starfish.penguin", "nki", "nki_mlir", "numpy", "math")
"""Functions of these modules run as they are; anything else that goes through the context is traced."""


class _GlobalContext:
    """`TraceContext.global_ctx`: the context of the running trace, None outside of one."""

    def __get__(self, instance: object, owner: type) -> "TraceContext | None":
        return _current.get()


class HbmTensors:
    """The HBM tensors that a kernel makes outside of loops.

    They are matched by order from run to run of a grid and from core to core.

    made     of this program, in order
    shared   of the first core, whose names the tensors of other cores take
    """

    def __init__(self) -> None:
        self.made: list[Allocation] = []
        self.shared: list[Allocation] = []
        self.position = 0

    def begin(self) -> None:
        """A run of the kernel's function begins."""
        self.position = 0
        if not self.shared:
            self.shared = self.made

    def next(self, shape: Sequence[int], dtype: Dtype) -> Allocation | None:
        """Returns the storage that an earlier run made at this point, or None in the first run.

        Raises:
            NKIRuntimeError: the runs disagree on shape or dtype.
        """
        position, self.position = self.position, self.position + 1
        for tensors, same in ((self.made, True), (self.shared, False)):
            if position < len(tensors):
                known = tensors[position]
                if known.shape != tuple(shape) or known.mem.dtype is not dtype:
                    raise NKIRuntimeError(
                        f"program instances disagree on HBM tensor {known.name}: shape {known.shape} of {known.dtype}, "
                        f"and {tuple(shape)} of {dtype}",
                        rule="spmd",
                    )
                if same:
                    return known
        return None

    def name_of_twin(self) -> str:
        """Returns the name that the first core gave the tensor about to be made, or '' on the first core."""
        position = self.position - 1
        return self.shared[position].name if self.shared is not self.made and position < len(self.shared) else ""


class TraceContext:
    """Everything one trace of a kernel knows.

    sema        the semantic functions that API calls end in
    recorder    the tree of instructions
    target      the hardware generation
    programs    (program ids, number of programs) by axis of the grid
    assignments  (body, record) of the copies that put results of functions into other tensors
    updated      the tensor that `+=` or its kin wrote last, until the assignment that Python makes of it
    """

    global_ctx: ClassVar[Any] = _GlobalContext()

    def __init__(self, opts: "CompileOpts", target: Target, tensor_class: type[Any], *, rolling: bool) -> None:
        from nki_mlir.frontend.sema import Sema

        self.opts = opts
        self.target = target
        self.tensor_class = tensor_class
        self.recorder = Recorder(rolling)
        self.sema: Sema = Sema(self)
        self.allocations: list[Allocation] = []
        self.names = Names()
        self.program_ids: Sequence[Any] = ()
        self.grid: Sequence[int] = ()
        self.hbm = HbmTensors()
        self.assignments: list[tuple[list[Any], Record]] = []
        self.updated: Any = None

    @property
    def cur_scope(self) -> list[Any]:
        """Where the next instruction is recorded."""
        return self.recorder.body

    @classmethod
    def new_ctx(cls, opts: "CompileOpts", target: Target, tensor_class: type[Any], *, rolling: bool) -> "TraceContext":
        """Returns a context; `activate` makes it the current one."""
        return cls(opts, target, tensor_class, rolling=rolling)

    @contextmanager
    def activate(self) -> Generator["TraceContext"]:
        """Makes this the current context for the length of a `with` statement."""
        token: Token[TraceContext | None] = _current.set(self)
        try:
            yield self
        finally:
            _current.reset(token)

    def allocate(
        self,
        shape: Sequence[int],
        dtype: Dtype,
        space: MemorySpace,
        *,
        name: Any = "",
        partition_dim: int = 0,
        kind: TensorKind = TensorKind.INTERNAL,
        place: tuple[int, int] | None = None,
    ) -> Any:
        """Returns a tensor of new storage. Without a name it is called after the variable that it is assigned to.

        Raises:
            NKITypeError: the name is none.
            NKIValueError: there is no such storage, or a partition of it is larger than one of the target's memory.
        """
        if not isinstance(name, str):
            raise NKITypeError(f"the name of a tensor must be a string, got {name!r}", rule="name")
        on_chip = space in (MemorySpace.SBUF, MemorySpace.PSUM)
        scratch = not on_chip and kind is TensorKind.INTERNAL
        in_loop = any(loop.instance.kind != PROGRAM for loop in self.recorder.loops)
        # How often a loop makes its scratch depends on its pieces, and those on the program.
        matched = scratch and not in_loop
        if matched and (known := self.hbm.next(shape, dtype)) is not None:
            return self.tensor_class(known)
        frames = here(3)
        base = name or variable_name(frames) or "t"
        unique = self.hbm.name_of_twin() if matched else ""
        unique = unique or self.names.unique(base, numbered=not name)
        scope = self.recorder.loop if on_chip else None
        storage = Allocation(
            shape,
            dtype,
            space,
            unique,
            partition_dim=partition_dim,
            scope=scope,
            kind=kind,
            place=place,
            frames=() if kind.is_input else frames,
        )
        storage.in_loop = in_loop
        if scratch and in_loop:
            storage.maker = self.recorder.loop
        if on_chip:
            self._check_size(storage)
        self.allocations.append(storage)
        if matched:
            self.hbm.made.append(storage)
        return self.tensor_class(storage)

    def _check_size(self, storage: Allocation) -> None:
        size, space = storage.mem.row_bytes, storage.mem.space
        target = self.target
        partition, address = storage.place or (0, 0)
        limit = target.psum_partition_bytes if space is MemorySpace.PSUM else target.sbuf_partition_bytes
        if address + size > limit:
            where = f" from byte {address}" if address else ""
            raise NKIValueError(
                f"tensor {storage.name}: {size} bytes a partition{where} do not fit in the {limit} of {space}",
                rule="X-FMAX",
            )
        bank = target.psum_bank_bytes
        if space is MemorySpace.PSUM and address % bank:
            what = f"an address in psum is that of a bank, a multiple of {bank}, got {address}"
            raise NKIValueError(f"tensor {storage.name}: {what}", rule="HW-PSUM3")
        if partition + storage.mem.partitions > PARTITIONS:
            raise NKIValueError(
                f"tensor {storage.name}: {storage.mem.partitions} partitions from partition {partition} do not fit in"
                f" the {PARTITIONS} of {space}",
                rule="X-PMAX",
            )

    def call(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Calls a function of the kernel the way the tracing layer does.

        An NKI function emits through sema; what is marked `__nki_dont_trace__` or comes from a library module runs as
        plain Python; anything else is inlined into the trace. As the trace is plain execution, the three differ only
        in the scope they record.
        """
        if getattr(function, "__nki_func__", False) or getattr(function, "__nki_dont_trace__", False):
            return function(*args, **kwargs)
        if isinstance(function, FunctionType | BuiltinFunctionType) and _excluded(function):
            return function(*args, **kwargs)
        return self.inline_function(function, *args, **kwargs)

    def inline_function(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Traces the body of a function into the running trace."""
        inner = getattr(function, "func", function)
        return inner(*args, **kwargs)


def _excluded(function: Any) -> bool:
    module = str(getattr(function, "__module__", "") or "")
    return any(module == name or module.startswith(name + ".") for name in EXCLUDED_MODULES)


def mark_nki_functions(namespace: Mapping[str, Any]) -> None:
    """Marks the public functions of an API module as NKI functions, which emit instructions when called."""
    for name, value in namespace.items():
        if isinstance(value, FunctionType) and not name.startswith("_") and value.__module__ == namespace["__name__"]:
            value.__dict__["__nki_func__"] = True


def nki_ctx(allow_none: bool = False) -> TraceContext:
    """Returns the current context.

    Raises:
        NKIRuntimeError: no kernel is being traced (and not `allow_none`).
    """
    context = _current.get()
    if context is None and not allow_none:
        raise err_nki_api_outside_of_nki_kernel(called())
    return context  # pyright: ignore[reportReturnType]


def nki_ctx_or_none() -> TraceContext | None:
    """Returns the current context, or None."""
    return _current.get()


def get_cur_scope() -> list[Any]:
    """Returns where the current trace records its next instruction."""
    return nki_ctx().cur_scope


def dont_trace(function: Any = None) -> Any:
    """Marks a function that runs as plain Python when called through the context; `@dont_trace` or `@dont_trace()`."""

    def mark(inner: Any) -> Any:
        inner.__nki_dont_trace__ = True
        return inner

    return mark if function is None else mark(function)

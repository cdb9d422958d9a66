"""Arguments and results of a kernel: arrays become input tensors, returned tensors become outputs."""

import dataclasses
from collections.abc import Callable, Iterator
from copy import copy
from typing import Any

from nki_mlir.diagnostics import NkiError
from nki_mlir.frontend.context import TraceContext
from nki_mlir.frontend.errors import KernelError, NKITypeError, NKIValueError, err_tensor_output_not_written_to
from nki_mlir.frontend.locations import innermost
from nki_mlir.frontend.storage import Allocation, Tile
from nki_mlir.isa.dtypes import Dtype
from nki_mlir.isa.enums import MemorySpace, TensorKind

Path = tuple[Any, ...]


def is_array(value: Any) -> bool:
    """Whether an argument is an array: it has a shape and a dtype, and is neither a scalar nor a tensor of a trace."""
    if isinstance(value, Tile) or not hasattr(value, "shape") or not hasattr(value, "dtype"):
        return False
    return type(value).__module__ != "numpy" or type(value).__name__ == "ndarray"


def map_arrays(value: Any, path: Path, visit: Callable[[Any, Path], Any]) -> Any:
    """Returns `value` with every array in it, at any depth of containers, replaced by `visit(array, path)`.

    Containers are copied, so that a kernel that changes its arguments meets fresh ones in the next run.
    """
    if is_array(value):
        return visit(value, path)
    kind, held = value.__class__, _fields(value)
    if issubclass(kind, dict):
        return {key: map_arrays(item, (*path, key), visit) for key, item in value.items()}
    if issubclass(kind, list | tuple):
        items = [map_arrays(item, (*path, k), visit) for k, item in enumerate(value)]
        if issubclass(kind, list):
            return items
        make = getattr(value, "_make", tuple)
        return make(items)
    if held is not None:
        copied: Any = copy(value)
        for name, item in held.items():
            object.__setattr__(copied, name, map_arrays(item, (*path, name), visit))
        return copied
    return value


def _fields(value: Any) -> dict[str, Any] | None:
    """Returns the attributes of a user's object that arguments may stand in: a dataclass or an NKIObject; else None."""
    if isinstance(value, type) or not (hasattr(value, "__nki_object__") or dataclasses.is_dataclass(value)):
        return None
    return dict(vars(value))


def tensors_in(value: Any) -> Iterator[Tile]:
    """Yields the tensors of a returned value, nested containers in order."""
    if isinstance(value, Tile):
        yield value
        return
    kind = value.__class__
    if issubclass(kind, dict | list | tuple):
        for item in getattr(value, "values", lambda: value)():
            yield from tensors_in(item)


def map_tensors(value: Any, visit: Callable[[Tile], Any]) -> Any:
    """Returns a returned value with every tensor in it replaced by `visit(tensor)`."""
    if isinstance(value, Tile):
        return visit(value)
    kind = value.__class__
    if issubclass(kind, dict):
        return {key: map_tensors(item, visit) for key, item in value.items()}
    if issubclass(kind, list | tuple):
        items = [map_tensors(item, visit) for item in value]
        return items if issubclass(kind, list) else tuple(items)
    return value


def input_name(path: Path) -> str:
    """Returns the name of an argument: the parameter's, with the way into a container behind it."""
    return ".".join(str(part) for part in path)


def dtype_of(array: Any, name: str) -> Dtype:
    """Returns the element type of an argument.

    Raises:
        NKITypeError: NKI has no such type; 64-bit types among them.
    """
    if isinstance(array.dtype, Dtype):
        return array.dtype
    try:
        dtype = Dtype.from_api(array.dtype)
    except NkiError:
        raise NKITypeError(f"argument {name} is of type {array.dtype}, which NKI does not have", rule="dtype") from None
    if dtype.size == 8:
        raise NKITypeError(f"argument {name} is of type {array.dtype}, NKI has no 64-bit types", rule="dtype")
    return dtype


def bind_input(context: TraceContext, array: Any, path: Path) -> Any:
    """Returns the tensor of an array argument."""
    name = input_name(path)
    shape = tuple(int(size) for size in array.shape)
    if any(size < 1 for size in shape):
        raise NKIValueError(f"argument {name} has the shape {shape}, every size must be positive", rule="shape")
    return context.allocate(shape, dtype_of(array, name), MemorySpace.HBM, name=name, kind=TensorKind.EXTERNAL_INPUT)


def outputs_of(result: Any) -> list[Allocation]:
    """Returns the storages that a kernel returns, each once, and marks them as outputs.

    Raises:
        NKIValueError: nothing writes a returned tensor.
        NKITypeError: a returned tensor is on chip, or is a part of its storage.
    """
    found: dict[Allocation, None] = {}
    for tensor in tensors_in(result):
        allocation = tensor.allocation
        error: KernelError | None = None
        if tensor.on_chip:
            message = f"{tensor.label} is in {tensor.buffer}; a kernel returns tensors in shared_hbm"
            error = NKITypeError(message, rule="unsupported_memory")
        elif tensor.shape != allocation.shape or tensor.offset != 0:
            error = NKITypeError(f"a part of {tensor.label} is returned; a kernel returns whole tensors", rule="return")
        elif not allocation.written:
            error = err_tensor_output_not_written_to(tensor.label)
        if error is not None:
            error.location = innermost(allocation.frames)
            raise error
        if allocation.kind is TensorKind.INTERNAL:
            allocation.kind = TensorKind.EXTERNAL_OUTPUT
        found.setdefault(allocation)
    return list(found)

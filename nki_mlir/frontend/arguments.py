"""Arguments and results of a kernel: arrays become input tensors, returned tensors become outputs."""

import dataclasses
from collections.abc import Callable, Iterable
from copy import copy
from typing import Any

from nki_mlir.diagnostics import NkiError
from nki_mlir.frontend.builder import Program
from nki_mlir.frontend.context import TraceContext
from nki_mlir.frontend.errors import KernelError, NKITypeError, NKIValueError, err_tensor_output_not_written_to
from nki_mlir.frontend.locations import innermost
from nki_mlir.frontend.storage import Allocation, Tile
from nki_mlir.isa.dtypes import Dtype
from nki_mlir.isa.enums import MemorySpace, TensorKind
from nki_mlir.isa.lazy import numpy as np

Path = tuple[Any, ...]


def is_array(value: Any) -> bool:
    """Whether an argument is an array: it has a shape and a dtype, and is neither a scalar nor a tensor of a trace."""
    if isinstance(value, Tile) or not hasattr(value, "shape") or not hasattr(value, "dtype"):
        return False
    return not isinstance(value, np.generic)


def map_arrays(value: Any, path: Path, visit: Callable[[Any, Path], Any]) -> Any:
    """Returns `value` with every array in it, at any depth of containers, replaced by `visit(array, path)`.

    Containers are copied, so that a kernel that changes its arguments meets fresh ones in the next run.
    """
    return _mapped(value, path, is_array, visit)


def map_tensors(value: Any, visit: Callable[[Tile], Any]) -> Any:
    """Returns a returned value with every tensor in it, at any depth of containers, replaced by `visit(tensor)`."""
    return _mapped(value, (), _is_tensor, lambda tensor, _: visit(tensor))


def tensors_in(value: Any) -> list[Tile]:
    """Returns the tensors of a returned value, nested containers in order."""
    found: list[Tile] = []
    map_tensors(value, found.append)
    return found


def _is_tensor(value: Any) -> bool:
    return isinstance(value, Tile)


def _mapped(value: Any, path: Path, is_leaf: Callable[[Any], bool], visit: Callable[[Any, Path], Any]) -> Any:
    """Returns a copy of nested containers with `visit(leaf, path)` in place of each leaf; all else stays as it is."""
    if is_leaf(value):
        return visit(value, path)
    kind, held = value.__class__, _fields(value)
    if issubclass(kind, dict):
        return {key: _mapped(item, (*path, key), is_leaf, visit) for key, item in value.items()}
    if issubclass(kind, list | tuple):
        items = [_mapped(item, (*path, k), is_leaf, visit) for k, item in enumerate(value)]
        if issubclass(kind, list):
            return items
        make = getattr(value, "_make", tuple)
        return make(items)
    if held is not None:
        copied: Any = copy(value)
        for name, item in held.items():
            object.__setattr__(copied, name, _mapped(item, (*path, name), is_leaf, visit))
        return copied
    return value


def _fields(value: Any) -> dict[str, Any] | None:
    """Returns the attributes of a user's object that tensors may stand in: a dataclass or an NKIObject; else None."""
    if isinstance(value, type):
        return None
    fields: Any = dataclasses.fields(value) if dataclasses.is_dataclass(value) else None
    if fields is None and not hasattr(value, "__nki_object__"):
        return None
    slots: dict[str, Any] = {f.name: getattr(value, f.name) for f in fields or () if hasattr(value, f.name)}
    attributes: dict[str, Any] = getattr(value, "__dict__", {})
    return slots | attributes


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


def is_boolean(dtype: Any) -> bool:
    """Whether an API value means the type of truth values, which are stored as u8 and handed back as bool."""
    token = getattr(dtype, "dtype", dtype)
    name = getattr(token, "name", None) or getattr(dtype, "__name__", None) or str(dtype)
    return str(name).rpartition(".")[2] in ("bool", "bool_")


def bind_input(context: TraceContext, array: Any, path: Path) -> Any:
    """Returns the tensor of an array argument."""
    name = input_name(path)
    shape = tuple(int(size) for size in array.shape)
    if any(size < 1 for size in shape):
        raise NKIValueError(f"argument {name} has the shape {shape}, every size must be positive", rule="shape")
    dtype = dtype_of(array, name)
    tensor = context.allocate(shape, dtype, MemorySpace.HBM, name=name, kind=TensorKind.EXTERNAL_INPUT)
    tensor.allocation.boolean = is_boolean(array.dtype)
    return tensor


def outputs_of(result: Any, *, shared: bool) -> list[Allocation]:
    """Returns the storages that a kernel returns, each once, and marks them as outputs.

    `shared` says that tensors of private HBM are none.

    Raises:
        NKITypeError: a returned tensor is not in the memory of outputs, or is another view than all of its storage.
    """
    found: dict[Allocation, None] = {}
    for tensor in tensors_in(result):
        allocation = tensor.allocation
        error: KernelError | None = None
        if tensor.on_chip or (shared and tensor.buffer is MemorySpace.PRIVATE_HBM):
            message = f"{tensor.label} is in {tensor.buffer}; a kernel returns tensors in shared_hbm"
            error = NKITypeError(message, rule="unsupported_memory")
        elif (difference := _difference(tensor, allocation)) is not None:
            error = NKITypeError(f"{difference}; a kernel returns whole tensors as they were made", rule="return")
        if error is not None:
            error.location = innermost(allocation.frames)
            raise error
        if allocation.kind is TensorKind.INTERNAL:
            allocation.kind = TensorKind.EXTERNAL_OUTPUT
        found.setdefault(allocation)
    return list(found)


def check_written(programs: Iterable[Program]) -> None:
    """Checks that some program of a kernel writes each output: cores share what they return.

    Raises:
        NKIValueError: nothing writes an output.
    """
    listed = list(programs)
    written = {allocation.name for program in listed for allocation in program.allocations if allocation.written}
    for allocation in (output for program in listed for output in program.outputs):
        if allocation.name not in written:
            error = err_tensor_output_not_written_to(allocation.name)
            error.location = innermost(allocation.frames)
            raise error


def _difference(tensor: Tile, allocation: Allocation) -> str | None:
    """Returns how a returned view differs from its whole storage, which is what a run hands back; None if it does not.

    Steps count only where there is a second element to step to.
    """
    label, made = tensor.label, allocation.mem.dtype
    if tensor.element is not made:
        return f"{label} of type {made} is returned as {tensor.element}"
    if tensor.size != allocation.row or tensor.offset != 0 or tensor.limits is not None:
        return f"a part of {label} is returned"
    steps = [step for size, (_, step) in zip(tensor.shape, tensor.layout, strict=True) if size != 1]
    whole = [step for size, (_, step) in zip(allocation.shape, allocation.layout, strict=True) if size != 1]
    if tensor.shape != allocation.shape:
        return f"{label} of shape {allocation.shape} is returned with shape {tensor.shape}"
    if steps != whole:
        return f"{label} of shape {allocation.shape} is returned with its dimensions in another order"
    return None

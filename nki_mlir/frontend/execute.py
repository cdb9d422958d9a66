"""Running a trace on the simulator: passing arrays in and out."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from nki_mlir.frontend.arguments import Path, map_arrays, map_tensors
from nki_mlir.frontend.errors import NKITypeError, NKIValueError
from nki_mlir.frontend.kernel import Kernel, Trace, defined_at, parameter_names
from nki_mlir.frontend.locations import innermost
from nki_mlir.frontend.lowering import lowered
from nki_mlir.frontend.storage import Allocation, Tile
from nki_mlir.simulator import simulate

_BITS = {1: "uint8", 2: "int16", 4: "int32"}
"""The integers of a size in bytes that torch and numpy both have."""


def execute(
    kernel: Kernel, trace: Trace, args: Sequence[Any], kwargs: Mapping[str, Any], *, frontend: str, poison: bool
) -> Any:
    """Simulates a trace with the arrays of a call and returns the kernel's result with arrays in place of tensors.

    Arrays that the kernel writes are updated in place; of a library whose arrays never change, the result has them.

    Raises:
        NKIValueError: the kernel writes an array that is read-only.
    """
    arrays: dict[Path, Any] = {}

    def collect(array: Any, path: Path) -> Any:
        arrays[path] = array
        return array

    for name, value in zip(parameter_names(kernel.func, len(args)), args, strict=True):
        map_arrays(value, (name,), collect)
    for name, value in kwargs.items():
        map_arrays(value, (name,), collect)
    for path, allocation in trace.inputs.items():
        array = arrays[path]
        if allocation.written and isinstance(array, np.ndarray) and not array.flags.writeable:
            message = f"the kernel writes its argument '{allocation.name}', and the array given is read-only"
            error = NKIValueError(message, rule="read_only_argument")
            error.location = innermost(allocation.frames) or defined_at(kernel.func)
            raise error
    inputs = {allocation.name: as_numpy(arrays[path], allocation) for path, allocation in trace.inputs.items()}
    found = simulate(lowered(trace, frontend), inputs, poison=poison, target=trace.target)
    for path, allocation in trace.inputs.items():
        if allocation.written:
            write_back(arrays[path], found.inputs[allocation.name])
    values = {**found.inputs, **found.outputs}

    def tensor(tile: Tile) -> Any:
        array = values[tile.allocation.name]
        return array.astype(np.bool_) if tile.allocation.boolean else array

    return map_tensors(trace.result, tensor)


def as_numpy(array: Any, allocation: Allocation) -> Any:
    """Returns an argument as a numpy array of its tensor's type; torch and JAX arrays are converted.

    Truth values become the 0 and 1 that u8 stores, and numbers come in the byte order of this machine.

    Raises:
        NKITypeError: the argument has a shape and a type, but no elements yet.
    """
    try:
        if hasattr(array, "detach"):
            return _from_torch(array, allocation)
        given: np.ndarray[Any, Any] = np.asarray(array)
    except (TypeError, RuntimeError) as error:  # of what JAX is tracing, and of torch's tensors without memory
        kind = f"{type(array).__module__}.{type(array).__qualname__}"
        message = f"argument '{allocation.name}' is a {kind}, which has no elements now: {str(error).splitlines()[0]}"
        raise NKITypeError(message, rule="argument") from error
    if allocation.boolean:
        return given.view(np.uint8)
    return given if given.dtype.isnative else given.astype(given.dtype.newbyteorder("="))


def _from_torch(tensor: Any, allocation: Allocation) -> Any:
    """Returns the bits of a torch tensor as a numpy array: numpy has no bf16 that torch would convert to."""
    import torch  # pyright: ignore[reportMissingImports]

    bits = tensor.detach().cpu().contiguous().view(getattr(torch, _BITS[allocation.mem.dtype.size]))
    return bits.numpy().view(allocation.mem.dtype.numpy)


def write_back(array: Any, value: Any) -> None:
    """Copies a written input back into the caller's array; one of a library whose arrays never change stays."""
    if hasattr(array, "copy_"):
        import torch  # pyright: ignore[reportMissingImports]

        torch_module: Any = torch
        bits = np.ascontiguousarray(value).view(_BITS[value.itemsize])
        array.detach().copy_(torch_module.from_numpy(bits).view(array.dtype))
    elif isinstance(array, np.ndarray):
        array[...] = value

"""`nki.language`: types, buffers, creation of tensors, ranges, program ids, operator tokens."""

from collections.abc import Callable, Sequence
from typing import Any

from nki_mlir.frontend.context import nki_ctx
from nki_mlir.frontend.create import create, filled
from nki_mlir.frontend.decorators import no_reorder
from nki_mlir.frontend.errors import NKIValueError, err_program_id_axis_out_of_bounds
from nki_mlir.frontend.functions_operands import TileSize
from nki_mlir.frontend.subscripts import Span as ds
from nki_mlir.isa.enums import MemorySpace

# Types are strings, as in the API.

uint8, int8, uint16, int16, uint32, int32 = "uint8", "int8", "uint16", "int16", "uint32", "int32"
bool_ = "bool_"
float16, bfloat16, float32, tfloat32 = "float16", "bfloat16", "float32", "tfloat32"
float8_e4m3, float8_e4m3fn, float8_e5m2 = "float8_e4m3", "float8_e4m3fn", "float8_e5m2"
float8_e8m0fnu = "float8_e8m0fnu"
float8_e5m2_x4, float8_e4m3fn_x4, float4_e2m1fn_x4 = "float8_e5m2_x4", "float8_e4m3fn_x4", "float4_e2m1fn_x4"

MemoryRegion = MemorySpace
sbuf, psum = MemorySpace.SBUF, MemorySpace.PSUM
hbm, private_hbm, shared_hbm = MemorySpace.PRIVATE_HBM, MemorySpace.PRIVATE_HBM, MemorySpace.SHARED_HBM

__all__ = ["MemoryRegion", "ds", "ndarray", "no_reorder", "tile_size"]


def is_sbuf(buffer: Any) -> bool:
    """Whether a buffer is SBUF."""
    return buffer is sbuf


def is_psum(buffer: Any) -> bool:
    """Whether a buffer is PSUM."""
    return buffer is psum


def is_hbm(buffer: Any) -> bool:
    """Whether a buffer is in HBM."""
    return isinstance(buffer, MemorySpace) and buffer.bir == "DRAM"


def is_on_chip(buffer: Any) -> bool:
    """Whether a buffer is on chip."""
    return buffer in (sbuf, psum)


# Creation -------------------------------------------------------------------------------------------------------


def ndarray(
    shape: Sequence[int], dtype: Any, buffer: Any = sbuf, name: str = "", address: tuple[int, int] | None = None
) -> Any:
    """Returns a tensor with undefined contents; `address` is (first partition, byte address) on chip."""
    return create("ndarray", shape, dtype, buffer, name, address)


def zeros(shape: Sequence[int], dtype: Any, buffer: Any = sbuf, name: str = "") -> Any:
    """Returns a tensor of zeros on chip."""
    return filled("zeros", shape, 0, dtype, buffer, name)


def ones(shape: Sequence[int], dtype: Any, buffer: Any = sbuf, name: str = "") -> Any:
    """Returns a tensor of ones on chip."""
    return filled("ones", shape, 1, dtype, buffer, name)


def full(shape: Sequence[int], fill_value: Any, dtype: Any, buffer: Any = sbuf, name: str = "") -> Any:
    """Returns a tensor of one value on chip."""
    return filled("full", shape, fill_value, dtype, buffer, name)


def zeros_like(x: Any, dtype: Any = None, buffer: Any = None, name: str = "") -> Any:
    """Returns zeros with the shape of x."""
    return filled("zeros_like", x.shape, 0, dtype or x.dtype, buffer or x.buffer, name)


def empty_like(x: Any, dtype: Any = None, buffer: Any = None, name: str = "") -> Any:
    """Returns an undefined tensor with the shape of x."""
    return create("empty_like", x.shape, dtype or x.dtype, buffer or x.buffer, name)


# Sizes of the hardware ------------------------------------------------------------------------------------------


tile_size = TileSize()

# Loops and programs ---------------------------------------------------------------------------------------------


def affine_range(*bounds: int) -> range:
    """`range`; the current API unrolls static loops."""
    return range(*bounds)


sequential_range = static_range = affine_range


def program_id(axis: int = 0) -> Any:
    """Returns the number of this program along an axis of the launch grid, 0 without a grid."""
    ids = nki_ctx().program_ids
    if not ids:
        return 0
    if not -len(ids) <= axis < len(ids):
        raise err_program_id_axis_out_of_bounds(axis, len(ids))
    return ids[axis]


def num_programs(axes: int | Sequence[int] = 0) -> int:
    """Returns the number of programs along axes of the launch grid, 1 without a grid."""
    grid = nki_ctx().grid
    total = 1
    for axis in axes if isinstance(axes, Sequence) else (axes,):
        if grid and not -len(grid) <= axis < len(grid):
            raise err_program_id_axis_out_of_bounds(axis, len(grid))
        total *= grid[axis] if grid else 1
    return total


def program_ndim() -> int:
    """Returns the number of axes of the launch grid."""
    return len(nki_ctx().grid)


def device_print(print_prefix: str, tensor: Any) -> None:
    """Refused: printing from the device is not part of this front end yet.

    Raises:
        NKIValueError: always.
    """
    raise NKIValueError("device_print is not supported by this front end", rule="device_print")


Token = Callable[..., Any]

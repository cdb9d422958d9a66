"""`neuronxcc.nki.language`: types, buffers, index grids, loops, and functions that return tiles.

Every function takes `dtype=` for the type of its result and `mask=` for the part that it computes. Functions are also
operator tokens for `nki.isa`. Sources: NKI ISA reference, §3.3, §3.5, §3.6.
"""

from collections.abc import Sequence
from typing import Any, Self

import ml_dtypes
import numpy as np

from nki_mlir.frontend import functions_elementwise as elementwise
from nki_mlir.frontend import functions_matmul as matrix
from nki_mlir.frontend import functions_memory as memory
from nki_mlir.frontend import functions_reduce as reduction
from nki_mlir.frontend import grids, loops, shared_api, subscripts
from nki_mlir.frontend.context import mark_nki_functions, nki_ctx
from nki_mlir.frontend.create import create, element_type, filled
from nki_mlir.frontend.errors import (
    NKITypeError,
    err_program_id_axis_out_of_bounds,
    err_shared_hbm_must_in_kernel_level,
    err_unsupported_args,
)
from nki_mlir.frontend.functions import masked, on_chip
from nki_mlir.frontend.functions_operands import tile_of
from nki_mlir.frontend.functions_table import BINARY, REDUCTIONS, TRUTHS, Function, named, unary_function
from nki_mlir.frontend.integers import integer, program_axes
from nki_mlir.frontend.masks import check_bounds
from nki_mlir.frontend.unsupported import refusing
from nki_mlir.nki_legacy import grid as launch

# Types are numpy's.

uint8, int8, uint16, int16, uint32, int32 = np.uint8, np.int8, np.uint16, np.int16, np.uint32, np.int32
bool_ = np.bool_
float16, float32, bfloat16 = np.float16, np.float32, ml_dtypes.bfloat16
tfloat32 = np.dtype("|V4")
float8_e4m3, float8_e5m2 = ml_dtypes.float8_e4m3, ml_dtypes.float8_e5m2


class fp32:
    """Limits of fp32."""

    min = -3.4028234663852886e38


class bfp16:
    """Limits of bf16; the least value is the pattern 0xff80, minus infinity."""

    min = float("-inf")


def finfo(dtype: Any) -> Any:
    """Returns the limits of a floating-point type as numpy's `finfo` has them: min, max, eps, tiny and others.

    Raises:
        NKIValueError: NKI has no such type.
        NKITypeError: it is no floating-point type.
    """
    found = element_type(dtype)
    if not found.is_float:
        raise NKITypeError(f"finfo: dtype must be a floating-point type, got {found}", rule="dtype")
    limits: Any = ml_dtypes.finfo
    return limits(found.numpy)


# Buffers, index grids, axes of launch grids -----------------------------------------------------------------------

sbuf, psum = shared_api.sbuf, shared_api.psum
hbm, private_hbm, shared_hbm = shared_api.hbm, shared_api.private_hbm, shared_api.shared_hbm
tile_size, program_ndim = shared_api.tile_size, shared_api.program_ndim
ds = subscripts.Span
arange, mgrid = grids.arange, grids.mgrid
nc, spmd_dim = launch.nc, launch.spmd_dim


# Creation -------------------------------------------------------------------------------------------------------


class par_dim(int):
    """The size of the partition dimension of a shape; the dimensions before it number separate tiles."""

    def __new__(cls, size: Any) -> Self:
        return super().__new__(cls, integer("par_dim", "size", size))


def _buffer(buffer: Any) -> Any:
    """Returns the memory that `buffer=` means: SBUF without one, and that of an object that places tiles itself."""
    return sbuf if buffer is None else getattr(buffer, "space", buffer)


def _partition_dim(shape: Any) -> int:
    sizes: list[Any] = list(shape) if isinstance(shape, list | tuple) else []  # pyright: ignore[reportUnknownArgumentType]
    marked = [at for at, size in enumerate(sizes) if isinstance(size, par_dim)]
    if len(marked) > 1:
        raise NKITypeError("a shape has one par_dim at most", rule="par_dim")
    return marked[0] if marked else 0


def ndarray(shape: Any, dtype: Any, *, buffer: Any = None, name: str = "", **unknown: Any) -> Any:
    """Returns a tensor with undefined contents, in SBUF unless `buffer` says another memory.

    Raises:
        NKIRuntimeError: a shared_hbm tensor is made in a loop.
    """
    _only("ndarray", unknown)
    space = _buffer(buffer)
    if space is shared_hbm and any(loop.kind != loops.PROGRAM for loop in nki_ctx().recorder.loops):
        raise err_shared_hbm_must_in_kernel_level(name or "of ndarray")
    return create("ndarray", shape, dtype, space, name, None, _partition_dim(shape))


def zeros(shape: Any, dtype: Any, *, buffer: Any = None, name: str = "", **unknown: Any) -> Any:
    """Returns a tensor of zeros on chip."""
    return _filled("zeros", shape, 0, dtype, buffer, name, unknown)


def ones(shape: Any, dtype: Any, *, buffer: Any = None, name: str = "", **unknown: Any) -> Any:
    """Returns a tensor of ones on chip."""
    return _filled("ones", shape, 1, dtype, buffer, name, unknown)


def full(shape: Any, fill_value: Any, dtype: Any, *, buffer: Any = None, name: str = "", **unknown: Any) -> Any:
    """Returns a tensor of one value on chip."""
    return _filled("full", shape, fill_value, dtype, buffer, name, unknown)


def zeros_like(a: Any, dtype: Any = None, *, buffer: Any = None, name: str = "", **unknown: Any) -> Any:
    """Returns zeros with the shape of a, on chip."""
    tile = tile_of("zeros_like", "a", a)
    kind = tile.dtype if dtype is None else dtype
    space = (tile.buffer if tile.on_chip else sbuf) if buffer is None else buffer
    return _filled("zeros_like", tile.shape, 0, kind, space, name, unknown)


def empty_like(a: Any, dtype: Any = None, *, buffer: Any = None, name: str = "", **unknown: Any) -> Any:
    """Returns a tensor with undefined contents and the shape of a."""
    tile = tile_of("empty_like", "a", a)
    kind = tile.dtype if dtype is None else dtype
    return ndarray(tile.shape, kind, buffer=tile.buffer if buffer is None else buffer, name=name, **unknown)


def _filled(api: str, shape: Any, value: Any, dtype: Any, buffer: Any, name: str, unknown: dict[str, Any]) -> Any:
    _only(api, unknown)
    return filled(api, shape, value, dtype, _buffer(buffer), name, _partition_dim(shape))


def _only(api: str, unknown: dict[str, Any]) -> None:
    if unknown:
        raise err_unsupported_args(api, sorted(unknown))


# Loops and programs ---------------------------------------------------------------------------------------------


def affine_range(*bounds: Any) -> loops.KernelRange:
    """A loop whose iterations do not depend on each other."""
    return loops.KernelRange(nki_ctx().recorder, loops.AFFINE, *bounds)


def sequential_range(*bounds: Any) -> loops.KernelRange:
    """A loop whose iterations run in order."""
    return loops.KernelRange(nki_ctx().recorder, loops.SEQUENTIAL, *bounds)


def static_range(*bounds: Any) -> loops.KernelRange:
    """A loop that is unrolled."""
    return loops.KernelRange(nki_ctx().recorder, loops.STATIC, *bounds)


def program_id(axis: int) -> Any:
    """Returns the number of this program along an axis of the launch grid.

    Raises:
        NKIIndexError: the grid has no such axis; without a grid it has none.
    """
    ids, axis = nki_ctx().program_ids, integer("program_id", "axis", axis)
    if not -len(ids) <= axis < len(ids):
        raise err_program_id_axis_out_of_bounds(axis, len(ids))
    return ids[axis]


def num_programs(axes: int | Sequence[int] | None = None) -> int:
    """Returns the number of programs along axes of the launch grid, in all without axes."""
    grid = nki_ctx().grid
    total = 1
    for axis in range(len(grid)) if axes is None else program_axes(axes):
        if not -len(grid) <= axis < len(grid):
            raise err_program_id_axis_out_of_bounds(axis, len(grid))
        total *= grid[axis]
    return total


# Element-wise functions -----------------------------------------------------------------------------------------


def _binary(name: str) -> Function:
    op, summary = BINARY[name]
    default = bool_ if name in TRUTHS else None

    def function(x: Any, y: Any, *, dtype: Any = None, mask: Any = None) -> Any:
        return elementwise.binary(name, op, x, y, default if dtype is None else dtype, masked(mask))

    return named(function, name, f"Returns {summary}, element by element, broadcast by numpy's rules.", __name__)


def _unary(name: str) -> Function:
    made, summary = unary_function(name)
    default = bool_ if name in TRUTHS else None

    def function(x: Any, *, dtype: Any = None, mask: Any = None) -> Any:
        return made(x, default if dtype is None else dtype, masked(mask))

    return named(function, name, f"Returns {summary}.", __name__)


add = _binary("add")
subtract = _binary("subtract")
multiply = _binary("multiply")
divide = _binary("divide")
power = _binary("power")
mod = _binary("mod")
maximum = _binary("maximum")
minimum = _binary("minimum")
equal = _binary("equal")
not_equal = _binary("not_equal")
greater = _binary("greater")
greater_equal = _binary("greater_equal")
less = _binary("less")
less_equal = _binary("less_equal")
logical_and = _binary("logical_and")
logical_or = _binary("logical_or")
logical_xor = _binary("logical_xor")
bitwise_and = _binary("bitwise_and")
bitwise_or = _binary("bitwise_or")
bitwise_xor = _binary("bitwise_xor")
left_shift = _binary("left_shift")
right_shift = _binary("right_shift")
exp = _unary("exp")
log = _unary("log")
sqrt = _unary("sqrt")
rsqrt = _unary("rsqrt")
tanh = _unary("tanh")
sigmoid = _unary("sigmoid")
relu = _unary("relu")
erf = _unary("erf")
erf_dx = _unary("erf_dx")
softplus = _unary("softplus")
mish = _unary("mish")
gelu = _unary("gelu")
gelu_dx = _unary("gelu_dx")
gelu_apprx_tanh = _unary("gelu_apprx_tanh")
gelu_apprx_sigmoid = _unary("gelu_apprx_sigmoid")
silu = _unary("silu")
silu_dx = _unary("silu_dx")
arctan = _unary("arctan")
sign = _unary("sign")
square = _unary("square")
abs = _unary("abs")
reciprocal = _unary("reciprocal")
negative = _unary("negative")
sin = _unary("sin")
cos = _unary("cos")
tan = _unary("tan")
floor = _unary("floor")
ceil = _unary("ceil")
trunc = _unary("trunc")
invert = _unary("invert")
logical_not = _unary("logical_not")


def copy(src: Any, *, mask: Any = None, dtype: Any = None) -> Any:
    """Returns a copy of a tile in SBUF."""
    return elementwise.copied("copy", src, dtype, masked(mask))


def static_cast(x: Any, dtype: Any) -> Any:
    """Returns a copy of a tile of another type."""
    return elementwise.copied("static_cast", x, dtype)


def where(condition: Any, x: Any, y: Any, *, dtype: Any = None, mask: Any = None) -> Any:
    """Returns x where condition is not 0, else y; x and y are tiles or numbers."""
    return elementwise.where("where", condition, x, y, dtype, masked(mask))


# Reductions -----------------------------------------------------------------------------------------------------


def _reduction(name: str) -> Function:
    op, summary = REDUCTIONS[name]
    default = bool_ if name in TRUTHS else None

    def function(x: Any, axis: Any, *, dtype: Any = None, mask: Any = None, keepdims: bool = False) -> Any:
        kind = default if dtype is None else dtype
        return reduction.reduced(name, op, x, axis, kind, masked(mask), keepdims=keepdims)

    summary = f"Returns {summary} over free axes, which are dropped unless `keepdims`."
    return named(function, name, summary, __name__)


sum = _reduction("sum")
prod = _reduction("prod")
max = _reduction("max")
min = _reduction("min")
all = _reduction("all")


def mean(x: Any, axis: Any, *, dtype: Any = None, mask: Any = None, keepdims: bool = False) -> Any:
    """Returns the mean over free axes; of integers it is fp32."""
    return reduction.mean("mean", x, axis, dtype, masked(mask), keepdims=keepdims)


def var(x: Any, axis: Any, *, dtype: Any = None, mask: Any = None) -> Any:
    """Returns the population variance over free axes, which are dropped."""
    return reduction.variance("var", x, axis, dtype, masked(mask))


def softmax(x: Any, axis: Any, *, dtype: Any = None, compute_dtype: Any = None, mask: Any = None) -> Any:
    """Returns exp(x - max(x)) divided by its sum over free axes; it is computed in fp32."""
    return reduction.softmax("softmax", x, axis, dtype or compute_dtype, masked(mask))


def rms_norm(
    x: Any,
    w: Any,
    axis: Any,
    n: Any,
    epsilon: float = 1e-6,
    *,
    dtype: Any = None,
    compute_dtype: Any = None,
    mask: Any = None,
) -> Any:
    """Returns x / sqrt(sum(x * x) / n + epsilon) * w; the sum runs over free axes, in fp32."""
    return reduction.rms_norm("rms_norm", x, w, axis, n, epsilon, dtype or compute_dtype, masked(mask))


# Matrices and memory --------------------------------------------------------------------------------------------


def matmul(x: Any, y: Any, *, transpose_x: bool = False, mask: Any = None) -> Any:
    """Returns x @ y (transpose(x) @ y) as a tile of fp32 in PSUM; `tile += matmul(…)` accumulates in a PSUM tile."""
    return matrix.matmul("matmul", x, y, transpose_x, masked(mask))


def transpose(x: Any, *, dtype: Any = None, mask: Any = None) -> Any:
    """Returns the transpose of a tile of at most 128 x 128, in PSUM."""
    turned = matrix.transposed("transpose", x, masked(mask))
    return turned if dtype is None else elementwise.copied("transpose", turned, dtype)


def load(src: Any, *, mask: Any = None, dtype: Any = None) -> Any:
    """Returns a tile in SBUF with a part of an HBM tensor, whose first dimension becomes the partitions."""
    return memory.load("load", src, dtype, masked(mask))


def load_transpose2d(src: Any, *, mask: Any = None, dtype: Any = None) -> Any:
    """Returns the transpose of a two-dimensional part of an HBM tensor, at most 128 x 128, in SBUF."""
    return memory.load_transposed("load_transpose2d", src, dtype, masked(mask))


def store(dst: Any, value: Any, *, mask: Any = None) -> None:
    """Writes a tile or one number into a part of an HBM tensor."""
    memory.store("store", dst, value, masked(mask))


def broadcast_to(src: Any, *, shape: Any) -> Any:
    """Returns a tile with dimensions of size 1 repeated; partitions may be repeated too."""
    return memory.broadcast_to("broadcast_to", src, shape)


def expand_dims(data: Any, axis: int) -> Any:
    """Returns a view with a dimension of size 1 added behind the partition dimension."""
    tile = on_chip("expand_dims", "data", data)
    check_bounds(tile)
    return tile.expand_dim(axis)


def shared_identity_matrix(n: int, dtype: Any = uint8) -> Any:
    """Returns an n x n identity matrix in SBUF."""
    return memory.identity("shared_identity_matrix", n, dtype)


UNSUPPORTED = (
    "all_reduce",
    "atomic_rmw",
    "device_print",
    "dropout",
    "fmod",
    "gather_flattened",
    "gemm_grid",
    "gemm_stationary_grid",
    "loop_reduce",
    "rand",
    "random_seed",
    "shared_constant",
)
"""Functions of the API that this front end does not have; they can be imported, and refuse to be called."""

__getattr__ = refusing("neuronxcc.nki.language", "nl", UNSUPPORTED)


mark_nki_functions(globals())

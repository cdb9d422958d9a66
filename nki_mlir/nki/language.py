"""`nki.language`: types, buffers, creation of tensors, ranges, program ids, operator tokens."""

from collections.abc import Sequence
from typing import Any

from nki_mlir.frontend import decorators, shared_api, subscripts
from nki_mlir.frontend import functions_elementwise as elementwise
from nki_mlir.frontend import functions_matmul as matrix
from nki_mlir.frontend import functions_memory as memory
from nki_mlir.frontend import functions_reduce as reduction
from nki_mlir.frontend.context import mark_nki_functions, nki_ctx
from nki_mlir.frontend.create import create, filled
from nki_mlir.frontend.errors import (
    err_program_id_axis_out_of_bounds,
    err_unsupported_memory,
)
from nki_mlir.frontend.functions import assign, on_chip
from nki_mlir.frontend.functions_operands import tile_of
from nki_mlir.frontend.functions_table import BINARY, REDUCTIONS, Function, named, unary_function
from nki_mlir.frontend.integers import (
    MOST_ITERATIONS,
    bounds_of,
    integer,
    program_axes,
    too_many_iterations,
    trip_count,
)
from nki_mlir.frontend.unsupported import refusing
from nki_mlir.isa.enums import AluOp, MemorySpace

# Types are strings, as in the API.

uint8, int8, uint16, int16, uint32, int32 = "uint8", "int8", "uint16", "int16", "uint32", "int32"
bool_ = "bool_"
float16, bfloat16, float32, tfloat32 = "float16", "bfloat16", "float32", "tfloat32"
float8_e4m3, float8_e4m3fn, float8_e5m2 = "float8_e4m3", "float8_e4m3fn", "float8_e5m2"
float8_e8m0fnu = "float8_e8m0fnu"
float8_e5m2_x4, float8_e4m3fn_x4, float4_e2m1fn_x4 = "float8_e5m2_x4", "float8_e4m3fn_x4", "float4_e2m1fn_x4"

MemoryRegion = MemorySpace
sbuf, psum = shared_api.sbuf, shared_api.psum
hbm, private_hbm, shared_hbm = shared_api.hbm, shared_api.private_hbm, shared_api.shared_hbm

tile_size, program_ndim = shared_api.tile_size, shared_api.program_ndim
ds = subscripts.Span
no_reorder = decorators.no_reorder


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
    return is_sbuf(buffer) or is_psum(buffer)


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
    tile = tile_of("zeros_like", "x", x)
    kind, space = tile.dtype if dtype is None else dtype, tile.buffer if buffer is None else buffer
    return filled("zeros_like", tile.shape, 0, kind, space, name)


def empty_like(x: Any, dtype: Any = None, buffer: Any = None, name: str = "") -> Any:
    """Returns an undefined tensor with the shape of x."""
    tile = tile_of("empty_like", "x", x)
    kind, space = tile.dtype if dtype is None else dtype, tile.buffer if buffer is None else buffer
    return create("empty_like", tile.shape, kind, space, name)


# Loops and programs ---------------------------------------------------------------------------------------------


def affine_range(*bounds: int) -> range:
    """`range`; the current API unrolls static loops."""
    return _unrolled("affine_range", bounds)


def sequential_range(*bounds: int) -> range:
    """The same as `affine_range`."""
    return _unrolled("sequential_range", bounds)


def static_range(*bounds: int) -> range:
    """The same as `affine_range`."""
    return _unrolled("static_range", bounds)


def _unrolled(api: str, bounds: Sequence[Any]) -> range:
    values = bounds_of(api, bounds)
    if (iterations := trip_count(values)) > MOST_ITERATIONS:
        raise too_many_iterations(iterations)
    return values


def program_id(axis: int = 0) -> Any:
    """Returns the number of this program along an axis of the launch grid, 0 without a grid."""
    ids = nki_ctx().program_ids
    axis = integer("program_id", "axis", axis)
    if not ids:
        return 0
    if not -len(ids) <= axis < len(ids):
        raise err_program_id_axis_out_of_bounds(axis, len(ids))
    return ids[axis]


def num_programs(axes: int | Sequence[int] = 0) -> int:
    """Returns the number of programs along axes of the launch grid, 1 without a grid."""
    grid = nki_ctx().grid
    total = 1
    for axis in program_axes(axes):
        if grid and not -len(grid) <= axis < len(grid):
            raise err_program_id_axis_out_of_bounds(axis, len(grid))
        total *= grid[axis] if grid else 1
    return total


# Functions ------------------------------------------------------------------------------------------------------
#
# They are operator tokens for `nki.isa`, and functions that return a tile in SBUF. Without `dtype` the result has the
# type of the first tile.


def _binary(name: str) -> Function:
    op, summary = BINARY[name]

    def function(x: Any, y: Any, dtype: Any = None) -> Any:
        return elementwise.binary(name, op, x, y, dtype, promote=False)

    return named(function, name, f"Returns {summary}, element by element; one operand may be a number.", __name__)


def _unary(name: str, **how: Any) -> Function:
    made, summary = unary_function(name)

    def function(x: Any, dtype: Any = None) -> Any:
        return made(x, dtype, True, **how)

    return named(function, name, f"Returns {summary}.", __name__)


def _reduction(name: str) -> Function:
    op, summary = REDUCTIONS[name]

    def function(x: Any, axis: Any, dtype: Any = None, keepdims: bool = False) -> Any:
        return reduction.reduced(name, op, x, axis, dtype, keepdims=keepdims)

    summary = f"Returns {summary} over free axes, which are dropped unless `keepdims`."
    return named(function, name, summary, __name__)


add = _binary("add")
subtract = _binary("subtract")
multiply = _binary("multiply")
divide = _binary("divide")
power = _binary("power")
mod = _binary("mod")
maximum = _binary("maximum")
minimum = _binary("minimum")
abs_max = _binary("abs_max")
abs_min = _binary("abs_min")
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
gelu_apprx_sigmoid_dx = _unary("gelu_apprx_sigmoid_dx")
silu = _unary("silu")
silu_dx = _unary("silu_dx")
arctan = _unary("arctan")
sign = _unary("sign")
square = _unary("square")
abs = _unary("abs")
reciprocal = _unary("reciprocal")
negative = _unary("negative")
floor = _unary("floor")
ceil = _unary("ceil")
trunc = _unary("trunc")
invert = _unary("invert")
logical_not = _unary("logical_not")
sin = _unary("sin", reduced=True)
cos = _unary("cos", reduced=True)
tan = _unary("tan", reduced=True)
sum = _reduction("sum")
prod = _reduction("prod")
max = _reduction("max")
min = _reduction("min")
average = AluOp.AVERAGE
"""Operator token of `nki.isa.tensor_partition_reduce`."""
bypass = AluOp.BYPASS
"""Operator token: the first operand as it is."""


def all(x: Any, axis: Any, dtype: Any = None) -> Any:
    """Returns whether all elements over free axes are not 0."""
    return reduction.reduced("all", AluOp.LOGICAL_AND, x, axis, dtype)


def mean(x: Any, axis: Any, dtype: Any = None, keepdims: bool = False) -> Any:
    """Returns the mean over free axes."""
    return reduction.mean("mean", x, axis, dtype, keepdims=keepdims)


def var(x: Any, axis: Any, dtype: Any = None, keepdims: bool = False) -> Any:
    """Returns the population variance over free axes, which stay with size 1 whatever `keepdims` says."""
    return reduction.variance("var", x, axis, dtype, keepdims=True)


def softmax(x: Any, axis: Any = -1, dtype: Any = None) -> Any:
    """Returns exp(x - max(x)) divided by its sum over free axes."""
    return reduction.softmax("softmax", x, axis, dtype)


def rms_norm(
    x: Any, w: Any, axis: Any, n: Any, epsilon: float = 1e-6, dtype: Any = None, compute_dtype: Any = None
) -> Any:
    """Returns x / sqrt(sum(x * x) / n + epsilon) * w; the sum runs over free axes, in fp32."""
    return reduction.rms_norm("rms_norm", x, w, axis, n, epsilon, dtype or compute_dtype)


def where(condition: Any, x: Any, y: Any, dtype: Any = None) -> Any:
    """Returns x where condition is not 0, else y; x and y are tiles or numbers."""
    return elementwise.where("where", condition, x, y, dtype, promote=False)


def copy(x: Any, dtype: Any = None) -> Any:
    """Returns a copy of a tile in SBUF."""
    return elementwise.copied("copy", x, dtype)


identity = copy


def load(src: Any, dtype: Any = None) -> Any:
    """Returns a tile in SBUF with a part of an HBM tensor, whose first dimension becomes the partitions."""
    return memory.load("load", src, dtype)


def load_transpose2d(src: Any, dtype: Any = None) -> Any:
    """Returns the transpose of a two-dimensional part of an HBM tensor, at most 128 x 128, in SBUF."""
    return memory.load_transposed("load_transpose2d", src, dtype)


def store(dst: Any, value: Any) -> None:
    """Writes a tile in SBUF into a part of an HBM tensor.

    Raises:
        NKITypeError: the value is not in SBUF.
    """
    tile = tile_of("store", "value", value)
    if tile.buffer is not sbuf:
        raise err_unsupported_memory("store", "value", tile.buffer, "sbuf")
    memory.store("store", dst, tile)


def matmul(x: Any, y: Any, transpose_x: bool = False) -> Any:
    """Returns x @ y (transpose(x) @ y) as a tile of fp32 in PSUM."""
    return matrix.matmul("matmul", x, y, transpose_x)


def transpose(x: Any, dtype: Any = None) -> Any:
    """Returns the transpose of a tile of at most 128 x 128, in PSUM."""
    turned = matrix.transposed("transpose", x)
    return turned if dtype is None else elementwise.copied("transpose", turned, dtype)


def broadcast_to(x: Any, shape: Any, dtype: Any = None) -> Any:
    """Returns a tile with dimensions of size 1 repeated; partitions may be repeated too."""
    spread = memory.broadcast_to("broadcast_to", x, shape)
    return spread if dtype is None else elementwise.copied("broadcast_to", spread, dtype)


def expand_dims(x: Any, axis: int) -> Any:
    """Returns a view with a dimension of size 1 added behind the partition dimension."""
    return on_chip("expand_dims", "x", x).expand_dim(axis)


def shared_identity_matrix(n: int, dtype: Any = "uint8", dst: Any = None) -> Any:
    """Returns an n x n identity matrix in SBUF, written into `dst` if there is one."""
    made = memory.identity("shared_identity_matrix", n, dtype)
    if dst is None:
        return made
    assign(tile_of("shared_identity_matrix", "dst", dst), made)
    return dst


UNSUPPORTED = (
    "device_print",
    "dropout",
    "dynamic_range",
    "fmod",
    "fori_loop",
    "gather_flattened",
    "prelu",
    "rand",
    "random_seed",
    "shared_constant",
    "while_loop",
)
"""Functions of the API that this front end does not have; they can be imported, and refuse to be called."""

__getattr__ = refusing("nki.language", "nl", UNSUPPORTED)


mark_nki_functions(globals())

"""`nki.isa`: one function for each instruction, destination first.

Engines, commands and modes are the published enums. A function records its instruction and returns a handle.
"""

from collections.abc import Sequence
from enum import Enum, IntEnum
from typing import Any, NoReturn

from nki_mlir.dialects.affine import LARGEST
from nki_mlir.frontend import shared_api
from nki_mlir.frontend.catalogue import NkiValidationError
from nki_mlir.frontend.context import mark_nki_functions, nki_ctx
from nki_mlir.frontend.errors import (
    NKINotImplementedError,
    NKISyntaxError,
    NKITypeError,
    err_unexpected_type_of_operand,
    err_unsupported_memory,
)
from nki_mlir.frontend.functions_operands import (
    operand_of,
    optional,
    pair,
    real,
    reduced_dims,
    scale_of,
    tile_of,
    token,
)
from nki_mlir.frontend.integers import integer
from nki_mlir.frontend.sema import Sema, number
from nki_mlir.frontend.storage import Tile
from nki_mlir.frontend.symbolic import concretise
from nki_mlir.frontend.unsupported import refusing
from nki_mlir.isa import enums
from nki_mlir.isa.dtypes import Dtype
from nki_mlir.isa.enums import AccumulateCommand, ActivationFunction, AluOp, DgeType, MatmultPerfMode, OobMode
from nki_mlir.isa.instructions.memory import SCALAR_COPY


class engine(IntEnum):
    """The engine that runs an instruction; unknown lets the compiler choose."""

    unknown = 0
    tensor = 1
    scalar = 2
    gpsimd = 3
    dma = 4
    vector = 5
    sync = 6


class reduce_cmd(IntEnum):
    """What an instruction does with its accumulator."""

    idle = 0
    reset = 1
    reduce = 2
    reset_reduce = 3
    load_reduce = 4


class dge_mode(IntEnum):
    """Who makes the descriptors of a DMA."""

    unknown = 0
    swdge = 1
    hwdge = 2
    none = 3


class matmul_perf_mode(Enum):
    """How the Tensor engine reads its inputs."""

    none = "none"
    double_row = "double_row"


class dma_engine(IntEnum):
    """Who moves the data of a transfer between cores."""

    dma = 1
    gpsimd_dma = 2


class VirtualRegister:
    """A register of a sequencer; the functions that make them are not supported, so that no value is one."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise NKINotImplementedError("nisa.VirtualRegister is not supported by this front end", rule="unsupported")


class NkiInstruction:
    """The handle of a recorded instruction."""

    __slots__ = ()

    def depends_on(self, *producers: "NkiInstruction") -> NoReturn:
        """Refused: this front end records no edges between instructions."""
        raise NKINotImplementedError("NkiInstruction.depends_on is not supported by this front end", rule="unsupported")


HANDLE = NkiInstruction()

oob_mode, nc_version, get_nc_version = shared_api.oob_mode, shared_api.nc_version, shared_api.get_nc_version

unknown_engine, tensor_engine, scalar_engine = engine.unknown, engine.tensor, engine.scalar
gpsimd_engine, vector_engine = engine.gpsimd, engine.vector


def _sema() -> Sema:
    return nki_ctx().sema


# Tensor engine --------------------------------------------------------------------------------------------------


def nc_matmul(
    dst: Any,
    stationary: Any,
    moving: Any,
    is_stationary_onezero: bool = False,
    is_moving_onezero: bool = False,
    is_transpose: bool = False,
    accumulate: bool | None = None,
    tile_position: Sequence[Any] = (),
    tile_size: Sequence[Any] = (),
    perf_mode: Any = matmul_perf_mode.none,
    name: str | None = None,
) -> NkiInstruction:
    """dst[M, N] (+)= transpose(stationary[K, M]) @ moving[K, N] in fp32; dst in PSUM.

    `accumulate`: True adds, False overwrites, None overwrites at first and adds later.
    """
    api = "nc_matmul"
    adds = getattr(accumulate, "item", lambda: accumulate)()
    _sema().matmul(
        tile_of(api, "dst", dst),
        tile_of(api, "stationary", stationary),
        tile_of(api, "moving", moving),
        accumulate=None if adds is None else integer(api, "accumulate", adds),
        is_transpose=is_transpose,
        is_stationary_onezero=is_stationary_onezero,
        is_moving_onezero=is_moving_onezero,
        tile_position=pair(api, "tile_position", tile_position),
        tile_size=pair(api, "tile_size", tile_size),
        perf_mode=optional(api, "perf_mode", perf_mode, MatmultPerfMode),
        name=name,
    )
    return HANDLE


def nc_transpose(dst: Any, data: Any, engine: Any = None, name: str | None = None) -> NkiInstruction:
    """dst[F, P] = data[P, F], bit by bit; on the Tensor engine when dst is in PSUM, else on the Vector engine."""
    api = "nc_transpose"
    chosen = optional(api, "engine", engine, enums.Engine)
    _sema().transpose(tile_of(api, "dst", dst), tile_of(api, "data", data), chosen, name=name)
    return HANDLE


# Scalar engine --------------------------------------------------------------------------------------------------


def activation(
    dst: Any,
    op: Any,
    data: Any,
    bias: Any = None,
    scale: Any = 1.0,
    reduce_op: Any = None,
    reduce_res: Any = None,
    reduce_cmd: Any = reduce_cmd.idle,
    name: str | None = None,
) -> NkiInstruction:
    """dst = op(data * scale + bias); `reduce_cmd` says what the accumulator does with the sum of dst.

    Then the accumulator is written to `reduce_res`, if given.
    """
    api = "activation"
    command = token(api, "reduce_cmd", reduce_cmd, AccumulateCommand)
    if command is AccumulateCommand.LOAD_ACCUMULATE:
        raise NKISyntaxError("activation: reduce_cmd load_reduce is not one of this instruction", rule="reduce_cmd")
    _sema().activation(
        tile_of(api, "dst", dst),
        token(api, "op", op, ActivationFunction),
        tile_of(api, "data", data),
        operand_of(api, "bias", bias),
        scale_of(api, scale),
        reduce_op=None if reduce_op is None else token(api, "reduce_op", reduce_op, AluOp),
        reduce_res=None if reduce_res is None else tile_of(api, "reduce_res", reduce_res),
        accumulate=None if command is AccumulateCommand.IDLE and reduce_res is None else command,
        name=name,
    )
    return HANDLE


def activation_reduce(
    dst: Any,
    op: Any,
    data: Any,
    reduce_op: Any,
    reduce_res: Any,
    bias: Any = None,
    scale: Any = 1.0,
    name: str | None = None,
) -> NkiInstruction:
    """dst = op(data * scale + bias), and reduce_res = the sum of dst over its free dimensions."""
    return activation(dst, op, data, bias, scale, reduce_op, reduce_res, AccumulateCommand.ZERO_ACCUMULATE, name)


# Vector engine --------------------------------------------------------------------------------------------------


def tensor_tensor(
    dst: Any, data1: Any, data2: Any, op: Any, engine: Any = engine.unknown, name: str | None = None
) -> NkiInstruction:
    """dst = data1 op data2, element by element."""
    api = "tensor_tensor"
    _sema().tensor_tensor(
        tile_of(api, "dst", dst),
        tile_of(api, "data1", data1),
        tile_of(api, "data2", data2),
        token(api, "op", op, AluOp),
        optional(api, "engine", engine, enums.Engine),
        name=name,
    )
    return HANDLE


def tensor_scalar(
    dst: Any,
    data: Any,
    op0: Any,
    operand0: Any,
    reverse0: bool = False,
    op1: Any = None,
    operand1: Any = None,
    reverse1: bool = False,
    engine: Any = engine.unknown,
    name: str | None = None,
) -> NkiInstruction:
    """dst = (data op0 operand0) op1 operand1; operands are numbers or one value a partition."""
    api = "tensor_scalar"
    _sema().tensor_scalar(
        tile_of(api, "dst", dst),
        tile_of(api, "data", data),
        token(api, "op0", op0, AluOp),
        operand_of(api, "operand0", operand0),
        None if op1 is None else token(api, "op1", op1, AluOp),
        operand_of(api, "operand1", operand1),
        reverse0=reverse0,
        reverse1=reverse1,
        engine=optional(api, "engine", engine, enums.Engine),
        name=name,
    )
    return HANDLE


def scalar_tensor_tensor(
    dst: Any,
    data: Any,
    op0: Any,
    operand0: Any,
    op1: Any,
    operand1: Any,
    reverse0: bool = False,
    reverse1: bool = False,
    name: str | None = None,
) -> NkiInstruction:
    """dst = (data op0 operand0) op1 operand1 with a whole tile as operand1."""
    api = "scalar_tensor_tensor"
    _sema().scalar_tensor_tensor(
        tile_of(api, "dst", dst),
        tile_of(api, "data", data),
        token(api, "op0", op0, AluOp),
        operand_of(api, "operand0", operand0),
        token(api, "op1", op1, AluOp),
        tile_of(api, "operand1", operand1),
        reverse0=reverse0,
        reverse1=reverse1,
        name=name,
    )
    return HANDLE


def tensor_reduce(
    dst: Any, op: Any, data: Any, axis: Any, negate: bool = False, keepdims: bool = False, name: str | None = None
) -> NkiInstruction:
    """dst = reduction of the trailing free axes of data; `negate` multiplies by -1."""
    api = "tensor_reduce"
    source = tile_of(api, "data", data)
    axes = reduced_dims(api, axis, source.ndim)
    _sema().tensor_reduce(tile_of(api, "dst", dst), token(api, "op", op, AluOp), source, axes, negate=negate, name=name)
    return HANDLE


def tensor_partition_reduce(dst: Any, op: Any, data: Any, name: str | None = None) -> NkiInstruction:
    """dst[1, …] = reduction of data over its partitions."""
    api = "tensor_partition_reduce"
    _sema().partition_reduce(
        tile_of(api, "dst", dst), token(api, "op", op, AluOp), tile_of(api, "data", data), name=name
    )
    return HANDLE


def tensor_copy(
    dst: Any, src: Any, engine: Any = engine.unknown, name: str | None = None, *, dtype: Any = None
) -> NkiInstruction:
    """dst = src on chip; a cast goes through fp32.

    `dtype` is an argument of earlier releases that published kernels still give, also where dst is of another type: the
    type of dst decides.
    """
    del dtype
    api = "tensor_copy"
    chosen = optional(api, "engine", engine, enums.Engine)
    _sema().require(api, SCALAR_COPY, {}, {"engine": chosen})
    _sema().tensor_copy(tile_of(api, "dst", dst), tile_of(api, "src", src), chosen, name=name)
    return HANDLE


def tensor_copy_predicated(
    dst: Any, src: Any, predicate: Any, reverse_pred: bool = False, name: str | None = None
) -> NkiInstruction:
    """dst = src where predicate is not 0 (is 0 with reverse_pred); src is a tile or a number."""
    api = "tensor_copy_predicated"
    _sema().copy_predicated(
        tile_of(api, "dst", dst),
        operand_of(api, "src", src),
        tile_of(api, "predicate", predicate),
        reverse_pred=reverse_pred,
        name=name,
    )
    return HANDLE


def select_reduce(
    dst: Any,
    predicate: Any,
    on_true: Any,
    on_false: Any,
    reduce_res: Any = None,
    reduce_cmd: Any = reduce_cmd.idle,
    reduce_op: Any = None,
    reverse_pred: bool = False,
    name: str | None = None,
) -> NkiInstruction:
    """dst = predicate ? on_true : on_false.

    Raises:
        NKITypeError: a reduction, which this front end does not have yet.
    """
    api = "select_reduce"
    if reduce_res is not None or token(api, "reduce_cmd", reduce_cmd, AccumulateCommand) is not AccumulateCommand.IDLE:
        raise NKITypeError("select_reduce: the reduction is not supported by this front end", rule="select_reduce")
    _sema().select_reduce(
        tile_of(api, "dst", dst),
        tile_of(api, "predicate", predicate),
        tile_of(api, "on_true", on_true),
        on_false if isinstance(on_false, Tile) else number(real(api, "on_false", on_false), Dtype.F32),
        reduce_op=None if reduce_op is None else token(api, "reduce_op", reduce_op, AluOp),
        reverse_pred=reverse_pred,
        name=name,
    )
    return HANDLE


def bn_stats(dst: Any, data: Any, name: str | None = None) -> NkiInstruction:
    """dst[P, 6] = count, mean, variance * count of the even and of the odd elements."""
    _sema().bn_stats(tile_of("bn_stats", "dst", dst), tile_of("bn_stats", "data", data), name=name)
    return HANDLE


def bn_aggr(dst: Any, data: Any, name: str | None = None) -> NkiInstruction:
    """dst[P, 2] = mean and population variance of (count, mean, variance * count) triples."""
    _sema().bn_aggr(tile_of("bn_aggr", "dst", dst), tile_of("bn_aggr", "data", data), name=name)
    return HANDLE


def reciprocal(dst: Any, data: Any, name: str | None = None) -> NkiInstruction:
    """dst = 1 / data on the Vector engine."""
    _sema().reciprocal(tile_of("reciprocal", "dst", dst), tile_of("reciprocal", "data", data), name=name)
    return HANDLE


def memset(dst: Any, value: Any, engine: Any = engine.unknown, name: str | None = None) -> NkiInstruction:
    """dst = value in every element; integers take an integer."""
    api, sema = "memset", _sema()
    if not isinstance(value, int | float) and not hasattr(value, "item"):
        raise err_unexpected_type_of_operand(api, "value", value, "a number")
    target, plain = tile_of(api, "dst", dst), getattr(value, "item", lambda: value)()
    if target.element.is_integer and isinstance(plain, float):
        raise err_unexpected_type_of_operand(api, "value", plain, f"an integer, as dst is of type {target.element}")
    sema.memset(target, plain, optional(api, "engine", engine, enums.Engine), name=name)
    return HANDLE


# GpSimd engine --------------------------------------------------------------------------------------------------


def _pattern(api: str, pattern: Any) -> list[tuple[int, int]]:
    try:
        found = [(concretise(step), concretise(count)) for step, count in pattern]
        if all(abs(step) < LARGEST for step, _ in found):
            return found
    except (TypeError, ValueError):
        pass
    raise NKITypeError(f"{api}: pattern must be [[step, count], …], got {pattern!r}", rule="pattern")


def iota(
    dst: Any, pattern: Any, offset: int = 0, channel_multiplier: int = 0, name: str | None = None
) -> NkiInstruction:
    """dst[c, …] = offset + c * channel_multiplier + sum of index * step, in int32."""
    api = "iota"
    first, step = integer(api, "offset", offset), integer(api, "channel_multiplier", channel_multiplier)
    _sema().iota(tile_of(api, "dst", dst), _pattern(api, pattern), first, step, name=name)
    return HANDLE


def affine_select(
    dst: Any,
    pattern: Any,
    channel_multiplier: int,
    on_true_tile: Any,
    on_false_value: Any,
    cmp_op: Any = "equal",
    offset: int = 0,
    name: str | None = None,
) -> NkiInstruction:
    """dst = on_true_tile where the affine value of the position compares true with 0, else on_false_value."""
    api = "affine_select"
    _sema().affine_select(
        tile_of(api, "dst", dst),
        _pattern(api, pattern),
        integer(api, "offset", offset),
        integer(api, "channel_multiplier", channel_multiplier),
        tile_of(api, "on_true_tile", on_true_tile),
        real(api, "on_false_value", on_false_value),
        token(api, "cmp_op", cmp_op, AluOp),
        name=name,
    )
    return HANDLE


# DMA ------------------------------------------------------------------------------------------------------------


def dma_copy(
    dst: Any,
    src: Any,
    priority: int | None = None,
    oob_mode: Any = oob_mode.error,
    dge_mode: Any = dge_mode.unknown,
    engine: Any = engine.unknown,
    name: str | None = None,
) -> NkiInstruction:
    """dst = src between HBM and SBUF, element by element in order; a cast goes through fp32.

    `engine` triggers the transfer, which needs `dge_mode` hwdge; `priority` is that of its queue, 0 the highest.
    """
    api = "dma_copy"
    target, source = tile_of(api, "dst", dst), tile_of(api, "src", src)
    for operand, tile in (("dst", target), ("src", source)):
        if tile.buffer is enums.MemorySpace.PSUM:
            raise err_unsupported_memory(api, operand, tile.buffer, ("sbuf", "hbm"))
    mode, trigger = optional(api, "dge_mode", dge_mode, DgeType), optional(api, "engine", engine, enums.Engine)
    if trigger is not None and (mode is not DgeType.HWDGE or trigger not in (enums.Engine.SP, enums.Engine.ACT)):
        raise NkiValidationError(
            f"{api}: engine must be sync or scalar, and dge_mode hwdge with it, got {trigger} and {mode or 'unknown'}",
            rule="X-DMAENGINE",
        )
    _sema().dma_copy(
        target,
        source,
        dge_type=mode,
        oob_mode=None if token(api, "oob_mode", oob_mode, OobMode) is OobMode.ERROR else OobMode.SKIP,
        engine=trigger,
        priority=None if priority is None else integer(api, "priority", priority),
        name=name,
    )
    return HANDLE


UNSUPPORTED = (
    "activate2",
    "core_barrier",
    "dma_compute",
    "dma_transpose",
    "dropout",
    "exponential",
    "get_nc_sub_version",
    "local_gather",
    "max8",
    "nc_find_index8",
    "nc_match_replace8",
    "nc_matmul_mx",
    "nc_n_gather",
    "nc_stream_shuffle",
    "nonzero_with_count",
    "quantize_mx",
    "rand2",
    "rand_get_state",
    "rand_set_state",
    "range_select",
    "register_alloc",
    "register_load",
    "register_move",
    "register_store",
    "rng",
    "sendrecv",
    "sequence_bounds",
    "set_rng_seed",
    "tensor_scalar_cumulative",
    "tensor_scalar_reduce",
    "tensor_tensor_scan",
    "topk",
)
"""Instructions of the API that this front end does not have; they can be imported, and refuse to be called."""

__getattr__ = refusing("nki.isa", "nisa", UNSUPPORTED)


mark_nki_functions(globals())

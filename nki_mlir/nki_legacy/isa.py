"""`neuronxcc.nki.isa`: one function for each instruction, which returns its result in a fresh tile.

`dtype=` is the type of the result, by default that of the input; `mask=` the part that is computed. Results are in
SBUF, those of the Tensor engine in PSUM. Source: NKI ISA reference, §2.
"""

from collections.abc import Sequence
from enum import IntEnum
from typing import Any

from nki_mlir.frontend import functions_elementwise as elementwise
from nki_mlir.frontend import functions_matmul as matrix
from nki_mlir.frontend import functions_reduce as reduction
from nki_mlir.frontend import shared_api
from nki_mlir.frontend.context import mark_nki_functions
from nki_mlir.frontend.create import sizes
from nki_mlir.frontend.errors import (
    NKINotImplementedError,
    NKISyntaxError,
    err_atomic_rmw_add_only,
    err_expected_constant_value,
    err_unexpected_type_of_operand,
    err_unsupported_expression_in_mask,
)
from nki_mlir.frontend.functions import (
    Mask,
    domain_of,
    fresh,
    masked,
    on_chip,
    promoted,
    result_type,
    sema,
)
from nki_mlir.frontend.functions_operands import (
    free_axes,
    is_number,
    operand_of,
    optional,
    pair,
    real,
    scale_of,
    tile_of,
    token,
)
from nki_mlir.frontend.storage import Tile
from nki_mlir.frontend.symbolic import EQ, GE, NE, Axis, Pred, Sym, affine, concretise, grid_rank, plain
from nki_mlir.frontend.unsupported import refusing
from nki_mlir.isa import enums
from nki_mlir.isa.enums import AccumulateCommand, ActivationFunction, AluOp, DgeType, MatmultPerfMode, OobMode
from nki_mlir.isa.instructions.activation import LEGACY_BIAS


class engine(IntEnum):
    """The engine that runs an instruction; unknown lets the compiler choose."""

    unknown = 0
    tensor = 1
    scalar = 2
    gpsimd = 3
    vector = 5
    sync = 6


class reduce_cmd(IntEnum):
    """What an instruction does with its accumulator."""

    idle = 0
    reset = 1
    reduce = 2
    reset_reduce = 3


class dge_mode(IntEnum):
    """Who makes the descriptors of a DMA."""

    none = 0
    swdge = 1
    hwdge = 2
    unknown = 3


oob_mode, nc_version, get_nc_version = shared_api.oob_mode, shared_api.nc_version, shared_api.get_nc_version

unknown_engine, tensor_engine, scalar_engine = engine.unknown, engine.tensor, engine.scalar
gpsimd_engine, vector_engine = engine.gpsimd, engine.vector


def _engine(api: str, value: Any) -> enums.Engine | None:
    return optional(api, "engine", value, enums.Engine)


# Tensor engine --------------------------------------------------------------------------------------------------


def nc_matmul(
    stationary: Any,
    moving: Any,
    *,
    is_stationary_onezero: bool = False,
    is_moving_onezero: bool = False,
    is_transpose: bool = False,
    tile_position: Sequence[Any] = (),
    tile_size: Sequence[Any] = (),
    perf_mode: Any = None,
    mask: Any = None,
) -> Any:
    """Returns transpose(stationary[K, M]) @ moving[K, N] in PSUM; `tile += nc_matmul(…)` accumulates in a PSUM tile."""
    return matrix.product(
        "nc_matmul",
        stationary,
        moving,
        masked(mask),
        is_transpose=is_transpose,
        is_stationary_onezero=is_stationary_onezero,
        is_moving_onezero=is_moving_onezero,
        tile_position=pair("nc_matmul", "tile_position", tile_position),
        tile_size=pair("nc_matmul", "tile_size", tile_size),
        perf_mode=None if perf_mode is None else token("nc_matmul", "perf_mode", perf_mode, MatmultPerfMode),
    )


def nc_transpose(data: Any, *, mask: Any = None, dtype: Any = None, engine: Any = engine.unknown) -> Any:
    """Returns data[P, F] transposed: in PSUM from the Tensor engine, in SBUF from the Vector engine (up to 32 x 32)."""
    turned = matrix.transposed("nc_transpose", data, masked(mask), _engine("nc_transpose", engine))
    return turned if dtype is None else elementwise.copied("nc_transpose", turned, dtype)


# Scalar engine --------------------------------------------------------------------------------------------------


def activation(
    op: Any,
    data: Any,
    *,
    bias: Any = None,
    scale: Any = 1.0,
    reduce_op: Any = None,
    reduce_res: Any = None,
    reduce_cmd: Any = reduce_cmd.idle,
    mask: Any = None,
    dtype: Any = None,
) -> Any:
    """Returns op(data * scale + bias); bias has one value a partition, scale too, or it is a number.

    `reduce_cmd` says what the accumulator does with the sum of the result. Then `reduce_res`, if given, is set to it.
    """
    api = "activation"
    source = on_chip(api, "data", data)
    result = fresh(api, source.shape, result_type(dtype, source))
    command = token(api, "reduce_cmd", reduce_cmd, AccumulateCommand)
    condition = masked(mask)
    if isinstance(bias, Tile):
        sema().require(api, LEGACY_BIAS, {"bias": bias}, {})
    sema().activation(
        result,
        token(api, "op", op, ActivationFunction),
        source,
        operand_of(api, "bias", bias),
        scale_of(api, scale),
        reduce_op=None if reduce_op is None else token(api, "reduce_op", reduce_op, AluOp),
        reduce_res=None if reduce_res is None else tile_of(api, "reduce_res", reduce_res),
        accumulate=None if command is AccumulateCommand.IDLE and reduce_res is None else command,
        mask=condition,
        domain=domain_of(condition, result, data=source),
    )
    return result


def activation_reduce(
    op: Any,
    data: Any,
    *,
    reduce_op: Any,
    reduce_res: Any,
    bias: Any = None,
    scale: Any = 1.0,
    mask: Any = None,
    dtype: Any = None,
) -> Any:
    """Returns op(data * scale + bias) and writes its sum over the free dimensions to reduce_res."""
    return activation(
        op,
        data,
        bias=bias,
        scale=scale,
        reduce_op=reduce_op,
        reduce_res=reduce_res,
        reduce_cmd=AccumulateCommand.ZERO_ACCUMULATE,
        mask=mask,
        dtype=dtype,
    )


# Vector engine --------------------------------------------------------------------------------------------------


def tensor_tensor(
    data1: Any, data2: Any, op: Any, *, dtype: Any = None, mask: Any = None, engine: Any = engine.unknown
) -> Any:
    """Returns data1 op data2, element by element; the type is the promoted one of both."""
    api = "tensor_tensor"
    first, second = on_chip(api, "data1", data1), on_chip(api, "data2", data2)
    kind = promoted(first.element, second.element) if dtype is None else result_type(dtype)
    result = fresh(api, first.shape, kind)
    condition = masked(mask)
    domain = domain_of(condition, result, data1=first, data2=second)
    chosen = _engine(api, engine)
    sema().tensor_tensor(result, first, second, token(api, "op", op, AluOp), chosen, mask=condition, domain=domain)
    return result


def tensor_scalar(
    data: Any,
    op0: Any,
    operand0: Any,
    reverse0: bool = False,
    op1: Any = None,
    operand1: Any = None,
    reverse1: bool = False,
    *,
    dtype: Any = None,
    mask: Any = None,
    engine: Any = engine.unknown,
) -> Any:
    """Returns (data op0 operand0) op1 operand1; operands are numbers or one value a partition."""
    api = "tensor_scalar"
    source = on_chip(api, "data", data)
    result = fresh(api, source.shape, result_type(dtype, source))
    condition = masked(mask)
    sema().tensor_scalar(
        result,
        source,
        token(api, "op0", op0, AluOp),
        operand_of(api, "operand0", operand0),
        None if op1 is None else token(api, "op1", op1, AluOp),
        operand_of(api, "operand1", operand1),
        reverse0=reverse0,
        reverse1=reverse1,
        engine=_engine(api, engine),
        mask=condition,
        domain=domain_of(condition, result, data=source),
    )
    return result


def scalar_tensor_tensor(
    *,
    data: Any,
    op0: Any,
    operand0: Any,
    op1: Any,
    operand1: Any,
    reverse0: bool = False,
    reverse1: bool = False,
    dtype: Any = None,
    mask: Any = None,
) -> Any:
    """Returns (data op0 operand0) op1 operand1 with a whole tile as operand1."""
    api = "scalar_tensor_tensor"
    source, other = on_chip(api, "data", data), on_chip(api, "operand1", operand1)
    result = fresh(api, source.shape, result_type(dtype, source))
    condition = masked(mask)
    sema().scalar_tensor_tensor(
        result,
        source,
        token(api, "op0", op0, AluOp),
        operand_of(api, "operand0", operand0),
        token(api, "op1", op1, AluOp),
        other,
        reverse0=reverse0,
        reverse1=reverse1,
        mask=condition,
        domain=domain_of(condition, result, data=source, operand1=other),
    )
    return result


def tensor_reduce(
    op: Any,
    data: Any,
    axis: Any,
    *,
    mask: Any = None,
    dtype: Any = None,
    negate: bool = False,
    keepdims: bool = False,
) -> Any:
    """Returns the reduction of data over consecutive free axes, which are dropped unless `keepdims`."""
    api = "tensor_reduce"
    source = on_chip(api, "data", data)
    axes = free_axes(api, axis, source.ndim)
    if axes != list(range(axes[0], axes[-1] + 1)) or len(axes) > 4:
        raise NKISyntaxError(f"{api}: axis is {axes}; it must be up to 4 consecutive axes", rule="axis")
    kind = token(api, "op", op, AluOp)
    return reduction.reduced(api, kind, source, axes, dtype, masked(mask), keepdims=keepdims, negate=negate)


def tensor_partition_reduce(op: Any, data: Any, *, mask: Any = None, dtype: Any = None) -> Any:
    """Returns the reduction of data over its partitions, one partition of results."""
    api = "tensor_partition_reduce"
    return reduction.partition_reduced(api, token(api, "op", op, AluOp), data, dtype, masked(mask))


def tensor_copy(src: Any, *, mask: Any = None, dtype: Any = None, engine: Any = engine.unknown) -> Any:
    """Returns a copy of a tile in SBUF; a cast goes through fp32."""
    return elementwise.copied("tensor_copy", src, dtype, masked(mask), _engine("tensor_copy", engine))


def tensor_copy_predicated(
    *, src: Any, dst: Any, predicate: Any, mask: Any = None, dtype: Any = None, reverse_pred: bool = False
) -> None:
    """dst = src where predicate is not 0 (is 0 with `reverse_pred`); src is a tile or a number."""
    api = "tensor_copy_predicated"
    target = on_chip(api, "dst", dst, engine=False)
    if dtype is not None and result_type(dtype) is not target.element:
        raise err_unexpected_type_of_operand(api, "dtype", dtype, f"the type of dst, {target.element}")
    sema().copy_predicated(
        target,
        operand_of(api, "src", src),
        on_chip(api, "predicate", predicate),
        reverse_pred=reverse_pred,
        mask=masked(mask),
    )


def bn_stats(data: Any, *, mask: Any = None, dtype: Any = None) -> Any:
    """Returns count, mean and variance * count of the even and of the odd elements of each partition, [P, 6]."""
    return _statistics("bn_stats", data, 6, dtype, masked(mask))


def bn_aggr(data: Any, *, mask: Any = None, dtype: Any = None) -> Any:
    """Returns mean and population variance of the (count, mean, variance * count) triples of each partition, [P, 2]."""
    return _statistics("bn_aggr", data, 2, dtype, masked(mask))


def _statistics(api: str, data: Any, columns: int, dtype: Any, mask: Mask) -> Tile:
    source = on_chip(api, "data", data)
    free = range(1, source.ndim)
    if api == "bn_stats" and reduction.count_of(source, free, mask) < reduction.count_of(source, free):
        raise err_unsupported_expression_in_mask(repr(mask), "restricts the elements that bn_stats counts")
    result = fresh(api, (source.shape[0], columns), result_type(dtype, source))
    record = sema().bn_stats if api == "bn_stats" else sema().bn_aggr
    record(result, source, mask=mask, domain="data")
    return result


def reciprocal(data: Any, *, dtype: Any = None, mask: Any = None) -> Any:
    """Returns 1 / data, computed on the Vector engine."""
    return elementwise.reciprocal("reciprocal", data, dtype, masked(mask))


def memset(shape: Any, value: Any, dtype: Any, *, mask: Any = None, engine: Any = engine.unknown) -> Any:
    """Returns a tile with one value in all elements."""
    api = "memset"
    value = plain(value)
    if not is_number(value):
        raise err_expected_constant_value(api, "value")
    result = fresh(api, sizes(api, shape), result_type(dtype))
    sema().memset(result, value.item() if hasattr(value, "item") else value, _engine(api, engine), mask=masked(mask))
    return result


# GpSimd engine --------------------------------------------------------------------------------------------------


def _affine(api: str, expr: Any) -> "tuple[tuple[int, ...], list[tuple[int, int]], int, int]":
    """Returns (shape, pattern, offset, channel_multiplier) of an affine expression of index grids.

    Loop indices in it take one value: the instruction has no room for them.

    Raises:
        NKITypeError: there is no index grid in it.
    """
    rank = grid_rank(expr) if isinstance(expr, Sym) else 0
    if not rank:
        raise err_unexpected_type_of_operand(api, "expr", expr, "an expression of arange or mgrid indices")
    sizes, steps, offset = [1] * rank, [0] * rank, expr.const
    for term, coefficient in expr.terms.items():
        if isinstance(term, Axis):
            sizes[term.position] = max(sizes[term.position], term.hi)
            steps[term.position] += coefficient
        else:
            offset += concretise(affine(Sym(0, {term: coefficient})))
    pattern = list(zip(steps[1:], sizes[1:], strict=True)) or [(0, 1)]
    return (*sizes, 1)[: max(rank, 2)], pattern, offset, steps[0]


def iota(expr: Any, dtype: Any, *, mask: Any = None) -> Any:
    """Returns a tile with the values of an affine expression of index grids, computed in int32."""
    shape, pattern, offset, multiplier = _affine("iota", expr)
    result = fresh("iota", shape, result_type(dtype))
    sema().iota(result, pattern, offset, multiplier, mask=masked(mask))
    return result


_COMPARISONS = {GE: AluOp.IS_GE, EQ: AluOp.IS_EQUAL, NE: AluOp.NOT_EQUAL}


def affine_select(pred: Any, on_true_tile: Any, on_false_value: Any, *, mask: Any = None, dtype: Any = None) -> Any:
    """Returns on_true_tile where a comparison of index grids holds, else the number on_false_value."""
    api = "affine_select"
    source = on_chip(api, "on_true_tile", on_true_tile)
    instead = plain(on_false_value)
    if not is_number(instead):
        raise err_expected_constant_value(api, "on_false_value")
    result = fresh(api, source.shape, result_type(dtype, source))
    if isinstance(pred, Pred) and len(pred.atoms) != 1:
        raise err_unsupported_expression_in_mask(repr(pred), "is several comparisons, affine_select takes one")
    if not isinstance(pred, Pred):
        raise err_unexpected_type_of_operand(api, "pred", pred, "a comparison of arange or mgrid indices")
    expr, kind = pred.atoms[0]
    shape, pattern, offset, multiplier = _affine(api, expr)
    steps = [multiplier, *(step for step, _ in pattern)]
    sizes = [source.shape[0], *source.shape[1:]]
    if len(shape) != source.ndim or any(n not in (1, own) for n, own in zip(shape, sizes, strict=True)):
        raise err_unsupported_expression_in_mask(repr(pred), f"has shape {shape}, on_true_tile {source.shape}")
    sema().affine_select(
        result,
        list(zip(steps[1:], sizes[1:], strict=True)),
        offset,
        multiplier,
        source,
        real(api, "on_false_value", instead),
        _COMPARISONS[kind],
        mask=masked(mask),
    )
    return result


# DMA ------------------------------------------------------------------------------------------------------------


def dma_copy(
    *,
    dst: Any,
    src: Any,
    mask: Any = None,
    dst_rmw_op: Any = None,
    oob_mode: Any = oob_mode.error,
    dge_mode: Any = dge_mode.unknown,
) -> None:
    """dst = src between HBM and the chip, or within one of them; a cast goes through fp32."""
    api = "dma_copy"
    if dst_rmw_op is not None:
        if token(api, "dst_rmw_op", dst_rmw_op, AluOp) is not AluOp.ADD:
            raise err_atomic_rmw_add_only(dst_rmw_op)
        raise NKINotImplementedError("dma_copy: dst_rmw_op is not supported by this front end", rule="unsupported")
    sema().dma_copy(
        tile_of(api, "dst", dst),
        tile_of(api, "src", src),
        dge_type=optional(api, "dge_mode", dge_mode, DgeType),
        oob_mode=None if token(api, "oob_mode", oob_mode, OobMode) is OobMode.ERROR else OobMode.SKIP,
        mask=masked(mask),
    )


UNSUPPORTED = (
    "builtin_custom_op",
    "dma_engine",
    "dma_transpose",
    "dropout",
    "local_gather",
    "max8",
    "nc_find_index8",
    "nc_match_replace8",
    "nc_stream_shuffle",
    "range_select",
    "select_reduce",
    "sequence_bounds",
    "tensor_copy_dynamic_dst",
    "tensor_copy_dynamic_src",
    "tensor_scalar_reduce",
    "tensor_tensor_scan",
)
"""Instructions of the API that this front end does not have; they can be imported, and refuse to be called."""

__getattr__ = refusing("neuronxcc.nki.isa", "nisa", UNSUPPORTED)


mark_nki_functions(globals())

"""Functions that move data: load, store, broadcast, new tiles with contents.

Source: NKI ISA reference, §3.6.
"""

from collections.abc import Sequence
from typing import Any

from nki_mlir.frontend.create import element_type, sizes
from nki_mlir.frontend.errors import err_exceed_max_supported_dimension, err_unsupported_memory
from nki_mlir.frontend.functions import (
    Mask,
    check_fits,
    constant,
    deepened,
    fresh,
    on_chip,
    regrid,
    result_type,
    scalar_or_tile,
    sema,
    spread,
    stretched,
)
from nki_mlir.frontend.functions_matmul import transposed
from nki_mlir.frontend.functions_operands import tile_of
from nki_mlir.frontend.storage import Tile
from nki_mlir.isa.enums import AluOp


def in_hbm(api: str, operand: str, value: Any) -> Tile:
    """Returns an operand that must be a tensor in HBM.

    Raises:
        NKITypeError: it is on chip, or no tensor.
    """
    tile = tile_of(api, operand, value)
    if tile.on_chip:
        raise err_unsupported_memory(api, operand, tile.buffer, ("hbm", "shared_hbm", "private_hbm"))
    return tile


def load(api: str, src: Any, dtype: Any = None, mask: Mask = True) -> Tile:
    """Returns a tile in SBUF with a part of an HBM tensor; its first dimension becomes the partitions.

    Raises:
        NKISyntaxError: the part has one dimension only.
        NKIValueError: its first dimension is greater than 128.
    """
    source = in_hbm(api, "src", src)
    result = fresh(api, source.shape, result_type(dtype, source))
    sema().dma_copy(result, source, mask=mask, domain="src")
    return result


def store(api: str, dst: Any, value: Any, mask: Mask = True) -> None:
    """Writes a tile, broadcast to the shape of `dst`, or one number into an HBM tensor.

    Raises:
        NKIValueError: the value does not fit.
    """
    target = in_hbm(api, "dst", dst)
    source = scalar_or_tile(api, "value", value, engine=False)
    depth = source.ndim if isinstance(source, Tile) and source.shape[0] == 1 else 2
    while target.ndim < depth:
        axes = None if target.grid is None else [None, *target.grid.axes]
        target = regrid(target.expand_dim(0), target, axes)
    if not isinstance(source, Tile):
        source = constant(api, (1, *target.shape[1:]), source, target.element)
    check_fits(target, source)
    source = stretched(deepened(api, source, target.shape), target.shape)
    sema().dma_copy(target, source, mask=mask, domain="dst")


def broadcast_to(api: str, src: Any, shape: Sequence[Any]) -> Tile:
    """Returns a view of a tile with dimensions of size 1 repeated; one partition is copied to all."""
    tile = on_chip(api, "src", src, engine=False)
    wanted = sizes(api, shape)
    return tile if tile.shape == wanted else spread(api, tile, wanted)


def load_transposed(api: str, src: Any, dtype: Any = None, mask: Mask = True) -> Tile:
    """Returns the transpose of a two-dimensional part of an HBM tensor, at most 128 x 128, in SBUF.

    Raises:
        NKIValueError: the part has not two dimensions.
    """
    source = in_hbm(api, "src", src)
    if source.ndim != 2:
        raise err_exceed_max_supported_dimension(api, source.ndim, 2)
    turned = transposed(api, load(api, source, None, mask))
    result = fresh(api, turned.shape, result_type(dtype, source))
    sema().tensor_copy(result, turned, None)
    return result


def identity(api: str, size: int, dtype: Any) -> Tile:
    """Returns a tile with ones on the diagonal and zeros elsewhere."""
    (size,) = sizes(api, [size])
    kind = element_type(dtype)
    ones = constant(api, (size, size), 1 if kind.is_integer else 1.0, kind)
    result = fresh(api, (size, size), kind)
    sema().affine_select(result, ((1, size),), 0, -1, ones, 0.0, AluOp.IS_EQUAL)
    return result

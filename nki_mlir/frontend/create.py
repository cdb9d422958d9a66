"""Creating tensors: the checks that both generations of the API share."""

from typing import Any

from nki_mlir.diagnostics import NkiError
from nki_mlir.frontend.arguments import is_boolean
from nki_mlir.frontend.context import nki_ctx
from nki_mlir.frontend.errors import (
    NKISyntaxError,
    NKITypeError,
    NKIValueError,
    err_hbm_tensor_with_init_value_not_supported,
    err_num_partition_exceed_arch_limit,
    err_unexpected_type_of_operand,
    err_unsupported_dtype_value,
    shown,
)
from nki_mlir.frontend.functions_operands import is_number
from nki_mlir.frontend.symbolic import concretise, plain
from nki_mlir.isa.dtypes import Dtype
from nki_mlir.isa.enums import MemorySpace

ON_CHIP = (MemorySpace.SBUF, MemorySpace.PSUM)


def element_type(dtype: Any) -> Dtype:
    """Returns the type that an API value means.

    Raises:
        NKIValueError: NKI has no such type.
    """
    if isinstance(dtype, Dtype):
        return dtype
    try:
        found = Dtype.from_api(dtype)
    except NkiError:
        raise err_unsupported_dtype_value(dtype) from None
    if found.size == 8:
        raise err_unsupported_dtype_value(dtype)
    return found


def sizes(api: str, shape: Any) -> tuple[int, ...]:
    """Returns a shape as positive integers.

    Raises:
        NKIValueError: it is none.
    """
    given: Any = shape if hasattr(shape, "__iter__") else [shape]
    try:
        found = tuple(concretise(size) for size in given)
    except TypeError:
        raise NKIValueError(f"{api}: shape must be a tuple of integers, got {shown(shape)}", rule="shape") from None
    if not found or any(size < 1 for size in found):
        raise NKIValueError(f"{api}: shape {found} must have positive sizes", rule="shape")
    return found


def create(
    api: str,
    shape: Any,
    dtype: Any,
    buffer: Any,
    name: str = "",
    address: tuple[int, int] | None = None,
    partition_dim: int = 0,
) -> Any:
    """Returns a new tensor with undefined contents.

    Raises:
        NKIValueError: more than 128 partitions, or an impossible shape or type.
        NKISyntaxError: one dimension on chip.
        NKITypeError: `buffer` is no memory, or `address` no pair of integers.
    """
    found = sizes(api, shape)
    if not isinstance(buffer, MemorySpace):
        message = f"{api}: buffer must be one of nl's memories, got {shown(buffer)}"
        raise NKITypeError(message, rule="unsupported_memory")
    if buffer in ON_CHIP:
        if len(found) - partition_dim < 2:
            raise NKISyntaxError(
                f"{api}: Insufficient rank: a tensor in {buffer} needs a partition and a free dimension, got {found}",
                rule="leading_dimension_of_tensor_must_be_partition",
            )
        if found[partition_dim] > 128:
            raise err_num_partition_exceed_arch_limit(api, found[partition_dim], 128)
    place = None if address is None else _place(api, address)
    context, kind = nki_ctx(), element_type(dtype)
    tensor = context.allocate(found, kind, buffer, name=name, partition_dim=partition_dim, place=place)
    tensor.allocation.boolean = is_boolean(dtype)
    return tensor


def _place(api: str, address: Any) -> tuple[int, int]:
    given: Any = address
    pair: list[Any] = list(given) if isinstance(address, list | tuple) else []
    if len(pair) != 2 or not all(isinstance(figure, int) and figure >= 0 for figure in pair):
        raise NKITypeError(
            f"{api}: address must be (first partition, byte address), got {shown(given)}", rule="address"
        )
    return pair[0], pair[1]


def filled(api: str, shape: Any, value: Any, dtype: Any, buffer: Any, name: str = "", partition_dim: int = 0) -> Any:
    """Returns a new on-chip tensor with one value in all elements.

    Raises:
        NKISyntaxError: the tensor is in HBM.
        NKITypeError: the value is no number.
    """
    value = plain(value)
    if not is_number(value):
        raise err_unexpected_type_of_operand(api, "fill_value", value, "a number")
    if isinstance(buffer, MemorySpace) and buffer not in ON_CHIP:
        raise err_hbm_tensor_with_init_value_not_supported(api)
    tensor = create(api, shape, dtype, buffer, name, None, partition_dim)
    for tile in tensor.tiles():
        nki_ctx().sema.memset(tile, value, None)
    return tensor

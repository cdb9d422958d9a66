"""What the API functions of both generations do with their arguments: tensors, numbers, operators, axes."""

from enum import Enum
from numbers import Integral
from typing import Any, TypeVar, cast

from nki_mlir.diagnostics import NkiError
from nki_mlir.frontend.context import nki_ctx_or_none
from nki_mlir.frontend.errors import (
    KernelError,
    NKISyntaxError,
    NKIValueError,
    err_nki_api_outside_of_nki_kernel,
    err_operand_cannot_be_none,
    err_unexpected_type_of_operand,
)
from nki_mlir.frontend.integers import integer
from nki_mlir.frontend.sema import Number, Operandish, number
from nki_mlir.frontend.storage import Tile
from nki_mlir.frontend.symbolic import Sym, plain
from nki_mlir.isa.dtypes import Dtype
from nki_mlir.isa.enums import Published
from nki_mlir.isa.target import Target, default_target

P = TypeVar("P", bound=Published)

SPELLINGS = {"amax": "max", "amin": "min", "sum": "add", "prod": "multiply"}
"""Names of numpy functions that stand for an operator of another name when given as one."""


def tile_of(api: str, operand: str, value: Any) -> Tile:
    """Returns an operand that must be a tensor.

    Raises:
        NKIValueError: it is None.
        NKITypeError: it is something else.
    """
    if isinstance(value, Tile):
        return value
    raise no_operand(api, operand, value, "a tensor")


def operand_of(api: str, operand: str, value: Any) -> Operandish:
    """Returns an operand that may be a tensor, a number or None; a loop index becomes the number it is."""
    if value is None or isinstance(value, Tile | Number):
        return value
    value = plain(value)
    if is_number(value):
        return number(value)
    raise no_operand(api, operand, value, "a tensor or a number")


def no_operand(api: str, operand: str, value: Any, expected: str) -> KernelError:
    """Returns the error for what is given in place of a tensor, which outside of a kernel nobody has."""
    if nki_ctx_or_none() is None:
        return err_nki_api_outside_of_nki_kernel(api)
    if value is None:
        return err_operand_cannot_be_none(api, operand)
    return err_unexpected_type_of_operand(api, operand, value, expected)


def is_number(value: Any) -> bool:
    """Whether an operand is one number: of Python, of numpy, or an array without dimensions."""
    if isinstance(value, int | float):
        return True
    return hasattr(value, "item") and getattr(value, "ndim", 0) == 0 and isinstance(value.item(), int | float)


def real(api: str, parameter: str, value: Any) -> float:
    """Returns a parameter that must be one number, known while the kernel is traced.

    Raises:
        NKITypeError: it is something else.
        NKIValueError: it is an integer beyond all floating-point numbers.
    """
    value = plain(value)
    if not is_number(value):
        raise err_unexpected_type_of_operand(api, parameter, value, "a number")
    try:
        return float(value)
    except OverflowError:
        raise NKIValueError(f"{api}: {parameter} is too large", rule="immediate") from None


_known: dict[tuple[type, type, Any], Any] = {}
"""Members by what was given for them: the same few come with every instruction."""


def _member(kind: type[P], value: Any) -> P:
    name = value if isinstance(value, str) else getattr(value, "__name__", value)
    return kind.from_api(SPELLINGS.get(name, value) if isinstance(name, str) else value)


def token(api: str, parameter: str, value: Any, kind: type[P]) -> P:
    """Returns the member of a published enum that an op token, an API enum, a numpy function or a name means.

    Raises:
        NKIValueError: it is None.
        NKISyntaxError: it is none of them.
    """
    try:
        known = _known.get((kind, value.__class__, value))
    except TypeError:  # of a value that cannot be hashed
        raise err_unexpected_type_of_operand(api, parameter, value, "an operator") from None
    if known is not None:
        return known
    if isinstance(value, kind):
        return value
    if value is None:
        raise err_operand_cannot_be_none(api, parameter)
    if isinstance(value, Tile):
        raise err_unexpected_type_of_operand(api, parameter, value, "an operator")
    try:
        member = _member(kind, value.name if isinstance(value, Enum) else value)
    except NkiError as error:
        raise NKISyntaxError(f"{api}: {parameter}: {error}", rule="instruction_unsupported_op") from None
    _known[kind, value.__class__, value] = member
    return member


def optional(api: str, parameter: str, value: Any, kind: type[P]) -> P | None:
    """Returns the member that a value means, None for None and for `unknown`."""
    if value is None or getattr(value, "name", None) == "unknown":
        return None
    return token(api, parameter, value, kind)


def pair(api: str, parameter: str, value: Any) -> tuple[Any, ...]:
    """Returns a parameter that is a pair of numbers or indices, or none at all.

    Raises:
        NKITypeError: it is something else.
    """
    is_list = isinstance(value, list | tuple)
    given: tuple[Any, ...] = tuple(cast("list[Any]", value)) if is_list else (None,)
    for member in given:
        if not isinstance(member, Integral | Sym):
            raise err_unexpected_type_of_operand(api, parameter, member if is_list else value, "a pair of integers")
    return tuple([member if isinstance(member, Sym) else int(member) for member in given])


def scale_of(api: str, scale: Any) -> Operandish:
    """Returns the scale of an activation, None for 1.0; numbers are fp32."""
    scale = plain(scale)
    if not is_number(scale):
        return operand_of(api, "scale", scale)
    value = real(api, "scale", scale)
    return None if value == 1.0 else number(value, Dtype.F32)


def free_axes(api: str, axis: Any, rank: int) -> list[int]:
    """Returns the axes of a reduction in order, counted from the start.

    Raises:
        NKISyntaxError: there is none, one is there twice, is the partition axis, or does not exist.
    """
    given: Any = axis
    numbers = [integer(api, "axis", a) for a in (given if isinstance(axis, list | tuple) else [given])]
    axes = sorted({number % rank if -rank <= number < rank else number for number in numbers})
    if len(axes) < len(numbers):
        raise NKISyntaxError(f"{api}: axis is {numbers}, which names an axis twice", rule="axis")
    if not axes:
        raise NKISyntaxError(f"{api}: Empty axis not supported", rule="axis")
    if 0 in axes:
        raise NKISyntaxError(f"{api}: Reduction on partition axes is not supported", rule="axis")
    if axes[-1] >= rank or axes[0] < 0:
        raise NKISyntaxError(f"{api}: axis is {axes}, the data has {rank} dimensions", rule="axis")
    return axes


def reduced_dims(api: str, axis: Any, rank: int) -> int:
    """Returns how many of the innermost dimensions `axis` names.

    Raises:
        NKISyntaxError: the axes are not consecutive up to the last one, or one is the partition axis.
    """
    axes = free_axes(api, axis, rank)
    if axes != list(range(rank - len(axes), rank)) or len(axes) > 4:
        raise NKISyntaxError(
            f"{api}: axis is {axes}; it must be up to 4 consecutive axes that end at the last one, {rank - 1}",
            rule="axis",
        )
    return len(axes)


# Sizes of the hardware ------------------------------------------------------------------------------------------


def current_target() -> Target:
    """Returns the generation that is traced for, outside of a kernel the default one."""
    context = nki_ctx_or_none()
    return default_target() if context is None else context.target


class TileSize:
    """`nl.tile_size`: the limits of the target (nki-isa.md §1.5)."""

    pmax = 128
    psum_fmax = 512
    psum_bank_fmax = 512
    psum_bank_fmax_bytes = 2048
    gemm_stationary_fmax = 128
    gemm_moving_fmax = 512
    bn_stats_fmax = 512
    psum_min_align = 4
    sbuf_min_align = 1

    @property
    def psum_num_banks(self) -> int:
        return current_target().psum_banks

    @property
    def sbuf_fmax_bytes(self) -> int:
        return current_target().sbuf_usable_bytes

    @property
    def sbuf_fmax(self) -> int:
        return current_target().sbuf_usable_bytes // 4

    @property
    def total_available_sbuf_size(self) -> int:
        return current_target().sbuf_usable_bytes

    @property
    def sbuf_size_bytes(self) -> int:
        return current_target().partitions * current_target().sbuf_partition_bytes

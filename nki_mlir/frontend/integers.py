"""Integers that a kernel hands to API functions, checked where the name of function and parameter is known."""

from collections.abc import Sequence
from typing import Any

from nki_mlir.frontend.errors import KernelError, NKITypeError, NKIValueError, err_unexpected_type_of_operand
from nki_mlir.frontend.symbolic import Sym, concretise

MOST_ITERATIONS = 25_000_000
"""A loop that is unrolled has no more iterations than a kernel may have instructions. Source: BIR reference, §6.13."""


def integer(api: str, parameter: str, value: Any) -> int:
    """Returns a parameter that must be an integer; a symbolic one takes a single value.

    Raises:
        NKITypeError: it is something else.
    """
    try:
        return int(concretise(value))
    except NKITypeError:
        raise err_unexpected_type_of_operand(api, parameter, value, "an integer") from None


def program_axes(axes: Any) -> list[int]:
    """Returns the axes of the launch grid that `num_programs` is asked about.

    Raises:
        NKITypeError: they are neither an integer nor several.
    """
    api, several = "num_programs", _are_several(axes)
    try:
        return [integer(api, "axes", axis) for axis in (axes if several else (axes,))]
    except NKITypeError:
        if several:
            raise
        kind = type(axes).__name__
        raise NKITypeError(f"{api}: axes is invalid type: {kind}", rule="program_axes") from None


def _are_several(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def index(api: str, parameter: str, value: Any) -> int | Sym:
    """Returns a parameter that must be an integer, which may be symbolic.

    Raises:
        NKITypeError: it is something else.
    """
    return value if type(value) is int or isinstance(value, Sym) else integer(api, parameter, value)


def bounds_of(api: str, bounds: Sequence[Any]) -> range:
    """Returns the range that `api(stop)` or `api(start, stop[, step])` means.

    Raises:
        NKITypeError: there are no or too many bounds, or one is no integer.
        NKIValueError: the step is 0.
    """
    if not 1 <= len(bounds) <= 3:
        raise NKITypeError(f"{api}: expected 1 to 3 bounds, got {len(bounds)}", rule="loop")
    names = ("stop",) if len(bounds) == 1 else ("start", "stop", "step")
    found = [integer(api, name, bound) for name, bound in zip(names, bounds, strict=False)]
    if found[2:] == [0]:
        raise NKIValueError(f"{api}: step cannot be 0", rule="loop")
    return range(*found)


def trip_count(values: range) -> int:
    """Returns the length of a range, which `len` does not give beyond 63 bits."""
    return max(0, -((values.start - values.stop) // values.step))


def too_many_iterations(iterations: int) -> KernelError:
    """Returns the error for a loop that would run for ever while it is traced."""
    return NKIValueError(f"unrolling gives {iterations} iterations, at most {MOST_ITERATIONS} are allowed", rule="loop")

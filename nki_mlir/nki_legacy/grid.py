"""Axes of a launch grid: `kernel[nc(2) * 4, 8](…)`.

A product of factors is one axis of the grid, whose size is the product; `nc` says over how many physical cores it
spreads. Programs run one after another, so that placement does not change what a kernel computes.

Source: NKI ISA reference, §3.5 and §10; Penguin reference, §6.6.
"""

from typing import Any

from nki_mlir.frontend.errors import NKITypeError, NKIValueError
from nki_mlir.frontend.integers import integer


class SPMDDim:
    """One axis of a grid: factors, outermost first, each (size, whether it spreads over physical cores)."""

    __slots__ = ("factors",)

    def __init__(self, factors: "tuple[tuple[int, bool], ...]") -> None:
        self.factors = factors

    def __int__(self) -> int:
        size = 1
        for factor, _ in self.factors:
            size *= factor
        return size

    __index__ = __int__

    @property
    def cores(self) -> int:
        """Number of physical cores."""
        size = 1
        for factor, spreads in self.factors:
            size *= factor if spreads else 1
        return size

    def __mul__(self, other: Any) -> "SPMDDim":
        return SPMDDim(self.factors + _factors(other, "*"))

    def __rmul__(self, other: Any) -> "SPMDDim":
        return SPMDDim(_factors(other, "*") + self.factors)

    def __repr__(self) -> str:
        return " * ".join(f"nc({size})" if spreads else str(size) for size, spreads in self.factors)


def _factors(value: Any, operator: str) -> "tuple[tuple[int, bool], ...]":
    if isinstance(value, SPMDDim):
        return value.factors
    if isinstance(value, int):
        return ((value, False),)
    raise NKITypeError(f"unsupported operand type(s) for {operator} : {type(value).__name__}", rule="spmd_dim")


def nc(cores: int) -> SPMDDim:
    """An axis that spreads over physical cores.

    Raises:
        NKITypeError: the number of cores is no integer.
    """
    return SPMDDim(((integer("nc", "cores", cores), True),))


def spmd_dim(*factors: Any) -> SPMDDim:
    """One axis of several factors, outermost first.

    Raises:
        NKIValueError: there is none.
    """
    if not factors:
        raise NKIValueError("spmd_dim expect at least 1 argument!", rule="spmd_dim")
    return SPMDDim(tuple(pair for factor in factors for pair in _factors(factor, "spmd_dim")))

"""Affine expressions compiled to functions of the slots, the list that holds loop variables and registers of a run."""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from nki_mlir.dialects import affine
from nki_mlir.dialects.affine import Expr

Slots: TypeAlias = list[Any]
"""One value per loop variable and register of a function; None for a register that nothing has written."""


def compiled(expr: Expr, numbers: Sequence[int], slots: Slots) -> Callable[[], int]:
    """Returns the function that computes the expression, whose index value k is in `slots[numbers[k]]`."""
    if isinstance(expr, int):
        return lambda: expr
    constant, terms = expr.constant, expr.terms
    linear = [(coefficient, numbers[atom]) for coefficient, atom in terms if isinstance(atom, int)]
    if len(linear) == len(terms) == 1:
        ((k0, n0),) = linear
        return lambda: constant + k0 * slots[n0]
    if len(linear) == len(terms) == 2:
        (k0, n0), (k1, n1) = linear
        return lambda: constant + k0 * slots[n0] + k1 * slots[n1]
    if len(linear) == len(terms) == 3:
        (k0, n0), (k1, n1), (k2, n2) = linear
        return lambda: constant + k0 * slots[n0] + k1 * slots[n1] + k2 * slots[n2]
    return lambda: affine.evaluate(expr, [slots[n] for n in numbers])

"""What numpy's functions make of an index.

A number of numpy beside an index calls a ufunc for its operator: then the index's own operator counts, which may leave
it symbolic. All other functions see the number that it is.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from nki_mlir.frontend.symbolic import Sym, concretise

_OPERATORS = {
    "absolute": ("__abs__", ""),
    "negative": ("__neg__", ""),
    "add": ("__add__", "__radd__"),
    "subtract": ("__sub__", "__rsub__"),
    "multiply": ("__mul__", "__rmul__"),
    "divide": ("__truediv__", "__rtruediv__"),
    "floor_divide": ("__floordiv__", "__rfloordiv__"),
    "remainder": ("__mod__", "__rmod__"),
    "divmod": ("__divmod__", "__rdivmod__"),
    "power": ("__pow__", "__rpow__"),
    "left_shift": ("__lshift__", "__rlshift__"),
    "right_shift": ("__rshift__", "__rrshift__"),
    "less": ("__lt__", "__gt__"),
    "less_equal": ("__le__", "__ge__"),
    "greater": ("__gt__", "__lt__"),
    "greater_equal": ("__ge__", "__le__"),
    "equal": ("__eq__", "__eq__"),
    "not_equal": ("__ne__", "__ne__"),
}
"""The operators that ufuncs are, as methods of the left and of the right operand."""


def ufunc(function: Any, method: str, inputs: Sequence[Any], options: Mapping[str, Any]) -> Any:
    """Returns what a method of a ufunc gives for inputs some of which are indices.

    Raises:
        NKISyntaxError: one of them is an index grid, which has no single value.
    """
    names = _OPERATORS.get(function.__name__) if method == "__call__" and not options else None
    if names is not None:
        # A number of numpy that is compared comes as an array without dimensions.
        given = [value[()] if getattr(value, "shape", None) == () else value for value in inputs]
        left = isinstance(given[0], Sym)
        own = getattr(Sym, names[0] if left else names[1])
        found = own(*given) if left else own(given[1], given[0])
        if found is not NotImplemented:
            return found
    numbers = (concretise(value) if isinstance(value, Sym) else value for value in inputs)
    return getattr(function, method)(*numbers, **options)

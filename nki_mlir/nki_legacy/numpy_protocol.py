"""numpy's functions on tiles: `np.exp(tile)`, `np.max(tile, axis=1)`; each records what the `nl` function does.

What is not listed here is refused by name. Source: tracing notes, §6.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from nki_mlir.frontend.errors import NKITypeError
from nki_mlir.frontend.functions import assign
from nki_mlir.nki_legacy import language as nl

Function = Callable[..., Any]

UFUNCS: dict[str, Function] = {
    "add": nl.add,
    "subtract": nl.subtract,
    "multiply": nl.multiply,
    "divide": nl.divide,
    "true_divide": nl.divide,
    "maximum": nl.maximum,
    "minimum": nl.minimum,
    "power": nl.power,
    "remainder": nl.mod,
    "equal": nl.equal,
    "not_equal": nl.not_equal,
    "greater": nl.greater,
    "greater_equal": nl.greater_equal,
    "less": nl.less,
    "less_equal": nl.less_equal,
    "logical_and": nl.logical_and,
    "logical_or": nl.logical_or,
    "logical_xor": nl.logical_xor,
    "logical_not": nl.logical_not,
    "bitwise_and": nl.bitwise_and,
    "bitwise_or": nl.bitwise_or,
    "bitwise_xor": nl.bitwise_xor,
    "invert": nl.invert,
    "left_shift": nl.left_shift,
    "right_shift": nl.right_shift,
    "exp": nl.exp,
    "log": nl.log,
    "sqrt": nl.sqrt,
    "tanh": nl.tanh,
    "sin": nl.sin,
    "cos": nl.cos,
    "tan": nl.tan,
    "arctan": nl.arctan,
    "sign": nl.sign,
    "absolute": nl.abs,
    "negative": nl.negative,
    "square": nl.square,
    "reciprocal": nl.reciprocal,
    "floor": nl.floor,
    "ceil": nl.ceil,
    "trunc": nl.trunc,
}


def _broadcast_to(array: Any, shape: Any) -> Any:
    return nl.broadcast_to(array, shape=shape)


REDUCTIONS: dict[str, Function] = {"add": nl.sum, "multiply": nl.prod, "maximum": nl.max, "minimum": nl.min}
FUNCTIONS: dict[str, Function] = {
    "max": nl.max,
    "amax": nl.max,
    "min": nl.min,
    "amin": nl.min,
    "sum": nl.sum,
    "prod": nl.prod,
    "mean": nl.mean,
    "var": nl.var,
    "all": nl.all,
    "where": nl.where,
    "transpose": nl.transpose,
    "expand_dims": nl.expand_dims,
    "broadcast_to": _broadcast_to,
    "copy": nl.copy,
}


def ufunc(function: Any, method: str, inputs: Sequence[Any], out: Any, options: Mapping[str, Any]) -> Any:
    """Returns what a numpy ufunc gives for tiles; `out=` is written in place.

    Raises:
        NKITypeError: NKI has no such function, or it does not take the option or the method.
    """
    name = str(function.__name__)
    held = dict(options)
    dtype = held.pop("dtype", None)
    if method == "reduce":
        axis, keepdims = held.pop("axis", 0), bool(held.pop("keepdims", False))
        found = REDUCTIONS.get(name)
        refuse(f"numpy.{name}.reduce", found, held)
        assert found is not None
        result = found(inputs[0], axis, dtype=dtype, keepdims=keepdims)
    elif method == "__call__":
        found = UFUNCS.get(name)
        refuse(f"numpy.{name}", found, held)
        assert found is not None
        result = found(*inputs, dtype=dtype) if dtype is not None else found(*inputs)
    else:
        raise NKITypeError(f"numpy.{name}.{method} does not work on tiles", rule="numpy")
    if out is None:
        return result
    assign(out[0], result)
    return out[0]


def function(function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """Returns what a numpy function gives for tiles.

    Raises:
        NKITypeError: NKI has no such function, or it does not take the option.
    """
    module, name = str(function.__module__), str(function.__name__)
    found = FUNCTIONS.get(name) if module == "numpy" else None
    known = {"axis", "dtype", "keepdims", "shape"}
    refuse(f"{module}.{name}", found, {key: value for key, value in kwargs.items() if key not in known})
    assert found is not None
    return found(*args, **kwargs)


def refuse(name: str, found: Function | None, options: Mapping[str, Any]) -> None:
    """Raises NKITypeError if there is no such function, or an option is left."""
    if found is None:
        raise NKITypeError(f"{name} does not work on tiles; use a function of nl", rule="numpy")
    if options:
        raise NKITypeError(f"{name}: unsupported arguments: {', '.join(sorted(options))}", rule="unsupported_args")

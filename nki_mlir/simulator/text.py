"""Arrays as text, for people and for FileCheck.

    y : 2x3xf32
    [[0.0, 0.5, -1.25],
     [inf, nan, 1e-07]]

Whole numbers are exact, others the shortest decimal that reads back as the same element of its dtype; the bits of x4
types are integers. Arrays of more than `limit` elements show three at each end of a dimension, as numpy does.
"""

import math
import sys
from typing import Any

import numpy as np

from nki_mlir.isa.dtypes import Dtype
from nki_mlir.simulator.memory import Array

DEFAULT_LIMIT = 1000
_EDGE = 3
_EXACT = 1e7
"""Whole numbers below this are written out; a greater one may be shorter."""


def array_text(name: str, array: Array, dtype: Dtype, limit: int = DEFAULT_LIMIT) -> str:
    """Returns the text of a named array, ending in a line break."""
    head = f"{name} : {''.join(f'{size}x' for size in array.shape)}{dtype}\n"
    element = np.dtype(array.dtype).type

    def shown(value: Any) -> str:
        return _shortest(value, element) if dtype.is_float else str(int(value))

    body = np.array2string(
        array,
        threshold=limit,
        edgeitems=_EDGE,
        separator=", ",
        max_line_width=sys.maxsize,
        formatter={"all": shown},
    )
    return f"{head}{body}\n"


def _shortest(value: Any, element: Any) -> str:
    """Returns the shortest decimal text that converts back to the same float."""
    number = float(value)
    if not math.isfinite(number) or (number.is_integer() and abs(number) < _EXACT):
        return repr(number)
    for digits in range(1, 18):
        text = f"{number:.{digits}g}"
        if float(element(float(text))) == number:
            break
    else:
        text = repr(number)
    return repr(float(text))

"""What the `dtype` of a tensor of the older API is: numpy's, known in dictionaries by the API's own names.

Source: NKI ISA reference, §3.1.
"""

from functools import cache
from typing import Any

import numpy as np

from nki_mlir.isa.dtypes import Dtype


class ElementType:
    """An element type with the attributes of its numpy dtype, such as `itemsize` and `name`.

    It equals what numpy's own would equal: the dtype, the scalar type, the name. Its hash is that of the API's value,
    so that `{nl.float32: 4}[x.dtype]` finds it; numpy's dtypes have another hash than their scalar types.
    """

    __slots__ = ("_token", "dtype")

    def __init__(self, token: Any) -> None:
        self._token = token
        self.dtype: np.dtype[Any] = np.dtype(token)

    def __eq__(self, other: object) -> bool:
        return self.dtype == (other.dtype if isinstance(other, ElementType) else other)

    def __hash__(self) -> int:
        return hash(self._token)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.dtype, name)

    def __repr__(self) -> str:
        return repr(self.dtype)

    def __str__(self) -> str:
        return str(self.dtype)


@cache
def type_of_tensor(element: Dtype, boolean: bool) -> ElementType:
    """Returns the type that kernels see; `boolean` tells truth values from other u8."""
    if boolean:
        return ElementType(np.bool_)
    return ElementType(np.dtype("|V4") if element is Dtype.F32R else element.numpy.type)

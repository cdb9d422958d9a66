"""`neuronxcc.nki.typing`: annotations of parameters, and descriptions of arrays.

`tensor[128, 512]` annotates a tensor that the kernel only reads, with its shape; `mutable_tensor` one that it may
write. `tensor[[128, 512], nl.bfloat16]` describes an array by shape and type, for functions that need no values.
"""

from typing import Any


class Annotation:
    """What `tensor[...]` and `mutable_tensor[...]` give: shape and type, None where unknown."""

    __slots__ = ("dtype", "mutable", "shape")

    def __init__(self, mutable: bool, shape: tuple[int, ...] | None = None, dtype: Any = None) -> None:
        self.mutable = mutable
        self.shape = shape
        self.dtype = dtype

    def __getitem__(self, key: Any) -> Any:
        entries: Any = key
        given: Any = entries if isinstance(key, tuple) else (entries,)
        if isinstance(given[0], list | tuple):
            shape = tuple(int(size) for size in given[0])
            return Annotation(self.mutable, shape, given[1] if len(given) > 1 else None)
        return Annotation(self.mutable, tuple(int(size) for size in given))

    def __repr__(self) -> str:
        name = "mutable_tensor" if self.mutable else "tensor"
        return f"{name}[{', '.join(str(size) for size in self.shape)}]" if self.shape else name


tensor = Annotation(False)
mutable_tensor = Annotation(True)
scalar = Any
"""A number that is known when the kernel runs."""

__all__ = ["mutable_tensor", "scalar", "tensor"]

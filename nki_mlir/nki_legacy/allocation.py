"""The memories of `neuronxcc.nki.compiler`: `sbuf.auto_alloc()` places tiles by itself.

Source: NKI ISA reference, §4.2.
"""

from typing import Any, NoReturn

from nki_mlir.frontend.errors import NKINotImplementedError
from nki_mlir.isa.enums import MemorySpace


class Memory:
    """A memory on chip as `buffer=` argument; `space` is the memory."""

    def __init__(self, space: MemorySpace) -> None:
        self.space = space

    def auto_alloc(self) -> MemorySpace:
        """Returns the memory with places chosen by the compiler."""
        return self.space

    def alloc(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Refused: tiles are placed by the compiler."""
        self._refuse("alloc")

    def mod_alloc(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Refused: tiles are placed by the compiler."""
        self._refuse("mod_alloc")

    def _refuse(self, name: str) -> NoReturn:
        raise NKINotImplementedError(f"{self.space}.{name} is not supported by this front end", rule="unsupported")


sbuf, psum = Memory(MemorySpace.SBUF), Memory(MemorySpace.PSUM)

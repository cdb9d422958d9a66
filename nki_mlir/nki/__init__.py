"""The user's API, current generation: `nki.jit`, `nki.simulate`, `nki.language`, `nki.isa`, `nki.compiler`.

`nki_mlir.compat.install()` makes it importable as `nki`.
"""

from nki_mlir.nki import compiler, dtype, isa, language
from nki_mlir.nki.compile import jit, simulate
from nki_mlir.nki.objects import NKIObject
from nki_mlir.nki.tensor import NkiTensor

__all__ = ["NKIObject", "NkiTensor", "compiler", "dtype", "isa", "jit", "language", "simulate"]
__version__ = "0.6.0"

"""The user's API, older generation: what `neuronxcc.nki` offers, on the same front end as `nki_mlir.nki`.

`nki_mlir.compat.install()` makes it importable as `neuronxcc.nki`.
"""

from nki_mlir.nki_legacy import compiler, isa, language, typing
from nki_mlir.nki_legacy.compile import baremetal, benchmark, jit, profile, simulate_kernel, trace
from nki_mlir.nki_legacy.tensor import LegacyTile as tensor

__all__ = [
    "baremetal",
    "benchmark",
    "compiler",
    "isa",
    "jit",
    "language",
    "profile",
    "simulate_kernel",
    "tensor",
    "trace",
    "typing",
]
__version__ = "0.1.0"

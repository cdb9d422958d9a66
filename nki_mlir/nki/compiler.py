"""`nki.compiler`: options of kernels and scopes."""

from nki_mlir.frontend.decorators import (
    allocation_scope,
    enable_stack_allocator,
    force_auto_alloc,
    multi_buffer,
    no_reorder,
    skip_middle_end_transformations,
)
from nki_mlir.frontend.unsupported import refusing
from nki_mlir.isa.enums import MemorySpace

sbuf, psum = MemorySpace.SBUF, MemorySpace.PSUM

__all__ = [
    "allocation_scope",
    "enable_stack_allocator",
    "force_auto_alloc",
    "multi_buffer",
    "no_reorder",
    "psum",
    "sbuf",
    "skip_middle_end_transformations",
]

UNSUPPORTED = ("allocated_psum", "allocated_sbuf")
"""Functions of the API that this front end does not have; they can be imported, and refuse to be called."""

__getattr__ = refusing("nki.compiler", "nki.compiler", UNSUPPORTED)

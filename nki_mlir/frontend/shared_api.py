"""Names of the API that mean the same in both generations; `nl` and `nisa` of each show them.

What differs stays with its generation, even where most of it is alike: an enum with a member more or another number.
"""

from enum import IntEnum

from nki_mlir.frontend.context import mark_nki_functions, nki_ctx
from nki_mlir.frontend.functions_operands import TileSize, current_target
from nki_mlir.isa.enums import MemorySpace

# `nl` -----------------------------------------------------------------------------------------------------------

sbuf, psum = MemorySpace.SBUF, MemorySpace.PSUM
hbm = private_hbm = MemorySpace.PRIVATE_HBM
shared_hbm = MemorySpace.SHARED_HBM
tile_size = TileSize()


def program_ndim() -> int:
    """Returns the number of axes of the launch grid."""
    return len(nki_ctx().grid)


# `nisa` ---------------------------------------------------------------------------------------------------------


class oob_mode(IntEnum):
    """What an indirect access out of bounds does."""

    error = 0
    skip = 1


class nc_version(IntEnum):
    """Hardware generations."""

    gen2 = 2
    gen3 = 3
    gen4 = 4


def get_nc_version() -> nc_version:
    """Returns the generation that the kernel is traced for, outside of a kernel the default one."""
    return nc_version(current_target().version)


mark_nki_functions(globals())

"""Options of a kernel, as the option decorators set them."""

from dataclasses import dataclass
from enum import Enum, IntEnum

from nki_mlir.isa.target import Target


class OptLevel(IntEnum):
    """How much of the middle end and of the allocators runs on a kernel."""

    default = 0
    skip_middle_end = 1
    skip_allocators = 2


class AllocatorType(Enum):
    """A user-space allocator."""

    stack = "stack"


@dataclass(frozen=True)
class CompileOpts:
    """The options of one kernel; decorators replace fields and make a new kernel.

    `skip_middle_end_transformations` drives `opt_level` through `skip_middle_end`, as the allocator's guard reads it.
    """

    allocator_type: AllocatorType | None = None
    force_auto_alloc: bool = False
    platform_target: Target | None = None
    skip_middle_end: OptLevel | None = None
    skip_allocators: OptLevel | None = None

    @property
    def opt_level(self) -> OptLevel:
        """The level that the options amount to."""
        return OptLevel.default if self.skip_middle_end is None else self.skip_middle_end

    @property
    def allocator_class(self) -> AllocatorType | None:
        """The allocator in use, None for the backend's own."""
        return self.allocator_type

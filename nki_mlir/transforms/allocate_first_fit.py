"""Assigns addresses in SBUF and PSUM."""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from nki_mlir.transforms.allocation.assign import assign
from nki_mlir.transforms.allocation.first_fit import first_fit


@dataclass(frozen=True)
class AllocateFirstFit(ModulePass):
    """Gives all storage in SBUF and PSUM a place, each at the lowest address that is free while it is live.

    Storage that has a place keeps it. `target` says how large the memories are; without it the module's generation
    does, or NEURON_PLATFORM_TARGET_OVERRIDE, or it is trn2. A module that names no generation gets that of the option;
    without the option it stays without one. Storage that does not fit is an error that leaves the module as it was.
    Works with and without loops; idempotent.
    """

    name = "allocate-first-fit"

    target: str | None = None

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        assign(op, first_fit, self.target)

"""The lowering of KLR to BIR, its rows grouped as the instructions are."""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from nki_mlir.dialects import klr
from nki_mlir.transforms.klr_to_bir import compute, memory, registers, structure, tensor_engine
from nki_mlir.transforms.lowering import Lowering

KLR_TO_BIR = Lowering((klr.KernelOp,), structure.ROWS, memory.ROWS, compute.ROWS, tensor_engine.ROWS, registers.ROWS)


@dataclass(frozen=True)
class ConvertKlrToBir(ModulePass):
    """Lowers KLR to BIR, one function a body; labels become blocks of the function.

    `target` makes the result a module for that generation; without it a module is for the generation that it names, or
    for none. An op that has no lowering is an error that leaves the module as it was. Idempotent: BIR stays as it is.
    """

    name = "convert-klr-to-bir"

    target: str | None = None

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        KLR_TO_BIR.run(op, self.target)

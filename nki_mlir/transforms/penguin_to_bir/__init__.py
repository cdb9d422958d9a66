"""The lowering of Penguin to BIR, its rows grouped as the instructions are."""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from nki_mlir.dialects import penguin
from nki_mlir.transforms.lowering import Lowering
from nki_mlir.transforms.penguin_to_bir import compute, memory, registers, structure, tensor_engine

PENGUIN_TO_BIR = Lowering(
    (penguin.ModuleOp,), structure.ROWS, memory.ROWS, compute.ROWS, tensor_engine.ROWS, registers.ROWS
)


@dataclass(frozen=True)
class ConvertPenguinToBir(ModulePass):
    """Lowers Penguin to BIR; loops stay loops.

    `target` makes the result a module for that generation; without it a module is for the generation that it names, or
    for none. An op that has no lowering is an error that leaves the module as it was. Idempotent: BIR stays as it is.
    """

    name = "convert-penguin-to-bir"

    target: str | None = None

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        PENGUIN_TO_BIR.run(op, self.target)

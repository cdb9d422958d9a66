"""Regions of BIR in which instructions keep their order: loops of one iteration marked `no_reorder`."""

from typing import cast

from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Block

from nki_mlir.dialects.attributes import IV
from nki_mlir.dialects.bir.structure import LoopOp
from nki_mlir.isa.enums import LoopKind

NO_REORDER = "no_reorder"


def ordered_region(body: Block, label: str | None = None) -> LoopOp:
    """Returns the region that holds a block without arguments; the label names its unused loop variable."""
    variable = body.insert_arg(IV, 0)
    variable.name_hint = label if label is not None and variable.is_valid_name(label) else "once"
    loop = cast(LoopOp, LoopOp.build_loop(range(0, 1), LoopKind.SEQUENTIAL, body))
    loop.attributes[NO_REORDER] = UnitAttr()
    return loop


def keeps_order(loop: LoopOp) -> bool:
    """Whether a loop stands for a region in which instructions keep their order."""
    return NO_REORDER in loop.attributes

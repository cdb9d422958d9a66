"""The way from what a front end builds, or a file holds, to BIR that runs."""

from collections.abc import Iterable

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from nki_mlir.diagnostics import NkiError
from nki_mlir.isa.target import Target


def lower_to_bir(
    ctx: Context,
    module: ModuleOp,
    *,
    target: Target | str | None = None,
    unroll: bool = False,
    allocate: bool = True,
) -> None:
    """Lowers the Penguin and KLR modules inside a module to BIR, in place; BIR that is there already stays.

    Then loops are unrolled and storage is placed, if asked for. `target` is the generation to lower for, by default
    that of each module, see the passes. Raises NkiError where a pass does, and if there is nothing of the three
    dialects in the module.
    """
    from nki_mlir.transforms.allocate_first_fit import AllocateFirstFit
    from nki_mlir.transforms.unroll import Unroll

    option = target.name if isinstance(target, Target) else target
    held = {op.name.partition(".")[0] for op in _contents(module)}
    if not held & {"penguin", "klr", "bir"}:
        raise NkiError("expected a penguin.module, klr.kernel or bir.module, found none of them")
    if "penguin" in held:
        from nki_mlir.transforms.penguin_to_bir import ConvertPenguinToBir

        ConvertPenguinToBir(option).apply(ctx, module)
    if "klr" in held:
        from nki_mlir.transforms.klr_to_bir import ConvertKlrToBir

        ConvertKlrToBir(option).apply(ctx, module)
    if unroll:
        Unroll().apply(ctx, module)
    if allocate:
        AllocateFirstFit(option).apply(ctx, module)


def _contents(module: ModuleOp) -> Iterable[Operation]:
    """Yields the ops that stand in a module, or in a module inside it."""
    for op in module.ops:
        if isinstance(op, ModuleOp):
            yield from _contents(op)
        else:
            yield op

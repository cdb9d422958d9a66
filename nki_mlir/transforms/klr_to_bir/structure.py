"""KLR to BIR: kernels, bodies, blocks, branches, tensors.

Each body becomes a function; the storage that it declares stands at the head of its first block. Labelled blocks
become blocks of the function, and their labels the targets of its branches. A block that is only reached by going
straight on from the one before it has no need of one of its own and joins that one. So a kernel without branches is one
block, and a block that keeps the order of its instructions is a loop of one iteration marked `no_reorder`, as it is for
Penguin.

A tensor is an input or output of the module as the lists of the kernel have it; one in both is an input, which the
kernel writes. BIR has no place for the order that `edges` ask for beside that of the text, nor for the file of a
constant: they stay as the attributes `nki.edges` of the module and `nki.file` of the tensor.

Sources: KLR reference, §1.3 and §5.
"""

from collections.abc import Sequence
from itertools import pairwise

from xdsl.dialects.builtin import ArrayAttr, StringAttr
from xdsl.ir import Block, Operation

from nki_mlir.dialects import bir, klr
from nki_mlir.dialects.attributes import TensorKindAttr
from nki_mlir.dialects.bir.structure import function
from nki_mlir.isa.enums import TensorKind
from nki_mlir.transforms.lowering import Conversion, Row, move, placed_by_user
from nki_mlir.transforms.ordered import ordered_region

EDGES, FILE = "nki.edges", "nki.file"


# Kernels and tensors ---------------------------------------------------------------------------------------------


def _names(listed: ArrayAttr[StringAttr] | None) -> list[str]:
    return [] if listed is None else [name.data for name in listed]


def _kernel(op: klr.KernelOp, conversion: Conversion) -> Sequence[Operation]:
    bodies = sum(isinstance(body, klr.BodyOp) for body in op.body.ops)
    shared = _names(op.shared_buffers) if bodies > 1 else []
    conversion.kinds = {
        **dict.fromkeys(shared, TensorKind.INTERNAL_INTERFACE),
        **dict.fromkeys(_names(op.outputs), TensorKind.EXTERNAL_OUTPUT),
        **dict.fromkeys(_names(op.inputs), TensorKind.EXTERNAL_INPUT),
    }
    module = move(op, bir.ModuleOp, drop=("inputs", "outputs", "shared_buffers", "edges"))
    if op.edges is not None:
        module.attributes[EDGES] = op.edges
    return (module,)


def _tensor(op: klr.TensorOp, conversion: Conversion) -> Sequence[Operation]:
    kind = conversion.kinds.get(op.sym.data)
    tensor = move(
        op,
        bir.TensorOp,
        drop=("address_name", "address_size", "address_rotation", "file"),
        add={**placed_by_user(op), **({} if kind is None else {"kind": TensorKindAttr(kind)})},
    )
    if op.file is not None:
        tensor.attributes[FILE] = op.file
    return (tensor,)


# Bodies and blocks -----------------------------------------------------------------------------------------------


def _branch(block: klr.BlockOp) -> klr.CmpBranchOp | None:
    last = block.body.block.last_op
    return last if isinstance(last, klr.CmpBranchOp) else None


def _check_body(op: klr.BodyOp) -> str | None:
    buffers: dict[str, bool] = {}
    for inner in op.body.block.ops:
        if isinstance(inner, klr.BlockOp):
            branch = _branch(inner)
            if inner.no_reorder and branch is not None and not branch.always:
                label = inner.label.data
                return f"has a conditional branch in block '{label}', which keeps the order of its instructions"
        elif isinstance(inner, klr.TensorOp):
            buffer = inner.sym.data if inner.address_name is None else inner.address_name.data
            placed = inner.places is not None and inner.mem.on_chip
            if buffer in buffers and not (placed and buffers[buffer]):
                return f"has a second tensor '{inner.sym.data}' in the buffer '{buffer}', which has no lowering to BIR"
            buffers[buffer] = placed
    return None


def _body(op: klr.BodyOp, conversion: Conversion) -> Sequence[Operation]:
    storage = [inner for inner in op.body.block.ops if not isinstance(inner, klr.BlockOp)]
    blocks = [inner for inner in op.body.block.ops if isinstance(inner, klr.BlockOp)]
    entered, joined = _flow(blocks)
    made: list[Block] = []
    conversion.labels = {}
    for number, block in enumerate(blocks, 1):
        inside = _take(block, number < len(blocks) and blocks[number] in joined, conversion)
        if block in joined:
            for inner in list(inside.ops):
                inner.detach()
                made[-1].add_op(inner)
        else:
            made.append(inside)
            label = block.label.data
            inside.name_hint = label if inside.is_valid_name(label) else None
        conversion.labels[block.label.data] = made[-1]
    if not blocks or blocks[0].label.data in entered:
        made.insert(0, Block())  # no branch may go to the first block of a function
    _declare(storage, made[0])
    _finish(made, op)
    core = op.core.value.data
    return (function(f"sg{core:04d}", made, core),)


def _take(block: klr.BlockOp, goes_on: bool, conversion: Conversion) -> Block:
    """Returns the statements of a labelled block, without its branch if it goes on into the next block anyway."""
    branch = _branch(block)
    if branch is not None and goes_on:
        conversion.rewriter.erase(branch)
        branch = None
    inside = block.body.detach_block(block.body.block)
    if block.no_reorder:
        if branch is not None:
            branch.detach()
        region = ordered_region(inside, block.label.data)
        region.location = block.location
        inside = Block([region] if branch is None else [region, branch])
    conversion.rewriter.erase(block)
    return inside


def _declare(storage: Sequence[Operation], block: Block) -> None:
    """Moves the storage of a body to the head of its first block."""
    first = block.first_op
    for declaration in storage:
        declaration.detach()
        if first is None:
            block.add_op(declaration)
        else:
            block.insert_op_before(declaration, first)


def _finish(made: Sequence[Block], body: klr.BodyOp) -> None:
    """Ends each block that has no branch by one to the next block, the last one by a return; one block needs no end."""
    for block, following in zip(made, [*made[1:], None], strict=True):
        if isinstance(block.last_op, klr.CmpBranchOp):
            continue
        if following is not None:
            block.add_op(bir.UnconditionalBranchOp.create(successors=[following], location=body.location))
        elif len(made) > 1:
            block.add_op(bir.ReturnOp.create(location=body.location))


def _flow(blocks: Sequence[klr.BlockOp]) -> tuple[set[str], set[klr.BlockOp]]:
    """Returns the labels that branches go to, and the blocks that are only reached by going straight on from the block
    before."""
    entries: dict[str, int] = {}
    for block in blocks:
        branch = _branch(block)
        for label in [] if branch is None else branch.targets():
            entries[label] = entries.get(label, 0) + 1
    joined: set[klr.BlockOp] = set()
    for before, block in pairwise(blocks):
        branch, label = _branch(before), block.label.data
        if branch is None:
            straight = label not in entries
        else:
            straight = branch.targets() == [label] and entries[label] == 1
        if straight:
            joined.add(block)
    return set(entries), joined


def _cmp_branch(op: klr.CmpBranchOp, conversion: Conversion) -> Sequence[Operation]:
    targets = [conversion.labels[label] for label in op.targets()]
    if op.always:
        return (bir.UnconditionalBranchOp.create(successors=targets),)
    properties = {k: v for k, v in op.properties.items() if k not in ("true_label", "false_label")}
    return (
        bir.CompareAndBranchOp.create(
            operands=op.operands, properties=properties, attributes=op.attributes, successors=targets
        ),
    )


def _check_cmp_branch(op: klr.CmpBranchOp) -> str | None:
    if isinstance(op.parent_op(), klr.BlockOp):
        return None
    return f"stands outside of a klr.block, so that nothing says where '{op.targets()[0]}' is"


def _never(op: klr.BlockOp, _: Conversion) -> Sequence[Operation]:
    raise AssertionError("blocks are taken apart with the body around them")


ROWS = (
    Row(klr.KernelOp, _kernel),
    Row(klr.BodyOp, _body, _check_body),
    Row(klr.BlockOp, _never),
    Row(klr.CmpBranchOp, _cmp_branch, _check_cmp_branch),
    Row(klr.TensorOp, _tensor),
)

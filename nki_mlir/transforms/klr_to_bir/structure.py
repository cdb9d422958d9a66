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

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, StringAttr
from xdsl.ir import Block, Operation

from nki_mlir.dialects import bir, klr
from nki_mlir.dialects.attributes import TensorKindAttr
from nki_mlir.dialects.bir.structure import function
from nki_mlir.dialects.structure import RegisterOp, StorageOp
from nki_mlir.isa.enums import BranchCompareOp, TensorKind
from nki_mlir.transforms.lowering import Conversion, Row, move
from nki_mlir.transforms.ordered import ordered_region

EDGES, FILE = "nki.edges", "nki.file"


# Kernels and tensors ---------------------------------------------------------------------------------------------


def _names(listed: ArrayAttr[StringAttr] | None) -> list[str]:
    return [] if listed is None else [name.data for name in listed]


def _check_kernel(op: klr.KernelOp) -> str | None:
    bodies = [body for body in op.body.ops if isinstance(body, klr.BodyOp)]
    cores = [body.core.value.data for body in bodies]
    if len(set(cores)) < len(cores):
        twice = next(core for core in cores if cores.count(core) > 1)
        return f"has two bodies for core {twice}"
    if bodies:
        declared = {tensor.sym.data for body in bodies for tensor in _storage(body)}
        for what, listed in (("inputs", op.inputs), ("outputs", op.outputs)):
            for name in _names(listed):
                if name not in declared:
                    return f"lists '{name}' among its {what}, but no body has a tensor of that name"
    return None


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
        add={} if kind is None else {"kind": TensorKindAttr(kind)},
    )
    if op.file is not None:
        tensor.attributes[FILE] = op.file
    return (tensor,)


def _storage(body: klr.BodyOp) -> Iterator[klr.TensorOp]:
    return (op for op in body.body.block.ops if isinstance(op, klr.TensorOp))


# Bodies and blocks -----------------------------------------------------------------------------------------------


def _branch(block: klr.BlockOp) -> klr.CmpBranchOp | None:
    last = block.body.block.last_op
    return last if isinstance(last, klr.CmpBranchOp) else None


def _targets(branch: klr.CmpBranchOp) -> list[str]:
    """Returns the labels that a branch may go to."""
    if _always(branch):
        return [branch.true_label.data]
    return [branch.true_label.data, cast(StringAttr, branch.false_label).data]


def _always(branch: klr.CmpBranchOp) -> bool:
    return branch.comp_op.data is BranchCompareOp.ALWAYS


def _check_body(op: klr.BodyOp) -> str | None:
    labels: set[str] = set()
    buffers: dict[str, bool] = {}
    blocks: list[klr.BlockOp] = []
    for inner in op.body.block.ops:
        if isinstance(inner, klr.BlockOp):
            if inner.label.data in labels:
                return f"has two blocks with the label '{inner.label.data}'"
            labels.add(inner.label.data)
            blocks.append(inner)
        elif isinstance(inner, klr.TensorOp):
            buffer = inner.sym.data if inner.address_name is None else inner.address_name.data
            placed = inner.places is not None and inner.mem.on_chip
            if buffer in buffers and not (placed and buffers[buffer]):
                return f"has a second tensor '{inner.sym.data}' in the buffer '{buffer}', which has no lowering to BIR"
            buffers[buffer] = placed
        elif not isinstance(inner, StorageOp | RegisterOp):
            return f"holds '{inner.name}' outside of its blocks"
    for block in blocks:
        branch = _branch(block)
        unknown = [] if branch is None else [label for label in _targets(branch) if label not in labels]
        if unknown:
            return f"has no block '{unknown[0]}', to which block '{block.label.data}' branches"
        if block.no_reorder and branch is not None and not _always(branch):
            return f"has a conditional branch in block '{block.label.data}', which keeps the order of its instructions"
    return None


def _check_branch(op: klr.CmpBranchOp) -> str | None:
    if isinstance(op.parent_op(), klr.BlockOp) and op.next_op is None:
        return None
    return "must be the last statement of a block"


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
        for label in [] if branch is None else _targets(branch):
            entries[label] = entries.get(label, 0) + 1
    joined: set[klr.BlockOp] = set()
    for before, block in pairwise(blocks):
        branch, label = _branch(before), block.label.data
        if branch is None:
            straight = label not in entries
        else:
            straight = _targets(branch) == [label] and entries[label] == 1
        if straight:
            joined.add(block)
    return set(entries), joined


def _cmp_branch(op: klr.CmpBranchOp, conversion: Conversion) -> Sequence[Operation]:
    targets = [conversion.labels[label] for label in _targets(op)]
    if _always(op):
        return (bir.UnconditionalBranchOp.create(successors=targets),)
    properties = {k: v for k, v in op.properties.items() if k not in ("true_label", "false_label")}
    return (
        bir.CompareAndBranchOp.create(
            operands=op.operands, properties=properties, attributes=op.attributes, successors=targets
        ),
    )


def _never(op: klr.BlockOp, _: Conversion) -> Sequence[Operation]:
    raise AssertionError("blocks are taken apart with the body around them")


ROWS = (
    Row(klr.KernelOp, _kernel, _check_kernel),
    Row(klr.BodyOp, _body, _check_body),
    Row(klr.BlockOp, _never),
    Row(klr.CmpBranchOp, _cmp_branch, _check_branch),
    Row(klr.TensorOp, _tensor),
)

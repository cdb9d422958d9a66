"""Whether every operand in a function has a value where it is used: dominance, as MLIR defines it.

A value is visible behind its op in the same block, in the regions of the ops there, and in the blocks that control
reaches only through its own. Functions see nothing of what is outside of them. One walk over the ops keeps the set of
what is visible.
"""

from collections.abc import Iterator, Sequence

from xdsl.ir import Block, Operation, Region
from xdsl.traits import IsolatedFromAbove

from nki_mlir.dialects.places import blame


class IsolatedFunction(IsolatedFromAbove):
    """The op is isolated from above, which `verify_dominance` finds out in its one walk."""

    def verify(self, op: Operation) -> None:
        """Leaves it to the verifier of the op."""


def verify_dominance(function: Operation) -> None:
    """Raises `VerifyException`, about the op of the use, for the first operand without a value where it is used."""
    for region in function.regions:
        found = _in_region(region, set())
        if found is None:
            continue
        op, number = found
        where = "does not dominate this use"
        if not function.is_ancestor(op.operands[number].owner):
            where = f"is defined outside of the '{function.name}' op"
        blame(op, f"operand #{number} {where}")


_Use = tuple[Operation, int]
"""An op and the number of one of its operands."""


def _in_region(region: Region, visible: set[int]) -> _Use | None:
    """Returns the first operand in a region that is not visible there; what the region defines is forgotten again.

    Values are known by their `id`: the hash that they have themselves is a call of Python code.
    """
    blocks = list(region.blocks)
    if len(blocks) == 1:
        defined: list[int] = []
        found = _in_block(blocks[0], visible, defined)
        visible.difference_update(defined)
        return found
    around: list[list[int]] = []
    for block, depth in _dominator_tree(blocks):
        while len(around) > depth:
            visible.difference_update(around.pop())
        around.append([])
        if (found := _in_block(block, visible, around[-1])) is not None:
            return found
    for defined in around:
        visible.difference_update(defined)
    return None


def _in_block(block: Block, visible: set[int], defined: list[int]) -> _Use | None:
    """Returns the first operand in a block that is not visible; adds what the block defines."""
    for argument in block.args:
        visible.add(id(argument))
        defined.append(id(argument))
    op = block.first_op
    while op is not None:
        # The view that `op.operands` is would be half of the cost.
        operands = op._operands  # pyright: ignore[reportPrivateUsage]
        if operands and not visible.issuperset(map(id, operands)):
            return op, next(number for number, operand in enumerate(operands) if id(operand) not in visible)
        if op.regions:
            for region in op.regions:
                if (found := _in_region(region, visible)) is not None:
                    return found
        if op.results:
            for result in op.results:
                visible.add(id(result))
                defined.append(id(result))
        op = op.next_op
    return None


def _dominator_tree(blocks: Sequence[Block]) -> Iterator[tuple[Block, int]]:
    """Yields the blocks of a region with their depth in the tree of dominators, each before those it dominates.

    Blocks that control never reaches count as if the entry branched to them: they see what it defines.

    Source: Cooper, Harvey and Kennedy, A Simple, Fast Dominance Algorithm.
    """
    if not blocks:
        return
    entry = blocks[0]
    sources: dict[Block, list[Block]] = {block: [] for block in blocks}
    roots: dict[Block, Block] = {}
    order = _postorder(entry, sources, roots)
    unreached: list[Block] = []
    for block in blocks:
        if block not in roots:
            unreached += _postorder(block, sources, roots)
            sources[block].append(entry)
    order = unreached + order
    number = {block: place for place, block in enumerate(order)}
    for found in sources.values():
        found.sort(key=number.__getitem__)
    parents = {entry: entry}
    changed = True
    while changed:
        changed = False
        for block in reversed(order[:-1]):
            parent: Block | None = None
            for source in sources[block]:
                if source not in parents:
                    continue
                parent = source if parent is None else parent
                while parent is not source:
                    if number[parent] < number[source]:
                        parent = parents[parent]
                    else:
                        source = parents[source]
            if parent is not None and parents.get(block) is not parent:
                parents[block] = parent
                changed = True
    children: dict[Block, list[Block]] = {block: [] for block in blocks}
    for block in reversed(order[:-1]):
        children[parents[block]].append(block)
    open_blocks = [(entry, 0)]
    while open_blocks:
        block, depth = open_blocks.pop()
        yield block, depth
        open_blocks += [(child, depth + 1) for child in reversed(children[block])]


def _postorder(root: Block, sources: dict[Block, list[Block]], roots: dict[Block, Block]) -> list[Block]:
    """Returns the blocks that control newly reaches from a root, each behind those it leads to, and notes the root of
    each and from where it is reached.
    """
    order: list[Block] = []
    roots[root] = root
    stack = [(root, _successors(root))]
    while stack:
        block, rest = stack[-1]
        following = next(rest, None)
        if following is None:
            order.append(block)
            stack.pop()
        elif following in sources and roots.setdefault(following, root) is root:
            if not sources[following] and following is not root:
                stack.append((following, _successors(following)))
            sources[following].append(block)
    return order


def _successors(block: Block) -> Iterator[Block]:
    return iter(()) if block.last_op is None else iter(block.last_op.successors)

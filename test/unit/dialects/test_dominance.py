"""Dominance against its definition: a block dominates another if control cannot get there around it."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.dialects import test
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Block, Region
from xdsl.utils.exceptions import VerifyException

from nki_mlir.dialects import bir
from nki_mlir.dialects.attributes import IV, REG
from nki_mlir.dialects.dominance import verify_dominance
from nki_mlir.dialects.verifier import operation_of, verify_module
from nki_mlir.isa.enums import LoopKind


def reached(edges: list[list[int]], without: int | None = None) -> set[int]:
    """The blocks that control gets to from block 0 without passing one."""
    found: set[int] = set()
    waiting = [0] if without != 0 else []
    while waiting:
        block = waiting.pop()
        if block not in found:
            found.add(block)
            waiting += [following for following in edges[block] if following != without]
    return found


def function(edges: list[list[int]], uses: list[tuple[int, int]]) -> tuple[test.TestOp, list[test.TestOp]]:
    """A function whose blocks define a register each; of `uses`, a block uses the register of another in a region."""
    blocks = [Block() for _ in edges]
    registers = [bir.RegisterOp.create(properties={"name": StringAttr("r")}, result_types=[REG]) for _ in edges]
    for block, register in zip(blocks, registers, strict=True):
        block.add_op(register)
    ops: list[test.TestOp] = []
    for user, definer in uses:
        ops.append(test.TestOp([registers[definer].results[0]]))
        blocks[user].add_op(test.TestOp(regions=[Region(Block([ops[-1]]))]))
    for block, following in zip(blocks, edges, strict=True):
        block.add_op(test.TestTermOp(successors=[blocks[number] for number in following]))
    return test.TestOp(regions=[Region(blocks)]), ops


@given(seed=st.integers(0, 10**6))
@settings(max_examples=40, deadline=None)
def test_random_graphs(seed: int) -> None:
    source = random.Random(seed)
    count = source.randint(2, 7)
    edges = [[source.randrange(1, count) for _ in range(source.choice([0, 1, 1, 2, 2]))] for _ in range(count)]
    everything = reached(edges)
    for user in range(count):
        for definer in range(count):
            op, (use,) = function(edges, [(user, definer)])
            if user in everything:
                right = definer == user or user not in reached(edges, without=definer)
            elif definer in (0, user):
                right = True
            else:
                continue  # between blocks that nothing branches to there is no dominance to speak of
            if right:
                verify_dominance(op)
                continue
            with pytest.raises(VerifyException) as caught:
                verify_dominance(op)
            assert str(caught.value) == "Operation test.op operand #0 does not dominate this use"
            assert operation_of(caught.value) is use


def test_many_blocks_and_deep_trees() -> None:
    """A ladder: each block leads to the next and to the end, uses the first one's register and that before it."""
    count = 800
    edges = [[number + 1, count - 1] for number in range(count - 1)] + [[]]
    op, _ = function(edges, [(n, m) for n in range(1, count - 1) for m in (0, n - 1)])
    verify_dominance(op)
    op, (use,) = function(edges, [(count - 1, count - 2)])
    with pytest.raises(VerifyException) as caught:
        verify_dominance(op)
    assert operation_of(caught.value) is use


def test_the_error_is_about_the_use() -> None:
    """As in IR that a pass or a program builds: out of a loop's body, after the loop."""
    register = bir.RegisterOp.create(properties={"name": StringAttr("r")}, result_types=[REG])
    body = Block([register], arg_types=[IV])
    use = test.TestOp([register.results[0]])
    loop = bir.LoopOp.build_loop(range(2), LoopKind.AFFINE, body)
    func = bir.FuncOp.create(properties={"sym_name": StringAttr("f")}, regions=[Region(Block([loop, use]))])
    inner = bir.ModuleOp.create(properties={"sym_name": StringAttr("m")}, regions=[Region(Block([func]))])
    with pytest.raises(ExceptionGroup) as caught:
        verify_module(ModuleOp([inner]))
    assert [str(error) for error in caught.value.exceptions] == ["'test.op' op operand #0 does not dominate this use"]

"""Ops that are legal in the same way as one before are not looked at again; the verdict is the same as without that."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from parsing import instructions, parse
from strategies import relaxed
from xdsl.dialects.builtin import i32
from xdsl.utils.exceptions import VerifyException

from nki_mlir.dialects.access import Access
from nki_mlir.dialects.instruction import InstructionOp
from nki_mlir.dialects.verifier import verify_module

OF_ONE = ["0", "3", "32", "%i", "8*%i", "8*%i + 2", "8*%j", "64*%i - 4", "32*%i"]
OFFSETS = st.sampled_from([*OF_ONE, "8*%i + 4*%j", "(%i floordiv 2)", "(%j mod 3)"])
ACCESSES = st.builds(
    "%{}[{} : {} | {} : {}] {}".format,
    st.sampled_from("xyp"),
    OFFSETS,
    st.sampled_from([32, 64]),
    OFFSETS,
    st.sampled_from(["16", "4*4", "0*2, 8"]),
    st.sampled_from(["f32", "bf16"]),
)
TEMPLATES = st.sampled_from(
    [
        "bir.tensor_copy on dve outs({0}) ins({1})",
        "bir.tensor_copy on act outs({0}) ins({0})",
        "bir.tensor_tensor add on dve outs({0}) ins({1}, {1})",
        "bir.tensor_scalar mult on dve outs({0}) ins({0}, operand0 = {3}.5 : f32)",
        "bir.activation exp on act outs({0}) ins({0}, bias = {1}, scale = {3}.5 : f32)",
        "bir.matmult outs({0}) ins({1}, {2}) params(tile_position = [0, 32*%i + {3}], tile_size = [32, 32])",
    ]
)
LINES = st.builds(
    lambda template, *parts: template.format(*parts), TEMPLATES, ACCESSES, ACCESSES, ACCESSES, st.integers(0, 1)
)
LOOPS = (
    'bir.func @f {{ %x = bir.tensor "x" at <{}, 0> : !nki.mem<sbuf 64x64xf32>'
    ' %y = bir.tensor "y" : !nki.mem<sbuf 128x64xbf16> %p = bir.tensor "p" at <0, {}> : !nki.mem<psum 128x512xf32>'
    " bir.loop %i = 0 to {} step {} affine {{ bir.loop %j = 0 to {} step 1 affine {{ {} }} }} }}"
)
FUNCTIONS = st.builds(
    LOOPS.format,
    st.sampled_from([0, 32]),
    st.sampled_from([0, 8, 2048]),
    st.integers(0, 3),
    st.integers(1, 2),
    st.integers(1, 3),
    LINES,
)


def legal(verify: Callable[[], None]) -> bool:
    try:
        verify()
    except VerifyException:
        return False
    return True


BLOCKS = """bir.module @m { bir.func @f {
  %t = bir.tensor "t" : !nki.mem<sbuf 128x512xf32>
  bir.unconditional_branch ^a
^a:
  bir.memset "I-1" outs(%t[0 : 128 | 0 : 512] f32) ins(1.0 : f32)
  bir.memset "I-2" outs(%t[0 : 128 | 0 : 512] f32) ins(1.0 : f32)SUCCESSOR
  bir.loop %i = 0 to 4 step 1 affine { bir.memset outs(%t[0 : 128 | 128*%i : 128] f32) ins(1.0 : f32) }
  bir.loop %j = 0 to 4 step 1 affine { bir.memset outs(%t[0 : 128 | 128*%j : 128] f32) ins(1.0 : f32) }
  bir.return
} }"""


def test_a_successor_is_seen_whatever_was_found_legal_before() -> None:
    verify_module(parse(BLOCKS.replace("SUCCESSOR", "")))
    with pytest.raises(ExceptionGroup) as caught:
        verify_module(parse(BLOCKS.replace("SUCCESSOR", " [^a]")))
    assert [str(error) for error in caught.value.exceptions] == [
        "'bir.memset' op with block successors must terminate its parent block"
    ]


def change(op: InstructionOp, what: str) -> None:
    if what == "fewer values":
        op.operands = [op.operands[0]]
    elif what == "another type":
        object.__setattr__(op.operands[1], "_type", i32)
    elif what == "a pattern over more":
        op.properties["dst"] = Access.read("[0 : 128 | 128*d0 + d1 : 128] f32")
    else:
        op.operands[0].erase(safe_erase=False)


@pytest.mark.parametrize(
    "what, message",
    [
        ("fewer values", "dst needs 2 values in all, the op has 1"),
        ("another type", "dst is indexed by a value of type i32, not a loop variable or register"),
        ("a pattern over more", "dst needs 3 values in all, the op has 2"),
        ("no storage", "Erased SSA value is used by the operation"),
    ],
)
def test_what_a_signature_must_tell(what: str, message: str) -> None:
    module = parse(BLOCKS.replace("SUCCESSOR", ""))
    verify_module(module)
    op = instructions(module)[-2]
    assert op.name == "bir.memset"
    op.verify()
    change(op, what)
    with pytest.raises((VerifyException, ValueError), match=message):
        op.verify()


@given(st.lists(FUNCTIONS, min_size=1, max_size=4))
@relaxed
def test_the_verdict_is_the_same_whatever_was_found_legal_before(texts: list[str]) -> None:
    for text in texts:
        (op,) = instructions(parse(text))
        assert legal(op.verify) is legal(op.verify_)

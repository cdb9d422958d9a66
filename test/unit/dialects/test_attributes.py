"""The shared attributes and types: interning, numbers, enums, guards, storage types."""

import copy
import math
import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from parsing import CONTEXT
from strategies import expressions, relaxed
from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, StringAttr, UnitAttr, i64
from xdsl.ir import Attribute
from xdsl.parser import Parser
from xdsl.utils.exceptions import VerifyException

from nki_mlir.dialects import affine, attributes
from nki_mlir.dialects.access import Access, Pair
from nki_mlir.dialects.affine import ExprSyntaxError
from nki_mlir.dialects.attributes import (
    AluOpAttr,
    ArchAttr,
    ConditionAttr,
    ConditionFields,
    DtypeAttr,
    EnumAttr,
    ExprAttr,
    ExprFields,
    Immediate,
    MemFields,
    MemType,
    PatternAttr,
    PatternFields,
    RegisterAttr,
    value_of,
)
from nki_mlir.isa.dtypes import Dtype
from nki_mlir.isa.enums import AluOp, MemorySpace
from nki_mlir.isa.target import CAYMAN, TARGETS

ENUMS = [
    kind
    for kind in vars(attributes).values()
    if isinstance(kind, type) and issubclass(kind, EnumAttr) and kind is not EnumAttr
]

EXAMPLES: list[Attribute] = [
    MemType(MemFields(MemorySpace.SBUF, (128, 512), Dtype.BF16, 4)),
    MemType(MemFields(MemorySpace.HBM, (), Dtype.F32)),
    Immediate.of(2.5, Dtype.F32),
    Immediate.of(7, Dtype.I32),
    ExprAttr(ExprFields((affine.index(0), 3), True)),
    ExprAttr(ExprFields((4,))),
    ConditionAttr(ConditionFields(((affine.index(0), True), (affine.index(1), False)))),
    PatternAttr(PatternFields(((128, 4), (-1, 128)))),
    AluOpAttr(AluOp.ADD),
    DtypeAttr(Dtype.F8E5M2_X4),
    ArchAttr(CAYMAN),
    Access.read("[0 : 128 | 4*d0 : 512] f32"),
]


def parsed(text: str) -> Attribute:
    parser = Parser(CONTEXT, text)
    return parser.parse_type() if text.startswith("!") else parser.parse_attribute()


@pytest.mark.parametrize("attribute", EXAMPLES, ids=str)
def test_interned(attribute: Any) -> None:
    assert type(attribute)(attribute.data) is attribute
    assert copy.copy(attribute) is attribute
    assert copy.deepcopy(attribute) is attribute
    assert copy.deepcopy({"a": [attribute]})["a"][0] is attribute
    assert pickle.loads(pickle.dumps(attribute)) is attribute
    assert parsed(str(attribute)) is attribute
    assert {attribute: 1}[type(attribute)(attribute.data)] == 1


@pytest.mark.parametrize("kind", ENUMS, ids=lambda kind: kind.name)
def test_every_member_of_every_enum(kind: Any) -> None:
    for member in kind.ENUM:
        attribute = kind.of(member)
        assert parsed(f"#{kind.name}<{member}>") is attribute is kind.read(str(member))
        assert value_of(attribute) is member
    with pytest.raises(ExprSyntaxError, match="unknown"):
        kind.read("nonsense")


@pytest.mark.parametrize("dtype", Dtype)
def test_every_dtype(dtype: Dtype) -> None:
    assert parsed(f"#nki.dtype<{dtype}>") is DtypeAttr(dtype)
    mem = parsed(f"!nki.mem<hbm 4x{dtype}>")
    assert isinstance(mem, MemType)
    assert mem.dtype is dtype


@pytest.mark.parametrize("target", TARGETS)
def test_every_name_of_every_target(target: Any) -> None:
    for name in (target.name, target.generation, target.platform, *target.aliases):
        assert str(parsed(f"#nki.arch<{name}>")) == f"#nki.arch<{target.generation}>"


# Numbers ---------------------------------------------------------------------------------------------------------


@relaxed
@given(st.floats(), st.sampled_from([d for d in Dtype if d.is_float]))
def test_floats_read_back_bit_by_bit(value: float, dtype: Dtype) -> None:
    attribute = Immediate.of(value, dtype)
    again = parsed(str(attribute))
    assert again is attribute
    found = attribute.data.value
    assert isinstance(found, float)
    assert math.copysign(1, found) == math.copysign(1, value) or math.isnan(value)
    assert found == value or (math.isnan(found) and math.isnan(value))


@given(st.integers(-(1 << 63), (1 << 64) - 1))
def test_integers_read_back_or_do_not_fit(value: int) -> None:
    for dtype in (Dtype.U8, Dtype.I16, Dtype.I32, Dtype.U64, Dtype.I64):
        if dtype.min <= value <= dtype.max:
            assert parsed(str(Immediate.of(value, dtype))) is Immediate.of(value, dtype)
        else:
            with pytest.raises(VerifyException, match=f"{value} does not fit {dtype}"):
                Immediate.of(value, dtype)


def test_numbers_that_compare_equal_are_not_one() -> None:
    assert Immediate.of(0.0, Dtype.F32) is not Immediate.of(-0.0, Dtype.F32)
    assert Immediate.of(1.0, Dtype.F32) is not Immediate.of(1, Dtype.I32)
    assert Immediate.of(1.0, Dtype.F32) is not Immediate.of(1.0, Dtype.BF16)
    assert Immediate.of(math.nan, Dtype.F32) is Immediate.of(math.nan, Dtype.F32)
    assert Immediate.of(1, Dtype.F32) is Immediate.of(1.0, Dtype.F32)


@pytest.mark.parametrize("text", ["5e-324 : f32", "1e+400 : f32", "-inf : bf16", "nan : f16", "1 : f32", "-0.0 : f32"])
def test_spellings_of_numbers(text: str) -> None:
    attribute = Immediate.read(text)
    assert Immediate.read(attribute.text()) is attribute


@pytest.mark.parametrize(
    "text, message",
    [
        ("2.0", "expected a number with its type, such as 2.0 : f32"),
        ("2.0 : float", "unknown dtype 'float'"),
        ("1e : f32", "'1e' is no number of type f32"),
        ("1.0 : i32", "'1.0' is no number of type i32"),
        ("inf : i32", "'inf' is no number of type i32"),
        ("1" * 5000 + " : i32", f"'{'1' * 39}…' is no number of type i32"),
        ("1_000 : i32", "'1_000' is no number of type i32"),
        ("1_0.5 : f32", "'1_0.5' is no number of type f32"),
    ],
)
def test_mistakes_in_numbers(text: str, message: str) -> None:
    with pytest.raises(ExprSyntaxError) as caught:
        Immediate.read(text)
    assert message in str(caught.value)


# Expressions, guards, patterns -----------------------------------------------------------------------------------


@relaxed
@given(st.lists(expressions, max_size=3), st.booleans())
def test_expressions_read_back(values: list[Any], is_list: bool) -> None:
    if not is_list and len(values) != 1:
        return
    inside, _ = attributes.renumbered(tuple(values))
    attribute = ExprAttr(ExprFields(inside, is_list))
    assert parsed(str(attribute)) is attribute
    assert attribute.value() == (inside if is_list else inside[0])


def test_substitution_in_expressions_and_guards() -> None:
    attribute = ExprAttr.read("[d0, 4*d1 + 1]")
    assert attribute.at(lambda k: (7, affine.index(5))[k]) == (ExprAttr.read("[7, 4*d0 + 1]"), (5,))
    guard = ConditionAttr.read("d0 - 1 ge 0, d1 eq 0")
    assert guard.at(lambda k: (0, 0)[k]) == (False, ())
    assert guard.at(lambda k: (1, 0)[k]) == (True, ())
    assert guard.at(lambda k: (1, affine.index(9))[k]) == (ConditionAttr.read("d0 eq 0"), (9,))
    assert [guard.holds(values) for values in ([1, 0], [0, 0], [1, 1])] == [True, False, False]
    assert guard.text(["%i", "%j"]) == "%i - 1 ge 0, %j eq 0"


@pytest.mark.parametrize(
    "read, text, position, message",
    [
        (ExprAttr.read, "[1, 2 +]", 7, "expected a number"),
        (ExprAttr.read, "d1", None, "must be numbered d0, d1"),
        (ConditionAttr.read, "d0 ge 0, d1", 9, "expected a condition"),
        (ConditionAttr.read, "d0 ge 0, d0 + eq 0", 13, "expected a number"),
        (ConditionAttr.read, "d1 ge 0", None, "must be numbered d0, d1"),
        (PatternAttr.read, "1*4, 4", 5, "expected a pair step*number, found '4'"),
        (PatternAttr.read, "1*0", None, "must be positive, got 0"),
        (MemType.read, "sram 4xf32", 0, "unknown memory space 'sram'"),
        (MemType.read, "sbuf 4xf33", 7, "unknown dtype 'f33'; did you mean 'f32'?"),
        (MemType.read, "sbuf", 0, "expected a storage type such as sbuf 128x512xbf16"),
        (MemType.read, "sbuf 4x4", 7, "expected an element type, or a size and 'x' with at most 18 digits, got '4'"),
        (MemType.read, "sbuf -4xf32", 5, "with at most 18 digits, got '-4xf32'"),
        (MemType.read, "sbuf 4x?xf32", 7, "with at most 18 digits, got '?xf32'"),
        (MemType.read, "hbm 4x" + "9" * 31 + "xf32", 6, f"with at most 18 digits, got '{'9' * 30}'"),
        (MemType.read, "hbm 4xf32, 2", 9, "expected ', blocks' and a number of at most 18 digits, got ', 2'"),
        (MemType.read, "hbm 4x", 6, "with at most 18 digits, got nothing"),
        (MemType.read, "hbm 0xf32", None, "the sizes of a storage must be positive, got 0"),
        (MemType.read, "psum f32", None, "storage in psum needs a partition dimension"),
        (MemType.read, "reg 1xi32", None, "its type is !nki.reg"),
        (MemType.read, "hbm 999999999999999999xf32", None, "is larger than any memory"),
    ],
)
def test_mistakes(read: Any, text: str, position: int | None, message: str) -> None:
    with pytest.raises((ExprSyntaxError, VerifyException)) as caught:
        read(text)
    assert message in str(caught.value)
    assert (caught.value.position if isinstance(caught.value, ExprSyntaxError) else None) == position


# Storage types ---------------------------------------------------------------------------------------------------


def test_figures_of_storage() -> None:
    on_chip = MemType(MemFields(MemorySpace.PSUM, (64, 4, 8), Dtype.BF16, 2))
    assert (on_chip.partitions, on_chip.row, on_chip.row_bytes, on_chip.on_chip) == (64, 32, 64, True)
    in_hbm = MemType(MemFields(MemorySpace.HBM, (64, 4), Dtype.F32))
    assert (in_hbm.partitions, in_hbm.row, in_hbm.row_bytes, in_hbm.on_chip) == (1, 256, 1024, False)


@relaxed
@given(
    st.lists(st.integers(1, 9), min_size=1, max_size=5), st.booleans(), st.integers(1, 3), st.sampled_from(list(Dtype))
)
def test_storage_reads_back_and_is_accessed_as_a_whole(shape: list[int], sbuf: bool, blocks: int, dtype: Dtype) -> None:
    space = MemorySpace.SBUF if sbuf else MemorySpace.SHARED_HBM
    mem = MemType(MemFields(space, tuple(shape), dtype, blocks))
    assert parsed(str(mem)) is mem
    whole = mem.whole()
    assert whole.count == math.prod(shape)
    assert whole.data.dtype is dtype
    assert whole.nums == (tuple(shape) if not sbuf or len(shape) > 1 else (shape[0], 1))
    assert (whole.data.partition_pairs == (Pair(1, shape[0]),)) is sbuf


def test_values_that_rules_see() -> None:
    assert value_of(UnitAttr()) is True
    assert value_of(IntegerAttr(-3, i64)) == -3
    assert value_of(StringAttr("x")) == "x"
    assert value_of(PatternAttr.read("4*2, 1*4")) == ((4, 2), (1, 4))
    assert value_of(ExprAttr.read("4*d0")) == affine.multiply(4, affine.index(0))
    assert value_of(ExprAttr.read("[1, 2]")) == (1, 2)
    assert value_of(DtypeAttr(Dtype.F32)) is Dtype.F32
    assert value_of(ArrayAttr([StringAttr("x"), UnitAttr()])) == ("x", True)
    assert value_of(RegisterAttr()) == RegisterAttr()

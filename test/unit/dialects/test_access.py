"""Access patterns: interning, derived figures, substitution, text."""

import copy
import pickle
from itertools import product
from math import prod

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import INDICES, accesses, relaxed
from xdsl.utils.exceptions import VerifyException

from nki_mlir.dialects import affine
from nki_mlir.dialects.access import MAXIMUM_PAIRS, Access, AccessFields, Pair, merged, numbered, row_major
from nki_mlir.dialects.affine import ExprSyntaxError
from nki_mlir.isa.dtypes import Dtype

F32 = Dtype.F32


def elements(access: Access, point: list[int]) -> list[tuple[int, int]]:
    """(partition, column) of every element in order, by enumeration."""
    fields = access.data

    def offsets(pairs: tuple[Pair, ...]) -> list[int]:
        numbers = [min([pair.number, *(affine.evaluate(b, point) for b in pair.bounds)]) for pair in pairs]
        return [
            sum(pair.step * k for pair, k in zip(pairs, at, strict=True))
            for at in product(*(range(max(n, 0)) for n in numbers))
        ]

    column = affine.evaluate(fields.offset, point)
    if fields.partition is None or fields.partition_pairs is None:
        return [(0, column + k) for k in offsets(fields.pairs)]
    partition = affine.evaluate(fields.partition, point)
    return [(partition + p, column + k) for p in offsets(fields.partition_pairs) for k in offsets(fields.pairs)]


@relaxed
@given(accesses())
def test_text_reads_back_as_the_same_object(access: Access) -> None:
    text = access.text(access.plain_names())
    assert Access.read(text) is access
    numbers = tuple(99 - k for k in range(access.indices))
    assert Access.read_sparse(access.text([f"d{number}" for number in numbers])) == (access, numbers)
    assert Access.read(f"  {text} ".replace(" ", "  ").replace(":", " : ")) is access


@relaxed
@given(accesses())
def test_equal_patterns_are_one_object(access: Access) -> None:
    assert Access(AccessFields(*access.data)) is access
    assert copy.copy(access) is access
    assert copy.deepcopy(access) is access
    assert pickle.loads(pickle.dumps(access)) is access
    assert hash(access) == hash(Access(access.data))


@relaxed
@given(accesses(), st.lists(st.integers(0, 5), min_size=3 * INDICES, max_size=3 * INDICES))
def test_derived_figures(access: Access, point: list[int]) -> None:
    fields = access.data
    assert access.on_chip == (fields.partition is not None)
    assert access.masked == (access.count is None)
    assert access.nums == tuple(p.number for p in (*(fields.partition_pairs or ()), *fields.pairs))
    if access.masked:
        return
    found = elements(access, point)
    assert access.count == len(found)
    assert access.partitions == (prod(p.number for p in fields.partition_pairs or ()))
    assert access.free == prod(p.number for p in fields.pairs)
    column = affine.evaluate(fields.offset, point)
    assert (column + access.low, column + access.high) == (min(c for _, c in found), max(c for _, c in found))


@relaxed
@given(accesses(), st.lists(st.integers(-5, 5), min_size=3 * INDICES, max_size=3 * INDICES))
def test_substitution_of_numbers(access: Access, point: list[int]) -> None:
    new, order = access.at(lambda k: point[k])
    assert order == ()
    found = elements(access, point)
    if new is None:
        assert not found
    else:
        assert new.indices == 0
        assert not new.masked
        assert elements(new, []) == found


@relaxed
@given(accesses(), st.lists(st.integers(0, 5), min_size=3 * INDICES, max_size=3 * INDICES))
def test_substitution_of_expressions_renumbers(access: Access, point: list[int]) -> None:
    # Index value k becomes 2 * (the caller's 10 + k) + 1.
    new, order = access.at(lambda k: affine.make(1, [(2, 10 + k)]))
    if new is None:
        return
    assert sorted(order) == sorted(set(order))
    assert new.indices == len(order)
    renumbered = [point[number - 10] for number in order]
    assert elements(new, renumbered) == elements(access, [2 * x + 1 for x in point])


def test_nothing_changes_without_index_values() -> None:
    access = Access.read("[0 : 128 | 0 : 512] f32")
    assert access.at(lambda _: 1 // 0) == (access, ())


def test_a_bound_that_leaves_nothing() -> None:
    access = Access.read("[0 : min(128, -128*d0 + 1000) | 0 : 500] f32")
    assert access.at(lambda _: 8) == (None, ())
    last, _ = access.at(lambda _: 7)
    assert last is Access.read("[0 : 104 | 0 : 500] f32")


def test_a_bound_that_is_a_number_is_the_number_of_its_pair() -> None:
    assert Access.read("[0 : min(128, 64, d0) | 0 : 4*min(8, 3)] f32") is Access.read("[0 : min(64, d0) | 0 : 4*3] f32")
    assert Access.read("[0 : min(8, 0*d0 + 9)] f32") is Access.read("[0 : 8] f32")
    for text in ("[0 : min(8, 0)] f32", "[0 : min(8, -3) | 0 : 1] f32"):
        with pytest.raises(VerifyException, match=r"^the mask of an access leaves no element$"):
            Access.read(text)


def test_numbering() -> None:
    fields = AccessFields(affine.index(7), affine.index(3), (Pair(1, 4),), affine.index(7), (Pair(1, 8),), F32)
    access, order = numbered(fields)
    assert order == (7, 3)
    assert access is Access.read("{d0}[d1 : 4 | d0 : 8] f32")


def test_forms_are_equal_if_block_and_offset_alone_differ() -> None:
    access = Access.read("{1}[0 : 128 | 4*d0 : 8] f32")
    assert access.form == Access.read("[0 : 128 | 7 : 8] f32").form
    assert access.form != Access.read("[0 : 128 | 7 : 9] f32").form


@pytest.mark.parametrize(
    "pairs, expected",
    [
        ([(512, 128), (1, 512)], [(1, 65536)]),
        ([(1024, 128), (1, 512)], [(1024, 128), (1, 512)]),
        ([(7, 1), (1, 4), (9, 1)], [(1, 4)]),
        ([(9, 1)], [(1, 1)]),
        ([(0, 3), (0, 4)], [(0, 12)]),
        ([(4, 2), (2, 2), (1, 2)], [(1, 8)]),
        ([(-4, 2), (-1, 4)], [(-1, 8)]),
    ],
)
def test_merging(pairs: list[tuple[int, int]], expected: list[tuple[int, int]]) -> None:
    assert merged([Pair(*p) for p in pairs]) == tuple(Pair(*p) for p in expected)


@relaxed
@given(accesses().filter(lambda access: not access.masked))
def test_merged_pairs_walk_the_same_elements(access: Access) -> None:
    fields = access.data
    fewer = numbered(fields._replace(pairs=merged(fields.pairs), indirect=None))[0]
    point = [2] * (3 * INDICES)
    order = numbered(fields._replace(indirect=None))[1]
    assert elements(fewer, [point[k] for k in order]) == elements(access, point)


def test_masked_pairs_are_not_merged() -> None:
    pairs = [Pair(4, 2, (affine.index(0),)), Pair(1, 4)]
    assert merged(pairs) == tuple(pairs)


def test_row_major() -> None:
    assert row_major((2, 3, 4)) == (Pair(12, 2), Pair(4, 3), Pair(1, 4))
    assert row_major(()) == (Pair(1, 1),)


@pytest.mark.parametrize(
    "fields, message",
    [
        (AccessFields(0, 0, None, 0, (Pair(1, 1),), F32), "an access has both a partition offset and partition pairs"),
        (AccessFields(0, None, None, 0, (), F32), "an access needs at least one element pair"),
        (AccessFields(0, 0, (), 0, (Pair(1, 1),), F32), "an access needs at least one partition pair"),
        (AccessFields(0, None, None, 0, (Pair(1, 0),), F32), "the number of a pair must be positive, got 0"),
        (AccessFields(0, None, None, affine.index(1), (Pair(1, 1),), F32), "must be numbered d0, d1"),
        (
            AccessFields(0, None, None, 0, (Pair(1, 1),) * (MAXIMUM_PAIRS + 1), F32),
            f"an access has at most {MAXIMUM_PAIRS} element pairs, got {MAXIMUM_PAIRS + 1}",
        ),
    ],
)
def test_patterns_that_make_no_sense(fields: AccessFields, message: str) -> None:
    with pytest.raises(VerifyException, match=message):
        Access(fields)


@pytest.mark.parametrize(
    "text, position, message",
    [
        ("0 : 4", 0, "expected an access pattern such as [0 : 128 | 0 : 512] f32"),
        ("[0 : 4]", 0, "expected an access pattern such as [0 : 128 | 0 : 512] f32"),
        ("[0 : 4] f7", 8, "unknown dtype 'f7'"),
        ("[4] f32", 1, "expected 'offset : number, …' in an access pattern"),
        ("[0 : 4 | 0 : x] f32", 13, "expected a pair 'number' or 'step*number', found 'x'"),
        ("[0 : 4 | 0 : 4, ] f32", 16, "expected a pair 'number' or 'step*number', found nothing"),
        ("[0 : 4 | 4* : 4] f32", 12, "expected a number, an index value or '(' in an affine expression, found its end"),
        ("{4 4}[0 : 4] f32", 3, "expected an operator or the end in an affine expression, found '4'"),
        ("[0 : min(4, d0 d0)] f32", 15, "expected an operator or the end in an affine expression, found 'd0'"),
        ("[0 : min(4)] f32", 5, "expected min(number, expression, …)"),
    ],
)
def test_mistakes(text: str, position: int, message: str) -> None:
    with pytest.raises(ExprSyntaxError) as caught:
        Access.read(text)
    assert str(caught.value).startswith(message)
    assert caught.value.position == position

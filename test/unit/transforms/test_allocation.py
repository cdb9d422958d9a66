"""First fit on problems of its own."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from xdsl.dialects.builtin import StringAttr

from nki_mlir.diagnostics import NkiError
from nki_mlir.dialects.attributes import MemType
from nki_mlir.dialects.bir import TensorOp
from nki_mlir.isa.enums import MemorySpace
from nki_mlir.isa.target import CAYMAN, SUNDA, TONGA
from nki_mlir.transforms.allocation.first_fit import first_fit
from nki_mlir.transforms.allocation.problem import Interval, Memory, memories

TENSOR = TensorOp.create(result_types=[MemType.read("sbuf 128x4xf32")], properties={"name": StringAttr("t")})
SBUF = Memory(MemorySpace.SBUF, 128, 1000)
PSUM = Memory(MemorySpace.PSUM, 128, 8 * 64, 64)


def interval(start: int, end: int, size: int, alignment: int = 1, place: tuple[int, int] | None = None) -> Interval:
    return Interval(TENSOR, 0, start, end, 128, size, alignment, place)


intervals = st.builds(
    lambda start, length, size, alignment: interval(start, start + length, size, alignment),
    st.integers(0, 40),
    st.integers(0, 12),
    st.integers(1, 130),
    st.sampled_from([1, 2, 4, 8]),
)


def check(problem: list[Interval], memory: Memory) -> None:
    """Asserts what every allocator promises; a problem that does not fit proves nothing."""
    try:
        places = first_fit(problem, memory)
    except NkiError:
        return
    for one, (partition, address) in zip(problem, places, strict=True):
        assert partition == 0
        assert address % one.alignment == 0
        assert 0 <= address <= memory.size - one.size
        if memory.bank is not None:
            first, last = address // memory.bank, (address + one.size - 1) // memory.bank
            assert first == last or address % memory.bank == 0
    for k, one in enumerate(problem):
        for j, other in enumerate(problem[:k]):
            if one.start <= other.end and other.start <= one.end:
                a, b = places[k][1], places[j][1]
                assert a + one.size <= b or b + other.size <= a


@given(st.lists(intervals, max_size=30))
def test_what_is_live_together_is_apart(problem: list[Interval]):
    check(problem, SBUF)


@given(st.lists(intervals, max_size=30))
def test_banks(problem: list[Interval]):
    check(problem, PSUM)


@given(st.lists(intervals, max_size=12), st.lists(st.integers(0, 990), max_size=4))
def test_nothing_goes_where_something_is_placed(problem: list[Interval], addresses: list[int]):
    fixed = [interval(0, 0, 10, place=(32, address)) for address in addresses]
    try:
        places = first_fit([*fixed, *problem], SBUF)
    except NkiError:
        return
    assert places[: len(fixed)] == [(32, address) for address in addresses]
    for one, (_, address) in zip(problem, places[len(fixed) :], strict=True):
        assert all(address + one.size <= taken or taken + 10 <= address for taken in addresses)


def test_the_whole_memory_can_be_used():
    assert first_fit([interval(0, 9, 600), interval(3, 5, 400), interval(6, 9, 400)], SBUF) == [
        (0, 0),
        (0, 600),
        (0, 600),
    ]
    with pytest.raises(NkiError, match="needs 401 bytes in each partition of sbuf; of 1000 bytes 400 are free"):
        first_fit([interval(0, 9, 600), interval(3, 5, 401)], SBUF)


def test_bytes_given_back_join_their_neighbours():
    thirds = [interval(0, end, size) for end, size in ((1, 300), (3, 300), (2, 400))]
    assert first_fit([*thirds, interval(4, 4, 1000)], SBUF)[-1] == (0, 0)
    assert first_fit([*thirds, interval(3, 3, 400)], SBUF)[-1] == (0, 600)


def test_one_position_in_common_is_too_many():
    assert first_fit([interval(0, 1, 8), interval(1, 2, 8), interval(2, 3, 8)], SBUF) == [(0, 0), (0, 8), (0, 0)]


@pytest.mark.parametrize(
    ("target", "sbuf", "partitions", "psum"),
    [
        (TONGA, 96 * 1024 - 16384, 64, 4 * 2048),
        (SUNDA, 192 * 1024 - 16384, 128, 8 * 2048),
        (CAYMAN, 224 * 1024 - 16392, 128, 8 * 2048),
    ],
)
def test_memories_are_those_of_the_target(target, sbuf, partitions, psum):
    on_chip = memories(target)
    assert [(m.space, m.partitions, m.size, m.bank) for m in on_chip] == [
        (MemorySpace.SBUF, 128, sbuf, None),
        (MemorySpace.PSUM, partitions, psum, 2048),
    ]

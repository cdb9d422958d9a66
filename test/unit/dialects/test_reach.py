"""Where accesses reach over the iterations of loops, against trying them all."""

import itertools
from collections.abc import Iterator

from hypothesis import given
from hypothesis import strategies as st

from nki_mlir.dialects import affine
from nki_mlir.dialects.access import Pair
from nki_mlir.dialects.reach import reached, spans_of, start_of, windows

DOMAINS = (range(0, 5), range(1, 8, 3))
EXPRS = st.builds(
    lambda constant, i, j, k: affine.add(
        affine.make(constant, [(i, 0), (j, 1)]), affine.multiply(k, affine.quotient("mod", affine.index(0), 2))
    ),
    st.integers(-20, 60),
    st.integers(-9, 9),
    st.integers(-9, 9),
    st.integers(-2, 2),
)
PAIRS = st.lists(
    st.builds(Pair, st.integers(-4, 4), st.integers(1, 6), st.lists(EXPRS, max_size=2).map(tuple)),
    min_size=1,
    max_size=2,
).map(tuple)


def iterations(offset: affine.Expr, pairs: tuple[Pair, ...]) -> Iterator[tuple[int, list[int]]]:
    """Yields the elements that one iteration reaches, and the numbers of its pairs."""
    for point in itertools.product(*DOMAINS):
        numbers = [min(p.number, *(affine.evaluate(b, point) for b in p.bounds), p.number) for p in pairs]
        if all(number > 0 for number in numbers):
            start = affine.evaluate(offset, point)
            places = itertools.product(*map(range, numbers))
            yield start, sorted(start + sum(p.step * k for p, k in zip(pairs, at, strict=True)) for at in places)


@given(EXPRS, PAIRS)
def test_elements_and_bounds(offset: affine.Expr, pairs: tuple[Pair, ...]):
    found = [reach for _, reach in iterations(offset, pairs)]
    assert windows(offset, pairs, DOMAINS) == tuple(sorted({(reach[0], reach[-1]) for reach in found}))
    bounds = reached(offset, pairs, DOMAINS, 64)
    if not found:
        assert bounds is None or (bounds[0] >= 0 and bounds[1] < 64)
        return
    exact = min(reach[0] for reach in found), max(reach[-1] for reach in found)
    assert bounds is not None
    if bounds != exact:
        assert bounds[0] >= 0
        assert bounds[1] < 64
        assert bounds[0] <= exact[0] <= exact[1] <= bounds[1]


@given(EXPRS, PAIRS, st.integers(0, 96))
def test_starts(offset: affine.Expr, pairs: tuple[Pair, ...], first: int):
    found = {(first + start, len(reach)) for start, reach in iterations(offset, pairs)}
    assert spans_of(offset, pairs, DOMAINS, first) == tuple(sorted(found))
    start, step = start_of(offset, DOMAINS)
    for point in itertools.product(*DOMAINS):
        distance = affine.evaluate(offset, point) - start
        assert distance % step == 0 if step else distance == 0


def test_registers_and_too_many_iterations_are_not_known():
    masked = (Pair(1, 8, (affine.index(0),)),)
    assert windows(0, masked, [None]) is None
    assert reached(0, masked, [None], 4) is None
    assert reached(0, masked, [None], 8) == (0, 7)
    assert spans_of(affine.index(0), masked, [range(5000)], 0) is None
    assert start_of(affine.multiply(32, affine.index(0)), [None]) == (0, 32)

"""Symbolic integers: arithmetic against Python's, intervals, and what decisions leave of the domains."""

import copy
import math
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nki_mlir.frontend.errors import NKISyntaxError, NKIValueError
from nki_mlir.frontend.symbolic import (
    EQ,
    GE,
    Axis,
    Pred,
    Sym,
    Var,
    affine,
    axes_of,
    bounds,
    concretise,
    decide,
    evaluate,
    grid_rank,
    loop_vars,
    same,
    settled,
)


def index(lo: int, hi: int, step: int = 1, start: int = 0, depth: int = 0, name: str = "i") -> tuple[Any, Var]:
    var = Var(lo, hi, depth, name)
    return Sym(start, {var: step}), var


BINARY: list[Callable[[Any, Any], Any]] = [
    lambda a, b: a + b,
    lambda a, b: a - b,
    lambda a, b: 3 * a - b * 2,
    lambda a, b: -a + ~b,
    lambda a, b: (a << 2) - (b >> 1),
    lambda a, b: a + 7 - 2 * b,
    lambda a, b: 5 - a,
]
UNARY: list[Callable[[Any], Any]] = [
    lambda a: a // 4,
    lambda a: a % 4,
    lambda a: a // -3,
    lambda a: a % -3,
    lambda a: (6 * a + 3) // 4,
    lambda a: (6 * a + 3) % 4,
    lambda a: (a // 3) % 2,
    lambda a: divmod(a, 5)[0] * 5 + divmod(a, 5)[1],
    lambda a: round(a),
    lambda a: math.floor(a) + math.ceil(a) + math.trunc(a),
    lambda a: 4 * a % 8 // 4,
    lambda a: (17 * a - 5) // 4 + (-17 * a) // 4,
    lambda a: (17 * a - 5) % 4 - (-17 * a) % 4,
]


@pytest.mark.parametrize("combine", BINARY)
@pytest.mark.parametrize("reduce", UNARY)
def test_arithmetic_stays_symbolic_and_exact(combine: Callable[[Any, Any], Any], reduce: Callable[[Any], Any]) -> None:
    (i, vi), (j, vj) = index(-3, 6), index(2, 5, step=3, start=-4, depth=1, name="j")
    value = reduce(combine(i, j))
    lo, hi = bounds(value)
    for a, b in product(range(-3, 6), range(2, 5)):
        expected = reduce(combine(a, 3 * b - 4))
        assert evaluate(value, {vi: a, vj: b}) == expected
        assert lo <= expected <= hi
    assert (vi.lo, vi.hi, vj.lo, vj.hi) == (-3, 6, 2, 5)


def test_bounds_of_sums_are_exact() -> None:
    (i, _), (j, _) = index(0, 4), index(1, 3)
    assert bounds(2 * i - 5 * j + 1) == (-9, 2)
    assert bounds(i % 4) == (0, 3)
    assert bounds((i + 2) // 4) == (0, 1)
    assert bounds(7) == (7, 7)


def test_known_numbers_are_ints() -> None:
    i, _ = index(0, 8)
    assert type(i - i) is int
    assert type(0 * i) is int
    assert type((4 * i + 3) % 4) is int
    assert (4 * i + 3) % 4 == 3
    assert type((i // 8) * 5) is int
    assert same((4 * i + 3) // 4, i)
    assert same((8 * i + 4) // 8, i)
    assert same(4 * i % 8, 4 * (i % 2))
    assert not same(i % 2, i % 3)
    assert not same(i, 3)
    assert same(3, 3)


COMPARISONS: list[Callable[[Any, Any], Any]] = [
    lambda a, b: a < b,
    lambda a, b: a <= b,
    lambda a, b: a > b,
    lambda a, b: a >= b,
    lambda a, b: a == b,
    lambda a, b: a != b,
]


@given(
    comparison=st.sampled_from(COMPARISONS),
    domain=st.tuples(st.integers(-5, 5), st.integers(1, 12)),
    step=st.integers(-4, 4).filter(bool),
    start=st.integers(-9, 9),
    right=st.one_of(st.integers(-20, 20), st.floats(-20, 20), st.sampled_from([math.inf, -math.inf, math.nan])),
    divisor=st.integers(1, 5),
)
@settings(deadline=None)
def test_decision_keeps_the_lower_part(
    comparison: Callable[[Any, Any], Any], domain: tuple[int, int], step: int, start: int, right: Any, divisor: int
) -> None:
    """The answer is that of the lowest value, and of every value that is left."""
    lo, count = domain
    for shape in (lambda x: x, lambda x: x // divisor, lambda x: x % divisor):
        i, var = index(lo, lo + count, step, start)
        answer = bool(comparison(shape(i), right))
        assert var.lo == lo
        assert lo < var.hi <= lo + count
        assert [bool(comparison(shape(step * k + start), right)) for k in range(lo, var.hi)] == [answer] * (var.hi - lo)
        if var.hi < lo + count and divisor == 1:
            assert bool(comparison(shape(step * var.hi + start), right)) is not answer


@given(coefficients=st.lists(st.integers(-3, 3), min_size=2, max_size=2), const=st.integers(-9, 9))
@settings(deadline=None)
def test_decisions_over_two_loops_fix_the_outer_one(coefficients: list[int], const: int) -> None:
    (i, vi), (j, vj) = index(0, 4, depth=0), index(0, 5, depth=1, name="j")
    value = coefficients[0] * i + coefficients[1] * j + const
    for kind, holds in ((GE, lambda n: n >= 0), (EQ, lambda n: n == 0)):
        vi.hi, vj.hi = 4, 5
        answer = decide(value, kind)
        points = product(range(vi.lo, vi.hi), range(vj.lo, vj.hi))
        assert {holds(coefficients[0] * a + coefficients[1] * b + const) for a, b in points} == {answer}


def test_equality_without_a_solution_narrows_nothing() -> None:
    i, var = index(0, 8, step=2)
    assert not bool(i == 5)
    assert i != 5
    assert (var.lo, var.hi) == (0, 8)


OBSERVATIONS: dict[str, Callable[[Any], Any]] = {
    "int": int,
    "float": float,
    "complex": complex,
    "str": str,
    "format": lambda i: f"{i:3d}",
    "percent": lambda i: "%d" % i,  # noqa: UP031
    "hash": hash,
    "range": lambda i: list(range(i)),
    "list": lambda i: [1, 2, 3, 4, 5][i],
    "array": lambda i: int(np.arange(5)[i]),
    "repeat": lambda i: [0] * i,
    "divide": lambda i: i / 2,
    "divided": lambda i: 7 / i,
    "power": lambda i: i**2,
    "base": lambda i: 2**i,
    "mask": lambda i: i & 5,
    "or": lambda i: 8 | i,
    "xor": lambda i: i ^ 1,
    "shifted": lambda i: 1 << i,
    "sqrt": math.sqrt,
    "floats": lambda i: i * 0.5 + 1.5,
    "int attribute": lambda i: i.bit_length(),
    "quotient": lambda i: 17 // i,
    "remainder": lambda i: 17 % i,
    "divmod": lambda i: divmod(17, i),
    "numpy float": lambda i: float(np.float32(1.5) * i),
    "digits": lambda i: round(i, -1),
    "dict": lambda i: {2: "two"}[i],
    "symbolic divisor": lambda i: (9 * i) // i + (9 * i) % i,
}


@pytest.mark.parametrize("observe", OBSERVATIONS.values(), ids=OBSERVATIONS.keys())
def test_observation_fixes_the_index(observe: Callable[[Any], Any]) -> None:
    i, var = index(2, 5)
    assert observe(i) == observe(2)
    assert (var.lo, var.hi) == (2, 3)


KEPT: dict[str, Callable[[Any], Any]] = {
    "repr": repr,
    "numpy integer": lambda i: np.int64(3) * i + np.int32(1),
    "bool": lambda i: i + True,
    "copy": lambda i: copy.deepcopy([copy.copy(i)]),
    "compare with another kind": lambda i: (i == "a", i != None, i == [1]),  # noqa: E711
    "truth": bool,
    "abs": abs,
    "min": lambda i: min(i, 9),
    "sorted": lambda i: sorted([9, i, 0]),
    "sum": lambda i: sum([i, i]),
    "membership": lambda i: i in (0, 7),
}


@pytest.mark.parametrize("use", KEPT.values(), ids=KEPT.keys())
def test_other_uses_leave_the_index(use: Callable[[Any], Any]) -> None:
    i, var = index(2, 5)
    use(i)
    assert (var.lo, var.hi) == (2, 5)


def test_text() -> None:
    (i, _), (j, _) = index(0, 4), index(0, 4, name="j")
    assert repr(i) == "i"
    assert repr(2 * i - j + 3) == "2*i - j + 3"
    assert repr(-i - 3) == "-i - 3"
    assert repr(4 * (i // 3)) == "4*((i) // 3)"
    assert repr((i < 3) & (j == 0)) == "(-i + 2 >= 0) & (j == 0)"


def test_numbers_of_numpy_leave_an_index_symbolic() -> None:
    i, var = index(2, 5)
    three = np.int64(3)
    for found, expected in ((three * i, 3 * i), (three - i, 3 - i), (np.add(i, three), i + 3), (np.negative(i), -i)):
        assert repr(found) == repr(expected)
    for found, expected in ((three <= i, i >= 3), (three > i, i < 3), (np.less(i, three), i < 3), (three == i, i == 3)):
        assert repr(found) == repr(expected)
    assert (var.lo, var.hi) == (2, 5)


@pytest.mark.parametrize(
    "use, expected",
    [
        (lambda i: np.minimum(i, 3), 2),
        (lambda i: np.exp(i), np.exp(2)),
        (lambda i: np.floor(i / 2), 1.0),
        (lambda i: i * np.arange(3), [0, 2, 4]),
        (lambda i: np.arange(3) + i, [2, 3, 4]),
        (lambda i: np.add.reduce([i, 1]), 3),
        (lambda i: np.multiply(i, 0.5, dtype=np.float32), 1.0),
    ],
)
def test_other_functions_of_numpy_see_the_number(use: Callable[[Any], Any], expected: Any) -> None:
    i, var = index(2, 5)
    assert np.array_equal(use(i), expected)
    assert (var.lo, var.hi) == (2, 3)


def test_operands_that_do_not_mix() -> None:
    i, _ = index(0, 4)
    for use in (lambda: i + "a", lambda: np.add(i, "a"), lambda: i[0], lambda: iter(i)):
        with pytest.raises(TypeError):
            use()
    with pytest.raises(TypeError):
        i << 1.5
    with pytest.raises(ZeroDivisionError):
        i // 0
    with pytest.raises(ZeroDivisionError):
        i % 0
    with pytest.raises(AttributeError, match="an index has no attribute 'shape'"):
        i.shape  # noqa: B018


def test_product_fixes_the_outer_index() -> None:
    (i, vi), (j, vj) = index(3, 8, depth=0), index(0, 4, depth=1, name="j")
    assert same(i * j, 3 * j)
    assert (vi.hi, vj.hi) == (4, 4)


def test_affine_narrows_to_one_block() -> None:
    i, var = index(0, 16)
    assert same(affine(i // 4 + 2 * (i % 4)), 2 * i)
    assert (var.lo, var.hi) == (0, 4)
    var.lo, var.hi = 4, 16
    value = affine((i // 4) * 3 + i % 4)
    assert var.hi == 8
    assert [evaluate(value, {var: k}) for k in range(4, 8)] == [3, 4, 5, 6]


def test_settled_takes_closed_loops_out() -> None:
    (i, vi), (j, _) = index(0, 16), index(0, 2, name="j")
    value = 2 * i + j + (i // 2)
    vi.lo = 15
    assert same(settled(value), j + 37)
    assert settled(5) == 5


def test_queries() -> None:
    (i, vi), (j, vj) = index(0, 16), index(0, 1, name="j")
    axis = Axis(4)
    grid = Sym(0, {axis: 1})
    assert loop_vars(i // 3 + j) == {vi}
    assert vj.fixed
    assert list(axes_of((grid + i) // 3)) == [axis]
    assert grid_rank(i) == 0
    assert grid_rank(grid + i) == 1
    assert list(axes_of(0 * grid)) == [axis], "an axis without effect still gives the grid its shape"
    assert list(axes_of(grid - grid + 1)) == [axis]
    assert list(axes_of(grid // 4)) == [axis]


def test_grids_have_no_single_value() -> None:
    grid = Sym(0, {Axis(4): 1})
    i, _ = index(0, 4)
    with pytest.raises(NKISyntaxError) as caught:
        if grid < 2:
            pass
    assert str(caught.value) == (
        "condition -axis[0] + 1 >= 0 depends on arange or mgrid and has no single answer: pass it as a mask, "
        "and join comparisons with '&' instead of 'and' [control_flow_condition_depending_on_arange]"
    )
    assert bool(grid < 4) is True
    with pytest.raises(NKISyntaxError, match="an arange or mgrid index has no single value"):
        concretise(grid)
    with pytest.raises(NKISyntaxError, match=r"\(axis\[0\]\) \* \(axis\[0\]\) is not supported"):
        grid * grid
    with pytest.raises(NKISyntaxError, match=r"'//' and '%' of an arange or mgrid index are no multiples"):
        affine(grid // 2)
    assert repr(grid * i) == "0*axis[0]"


# Conditions


def test_conjunction() -> None:
    i, _ = index(0, 9)
    pred = (i > 1) & (i < 5)
    assert isinstance(pred, Pred)
    assert len(pred.atoms) == 2
    assert ((i > 1) & True) is not True
    assert ((i > 1) & False) is False
    assert (False & (i > 1)) is False
    assert isinstance((i > 1) * (i < 3), Pred)
    assert isinstance((i > 1) & np.True_, Pred)
    assert ((i > 1) & np.bool_(False)) is False


def test_negation() -> None:
    for lo in range(4):
        i, _ = index(lo, 4)
        assert bool(~(i >= 2)) is (lo < 2)
        assert bool(~(i == 2)) is (lo != 2)
        assert bool(~(i != 2)) is (lo == 2)
    i, _ = index(0, 4)
    with pytest.raises(NKIValueError) as caught:
        ~((i > 0) & (i < 2))
    expected = "'logical or' is not supported for the `mask`; run the instruction once for each of its parts"
    assert str(caught.value) == f"{expected} [logic_or_not_supported]"


def test_alternatives_decide_loops_and_refuse_grids() -> None:
    i, var = index(0, 4)
    assert ((i < 2) | (i > 2)) is True
    assert var.hi == 2
    grid = Sym(0, {Axis(4): 1})
    with pytest.raises(NKIValueError, match="'logical or' is not supported for the `mask`"):
        (grid < 2) | (grid > 3)
    with pytest.raises(NKIValueError, match="'logical or' is not supported for the `mask`"):
        True | (grid < 2)


def test_conditions_count_as_bools() -> None:
    for lo in range(3):
        i, _ = index(lo, 3)
        c = i >= 1
        expected = lo >= 1
        assert (c + 1, 1 + c, c - 1, 1 - c, c * 3, 3 * c) == (
            expected + 1,
            1 + expected,
            expected - 1,
            1 - expected,
            expected * 3,
            3 * expected,
        )
        assert (int(c), float(c), str(c), f"{c}", hash(c), [4, 5][c]) == (
            int(expected),
            float(expected),
            str(expected),
            f"{expected}",
            hash(expected),
            [4, 5][expected],
        )
        assert c == expected
        assert (c ^ True) == (expected ^ True)
        assert copy.deepcopy(c) is c

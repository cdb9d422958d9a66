"""Expressions over index values: arithmetic against Python's, bounds against enumeration, text both ways."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import INDICES, expressions, points, relaxed
from xdsl.context import Context
from xdsl.dialects.builtin import AffineMapAttr, Builtin
from xdsl.parser import Parser

from nki_mlir.dialects import affine
from nki_mlir.dialects.affine import Affine, Expr, ExprSyntaxError

D0, D1 = affine.index(0), affine.index(1)
NAMES = ["%i", "%j", "%k.1"]


def by_python(text: str) -> int:
    """The value of a text without names, as Python computes it: its operators bind as MLIR's do."""
    return eval(text.replace("floordiv", "//").replace("mod", "%"), {})


def by_mlir(text: str, point: list[int]) -> int:
    """The value of a text over d0, d1, …, as xDSL reads it in an affine map."""
    context = Context()
    context.load_dialect(Builtin)
    names = ", ".join(f"d{k}" for k in range(INDICES))
    found = Parser(context, f"affine_map<({names}) -> ({text})>").parse_attribute()
    assert isinstance(found, AffineMapAttr)
    (value,) = found.data.eval(point, [])
    return value


@relaxed
@given(expressions, points)
def test_evaluation_is_that_of_the_text(expr: Expr, point: list[int]) -> None:
    expected = affine.evaluate(expr, point)
    assert by_python(affine.text(expr, [f"({x})" for x in point])) == expected
    assert by_mlir(affine.text(expr, [f"d{k}" for k in range(INDICES)]), point) == expected


@pytest.mark.parametrize(
    "text, point, expected",
    [
        ("4*d0 + 1", [3, 0, 0], 13),
        ("1 - d0 - 2*d1", [3, 4, 0], -10),
        ("(d0 floordiv 4)", [-1, 0, 0], -1),
        ("(d0 mod 4)", [-1, 0, 0], 3),
        ("3*((d0 + 5) mod 4) - ((d1 - 1) floordiv 2)", [6, 8, 0], 6),
        ("((d0 floordiv 2) mod 3)", [11, 0, 0], 2),
        ("d0 floordiv 2 mod 3", [11, 0, 0], 2),
        ("2*d0 + 3 mod 2", [5, 0, 0], 11),
        ("7 - 3*d0 mod 4", [5, 0, 0], 4),
        ("-d0 mod 4", [5, 0, 0], 3),
        ("d0 mod 4 * 5", [7, 0, 0], 15),
        ("-(d0 - d1)", [5, 7, 0], 2),
        ("2*3*d0", [5, 0, 0], 30),
        ("d0*2*3", [5, 0, 0], 30),
        ("-d0 + --4", [1, 0, 0], 3),
        ("7", [0, 0, 0], 7),
    ],
)
def test_text_means_what_it_says(text: str, point: list[int], expected: int) -> None:
    assert affine.evaluate(affine.read(text), point) == expected


@relaxed
@given(expressions)
def test_text_reads_back(expr: Expr) -> None:
    assert affine.read(affine.text(expr, [f"d{k}" for k in range(INDICES)])) == expr
    assert affine.read(affine.text(expr, NAMES), NAMES.index) == expr


@relaxed
@given(expressions, expressions, points, st.integers(-9, 9))
def test_arithmetic(a: Expr, b: Expr, point: list[int], factor: int) -> None:
    x, y = affine.evaluate(a, point), affine.evaluate(b, point)
    assert affine.evaluate(affine.add(a, b), point) == x + y
    assert affine.evaluate(affine.multiply(factor, a), point) == factor * x


@relaxed
@given(expressions, points, st.integers(1, 9))
def test_quotients(expr: Expr, point: list[int], divisor: int) -> None:
    x = affine.evaluate(expr, point)
    assert affine.evaluate(affine.quotient("floordiv", expr, divisor), point) == x // divisor
    assert affine.evaluate(affine.quotient("mod", expr, divisor), point) == x % divisor


def test_a_divisor_is_positive() -> None:
    with pytest.raises(ValueError, match="the divisor of mod must be positive, got 0"):
        affine.quotient("mod", D0, 0)


def test_constants_are_integers_and_terms_canonical() -> None:
    assert affine.add(D0, affine.multiply(-1, D0)) == 0
    assert affine.multiply(0, D1) == 0
    assert affine.make(3, [(1, 0), (2, 1), (-1, 0)]) == Affine(3, ((2, 1),))
    assert affine.quotient("floordiv", affine.make(9, [(8, 0), (3, 1)]), 4) == affine.add(
        affine.make(2, [(2, 0)]), affine.quotient("floordiv", affine.make(1, [(3, 1)]), 4)
    )
    assert affine.quotient("mod", affine.multiply(4, D0), 4) == 0


@relaxed
@given(expressions, points, points)
def test_substitution(expr: Expr, point: list[int], other: list[int]) -> None:
    inner = [affine.make(c, [(1, k)]) for k, c in enumerate(other)]
    shifted = [x + c for x, c in zip(point, other, strict=True)]
    assert affine.evaluate(affine.substitute(expr, lambda k: inner[k]), point) == affine.evaluate(expr, shifted)
    assert affine.substitute(expr, affine.index) == expr


@relaxed
@given(expressions)
def test_indices_are_those_that_the_text_names(expr: Expr) -> None:
    text = affine.text(expr, NAMES)
    places = {text.find(NAMES[k]): k for k in affine.indices(expr)}
    assert -1 not in places
    assert [k for _, k in sorted(places.items())] == list(affine.indices(expr))
    assert all(NAMES[k] not in text for k in range(INDICES) if k not in affine.indices(expr))


domains = st.lists(
    st.builds(lambda start, step, count: range(start, start + step * count, step), *[st.integers(1, 5)] * 3),
    min_size=INDICES,
    max_size=INDICES,
)


@relaxed
@given(expressions, domains)
def test_bounds(expr: Expr, ranges: list[range]) -> None:
    reached = [affine.evaluate(expr, point) for point in product(*ranges)]
    found = affine.interval(expr, ranges)
    assert found is not None
    assert found[0] <= min(reached)
    assert max(reached) <= found[1]
    assert affine.exact_interval(expr, ranges) == (min(reached), max(reached))
    linear = isinstance(expr, int) or all(isinstance(atom, int) for _, atom in expr.terms)
    if linear:
        assert found == (min(reached), max(reached))


def test_bounds_where_little_is_known() -> None:
    assert affine.interval(D0, [None]) is None
    assert affine.interval(affine.quotient("mod", D0, 8), [None]) == (0, 7)
    assert affine.interval(affine.quotient("floordiv", D0, 8), [None]) is None
    assert affine.exact_interval(affine.quotient("mod", D0, 8), [None]) is None
    assert affine.exact_interval(affine.quotient("mod", D0, 8), [(0, affine.MOST_POINTS)]) is None
    # i - (i mod 2) is even; the bounds of both terms together reach further.
    even = affine.add(D0, affine.multiply(-1, affine.quotient("mod", D0, 2)))
    assert affine.interval(even, [(0, 3)]) == (-1, 3)
    assert affine.exact_interval(even, [(0, 3)]) == (0, 2)


@relaxed
@given(expressions, points)
def test_divisor(expr: Expr, point: list[int]) -> None:
    divisor, x = affine.divisor(expr), affine.evaluate(expr, point)
    assert x == 0 if divisor == 0 else x % divisor == 0


@pytest.mark.parametrize(
    "text, position, message",
    [
        ("", 0, "expected a number, an index value or '(' in an affine expression, found its end"),
        ("4*", 2, "expected a number, an index value or '(' in an affine expression, found its end"),
        ("4 4", 2, "expected an operator or the end in an affine expression, found '4'"),
        ("d0 * d1", 0, "an affine expression cannot multiply two index values"),
        ("(d0 mod d1)", 8, "expected a positive number after mod in an affine expression, found 'd1'"),
        ("(d0 mod 0)", 8, "expected a positive number after mod in an affine expression, found '0'"),
        ("(d0", 3, "expected ')' in an affine expression, found its end"),
        ("d0 / 2", 3, "expected an operator or the end in an affine expression, found '/ 2'"),
        ("1 + %x", 4, "unknown index value '%x'"),
        ("d100000", 0, "unknown index value 'd100000'"),
        ("d01", 0, "unknown index value 'd01'"),
        ("1 + 12345678901234567890", 4, "a number may have at most 19 digits"),
        ("1 + 9223372036854775808", 4, "a number of an affine expression does not fit 64 bits"),
        ("d0 + 999999999999999999*99", 5, "a number of an affine expression does not fit 64 bits"),
        ("(" * 33 + "1" + ")" * 33, 32, "an affine expression may nest at most 32 parentheses"),
        ("-" * 34 + "1", 33, "an affine expression may nest at most 32 signs"),
        ("1 + d0" + " floordiv 2" * 11, 4, "an affine expression may nest at most 10 quotients"),
    ],
)
def test_mistakes(text: str, position: int, message: str) -> None:
    with pytest.raises(ExprSyntaxError) as caught:
        affine.read(text)
    assert (str(caught.value), caught.value.position) == (message, position)
    with pytest.raises(ExprSyntaxError) as caught:
        affine.read_at(text, 7)
    assert caught.value.position == position + 7


def test_loops_over_all_numbers_of_64_bits_have_too_many_values() -> None:
    assert affine.values(affine.read("d0 mod 4"), (range(-(1 << 63), (1 << 63) - 1),)) is None
    assert affine.values(affine.read("d0 mod 4"), (range(0, affine.MOST_POINTS),)) == {0, 1, 2, 3}
    assert affine.values(affine.read("d0 mod 4"), (range(0, affine.MOST_POINTS + 1),)) is None


def test_what_is_read_can_be_read_again() -> None:
    """Text may have more parentheses and digits when it is written than when it was read."""
    nested = "d0"
    for divisor in range(100, 90, -1):
        nested = f"(0 - {nested}) mod {divisor}"
    for source in (f"0 - {nested}", "9*999999999999999999*d0 - 5*1000000000000000001"):
        expr = affine.read(source)
        assert affine.read(affine.text(expr, ["d0"])) == expr


def test_long_expressions_are_read_in_linear_time() -> None:
    terms = 20_000
    text = " + ".join(f"{k}*d{k}" for k in range(1, terms))
    assert len(affine.indices(affine.read(text))) == terms - 1

"""Quasi-affine integer expressions over the index values of an access: loop variables and registers.

An expression is an `int`, or an `Affine` with at least one term, so that constants stay plain Python integers
everywhere. Index values are numbered d0, d1, … by first appearance in the attribute that holds the expression.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from math import gcd
from typing import NamedTuple, TypeAlias


class Quotient(NamedTuple):
    """`numerator floordiv divisor`, or the remainder of that division; the divisor is positive."""

    kind: str  # "floordiv" or "mod"
    numerator: "Affine"
    divisor: int


class Affine(NamedTuple):
    """constant + sum of coefficient * atom, where an atom is an index number or a quotient.

    Terms are in ascending order of first appearance and no coefficient is 0.
    """

    constant: int
    terms: tuple[tuple[int, "int | Quotient"], ...]


Expr: TypeAlias = int | Affine
Term: TypeAlias = tuple[int, int | Quotient]
Interval: TypeAlias = tuple[int, int]


class Cases(NamedTuple):
    """The values of one index value in the iterations that there are: value n goes with value n of all others."""

    values: tuple[int, ...]


Domain: TypeAlias = Interval | range | Cases
"""What an index value may be: all integers from the lowest to the highest, the values of a loop, or those of cases."""


def make(constant: int, terms: Sequence[tuple[int, int | Quotient]]) -> Expr:
    """Returns the canonical expression: like terms added, zero terms dropped, an `int` when nothing is left."""
    merged: dict[int | Quotient, int] = {}
    for coefficient, atom in terms:
        merged[atom] = merged.get(atom, 0) + coefficient
    kept = tuple((coefficient, atom) for atom, coefficient in merged.items() if coefficient)
    return Affine(constant, kept) if kept else constant


def index(number: int) -> Affine:
    """Returns the expression that is index value `number` alone."""
    return Affine(0, ((1, number),))


def add(left: Expr, right: Expr) -> Expr:
    """Returns left + right."""
    if isinstance(left, int):
        if isinstance(right, int):
            return left + right
        return Affine(left + right.constant, right.terms)
    if isinstance(right, int):
        return Affine(left.constant + right, left.terms)
    return make(left.constant + right.constant, left.terms + right.terms)


def multiply(factor: int, expr: Expr) -> Expr:
    """Returns factor * expr."""
    if isinstance(expr, int):
        return factor * expr
    return make(factor * expr.constant, [(factor * c, atom) for c, atom in expr.terms])


def quotient(kind: str, numerator: Expr, divisor: int) -> Expr:
    """Returns `numerator floordiv divisor` or `numerator mod divisor`, with the part that divides evenly split off."""
    if divisor <= 0:
        raise ValueError(f"the divisor of {kind} must be positive, got {divisor}")
    if isinstance(numerator, int):
        return numerator // divisor if kind == "floordiv" else numerator % divisor
    even = [(c, a) for c, a in numerator.terms if c % divisor == 0]
    rest = [(c, a) for c, a in numerator.terms if c % divisor]
    whole, constant = divmod(numerator.constant, divisor)
    outside = make(whole, [(c // divisor, a) for c, a in even]) if kind == "floordiv" else 0
    inside = make(constant, rest)
    if isinstance(inside, int):
        return outside if kind == "floordiv" else inside
    return add(outside, Affine(0, ((1, Quotient(kind, inside, divisor)),)))


def indices(expr: Expr) -> tuple[int, ...]:
    """Returns the numbers of the index values that the expression mentions, by first appearance."""
    if isinstance(expr, int):
        return ()
    seen: dict[int, None] = {}
    for _, atom in expr.terms:
        for number in (atom,) if isinstance(atom, int) else indices(atom.numerator):
            seen.setdefault(number)
    return tuple(seen)


def evaluate(expr: Expr, values: Sequence[int] | Mapping[int, int]) -> int:
    """Returns the value of the expression where index value k is `values[k]`."""
    if isinstance(expr, int):
        return expr
    total = expr.constant
    for coefficient, atom in expr.terms:
        if isinstance(atom, int):
            total += coefficient * values[atom]
        else:
            inner = evaluate(atom.numerator, values)
            total += coefficient * (inner // atom.divisor if atom.kind == "floordiv" else inner % atom.divisor)
    return total


def substitute(expr: Expr, replacement: Callable[[int], Expr]) -> Expr:
    """Returns the expression with each index value k replaced by the expression `replacement(k)`."""
    if isinstance(expr, int):
        return expr
    total: Expr = expr.constant
    for coefficient, atom in expr.terms:
        if isinstance(atom, int):
            value = replacement(atom)
        else:
            value = quotient(atom.kind, substitute(atom.numerator, replacement), atom.divisor)
        total = add(total, multiply(coefficient, value))
    return total


def interval(expr: Expr, ranges: Sequence[Domain | None]) -> Interval | None:
    """Returns bounds (lowest, highest) of the expression, or None if an index value that matters is unbounded.

    `ranges[k]` is the domain of index value k; without any case there are no bounds. The bounds are exact for linear
    expressions; where quotients share an index value with other terms, they may be wider.
    """
    if isinstance(expr, int):
        return expr, expr
    low = high = expr.constant
    together: list[int] | None = None
    for coefficient, atom in expr.terms:
        if isinstance(atom, int):
            bounds = ranges[atom]
        else:
            bounds = _quotient_interval(atom, ranges)
        if bounds is None:
            return None
        if isinstance(bounds, Cases):
            own = [coefficient * value for value in bounds.values]
            together = own if together is None else list(map(int.__add__, together, own))
            continue
        ends = (coefficient * bounds[0], coefficient * bounds[-1])
        low += min(ends)
        high += max(ends)
    if together is None:
        return low, high
    return (low + min(together), high + max(together)) if together else None


MOST_POINTS = 4096
"""Exact bounds of an expression with quotients are looked for among no more values of its index values."""


def exact_interval(expr: Expr, ranges: Sequence[Domain | None]) -> Interval | None:
    """Returns the bounds that the expression reaches, or None where they are not known."""
    if isinstance(expr, int) or all(isinstance(atom, int) for _, atom in expr.terms):
        return interval(expr, ranges)
    found = values(expr, tuple(ranges))
    return (min(found), max(found)) if found else None


def values(expr: Expr, ranges: tuple[Domain | None, ...]) -> frozenset[int] | None:
    """Returns all values of the expression, or None if an index value is unbounded or there are too many."""
    found = combinations((expr,), ranges)
    return None if found is None else frozenset(value for (value,) in found)


@lru_cache(maxsize=1024)
def combinations(exprs: tuple[Expr, ...], ranges: tuple[Domain | None, ...]) -> frozenset[tuple[int, ...]] | None:
    """Returns all values that the expressions have together, or None as `values` does."""
    numbers = list(dict.fromkeys(number for expr in exprs for number in indices(expr)))
    together = {k: domain.values for k in numbers if isinstance(domain := ranges[k], Cases)}
    points: list[Mapping[int, int]] = [{}]
    if together:
        points = [dict(zip(together, case, strict=True)) for case in set(zip(*together.values(), strict=True))]
    for number in numbers:
        domain = ranges[number]
        if domain is None:
            return None
        if isinstance(domain, Cases):
            continue
        one = domain if isinstance(domain, range) else range(domain[0], domain[1] + 1)
        # The length of all 64-bit numbers is none that Python has.
        if len(points) * len(one[: MOST_POINTS + 1]) > MOST_POINTS:
            return None
        points = [{**point, number: value} for point in points for value in one]
    return frozenset(tuple(evaluate(expr, point) for expr in exprs) for point in points)


def _quotient_interval(atom: Quotient, ranges: Sequence[Domain | None]) -> Interval | None:
    inner = interval(atom.numerator, ranges)
    if inner is None:
        return (0, atom.divisor - 1) if atom.kind == "mod" else None
    low, high = inner[0] // atom.divisor, inner[1] // atom.divisor
    if atom.kind == "floordiv":
        return low, high
    return (inner[0] % atom.divisor, inner[1] % atom.divisor) if low == high else (0, atom.divisor - 1)


def divisor(expr: Expr) -> int:
    """Returns the greatest number that certainly divides the expression for all index values (0 for the constant 0)."""
    if isinstance(expr, int):
        return abs(expr)
    return gcd(expr.constant, *(c for c, _ in expr.terms))


# Text -----------------------------------------------------------------------------------------------------------


def text(expr: Expr, names: Sequence[str]) -> str:
    """Returns the expression as it is written, index value k under `names[k]`: `128*%i + ((%j + 1) mod 4) - 3`.

    It means the same in MLIR's affine expressions, where `floordiv` and `mod` bind as tightly as `*`.
    """
    if isinstance(expr, int):
        return str(expr)
    out = ""
    for coefficient, atom in expr.terms:
        if isinstance(atom, int):
            body = names[atom]
        else:
            body = f"({_numerator(atom.numerator, names)} {atom.kind} {atom.divisor})"
        magnitude = abs(coefficient)
        if magnitude != 1:
            body = f"{magnitude}*{body}"
        if not out:
            out = f"-{body}" if coefficient < 0 else body
        else:
            out += f" - {body}" if coefficient < 0 else f" + {body}"
    if expr.constant:
        out += f" - {-expr.constant}" if expr.constant < 0 else f" + {expr.constant}"
    return out


def _numerator(expr: Affine, names: Sequence[str]) -> str:
    """Returns a numerator as it is written, in parentheses unless it is one term that needs none."""
    body = text(expr, names)
    return body if not expr.constant and len(expr.terms) == 1 and expr.terms[0][0] > 0 else f"({body})"


def _quotients(expr: Expr) -> int:
    """Returns how deep quotients are nested in the expression."""
    if isinstance(expr, int):
        return 0
    return max((1 + _quotients(atom.numerator) for _, atom in expr.terms if not isinstance(atom, int)), default=0)


_TOKEN = re.compile(r"\s*(?:(\d+)|(floordiv|mod)\b|(%[\w$.-]+|d\d+)|([-+*()]))")
MAXIMUM_DEPTH = 32
"""Parentheses may be nested this deep in the text of one expression."""
MAXIMUM_QUOTIENTS = MAXIMUM_DEPTH // 3
"""Quotients may be nested this deep: written out, each has up to two pairs of parentheses and a sign."""
MAXIMUM_DIGITS = 18
"""Numbers of this many digits fit a signed 64-bit integer."""
LARGEST = 1 << 63
"""No number in an expression, written or computed, is as large as this."""
MAXIMUM_INDEX = 100_000
"""An attribute mentions fewer index values than this."""


class ExprSyntaxError(ValueError):
    """The text of an expression is not well formed; `position` counts characters from its start."""

    def __init__(self, message: str, position: int) -> None:
        super().__init__(message)
        self.position = position


class _Reader:
    """A recursive-descent reader of one expression; `name_index` turns a name into its index number."""

    def __init__(self, source: str, name_index: Callable[[str], int]) -> None:
        self.source = source
        self.position = 0
        self.name_index = name_index

    def peek(self) -> tuple[re.Match[str] | None, str]:
        match = _TOKEN.match(self.source, self.position)
        return match, "" if match is None else match.group().strip()

    def fail(self, expected: str) -> ExprSyntaxError:
        _, token = self.peek()
        found = token or self.source[self.position :].strip()[:10]
        what = f"'{found}'" if found else "its end"
        return self.error(f"expected {expected} in an affine expression, found {what}", self.position)

    def error(self, message: str, position: int) -> ExprSyntaxError:
        """Returns an error at the first character from `position` on that is not blank."""
        blank = len(self.source[position:]) - len(self.source[position:].lstrip())
        return ExprSyntaxError(message, position + blank)

    def sum(self, depth: int) -> Expr:
        constant, terms, sign = 0, list[Term](), 1
        while True:
            start = self.position
            value = self.product(depth)
            if isinstance(value, int):
                constant += sign * value
            else:
                constant += sign * value.constant
                terms += [(sign * coefficient, atom) for coefficient, atom in value.terms]
            match, token = self.peek()
            if match is None or token not in ("+", "-"):
                return self.checked(make(constant, terms), start)
            self.position = match.end()
            sign = 1 if token == "+" else -1

    def checked(self, value: Expr, start: int) -> Expr:
        """Returns the value; fails if a number of it is out of range, so that no later arithmetic grows."""
        numbers = (value,) if isinstance(value, int) else (value.constant, *(c for c, _ in value.terms))
        if max(map(abs, numbers)) >= LARGEST:
            raise self.error("a number of an affine expression does not fit 64 bits", start)
        return value

    def product(self, depth: int) -> Expr:
        """Reads atoms and the operators `*`, `floordiv` and `mod` between them, from left to right as MLIR does."""
        start = self.position
        value = self.atom(depth)
        match, token = self.peek()
        while match is not None and token in ("*", "floordiv", "mod"):
            self.position = match.end()
            if token == "*":
                other = self.atom(depth)
                if isinstance(value, int):
                    value = multiply(value, other)
                elif isinstance(other, int):
                    value = multiply(other, value)
                else:
                    raise self.error("an affine expression cannot multiply two index values", start)
            else:
                match, divisor = self.peek()
                if match is None or not match.group(1) or len(divisor) > MAXIMUM_DIGITS or int(divisor) == 0:
                    raise self.fail(f"a positive number after {token}")
                self.position = match.end()
                value = quotient(token, value, int(divisor))
                if _quotients(value) > MAXIMUM_QUOTIENTS:
                    raise self.error(f"an affine expression may nest at most {MAXIMUM_QUOTIENTS} quotients", start)
            value = self.checked(value, start)
            match, token = self.peek()
        return value

    def atom(self, depth: int) -> Expr:
        match, token = self.peek()
        if match is None:
            raise self.fail("a number, an index value or '('")
        number, _, name, _ = match.groups()
        if number:
            if len(number) > MAXIMUM_DIGITS + 1:
                raise self.error(f"a number may have at most {MAXIMUM_DIGITS + 1} digits", self.position)
            value = self.checked(int(number), self.position)
            self.position = match.end()
            return value
        if name:
            try:
                value = index(self.name_index(name))
            except ExprSyntaxError as error:
                raise ExprSyntaxError(str(error), match.start(3)) from None
            self.position = match.end()
            return value
        if token == "-":
            self.position = match.end()
            if depth >= MAXIMUM_DEPTH:
                raise self.error(f"an affine expression may nest at most {MAXIMUM_DEPTH} signs", self.position)
            return multiply(-1, self.atom(depth + 1))
        if token != "(":
            raise self.fail("a number, an index value or '('")
        if depth >= MAXIMUM_DEPTH:
            raise self.error(f"an affine expression may nest at most {MAXIMUM_DEPTH} parentheses", self.position)
        self.position = match.end()
        value = self.sum(depth + 1)
        match, token = self.peek()
        if match is None or token != ")":
            raise self.fail("')'")
        self.position = match.end()
        return value


def plain_index(name: str) -> int:
    """Numbers the names d0, d1, …; raises `ExprSyntaxError` for any other name."""
    if name[0] == "d" and len(name) < 7 and (number := int(name[1:])) < MAXIMUM_INDEX and name == f"d{number}":
        return number
    raise ExprSyntaxError(f"unknown index value '{name}'", 0)


def read(source: str, name_index: Callable[[str], int] = plain_index) -> Expr:
    """Reads a whole expression; raises `ExprSyntaxError` where it is not well formed."""
    stripped = source.strip()
    if stripped.isascii() and stripped.isdigit() and len(stripped) <= MAXIMUM_DIGITS:
        return int(stripped)
    reader = _Reader(source, name_index)
    value = reader.sum(0)
    if source[reader.position :].strip():
        raise reader.fail("an operator or the end")
    return value


def read_at(source: str, start: int, name_index: Callable[[str], int] = plain_index) -> Expr:
    """Reads an expression that is part of a longer text from `start` on: an error's position counts in that text."""
    try:
        return read(source, name_index)
    except ExprSyntaxError as error:
        raise ExprSyntaxError(str(error), start + error.position) from None

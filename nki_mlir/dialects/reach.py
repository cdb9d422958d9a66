"""Where accesses reach in the iterations in which their instruction runs: elements, partitions, first partitions."""

from collections.abc import Iterator, Sequence
from math import gcd, prod

from nki_mlir.dialects import affine
from nki_mlir.dialects.access import Pair
from nki_mlir.dialects.affine import Cases, Domain, Expr, Interval


def reached(offset: Expr, pairs: Sequence[Pair], ranges: Sequence[Domain | None], end: int) -> Interval | None:
    """Returns the lowest and highest index that pairs from `offset` on reach, None if they are not known.

    They are exact unless the index stays from 0 up to, not including, `end`, whatever masks leave.
    """
    reach = [pair.step * (pair.number - 1) for pair in pairs]
    low, high = sum(r for r in reach if r < 0), sum(r for r in reach if r > 0)
    first = affine.interval(offset, ranges)
    if first is not None and first[0] + low >= 0 and first[1] + high < end:
        return first[0] + low, first[1] + high
    if not any(pair.bounds for pair in pairs):
        first = affine.exact_interval(offset, ranges)
        return None if first is None else (first[0] + low, first[1] + high)
    found = windows(offset, pairs, ranges)
    return (min(low for low, _ in found), max(high for _, high in found)) if found else None


def windows(offset: Expr, pairs: Sequence[Pair], ranges: Sequence[Domain | None]) -> tuple[Interval, ...] | None:
    """Returns the lowest and highest index that pairs from `offset` on reach in each iteration, each once and in order;
    None if they are not known.
    """
    found = _combinations(offset, pairs, ranges)
    if found is None:
        return None
    each: set[Interval] = set()
    for start, numbers in found:
        reach = [pair.step * (number - 1) for pair, number in zip(pairs, numbers, strict=True)]
        each.add((start + sum(r for r in reach if r < 0), start + sum(r for r in reach if r > 0)))
    return tuple(sorted(each))


def start_of(offset: Expr, ranges: Sequence[Domain | None]) -> tuple[int, int]:
    """Returns one value of a partition offset, and a number that divides the distance of all others from it."""
    if isinstance(offset, int):
        return offset, 0
    start, steps, exact = offset.constant, list[int](), True
    for coefficient, atom in offset.terms:
        domain = ranges[atom] if isinstance(atom, int) else None
        if domain is None or isinstance(domain, Cases):
            steps.append(coefficient)
            exact = False
            continue
        start += coefficient * domain[0]
        if domain[0] != domain[-1]:
            steps.append(coefficient * (domain.step if isinstance(domain, range) else 1))
    step = gcd(*steps)
    if not exact and (found := affine.values(offset, tuple(ranges))) is not None:
        start = min(found)
        step = gcd(*(value - start for value in found))
    return start, step


def spans_of(
    offset: Expr, pairs: Sequence[Pair], ranges: Sequence[Domain | None], first: int
) -> tuple[tuple[int, int], ...] | None:
    """Returns the start, counted from partition `first`, and the number of partitions in all iterations, in order; None
    if they are not known.
    """
    found = _combinations(offset, pairs, ranges)
    return None if found is None else tuple(sorted({(first + start, prod(numbers)) for start, numbers in found}))


def _combinations(
    offset: Expr, pairs: Sequence[Pair], ranges: Sequence[Domain | None]
) -> list[tuple[int, list[int]]] | None:
    """Returns offset and numbers of the pairs as the iterations have them together, None if they are not known."""
    found = affine.combinations((offset, *(bound for pair in pairs for bound in pair.bounds)), tuple(ranges))
    if found is None:
        return None
    return [(start, list(_numbers(pairs, bounds))) for start, *bounds in found if all(bound > 0 for bound in bounds)]


def _numbers(pairs: Sequence[Pair], bounds: Sequence[int]) -> Iterator[int]:
    """Yields the number of each pair that the bounds, in the order of the pairs, leave."""
    left = iter(bounds)
    for pair in pairs:
        yield min(pair.number, *(next(left) for _ in pair.bounds)) if pair.bounds else pair.number

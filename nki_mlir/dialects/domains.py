"""For which values of its index values an instruction runs: a guard, and masks that leave nothing, skip iterations."""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple, TypeVar

from nki_mlir.dialects import affine
from nki_mlir.dialects.access import Access
from nki_mlir.dialects.affine import LARGEST, Cases, Domain, Expr

K = TypeVar("K", bound=Hashable)


class Condition(NamedTuple):
    """`expr >= 0`, or `expr == 0` with `equal`, which an iteration must satisfy."""

    expr: Expr
    equal: bool = False


def masks(access: Access) -> list[Condition]:
    """Returns that every mask of an access leaves an element."""
    pairs = (access.data.partition_pairs or ()) + access.data.pairs
    return [Condition(affine.add(bound, -1)) for pair in pairs for bound in pair.bounds]


def narrowed(
    domains: Mapping[K, Domain | None], conditions: Iterable[tuple[Condition, Sequence[K]]]
) -> dict[K, Domain | None] | None:
    """Returns the domains with what the conditions rule out left out; index value k of a condition is `keys[k]`.

    A condition on one index value narrows it exactly; one on several that is not certain turns their domains into the
    cases in which it holds, or leaves them unknown, None, if there are too many. None in all if one never holds.
    """
    found = dict(domains)
    several: list[tuple[Condition, Sequence[K]]] = []
    for condition, keys in conditions:
        expr = condition.expr
        if isinstance(expr, int):
            if expr < 0 or (condition.equal and expr):
                return None
        elif len(expr.terms) == 1 and isinstance(number := expr.terms[0][1], int):
            key, domain = keys[number], found[keys[number]]
            if domain is not None:
                clipped = _clipped(domain, *_bounds(expr.constant, expr.terms[0][0], condition.equal))
                if clipped is None:
                    return None
                found[key] = clipped
        else:
            several.append((condition, keys))
    uncertain = [
        (condition, keys)
        for condition, keys in several
        if (bounds := affine.interval(condition.expr, [found[key] for key in keys])) is None
        or bounds[0] < 0
        or (condition.equal and bounds[1] > 0)
    ]
    if not uncertain:
        return found
    numbers: dict[K, int] = {}
    exprs = tuple(
        (affine.substitute(condition.expr, _numbered(keys, numbers)), condition.equal) for condition, keys in uncertain
    )
    cases = _cases(exprs, tuple(found[key] for key in numbers))
    if cases is not None and not cases:
        return None
    for key, number in numbers.items():
        found[key] = None if cases is None else Cases(tuple(case[number] for case in cases))
    return found


def _numbered(keys: Sequence[K], numbers: dict[K, int]) -> Callable[[int], Expr]:
    """Returns what renumbers the index values of an expression; new ones get the next number of `numbers`."""
    return lambda k: affine.index(numbers.setdefault(keys[k], len(numbers)))


@lru_cache(maxsize=256)
def _cases(
    conditions: tuple[tuple[Expr, bool], ...], domains: tuple[Domain | None, ...]
) -> list[tuple[int, ...]] | None:
    """Returns the values of all index values for which the conditions hold, in order; None if they are too many."""
    everything = tuple(map(affine.index, range(len(domains))))
    points = affine.combinations(everything, domains)
    if points is None:
        return None

    def holds(expr: Expr, equal: bool, point: tuple[int, ...]) -> bool:
        value = affine.evaluate(expr, point)
        return value == 0 if equal else value >= 0

    return sorted(point for point in points if all(holds(expr, equal, point) for expr, equal in conditions))


def _bounds(constant: int, coefficient: int, equal: bool) -> tuple[int, int]:
    """Returns the lowest and highest v for which constant + coefficient * v is >= 0, or 0; the first is greater if none
    is.
    """
    if equal:
        exact = -constant // coefficient
        return exact, exact if exact * coefficient == -constant else exact - 1
    if coefficient > 0:
        return -(constant // coefficient), LARGEST
    return -LARGEST, constant // -coefficient


def _clipped(domain: Domain, low: int, high: int) -> Domain | None:
    """Returns the part of a domain from `low` to `high`, None if that is empty."""
    assert not isinstance(domain, Cases)
    if not isinstance(domain, range):
        low, high = max(low, domain[0]), min(high, domain[1])
        return (low, high) if low <= high else None
    rising = domain if domain.step > 0 else domain[::-1]
    first = max(0, -((rising.start - low) // rising.step))
    end = (high - rising.start) // rising.step + 1
    return rising[first : max(first, end)] or None

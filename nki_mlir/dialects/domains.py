"""For which values of its index values an instruction runs: a guard, and masks that leave nothing, skip iterations."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import NamedTuple, TypeVar

from nki_mlir.dialects import affine
from nki_mlir.dialects.access import Access
from nki_mlir.dialects.affine import LARGEST, Domain, Expr

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
) -> dict[K, Domain | None]:
    """Returns the domains with what the conditions rule out left out; index value k of a condition is `keys[k]`.

    A condition on one index value narrows it exactly. One on several that is not certain leaves them unknown, None:
    what they reach together cannot be told from what each reaches. So does one that never holds: then nothing runs.
    """
    found = dict(domains)
    several: list[tuple[Condition, Sequence[K]]] = []
    for condition, keys in conditions:
        expr = condition.expr
        if isinstance(expr, int):
            continue
        if len(expr.terms) == 1 and isinstance(number := expr.terms[0][1], int):
            key, domain = keys[number], found[keys[number]]
            if domain is not None:
                found[key] = _clipped(domain, *_bounds(expr.constant, expr.terms[0][0], condition.equal))
        else:
            several.append((condition, keys))
    for condition, keys in several:
        numbers = affine.indices(condition.expr)
        bounds = affine.interval(condition.expr, [found[key] for key in keys])
        if bounds is None or bounds[0] < 0 or (condition.equal and bounds[1] > 0):
            found.update(dict.fromkeys((keys[number] for number in numbers), None))
    return found


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
    if not isinstance(domain, range):
        low, high = max(low, domain[0]), min(high, domain[1])
        return (low, high) if low <= high else None
    rising = domain if domain.step > 0 else domain[::-1]
    first = max(0, -((rising.start - low) // rising.step))
    end = (high - rising.start) // rising.step + 1
    return rising[first : max(first, end)] or None

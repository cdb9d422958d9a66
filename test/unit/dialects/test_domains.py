"""Which iterations an instruction runs in, against trying them all."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from nki_mlir.dialects import affine
from nki_mlir.dialects.domains import Condition, narrowed

NAMES = ("i", "j")
RANGES = st.builds(
    lambda start, count, step: range(start, start + count * step, step),
    st.integers(-6, 6),
    st.integers(1, 6),
    st.sampled_from([-3, -1, 1, 2, 5]),
)
INTERVALS = st.builds(lambda low, size: (low, low + size), st.integers(-6, 6), st.integers(0, 6))
CONDITIONS = st.builds(
    lambda constant, i, j, equal: Condition(affine.make(constant, [(i, 0), (j, 1)]), equal),
    st.integers(-12, 12),
    st.integers(-3, 3),
    st.integers(-2, 2),
    st.booleans(),
)


def members(domain: affine.Domain) -> range:
    assert not isinstance(domain, affine.Cases)
    return domain if isinstance(domain, range) else range(domain[0], domain[1] + 1)


@given(st.tuples(RANGES | INTERVALS, RANGES | INTERVALS), st.lists(CONDITIONS, max_size=3))
def test_the_iterations_that_run(domains: tuple[affine.Domain, ...], conditions: list[Condition]):
    def holds(point: tuple[int, ...], condition: Condition) -> bool:
        value = affine.evaluate(condition.expr, point)
        return value == 0 if condition.equal else value >= 0

    runs = {
        point
        for point in itertools.product(*map(members, domains))
        if all(holds(point, condition) for condition in conditions)
    }
    found = narrowed(dict(zip(NAMES, domains, strict=True)), [(condition, NAMES) for condition in conditions])
    if not runs:
        assert found is None
        return
    assert found is not None
    kept = found["i"], found["j"]
    both = affine.index(0), affine.index(1)
    assert affine.combinations(both, kept) == runs
    together = affine.make(5, [(3, 0), (-2, 1)])
    values = {affine.evaluate(together, point) for point in runs}
    assert affine.interval(together, kept) == (min(values), max(values))
    assert affine.values(together, kept) == values


def test_too_many_iterations_to_try_stay_unknown():
    condition = Condition(affine.make(0, [(1, 0), (-1, 1)]))
    domains = {"i": range(64), "j": range(65)}
    assert narrowed(domains, [(condition, NAMES)]) == {"i": None, "j": None}
    domains["j"] = range(64)
    found = narrowed(domains, [(condition, NAMES)])
    assert found is not None
    assert found["i"] == affine.Cases(tuple(i for i in range(64) for _ in range(i + 1)))


def test_unknown_domains_stay_unknown():
    condition = Condition(affine.make(0, [(1, 0)]))
    assert narrowed({"r": None}, [(condition, ("r",))]) == {"r": None}


def test_a_condition_on_quotients_is_one_on_several():
    condition = Condition(affine.add(affine.quotient("floordiv", affine.index(0), 2), -2))
    assert narrowed({"i": range(8)}, [(condition, ("i",))]) == {"i": affine.Cases((4, 5, 6, 7))}
    certain = Condition(affine.quotient("floordiv", affine.index(0), 2))
    assert narrowed({"i": range(8)}, [(certain, ("i",))]) == {"i": range(8)}

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
    return domain if isinstance(domain, range) else range(domain[0], domain[1] + 1)


@given(st.tuples(RANGES | INTERVALS, RANGES | INTERVALS), st.lists(CONDITIONS, max_size=3))
def test_no_iteration_that_runs_is_left_out(domains: tuple[affine.Domain, ...], conditions: list[Condition]):
    def holds(point: tuple[int, ...], condition: Condition) -> bool:
        value = affine.evaluate(condition.expr, point)
        return value == 0 if condition.equal else value >= 0

    runs = [
        point
        for point in itertools.product(*map(members, domains))
        if all(holds(point, c) for c in conditions if not isinstance(c.expr, int))
    ]
    found = narrowed(dict(zip(NAMES, domains, strict=True)), [(condition, NAMES) for condition in conditions])
    single = all(isinstance(c.expr, int) or len(c.expr.terms) == 1 for c in conditions)
    for place, name in enumerate(NAMES):
        kept = found[name]
        needed = {point[place] for point in runs}
        if kept is None:
            assert not single or not needed
        else:
            assert needed <= set(members(kept))
            if single and runs:
                assert (min(members(kept)), max(members(kept))) == (min(needed), max(needed))


def test_unknown_domains_stay_unknown():
    condition = Condition(affine.make(0, [(1, 0)]))
    assert narrowed({"r": None}, [(condition, ("r",))]) == {"r": None}


def test_a_condition_on_quotients_is_one_on_several():
    condition = Condition(affine.add(affine.quotient("floordiv", affine.index(0), 2), -2))
    assert narrowed({"i": range(8)}, [(condition, ("i",))]) == {"i": None}
    certain = Condition(affine.quotient("floordiv", affine.index(0), 2))
    assert narrowed({"i": range(8)}, [(certain, ("i",))]) == {"i": range(8)}

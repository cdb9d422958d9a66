"""Masks against numpy: what is left of an access is what the mask lets through."""

import itertools
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from toy_kernel import Toy, check, flat, pieces

from nki_mlir.frontend.errors import NKIIndexError, NKISyntaxError, NKIValueError
from nki_mlir.frontend.grids import arange, mgrid
from nki_mlir.frontend.masks import AxisLimit, as_mask, axis_limits, check_bounds, guards, restrict
from nki_mlir.frontend.subscripts import PARTITION
from nki_mlir.frontend.symbolic import GE, Atom, Pred, Sym, Var, evaluate
from nki_mlir.frontend.tensors import Storage, View
from nki_mlir.isa.dtypes import Dtype


def tile(*shape: int) -> View:
    return View(Storage(shape, Dtype.F32, "sbuf", "t"))


def index(lo: int, hi: int, name: str = "i", depth: int = 0) -> tuple[Any, Var]:
    var = Var(lo, hi, depth, name)
    return Sym(0, {var: 1}), var


def left(view: View, mask: Any) -> Callable[[dict[Any, int]], set[tuple[int, int]]]:
    """What a mask leaves of a view, recorded once as in a trace: (partition, element) for values of loop variables.

    The values must be of what recording has left of the domains.
    """
    condition = as_mask(mask)
    if condition is False:
        return lambda _: set()
    limits, strangers = axis_limits(condition, view)
    assert not strangers
    result = restrict(view, limits)
    if result is None:
        return lambda _: set()
    pattern = result.settled().pattern()
    pairs = [*pattern.partition_pairs, *pattern.free_pairs]

    def kept(values: dict[Any, int]) -> set[tuple[int, int]]:
        for expr, kind in guards(condition):
            if (evaluate(expr, values) < 0) if kind == GE else evaluate(expr, values) != 0:
                return set()
        counts: list[int] = []
        for _, num in pairs:
            limit = [num[0], *(evaluate(end, values) for end in num[1])] if isinstance(num, tuple) else [num]
            counts.append(max(0, min(limit)))
        start = (evaluate(pattern.partition, values), evaluate(pattern.free, values))
        found: set[tuple[int, int]] = set()
        for point in itertools.product(*map(range, counts)):
            at = list(start)
            for place, (step, _), number in zip(pattern.order, pairs, point, strict=True):
                at[0 if place == PARTITION else 1] += step * number
            found.add((at[0], at[1]))
        return found

    return kept


def truth(mask: Any) -> set[tuple[int, int]]:
    return {(int(p), int(f)) for p, f in zip(*np.nonzero(mask), strict=True)}


@given(seed=st.integers(0, 10**6))
@settings(deadline=None, max_examples=150)
def test_masks_against_numpy(seed: int) -> None:
    """Up to three comparisons over a grid and a loop index, for each value that the loop has left."""
    p, f = arange(6)[:, None], arange(7)[None, :]
    np_p, np_f = np.arange(6)[:, None], np.arange(7)[None, :]
    i, var = index(0, 4)

    def comparisons(p: Any, f: Any, i: Any) -> list[Any]:
        picks = random.Random(seed)
        results: list[Any] = []
        for _ in range(picks.randint(1, 3)):
            axis = picks.choice([p, f])
            step, slope, const = (
                picks.choice([1, 1, 2, 3, -1, -2]),
                picks.choice([0, 1, 2, -1, -2]),
                picks.randint(-4, 9),
            )
            scaled, limit = step * axis, slope * i + const
            results.append(
                picks.choice([lambda a, b: a < b, lambda a, b: a >= b, lambda a, b: a <= b, lambda a, b: a == b])(
                    scaled, limit
                )
            )
        return results

    view = tile(6, 7)[p, f]
    while var.lo < 4:
        ours: Any = True
        for comparison in comparisons(p, f, i):
            ours = comparison & ours
        lo = var.lo
        kept = left(view, ours)
        # What is recorded holds for all that is left of the domain afterwards.
        for value in range(lo, var.hi):
            expected = np.ones((6, 7), bool)
            for comparison in comparisons(np_p, np_f, value):
                expected &= comparison
            assert kept({var: value}) == truth(expected)
        var.lo, var.hi = var.hi, 4


def test_known_masks() -> None:
    """-1 and -2 are what Python makes of `~False` and `~True`."""
    for value in (None, True, np.True_, -1, 1):
        assert as_mask(value) is True
    for value in (False, np.False_, -2, 0):
        assert as_mask(value) is False
    i, _ = index(2, 5)
    assert as_mask(i >= 2) is True
    assert as_mask(i < 2) is False
    assert as_mask(i == 7) is False
    assert isinstance(as_mask(i > 2), Pred)


def test_unequal_is_a_decision() -> None:
    i, var = index(0, 5)
    assert as_mask(i != 0) is False
    assert (var.lo, var.hi) == (0, 1)
    i, var = index(1, 5)
    assert as_mask(i != 0) is True
    with pytest.raises(NKISyntaxError) as caught:
        as_mask(arange(4)[:, None] != 2)
    expected = "'not equal' mask is not supported; run the instruction once with '<' and once with '>'"
    assert str(caught.value) == f"{expected} [mask_not_equal_not_supported]"


def test_invalid_masks() -> None:
    p, f = arange(4)[:, None], arange(4)[None, :]
    view = tile(4, 4)[p, f]
    for mask, message in [
        ("a", "unsupported expression in mask: 'a' is no comparison of indices"),
        (3, "unsupported expression in mask: 3 is no comparison of indices"),
    ]:
        with pytest.raises(NKIValueError) as caught:
            as_mask(mask)
        assert message in str(caught.value)
    with pytest.raises(NKIValueError) as caught:
        axis_limits(p <= f, view)
    assert str(caught.value) == (
        "unsupported expression in mask: axis[1] - axis[0] >= 0 compares several axes, each restricts one "
        "[unsupported_expression_in_mask]"
    )
    with pytest.raises(NKIValueError, match=r"takes '//' or '%' of an index grid"):
        axis_limits(p % 2 == 0, view)


def test_guards_are_apart() -> None:
    i, _ = index(0, 5)
    p = arange(4)[:, None]
    condition = as_mask((i > 1) & (p < i))
    assert [repr(atom.expr) for atom in guards(condition)] == ["i - 2"]
    assert guards(True) == ()
    limits, strangers = axis_limits(condition, tile(4, 4)[p, 0])
    assert strangers == []
    assert limits[1] is None
    assert limits[0] is not None
    assert (limits[0].size, limits[0].lower) == (4, 0)
    assert [repr(upper) for upper in limits[0].uppers] == ["i"]


def test_axes_match_by_variable_then_by_place() -> None:
    p, f = arange(4)[:, None], arange(4)[None, :]
    other = arange(4)[None, :]
    transposed = tile(4, 4)[arange(4)[:, None], f]
    assert axis_limits(f < 2, transposed)[0] == [None, AxisLimit(4, 0, (2,))]
    assert axis_limits(other < 2, transposed)[0] == [None, AxisLimit(4, 0, (2,))]
    assert axis_limits(p >= 1, tile(4, 9))[0] == [AxisLimit(4, 1, ()), None]
    limits, strangers = axis_limits(f < 2, tile(4, 9))
    assert limits == [None, None]
    assert [type(atom) for atom in strangers] == [Atom]
    three = mgrid[0:4, 0:2, 0:3]
    assert axis_limits(three.y < 1, tile(4, 6))[1] != []


def test_several_bounds_stay_together() -> None:
    i, var = index(0, 4)
    f = arange(64)[None, :]
    view = tile(128, 64)[arange(128)[:, None], f]
    made = restrict(view, axis_limits(as_mask((f < 100 - 30 * i) & (f < 10 + 20 * i)), view)[0])
    assert made is not None
    ((_, num),) = made.pattern().free_pairs
    assert isinstance(num, tuple)
    assert num[0] == 64
    assert [repr(bound) for bound in num[1]] == ["-30*i + 100", "20*i + 10"]
    assert var.hi == 4


def test_broadcast_operands_are_left_alone() -> None:
    limits: list[AxisLimit | None] = [AxisLimit(128, 0, (100,)), AxisLimit(64, 8, ())]
    wide = restrict(tile(128, 64), limits)
    assert wide is not None
    assert (wide.shape, wide.offsets) == ((100, 56), (0, 0, 8))
    narrow = restrict(tile(128, 1), limits)
    assert narrow is not None
    assert (narrow.shape, narrow.offsets) == ((100, 1), (0, 0, 0))
    assert restrict(tile(128, 64), [AxisLimit(128, 0, (0,)), None]) is None


# Bounds that masks protect


def test_mask_protects_a_ragged_edge() -> None:
    i, var = index(0, 8)
    p, f = arange(128)[:, None], arange(64)[None, :]
    view = View(Storage((1000, 64), Dtype.F32, "hbm", "x"))[128 * i + p, f]
    check_bounds(view, as_mask(128 * i + p < 1000))
    assert var.hi == 8
    check_bounds(view, False)
    assert var.hi == 8
    check_bounds(view)
    assert var.hi == 7


def test_a_mask_over_another_grid_of_the_same_shape_protects() -> None:
    rows, columns = arange(128)[:, None], arange(64)[None, :]
    view = View(Storage((100, 64), Dtype.F32, "hbm", "o"))[rows, columns]
    check_bounds(view, as_mask(arange(128)[:, None] < 100))
    check_bounds(view, as_mask(mgrid[0:128, 0:64][0] < 100))
    for other in (arange(128)[:, None] < 101, arange(64)[None, :] < 100, arange(127)[:, None] < 100):
        with pytest.raises(NKIIndexError, match="out-of-bound access"):
            check_bounds(view, as_mask(other))


def test_mask_that_does_not_protect() -> None:
    p, f = arange(128)[:, None], arange(64)[None, :]
    view = View(Storage((100, 64), Dtype.F32, "hbm", "x"))[p, f]
    check_bounds(view, as_mask(p < 100))
    check_bounds(view, as_mask((p < 90) & (f < 3)))
    check_bounds(view, as_mask(p == 3))
    check_bounds(view, as_mask(2 * p < 199))
    for mask in (p < 101, f < 3, p >= 1, p == 100):
        with pytest.raises(NKIIndexError, match=r"dimension 0 of size 100: index 1\d\d"):
            check_bounds(view, as_mask(mask))


def test_mask_and_iterations() -> None:
    """An iteration that goes out of bounds raises in that iteration, as it does unrolled."""

    def program(k: Toy) -> None:
        p, f = arange(128)[:, None], arange(64)[None, :]
        for i in k.affine(4):
            view = k.x[10 * i + 20 + arange(3)[:, None, None], p[None], f[None]]
            try:
                k.op("masked", view, mask=f[None] + i < 100)
            except IndexError:
                k.op("outside", number=i)

    toy = check(program)
    assert [instr for instr, *_ in flat(toy)] == ["masked"] * 4

    def failing(k: Toy) -> None:
        f = arange(64)[None, :]
        for i in k.affine(4):
            try:
                k.op("masked", k.x[20 * i + 4 + arange(1)[:, None], 0, f], mask=f < 60 - i)
            except IndexError:
                k.op("outside", number=i)

    toy = check(failing)
    assert [instr for instr, *_ in flat(toy)] == ["masked", "masked", "masked", "outside"]
    assert pieces(toy.root)


def test_large_searches_are_left_to_the_simulator() -> None:
    """Two comparisons that only together protect the access, over too many points to try."""
    p, f = arange(128)[:, None], arange(512)[None, :]
    view = View(Storage((700,), Dtype.F32, "hbm", "x"))[p + 2 * f]
    check_bounds(view, as_mask((p < 64) & (f < 300)))
    small = View(Storage((20,), Dtype.F32, "hbm", "x"))[arange(8)[:, None] + 2 * arange(16)[None, :]]
    q, g = arange(8)[:, None], arange(16)[None, :]
    view = View(Storage((20,), Dtype.F32, "hbm", "x"))[q + 2 * g]
    check_bounds(view, as_mask((q < 4) & (g < 8)))
    with pytest.raises(NKIIndexError):
        check_bounds(view, as_mask((q < 4) & (g < 10)))
    assert small.shape == (8, 16)

"""Views against numpy: which elements of the storage a view names, in which order."""

import contextlib
import itertools
import math
import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nki_mlir.frontend.errors import NKIIndexError, NKISyntaxError, NKITypeError, NKIValueError
from nki_mlir.frontend.grids import arange, mgrid
from nki_mlir.frontend.records import Loop, LoopInstance
from nki_mlir.frontend.subscripts import BLOCK, FREE, PARTITION, Span
from nki_mlir.frontend.symbolic import Sym, Var, evaluate
from nki_mlir.frontend.tensors import Storage, View, row_major
from nki_mlir.isa.dtypes import Dtype

F32, BF16, U8, I32 = Dtype.F32, Dtype.BF16, Dtype.U8, Dtype.I32


def hbm(*shape: int, dtype: Dtype = F32) -> View:
    return View(Storage(shape, dtype, "hbm", "h"))


def sbuf(*shape: int, dtype: Dtype = F32, blocks: int = 0) -> View:
    return View(Storage(shape, dtype, "sbuf", "t", blocks))


def numbers(storage: Storage) -> Any:
    """An array of the storage's shape in which each element holds its linear number."""
    return np.arange(math.prod(storage.shape)).reshape(storage.shape)


def elements(view: View, values: dict[Any, int] | None = None) -> Any:
    """The numbers of the elements that a view names, from its offsets and steps, in the view's shape."""
    unit = {FREE: 1, PARTITION: view.row, BLOCK: view.row * view.storage.partitions}
    found = np.full(view.shape, sum(evaluate(view.offsets[part], values or {}) * unit[part] for part in unit))
    for dimension, (part, step) in enumerate(view.layout):
        shape = [1] * len(view.shape)
        shape[dimension] = -1
        found = found + (np.arange(view.shape[dimension]) * step * unit[part]).reshape(shape)
    return found


def index(lo: int, hi: int) -> tuple[Any, Var]:
    var = Var(lo, hi, 0, "i")
    return Sym(0, {var: 1}), var


ANY = slice(None)
ROWS = [
    # view, key, shape; NKI ISA reference, §10 first
    (sbuf(64, 64, 64), (0, 0, 10), (1, 1)),
    (sbuf(64, 64, 64), (ANY, 0), (64, 64)),
    (sbuf(64, 64, 64), (ANY, 0, 10), (64, 1)),
    (sbuf(64, 64, 64), (ANY, ANY, slice(None, None, 2)), (64, 64, 32)),
    (sbuf(64, 64, 64), (0, ..., ANY), (1, 64, 64)),
    (hbm(4, 128, 32), 0, (128, 32)),
    (hbm(8), 3, (1,)),
    (hbm(8, 9), (3, 4), (1,)),
    (hbm(8, 9), (..., 4), (8,)),
    (hbm(8, 9), (None, 3, None), (1, 1, 9)),
    (sbuf(64, 32), 5, (1, 32)),
    (sbuf(64, 32), (ANY, 5), (64, 1)),
    (sbuf(64, 32), (ANY, -1), (64, 1)),
    (sbuf(64, 32), (-1, slice(-4, None)), (1, 4)),
    (sbuf(64, 32), (slice(60, 99), slice(None, -30)), (4, 2)),
    (sbuf(64, 32), (ANY, slice(None, None, -1)), (64, 32)),
    (sbuf(64, 32), (ANY, slice(20, 2, -5)), (64, 4)),
    (sbuf(64, 32), (ANY, None, ANY), (64, 1, 32)),
    (sbuf(64, 32), (Span(4, 8), Span(30, 2)), (8, 2)),
    (sbuf(3, 64, 32, blocks=1), 2, (64, 32)),
    (sbuf(3, 64, 32, blocks=1), (2, ANY, 5), (64, 1)),
    (sbuf(3, 64, 32, blocks=1), (slice(1, 3), 7), (2, 1, 32)),
    (sbuf(2, 3, 64, 32, blocks=2), (1, 2, ..., 3), (64, 1)),
    (sbuf(2, 3, 64, 32, blocks=2), (1, 2, 7, 3), (1, 1)),
]


@pytest.mark.parametrize("view, key, shape", ROWS)
def test_subscript(view: View, key: Any, shape: tuple[int, ...]) -> None:
    result = view[key]
    assert result.shape == shape
    plain = tuple(
        slice(k.start, k.start + k.size) if isinstance(k, Span) else k
        for k in (key if isinstance(key, tuple) else (key,))
    )
    expected = numbers(view.storage)[plain]
    assert np.array_equal(elements(result).ravel(), expected.ravel())
    assert type(result) is View


def test_columns_of_a_column() -> None:
    assert sbuf(64, 32)[:, 5][:, 0].shape == (64, 1)


@given(data=st.data())
@settings(deadline=None, max_examples=200)
def test_chains_of_subscripts(data: st.DataObject) -> None:
    """Any chain of subscripts names the elements that numpy names; only dropped dimensions may differ."""
    on_chip = data.draw(st.booleans())
    shape = data.draw(st.lists(st.integers(1, 7), min_size=2, max_size=4))
    view = sbuf(*shape) if on_chip else hbm(*shape)
    reference = numbers(view.storage)
    for _ in range(3):
        reference = reference.reshape(view.shape)
        key: list[Any] = []
        for size in view.shape[: data.draw(st.integers(1, len(view.shape)))]:
            at = data.draw(st.integers(-size, size - 1))
            end = data.draw(st.integers(-size - 1, size + 2))
            item = data.draw(
                st.sampled_from([at, slice(at, end), slice(at, None, -1), slice(None, end, 2), Span(0, 1)])
            )
            if isinstance(item, slice) and not len(range(*item.indices(size))):
                with pytest.raises(NKIIndexError, match="an empty slice"):
                    view[(*(ANY for _ in key), item)]
                item = ANY
            key.append(item)
        plain = tuple(slice(0, 1) if isinstance(item, Span) else item for item in key)
        view, reference = view[tuple(key)], reference[plain]
        assert np.array_equal(elements(view).ravel(), np.asarray(reference).ravel())


INVALID = [
    (hbm(8, 9), (8, 0), NKIIndexError, "out-of-bound access of h in dimension 0 of size 8: index 8"),
    (hbm(8, 9), (0, -10), NKIIndexError, "out-of-bound access of h in dimension 1 of size 9: index -10"),
    (hbm(8, 9), (0, 0, 0), NKIIndexError, "h has 2 dimensions but 3 are indexed"),
    (hbm(8, 9), (0, Span(5, 5)), NKIIndexError, "dimension 1 of size 9: indices 5 to 9"),
    (hbm(8, 9), (0, Span(-1, 5)), NKIIndexError, "dimension 1 of size 9: indices -1 to 3"),
    (hbm(8, 9), (0, Span(1, 0)), NKIIndexError, "dimension 1 of size 9"),
    (hbm(8, 9), slice(5, 5), NKIIndexError, "dimension 0 of size 8: index 5 from an empty slice"),
    (hbm(8, 9), slice(9, 12), NKIIndexError, "from an empty slice"),
    (hbm(8, 9), (..., ...), NKISyntaxError, "a subscript may have one Ellipsis"),
    (hbm(8, 9), "a", NKISyntaxError, "index 'a' is not supported: str is no index"),
    (hbm(8, 9), 1.5, NKISyntaxError, "index 1.5 is not supported: float is no index"),
    (hbm(8, 9), True, NKISyntaxError, "index True is not supported: bool is no index"),
    (hbm(8, 9), slice(0, 1.5), NKITypeError, "subscript: the end of a slice must be an integer, got float"),
]


@pytest.mark.parametrize("view, key, kind, message", INVALID)
def test_invalid_subscript(view: View, key: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind) as caught:
        view[key]
    assert message in str(caught.value)


def test_numpy_integers_index() -> None:
    assert hbm(8, 9)[np.int64(3)].offsets == (0, 0, 27)
    assert hbm(8, 9)[np.int32(2) : np.int32(4)].shape == (2, 9)


# Symbolic subscripts


def test_symbolic_slice_keeps_its_length() -> None:
    i, var = index(0, 4)
    view = sbuf(128, 512)[:, 128 * i : 128 * (i + 1)]
    assert view.shape == (128, 128)
    assert [evaluate(view.offsets[2], {var: k}) for k in range(4)] == [0, 128, 256, 384]
    assert var.hi == 4


def test_symbolic_slice_is_clamped_where_it_must_be() -> None:
    i, var = index(0, 4)
    view = hbm(1000)[300 * i : 300 * i + 300]
    assert (var.lo, var.hi) == (0, 3)
    assert view.shape == (300,)
    i, var = index(3, 4)
    assert hbm(1000)[300 * i : 300 * i + 300].shape == (100,)


def test_symbolic_negative_index_wraps() -> None:
    i, var = index(0, 4)
    view = hbm(10)[i - 2]
    assert (var.lo, var.hi) == (0, 2)
    assert [evaluate(view.offsets[2], {var: k}) for k in (0, 1)] == [8, 9]


def test_symbolic_index_out_of_bounds() -> None:
    i, _ = index(2, 9)
    with pytest.raises(NKIIndexError) as caught:
        hbm(4, 8)[2 * i]
    assert str(caught.value) == (
        "out-of-bound access of h in dimension 0 of size 4: indices 4 to 16 from 2*i with i in [2, 9) "
        "[tensor_access_out_of_bound]"
    )


def test_symbolic_span() -> None:
    i, var = index(0, 4)
    view = hbm(64)[Span(16 * i, 16)]
    assert view.shape == (16,)
    assert var.hi == 4
    i, var = index(0, 5)
    hbm(64)[Span(16 * i, 16)]
    assert var.hi == 4


def test_settled() -> None:
    i, var = index(0, 4)
    view = hbm(64)[3 * i]
    assert view.settled().offsets == view.offsets
    var.lo = 3
    assert view.settled().offsets == (0, 0, 9)
    plain = hbm(4)
    assert plain.settled() is plain


# Index grids


def test_grid_shapes() -> None:
    view = sbuf(128, 512)
    p, f = arange(128)[:, None], arange(512)[None, :]
    assert view[p, f].shape == (128, 512)
    assert view[p, f].layout == view.layout
    assert view[p, 3].shape == (128, 1)
    assert view[0, f].shape == (1, 512)
    assert view[p].shape == (128, 512)
    assert view[p, :].shape == (128, 512)
    assert view[:, arange(16)[None, :]].shape == (128, 16)
    assert view[0, 2 * arange(16)[None, :]].layout == ((PARTITION, 1), (FREE, 2))


def test_one_axis_mgrid() -> None:
    grid = mgrid[0:8]
    assert hbm(10)[grid].shape == (8,)
    assert hbm(10)[grid + 2].offsets == (0, 0, 2)
    (first,) = grid
    assert first is grid.p
    assert len(grid) == 1


def test_mgrid_parts() -> None:
    grid = mgrid[0:128, 0:4, 2:10:2]
    p, x, y = grid
    assert (grid.p, grid.x, grid.y) == (p, x, y)
    assert grid[1] is x
    assert len(grid) == 3
    view = sbuf(128, 4, 16)[grid.p, grid.x, grid.y]
    assert view.shape == (128, 4, 4)
    assert view.layout == ((PARTITION, 1), (FREE, 16), (FREE, 2))
    assert view.offsets == (0, 0, 2)
    with pytest.raises(AttributeError, match="an mgrid of 3 axes has no part 'z'"):
        grid.z  # noqa: B018
    for key in ((1,), (slice(None),), (slice(0, 4, 2j),)):
        with pytest.raises(NKISyntaxError, match="mgrid takes slices with an end and an integer step"):
            mgrid[key]


def test_arange_arguments() -> None:
    assert sbuf(128, 64)[arange(4, 20, 4)[:, None], 0].layout[0] == (PARTITION, 4)
    i, var = index(0, 4)
    view = hbm(64, 8)[arange(16 * i, 16 * i + 16)[:, None], arange(8)[None, :]]
    assert view.shape == (16, 8)
    assert [evaluate(view.offsets[2], {var: k}) for k in range(4)] == [0, 128, 256, 384]
    with pytest.raises(NKISyntaxError, match="the range of an index is empty"):
        arange(3, 3)
    assert (arange(4) * 2 + 1)[None, :, None].terms.keys() != arange(4).terms.keys()


@given(seed=st.integers(0, 10**6))
@settings(deadline=None, max_examples=100)
def test_grids_against_numpy(seed: int) -> None:
    """Sums of grids, also diagonal, reversed and overlapping, name the elements that numpy's indexing names."""
    source = random.Random(seed)
    rank = source.randint(1, 4)
    sizes = [source.randint(1, 4) for _ in range(rank)]
    ours = list(mgrid[tuple(slice(0, n) for n in sizes)])
    theirs = list(np.ogrid[tuple(slice(0, n) for n in sizes)])
    storage_shape, keys, references = [], [], []
    for _ in range(source.randint(1, 3)):
        coefficients = [source.choice([0, 1, 1, 2, -1]) for _ in range(rank)]
        low = sum(min(0, c) * (n - 1) for c, n in zip(coefficients, sizes, strict=True))
        high = sum(max(0, c) * (n - 1) for c, n in zip(coefficients, sizes, strict=True))
        start = source.randint(0, 2) - low
        storage_shape.append(high + start + 1 + source.randint(0, 2))
        keys.append(sum((c * g for c, g in zip(coefficients, ours, strict=True)), start))
        references.append(sum((c * g for c, g in zip(coefficients, theirs, strict=True)), start))
    view = hbm(*storage_shape)
    result = view[tuple(keys)]
    expected = numbers(view.storage)[tuple(np.broadcast_to(r, sizes) for r in references)]
    assert result.shape == tuple(sizes)
    assert np.array_equal(elements(result), expected)


def test_grid_with_slices_follows_numpy() -> None:
    view = hbm(4, 5, 6, 7)
    a, b = arange(3)[:, None], arange(2)[None, :]
    c, d = np.arange(3)[:, None], np.arange(2)[None, :]
    for ours, theirs in [
        ((a, b), (c, d)),
        ((slice(None), a, b), (slice(None), c, d)),
        ((a, slice(None), b), (c, slice(None), d)),
        ((2, a, b, slice(0, None)), (2, c, d, slice(0, None))),
    ]:
        result, expected = view[ours], numbers(view.storage)[theirs]
        assert result.shape == expected.shape
        assert np.array_equal(elements(result), expected)


def test_grid_composes_on_views() -> None:
    view = sbuf(128, 512)[:, 100:300][arange(64)[:, None], 2 * arange(50)[None, :]]
    expected = np.arange(128 * 512).reshape(128, 512)[:64, 100:200:2]
    assert np.array_equal(elements(view), expected)
    assert view[:, 0:2].shape == (64, 2)


def test_invalid_grids() -> None:
    view = sbuf(128, 512)
    p, f = arange(128)[:, None], arange(512)[None, :]
    for key, kind, message in [
        ((arange(128), 0), NKISyntaxError, "a one-dimensional arange cannot be an index"),
        ((p, slice(0, 5)), NKISyntaxError, "a subscript of t mixes slices with arange or mgrid indices"),
        ((p, None, f), NKISyntaxError, "mixes slices"),
        ((p, Span(0, 4)), NKISyntaxError, "mixes slices"),
        ((p, arange(64)[:, None]), NKIIndexError, "index grids of shapes (128, 1), (64, 1) cannot be broadcast"),
        ((p, p), NKISyntaxError, "an axis moves along partitions and elements at once"),
        ((p, f // 2), NKISyntaxError, "'//' and '%' of an arange or mgrid are no multiples"),
        ((p, f, f), NKIIndexError, "t has 2 dimensions but 3 are indexed"),
        ((p, "a"), NKISyntaxError, "mixes slices"),
    ]:
        with pytest.raises(kind) as caught:
            view[key]
        assert message in str(caught.value)
    with pytest.raises(NKISyntaxError, match=r"a grid takes ':', None and '\.\.\.' only"):
        p[0]
    assert p[..., None].terms.keys() != p.terms.keys()


def test_grid_bounds_are_checked_when_used() -> None:
    view = sbuf(128, 500)[arange(128)[:, None], arange(512)[None, :]]
    with pytest.raises(NKIIndexError) as caught:
        view.check_bounds()
    assert "dimension 1 of size 500: indices 0 to 511" in str(caught.value)
    with pytest.raises(NKIIndexError):
        view[:, 0:4]


def test_grid_bounds_split_a_loop() -> None:
    i, var = index(0, 4)
    view = hbm(100, 8)[32 * i + arange(32)[:, None], arange(8)[None, :]]
    view.check_bounds()
    assert var.hi == 3


# Other shapes


def test_documented_slice() -> None:
    """NKI ISA reference, §10: slice view, dtype reinterpret."""
    view = sbuf(128, 64).slice(1, 8, 24)
    assert view.get_pattern() == [[64, 128], [1, 16]]
    assert view.offset == 8
    assert sbuf(128, 64).view(U8).shape == (128, 256)
    again = sbuf(128, 256, dtype=I32).ap([[512, 128], [1, 512]], dtype=BF16)
    assert again.get_pattern() == [[512, 128], [1, 512]]
    assert (again.element, again.shape) == (BF16, (128, 512))


def test_slice_method() -> None:
    view = hbm(10, 20)
    assert np.array_equal(elements(view.slice(1, 3, 18, 4)), numbers(view.storage)[:, 3:18:4])
    for arguments in ((0, 5, 5), (0, -1, 5), (0, 0, 11)):
        with pytest.raises(NKIIndexError):
            view.slice(*arguments)
    with pytest.raises(NKIValueError, match="the step must be at least 1, got 0"):
        view.slice(0, 0, 4, 0)
    with pytest.raises(NKIValueError, match="dimension 2 of h with 2 dimensions"):
        view.slice(2, 0, 4)
    i, var = index(0, 4)
    assert view.slice(1, 4 * i, 4 * i + 4).shape == (10, 4)
    assert var.hi == 4


def test_select() -> None:
    view = hbm(4, 5, 6)
    assert np.array_equal(elements(view.select(1, 3)), numbers(view.storage)[:, 3])
    assert sbuf(8, 4).select(1, 2).shape == (8, 1)
    assert sbuf(8, 4).select(0, 2).shape == (1, 4)


@given(seed=st.integers(0, 10**6))
@settings(deadline=None, max_examples=200)
def test_view_methods_against_numpy(seed: int) -> None:
    """Chains of methods; where the layout has no steps for a reshape, numpy would have copied."""
    source = random.Random(seed)
    on_chip = source.random() < 0.5
    view = sbuf(4, 6, 8) if on_chip else hbm(4, 6, 8)
    reference = numbers(view.storage)
    first = 1 if on_chip else 0
    for _ in range(5):
        rank = view.ndim
        method = source.choice(["permute", "reshape", "split", "flatten", "expand", "squeeze", "broadcast", "slice"])
        dim = source.randrange(first, rank) if rank > first else 0
        if method == "permute":
            rest = list(range(first, rank))
            source.shuffle(rest)
            order = [*range(first), *rest]
            view, reference = view.permute(order), reference.transpose(order)
        elif method == "reshape":
            sizes = list(view.shape[first:])
            count = math.prod(sizes)
            divisor = source.choice([d for d in range(1, count + 1) if count % d == 0])
            shape = (*view.shape[:first], divisor, -1)
            with contextlib.suppress(NKIValueError):
                view, reference = view.reshape(shape), reference.reshape(shape)
        elif method == "split" and rank > first:
            divisor = source.choice([d for d in range(1, view.shape[dim] + 1) if view.shape[dim] % d == 0])
            view = view.reshape_dim(dim, (-1, divisor))
            reference = reference.reshape(*reference.shape[:dim], -1, divisor, *reference.shape[dim + 1 :])
        elif method == "flatten" and dim + 1 < rank:
            flat = (*reference.shape[:dim], -1, *reference.shape[dim + 2 :])
            with contextlib.suppress(NKIValueError):
                view, reference = view.flatten_dims(dim, dim + 1), reference.reshape(flat)
        elif method == "expand":
            view, reference = view.expand_dim(dim + 1), np.expand_dims(reference, dim + 1)
        elif method == "squeeze" and view.shape[dim] == 1 and rank > 2:
            view, reference = view.squeeze_dim(dim), reference.squeeze(dim)
        elif method == "broadcast" and view.shape[dim] == 1 and rank > first:
            size = source.randint(1, 3)
            view = view.broadcast(dim, size)
            reference = np.repeat(reference, size, axis=dim)
        elif method == "slice" and view.shape[dim] > 1:
            view = view.slice(dim, 1, view.shape[dim], 2)
            reference = np.moveaxis(np.moveaxis(reference, dim, 0)[1::2], 0, dim)
        assert view.shape == reference.shape
        assert np.array_equal(elements(view), reference)


def test_reshape_refuses() -> None:
    with pytest.raises(NKIValueError, match=r"48 elements do not fill shape \(4, 13\)"):
        hbm(4, 12).reshape((4, 13))
    with pytest.raises(NKIValueError, match="do not fill shape"):
        hbm(4, 12).reshape((-1, 5))
    with pytest.raises(NKIValueError, match=r"the partition dimension of \(4, 12\) must stay in \(2, 24\)"):
        sbuf(4, 12).reshape((2, 24))
    with pytest.raises(NKIValueError) as caught:
        hbm(4, 12)[:, 0:6].reshape((24,))
    assert str(caught.value) == ("reshape: h of shape (4, 6) and strides (12, 1) is not contiguous there [tensor_view]")
    assert sbuf(6, 4, 12, blocks=1).reshape((2, 3, 4, 2, 6)).layout == (
        (BLOCK, 3),
        (BLOCK, 1),
        (PARTITION, 1),
        (FREE, 6),
        (FREE, 1),
    )


def test_partition_dimension_stays() -> None:
    view = sbuf(4, 1, 12)
    for use in (
        lambda: view.permute((1, 0, 2)),
        lambda: view.reshape_dim(0, (2, 2)),
        lambda: view.flatten_dims(0, 1),
        lambda: view.expand_dim(0),
        lambda: sbuf(1, 4).squeeze_dim(0),
        lambda: sbuf(1, 4).broadcast(0, 3),
    ):
        with pytest.raises(NKIValueError, match="the partition dimension of t stays as it is"):
            use()


def test_methods_refuse() -> None:
    view = hbm(4, 6)
    for use, message in [
        (lambda: view.permute((0, 0)), r"\(0, 0\) is no permutation of 2 dimensions"),
        (lambda: view.broadcast(0, 3), "dimension 0 has size 4, only size 1 can be repeated"),
        (lambda: view.squeeze_dim(0), "dimension 0 has size 4, not 1"),
        (lambda: view.flatten_dims(1, 0), "dimension 1 comes after 0"),
        (lambda: view.expand_dim(4), "dimension 4 of h with 2 dimensions"),
    ]:
        with pytest.raises(NKIValueError, match=message):
            use()


def test_broadcast_to() -> None:
    assert np.array_equal(
        elements(hbm(3, 1).broadcast_to((2, 3, 4))), np.broadcast_to(np.arange(3)[:, None], (2, 3, 4))
    )
    assert sbuf(1, 5).broadcast_to((128, 5)).layout == ((PARTITION, 0), (FREE, 1))
    with pytest.raises(NKIValueError, match=r"shapes \(3, 2\) and \(3, 4\) cannot be broadcast to one shape"):
        hbm(3, 2).broadcast_to((3, 4))
    with pytest.raises(NKIValueError):
        hbm(3, 2).broadcast_to((2,))


def test_rearrange() -> None:
    view = sbuf(4, 6, 10)
    result = view.rearrange(("p", ("a", "b"), "c"), ("p", "c", ("b",), "a"), {"a": 2})
    expected = numbers(view.storage).reshape(4, 2, 3, 10).transpose(0, 3, 2, 1)
    assert np.array_equal(elements(result), expected)
    joined = hbm(4, 6, 10).rearrange(("a", "b", "c"), ("a", ("b", "c")))
    assert joined.shape == (4, 60)
    for arguments, message in [
        ((("p", "a"), ("p", "a")), "2 entries for 3 dimensions"),
        ((("p", "a", "b"), ("p", "a", "c")), "are not the same"),
        ((("p", "a", "b"), ("p", "a", "b"), {"a": 5}), "dimension a has size 6, not 5"),
        ((("p", ("a", "b"), "c"), ("p", "a", "b", "c"), {"a": 4}), "6 elements do not fill shape"),
    ]:
        with pytest.raises(NKIValueError, match=message):
            view.rearrange(*arguments)


def test_reinterpret() -> None:
    view = sbuf(128, 8, 6)[:, 2:4, 2:6]
    bytes_ = view.view(U8)
    assert (bytes_.shape, bytes_.element, bytes_.row) == ((128, 2, 16), U8, 192)
    assert bytes_.layout == ((PARTITION, 1), (FREE, 24), (FREE, 1))
    assert bytes_.offset == 56
    assert bytes_.view(F32).layout == view.layout
    assert bytes_.view(F32).offsets == view.offsets
    i, var = index(0, 2)
    symbolic = sbuf(128, 8)[:, 4 * i : 4 * i + 4].view(BF16)
    assert [evaluate(symbolic.offsets[2], {var: k}) for k in (0, 1)] == [0, 8]
    assert hbm(4, 1).view(U8).shape == (4, 4)
    assert hbm(4, 6).view(I32).element is I32
    for bad in (hbm(4, 6, dtype=U8), hbm(4, 8, dtype=U8)[:, 1:5], hbm(4, 10, dtype=U8)[:, 0:8]):
        with pytest.raises(NKIValueError, match="h of 1-byte elements has no whole 4-byte elements there"):
            bad.view(F32)
    with pytest.raises(NKIValueError, match="the last dimension of h is not contiguous"):
        hbm(4, 6)[:, ::2].view(U8)
    with pytest.raises(NKIValueError, match="a row of 10 bytes is no whole number of f32"):
        sbuf(4, 10, dtype=U8)[:, 0:4].view(F32).get_pattern()


def test_access_pattern_by_hand() -> None:
    view = sbuf(128, 512)[3:5, 7:9]
    by_hand = view.ap([[512, 64], [2, 4], [0, 3], [-1, 2]], 512 * 8 + 100)
    assert by_hand.shape == (64, 4, 3, 2)
    assert by_hand.offsets == (0, 8, 100)
    assert by_hand.get_pattern() == [[512, 64], [2, 4], [0, 3], [-1, 2]]
    assert hbm(4, 8).ap([[8, 4], [1, 8]]).get_pattern() == [[8, 4], [1, 8]]
    assert hbm(4, 8).ap([[1, 8]], offset=24).offset == 24
    i, var = index(0, 4)
    symbolic = view.ap([[512, 32], [1, 64]], 512 * 32 * i + 64 * i)
    assert [(evaluate(symbolic.offsets[1], {var: k}), evaluate(symbolic.offsets[2], {var: k})) for k in (0, 3)] == [
        (0, 0),
        (96, 192),
    ]
    assert var.hi == 4


def test_access_pattern_refuses() -> None:
    view = sbuf(128, 512)
    for pattern, offset, kind, message in [
        ([[511, 64], [1, 4]], 0, NKIValueError, "the first stride on chip is the 512 elements of a partition, got 511"),
        ([[512, 129], [1, 4]], 0, NKIIndexError, "dimension 0 of size 128: indices 0 to 128"),
        ([[512, 64], [1, 4]], 512 * 65, NKIIndexError, "dimension 0 of size 128: indices 65 to 128"),
        ([[512, 64], [1, 513]], 0, NKIIndexError, "dimension 1 of size 512: indices 0 to 512 from an access pattern"),
        ([[512, 64], [-1, 4]], 2, NKIIndexError, "indices -1 to 2"),
        ([[512, 64], [1, 0]], 0, NKIValueError, "is no list of"),
        ([], 0, NKIValueError, "is no list of"),
        ([[512, 64]], 1.5, NKIValueError, "the offset 1.5 is no integer"),
    ]:
        with pytest.raises(kind) as caught:
            view.ap(pattern, offset)
        assert message in str(caught.value)
    with pytest.raises(NKIIndexError, match="dimension 0 of size 32: indices 0 to 32"):
        hbm(4, 8).ap([[8, 4], [1, 9]])


# Queries


def test_pattern() -> None:
    view = sbuf(3, 128, 8, 6, blocks=1)[2, 32:64, 1:3, ::2]
    assert view.pattern() == (2, 32, ((1, 32),), 6, ((6, 2), (2, 3)), (PARTITION, FREE, FREE))
    assert hbm(4, 8)[1].pattern() == (0, 0, (), 8, ((1, 8),), (FREE,))
    moved = hbm(4, 8).permute((1, 0)).pattern()
    assert moved.free_pairs == ((1, 8), (8, 4))
    transposed = sbuf(128, 8)[arange(16)[None, :], arange(8)[:, None]].pattern()
    assert transposed.order == (FREE, PARTITION)


def test_blocks_must_be_indexed() -> None:
    view = sbuf(2, 3, 128, 8, blocks=2)
    with pytest.raises(NKITypeError) as caught:
        view.pattern()
    assert str(caught.value) == (
        "t of shape (2, 3, 128, 8) spans several blocks where one tile is expected: index its block dimensions "
        "[failed_to_infer_tile_from_local_tensor]"
    )
    assert [tile.offsets[0] for tile in view.tiles()] == [0, 1, 2, 3, 4, 5]
    assert [tile.shape for tile in view[1].tiles()] == [(128, 8)] * 3
    assert next(hbm(4).tiles()).shape == (4,)
    assert view.size == 6 * 128 * 8


def test_contiguous() -> None:
    assert sbuf(128, 8, 6).is_contiguous()
    assert sbuf(128, 8, 6)[3:5, 2:3].is_contiguous()
    assert not sbuf(128, 8, 6)[:, :, 1:3].is_contiguous()
    assert not hbm(4, 6).permute((1, 0)).is_contiguous()
    assert hbm(4, 6)[1:3].is_contiguous()


def test_storage() -> None:
    storage = Storage((2, 3, 128, 8, 6), F32, "psum", "acc", 2)
    assert (storage.blocks, storage.partitions, storage.row) == (6, 128, 48)
    assert storage.in_scope
    assert repr(storage) == "<psum storage acc (2, 3, 128, 8, 6)>"
    assert repr(View(storage)[1, 2]) == "<psum tensor acc (128, 8, 6) f32>"
    other = Storage((4, 8), F32, "shared_hbm", "out", partition_dim=1)
    assert (other.blocks, other.partitions, other.row, other.partition_dim) == (1, 1, 32, 0)
    loop = Loop(None, LoopInstance("affine", "i", range(4)), None, (0, 1))
    scoped = Storage((128, 8), F32, "sbuf", "t", scope=loop)
    assert scoped.in_scope
    loop.instance.open = False
    assert not scoped.in_scope


def test_steps_are_row_major() -> None:
    for shape in itertools.product((1, 2, 3), repeat=3):
        assert row_major(shape) == [s // 8 for s in np.empty(shape).strides] or 1 in shape
    assert row_major(()) == []


def test_derived_classes_stay() -> None:
    class Tensor(View):
        __slots__ = ()

    tensor = Tensor(Storage((128, 8), F32, "sbuf", "t"))
    for view in (tensor[0:4, 0:4], tensor[0], tensor.view(U8), tensor.ap([[8, 128]]), tensor.reshape((128, 2, 4))):
        assert type(view) is Tensor

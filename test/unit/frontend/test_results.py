"""What a kernel may be given and may return: whole tensors in containers, truth values, arrays in any byte order."""

import inspect
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

import nki_mlir.nki as nki
import nki_mlir.nki_legacy as legacy
from nki_mlir.frontend.errors import NKITypeError, NKIValueError
from nki_mlir.nki import isa as nisa
from nki_mlir.nki import language as nl
from nki_mlir.nki_legacy import language as ll

X = np.random.default_rng(5).uniform(-2, 2, (16, 16)).astype(np.float32)
FRONTENDS = ("beta2", "beta3")
MADE = "; a kernel returns whole tensors as they were made [return]"


class Pair(NamedTuple):
    first: Any
    second: Any


@dataclass
class Record:
    array: Any
    scale: float = 2.0


@dataclass(slots=True, frozen=True)
class Slots:
    array: Any


class Held(nki.NKIObject):
    array: Any
    others: Any = None


def returning(make, buffer=nl.shared_hbm):
    """A kernel that copies its argument and returns what `make` makes of the copy."""

    @nki.jit
    def kernel(x):
        out = nl.ndarray(x.shape, x.dtype, buffer=buffer)
        nisa.dma_copy(out, x)
        return make(out)

    return kernel


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda out: out.permute((1, 0)), "out.1 of shape (16, 16) is returned with its dimensions in another order"),
        (lambda out: out.view(nl.int32), "out.1 of type f32 is returned as i32"),
        (lambda out: out.view(nl.uint16), "out.1 of type f32 is returned as u16"),
        (lambda out: out.reshape((256,)), "out.1 of shape (16, 16) is returned with shape (256,)"),
        (lambda out: out[0:8], "a part of out.1 is returned"),
        (lambda out: {"a": [out[8:16]]}, "a part of out.1 is returned"),
    ],
)
@pytest.mark.parametrize("frontend", FRONTENDS)
def test_another_view_than_the_whole_tensor_is_refused(make, message, frontend):
    with pytest.raises(NKITypeError) as caught:
        returning(make).simulate([X], frontend=frontend)
    assert str(caught.value) == message + MADE
    assert caught.value.location.line == inspect.getsourcelines(returning)[1] + 5


@pytest.mark.parametrize(
    "make",
    [
        lambda out: out,
        lambda out: out[...],
        lambda out: out[:, :],
        lambda out: out.view(nl.float32),
        lambda out: out.permute((1, 0)).permute((1, 0)),
    ],
)
def test_views_of_all_of_a_tensor_are_the_tensor(make):
    np.testing.assert_array_equal(returning(make)(X), X)


def test_a_dimension_of_one_element_has_no_order():
    @nki.jit
    def kernel(x):
        out = nl.ndarray((1, 1, 16), x.dtype, buffer=nl.shared_hbm)
        nisa.dma_copy(out.reshape((1, 16)), x)
        return out.permute((1, 0, 2))

    np.testing.assert_array_equal(kernel(X[:1]), X[None, :1])


def test_containers_come_back_as_what_they_were():
    result = returning(lambda out: {"a": [out, (out, None, 3)], "b": "text"})(X)
    assert result["b"] == "text"
    assert result["a"][1][1:] == (None, 3)
    np.testing.assert_array_equal(result["a"][1][0], X)

    pair = returning(lambda out: Pair(out, second=1))(X)
    assert type(pair) is Pair
    assert pair.second == 1
    np.testing.assert_array_equal(pair.first, X)

    record = returning(lambda out: Record(out, 3.0))(X)
    assert type(record) is Record
    assert record.scale == 3.0
    np.testing.assert_array_equal(record.array, X)

    np.testing.assert_array_equal(returning(Slots)(X).array, X)
    held = returning(lambda out: Held(out, others=[Record(out)]))(X)
    assert type(held) is Held
    np.testing.assert_array_equal(held.array, X)
    np.testing.assert_array_equal(held.others[0].array, X)


def test_tensors_of_a_dataclass_are_outputs_and_checked():
    def unwritten(out):
        return Record(nl.ndarray((2, 2), nl.float32, buffer=nl.shared_hbm))

    with pytest.raises(NKIValueError, match=r"output t\.1 is never written"):
        returning(unwritten)(X)


def test_results_are_in_shared_hbm():
    for buffer in (nl.hbm, nl.private_hbm):
        with pytest.raises(NKITypeError) as caught:
            returning(lambda out: out, buffer)(X)
        expected = "out.1 is in private_hbm; a kernel returns tensors in shared_hbm [unsupported_memory]"
        assert str(caught.value) == expected


def test_the_older_api_returns_tensors_of_its_only_hbm():
    @legacy.jit
    def kernel(x):
        out = ll.ndarray(x.shape, dtype=x.dtype, buffer=ll.hbm)
        ll.store(out, ll.load(x))
        return out

    np.testing.assert_array_equal(kernel(X), X)


def test_a_kernel_may_write_an_argument_and_return_nothing():
    @nki.jit
    def kernel(x, y):
        nl.store(y, nl.multiply(nl.load(x), 2.0))

    y = np.zeros_like(X)
    assert kernel(X, y) is None
    np.testing.assert_array_equal(y, 2 * X)


# Truth values and byte order ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("frontend", FRONTENDS)
@pytest.mark.parametrize("mask", [X > 0, np.asfortranarray(X > 0), np.repeat(X > 0, 2, axis=1)[:, ::2]])
def test_truth_values_are_arguments(frontend, mask):
    @nki.jit
    def kernel(mask, x):
        assert mask.dtype == nl.bool_
        out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
        nl.store(out, nl.where(nl.load(mask), nl.load(x), 0.0))
        return out

    np.testing.assert_array_equal(kernel.simulate([mask, X], frontend=frontend), np.where(X > 0, X, np.float32(0)))


@pytest.mark.parametrize("dtype", [nl.bool_, "bool", bool, np.bool_, np.dtype(bool)])
def test_truth_values_are_results(dtype):
    @nki.jit
    def kernel(x):
        out = nl.ndarray(x.shape, dtype, buffer=nl.shared_hbm)
        nl.store(out, nl.greater(nl.load(x), 0.0, dtype=nl.uint8))
        return out

    result = kernel(X)
    assert result.dtype == np.bool_
    np.testing.assert_array_equal(result, X > 0)


def test_truth_values_of_the_older_api():
    @legacy.jit
    def kernel(x):
        out = ll.ndarray(x.shape, dtype=ll.bool_, buffer=ll.shared_hbm)
        ll.store(out, ll.greater(ll.load(x), 0.0))
        return out

    result = kernel(X)
    assert result.dtype == np.bool_
    np.testing.assert_array_equal(result, X > 0)


def test_truth_values_are_written_in_place():
    @nki.jit
    def kernel(x, y):
        nl.store(y, nl.greater(nl.load(x), 0.0, dtype=nl.bool_))
        return y

    y = np.zeros(X.shape, bool)
    assert kernel(X, y).dtype == np.bool_
    np.testing.assert_array_equal(y, X > 0)


@pytest.mark.parametrize("dtype", [">f4", ">i4", ">u2"])
def test_arrays_may_have_the_other_byte_order(dtype):
    x = (X * 100).astype(dtype)
    result = returning(lambda out: out)(x)
    assert result.dtype.isnative
    np.testing.assert_array_equal(result, x)


# What shows once storage is placed ---------------------------------------------------------------------------------


def partitions_2_to_5(x):
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nisa.tensor_scalar(tile[2:5], tile[2:5], nl.multiply, 2.0)
    nisa.dma_copy(out, tile)
    return out


def legacy_partitions_2_to_5(x):
    out = ll.ndarray(x.shape, dtype=x.dtype, buffer=ll.shared_hbm)
    ll.store(out, ll.load(x))
    ll.store(out[0:3], ll.multiply(ll.load(x)[2:5], 2.0))
    return out


@pytest.mark.parametrize(
    "run",
    [
        lambda: nki.jit(partitions_2_to_5)(X),
        lambda: nki.simulate(partitions_2_to_5)(X),
        lambda: nki.jit(partitions_2_to_5).simulate([X], frontend="beta3"),
        lambda: legacy.simulate_kernel(legacy_partitions_2_to_5, X),
        lambda: legacy.jit(legacy_partitions_2_to_5)(X),
    ],
)
def test_running_a_kernel_reports_what_compiling_it_does(run):
    with pytest.raises(Exception, match=r"accesses 3 partitions from partition 2, .* \[HW-P2\]") as caught:
        run()
    lines = inspect.getsource(inspect.getmodule(partitions_2_to_5)).splitlines()
    assert caught.value.location.file == __file__
    assert "2:5" in lines[caught.value.location.line - 1]


# Transposes move data of any type ------------------------------------------------------------------------------------


@pytest.mark.parametrize("frontend", FRONTENDS)
@pytest.mark.parametrize("dtype", [np.int32, np.uint32, np.int16, np.uint16])
def test_the_tensor_engine_transposes_integers_bit_by_bit(frontend, dtype):
    @nki.jit
    def kernel(x):
        out = nl.ndarray((10, 16), x.dtype, buffer=nl.shared_hbm)
        moved = nl.ndarray((10, 16), x.dtype, buffer=nl.psum)
        copied = nl.ndarray((10, 16), x.dtype)
        nisa.nc_transpose(moved, nl.load(x), engine=nisa.engine.tensor)
        nisa.tensor_copy(copied, moved)
        nisa.dma_copy(out, copied)
        return out

    limits = np.iinfo(dtype)
    x = np.random.default_rng(1).integers(limits.min, limits.max, (16, 10), dtype, endpoint=True)
    np.testing.assert_array_equal(kernel.simulate([x], frontend=frontend), x.T)


@pytest.mark.parametrize("frontend", FRONTENDS)
@pytest.mark.parametrize("of_tensor, of_instruction", [("identity_f32", "move"), ("t", "memset_id.f32")])
def test_names_that_a_transpose_would_take(frontend: str, of_tensor: str, of_instruction: str) -> None:
    """The Tensor engine transposes with an identity matrix, whose names give way to the user's."""

    def kernel(a: Any) -> Any:
        out = nl.ndarray((16, 16), nl.float32, buffer=nl.shared_hbm)
        tile = nl.ndarray((16, 16), nl.float32, name=of_tensor)
        turned = nl.ndarray((16, 16), nl.float32, buffer=nl.psum)
        nisa.dma_copy(tile, a, name=of_instruction)
        nisa.nc_transpose(turned, tile)
        nisa.tensor_copy(tile, turned)
        nisa.dma_copy(out, tile)
        return out

    assert np.array_equal(nki.jit(kernel).simulate((X,), frontend=frontend), X.T)

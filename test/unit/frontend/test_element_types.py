"""The `dtype` of a tensor: equal to what the API calls the type, and found in dictionaries by it."""

import ml_dtypes
import numpy as np
import pytest

import nki_mlir.nki as current
import nki_mlir.nki.language as nl
import nki_mlir.nki_legacy as legacy
import nki_mlir.nki_legacy.language as ll

NAMES = ("float32", "float16", "bfloat16", "uint8", "int8", "uint16", "int16", "uint32", "int32", "tfloat32", "bool_")


def seen(generation, language, name):
    """Returns the dtype that a kernel sees of an on-chip tensor made with a type of `nl`."""
    found = []

    @generation.jit
    def kernel(x):
        tile = language.ndarray((4, 8), getattr(language, name))
        found.append(tile[0:2, 0:4].dtype)
        other = language.zeros_like(tile) if language is ll else tile
        found.append(other.dtype)
        out = language.ndarray((4, 4), x.dtype, buffer=language.shared_hbm)
        language.store(out, language.load(x))
        return out

    kernel.trace((np.ones((4, 4), np.float32),), {}, frontend="beta2")
    assert found[0] == found[1]
    return found[0]


@pytest.mark.parametrize("name", NAMES)
def test_type_of_the_current_api_is_its_name(name):
    assert seen(current, nl, name) == getattr(nl, name)
    assert type(seen(current, nl, name)) is str


@pytest.mark.parametrize("name", NAMES)
def test_type_of_the_older_api(name):
    dtype, token = seen(legacy, ll, name), getattr(ll, name)
    others = [getattr(ll, other) for other in NAMES if other != name]
    assert dtype == token
    assert token == dtype
    assert np.dtype(token) == dtype
    assert name == "tfloat32" or dtype == np.dtype(token).name
    assert all(dtype != other for other in others)
    assert {token: "here"}[dtype] == "here"
    assert dtype in (*others, token)
    assert dtype not in others
    assert np.dtype(dtype) == np.dtype(token)
    assert dtype.itemsize == np.dtype(token).itemsize
    assert (str(dtype), repr(dtype)) == (str(np.dtype(token)), repr(np.dtype(token)))
    assert not hasattr(dtype, "_missing")
    assert dtype is not None
    assert dtype != None  # noqa: E711


def test_scaled_by_the_size_of_the_type():
    """A dictionary from types to sizes, in both generations."""

    def body(x, language):
        size = {language.float32: 4, language.bfloat16: 2}[x.dtype]
        out = language.ndarray(x.shape, x.dtype, buffer=language.shared_hbm)
        language.store(out, language.load(x) if size == 2 else language.multiply(language.load(x), 4.0))
        return out

    for generation, language in ((current, nl), (legacy, ll)):
        for dtype, factor in ((np.float32, 4), (ml_dtypes.bfloat16, 1)):
            x = np.ones((4, 4), dtype)
            kernel = generation.jit(lambda x, language=language: body(x, language))
            result = kernel(x)
            assert result.dtype == dtype
            np.testing.assert_array_equal(result.astype(np.float32), factor * x.astype(np.float32))


def test_truth_values_stay_what_they_are():
    x = np.array([[True, False]])
    for generation, language in ((current, nl), (legacy, ll)):

        def kernel(x, language=language):
            assert x.dtype == language.bool_
            out = language.ndarray(x.shape, x.dtype, buffer=language.shared_hbm)
            language.store(out, language.load(x))
            return out

        result = generation.jit(kernel)(x)
        assert result.dtype == np.bool_
        np.testing.assert_array_equal(result, x)

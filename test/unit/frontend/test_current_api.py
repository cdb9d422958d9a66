"""The functions of `nl` in the current API: operator tokens, and functions that return tiles."""

import numpy as np
import pytest

import nki_mlir.nki as nki
import nki_mlir.nki_legacy as legacy
from nki_mlir.diagnostics import NkiError
from nki_mlir.frontend.errors import NKINotImplementedError, NKITypeError, NKIValueError
from nki_mlir.isa.target import SUNDA
from nki_mlir.nki import isa as nisa
from nki_mlir.nki import language as nl


def data(*shape, seed=0, low=-2.0, high=2.0):
    return np.random.default_rng(seed).uniform(low, high, shape).astype(np.float32)


X, Y = data(64, 48), data(64, 48, seed=1)


def both(kernel, *args):
    first, second = (kernel.simulate(args, frontend=frontend) for frontend in ("beta2", "beta3"))
    assert first.tobytes() == second.tobytes()
    return first


def mapped(function):
    @nki.jit
    def kernel(*arrays):
        tiles = [nl.load(array) for array in arrays]
        result = function(*tiles)
        if result.buffer is not nl.sbuf:
            result = nl.copy(result)
        out = nl.ndarray(result.shape, result.dtype, buffer=nl.shared_hbm)
        nl.store(out, result)
        return out

    return kernel


@pytest.mark.parametrize("name", ["add", "subtract", "multiply", "divide", "maximum", "minimum", "less", "not_equal"])
def test_a_function_is_an_operator_token_too(name):
    function, reference = getattr(nl, name), getattr(np, name)

    def by_token(x, y):
        result = nl.ndarray(x.shape, x.dtype)
        nisa.tensor_tensor(result, x, y, op=function)
        return result

    expected = reference(X, Y).astype(np.float32)
    np.testing.assert_allclose(both(mapped(function), X, Y), expected, rtol=1e-6)
    np.testing.assert_allclose(both(mapped(by_token), X, Y), expected, rtol=1e-6)


@pytest.mark.parametrize("name", ["exp", "tanh", "square", "abs", "sign"])
def test_an_activation_is_a_token_too(name):
    function, reference = getattr(nl, name), getattr(np, name)

    def by_token(x):
        result = nl.ndarray(x.shape, x.dtype)
        nisa.activation(result, op=function, data=x)
        return result

    np.testing.assert_allclose(both(mapped(function), X), reference(X), rtol=1e-5)
    np.testing.assert_allclose(both(mapped(by_token), X), reference(X), rtol=1e-5)


def test_the_result_has_the_type_of_the_first_tile():
    x = data(16, 8).astype(np.float16)
    assert both(mapped(lambda t: nl.add(t, 1.5)), x).dtype == np.float16
    assert both(mapped(lambda t: nl.add(t, 1.5, nl.float32)), x).dtype == np.float32
    assert both(mapped(lambda t: nl.greater(t, 0.0)), x).dtype == np.float16


@pytest.mark.parametrize("name", ["sin", "cos", "tan"])
def test_angles_are_brought_into_the_period(name):
    x = data(64, 48, low=-30, high=30)
    reference = getattr(np, name)(x.astype(np.float64))
    near = np.abs(np.cos(x.astype(np.float64))) > 0.1
    result = both(mapped(getattr(nl, name)), x)
    np.testing.assert_allclose(result[near], reference[near], rtol=2e-3, atol=2e-5)


def test_reductions_and_what_is_made_of_them():
    np.testing.assert_allclose(both(mapped(lambda x: nl.sum(x, 1)), X), X.sum(1, keepdims=True), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(both(mapped(lambda x: nl.max(x, axis=-1, keepdims=True)), X), X.max(1, keepdims=True))
    np.testing.assert_allclose(
        both(mapped(lambda x: nl.mean(x, axis=1)), X), X.mean(1, keepdims=True), rtol=1e-4, atol=1e-5
    )
    np.testing.assert_allclose(both(mapped(lambda x: nl.var(x, axis=1)), X), X.var(1, keepdims=True), rtol=1e-5)
    powers = np.exp(X.astype(np.float64))
    np.testing.assert_allclose(both(mapped(nl.softmax), X), powers / powers.sum(1, keepdims=True), rtol=1e-5)


def test_matmul_transpose_where_and_broadcast():
    x, y = data(96, 64), data(96, 80, seed=1)
    result = both(mapped(lambda a, b: nl.matmul(a, b, transpose_x=True)), x, y)
    np.testing.assert_allclose(result, x.T @ y, rtol=1e-4, atol=1e-4)
    assert (both(mapped(nl.transpose), x) == x.T).all()
    result = both(mapped(lambda a, b: nl.where(nl.greater(a, b), a, b)), X, Y)
    assert (result == np.maximum(X, Y)).all()
    row = data(1, 40)
    assert (both(mapped(lambda t: nl.broadcast_to(t, (64, 40))), row) == np.broadcast_to(row, (64, 40))).all()


def test_store_takes_tiles_in_sbuf_only():
    @nki.jit
    def kernel(x):
        out = nl.ndarray((48, 64), x.dtype, buffer=nl.shared_hbm)
        nl.store(out, nl.transpose(nl.load(x)))
        return out

    with pytest.raises(NKITypeError, match="store: value is in psum, expected to be in sbuf"):
        kernel.trace((X,), {}, frontend="beta3")


def test_tensors_have_no_operators_and_no_assignment():
    with pytest.raises(TypeError):
        mapped(lambda x: x + x).trace((X,), {}, frontend="beta3")

    def assign(x):
        x[0:1, :] = 0.0

    with pytest.raises(NKITypeError, match="tensors cannot be assigned to"):
        mapped(assign).trace((X,), {}, frontend="beta3")


def test_masks_are_no_keyword():
    with pytest.raises(TypeError, match="unexpected keyword argument 'mask'"):
        mapped(lambda x: nl.add(x, 1.0, mask=True)).trace((X,), {}, frontend="beta3")


def test_types_compare_with_names():
    def kernel(x):
        assert x.dtype == nl.float32
        assert x.dtype != nl.bfloat16
        return x

    mapped(kernel).trace((X,), {}, frontend="beta3")


def test_operands_must_fit():
    with pytest.raises(NKIValueError, match="add: shapes"):
        mapped(lambda x: nl.add(x, x[:, 0:7])).trace((X,), {}, frontend="beta3")


def test_missing_functions_and_names():
    with pytest.raises(NKINotImplementedError, match=r"nl\.dropout is not supported by this front end"):
        mapped(lambda x: nl.dropout(x, 0.5)).trace((X,), {}, frontend="beta3")
    with pytest.raises(NKINotImplementedError, match=r"nisa\.topk is not supported by this front end"):
        mapped(lambda x: nisa.topk(x)).trace((X,), {}, frontend="beta3")
    for generation in (nki, legacy):
        with pytest.raises(NKINotImplementedError, match=r"nki\.compiler\.allocated_sbuf is not supported"):
            generation.compiler.allocated_sbuf((128, 64))
    with pytest.raises(AttributeError, match=r"module 'nki\.language' has no attribute 'nonsense'"):
        _ = nl.nonsense


def test_tensor_copy_accepts_the_type_of_earlier_releases():
    @nki.jit
    def kernel(x):
        out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
        tile, other = (nl.ndarray(x.shape, x.dtype) for _ in range(2))
        nisa.dma_copy(tile, x)
        nisa.tensor_copy(dst=other, src=tile, dtype=x.dtype)
        nisa.dma_copy(out, other)
        return out

    assert (both(kernel, X) == X).all()


def test_what_transfers_say_of_indices_outside_changes_no_direct_one():
    @nki.jit
    def kernel(x):
        out, copy = (nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm) for _ in range(2))
        tile = nl.ndarray(x.shape, x.dtype)
        for dst, src in ((copy, x), (tile, copy), (out, tile)):
            nisa.dma_copy(dst, src, oob_mode=nisa.oob_mode.skip)
        return out

    assert (both(kernel, X) == X).all()


def test_views_of_more_dimensions_than_an_access_has_pairs():
    @nki.jit
    def kernel(x):
        out = nl.ndarray((4, 8), nl.float32, buffer=nl.shared_hbm)
        many = x.reshape((4, *[1] * 40, 8))
        nisa.dma_copy(out[0:2], many[2:4])
        nisa.dma_copy(out[2:4], many[0:2, 0])
        return out

    x = np.arange(32, dtype=np.float32).reshape(4, 8)
    for frontend in ("beta2", "beta3"):
        assert (kernel.simulate((x,), frontend=frontend) == x[[2, 3, 0, 1]]).all()


# select_reduce ----------------------------------------------------------------------------------------------------

ODD = (np.arange(64 * 48).reshape(64, 48) % 3).astype(np.uint8)


def selecting(on_true=None, on_false=None, predicate=None, **how):
    """Returns the kernel of one select_reduce; what is given is a function of the tiles x, vector and predicate."""

    @nki.jit
    def kernel(x, mask):
        out = nl.ndarray(x.shape, nl.float32, buffer=nl.shared_hbm)
        tile, result = nl.ndarray(x.shape, x.dtype), nl.ndarray(x.shape, nl.float32)
        flags, vector = nl.ndarray(x.shape, mask.dtype), nl.ndarray((64, 1), nl.float32)
        nisa.dma_copy(tile, x)
        nisa.dma_copy(flags, mask)
        nisa.tensor_copy(vector, tile[:, 5:6])
        chosen = [
            given(tile, vector, flags) if given else default
            for given, default in ((predicate, flags), (on_true, tile), (on_false, vector))
        ]
        nisa.select_reduce(result, *chosen, **how)
        nisa.dma_copy(out, result)
        return out

    return kernel


@pytest.mark.parametrize("reverse", [False, True])
def test_select_reduce_selects(reverse):
    holds = (ODD == 0) if reverse else (ODD != 0)
    vector = both(selecting(reverse_pred=reverse, reduce_op=nl.maximum), X, ODD)
    np.testing.assert_array_equal(vector, np.where(holds, X, X[:, 5:6]))
    number = both(selecting(on_false=lambda *_: np.int32(-3), reverse_pred=reverse), X, ODD)
    np.testing.assert_array_equal(number, np.where(holds, X, np.float32(-3)))


def cast(dtype, columns=48):
    def made(tile, *_):
        other = nl.ndarray((64, columns), dtype)
        nisa.tensor_copy(other, tile[:, :columns])
        return other

    return made


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"on_true": lambda *_: 1.0}, "select_reduce: on_true must be a tensor, got float"),
        ({"on_true": cast(nl.int32)}, "select_reduce: on_true is of type i32, it must be "),
        ({"on_true": cast(nl.tfloat32)}, "select_reduce: on_true is of type f32r, it must be "),
        ({"on_false": cast(nl.float32)}, "select_reduce: on_false has 48 elements a partition, exactly 1 needed"),
        ({"on_false": cast(nl.bfloat16, 1)}, "select_reduce: on_false is of type bf16, it must be f32"),
        ({"on_false": lambda *_: "0"}, "select_reduce: on_false must be a number, got str"),
        ({"predicate": cast(nl.int32)}, "select_reduce: predicate is of type i32, it must be i16, i8, u16 or u8"),
        ({"reduce_op": nl.add}, "select_reduce: reduce_op is add, it must be max"),
    ],
)
@pytest.mark.parametrize("reverse", [False, True])
def test_select_reduce_refuses(given, text, reverse):
    with pytest.raises(NkiError) as caught:
        selecting(**given, reverse_pred=reverse).trace((X, ODD), {}, frontend="beta3")
    assert text in str(caught.value)


# 32-bit integers --------------------------------------------------------------------------------------------------


def test_integers_are_compared_and_selected_exactly():
    near = np.array([[2**24, 2**24 + 1, -(2**24) - 1, 7]], np.int32)
    far = np.array([[2**24 + 1, 2**24, -(2**24), 7]], np.int32)

    @nki.jit
    def kernel(a, b):
        x, y = nl.load(a), nl.load(b)
        tiles = [nl.ndarray(x.shape, nl.int32) for _ in range(5)]
        nisa.tensor_tensor(tiles[0], x, y, nl.maximum)
        nisa.tensor_tensor(tiles[1], x, y, nl.minimum)
        nisa.tensor_tensor(tiles[2], x, y, nl.equal)
        nisa.affine_select(tiles[3], [[1, 4]], 0, x, 0.0, nl.greater, 0)
        narrow = nl.ndarray(x.shape, nl.uint8)
        nisa.tensor_tensor(narrow, x, y, nl.greater)
        nisa.tensor_copy(tiles[4], narrow)
        out = nl.ndarray((5, 1, 4), nl.int32, buffer=nl.shared_hbm)
        for n, tile in enumerate(tiles):
            nl.store(out[n], tile)
        return out

    expected = [np.maximum(near, far), np.minimum(near, far), near == far, np.where([0, 1, 1, 1], near, 0), near > far]
    np.testing.assert_array_equal(both(kernel, near, far), np.array(expected).astype(np.int32))


# Accumulators, numbers of numpy -----------------------------------------------------------------------------------


def test_an_idle_activation_writes_what_the_accumulator_holds():
    def kernel(x):
        total, dst = nl.ndarray((64, 1), nl.float32), nl.ndarray(x.shape, nl.float32)
        nisa.activation(dst, nl.square, x, reduce_op=nl.add, reduce_cmd=nisa.reduce_cmd.reset_reduce)
        nisa.activation(dst, nl.exp, x, reduce_op=nl.add, reduce_res=total)
        return total

    np.testing.assert_allclose(both(mapped(kernel), X), (X**2).sum(1, keepdims=True), rtol=1e-5)


def test_parameters_take_numbers_of_numpy():
    x, y = data(64, 64), data(64, 32, seed=3)

    @nki.jit
    def kernel(x, y):
        out = nl.ndarray((64, 32), nl.float32, buffer=nl.shared_hbm)
        a, b = nl.load(x), nl.load(y)
        total = nl.ndarray((64, 32), nl.float32, buffer=nl.psum)
        how = {"tile_size": (np.int64(64), 128), "tile_position": (0, np.int64(0))}
        nisa.nc_matmul(total, a, b, accumulate=np.bool_(False), **how)
        nisa.nc_matmul(total, a, b, accumulate=np.bool_(True), **how)
        scaled = nl.ndarray((64, 32), nl.float32)
        nisa.activation(scaled, nl.copy, total, scale=np.float16(2))
        nisa.activation(scaled, nl.copy, scaled, scale=np.int32(3))
        nisa.dma_copy(out, scaled)
        return out

    np.testing.assert_allclose(both(kernel, x, y), 12 * (x.T @ y), rtol=1e-4, atol=1e-4)


# What only the current API refuses ---------------------------------------------------------------------------------


def writing(function, dtype=nl.float32, shape=(64, 48), buffer=nl.sbuf):
    """Returns the kernel that calls `function` with a tile of results and one of data, both of `dtype`."""

    @nki.jit
    def kernel(x):
        out = nl.ndarray(shape, dtype, buffer=nl.shared_hbm)
        tile, result = nl.ndarray((64, 48), dtype), nl.ndarray(shape, dtype, buffer=buffer)
        nisa.dma_copy(tile, x)
        function(result, tile)
        nisa.dma_copy(out, result)
        return out

    return kernel


def test_integers_are_filled_with_integers():
    filled = writing(lambda dst, _: nisa.memset(dst, np.int64(-3)), nl.int32)
    assert (both(filled, X) == -3).all()
    with pytest.raises(NKITypeError) as caught:
        writing(lambda dst, _: nisa.memset(dst, 1.0), nl.int32).trace((X,), {}, frontend="beta3")
    assert "memset: value must be an integer, as dst is of type i32, got float" in str(caught.value)
    assert (both(writing(lambda dst, _: nisa.memset(dst, 1)), X) == 1).all()


def test_the_scalar_engine_copies_from_trn2_on():
    copying = writing(lambda dst, x: nisa.tensor_copy(dst, x, engine=nisa.engine.scalar))
    assert (copying.simulate((X,), target="trn2") == X).all()
    with pytest.raises(NkiError) as caught:
        copying.simulate((X,), target="trn1")
    assert "tensor_copy: engine is act, which needs trn2 or newer; the target is trn1" in str(caught.value)


def test_is_transpose_is_a_label_on_trn1():
    def turn(dst, x):
        nisa.nc_matmul(dst, x, x, is_transpose=True)

    kernel = writing(turn, nl.bfloat16, (48, 48), nl.psum)
    with pytest.raises(NkiError) as caught:
        kernel.trace((X,), {}, frontend="beta3", target=SUNDA)
    assert "dst is of type bf16, a matmul writes f32" in str(caught.value)


def test_identity_bypass_and_numbers_of_u32():
    bits = np.array([[0xFFFFFFFF, 0x12345678]], np.uint32)

    def kernel(x):
        high, same = nl.ndarray(x.shape, nl.uint32), nl.ndarray(x.shape, nl.uint32)
        nisa.tensor_scalar(high, x, nl.bitwise_and, 0xFFFF0000, op1=nl.bypass)
        nisa.tensor_copy(same, nl.identity(high))
        return same

    np.testing.assert_array_equal(both(mapped(kernel), bits), bits & 0xFFFF0000)
    twice = mapped(lambda x: _activated(nl.identity, x))
    np.testing.assert_array_equal(both(twice, X), 2 * X)


def _activated(op, x):
    result = nl.ndarray(x.shape, x.dtype)
    nisa.activation(result, op, x, scale=2.0)
    return result

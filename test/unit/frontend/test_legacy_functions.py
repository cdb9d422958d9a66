"""The functions of `nl` in the older API against numpy, through both front ends."""

import math

import ml_dtypes
import numpy as np
import pytest
from legacy_kernels import both, data, mapped

from nki_mlir.frontend.errors import NKITypeError, NKIValueError
from nki_mlir.frontend.functions import promoted
from nki_mlir.isa.dtypes import Dtype
from nki_mlir.nki_legacy import language as nl

X, Y = data(64, 48), data(64, 48, seed=1)
ERF = np.vectorize(math.erf, otypes=[np.float64])


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


BINARY = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "divide": np.divide,
    "mod": np.mod,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "equal": np.equal,
    "not_equal": np.not_equal,
    "greater": np.greater,
    "greater_equal": np.greater_equal,
    "less": np.less,
    "less_equal": np.less_equal,
    "logical_and": np.logical_and,
    "logical_or": np.logical_or,
    "logical_xor": np.logical_xor,
}


@pytest.mark.parametrize("name", BINARY)
def test_binary(name):
    function, expected = getattr(nl, name), BINARY[name](X, Y)
    result = both(mapped(function), X, Y)
    assert result.dtype == (np.uint8 if expected.dtype == bool else np.float32)
    np.testing.assert_allclose(result, expected, rtol=1e-6)


@pytest.mark.parametrize("name", BINARY)
def test_binary_with_a_number_on_either_side(name):
    function, reference = getattr(nl, name), BINARY[name]
    number = np.float32(0.75)
    np.testing.assert_allclose(both(mapped(lambda x: function(x, 0.75)), X), reference(X, number), rtol=1e-6)
    np.testing.assert_allclose(both(mapped(lambda x: function(0.75, x)), X), reference(number, X), rtol=1e-6)


def test_power():
    base = np.abs(X) + 0.5
    np.testing.assert_allclose(both(mapped(nl.power), base, Y), base**Y, rtol=1e-5)


@pytest.mark.parametrize("shape", [(64, 1), (1, 48), (1, 1)])
@pytest.mark.parametrize("dtype", [np.float32, ml_dtypes.bfloat16])
def test_operands_are_broadcast(shape, dtype):
    other = data(*shape, seed=2, dtype=dtype)
    expected = X - other.astype(np.float32)
    np.testing.assert_allclose(both(mapped(nl.subtract), X, other), expected, rtol=1e-6)
    np.testing.assert_allclose(both(mapped(lambda x, y: nl.subtract(y, x)), X, other), -expected, rtol=1e-6)


BITS = {
    "bitwise_and": np.bitwise_and,
    "bitwise_or": np.bitwise_or,
    "bitwise_xor": np.bitwise_xor,
    "left_shift": np.left_shift,
}


@pytest.mark.parametrize("name", BITS)
@pytest.mark.parametrize("dtype", [np.int32, np.uint16])
def test_bitwise(name, dtype):
    rng = np.random.default_rng(3)
    x, y = rng.integers(0, 999, (16, 8)).astype(dtype), rng.integers(0, 5, (16, 8)).astype(dtype)
    assert (both(mapped(getattr(nl, name)), x, y) == BITS[name](x, y)).all()


def test_right_shift_and_invert():
    x = np.arange(-60, 68, dtype=np.int32).reshape(16, 8)
    assert (both(mapped(lambda t: nl.right_shift(t, 2)), x) == (x.view(np.uint32) >> 2).view(np.int32)).all()
    assert (both(mapped(nl.invert), x) == ~x).all()
    wide = np.arange(65400, 65528, dtype=np.uint16).reshape(16, 8)
    assert (both(mapped(nl.invert), wide) == ~wide).all()


UNARY = {
    "exp": (np.exp, -2, 2),
    "log": (np.log, 0.1, 9),
    "sqrt": (np.sqrt, 0.1, 9),
    "rsqrt": (lambda x: 1 / np.sqrt(x), 0.1, 9),
    "tanh": (np.tanh, -3, 3),
    "sigmoid": (sigmoid, -4, 4),
    "relu": (lambda x: np.maximum(x, 0), -2, 2),
    "erf": (ERF, -2, 2),
    "erf_dx": (lambda x: 2 / math.sqrt(math.pi) * np.exp(-x * x), -2, 2),
    "softplus": (lambda x: np.log1p(np.exp(x)), -4, 4),
    "mish": (lambda x: x * np.tanh(np.log1p(np.exp(x))), -4, 4),
    "gelu": (lambda x: x / 2 * (1 + ERF(x / math.sqrt(2))), -3, 3),
    "gelu_dx": (
        lambda x: (1 + ERF(x / math.sqrt(2))) / 2 + x * np.exp(-x * x / 2) / math.sqrt(2 * math.pi),
        -3,
        3,
    ),
    "gelu_apprx_tanh": (lambda x: x / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))), -3, 3),
    "gelu_apprx_sigmoid": (lambda x: x * sigmoid(1.702 * x), -3, 3),
    "silu": (lambda x: x * sigmoid(x), -3, 3),
    "silu_dx": (lambda x: sigmoid(x) * (1 + x * (1 - sigmoid(x))), -3, 3),
    "sin": (np.sin, -3.1, 3.1),
    "cos": (np.cos, -3.1, 3.1),
    "tan": (np.tan, -1.4, 1.4),
    "arctan": (np.arctan, -1.5, 1.5),
    "sign": (np.sign, -2, 2),
    "square": (np.square, -2, 2),
    "abs": (np.abs, -2, 2),
    "reciprocal": (np.reciprocal, 0.2, 2),
    "negative": (np.negative, -2, 2),
    "floor": (np.floor, -9, 9),
    "ceil": (np.ceil, -9, 9),
    "trunc": (np.trunc, -9, 9),
    "logical_not": (lambda x: x == 0, -2, 2),
}


@pytest.mark.parametrize("name", UNARY)
def test_unary(name):
    reference, low, high = UNARY[name]
    x = data(32, 24, low=low, high=high)
    result = both(mapped(getattr(nl, name)), x)
    np.testing.assert_allclose(result, reference(x.astype(np.float64)), rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize("name", ["floor", "ceil", "trunc"])
def test_rounding_of_special_numbers(name):
    x = np.array([[-2.0, -1.5, -0.25, 0.0, 0.25, 1.5, 3.0, 2.0**30]], np.float32)
    assert (both(mapped(getattr(nl, name)), x) == getattr(np, name)(x)).all()


@pytest.mark.parametrize("axis", [1, 2, -1, [1, 2], (2, 1), [2]])
@pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "mean", "var"])
def test_reductions_over_any_free_axes(name, axis):
    x = data(16, 6, 5)
    axes = tuple(axis) if isinstance(axis, list | tuple) else axis
    expected = getattr(np, name)(x.astype(np.float64), axis=axes)
    result = both(mapped(lambda t: getattr(nl, name)(t, axis=axis)), x)
    shape = expected.shape if expected.ndim > 1 else (16, 1)
    assert result.shape == shape
    np.testing.assert_allclose(result, expected.reshape(shape), rtol=2e-5, atol=1e-6)


@pytest.mark.parametrize("name", ["sum", "max", "mean"])
def test_reductions_can_keep_their_axes(name):
    x = data(16, 6, 5)
    result = both(mapped(lambda t: getattr(nl, name)(t, axis=[1], keepdims=True)), x)
    np.testing.assert_allclose(result, getattr(np, name)(x, axis=1, keepdims=True), rtol=1e-5, atol=1e-6)


def test_all_and_integer_mean():
    x = np.array([[1, 2, 3], [1, 0, 2]], np.int32)
    assert (both(mapped(lambda t: nl.all(t, axis=1)), x) == [[1], [0]]).all()
    result = both(mapped(lambda t: nl.mean(t, axis=1)), x)
    assert result.dtype == np.float32
    np.testing.assert_allclose(result, [[2], [1]])


@pytest.mark.parametrize("axis", [[1], [1, 2], [2]])
def test_softmax(axis):
    x = data(16, 6, 5) if axis != [1] else data(16, 30)
    powers = np.exp(x.astype(np.float64))
    expected = powers / powers.sum(axis=tuple(axis), keepdims=True)
    np.testing.assert_allclose(both(mapped(lambda t: nl.softmax(t, axis=axis)), x), expected, rtol=1e-5)


def test_rms_norm():
    x, w = data(16, 30), data(1, 30, seed=4)
    size = np.sqrt((x.astype(np.float64) ** 2).sum(axis=1, keepdims=True) / 30 + 1e-6)
    result = both(mapped(lambda t, u: nl.rms_norm(t, u, axis=[1], n=30)), x, w)
    np.testing.assert_allclose(result, x / size * w, rtol=1e-5)


@pytest.mark.parametrize("other", ["tile", "number"])
def test_where(other):
    kernel = mapped(lambda x, y: nl.where(nl.greater(x, y), x, y if other == "tile" else -1.0))
    assert (both(kernel, X, Y) == np.where(X > Y, X, Y if other == "tile" else np.float32(-1))).all()


def test_matmul_with_and_without_the_transpose_of_x():
    x, y = data(96, 64), data(64, 200, seed=1)
    np.testing.assert_allclose(both(mapped(nl.matmul), x, y), x @ y, rtol=1e-4, atol=1e-4)
    result = both(mapped(lambda a, b: nl.matmul(a, b, transpose_x=True)), np.ascontiguousarray(x.T), y)
    np.testing.assert_allclose(result, x @ y, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("dtype", [np.float32, ml_dtypes.bfloat16, np.float16])
def test_transpose_moves_the_bits(dtype):
    x = data(96, 64, dtype=dtype)
    assert both(mapped(nl.transpose), x).tobytes() == np.ascontiguousarray(x.T).tobytes()
    kernel = mapped(lambda t: nl.transpose(t))
    assert both(kernel, x).tobytes() == np.ascontiguousarray(x.T).tobytes()


def test_casts():
    x = data(16, 8, low=-50, high=50)
    assert (both(mapped(lambda t: nl.copy(t, dtype=nl.int32)), x) == np.rint(x)).all()
    assert (both(mapped(lambda t: nl.static_cast(t, nl.bfloat16)), x) == x.astype(ml_dtypes.bfloat16)).all()
    assert (both(mapped(lambda t: t.astype(nl.float16)), x) == x.astype(np.float16)).all()
    assert both(mapped(lambda t: nl.add(t, 1.0, dtype=nl.float16)), x).dtype == np.float16


def test_broadcast_expand_and_identity():
    row = data(1, 40)
    result = both(mapped(lambda t: nl.copy(nl.broadcast_to(t, shape=(32, 40)))), row)
    assert (result == np.broadcast_to(row, (32, 40))).all()
    assert both(mapped(lambda t: nl.copy(nl.expand_dims(t, 1))), X).shape == (64, 1, 48)
    ones = both(mapped(lambda t: nl.shared_identity_matrix(64, dtype=nl.float32)), X)
    assert (ones == np.eye(64)).all()


def test_memory_functions():
    x = data(64, 96)

    def kernel(t):
        made = nl.full((96, 64), 2.5, dtype=nl.float32)
        made[...] = nl.zeros_like(made)
        return nl.add(made, nl.transpose(t))

    assert (both(mapped(kernel), x) == x.T).all()


PROMOTED = [
    ("f32", "i32", "f32"),
    ("bf16", "i8", "bf16"),
    ("f16", "bf16", "f32"),
    ("f16", "f32", "f32"),
    ("f8e4", "f16", "f16"),
    ("f8e4", "bf16", "bf16"),
    ("f8e4", "f8e5", "bf16"),
    ("f32r", "f32", "f32"),
    ("i8", "i32", "i32"),
    ("u8", "u16", "u16"),
    ("i8", "u8", "i16"),
    ("i16", "u8", "i16"),
    ("i8", "u16", "i32"),
    ("i32", "u32", "f32"),
    ("bf16", "bf16", "bf16"),
]


@pytest.mark.parametrize(("first", "second", "result"), PROMOTED)
def test_promotion(first, second, result):
    a, b = Dtype(first), Dtype(second)
    assert promoted(a, b) is promoted(b, a) is Dtype(result)


def test_numbers_promote_by_their_python_type():
    x = np.ones((4, 4), np.int8)
    assert both(mapped(lambda t: t + 2), x).dtype == np.int32
    assert both(mapped(lambda t: t + np.int8(2)), x).dtype == np.int8
    assert both(mapped(lambda t: t * 1.5), x).dtype == np.float32
    assert both(mapped(lambda t: t * 1.2), x.astype(np.float16)).dtype == np.float32
    assert both(mapped(lambda t: t + 2), x.astype(np.float16)).dtype == np.float16


@pytest.mark.parametrize(
    ("dtype", "least"),
    [
        (nl.float32, -3.4028234663852886e38),
        ("bfloat16", -3.3895313892515355e38),
        (nl.float16, -65504.0),
        (nl.float8_e5m2, -57344.0),
        (Dtype.F8E4, -240.0),
    ],
)
def test_limits_of_a_type(dtype, least):
    assert float(nl.finfo(dtype).min) == least == -float(nl.finfo(dtype).max)


def test_what_has_no_limits():
    with pytest.raises(NKITypeError, match="finfo: dtype must be a floating-point type, got i32"):
        nl.finfo(nl.int32)
    with pytest.raises(NKIValueError, match="is not a dtype of NKI"):
        nl.finfo("float9")

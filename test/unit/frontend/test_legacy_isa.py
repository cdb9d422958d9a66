"""`nisa` of the older API: instructions that return tiles, and the entry points of the API, against numpy."""

import numpy as np
import pytest
from legacy_kernels import both, data, mapped, trace

import nki_mlir.nki_legacy as nki
from nki_mlir.diagnostics import NkiError
from nki_mlir.frontend.errors import (
    NKINotImplementedError,
    NKISyntaxError,
    NKITypeError,
    NKIValueError,
)
from nki_mlir.frontend.records import Loop
from nki_mlir.nki_legacy import compiler as ncc
from nki_mlir.nki_legacy import isa as nisa
from nki_mlir.nki_legacy import language as nl
from nki_mlir.nki_legacy import typing as nt

X, Y = data(64, 48), data(64, 48, seed=1)


def test_tensor_tensor_and_scalar_forms():
    def kernel(x, y):
        total = nisa.tensor_tensor(x, y, np.add)
        total = nisa.tensor_scalar(total, np.multiply, 2.0, op1=nl.subtract, operand1=x[:, 0:1], reverse1=True)
        return nisa.scalar_tensor_tensor(data=total, op0=nl.maximum, operand0=0.5, op1=np.add, operand1=y)

    expected = np.maximum(X[:, :1] - (X + Y) * 2, 0.5) + Y
    np.testing.assert_allclose(both(mapped(kernel), X, Y), expected, rtol=1e-5, atol=1e-5)


def test_activation_with_its_accumulator():
    def kernel(x, y):
        total = nl.ndarray((64, 1), dtype=nl.float32)
        powers = nisa.activation_reduce(np.exp, x, reduce_op=np.add, reduce_res=total, bias=y[:, 0:1], scale=0.5)
        return nl.add(powers, total)

    powers = np.exp(X * 0.5 + Y[:, :1])
    np.testing.assert_allclose(both(mapped(kernel), X, Y), powers + powers.sum(1, keepdims=True), rtol=1e-5)


def test_reduce_statistics_and_copies():
    def kernel(x, y):
        statistics = nisa.bn_aggr(nisa.bn_stats(x))
        highest = nisa.tensor_reduce(np.max, y, axis=[1], keepdims=True)
        both = nl.add(nl.add(statistics[:, 0:1], statistics[:, 1:2]), highest)
        return nisa.reciprocal(nisa.tensor_copy(nl.add(nl.abs(x), both), dtype=nl.float32))

    both_of_row = X.mean(1, keepdims=True) + X.var(1, keepdims=True) + Y.max(1, keepdims=True)
    np.testing.assert_allclose(both(mapped(kernel), X, Y), 1 / (np.abs(X) + both_of_row), rtol=1e-4)


def test_partition_reduce():
    kernel = mapped(lambda x: nisa.tensor_partition_reduce(np.add, x))
    np.testing.assert_allclose(both(kernel, X), X.sum(0, keepdims=True), rtol=1e-4, atol=1e-5)


def test_iota_of_an_affine_expression():
    rows, columns = np.arange(64)[:, None], np.arange(48)[None, :]
    kernel = mapped(lambda x: nisa.iota(3 * nl.arange(64)[:, None] - 2 * nl.arange(48)[None, :] + 5, dtype=nl.int32))
    assert (both(kernel, X) == 3 * rows - 2 * columns + 5).all()


def test_iota_takes_one_value_of_a_loop():
    @nki.jit
    def kernel(x):
        out = nl.ndarray((4, 128, 8), dtype=nl.int32, buffer=nl.shared_hbm)
        for i in nl.affine_range(4):
            nl.store(out[i], nisa.iota(nl.arange(8)[None, :] + 8 * i, dtype=nl.int32).broadcast_to((1, 8))[0:1, :])
        return out

    wide = both(kernel, X)
    assert (wide == (np.arange(32).reshape(4, 1, 8))).all()


@pytest.mark.parametrize("kind", ["at least", "more", "less", "at most", "equal", "not equal"])
def test_affine_select_compares_positions(kind):
    compare = {
        "at least": lambda a, b: a >= b,
        "more": lambda a, b: a > b,
        "less": lambda a, b: a < b,
        "at most": lambda a, b: a <= b,
        "equal": lambda a, b: a == b,
        "not equal": lambda a, b: a != b,
    }[kind]
    rows, columns = np.arange(64)[:, None], np.arange(48)[None, :]

    def kernel(x):
        pred = compare(nl.arange(64)[:, None], nl.arange(48)[None, :])
        return nisa.affine_select(pred, x, -9.0)

    assert (both(mapped(kernel), X) == np.where(compare(rows, columns), X, np.float32(-9))).all()


def test_predicated_copy_and_memset():
    def kernel(x, y):
        result = nisa.memset((64, 48), 0.25, nl.float32)
        nisa.tensor_copy_predicated(src=y, dst=result, predicate=nl.greater(x, 0.0))
        return result

    assert (both(mapped(kernel), X, Y) == np.where(X > 0, Y, np.float32(0.25))).all()


@pytest.mark.parametrize(("engine", "shape"), [("tensor", (96, 64)), ("vector", (32, 24))])
def test_nc_transpose_on_both_engines(engine, shape):
    x = data(*shape)
    kernel = mapped(lambda t: nisa.nc_transpose(t, engine=nisa.engine[engine]))
    assert (both(kernel, x) == x.T).all()


def test_dma_copy_between_memories():
    @nki.jit
    def kernel(x):
        out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
        tile = nl.ndarray(x.shape, dtype=x.dtype)
        nisa.dma_copy(dst=tile, src=x)
        nisa.dma_copy(dst=out, src=tile)
        return out

    assert (both(kernel, X) == X).all()


def test_matmul_of_tiles_with_several_free_dimensions():
    x, y = data(64, 6, 5), data(64, 4, 7, seed=1)
    expected = x.reshape(64, 30).T @ y.reshape(64, 28)
    np.testing.assert_allclose(both(mapped(nisa.nc_matmul), x, y), expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (
            lambda x: nisa.tensor_reduce(np.add, x, axis=0),
            NKISyntaxError,
            "Reduction on partition axes is not supported",
        ),
        (
            lambda x: nisa.tensor_tensor(x, x, "nonsense"),
            NKISyntaxError,
            "tensor_tensor: op: unknown ALU operator 'nonsense'",
        ),
        (lambda x: nisa.tensor_tensor(x, None, np.add), NKIValueError, "tensor_tensor: data2 cannot be None"),
        (lambda x: nisa.activation(np.exp, 3), NKITypeError, "activation: data must be a tensor, got int"),
        (
            lambda x: nisa.iota(5, dtype=nl.int32),
            NKITypeError,
            "iota: expr must be an expression of arange or mgrid indices",
        ),
        (
            lambda x: nl.exp(x, mask=np.arange(48) < 5),
            NKIValueError,
            "unsupported expression in mask: array of shape (48,) is no comparison of indices",
        ),
        (lambda x: nisa.memset((64, 8), x, nl.float32), NKISyntaxError, "memset: value must be a constant"),
        (
            lambda x: nisa.activation(np.exp, x, bias=nl.copy(x[:, 0:1], dtype=nl.int32)),
            NKITypeError,
            "activation: bias is of type i32, it must be bf16, f16 or f32",
        ),
        (
            lambda x: nisa.bn_stats(x, mask=nl.arange(48)[None, :] < 30),
            NKIValueError,
            "unsupported expression in mask: (-axis[1] + 29 >= 0) restricts the elements that bn_stats counts",
        ),
        (lambda x: nisa.nc_matmul(x, x[0:32, :]), NKIValueError, "nc_matmul: contraction sizes of operands"),
        (lambda x: nisa.max8(x), NKINotImplementedError, "nisa.max8 is not supported by this front end"),
        (lambda x: nisa.tensor_scalar(x, np.add, 1.0, op1=np.add), NkiError, "op1 is add, which needs operand1"),
        (
            lambda x: nisa.tensor_scalar(x, np.add, 1.0, op1=nl.rsqrt, operand1=5.0),
            NkiError,
            "operand1 is given, op1 rsqrt takes none or the number 0",
        ),
    ],
)
def test_errors_at_the_kernels_line(call, error, text):
    with pytest.raises(error) as caught:
        mapped(call).trace((X,), {}, frontend="beta3")
    assert text in str(caught.value)
    assert caught.value.location.file == __file__


# Entry points ---------------------------------------------------------------------------------------------------


def into(x, out):
    nl.store(out, nl.multiply(nl.load(x), 2.0))


def test_output_parameters_are_updated_in_place():
    out = np.zeros_like(X)
    assert nki.simulate_kernel(into, X, out) is None
    assert (out == 2 * X).all()


def test_parameters_annotated_as_plain_tensors_are_not_written():
    def kernel(x: nt.tensor, out: nt.mutable_tensor):
        into(x, out)
        return out

    out = np.zeros_like(X)
    assert (nki.simulate_kernel(kernel, X, out) == 2 * X).all()

    def wrong(x: nt.tensor[64, 48], out: nt.tensor):
        into(x, out)

    with pytest.raises(NKITypeError, match="parameter out cannot be written, annotate it as a mutable tensor"):
        nki.simulate_kernel(wrong, X, out)
    with pytest.raises(NKITypeError, match=r"'x' is annotated with shape \(64, 48\) but has shape \(64, 40\)"):
        nki.simulate_kernel(wrong, X[:, :40], out)


def test_results_nest_and_repeat():
    @nki.jit
    def kernel(x):
        first, second = (nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm) for _ in range(2))
        nl.store(first, nl.load(x))
        nl.store(second, nl.exp(nl.load(x)))
        return {"a": [first, second], "b": (first, None)}

    for frontend in ("beta2", "beta3"):
        result = kernel.simulate((X,), frontend=frontend)
        assert (result["a"][0] == X).all()
        assert (result["b"][0] == X).all()
        assert result["b"][1] is None
        np.testing.assert_allclose(result["a"][1], np.exp(X), rtol=1e-5)


def test_jit_in_all_its_forms():
    def double(x):
        out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
        nl.store(out, inner(x, 2.0))
        return out

    @nki.jit(mode="trace")
    def inner(x, factor):
        return nl.multiply(nl.load(x), factor)

    for kernel in (nki.jit(double), nki.jit(mode="simulation")(double), nki.jit()(double), nki.baremetal(double)):
        assert (kernel(X) == 2 * X).all()
    assert (nki.simulate_kernel(nki.jit(double), X) == 2 * X).all()
    with pytest.raises(NKISyntaxError, match="cannot be launched with a grid from inside of a kernel"):
        nki.jit(lambda x: nki.jit(double)[2](x))(X)
    with pytest.raises(NKIValueError, match=r"unknown mode 'fast' passed to nki\.jit"):
        nki.jit(double, mode="fast")
    with pytest.raises(NKITypeError, match=r"nki\.jit has no option speed"):
        nki.jit(double, speed=3)


def test_run_tools_say_that_they_need_a_device():
    with pytest.raises(NKINotImplementedError, match=r"nki\.benchmark of into needs a device"):
        nki.benchmark(warmup=5, iters=10)(into)(X, X)
    with pytest.raises(NKINotImplementedError, match=r"nki\.profile of into needs a device"):
        nki.profile(working_directory="/tmp")(into)(X, X)
    with pytest.raises(NKITypeError, match="Please specify working directory"):
        nki.profile()(into)
    with pytest.raises(NKINotImplementedError, match="save_neff_name needs the vendor's compiler"):
        nki.baremetal(save_neff_name="file.neff")(into)


def test_memories_of_the_compiler_module():
    def kernel(x):
        tile = nl.ndarray(x.shape, dtype=x.dtype, buffer=ncc.sbuf.auto_alloc())
        tile[...] = x
        return tile

    assert (both(mapped(kernel), X) == X).all()
    with pytest.raises(NKINotImplementedError, match=r"sbuf\.mod_alloc is not supported"):
        mapped(lambda x: nl.ndarray(x.shape, x.dtype, buffer=ncc.sbuf.mod_alloc(base_addr=0))).trace(
            (X,), {}, frontend="beta3"
        )


def test_the_kernels_own_exceptions_keep_type_and_text():
    @nki.jit
    def kernel(x):
        for i in nl.affine_range(4):
            if i == 2:
                raise KeyError("mine")

    for frontend in ("beta2", "beta3"):
        with pytest.raises(KeyError) as caught:
            kernel.trace((X,), {}, frontend=frontend)
        assert caught.value.args == ("mine",)
        assert any("test_legacy_isa.py" in note for note in caught.value.__notes__)


def test_loops_stay_loops_on_the_penguin_path_only():
    @nki.jit
    def kernel(x):
        out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
        for i in nl.affine_range(4):
            for j in nl.sequential_range(2):
                at = slice(32 * i + 16 * j, 32 * i + 16 * (j + 1))
                nl.store(out[at, :], nl.load(x[at, :]))
        return out

    x = data(128, 8)
    (outer,) = trace(kernel, x)
    assert (outer.kind, outer.bounds) == ("affine", (0, 4))
    (inner,) = outer.body
    assert (inner.kind, inner.bounds) == ("sequential", (0, 2))
    assert len(inner.body) == 2
    assert all(isinstance(node, Loop) and node.single for node in trace(kernel, x, frontend="beta2"))
    assert (both(kernel, x) == x).all()


def test_a_unary_operator_behind_another():
    def kernel(x):
        shifted = nisa.tensor_scalar(x, np.subtract, 0.5, op1=nl.abs)
        return nisa.tensor_scalar(shifted, np.add, 1.0, op1=nl.rsqrt, operand1=0)

    np.testing.assert_allclose(both(mapped(kernel), X), 1 / np.sqrt(np.abs(X - 0.5) + 1), rtol=1e-5)


@pytest.mark.parametrize(("target", "exact"), [("trn1", False), ("trn2", True)])
def test_copies_on_the_scalar_engine(target, exact):
    integers = np.array([[2**24 + 1, 7]], np.int32)
    kernel = mapped(lambda x: nisa.tensor_copy(x, engine=nisa.engine.scalar))
    for frontend in ("beta2", "beta3"):
        found = kernel.simulate((integers,), {}, frontend=frontend, target=target)
        assert found.tolist() == [[2**24 + exact, 7]]

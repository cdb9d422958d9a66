"""What a trace remembers of earlier views and instructions changes nothing that it builds."""

import importlib
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nki_mlir import compat, nki, nki_legacy
from nki_mlir.diagnostics import NkiError
from nki_mlir.frontend.records import Node, Record
from nki_mlir.frontend.tensors import Storage, View
from nki_mlir.isa.dtypes import Dtype
from nki_mlir.isa.target import CAYMAN
from nki_mlir.nki import isa as nisa
from nki_mlir.nki import language as nl
from nki_mlir.nki_legacy import isa as legacy_nisa
from nki_mlir.nki_legacy import language as legacy_nl
from nki_mlir.tools.mlir_printer import mlir_text

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
FRONTENDS = ("beta2", "beta3")
X = np.arange(128 * 512, dtype=np.float32).reshape(128, 512)


def records(nodes: list[Node]) -> list[Record]:
    """All records of a tree."""
    found: list[Record] = []
    for node in nodes:
        found += [node] if isinstance(node, Record) else records(node.body)
    return found


def check(kernel: Any, *args: Any) -> int:
    """Compares what is built with templates and without; returns for how many records there is one."""
    alike = 0
    for frontend in FRONTENDS:
        trace = kernel.trace(args, {}, frontend=frontend, target=CAYMAN)
        made = mlir_text(trace.build(frontend), generic=True, locations=True)
        for program in trace.programs:
            for record in records(program.nodes):
                alike += record.like is not None
                record.like = None
        assert made == mlir_text(trace.build(frontend), generic=True, locations=True)
    return alike


@pytest.fixture(scope="module")
def examples() -> Any:
    compat.install()
    sys.path.insert(0, str(EXAMPLES))
    yield
    sys.path.remove(str(EXAMPLES))
    compat.uninstall()


@pytest.mark.usefixtures("examples")
@pytest.mark.parametrize("name", ["add", "softmax", "matmul", "attention", "layernorm", "rmsnorm", "average_pool"])
def test_examples(name: str) -> None:
    module = importlib.import_module(name)
    assert check(module.KERNEL, *module.inputs(np.random.default_rng(1), np.dtype(np.float32))) > 4


def step(choice: tuple[int, int, int], x: Any, y: Any, p: Any, small: Any) -> None:
    """One of many instructions that look alike."""
    kind, at, number = choice
    value = (0.0, -0.0, 1, 1.0, float("nan"), True)[number]
    a, b = x[0:128, at : at + 32], y[0:128, at + 32 : at + 64]
    match kind:
        case 0:
            nisa.tensor_scalar(b, a, "add", value, reverse0=bool(number % 2))
        case 1:
            nisa.tensor_scalar(b, a, "add", x[0:128, at : at + 1], op1="multiply", operand1=value)
        case 2:
            nisa.activation(b, "exp", a, bias=x[0:128, at : at + 1], scale=value)
        case 3:
            nisa.nc_matmul(p[0:32, at : at + 32], a, y[0:128, 0:32], accumulate=(None, True, False, 1, 0, None)[number])
        case 4:
            nisa.nc_transpose(p[0:32, 0:128], a)
        case 5:
            nisa.memset(small[number % 2 : number % 2 + 1, 0:at], value)
        case 6:
            nisa.tensor_tensor(b, a, a, "add", name="same" if number else None)
        case _:
            nisa.tensor_copy(y[32 * (number % 4) : 32 * (number % 4) + 32, at : at + 8], x[0:32, 0:8])


CHOICES = st.tuples(st.integers(0, 7), st.sampled_from([1, 7, 64]), st.integers(0, 5))


@settings(max_examples=60, deadline=None)
@given(st.lists(CHOICES, min_size=2, max_size=12))
def test_instructions_that_look_alike(choices: list[tuple[int, int, int]]) -> None:
    @nki.jit
    def kernel(a: Any) -> Any:
        out = nl.ndarray((128, 512), nl.float32, buffer=nl.shared_hbm)
        x, y = nl.ndarray((128, 512), nl.float32), nl.ndarray((128, 512), nl.float32)
        p = nl.ndarray((128, 512), nl.float32, buffer=nl.psum)
        small = nl.ndarray((2, 64), nl.float32)
        nisa.dma_copy(x, a)
        nisa.dma_copy(y, a)
        for choice in choices:
            step(choice, x, y, p, small)
        nisa.dma_copy(out, y)
        return out

    assert check(kernel, X) > 0


def test_parameters_that_depend_on_loops() -> None:
    @nki_legacy.jit
    def kernel(a: Any) -> Any:
        out = legacy_nl.ndarray((128, 512), dtype=a.dtype, buffer=legacy_nl.shared_hbm)
        data = legacy_nl.load(a)
        for i in legacy_nl.affine_range(4):
            found = legacy_nl.ndarray((128, 32), dtype=a.dtype, buffer=legacy_nl.psum)
            found[...] = legacy_nisa.nc_matmul(
                data[0:32, 0:128], data[0:32, 0:32], tile_position=(32 * i, 0), tile_size=(32, 128)
            )
            legacy_nl.store(out[:, i * 32 : i * 32 + 32], found)
        return out

    check(kernel, X)


def test_blocks_and_guards() -> None:
    @nki_legacy.jit
    def kernel(a: Any) -> Any:
        out = legacy_nl.ndarray((512, 512), dtype=a.dtype, buffer=legacy_nl.shared_hbm)
        blocks = legacy_nl.ndarray((4, legacy_nl.par_dim(128), 512), dtype=a.dtype, buffer=legacy_nl.sbuf)
        for i in range(4):
            blocks[i] = legacy_nl.load(a)
        for i in range(4):
            blocks[i] = legacy_nl.add(blocks[i], 1.0)
        for i in legacy_nl.affine_range(4):
            legacy_nl.store(out[i * 128 : i * 128 + 128, :], blocks[i], mask=i < 3)
        return out

    check(kernel, X)


def test_views_made_apart_are_not_the_same() -> None:
    view = View(Storage((64, 8), Dtype.F32, "sbuf", "x"))
    seen = {view[0:4]: 1, view[0:4]: 2, view[0:4, 2]: 3, view[0:4, 2]: 4}
    assert len(seen) == 4
    assert len({(v.shape, v.layout, v.offsets) for v in seen}) == 2
    inner = [view[0:4][1:3, k : k + 2] for k in (0, 1, 0)]
    assert len({id(part) for part in inner}) == 3
    assert [part.offsets for part in inner] == [(0, 1, 0), (0, 1, 1), (0, 1, 0)]


def test_parts_of_tensors_of_both_generations() -> None:
    """Tensors of one shape and type share what is known of their parts, and nothing else."""
    made: list[Any] = []

    @nki.jit
    def current(a: Any) -> Any:
        out = nl.ndarray((128, 512), nl.float32, buffer=nl.shared_hbm)
        x, y = nl.ndarray((128, 512), nl.float32), nl.ndarray((128, 512), nl.float32)
        nisa.dma_copy(x[0:128, 0:512], a[0:128, 0:512])
        nisa.tensor_scalar(y[0:128, 0:512], x[0:128, 0:512], "multiply", 2.0)
        nisa.dma_copy(out[0:128, 0:512], y[0:128, 0:512])
        made.extend((x[0:128, 0:512], y[0:128, 0:512][0:64], x[0:128, 0:512][0:64]))
        return out

    @nki_legacy.jit
    def legacy(a: Any) -> Any:
        out = legacy_nl.ndarray((128, 512), dtype=a.dtype, buffer=legacy_nl.shared_hbm)
        x = legacy_nl.load(a[0:128, 0:512])
        legacy_nl.store(out[0:128, 0:512], x[0:128, 0:512] + x[0:128, 0:512])
        made.extend((x[0:128, 0:512], x[0:128, 0:512][0:64]))
        return out

    for kernel in (current, legacy, current, legacy):
        assert (kernel.simulate((X,)) == 2 * X).all()
        classes = {type(view) for view in made}
        assert len(classes) == 1
        assert len({id(view) for view in made}) == len(made)
        made.clear()


def iota(offset: Any, multiplier: Any) -> Any:
    @nki.jit
    def kernel(a: Any) -> Any:
        out = nl.ndarray((128, 8), nl.int32, buffer=nl.shared_hbm)
        x = nl.ndarray((128, 8), nl.int32)
        nisa.iota(x, [[1, 8]], offset=offset, channel_multiplier=multiplier)
        nisa.dma_copy(out, x)
        return out

    return kernel.simulate((X,))


def test_equal_numbers_of_other_types_are_what_they_are() -> None:
    """What a process has seen decides on nothing that comes later."""
    expected = 1 + np.arange(128)[:, None] + np.arange(8)
    for one in (True, 1, np.int64(1), 1):
        assert (iota(one, one) == expected).all()
    for one in (1.0, np.float32(1)):
        for wrong in ((one, 1), (1, one)):
            with pytest.raises(NkiError, match=r"^iota: (offset|channel_multiplier) must be an integer, got float"):
                iota(*wrong)
    for zero in (0, False, 0):
        assert (iota(zero, zero) == np.arange(8)).all()


SLICE_ENDS = st.none() | st.integers(-9, 9) | st.sampled_from([True, 3.0, np.int64(3), "a"])
KEYS = (
    st.integers(-9, 9)
    | st.sampled_from([True, None, ..., 2.0, np.int32(2), np.int64(-1)])
    | st.builds(slice, SLICE_ENDS, SLICE_ENDS, st.none() | st.sampled_from([1, 2, -1]))
)


def floats(key: Any) -> Any:
    """The same subscript with floats, which are equal to their integers."""
    if isinstance(key, slice):
        return slice(floats(key.start), floats(key.stop), key.step)
    return float(key) if type(key) is int else key


@settings(max_examples=300, deadline=None)
@given(st.lists(st.lists(KEYS, min_size=1, max_size=4), min_size=1, max_size=8), st.sampled_from(["hbm", "sbuf"]))
def test_subscripts_that_look_alike(keys: list[list[Any]], space: str) -> None:
    """A view of a subscript is that of a new tensor, whatever was asked for before, and so is the error."""

    def described(view: View, key: Any) -> Any:
        try:
            found = view[key]
        except NkiError as error:
            return str(error)
        return found.shape, found.layout, found.offsets, found.element

    used = View(Storage((4, 8, 6), Dtype.F32, space, "x"))
    for key in [*keys, *(map(floats, key) for key in keys), *keys]:
        items = tuple(key)
        asked = items if len(items) > 1 else items[0]
        assert described(used, asked) == described(View(Storage((4, 8, 6), Dtype.F32, space, "x")), asked)

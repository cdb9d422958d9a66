"""Careless and hostile kernels: one message with rule and place each, no text of Python's or numpy's own."""

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nki_mlir.nki as nki
import nki_mlir.nki_legacy as legacy
from nki_mlir.diagnostics import NkiError
from nki_mlir.nki import isa as nisa
from nki_mlir.nki import language as nl
from nki_mlir.nki_legacy import language as ll

X = np.zeros((128, 64), np.float32)


def tile() -> Any:
    made = nl.ndarray((128, 64), nl.float32)
    nisa.memset(made, value=0)
    return made


CURRENT: dict[str, tuple[Callable[[Any], Any], str]] = {
    "shape": (
        lambda x: nl.ndarray((1.5, 2), nl.float32),
        "ndarray: shape must be a tuple of integers, got (1.5, 2) [shape]",
    ),
    "name": (
        lambda x: nl.ndarray((4, 4), nl.float32, name=5),  # pyright: ignore[reportArgumentType]
        "the name of a tensor must be a string, got 5 [name]",
    ),
    "dimensions": (
        lambda x: nl.ndarray((1,) * 33, nl.float32, buffer=nl.shared_hbm),
        "tensor t.1: a storage has at most 32 dimensions, got 33 [shape]",
    ),
    "partition": (
        lambda x: nl.ndarray((128, 10**6), nl.float32),
        "tensor t.1: 4000000 bytes a partition do not fit in the 229376 of sbuf [X-FMAX]",
    ),
    "bank": (
        lambda x: nl.ndarray((128, 4097), nl.float32, buffer=nl.psum),
        "tensor t.1: 16388 bytes a partition do not fit in the 16384 of psum [X-FMAX]",
    ),
    "axis": (
        lambda x: nl.sum(tile(), axis="a"),
        "sum: axis must be an integer, got str [unexpected_type_of_operand]",
    ),
    "no axis": (
        lambda x: nl.sum(tile(), axis=None),
        "sum: axis must be an integer, got NoneType [unexpected_type_of_operand]",
    ),
    "broadcast": (
        lambda x: nl.broadcast_to(tile(), "a"),
        "broadcast_to: shape must be a tuple of integers, got 'a' [shape]",
    ),
    "dimension": (lambda x: nl.expand_dims(tile(), "a"), "expected an integer, got 'a' [integer]"),  # pyright: ignore[reportArgumentType]
    "identity": (
        lambda x: nl.shared_identity_matrix(-5),
        "shared_identity_matrix: shape (-5,) must have positive sizes [shape]",
    ),
    "pattern of an access": (
        lambda x: tile().ap([[1]]),
        "ap: [[1]] is no list of [stride, positive count] [tensor_view]",
    ),
    "pattern": (
        lambda x: nisa.iota(tile(), [[10**30, 64]]),
        "iota: pattern must be [[step, count], …], got [[1000000000000000000000000000000, 64]] [pattern]",
    ),
    "offset": (
        lambda x: nisa.iota(tile(), [[1, 64]], offset="a"),  # pyright: ignore[reportArgumentType]
        "iota: offset must be an integer, got str [unexpected_type_of_operand]",
    ),
    "large offset": (
        lambda x: nisa.iota(tile(), [[1, 64]], offset=1 << 63),
        "iota: offset must be an integer of 64 bits, got 9223372036854775808 [offset]",
    ),
    "name of an instruction": (
        lambda x: nisa.tensor_copy(tile(), tile(), name=5),  # pyright: ignore[reportArgumentType]
        "tensor_copy: its name must be a string, got 5 [name]",
    ),
    "transfer of psum": (
        lambda x: nisa.dma_copy(x, nl.ndarray(x.shape, x.dtype, buffer=nl.psum)),
        "dma_copy: src is in psum, expected to be in sbuf, hbm [unsupported_memory]",
    ),
    "axis twice": (
        lambda x: nisa.tensor_reduce(tile(), nl.add, tile(), axis=[1, -1]),
        "tensor_reduce: axis is [1, -1], which names an axis twice [axis]",
    ),
    "flag": (
        lambda x: nisa.tensor_scalar(tile(), tile(), op0=nl.add, operand0=1, reverse0="yes"),  # pyright: ignore[reportArgumentType]
        "tensor_scalar: reverse0 must be an integer, a flag or an enum, got 'yes' [reverse0]",
    ),
    "number": (
        lambda x: nisa.tensor_scalar(tile(), tile(), op0=nl.add, operand0=1 << 32),
        "the number 4294967296 does not fit i32 [immediate]",
    ),
    "pair": (
        lambda x: nisa.nc_matmul(nl.ndarray((64, 64), nl.float32, buffer=nl.psum), tile(), tile(), tile_position=5),  # pyright: ignore[reportArgumentType]
        "nc_matmul: tile_position must be a pair of integers, got int [unexpected_type_of_operand]",
    ),
    "accumulate": (
        lambda x: nisa.nc_matmul(nl.ndarray((64, 64), nl.float32, buffer=nl.psum), tile(), tile(), accumulate="yes"),  # pyright: ignore[reportArgumentType]
        "nc_matmul: accumulate must be an integer, got str [unexpected_type_of_operand]",
    ),
    "other value": (
        lambda x: nisa.affine_select(tile(), [[1, 64]], 1, tile(), "x"),  # pyright: ignore[reportArgumentType]
        "affine_select: on_false_value must be a number, got str [unexpected_type_of_operand]",
    ),
    "prelu": (
        lambda x: nisa.activation(tile(), "prelu", tile()),
        "activation: op prelu has a slope, relu_param, which this instruction does not take "
        "[instruction_unsupported_op]",
    ),
    "rearrange": (
        lambda x: tile().rearrange(("p", ("a", "b")), ("p", ("b", "a")), {"a": 4}),
        "rearrange: made.1 of shape (128, 16, 4) and strides (64, 1, 16) is not contiguous there [tensor_view]",
    ),
    "priority": (
        lambda x: nisa.dma_copy(tile(), x, priority="high"),  # pyright: ignore[reportArgumentType]
        "dma_copy: priority must be an integer, got str [unexpected_type_of_operand]",
    ),
    "large priority": (
        lambda x: nisa.dma_copy(tile(), x, priority=4),
        "dma_copy: priority is 4, it must be 0, 1, 2 or 3 [X-PRIORITY]",
    ),
    "early priority": (
        lambda x: nisa.dma_copy(tile(), x, priority=1),
        "dma_copy: priority is 1, which needs trn3 or newer; the target is trn2"
        " [X-PRIORITY, min_arch_support_for_inst]",
    ),
    "trigger": (
        lambda x: nisa.dma_copy(tile(), x, engine=nisa.scalar_engine),
        "dma_copy: engine must be sync or scalar, and dge_mode hwdge with it, got act and unknown [X-DMAENGINE]",
    ),
    "trigger of another engine": (
        lambda x: nisa.dma_copy(tile(), x, engine=nisa.gpsimd_engine, dge_mode=nisa.dge_mode.hwdge),
        "dma_copy: engine must be sync or scalar, and dge_mode hwdge with it, got pool and hwdge [X-DMAENGINE]",
    ),
    "address in a bank": (
        lambda x: nl.ndarray((128, 64), nl.float32, buffer=nl.psum, address=(0, 100)),
        "tensor t.1: an address in psum is that of a bank, a multiple of 2048, got 100 [HW-PSUM3]",
    ),
    "edge": (
        lambda x: nisa.dma_copy(tile(), x).depends_on(),
        "NkiInstruction.depends_on is not supported by this front end [unsupported]",
    ),
    "rows": (
        lambda x: x.vector_select(0, tile()),
        "NkiTensor.vector_select is not supported by this front end [unsupported]",
    ),
    "on chip": (lambda x: tile(), "made.1 is in sbuf; a kernel returns tensors in shared_hbm [unsupported_memory]"),
    "not written": (
        lambda x: nl.ndarray((4, 4), nl.float32, buffer=nl.shared_hbm),
        "output t.1 is never written [tensor_output_not_written_to]",
    ),
}


@pytest.mark.parametrize("frontend", ["beta2", "beta3"])
@pytest.mark.parametrize("name", CURRENT)
def test_message_and_place(name: str, frontend: str) -> None:
    function, message = CURRENT[name]
    with pytest.raises(NkiError) as caught:
        nki.jit(function).simulate((X,), frontend=frontend)
    assert str(caught.value) == message
    assert caught.value.location is not None
    assert caught.value.location.file == __file__
    assert caught.value.location.column


def test_numbers_of_numpy_are_numbers() -> None:
    def kernel(x: Any) -> Any:
        out, work = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm), tile()
        nisa.tensor_scalar(work, work, op0=nl.add, operand0=np.float64(0.5), op1=nl.multiply, operand1=np.int64(3))
        nisa.dma_copy(out, work)
        return out

    for frontend in ("beta2", "beta3"):
        assert (nki.jit(kernel).simulate((X,), frontend=frontend) == 1.5).all()


@pytest.mark.parametrize("count", [25_000_001, 10**30])
def test_a_loop_that_would_never_end(count: int) -> None:
    def kernel(x: Any) -> None:
        for _ in ll.affine_range(count):
            pass

    with pytest.raises(NkiError) as caught:
        legacy.jit(kernel).trace((X,), {}, frontend="beta2")
    assert str(caught.value) == f"unrolling gives {count} iterations, at most 25000000 are allowed [loop]"
    assert caught.value.location is not None
    assert caught.value.location.line == inspect.getsourcelines(kernel)[1] + 1


def test_nested_loops_multiply() -> None:
    def kernel(x: Any) -> None:
        for _ in ll.affine_range(5000):
            for _ in ll.affine_range(5001):
                pass

    with pytest.raises(NkiError, match=r"^unrolling gives 25005000 iterations, at most 25000000 are allowed \[loop\]$"):
        legacy.jit(kernel).trace((X,), {}, frontend="beta2")


def test_a_kernel_of_too_many_instructions(monkeypatch: pytest.MonkeyPatch) -> None:
    def kernel(x: Any, copies: int) -> Any:
        out, work = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm), tile()
        for _ in range(copies):
            nisa.tensor_copy(work, work)
        nisa.dma_copy(out, work)
        return out

    monkeypatch.setattr("nki_mlir.frontend.sema.MOST_INSTRUCTIONS", 50)
    nki.jit(kernel).trace((X, 48), {}, frontend="beta2")  # a memset and a copy to the outside stand around them
    with pytest.raises(NkiError) as caught:
        nki.jit(kernel).trace((X, 49), {}, frontend="beta2")
    assert str(caught.value) == "the kernel has more than 50 instructions with its loops unrolled [loop]"


def test_places_are_in_the_users_code(tmp_path: Path) -> None:
    def kernel(x: Any) -> None:
        np.linalg.inv(np.zeros((2, 2)))  # raises inside numpy

    with pytest.raises(np.linalg.LinAlgError) as caught:
        nki.jit(kernel).simulate((X,))
    line = inspect.getsourcelines(kernel)[1] + 1
    assert caught.value.__notes__ == [f"{__file__}:{line}:9: in the kernel"]

"""Arguments of the wrong type or size for functions that create, index, loop and launch: one message with a place."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import nki_mlir
import nki_mlir.nki as nki
import nki_mlir.nki_legacy as legacy
from nki_mlir.diagnostics import Location, NkiError
from nki_mlir.nki import language as _current
from nki_mlir.nki_legacy import language as _legacy

X = np.zeros((128, 64), np.float32)
nl: Any = _current  # the arguments are meant to be wrong
ll: Any = _legacy
jit: Any = nki.jit
legacy_jit: Any = legacy.jit

Cases = dict[str, tuple[Callable[[Any], Any], str]]
KIND = " [unexpected_type_of_operand]"

LEGACY: Cases = {
    "arange": (lambda x: ll.arange("a"), "arange: stop must be an integer, got str" + KIND),
    "arange of nothing": (lambda x: ll.arange(None), "arange: stop must be an integer, got NoneType" + KIND),
    "arange of a float": (lambda x: ll.arange(2.5), "arange: stop must be an integer, got float" + KIND),
    "arange from": (lambda x: ll.arange([0], 4), "arange: start must be an integer, got list" + KIND),
    "arange by": (lambda x: ll.arange(0, 4, "a"), "arange: step must be an integer, got str" + KIND),
    "arange by zero": (
        lambda x: ll.arange(0, 10, 0),
        "index (0, 10, 0) is not supported: the step of an index is 0 [tensor_index_not_supported]",
    ),
    "arange below zero": (
        lambda x: ll.arange(-1),
        "index (0, -1, 1) is not supported: the range of an index is empty [tensor_index_not_supported]",
    ),
    "mgrid": (lambda x: ll.mgrid[0:"a"], "mgrid: stop must be an integer, got str" + KIND),
    "mgrid from": (lambda x: ll.mgrid["a":4], "mgrid: start must be an integer, got str" + KIND),
    "mgrid by zero": (
        lambda x: ll.mgrid[0:4:0],
        "index (0, 4, 0) is not supported: the step of an index is 0 [tensor_index_not_supported]",
    ),
    "mgrid of an array": (
        lambda x: ll.mgrid[np.zeros((2, 2))],
        "index array([[0., 0.], [0., 0.]]) is not supported: mgrid takes slices with an end and an integer step"
        " [tensor_index_not_supported]",
    ),
    "par_dim": (lambda x: ll.par_dim("a"), "par_dim: size must be an integer, got str" + KIND),
    "par_dim of a float": (lambda x: ll.par_dim(128.0), "par_dim: size must be an integer, got float" + KIND),
    "par_dim of nothing": (
        lambda x: ll.ndarray((ll.par_dim(0), 4), ll.float32),
        "ndarray: shape (0, 4) must have positive sizes [shape]",
    ),
    "affine_range": (lambda x: ll.affine_range("a"), "affine_range: stop must be an integer, got str" + KIND),
    "affine_range by zero": (lambda x: ll.affine_range(0, 4, 0), "affine_range: step cannot be 0 [loop]"),
    "affine_range of nothing": (lambda x: ll.affine_range(), "affine_range: expected 1 to 3 bounds, got 0 [loop]"),
    "affine_range of four": (
        lambda x: ll.affine_range(1, 2, 3, 4),
        "affine_range: expected 1 to 3 bounds, got 4 [loop]",
    ),
    "sequential_range": (
        lambda x: ll.sequential_range(0, 2.5),
        "sequential_range: stop must be an integer, got float" + KIND,
    ),
    "static_range": (lambda x: ll.static_range(None, 4), "static_range: start must be an integer, got NoneType" + KIND),
    "program_id": (lambda x: ll.program_id("a"), "program_id: axis must be an integer, got str" + KIND),
    "program_id of a float": (lambda x: ll.program_id(0.0), "program_id: axis must be an integer, got float" + KIND),
    "num_programs": (lambda x: ll.num_programs("a"), "num_programs: axes is invalid type: str [program_axes]"),
    "num_programs of an axis": (
        lambda x: ll.num_programs([0.5]),
        "num_programs: axes must be an integer, got float" + KIND,
    ),
    "ndarray": (
        lambda x: ll.ndarray("a" * 1000, ll.float32),
        f"ndarray: shape must be a tuple of integers, got '{'a' * 79}… [shape]",
    ),
    "full": (
        lambda x: ll.full((128, 64), "a", ll.float32),
        "full: fill_value must be a number, got str" + KIND,
    ),
    "full of an array": (
        lambda x: ll.full((128, 64), np.zeros(2), ll.float32),
        "full: fill_value must be a number, got ndarray" + KIND,
    ),
    "full of a numpy string": (
        lambda x: ll.full((128, 64), np.str_("a"), ll.float32),
        "full: fill_value must be a number, got str_" + KIND,
    ),
    "zeros_like": (lambda x: ll.zeros_like(5), "zeros_like: a must be a tensor, got int" + KIND),
    "empty_like": (
        lambda x: ll.empty_like(None),
        "empty_like: a cannot be None [operand_cannot_be_none]",
    ),
    "type": (
        lambda x: ll.zeros_like(x, dtype=np.zeros((2, 2))),
        "array([[0., 0.], [0., 0.]]) is not a dtype of NKI [unsupported_dtype_value]",
    ),
    "load": (lambda x: ll.load(5), "load: src must be a tensor, got int" + KIND),
    "store": (lambda x: ll.store("a", 0), "store: dst must be a tensor, got str" + KIND),
    "store of a string": (lambda x: ll.store(x, "a"), "store: value must be a tile or a number, got str" + KIND),
    "ds": (lambda x: ll.load(x[ll.ds("a", 4)]), "ds: start must be an integer, got str" + KIND),
    "ds of a float": (lambda x: ll.load(x[ll.ds(2.5, 4)]), "ds: start must be an integer, got float" + KIND),
    "size of a ds": (lambda x: ll.load(x[ll.ds(0, None)]), "ds: size must be an integer, got NoneType" + KIND),
    "identity": (
        lambda x: ll.shared_identity_matrix(8, dtype=None),
        "None is not a dtype of NKI [unsupported_dtype_value]",
    ),
    "rms_norm": (
        lambda x: ll.rms_norm(ll.load(x), ll.load(x), 1, 0),
        "rms_norm: n cannot be 0 [rms_norm]",
    ),
    "rms_norm of a string": (
        lambda x: ll.rms_norm(ll.load(x), ll.load(x), 1, "a"),
        "rms_norm: n must be a number, got str" + KIND,
    ),
    "epsilon": (
        lambda x: ll.rms_norm(ll.load(x), ll.load(x), 1, 64, 10**400),
        "rms_norm: epsilon is too large [immediate]",
    ),
    "spmd_dim": (lambda x: ll.spmd_dim(), "spmd_dim expect at least 1 argument! [spmd_dim]"),
    "product of cores": (lambda x: ll.nc(2) * "a", "unsupported operand type(s) for * : str [spmd_dim]"),
    "cores": (lambda x: ll.nc("a"), "nc: cores must be an integer, got str" + KIND),
}

CURRENT: Cases = {
    "affine_range": (lambda x: nl.affine_range("a"), "affine_range: stop must be an integer, got str" + KIND),
    "affine_range without end": (
        lambda x: nl.affine_range(10**30),
        f"unrolling gives {10**30} iterations, at most 25000000 are allowed [loop]",
    ),
    "sequential_range": (lambda x: nl.sequential_range(0, 4, 0), "sequential_range: step cannot be 0 [loop]"),
    "static_range": (lambda x: nl.static_range(), "static_range: expected 1 to 3 bounds, got 0 [loop]"),
    "program_id": (lambda x: nl.program_id("a"), "program_id: axis must be an integer, got str" + KIND),
    "num_programs": (lambda x: nl.num_programs(None), "num_programs: axes is invalid type: NoneType [program_axes]"),
    "full": (lambda x: nl.full((128, 64), None, nl.int8), "full: fill_value must be a number, got NoneType" + KIND),
    "zeros_like": (lambda x: nl.zeros_like([1]), "zeros_like: x must be a tensor, got list" + KIND),
    "empty_like": (lambda x: nl.empty_like("a"), "empty_like: x must be a tensor, got str" + KIND),
    "address": (
        lambda x: nl.ndarray((128, 64), nl.float32, address=5),
        "ndarray: address must be (first partition, byte address), got 5 [address]",
    ),
    "negative address": (
        lambda x: nl.ndarray((128, 64), nl.float32, address=(0, -4)),
        "ndarray: address must be (first partition, byte address), got (0, -4) [address]",
    ),
    "high address": (
        lambda x: nl.ndarray((128, 64), nl.float32, address=(0, 10**30)),
        f"tensor t.1: 256 bytes a partition from byte {10**30} do not fit in the 229376 of sbuf [X-FMAX]",
    ),
    "high partition": (
        lambda x: nl.ndarray((128, 64), nl.float32, address=(32, 0)),
        "tensor t.1: 128 partitions from partition 32 do not fit in the 128 of sbuf [X-PMAX]",
    ),
    "ds": (lambda x: nl.load(x[nl.ds("a", 4)]), "ds: start must be an integer, got str" + KIND),
    "load": (lambda x: nl.load(None), "load: src cannot be None [operand_cannot_be_none]"),
    "many digits": (
        lambda x: nl.ndarray((128, 64), nl.float32, buffer=10**5000),
        "ndarray: buffer must be one of nl's memories, got a large int [unsupported_memory]",
    ),
}


def check(error: NkiError, message: str) -> None:
    assert str(error) == message
    assert isinstance(error.location, Location)
    assert error.location.file == __file__
    assert error.location.line
    assert error.location.column


@pytest.mark.parametrize("frontend", ["beta2", "beta3"])
@pytest.mark.parametrize("name", LEGACY)
def test_older_api(name: str, frontend: str) -> None:
    function, message = LEGACY[name]
    with pytest.raises(NkiError) as caught:
        legacy.jit(function).simulate((X,), frontend=frontend)
    check(caught.value, message)


@pytest.mark.parametrize("frontend", ["beta2", "beta3"])
@pytest.mark.parametrize("name", CURRENT)
def test_current_api(name: str, frontend: str) -> None:
    function, message = CURRENT[name]
    with pytest.raises(NkiError) as caught:
        nki.jit(function).simulate((X,), frontend=frontend)
    check(caught.value, message)


def test_integers_of_numpy_and_placed_tensors_are_accepted() -> None:
    def kernel(x: Any) -> Any:
        out = nl.ndarray((128, np.int64(64)), nl.float32, buffer=nl.shared_hbm)
        for _ in nl.affine_range(np.int32(1)):
            held = nl.ndarray((64, 64), nl.float32, address=(64, 229376 - 256))
            nki.isa.memset(held, value=np.float32(2))
            nki.isa.dma_copy(out, nl.full((128, 64), np.int8(3), nl.float32))
        return out

    assert (nki.jit(kernel).simulate((X,)) == 3).all()


def plain(x: Any) -> Any:
    return None


GRIDS: list[tuple[Any, str]] = [
    (0, "the launch grid [0] must have positive sizes [grid]"),
    (-1, "the launch grid [-1] must have positive sizes [grid]"),
    ("a", "the launch grid must be integers, got 'a' [grid]"),
    (2.0, "the launch grid must be integers, got 2.0 [grid]"),
    (None, "the launch grid must be integers, got None [grid]"),
    ((1, "a"), "the launch grid must be integers, got 1, 'a' [grid]"),
    ([2], "the launch grid must be integers, got [2] [grid]"),
    (slice(0, 2), "the launch grid must be integers, got slice(0, 2, None) [grid]"),
]


@pytest.mark.parametrize("grid, message", GRIDS)
def test_grids(grid: Any, message: str) -> None:
    for kernel in (jit(plain), legacy_jit(plain)):
        with pytest.raises(NkiError) as caught:
            kernel[grid]
        check(caught.value, message)


def test_grids_of_the_current_api_are_one_or_two_cores() -> None:
    for grid, listed in ((3, "[3]"), ((1, 2), "[1, 2]")):
        with pytest.raises(NkiError) as caught:
            jit(plain)[grid]
        check(caught.value, f"the launch grid is {listed}; it must be one number, 1 or 2 logical cores [grid]")


FUNCTIONS: list[tuple[Callable[[Any], Any], str]] = [
    (nki.jit, "nki.jit"),
    (nki.simulate, "nki.simulate"),
    (nki_mlir.compile, "nki_mlir.compile"),
    (legacy.jit, "nki.jit"),
    (legacy.simulate_kernel, "nki.simulate_kernel"),
    (legacy.baremetal, "nki.baremetal"),
]


@pytest.mark.parametrize("make, api", FUNCTIONS)
@pytest.mark.parametrize("value, kind", [(5, "int"), ("a", "str"), (X, "ndarray"), (int, "type")])
def test_what_is_no_function(make: Callable[[Any], Any], api: str, value: Any, kind: str) -> None:
    with pytest.raises(NkiError) as caught:
        make(value)
    check(caught.value, f"{api}: the kernel must be a function, got {kind}" + KIND)


@pytest.mark.parametrize("make, api", [row for row in FUNCTIONS if row[1] not in ("nki.jit", "nki.baremetal")])
def test_no_kernel(make: Callable[[Any], Any], api: str) -> None:
    with pytest.raises(NkiError) as caught:
        make(None)
    check(caught.value, f"{api}: the kernel must be a function, got NoneType" + KIND)

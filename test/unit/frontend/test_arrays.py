"""Arrays of all kinds as arguments: of subclasses and of files they are arrays, those that cannot be written stay."""

import sys
import types
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import nki_mlir.nki as nki
import nki_mlir.nki_legacy as legacy
from nki_mlir.diagnostics import NkiError
from nki_mlir.frontend.errors import NKITypeError
from nki_mlir.nki import isa as nisa
from nki_mlir.nki import language as nl
from nki_mlir.nki_legacy import language as ll

X = np.arange(64, dtype=np.float32).reshape(8, 8)


@nki.jit
def identity(a: Any) -> Any:
    out, tile = nl.ndarray(a.shape, a.dtype, buffer=nl.shared_hbm), nl.ndarray(a.shape, a.dtype)
    nisa.dma_copy(tile, a)
    nisa.dma_copy(out, tile)
    return out


def test_arrays_of_other_classes(tmp_path: Path) -> None:
    file = np.memmap(tmp_path / "x.bin", np.float32, "w+", shape=X.shape)
    file[:] = X
    for given in (file, X.view(np.matrix), np.ma.array(X), X[::-1, ::-1], X.T, X.astype(">f4")):
        assert np.array_equal(identity.simulate((given,)), np.asarray(given))


def test_an_array_of_fields_is_of_no_type_of_nki() -> None:
    with pytest.raises(
        NkiError, match=r"^argument a is of type \[\('f', '<f4'\)\], which NKI does not have \[dtype\]$"
    ):
        identity.simulate((np.zeros((8, 8), [("f", np.float32)]),))


def test_a_read_only_array_that_the_kernel_writes() -> None:
    def double(a: Any) -> Any:
        ll.store(a, ll.load(a) * 2)
        return a

    fixed = X.copy()
    fixed.flags.writeable = False
    for given in (fixed, np.broadcast_to(X[0], (8, 8))):
        with pytest.raises(NkiError) as caught:
            legacy.jit(double).simulate((given,))
        message = "the kernel writes its argument 'a', and the array given is read-only [read_only_argument]"
        assert str(caught.value) == message
        assert caught.value.location is not None
        assert caught.value.location.file == __file__
    writable = X.copy()
    legacy.jit(double).simulate((writable,))
    assert np.array_equal(writable, 2 * X)


# Arrays of other libraries, which the tests do without: what they offer of themselves is stood in for.


class Traced:
    """What JAX gives a function that it traces."""

    shape, dtype = (8, 8), np.dtype(np.float32)

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise TypeError("traced array with shape float32[8,8]\nmore about it")


def test_a_value_that_another_library_traces_has_no_elements() -> None:
    message = (
        r"^argument 'a' is a test_arrays.Traced, which has no elements now: traced array with shape float32\[8,8\] "
    )
    with pytest.raises(NKITypeError, match=message):
        identity.simulate((Traced(),))


class TorchType:
    """A type of torch, which has no name but in its text."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __str__(self) -> str:
        return f"torch.{self.array.name}"


class Torch:
    """A tensor of torch as far as it is used: `view` by a type, bits in and out, and `copy_`, which converts."""

    def __init__(self, array: Any) -> None:
        self.array = array

    @property
    def shape(self) -> Any:
        return self.array.shape

    @property
    def dtype(self) -> TorchType:
        return TorchType(self.array.dtype)

    def detach(self) -> "Torch":
        return self

    cpu = contiguous = detach

    def view(self, kind: Any) -> "Torch":
        return Torch(self.array.view(getattr(kind, "array", kind)))

    def numpy(self) -> Any:
        assert self.array.dtype != ml_dtypes.bfloat16, "torch gives numpy no bf16"
        return self.array

    def copy_(self, other: "Torch") -> None:
        self.array[...] = other.array.astype(self.array.dtype)


@pytest.fixture
def torch(monkeypatch: pytest.MonkeyPatch) -> None:
    module: Any = types.ModuleType("torch")
    module.uint8, module.int16, module.int32, module.from_numpy = np.uint8, np.int16, np.int32, Torch
    monkeypatch.setitem(sys.modules, "torch", module)


@legacy.jit
def grow(a: Any) -> Any:
    ll.store(a, ll.add(ll.load(a), 1))
    return a


@pytest.mark.usefixtures("torch")
@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.uint8, ml_dtypes.bfloat16, np.float16])
def test_torch_tensors_are_read_and_written_bit_by_bit(dtype: Any) -> None:
    first = np.zeros((8, 8), dtype)
    first[0, 0] = 100 if dtype is np.uint8 else 1024
    tensor = Torch(first.copy())
    result = grow.simulate((tensor,))
    assert result.dtype == first.dtype
    assert result.tobytes() == tensor.array.tobytes() == (first + np.ones((), dtype)).astype(dtype).tobytes()


@pytest.mark.usefixtures("torch")
def test_large_integers_of_torch_stay_what_they_are() -> None:
    @legacy.jit
    def copied(a: Any, b: Any) -> None:
        ll.store(a, ll.load(b))

    large = np.full((8, 8), (1 << 24) + 1, np.int32)
    tensor = Torch(np.zeros((8, 8), np.int32))
    copied.simulate((tensor, large))
    assert (tensor.array == large).all()

"""Arrays of all kinds as arguments: of subclasses and of files they are arrays, those that cannot be written stay."""

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

"""`nki_mlir.compile`: the module of a kernel, and that loops are in it."""

import inspect
import re

import numpy as np
import pytest

import nki_mlir
from nki_mlir import nki, nki_legacy
from nki_mlir.diagnostics import NkiError
from nki_mlir.frontend.errors import NKIValueError
from nki_mlir.frontend.kernel import Trace
from nki_mlir.nki_legacy import language as nl

X = np.zeros((512, 64), np.float32)


@nki_legacy.jit
def scaled(x, factor):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for i in nl.affine_range(4):
        at = slice(i * 128, (i + 1) * 128)
        nl.store(out[at, :], nl.multiply(nl.load(x[at, :]), factor))
    return out


def count(module, name):
    return len(re.findall(rf"\b{re.escape(name)}\b", str(module)))


def test_each_front_end_builds_its_own_dialect():
    assert "penguin.module @scaled" in str(nki_mlir.compile(scaled, X, 2.0, frontend="beta3"))
    assert "klr.kernel @scaled" in str(nki_mlir.compile(scaled, X, 2.0, frontend="beta2"))
    assert "klr.kernel @scaled" in str(nki_mlir.compile(scaled, X, 2.0))
    assert "penguin.module @scaled" in str(nki_mlir.compile(scaled, X, factor=2.0, emit="penguin"))


def test_penguin_and_its_bir_hold_the_loop_and_klr_does_not():
    penguin = nki_mlir.compile(scaled, X, 2.0, emit="penguin")
    assert (count(penguin, "penguin.loop"), count(penguin, "penguin.tensor_scalar_ptr")) == (1, 1)
    bir = nki_mlir.compile(scaled, X, 2.0, frontend="beta3", emit="bir")
    assert (count(bir, "bir.loop"), count(bir, "bir.load")) == (1, 1)
    flat = nki_mlir.compile(scaled, X, 2.0, frontend="beta2", emit="bir")
    assert (count(flat, "bir.loop"), count(flat, "bir.tensor_scalar_ptr")) == (0, 4)


def test_a_grid_is_a_loop_of_programs():
    @nki_legacy.jit
    def kernel(x):
        out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
        at = nl.program_id(0) * 128 + nl.arange(128)[:, None]
        column = nl.arange(64)[None, :]
        nl.store(out[at, column], nl.load(x[at, column]))
        return out

    module = nki_mlir.compile(kernel[4], X, emit="penguin")
    assert re.search(r"penguin\.loop %\w+ = 0 to 4 step 1 spmd", str(module))


def test_the_target_is_in_the_module():
    assert "#nki.arch<gen4>" in str(nki_mlir.compile(scaled, X, 2.0, target="trn3"))


def test_only_shape_and_type_of_arguments_matter():
    class Shaped:
        shape, dtype = (512, 64), "float32"

    assert str(nki_mlir.compile(scaled, Shaped(), 2.0)) == str(nki_mlir.compile(scaled, X, 2.0))


def test_a_plain_function_is_a_kernel_of_the_current_api():
    def kernel(x):
        out = nki.language.ndarray(x.shape, x.dtype, buffer=nki.language.shared_hbm)
        nki.isa.dma_copy(out, x)
        return out

    assert "klr.kernel @kernel" in str(nki_mlir.compile(kernel, X))


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"emit": "llvm"}, "unknown emit 'llvm'; known: penguin, klr, bir [emit]"),
        ({"emit": "klr", "frontend": "beta3"}, "emit 'klr' needs front end beta2, got beta3 [emit]"),
        ({"frontend": "beta4"}, "unknown front end 'beta4'; known: beta2, beta3 [NKI_FRONTEND]"),
    ],
)
def test_what_does_not_go_together(options, text):
    with pytest.raises(NKIValueError) as caught:
        nki_mlir.compile(scaled, X, 2.0, **options)
    assert str(caught.value) == text


def test_an_unknown_target():
    with pytest.raises(NkiError, match="unknown target 'trn9'"):
        nki_mlir.compile(scaled, X, 2.0, target="trn9")


def test_a_module_that_does_not_verify_is_one_error_in_the_kernel(monkeypatch, capsys):
    """No kernel gives such a module; here the op that stores is moved before the tile that it stores."""
    build = Trace.build

    def broken(trace, frontend):
        module = build(trace, frontend)
        (save,) = (op for op in module.walk() if op.name == "penguin.sb_atom_store")
        block = save.parent
        save.detach()
        block.insert_op_before(save, block.first_op)
        return module

    monkeypatch.setattr(Trace, "build", broken)
    with pytest.raises(NkiError) as caught:
        nki_mlir.compile(scaled, X, 2.0, emit="penguin")
    assert str(caught.value) == "'penguin.sb_atom_store' op operand #2 does not dominate this use"
    lines, first = inspect.getsourcelines(scaled.func)
    assert caught.value.location.file == __file__
    assert caught.value.location.line == first + next(k for k, line in enumerate(lines) if "nl.store" in line)
    assert capsys.readouterr() == ("", "")

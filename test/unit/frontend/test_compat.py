"""The vendor's names: `nki` and `neuronxcc.nki` for the length of a process."""

import importlib
import sys

import pytest

from nki_mlir import compat, nki, nki_legacy
from nki_mlir.frontend.errors import NKINotImplementedError


@pytest.fixture(autouse=True)
def _clean():
    compat.uninstall()
    yield
    compat.uninstall()


def test_both_names_become_importable_and_go_again():
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("neuronxcc.nki")
    assert compat.install() == ["nki", "neuronxcc"]
    assert compat.install() == ["nki", "neuronxcc"]
    namespace = {}
    source = """
import nki, nki.language as nl, nki.isa as nisa, nki.compiler as ncc
import neuronxcc.nki as old, neuronxcc.nki.language as onl, neuronxcc.nki.isa as onisa
import neuronxcc.nki.typing as nt, neuronxcc.nki.compiler as oncc
from neuronxcc import nki as again
from neuronxcc.nki.typing import tensor
from nki.language import affine_range
"""
    exec(source, namespace)
    assert namespace["nki"].jit is nki.jit
    assert namespace["nl"].add is nki.language.add
    assert namespace["old"] is namespace["again"]
    assert namespace["old"].jit is nki_legacy.jit
    assert namespace["old"].language is namespace["onl"]
    assert namespace["onl"].__name__ == "neuronxcc.nki.language"
    assert namespace["onl"].rand.__name__ == "rand"
    compat.uninstall()
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("nki")


def test_modules_of_constants_and_types():
    compat.install()
    namespace = {}
    source = """
import nki, nki.dtype as nt, nki.isa.constants, neuronxcc.nki as old
from nki.isa.constants import dge_mode, oob_mode, dma_engine
from nki.dtype import float8_e4m3fn_x4
from neuronxcc.nki.isa.constants import oob_mode as old_oob_mode, dge_mode as old_dge_mode
"""
    exec(source, namespace)
    assert namespace["dge_mode"] is namespace["nki"].isa.dge_mode is namespace["nki"].isa.constants.dge_mode
    assert namespace["nki"].dtype is namespace["nt"]
    assert namespace["float8_e4m3fn_x4"] == namespace["nki"].language.float8_e4m3fn_x4
    assert [int(engine) for engine in namespace["dma_engine"]] == [1, 2]
    assert namespace["old_dge_mode"] is namespace["old"].isa.dge_mode is not namespace["dge_mode"]
    assert namespace["old_oob_mode"] is namespace["oob_mode"]
    assert all(getattr(nki.dtype, name) == getattr(nki.language, name) == name for name in nki.dtype.__all__)


@pytest.mark.parametrize(
    ("module", "name", "short"),
    [
        ("nki.language", "fmod", "nl"),
        ("nki.isa", "get_nc_sub_version", "nisa"),
        ("nki.isa", "VirtualRegister", "nisa"),
        ("neuronxcc.nki.language", "fmod", "nl"),
        ("neuronxcc.nki.language", "gemm_grid", "nl"),
        ("neuronxcc.nki.language", "gemm_stationary_grid", "nl"),
        ("neuronxcc.nki.isa", "dma_engine", "nisa"),
    ],
)
def test_what_is_not_supported_can_be_imported_and_is_refused_by_name(module: str, name: str, short: str):
    compat.install()
    namespace = {}
    exec(f"from {module} import {name} as found", namespace)
    with pytest.raises(NKINotImplementedError) as caught:
        namespace["found"]()
    assert str(caught.value) == f"{short}.{name} is not supported by this front end [unsupported]"


def test_no_value_is_a_register():
    assert not isinstance(3, nki.isa.VirtualRegister)


def test_names_that_do_not_exist():
    compat.install()
    with pytest.raises(ModuleNotFoundError, match=r"No module named 'nki\.nothing'"):
        importlib.import_module("nki.nothing")
    with pytest.raises(ImportError, match=r"cannot import name 'nothing' from 'nki\.language'"):
        exec("from nki.language import nothing", {})
    with pytest.raises(AttributeError, match=r"module 'neuronxcc\.nki\.isa' has no attribute 'nothing'"):
        _ = importlib.import_module("neuronxcc.nki.isa").nothing


def test_a_star_import_brings_the_functions():
    compat.install()
    namespace = {}
    exec("from nki.language import *", namespace)
    assert {"add", "exp", "ndarray", "float32", "sbuf"} <= namespace.keys()


def test_a_vendor_package_is_left_alone(tmp_path, monkeypatch):
    package = tmp_path / "nki"
    package.mkdir()
    (package / "__init__.py").write_text("OWNER = 'vendor'\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.warns(compat.VendorPackageWarning, match=f"the package 'nki' at {package}.* is in use"):
        assert compat.install() == ["neuronxcc"]
    assert importlib.import_module("nki").OWNER == "vendor"
    with pytest.warns(compat.VendorPackageWarning):
        compat.install()
    del sys.modules["nki"]


def test_a_plain_folder_of_that_name_does_not_count(tmp_path, monkeypatch):
    (tmp_path / "nki").mkdir()
    monkeypatch.syspath_prepend(str(tmp_path))
    assert compat.install() == ["nki", "neuronxcc"]


@pytest.mark.parametrize(
    ("module", "names"),
    [
        ("nki_mlir.nki.language", "float32 sbuf ndarray affine_range ds tile_size no_reorder add"),
        ("nki_mlir.nki.isa", "engine oob_mode nc_matmul tensor_tensor get_nc_version"),
        ("nki_mlir.nki_legacy.language", "float32 par_dim arange mgrid nc load exp affine_range"),
        ("nki_mlir.nki_legacy.isa", "engine oob_mode nc_matmul tensor_tensor get_nc_version"),
    ],
)
def test_star_import_brings_the_whole_api(module: str, names: str):
    found: dict[str, object] = {}
    exec(f"from {module} import *", found)
    assert set(names.split()) <= found.keys()

"""Plain xdsl-opt finds our dialects and passes."""

import subprocess
import sys
from importlib.metadata import entry_points

import pytest
from xdsl.universe import XDSL_UNIVERSE, Universe
from xdsl.xdsl_opt_main import xDSLOptMain

from nki_mlir.universe import UNIVERSE

installed = pytest.mark.skipif(
    not [point for point in entry_points(group="xdsl.universe") if point.name == "nki_mlir"],
    reason="nki-mlir is not installed, only importable",
)


def test_names_are_ours_alone():
    assert set(UNIVERSE.all_dialects) == {"nki", "penguin", "klr", "bir"}
    assert not set(UNIVERSE.all_dialects) & set(XDSL_UNIVERSE.all_dialects)
    assert not set(UNIVERSE.all_passes) & set(XDSL_UNIVERSE.all_passes)


@pytest.mark.parametrize("name", UNIVERSE.all_passes)
def test_passes_are_registered_under_their_names(name):
    cls = UNIVERSE.all_passes[name]()
    assert cls.name == name
    assert cls.__doc__


@pytest.mark.parametrize("name", UNIVERSE.all_dialects)
def test_dialects_are_registered_under_their_names(name):
    assert UNIVERSE.all_dialects[name]().name == name


@installed
def test_the_entry_point_is_found():
    multiverse = Universe.get_multiverse()
    assert set(UNIVERSE.all_dialects) <= set(multiverse.all_dialects)
    assert set(UNIVERSE.all_passes) <= set(multiverse.all_passes)
    driver = xDSLOptMain(args=[])
    assert set(UNIVERSE.all_dialects) <= set(driver.ctx.registered_dialect_names)


@installed
def test_xdsl_opt_shows_our_passes():
    result = subprocess.run(
        [sys.executable, "-m", "xdsl.tools.xdsl_opt", "--help"], capture_output=True, text=True, check=True
    )
    listed = "".join(result.stdout.split())
    assert [name for name in UNIVERSE.all_passes if name not in listed] == []

"""Python 3.11.2, which Debian 12 has, takes some regular expressions with possessive or atomic groups wrong."""

from pathlib import Path

import pytest

import nki_mlir

SOURCES = sorted(Path(nki_mlir.__file__).parent.rglob("*.py"))


@pytest.mark.parametrize("written", [")*+", ")++", ")?+", "(?>"])
def test_no_possessive_or_atomic_groups(written: str):
    assert not [path.name for path in SOURCES if written in path.read_text(encoding="utf-8")]

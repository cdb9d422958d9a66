"""The tools' printer writes what xDSL's does."""

from io import StringIO
from pathlib import Path

import pytest
from xdsl.context import Context
from xdsl.printer import Printer
from xdsl.universe import XDSL_UNIVERSE

from nki_mlir.tools.mlir_parser import parse_mlir
from nki_mlir.tools.mlir_printer import mlir_text
from nki_mlir.universe import UNIVERSE

FILES = sorted((Path(__file__).parents[2] / "dialects").glob("*/ops.mlir"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.parent.name)
@pytest.mark.parametrize("generic", [False, True])
@pytest.mark.parametrize("locations", [False, True])
def test_the_same_text(path, generic, locations):
    context = Context()
    for name, dialect in (XDSL_UNIVERSE.all_dialects | UNIVERSE.all_dialects).items():
        context.register_dialect(name, dialect)
    module = parse_mlir(context, path.read_text(), "ops.mlir")
    stream = StringIO()
    Printer(stream, print_generic_format=generic, print_debuginfo=locations).print_op(module)
    assert mlir_text(module, generic=generic, locations=locations) == stream.getvalue() + "\n"


def test_all_dialects_are_there():
    assert [path.parent.name for path in FILES] == ["bir", "klr", "penguin"]

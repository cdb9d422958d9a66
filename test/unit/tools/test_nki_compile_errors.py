"""What a kernel's own Python raises ends nki-compile with status 1, its type, text and place."""

import io
from pathlib import Path

import pytest

from nki_mlir.tools.nki_compile import run


@pytest.mark.parametrize(
    "statement, message",
    [
        ("raise ValueError('my own')", "ValueError: my own"),
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("raise SystemExit(0)", "SystemExit: 0"),
        ("raise GeneratorExit", "GeneratorExit"),
        ("assert False, 'mine'", "AssertionError: mine"),
    ],
)
def test_exceptions_of_the_kernel(tmp_path: Path, statement: str, message: str) -> None:
    path = tmp_path / "k.py"
    path.write_text(f"import nki\n\n\n@nki.jit\ndef kernel(x):\n    {statement}\n")
    stdin, stdout, stderr = (io.StringIO() for _ in range(3))
    assert run([f"{path}:kernel", "--arg", "x=f32[4,4]"], stdin, stdout, stderr) == 1
    assert stdout.getvalue() == ""
    shown = stderr.getvalue().split("\n")
    assert shown[0] == f"{path}:6:5: error: {message}"
    assert shown[1:] == [f"      {statement}", "      ^", ""]


def test_an_exception_while_the_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "k.py"
    path.write_text("import sys\nsys.exit(0)\n")
    stdin, stdout, stderr = (io.StringIO() for _ in range(3))
    assert run([f"{path}:kernel"], stdin, stdout, stderr) == 1
    assert stderr.getvalue() == f"{path}:2:1: error: SystemExit: 0\n  sys.exit(0)\n  ^\n"

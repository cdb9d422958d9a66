"""The README's commands print what the README shows."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from nki_mlir import compat

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
COMMANDS = [found for block in BLOCK.findall((ROOT / "README.md").read_text()) for found in COMMAND.findall(block)]


def test_there_is_a_tour() -> None:
    assert len(COMMANDS) >= 5


@pytest.mark.parametrize(("command", "shown"), COMMANDS, ids=[command for command, _ in COMMANDS])
def test_command(command: str, shown: str) -> None:
    tool, *arguments = shlex.split(command)
    module = f"nki_mlir.tools.{tool.replace('-', '_')}"
    done = subprocess.run(
        [sys.executable, "-c", f"from {module} import main; main()", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout + done.stderr == shown


def test_python_block(capsys: pytest.CaptureFixture[str]) -> None:
    (code,) = re.findall(r"^```python\n(import nki_mlir\n.*?)^```$", (ROOT / "README.md").read_text(), re.M | re.S)
    try:
        exec(compile(code, "README.md", "exec"), {})
    finally:
        compat.uninstall()
    shown = capsys.readouterr().out
    assert "[2. 2. 2. ... 2. 2. 2.]" in shown
    assert "penguin.tensor_tensor add" in shown

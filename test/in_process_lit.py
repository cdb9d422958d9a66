"""Runs lit tests in the process of pytest: the same files and RUN lines as `lit test`, a hundred times faster.

RUN lines made of our tools, filecheck and `not`, with pipes and redirections, run here; a file that needs more (another
program, a REQUIRES line) is given to lit itself.
"""

import importlib
import io
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from lit.ShCommands import Command, Pipeline, Seq
from lit.ShUtil import ShParser

HERE = Path(__file__).parent
TOOLS = ("nki-opt", "nki-sim", "nki-compile", "nki-translate", "nki-run")
LIT = (sys.executable, "-c", "from lit.main import main; main()")
_RUN = re.compile(r"RUN:(.*)$", re.MULTILINE)
_FOR_LIT = re.compile(r"\b(?:REQUIRES|UNSUPPORTED|XFAIL|DEFINE|REDEFINE|ALLOW_RETRIES):")
_REDIRECTIONS = {(">",), (">>",), ("<",), (">", 2), (">>", 2), (">&", 2), ("&>",)}

Run = Callable[[list[str], Any, Any, Any], int]


class NotInProcess(Exception):
    """A RUN line needs more than the tools that run here."""


class Failure(Exception):
    """A RUN line failed; the text says how."""


def run_lines(text: str) -> list[str]:
    """Returns the commands of a test, continuation lines joined."""
    commands: list[str] = []
    open_command = ""
    for match in _RUN.finditer(text):
        open_command += match[1].strip()
        if open_command.endswith("\\"):
            open_command = open_command[:-1]
        else:
            commands.append(open_command)
            open_command = ""
    return commands


def substitute(command: str, source: Path, temporary: Path) -> str:
    """Replaces lit's %s (the file), %S (its folder), %t (a file name of this test's own) and %%."""
    values = {"%s": str(source), "%S": str(source.parent), "%p": str(source.parent), "%t": str(temporary), "%%": "%"}
    known = re.compile(r"%(?:[sSpt](?![\w{])|%)")
    result = known.sub(lambda match: values[match[0]], command)
    if re.search(r"%\{?\w", known.sub("", command)):
        raise NotInProcess(command)
    return result


def _filecheck(argv: list[str], stdin: Any, stdout: Any, stderr: Any) -> int:
    from filecheck.main import main

    with mock.patch.object(sys, "stdin", stdin), redirect_stdout(stdout), redirect_stderr(stderr):
        try:
            main(["filecheck", *argv])
        except SystemExit as end:
            return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0


def _program(name: str) -> Run:
    if name == "filecheck":
        return _filecheck
    if name in TOOLS:
        return importlib.import_module(f"nki_mlir.tools.{name.replace('-', '_')}").run
    raise NotInProcess(name)


def _commands(command: str) -> Iterator[Pipeline]:
    def flatten(tree: Any) -> Iterator[Pipeline]:
        if isinstance(tree, Seq):
            if tree.op not in ("&&", ";"):
                raise NotInProcess(command)
            yield from flatten(tree.lhs)
            yield from flatten(tree.rhs)
        else:
            yield tree

    return flatten(ShParser(command, pipefail=True).parse())


def check_in_process(command: str) -> None:
    """Raises NotInProcess if a command needs a shell."""
    for pipeline in _commands(command):
        for one in pipeline.commands:
            arguments = _without_not(one)[0]
            if not all(isinstance(argument, str) for argument in arguments) or not arguments:
                raise NotInProcess(command)
            if arguments[0] != "filecheck" and arguments[0] not in TOOLS:
                raise NotInProcess(arguments[0])
            if any(tuple(operator) not in _REDIRECTIONS for operator, _ in one.redirects):
                raise NotInProcess(command)


def _without_not(command: Command) -> tuple[list[str], bool]:
    arguments, negated = list(command.args), False
    while arguments and arguments[0] in ("not", "!"):
        arguments, negated = arguments[1:], not negated
    return arguments, negated


def _stream(data: bytes = b"") -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(data), encoding="utf-8", newline="\n")


def _contents(stream: io.TextIOWrapper) -> bytes:
    stream.flush()
    buffer = stream.buffer
    assert isinstance(buffer, io.BytesIO)
    return buffer.getvalue()


def execute(command: str) -> None:
    """Runs a command; Failure with what it printed if its status is not 0."""
    for pipeline in _commands(command):
        piped, log, failed = b"", "", False
        for one in pipeline.commands:
            piped, errors, status = _execute_one(one, piped)
            log += errors.decode(errors="replace")
            failed = failed or status != 0
        if failed != bool(pipeline.negate):
            raise Failure(f"{command}\n\nstandard error:\n{log}\nstandard output:\n{piped.decode(errors='replace')}")


def _execute_one(command: Command, piped: bytes) -> tuple[bytes, bytes, int]:
    arguments, negated = _without_not(command)
    out, err = _stream(), _stream()
    out_file: tuple[str, str] | None = None
    err_file: tuple[str, str] | None = None
    for operator, target in command.redirects:
        match tuple(operator):
            case ("<",):
                piped = Path(target).read_bytes()
            case (">&", 2):
                err = out
            case ("&>",):
                err, out_file = out, (">", target)
            case (kind, 2):
                err_file = (kind, target)
            case (kind,):
                out_file = (kind, target)
            case _:
                raise NotInProcess(str(command))
    status = _program(arguments[0])(arguments[1:], _stream(piped), out, err)
    printed, complaints = _contents(out), b"" if err is out else _contents(err)
    if err_file is not None:
        _save(*err_file, complaints)
    if out_file is not None:
        _save(*out_file, printed)
        printed = b""
    return printed, complaints, int((status != 0) != negated) if negated else status


def _save(kind: str, target: str, data: bytes) -> None:
    with open(target, "ab" if kind == ">>" else "wb") as file:
        file.write(data)


class LitFile(pytest.File):
    """A .mlir file with RUN lines."""

    def collect(self) -> Iterator["LitItem"]:
        yield LitItem.from_parent(self, name=self.path.name)


class LitItem(pytest.Item):
    """The one test of a .mlir file."""

    def runtest(self) -> None:
        text = self.path.read_text(encoding="utf-8")
        factory: pytest.TempPathFactory = self.config._tmp_path_factory  # type: ignore[attr-defined]
        temporary = factory.mktemp(self.path.stem) / f"{self.path.name}.tmp"
        try:
            if _FOR_LIT.search(text):
                raise NotInProcess(self.path.name)
            commands = [substitute(command, self.path, temporary) for command in run_lines(text)]
            for command in commands:
                check_in_process(command)
        except NotInProcess:
            run_with_lit(self.path)
            return
        for command in commands:
            execute(command)

    def repr_failure(self, excinfo: Any, style: Any = None) -> Any:
        if isinstance(excinfo.value, Failure):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, 0, f"lit: {self.path.relative_to(HERE)}"


def run_with_lit(path: Path) -> None:
    """Runs one test with lit; Failure if it fails, a skip if lit does not support it here."""
    lit = subprocess.run([*LIT, "-v", str(path)], capture_output=True, text=True, check=False)
    if lit.returncode:
        raise Failure(lit.stdout + lit.stderr)
    if "UNSUPPORTED:" in lit.stdout:
        pytest.skip("lit: unsupported here")

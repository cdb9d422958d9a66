"""The parts that all tools share."""

import io
import os
import subprocess
import sys
import tempfile
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from nki_mlir.diagnostics import ByteLocation, Location, NkiError, one_line
from nki_mlir.tools.common import ArgumentParser, Console, closest, replacing, run_tool, visible


def run(body, *argv: str, stdin: str = "") -> tuple[int, str, str]:
    out, err = io.TextIOWrapper(io.BytesIO(), encoding="utf-8"), io.StringIO()
    status = run_tool(body, argv, io.StringIO(stdin), out, err)
    out.flush()
    return status, out.buffer.getvalue().decode(), err.getvalue()  # type: ignore[attr-defined]


def greet(console: Console, argv: Sequence[str]) -> int:
    parser = ArgumentParser("nki-greet", "Greets.", "  nki-greet you\n")
    parser.add_argument("whom", nargs="?")
    parser.add_argument("--loudly", action="store_true")
    args = parser.parse_args(argv)
    console.write(None, f"hello {args.whom}\n")
    return 0


def test_arguments():
    assert run(greet, "you") == (0, "hello you\n", "")
    assert run(greet, "--loudlier") == (
        1,
        "",
        "error: unrecognized arguments: --loudlier; did you mean '--loudly'?\n",
    )
    assert run(greet, "--loud")[0] == 1
    status, out, err = run(greet, "--help")
    assert (status, err) == (0, "")
    assert out.startswith("usage: nki-greet [-h] [--version] [--debug] [--loudly] [whom]\n")
    assert out.endswith("examples:\n  nki-greet you\n")
    status, out, _ = run(greet, "--version")
    assert status == 0
    assert out.startswith("nki-greet 0.")


def test_errors_one_and_many():
    def one(console: Console, argv: Sequence[str]) -> int:
        raise NkiError("wrong", ByteLocation("a.klr", 7))

    def two(console: Console, argv: Sequence[str]) -> int:
        console.read_text("-")
        places = [Location("<stdin>", 2, 3), Location("<stdin>", 9, 1)]
        raise ExceptionGroup("two", [NkiError("wrong", place) for place in places])

    assert run(one) == (1, "", "a.klr: byte 7: error: wrong\n")
    assert run(two, stdin="first\nsecond\n") == (
        1,
        "",
        "<stdin>:2:3: error: wrong\n  second\n    ^\n<stdin>:9:1: error: wrong\n",
    )


def test_unforeseen_exceptions():
    def divide(console: Console, argv: Sequence[str]) -> int:
        return 1 // 0

    message = (
        "error: internal error: ZeroDivisionError: integer division or modulo by zero (--debug shows the traceback)"
    )
    assert run(divide) == (1, "", f"{message}\n")
    err = run(divide, "--debug")[2]
    assert err.startswith("Traceback (most recent call last):\n")
    assert err.endswith(f"\n{message}\n")


def test_streams_stand_in_for_those_of_the_process():
    def echo(console: Console, argv: Sequence[str]) -> int:
        print(sys.stdin.read().upper())
        print("to the other", file=sys.stderr)
        console.write(None, b"bytes\n")
        return 3

    assert run(echo, stdin="text") == (3, "TEXT\nbytes\n", "to the other\n")


def test_reading(tmp_path: Path):
    console = Console(io.StringIO("standard"), io.StringIO(), io.StringIO())
    assert console.read_bytes("-") == b"standard"
    file = tmp_path / "a.txt"
    file.write_bytes("one\ntwo é\n".encode())
    assert console.read_text(str(file)) == "one\ntwo é\n"
    assert console.source_line(Location(str(file), 2, 1)) == "two é"
    assert console.source_line(Location(str(file), 9, 1)) is None


def test_what_does_not_show(tmp_path: Path):
    """A mark of the byte order is none of the text; other characters of that kind are seen in the line of an error."""
    console = Console(io.StringIO(), io.StringIO(), io.StringIO())
    file = tmp_path / "a.txt"
    file.write_bytes("\ufeffa\tb\0\x1b[1m\r\n".encode())
    assert console.read_text(str(file)) == "a\tb\0\x1b[1m\r\n"
    assert console.source_line(Location(str(file), 1, 1)) == "a\tb\ufffd\ufffd[1m"
    assert visible("a\0\u00a0\U000e0001é ") == "aU+0000U+00A0U+E0001é "


@pytest.mark.parametrize(
    "data, text",
    [
        ("é = 1\n".encode(), "é = 1\n"),
        ("\ufeffé = 1\n".encode(), "é = 1\n"),
        ("# -*- coding: latin-1 -*-\né = 1\n".encode("latin-1"), "# -*- coding: latin-1 -*-\né = 1\n"),
        ("\n# vim: fileencoding=cp1252\n€\n".encode("cp1252"), "\n# vim: fileencoding=cp1252\n€\n"),
    ],
)
def test_python_files_say_their_encoding(tmp_path: Path, data: bytes, text: str):
    console = Console(io.StringIO(), io.StringIO(), io.StringIO())
    file = tmp_path / "a.py"
    file.write_bytes(data)
    assert console.read_python(str(file)) == text
    line = text.count("\n")
    assert console.source_line(Location(str(file), line)) == text.split("\n")[line - 1]


@pytest.mark.parametrize(
    "data, place, message",
    [
        (b"# coding: nothing\n", Location("a.py"), "unknown encoding: nothing"),
        (b"# coding: hex\n", Location("a.py"), "'hex' is not a text encoding; use codecs.decode() to handle arbitrary"),
        (b"\xef\xbb\xbf# coding: latin-1\n", Location("a.py"), "encoding problem: utf-8"),
        (b"\n\n'\xff'\n", ByteLocation("a.py", 3), "expected UTF-8 text, got byte 0xff"),
        (b"# coding: ascii\n\n'\xff'\n", ByteLocation("a.py", 18), "expected ASCII text, got byte 0xff"),
    ],
)
def test_python_files_in_no_encoding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data, place, message):
    monkeypatch.chdir(tmp_path)
    Path("a.py").write_bytes(data)
    with pytest.raises(NkiError) as caught:
        Console(io.StringIO(), io.StringIO(), io.StringIO()).read_python("a.py")
    assert str(caught.value).startswith(message)
    assert caught.value.location == place


def test_replacing_leaves_no_trace_of_a_failure(tmp_path: Path):
    file = tmp_path / "out.bin"
    with replacing(str(file)) as stream:
        stream.write(b"first")
    with pytest.raises(KeyError), replacing(str(file)) as stream:
        stream.write(b"second")
        raise KeyError
    assert file.read_bytes() == b"first"
    assert [path.name for path in tmp_path.iterdir()] == ["out.bin"]


def write(path: Path, content: bytes) -> None:
    with replacing(str(path)) as stream:
        stream.write(content)


@contextmanager
def nobody() -> Generator[None]:
    """Takes from root what other users may not do."""
    if os.geteuid():
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def folder() -> Generator[Path]:
    """A folder that nobody else owns and all may enter, as pytest's own is not."""
    with tempfile.TemporaryDirectory() as name:
        os.chmod(name, 0o777)
        yield Path(name)
        os.chmod(name, 0o777)


def test_a_file_that_may_not_be_written_stays(folder: Path):
    file = folder / "out.bin"
    file.write_bytes(b"first")
    file.chmod(0o444)
    with nobody(), pytest.raises(NkiError) as caught:
        write(file, b"second")
    assert str(caught.value) == f"cannot write '{file}': Permission denied"
    assert file.read_bytes() == b"first"
    assert os.listdir(folder) == ["out.bin"]


def test_a_folder_that_may_not_be_changed(folder: Path):
    file = folder / "out.bin"
    file.write_bytes(b"first, which is longer")
    file.chmod(0o666)
    folder.chmod(0o555)
    with nobody(), pytest.raises(KeyError), replacing(str(file)) as stream:
        stream.write(b"never")
        raise KeyError
    assert file.read_bytes() == b"first, which is longer"
    with nobody():
        write(file, b"second")
    assert file.read_bytes() == b"second"
    with nobody(), pytest.raises(NkiError) as caught:
        write(folder / "new.bin", b"third")
    assert str(caught.value) == f"cannot write '{folder / 'new.bin'}': Permission denied"
    assert os.listdir(folder) == ["out.bin"]


@pytest.mark.parametrize(
    "command, out, err",
    [
        ("-o /dev/stdout", "builtin.module {\n}\n", ""),
        ("-o /dev/stderr", "", "builtin.module {\n}\n"),
        ("-o /dev/stderr 2>&1 | cat", "builtin.module {\n}\n", ""),
        ("-o /dev/fd/3 3>&1 | cat", "builtin.module {\n}\n", ""),
        ("-o /dev/stdout | cat", "builtin.module {\n}\n", ""),
    ],
)
def test_devices_of_the_process(command: str, out: str, err: str):
    script = f'"$0" -m nki_mlir.tools.nki_opt {command}'
    done = subprocess.run(
        ["/bin/sh", "-c", script, sys.executable], input="", capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == (out, err)


def test_standard_output_goes_on_where_it_is(tmp_path: Path):
    file = tmp_path / "all"
    script = '(echo first; "$0" -m nki_mlir.tools.nki_opt -o /dev/stdout; echo last) > "$1"'
    subprocess.run(["/bin/sh", "-c", script, sys.executable, str(file)], input="", text=True, check=True)
    assert file.read_text() == "first\nbuiltin.module {\n}\nlast\n"


def test_messages():
    assert one_line("a:\n  b\n\n c") == "a: b c"
    assert closest("canonicalise", ["cse", "canonicalize"]) == "; did you mean 'canonicalize'?"
    assert closest("xyz", ["cse"]) == ""


@pytest.mark.parametrize(
    "redirection, message",
    [
        ("0<&-", "error: cannot read '-': Bad file descriptor\n"),
        ("1>&-", "error: cannot write standard output: Bad file descriptor\n"),
    ],
)
def test_closed_streams(redirection: str, message: str) -> None:
    command = f'exec "$0" -c "from nki_mlir.tools.nki_opt import main; main()" - {redirection}'
    done = subprocess.run(
        ["/bin/sh", "-c", command, sys.executable], input="", capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (1, message)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")
@pytest.mark.parametrize(
    "tool, argument, unbuffered",
    [
        ("opt", "--help", ""),
        ("opt", "--help", "1"),
        ("opt", "-", ""),
        ("sim", "--version", "1"),
        ("compile", "--help", ""),
        ("translate", "--help", "1"),
        ("run", "-", ""),
    ],
)
def test_full_device(tool: str, argument: str, unbuffered: str) -> None:
    """Python keeps what it prints until the end or writes it at once; argparse is silent about errors of the latter."""
    command = f'exec "$0" -m nki_mlir.tools.nki_{tool} {argument} > /dev/full'
    done = subprocess.run(
        ["/bin/sh", "-c", command, sys.executable],
        input="print('text')" if tool == "run" else "",
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONUNBUFFERED": unbuffered},
    )
    assert (done.returncode, done.stderr) == (1, "error: cannot write standard output: No space left on device\n")

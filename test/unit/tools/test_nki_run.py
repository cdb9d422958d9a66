"""nki-run: scripts with the vendor's names, their arguments, output, errors and status."""

import io
import sys
from pathlib import Path

import pytest

from nki_mlir import compat
from nki_mlir.tools import nki_run

KERNEL = """
import sys
import neuronxcc.nki as nki
import neuronxcc.nki.language as nl
import numpy as np

@nki.jit
def double(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nl.store(out, nl.multiply(nl.load(x), 2.0))
    return out

print(sys.argv[1:], __name__, double(np.ones((2, 3), np.float32)).sum())
"""


@pytest.fixture(autouse=True)
def _clean():
    yield
    compat.uninstall()


@pytest.fixture
def run(tmp_path):
    def call(source, *arguments, options=(), name="script.py"):
        path = tmp_path / name
        path.write_text(source)
        out, err = io.StringIO(), io.StringIO()
        status = nki_run.run([*options, str(path), *arguments], io.StringIO(), out, err)
        return status, out.getvalue(), err.getvalue(), path

    return call


@pytest.mark.parametrize("frontend", ["beta2", "beta3"])
def test_a_script_runs_with_its_arguments(run, frontend):
    argv, path = list(sys.argv), list(sys.path)
    status, out, err, _ = run(KERNEL, "--rows", "4", options=["--frontend", frontend, "--target", "trn2"])
    assert (status, out, err) == (0, "['--rows', '4'] __main__ 12.0\n", "")
    assert (sys.argv, sys.path) == (argv, path)


def test_standard_input():
    out = io.StringIO()
    assert nki_run.run(["-", "x"], io.StringIO("import nki, sys\nprint(sys.argv)"), out, io.StringIO()) == 0
    assert out.getvalue() == "['-', 'x']\n"


@pytest.mark.parametrize(("end", "status", "text"), [("3", 3, ""), ("None", 0, ""), ("'bye'", 1, "bye\n")])
def test_the_script_ends_with_a_status(run, end, status, text):
    assert run(f"import sys\nsys.exit({end})")[:3] == (status, "", text)


def test_an_exception_of_the_script_is_shown_from_its_own_frame_on(run):
    status, _, err, path = run("def f():\n    raise KeyError('mine')\nf()\n")
    assert status == 1
    assert err.splitlines()[:2] == ["Traceback (most recent call last):", f'  File "{path}", line 3, in <module>']
    assert err.endswith("KeyError: 'mine'\n")
    assert "nki_run" not in err


def test_an_error_of_a_kernel_is_one_message_with_its_line(run):
    status, _, err, path = run(KERNEL.replace("nl.load(x), 2.0", "x, 2.0"))
    assert status == 1
    assert err.splitlines() == [
        f"{path}:10:19: error: multiply: x is in hbm, expected to be in sbuf, psum [unsupported_memory]",
        "      nl.store(out, nl.multiply(x, 2.0))",
        "                    ^",
    ]


def test_an_exception_of_a_kernel_shows_the_frames_of_the_script_only(run):
    source = KERNEL.replace("nl.multiply(nl.load(x), 2.0)", "nl.multply(nl.load(x), 2.0)")
    status, _, err, path = run(source)
    assert status == 1
    lines = err.splitlines()
    assert [line for line in lines if line.startswith("  File")] == [
        f'  File "{path}", line 13, in <module>',
        f'  File "{path}", line 10, in double',
    ]
    assert lines[-2:] == [
        "AttributeError: module 'neuronxcc.nki.language' has no attribute 'multply'",
        f"{path}:10:19: in the kernel",
    ]


CAUSED = """
try:
    double(np.ones((2, 3), np.float32))
except KeyError as error:
    raise ValueError("mine") from error
"""


def test_the_causes_of_an_exception_show_no_frames_of_ours_either(run):
    _, _, err, path = run(KERNEL.replace("return out", "return {}['key']").partition("print(")[0] + CAUSED)
    files = [line for line in err.splitlines() if line.startswith("  File")]
    assert len(files) == 3
    assert all(str(path) in line for line in files)
    assert "KeyError: 'key'" in err
    assert err.endswith("ValueError: mine\n")


def test_debug_keeps_all_frames(run):
    _, _, err, _ = run(KERNEL.replace("nl.load(x)", "nl.lod(x)"), options=["--debug"])
    assert "kernel.py" in err
    assert "has no attribute 'lod'" in err


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("double()", "double() missing 1 required positional argument: 'x'"),
        ("double(x=1, z=2)", "double() got an unexpected keyword argument 'z'"),
        ("double(1, 2)", "double() takes 1 positional argument but 2 were given"),
    ],
)
def test_wrong_arguments_of_a_kernel_are_one_message_at_the_call(run, call, message):
    status, _, err, path = run(KERNEL.partition("print(")[0] + f"{call}\n")
    assert status == 1
    assert err.splitlines() == [f"{path}:13:1: error: {message} [arguments]", f"  {call}", "  ^"]


def test_an_error_outside_of_a_kernel_has_the_scripts_line(run):
    status, _, err, path = run("import neuronxcc.nki.language as nl\n\nnl.load(None)\n")
    assert status == 1
    assert err.startswith(
        f"{path}:3:1: error: load can be called inside of a kernel only [nki_api_outside_of_nki_kernel]"
    )


def test_files_that_are_not_there(run, tmp_path):
    err = io.StringIO()
    assert nki_run.run([str(tmp_path / "no.py")], io.StringIO(), io.StringIO(), err) == 1
    assert err.getvalue() == f"error: cannot read '{tmp_path / 'no.py'}': No such file or directory\n"


def test_files_are_in_the_encoding_that_they_say(run, tmp_path):
    path = tmp_path / "latin.py"
    for data in (b"# coding: latin-1\r\nprint('\xe9')\r\n", b"\xef\xbb\xbfprint('\xc3\xa9')\r\n"):
        path.write_bytes(data)
        for argument, stdin in ((str(path), b""), ("-", data)):
            out, err = io.StringIO(), io.StringIO()
            assert nki_run.run([argument], io.TextIOWrapper(io.BytesIO(stdin)), out, err) == 0, err.getvalue()
            assert out.getvalue() == "é\n"


def test_line_ends_of_windows_are_not_shown(run):
    _, _, err, path = run("import neuronxcc.nki.language as nl\r\nnl.load(None)\r\n")
    message = "load can be called inside of a kernel only [nki_api_outside_of_nki_kernel]"
    assert err == f"{path}:2:1: error: {message}\n  nl.load(None)\n  ^\n"


def test_what_is_missing_is_the_script():
    err = io.StringIO()
    assert nki_run.run([], io.StringIO(), io.StringIO(), err) == 1
    assert err.getvalue() == "error: the following arguments are required: SCRIPT.py\n"


def test_the_first_example_of_the_help_prints_something(tmp_path, monkeypatch):
    example = nki_run.EXAMPLES.splitlines()[0].split()
    assert example[0] == "nki-run"
    monkeypatch.chdir(tmp_path)
    script = Path(__file__).parents[3] / example[1]
    out, err = io.StringIO(), io.StringIO()
    assert nki_run.run([str(script), *example[2:]], io.StringIO(), out, err) == 0, err.getvalue()
    assert "attention      beta2" in out.getvalue()


def test_help_and_version():
    for option, text in (("--help", "examples:"), ("--version", "nki-run ")):
        out = io.StringIO()
        assert nki_run.run([option], io.StringIO(), out, io.StringIO()) == 0
        assert text in out.getvalue()


def test_a_vendor_package_is_mentioned(run, tmp_path, monkeypatch):
    package = tmp_path / "neuronxcc"
    package.mkdir()
    (package / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(str(tmp_path))
    status, _, err, _ = run("print('hi')", name="other.py")
    assert status == 0
    assert err.startswith(f"nki-run: note: the package 'neuronxcc' at {package}")
    sys.modules.pop("neuronxcc", None)


def test_debug_behind_the_script_is_the_scripts_own(run):
    source = "import sys\nprint(sys.argv[1:])\nraise ValueError('mine')\n"
    status, out, err, _ = run(source, "--debug", options=["--target", "trn2"])
    assert (status, out) == (1, "['--debug']\n")
    assert "internal error" not in err
    assert "internal error" in run(source, options=["--debug", "--target", "trn2"])[2]

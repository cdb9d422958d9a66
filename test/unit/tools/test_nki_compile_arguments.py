"""The command line of nki-compile: arguments of the kernel, standard input, what is found in a file, and results."""

import io
from pathlib import Path

import numpy as np
import pytest

from nki_mlir import compat
from nki_mlir.diagnostics import NkiError
from nki_mlir.isa.dtypes import Dtype
from nki_mlir.tools import nki_compile, nki_sim
from nki_mlir.tools.nki_compile import Shaped, parse_argument

LEGACY = """
import neuronxcc.nki as nki
import neuronxcc.nki.language as nl

@nki.jit
def triple(x, y):
    nl.store(y, nl.multiply(nl.load(x), 3.0))

@nki.jit
def returned(x, y):
    nl.store(y, nl.load(x) * 3.0)
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nl.store(out, nl.load(x))
    return y, out

def plain(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nl.store(out, nl.load(x) * 2.0)
    return out
"""
CURRENT = """
import nki
from nki.language import load, multiply, ndarray, shared_hbm, store

def plain(x):
    out = ndarray(x.shape, x.dtype, shared_hbm)
    store(out, multiply(load(x), 2.0))
    return out

class Plain:
    pass
"""


@pytest.fixture(autouse=True)
def _clean():
    yield
    compat.uninstall()


@pytest.fixture
def run(tmp_path: Path):
    def call(*argv: str, source: str = LEGACY, stdin: str = ""):
        (tmp_path / "k.py").write_text(source)
        out, err = io.StringIO(), io.StringIO()
        words = [word.replace("k.py", str(tmp_path / "k.py"), 1) for word in argv]
        status = nki_compile.run(words, io.StringIO(stdin), out, err)
        return status, out.getvalue(), err.getvalue().replace(str(tmp_path / "k.py"), "k.py")

    return call


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("f32[128,512]", Shaped((128, 512), Dtype.F32)),
        ("bfloat16[ 2 , 3 ]", Shaped((2, 3), Dtype.BF16)),
        ("i8[]", Shaped((), Dtype.I8)),
        ("3", 3),
        ("-3", -3),
        ("0x10", 16),
        ("0b101", 5),
        ("1_000", 1000),
        ("007", 7),
        ("2.5", 2.5),
        ("1e-3", 0.001),
        ("-inf", float("-inf")),
        ("True", True),
        ("None", None),
        ("(1, 2.5, 'a')", (1, 2.5, "a")),
        ("[1,2]", [1, 2]),
        ("'f32[2]'", "f32[2]"),
        ("gelu", "gelu"),
        ("nl.float32", "nl.float32"),
        (" f32[128,512] ", Shaped((128, 512), Dtype.F32)),
        (" 3 ", 3),
        (" gelu ", "gelu"),
        ("'two words'", "two words"),
        ("' f32[2]'", " f32[2]"),
        ("a/b.c:d", "a/b.c:d"),
        ("", ""),
    ],
)
def test_values_of_arguments(text, value):
    found = parse_argument(f"x={text}")
    assert found == ("x", value)
    assert type(found[1]) is type(value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("f32[256,-4]", "expected DTYPE[d0,d1,…] with positive sizes, such as f32[128,512]"),
        ("f32[256,4", "expected DTYPE[d0,d1,…] with positive sizes, such as f32[128,512]"),
        ("f32[2.5]", "expected DTYPE[d0,d1,…] with positive sizes, such as f32[128,512]"),
        ("nl.f32[2]", "expected DTYPE[d0,d1,…] with positive sizes, such as f32[128,512]"),
        ("2]", "expected DTYPE[d0,d1,…] with positive sizes, such as f32[128,512]"),
        ("two words", "expected a word, got blanks in it; a string has quotes of its own: 'two words'"),
        ("f32 [2]", "expected DTYPE[d0,d1,…] with positive sizes, such as f32[128,512]"),
        ("f32[2]x", "expected DTYPE[d0,d1,…] with positive sizes, such as f32[128,512]"),
        ("f32[0]", "the sizes of a tensor must be positive"),
        ("(1, 2", "(1, 2 is no Python literal"),
        ("'a", "'a is no Python literal"),
    ],
)
def test_malformed_arguments(text, message):
    with pytest.raises(NkiError) as caught:
        parse_argument(f"x={text}")
    assert str(caught.value) == f"--arg x={text}: {message}"


def test_blanks_around_the_name_of_an_argument():
    assert parse_argument(" x = f32[2]") == ("x", Shaped((2,), Dtype.F32))


def test_an_argument_given_twice(run):
    assert run("k.py:plain", "--arg", "x=1", "--arg", "x=2") == (1, "", "error: argument 'x' is given twice\n")


@pytest.mark.parametrize("words", [["-:plain", "--arg", "x=f32[2,4]"], ["--arg", "x=f32[2,4]", "-:plain"]])
def test_standard_input(run, words):
    status, out, err = run(*words, stdin=LEGACY)
    assert (status, err) == (0, "")
    assert "bir.module @plain" in out


def test_standard_input_without_a_function(run):
    message = "error: '-': expected KERNEL.py:FUNCTION, or -:FUNCTION for standard input\n"
    assert run("-", stdin=LEGACY) == (1, "", message)
    assert run("-:nothing", stdin="")[2] == "error: '<stdin>' has no function 'nothing'\n"


def test_an_error_in_standard_input_shows_its_line(run):
    source = "import nki\n@nki.jit\ndef k(x):\n    return x.nothing\n"
    assert run("-:k", "--arg", "x=f32[2,4]", stdin=source)[2].splitlines() == [
        "<stdin>:4:12: error: AttributeError: 'NkiTensor' object has no attribute 'nothing'",
        "      return x.nothing",
        "             ^",
    ]


def test_a_plain_function_is_a_kernel_of_the_api_that_its_module_imports(run):
    for source in (LEGACY, CURRENT, LEGACY.replace("import neuronxcc.nki as nki", "from neuronxcc import nki")):
        status, out, err = run("k.py:plain", "--arg", "x=f32[2,4]", source=source)
        assert (status, err) == (0, "")
        assert "mult" in out


def test_of_two_apis_in_a_module_the_current_one_is_taken(run):
    _, _, err = run("k.py:plain", "--arg", "x=f32[2,4]", source=LEGACY + "import nki.isa\n")
    assert "unsupported operand type(s) for *: 'NkiTensor' and 'float'" in err


@pytest.mark.parametrize(("grid", "shown"), [("0", "[0]"), ("-1", "[-1]"), ("2,0", "[2, 0]")])
def test_a_grid_that_is_none_has_no_place(run, grid, shown):
    message = f"error: the launch grid {shown} must have positive sizes [grid]\n"
    assert run("k.py:triple", "--grid", grid) == (1, "", message)


def test_a_class_is_no_kernel(run):
    _, _, err = run("k.py:Plain", source=CURRENT)
    assert err.startswith("error: nki.jit: ")
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize(("name", "outputs"), [("triple", ["y"]), ("returned", ["y", "out.1"])])
@pytest.mark.parametrize("options", [["--frontend", "beta2"], ["--frontend", "beta3"]])
def test_written_arguments_are_results(run, tmp_path, name, outputs, options):
    arguments = ["--arg", "x=f32[2,4]", "--arg", "y=f32[2,4]"]
    inputs = ["--input", "x=ones", "--input", "y=zeros"]
    folder = tmp_path / "out"
    simulated = [f"k.py:{name}", *arguments, *options, "--simulate", *inputs]
    assert run(*simulated, "--output-dir", str(folder)) == (0, "", "")
    assert sorted(path.name for path in folder.iterdir()) == sorted(f"{output}.npy" for output in outputs)
    np.testing.assert_array_equal(np.load(folder / "y.npy"), np.full((2, 4), 3, np.float32))

    status, out, _ = run(*simulated)
    assert status == 0
    assert [line for line in out.splitlines() if ":" in line] == [f"{output} : 2x4xf32" for output in outputs]
    for emit in ["bir", "klr" if "beta2" in options else "penguin"]:
        program = tmp_path / "program.mlir"
        assert run(f"k.py:{name}", *arguments, *options, "--emit", emit, "-o", str(program))[0] == 0
        text, err = io.StringIO(), io.StringIO()
        assert nki_sim.run([str(program), *inputs, "--print"], io.StringIO(), text, err) == 0, err.getvalue()
        assert text.getvalue() == out


def test_what_the_kernel_prints_is_not_ir(run, tmp_path):
    source = "print('imported')\n" + LEGACY.replace("def plain(x):", "def plain(x):\n    print('traced', x.shape)")
    for options in ([], ["--simulate", "--input", "x=ones"], ["-o", str(tmp_path / "out")]):
        status, out, err = run("k.py:plain", "--arg", "x=f32[2,4]", *options, source=source)
        assert (status, err) == (0, "imported\ntraced (2, 4)\n")
        assert "imported" not in out
        assert out == run("k.py:plain", "--arg", "x=f32[2,4]", *options)[1]


def test_files_are_in_the_encoding_that_they_say(tmp_path):
    path = tmp_path / "k.py"
    for data in (b"# coding: latin-1\r\n" + LEGACY.encode() + b"# \xe9", "\ufeff".encode() + LEGACY.encode()):
        path.write_bytes(data)
        out, err = io.StringIO(), io.StringIO()
        assert nki_compile.run([f"{path}:plain", "--arg", "x=f32[2,4]"], io.StringIO(), out, err) == 0, err.getvalue()
        assert "bir.module @plain" in out.getvalue()


def test_places_in_the_kernel_are_printed_when_asked_for(run, tmp_path):
    """An error in the IR then names the line of the kernel."""
    words = ["k.py:plain", "--arg", "x=f32[2,4]"]
    _, plain, _ = run(*words)
    assert "loc(" not in plain
    for flag in ("--mlir-print-debuginfo", "--print-debuginfo"):
        status, out, err = run(*words, flag)
        assert (status, err) == (0, "")
        line = next(line for line in out.splitlines() if "bir.tensor_scalar_ptr" in line)
        assert line.endswith(f'loc("{tmp_path / "k.py"}":18:19)')
    program = tmp_path / "k.mlir"
    program.write_text(out.replace("ins(%t.1[0 : 2 | 0 : 4]", "ins(%t.1[0 : 2 | 0 : 5]"))
    err = io.StringIO()
    assert nki_sim.run([str(program)], io.StringIO(), io.StringIO(), err) == 1
    assert err.getvalue().startswith(f"{tmp_path / 'k.py'}:18:19: error: 'bir.tensor_scalar_ptr' op ")
    for options in (["--simulate"], ["--emit", "klr", "-o", str(tmp_path / "k.klr")]):
        assert run(*words, flag, *options) == (1, "", "error: --mlir-print-debuginfo is for MLIR text\n")


def test_a_klr_file(run, tmp_path):
    file, text = str(tmp_path / "out.klr"), str(tmp_path / "out.mlir")
    words = ["k.py:plain", "--arg", "x=f32[2,4]"]
    message = f"error: '{file}' is a KLR file by its name, the IR is bir (--emit klr changes that)\n"
    assert run(*words, "-o", file) == (1, "", message)
    assert run(*words, "--emit", "klr", "-o", file) == (0, "", "")
    assert run(*words, "--emit", "klr", "-o", text) == (0, "", "")
    assert Path(file).read_bytes().startswith(b"\xd9\xd9\xf7")
    results = []
    for program in (file, text):
        out, err = io.StringIO(), io.StringIO()
        assert nki_sim.run([program, "--input", "x=arange", "--print"], io.StringIO(), out, err) == 0, err.getvalue()
        results.append(out.getvalue())
    assert results[0] == results[1]
    assert "[[0.0, 2.0, 4.0, 6.0]," in results[0]

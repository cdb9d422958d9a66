"""Arrays in files and as text, and nki-sim around them."""

import io
import pickle
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from bir_programs import NUMBERS, values
from hypothesis import given, settings
from hypothesis import strategies as st

from nki_mlir.diagnostics import ByteLocation, NkiError
from nki_mlir.isa.dtypes import Dtype
from nki_mlir.simulator.files import made_input, read_npy, write_npy
from nki_mlir.simulator.text import array_text
from nki_mlir.tools.nki_sim import run


def saved(array: np.ndarray) -> bytes:
    stream = io.BytesIO()
    write_npy(stream, array)
    return stream.getvalue()


@pytest.mark.parametrize("dtype", Dtype)
@pytest.mark.parametrize("shape", [(), (3,), (2, 3, 4)])
def test_every_dtype_goes_through_a_file(dtype: Dtype, shape: tuple[int, ...]) -> None:
    made = made_input("random:3", "x", shape, dtype)
    assert made is not None
    data = saved(made)
    again = read_npy(data, shape, dtype, "x.npy")
    assert again.dtype == dtype.numpy
    assert again.tobytes() == made.tobytes()
    plain = np.load(io.BytesIO(data), allow_pickle=False)
    assert plain.tobytes() == made.tobytes()
    assert plain.shape == shape


@pytest.mark.parametrize("dtype", Dtype)
def test_every_dtype_as_numpy_saves_it(dtype: Dtype) -> None:
    made = made_input("random:4", "x", (2, 5), dtype)
    assert made is not None
    stream = io.BytesIO()
    np.save(stream, made)
    again = read_npy(stream.getvalue(), (2, 5), dtype, "x.npy")
    assert again.dtype == dtype.numpy
    assert again.tobytes() == made.tobytes()


def test_truth_values_are_u8() -> None:
    stream = io.BytesIO()
    np.save(stream, np.array([True, False, True]))
    again = read_npy(stream.getvalue(), (3,), Dtype.U8, "x.npy")
    assert again.dtype == np.uint8
    assert again.tolist() == [1, 0, 1]
    with pytest.raises(NkiError, match=r"^'x.npy' holds bool\[3\], expected int8\[3\]$"):
        read_npy(stream.getvalue(), (3,), Dtype.I8, "x.npy")


def test_what_only_numpy_calls_f1() -> None:
    stream = io.BytesIO()
    np.save(stream, np.ones(3, ml_dtypes.float8_e5m2))
    for dtype in (Dtype.F8E4, Dtype.U8, Dtype.F32):
        with pytest.raises(NkiError, match=r"^'x.npy' holds float8_e5m2\[3\], expected "):
            read_npy(stream.getvalue(), (3,), dtype, "x.npy")


def test_files_of_numpy_itself() -> None:
    bf16 = np.array([1.5, -2.0], ml_dtypes.bfloat16)
    stream = io.BytesIO()
    np.save(stream, bf16)
    assert read_npy(stream.getvalue(), (2,), Dtype.BF16, "x.npy").tolist() == [1.5, -2.0]
    stream = io.BytesIO()
    np.save(stream, np.asfortranarray(np.arange(6, dtype=np.float32).reshape(2, 3)))
    assert read_npy(stream.getvalue(), (2, 3), Dtype.F32, "x.npy").tolist() == [[0, 1, 2], [3, 4, 5]]


def test_wrong_files() -> None:
    good = saved(np.zeros((2, 3), np.float32))
    for data, message in (
        (b"", "'x.npy' is no .npy file: "),
        (b"hello, world", "'x.npy' is no .npy file: "),
        (good[:20], "'x.npy' is no .npy file: "),
        (good[:-1], "'x.npy' is cut off: expected 24 bytes of elements, found 23"),
        (saved(np.zeros((3, 2), np.float32)), "'x.npy' holds float32[3, 2], expected float32[2, 3]"),
        (saved(np.zeros((2, 3), np.float64)), "'x.npy' holds float64[2, 3], expected float32[2, 3]"),
        (saved(np.zeros((2, 3), np.int32)), "'x.npy' holds int32[2, 3], expected float32[2, 3]"),
        (good.replace(b"(2, 3)", b"(9**9)"), "'x.npy' is no .npy file: "),
        (good.replace(b"'<f4',", b"'|O', "), "'x.npy' holds object[2, 3], expected float32[2, 3]"),
        (good.replace(b"'<f4'", b"['a']"), "'x.npy' holds ['a'][2, 3], expected float32[2, 3]"),
        (b"\x93NUMPY\x04\x00", "'x.npy' is no .npy file: expected version 1.0, 2.0 or 3.0, found '\\x04\\x00'"),
        (b"\x93NUMPY\x01\x00\x05\x00((", "'x.npy' is no .npy file: expected a header of 5 bytes, found 2 bytes"),
        (
            b"\x93NUMPY\x02\x00\0\0\0\x80",
            "'x.npy' is no .npy file: expected a header of at most 65536 bytes, found one",
        ),
        (
            b"\x93NUMPY\x01\x00\x05\x00(((((",
            "'x.npy' is no .npy file: expected a header {'descr': …, 'fortran_order': …",
        ),
        (pickle.dumps(np.zeros(3)), "'x.npy' is no .npy file: expected \\x93NUMPY, found "),
    ):
        with pytest.raises(NkiError) as caught:
            read_npy(data, (2, 3), Dtype.F32, "x.npy")
        assert str(caught.value).startswith(message)
        assert isinstance(caught.value.location, ByteLocation)


def test_either_byte_order() -> None:
    stream = io.BytesIO()
    np.save(stream, np.arange(6, dtype=">f4").reshape(2, 3))
    again = read_npy(stream.getvalue(), (2, 3), Dtype.F32, "x.npy")
    assert again.dtype == np.float32
    assert again.tolist() == [[0, 1, 2], [3, 4, 5]]


@given(data=st.binary(max_size=80))
@settings(max_examples=50, deadline=None)
def test_damaged_files_are_one_message(data: bytes) -> None:
    for whole in (data, b"\x93NUMPY\x01\x00" + data, b"\x93NUMPY\x02\x00" + data, b"\x93NUMPY\x09\x00" + data):
        with pytest.raises(NkiError, match=r"^'x.npy' "):
            read_npy(whole, (2, 3), Dtype.F32, "x.npy")


@pytest.mark.parametrize("dtype", NUMBERS)
def test_made_inputs(dtype: Dtype) -> None:
    for recipe, expected in (("zeros", [0] * 5), ("ones", [1] * 5), ("arange", [0, 1, 2, 3, 4])):
        made = made_input(recipe, "x", (5,), dtype)
        assert made is not None
        assert made.astype(np.float64).tolist() == expected
    first, second, other = (
        made_input(r, n, (50,), dtype) for r, n in (("random", "x"), ("random:0", "x"), ("random", "y"))
    )
    assert first is not None
    assert second is not None
    assert other is not None
    assert np.array_equal(first, second)
    assert not np.array_equal(first, other)
    if dtype.is_float:
        assert (np.abs(first.astype(np.float64)) <= 1).all()


def test_arange_starts_again_after_the_last_exact_integer() -> None:
    for dtype, last in ((Dtype.U8, 255), (Dtype.I8, 127), (Dtype.BF16, 256), (Dtype.F8E4, 16), (Dtype.F8E5, 8)):
        made = made_input("arange", "x", (1000,), dtype)
        assert made is not None
        assert made.astype(np.float64).tolist() == [float(k % (last + 1)) for k in range(1000)]


def test_what_is_no_recipe() -> None:
    for text in ("x.npy", "random:", "random:a", "zeros:1", "twos", "random:-1", f"random:{10**18}"):
        assert made_input(text, "x", (2,), Dtype.F32) is None


def test_array_text() -> None:
    x = np.array([[0, 0.1, -1e-7], [np.inf, np.nan, 1e30]], np.float32)
    assert array_text("x", x, Dtype.F32) == "x : 2x3xf32\n[[0.0, 0.1, -1e-07],\n [inf, nan, 1e+30]]\n"
    assert array_text("s", np.array(2.5, np.float16), Dtype.F16) == "s : f16\n2.5\n"
    bits = np.array([7, 65535], np.uint16)
    assert array_text("p", bits, Dtype.F4E2M1FN_X4) == "p : 2xf4e2m1fn_x4\n[7, 65535]\n"
    assert array_text("i", np.arange(9, dtype=np.int8), Dtype.I8, 8) == "i : 9xi8\n[0, 1, 2, ..., 6, 7, 8]\n"
    assert array_text("i", np.arange(9, dtype=np.int8), Dtype.I8, 9) == "i : 9xi8\n[0, 1, 2, 3, 4, 5, 6, 7, 8]\n"


@pytest.mark.parametrize("dtype", [d for d in NUMBERS if d.is_float])
def test_text_reads_back_as_the_same_number(dtype: Dtype) -> None:
    x = values(dtype, (40,), 9)
    texts = array_text("x", x, dtype).split("\n")[1].strip("[]").split(", ")
    assert np.array([float(t) for t in texts]).astype(dtype.numpy).tolist() == x.tolist()


# nki-sim ----------------------------------------------------------------------------------------------------------

PROGRAM = """bir.module @m { bir.func @f {
  %a = bir.tensor "a" kind external_input : !nki.mem<hbm 4x8xbf16>
  %y = bir.tensor "y" kind external_output : !nki.mem<hbm 4x8xbf16>
  %z = bir.tensor "z" kind external_output : !nki.mem<hbm f32>
  %t = bir.tensor "t" : !nki.mem<sbuf 4x8xbf16>
  bir.load outs(%t[0 : 4 | 0 : 8] bf16) ins(%a[0 : 8*4, 8] bf16)
  bir.save outs(%y[0 : 8*4, 8] bf16) ins(%t[0 : 4 | 0 : 8] bf16)
  bir.save outs(%z[0 : 1] f32) ins(%t[1 : 1 | 2 : 1] bf16)
} }
"""


def tool(*arguments: str, stdin: str = "") -> tuple[int, str, str]:
    """Returns exit status, standard output and errors of nki-sim."""
    out, err = io.StringIO(), io.StringIO()
    status = run(list(arguments), io.StringIO(stdin), out, err)
    return status, out.getvalue(), err.getvalue()


def test_files_in_and_out(tmp_path: Path) -> None:
    source, array = tmp_path / "p.mlir", np.arange(32).reshape(4, 8).astype(ml_dtypes.bfloat16)
    source.write_text(PROGRAM)
    np.save(tmp_path / "in.npy", array)
    folder = tmp_path / "new" / "out"
    arguments = [str(source), "--input", f"a={tmp_path / 'in.npy'}", "--output-dir", str(folder)]
    assert tool(*arguments) == (0, "", "")
    assert sorted(p.name for p in folder.iterdir()) == ["y.npy", "z.npy"]
    assert np.load(folder / "y.npy").view(ml_dtypes.bfloat16).tolist() == array.tolist()
    assert np.load(folder / "z.npy") == np.float32(10)
    status, out, _ = tool("-", "--input", "a=arange", "--print", "--print-limit", "8", stdin=PROGRAM)
    assert status == 0
    assert out.split("\n")[:2] == ["y : 4x8xbf16", "[[0.0, 1.0, 2.0, ..., 5.0, 6.0, 7.0],"]
    assert out.endswith("z : f32\n10.0\n")


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["--input", "a"], "error: expected --input NAME=VALUE, got 'a'"),
        (["--input", "b=ones"], "error: unknown input 'b'; known: a"),
        (["--input", "a=ones", "--input", "a=ones"], "error: input 'a' is given twice"),
        (
            ["--input", "a=two"],
            "error: input 'a' must be a .npy file, random, zeros, ones, arange or random:SEED, got 'two'",
        ),
        (["--input", "a=no.npy"], "error: cannot read 'no.npy': No such file or directory"),
        (["--target", "trn9"], "error: unknown target 'trn9'; did you mean"),
        ([], "<stdin>:2:8: error: input 'a' of type bfloat16[4, 8] was not given"),
        (["--input", "a=ones", "--output-dir", "/proc/no"], "error: cannot make the folder '/proc/no': "),
    ],
)
def test_wrong_command_lines(arguments: list[str], message: str) -> None:
    status, out, err = tool("-", *arguments, stdin=PROGRAM)
    assert (status, out) == (1, "")
    assert err.startswith(message)


def test_outputs_whose_name_is_no_file_name(tmp_path: Path) -> None:
    program = PROGRAM.replace('"y"', '"../y"')
    status, _, err = tool("-", "--input", "a=ones", "--output-dir", str(tmp_path), stdin=program)
    assert (status, err) == (1, "error: output '../y' cannot be written: its name is no file name\n")
    assert list(tmp_path.iterdir()) == []


def test_bytes_that_are_neither_text_nor_klr(tmp_path: Path) -> None:
    file = tmp_path / "x.mlir"
    file.write_bytes(b"ab\xff")
    assert tool(str(file)) == (1, "", f"{file}: byte 2: error: expected MLIR text or a KLR file, got byte 0xff\n")

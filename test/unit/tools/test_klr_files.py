"""What the tools make of KLR files as files: the place of errors, and the files of shared constants beside them."""

import io
import shutil
from pathlib import Path

import numpy as np
import pytest

from nki_mlir.diagnostics import Location, NkiError
from nki_mlir.tools import nki_sim, nki_translate
from nki_mlir.tools.common import placed_in

SAMPLES = Path(__file__).parents[2] / "data" / "klr" / "head"
SHARED = SAMPLES / "shared_constant.klr"
CONSTANT = "shared_constants/e2627b984e98fc78c8362c0dd264f5222b503bed0bb0dc794bb04e8aae49b073.npy"
X = np.random.default_rng(0).uniform(-2, 2, (128, 64)).astype(np.float32)


def run(tool, *arguments: object, stdin: bytes = b"") -> tuple[int, str, str]:
    out, err = io.TextIOWrapper(io.BytesIO(), encoding="utf-8"), io.StringIO()
    status = tool.run([str(argument) for argument in arguments], io.TextIOWrapper(io.BytesIO(stdin)), out, err)
    out.flush()
    return status, out.buffer.getvalue().decode(), err.getvalue()  # type: ignore[attr-defined]


# Places ----------------------------------------------------------------------------------------------------------


def test_errors_without_a_place_in_the_source_name_the_file() -> None:
    nested = ExceptionGroup("outer", [ExceptionGroup("inner", [NkiError("a"), NkiError("b", Location("k.py", 3))])])
    with pytest.raises(ExceptionGroup) as raised, placed_in("k.klr"):
        raise nested
    (inner,) = raised.value.exceptions
    assert isinstance(inner, ExceptionGroup)
    assert [error.location for error in inner.exceptions] == [Location("k.klr"), Location("k.py", 3)]
    with pytest.raises(NkiError) as single, placed_in("-"):
        raise NkiError("a")
    assert single.value.location == Location("<stdin>")


@pytest.mark.parametrize("tool", [nki_translate, nki_sim])
def test_a_rule_on_a_tensor_names_file_and_tensor(tmp_path: Path, tool) -> None:
    file = tmp_path / "add.klr"
    in_hbm, in_sbuf = b"aa\xd9\x6e\x00", b"aa\xd9\x6e\x01"  # the address of tensor a
    file.write_bytes((SAMPLES / "add.klr").read_bytes().replace(in_hbm, in_sbuf))
    message = f"{file}: error: 'klr.tensor' op 'a' is external_input and in sbuf, it must be in hbm\n"
    assert run(tool, file) == (1, "", message)
    assert run(tool, "-", stdin=file.read_bytes()) == (1, "", message.replace(str(file), "<stdin>"))


def test_a_rule_of_the_lowering_names_the_file(tmp_path: Path) -> None:
    file = tmp_path / "add.klr"
    own, of_another = b"dtb.3\xd9\x6e", b"dta.2\xd9\x6e"  # the buffer in the address of tensor tb.3
    file.write_bytes((SAMPLES / "add.klr").read_bytes().replace(own, of_another))
    status, out, err = run(nki_sim, file, "--input", "a=ones", "--input", "b=ones")
    assert (status, out) == (1, "")
    assert err == (
        f"{file}: error: 'klr.body' op has a second tensor 'tb.3' in the buffer 'ta.2', which has no lowering to BIR\n"
    )


def test_what_cannot_be_written_as_klr_names_the_file(tmp_path: Path) -> None:
    file = tmp_path / "none.mlir"
    file.write_text("bir.module @m {\n}\n")
    status, _, err = run(nki_translate, file, "--to", "klr")
    assert status == 1
    assert err.startswith(f"{file}:")


# Shared constants ------------------------------------------------------------------------------------------------


@pytest.fixture
def beside(tmp_path: Path) -> Path:
    """The sample in a folder of its own, with its constant."""
    folder = tmp_path / "inner"
    shutil.copytree(SAMPLES / "shared_constants", folder / "shared_constants")
    shutil.copy(SHARED, folder / "k.klr")
    np.save(folder / "x.npy", X)
    return folder / "k.klr"


def simulated(program: Path, *more: object) -> np.ndarray:
    folder = program.parent
    status, _, err = run(nki_sim, program, "--input", f"x={folder}/x.npy", "--output-dir", folder / "out", *more)
    assert (status, err) == (0, "")
    return np.load(folder / "out" / "o.2.npy")


def refused(program: Path, *more: object) -> str:
    status, out, err = run(nki_sim, program, "--input", "x=ones", *more)
    assert (status, out) == (1, "")
    return err


def test_a_constant_comes_from_its_file(beside: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = X + np.load(beside.parent / CONSTANT)
    assert simulated(beside).tobytes() == expected.tobytes()
    monkeypatch.chdir(beside.parent)
    assert simulated(Path("k.klr")).tobytes() == expected.tobytes()
    status, _, err = run(nki_translate, "k.klr", "-o", "k.mlir")
    assert (status, err) == (0, "")
    assert simulated(Path("k.mlir")).tobytes() == expected.tobytes()


def test_a_constant_that_is_given(beside: Path) -> None:
    (beside.parent / CONSTANT).unlink()
    assert simulated(beside, "--input", "tmp.1=ones").tobytes() == (X + 1).tobytes()


def test_a_constant_without_a_file(beside: Path) -> None:
    constant = beside.parent / CONSTANT
    constant.unlink()
    given = "it can be given with --input tmp.1=FILE.npy\n"
    start = f"constant 'tmp.1' comes from '{CONSTANT}', which"
    assert refused(beside) == f"{beside}: error: {start} does not exist; {given}"
    constant.mkdir()
    assert refused(beside) == f"{beside}: error: {start} is no file; {given}"
    status, _, err = run(nki_sim, "-", "--input", "x=ones", stdin=beside.read_bytes())
    message = f"<stdin>: error: {start} is looked for beside a program, not beside standard input; {given}"
    assert (status, err) == (1, message)


def test_files_outside_of_the_folder_are_not_read(beside: Path) -> None:
    outside = beside.parent.parent / "red_constants"
    shutil.move(beside.parent / "shared_constants", outside)
    upwards = CONSTANT.replace("shared_constants", "../red_constants")
    content = beside.read_bytes()
    beside.write_bytes(content.replace(CONSTANT.encode(), upwards.encode()))
    start = f"{beside}: error: constant 'tmp.1' comes from"
    end = "which is not in the folder of the program; it can be given with --input tmp.1=FILE.npy\n"
    assert refused(beside) == f"{start} '{upwards}', {end}"
    absolute = f"/{CONSTANT[1:]}"
    beside.write_bytes(content.replace(CONSTANT.encode(), absolute.encode()))
    assert refused(beside) == f"{start} '{absolute}', {end}"
    beside.write_bytes(content)
    (beside.parent / "shared_constants").symlink_to(outside)
    assert refused(beside) == f"{start} '{CONSTANT}', {end}"


@pytest.mark.parametrize(("array", "held"), [(X[:, :3], "float32[128, 3]"), (X.astype(np.float16), "float16[128, 64]")])
def test_a_file_that_holds_something_else(beside: Path, array: np.ndarray, held: str) -> None:
    constant = beside.parent / CONSTANT
    np.save(constant, array)
    assert refused(beside) == f"{constant}: byte 128: error: '{constant}' holds {held}, expected float32[128, 64]\n"


def test_a_file_that_is_no_array(beside: Path) -> None:
    constant = beside.parent / CONSTANT
    constant.write_bytes(b"text")
    assert refused(beside).startswith(f"{constant}: byte 0: error: '{constant}' is no .npy file: expected")

"""The code of data classes' methods, kept between processes."""

import dataclasses
import os
import subprocess
import sys

import pytest

from nki_mlir.tools.startup import KeptCode, kept_dataclass_code

TEXT = "def double(x):\n return x * 2\n"


@pytest.fixture
def writing(monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", False)


def executed(kept, name="xdsl.some.module", text=TEXT):
    found = {}
    kept.execute(text, {"__name__": name}, found)
    return found


def test_what_was_kept_does_what_the_text_does(tmp_path, writing, monkeypatch):
    path = str(tmp_path / "folder" / "code")
    first = KeptCode(path)
    assert executed(first)["double"](4) == 8
    first.keep()
    assert os.listdir(tmp_path / "folder") == ["code"]

    def refuse(*_args, **_options):
        raise AssertionError("compiled again")

    second = KeptCode(path)
    monkeypatch.setattr("builtins.compile", refuse)
    assert executed(second)["double"](5) == 10
    with pytest.raises(AssertionError, match="compiled again"):
        executed(second, text=TEXT + "\n")


def test_data_classes_of_others_are_left_alone(tmp_path, writing):
    path = tmp_path / "code"
    kept = KeptCode(str(path))
    assert executed(kept, "__main__")["double"](4) == 8
    assert executed(kept, "xdsl_of_another")["double"](4) == 8
    kept.keep()
    assert not path.exists()


@pytest.mark.parametrize("damage", [b"", b"\x00" * 40, None, 30])
def test_a_broken_file_counts_as_none(tmp_path, writing, damage):
    path = tmp_path / "code"
    kept = KeptCode(str(path))
    executed(kept)
    kept.keep()
    whole = path.read_bytes()
    path.write_bytes(damage if isinstance(damage, bytes) else whole[:damage])
    again = KeptCode(str(path))
    assert executed(again)["double"](3) == 6
    again.keep()
    assert executed(KeptCode(str(path)))["double"](3) == 6


def test_where_no_bytecode_may_be_written_no_code_is(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    path = tmp_path / "code"
    kept = KeptCode(str(path))
    executed(kept)
    kept.keep()
    assert not path.exists()


def test_a_folder_that_may_not_be_written_is_left(writing):
    kept = KeptCode("/proc/none/code")
    executed(kept)
    kept.keep()


def test_what_cannot_be_kept_leaves_nothing(tmp_path, writing):
    path = tmp_path / "code"
    path.mkdir()
    kept = KeptCode(str(path))
    executed(kept)
    kept.keep()
    assert os.listdir(tmp_path) == ["code"]


def test_dataclass_is_as_before_when_the_block_has_ended():
    with pytest.raises(ValueError, match="of the block"), kept_dataclass_code():
        assert "exec" in vars(dataclasses)

        @dataclasses.dataclass(frozen=True)
        class Pair:
            left: int
            right: int = 2

        assert Pair(1) == Pair(1, 2)
        assert repr(Pair(1)).endswith("Pair(left=1, right=2)")
        raise ValueError("of the block")
    assert "exec" not in vars(dataclasses)


def test_a_tool_keeps_what_it_compiled(tmp_path):
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPYCACHEPREFIX"] = str(tmp_path)
    command = [sys.executable, "-m", "nki_mlir.tools.nki_opt", "-"]

    def start():
        ended = subprocess.run(command, input="", capture_output=True, text=True, env=environment)
        assert (ended.returncode, ended.stdout, ended.stderr) == (0, "builtin.module {\n}\n", "")
        return {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.code*")}

    kept = start()
    assert len(kept) == 1
    assert start() == kept

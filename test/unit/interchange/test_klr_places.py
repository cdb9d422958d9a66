"""Where errors of KLR files are when no statement is to blame."""

import dataclasses
from pathlib import Path

import pytest

from nki_mlir.diagnostics import Location, NkiError
from nki_mlir.interchange.klr import read_klr
from nki_mlir.interchange.klr_dialect import klr_to_module

ADD = Path(__file__).resolve().parents[2] / "data/klr/head/add.klr"


def test_an_error_of_the_kernel_is_in_the_file() -> None:
    data = ADD.read_bytes()
    at = data.index(b"\x19\x02\x00")  # 512, a free size of the first tensor
    with pytest.raises(NkiError) as caught:
        klr_to_module(read_klr(data[:at] + b"\x19\x02\x01" + data[at + 3 :], "add.klr"))
    assert caught.value.location == Location("add.klr")
    assert str(caught.value).startswith("kernel 'kernels_head.add': tensor 'a': ")


def test_the_name_is_no_part_of_the_contents() -> None:
    file = read_klr(ADD.read_bytes(), "add.klr")
    assert file.name == "add.klr"
    assert file == dataclasses.replace(file, name="other")

"""The op reference is what the code says."""

from pathlib import Path

import pytest

from nki_mlir.dialects import get_all_dialects
from nki_mlir.dialects.instruction import InstructionOp
from nki_mlir.tools import op_reference

DIRECTORY = Path(__file__).parents[3] / "docs" / "reference"
PAGES = op_reference.pages()


@pytest.mark.parametrize("name", sorted(PAGES))
def test_pages_are_current(name: str) -> None:
    found = (DIRECTORY / name).read_text(encoding="utf-8")
    assert found == PAGES[name], "run python -m nki_mlir.tools.op_reference"


def test_there_is_no_other_page() -> None:
    assert {path.name for path in DIRECTORY.iterdir()} == set(PAGES)


def test_every_op_and_attribute_has_a_section() -> None:
    for load in get_all_dialects().values():
        dialect = load()
        for named in (*dialect.operations, *dialect.attributes):
            assert f"\n## `{named.name}`\n" in PAGES[f"{dialect.name}.md"]


def test_ops_that_stand_for_two_instructions_are_all_known() -> None:
    overriding = {
        op.name
        for load in get_all_dialects().values()
        for op in load().operations
        if issubclass(op, InstructionOp) and op.descriptor is not InstructionOp.descriptor
    }
    assert overriding == set(op_reference.ALTERNATIVES)
    for name, instructions in op_reference.ALTERNATIVES.items():
        page = PAGES[f"{name.split('.')[0]}.md"].split(f"## `{name}`")[1].split("\n## ")[0]
        assert all(f"(instructions.md#{instruction})" in page for instruction in instructions)


def test_checking(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert op_reference.main(["--check", str(tmp_path)]) == 1
    assert not list(tmp_path.iterdir()), "nothing is written"
    assert op_reference.main([str(tmp_path)]) == 0
    assert op_reference.main(["--check", str(tmp_path)]) == 0
    (tmp_path / "bir.md").write_text("old", encoding="utf-8")
    capsys.readouterr()
    assert op_reference.main(["--check", str(tmp_path)]) == 1
    assert capsys.readouterr().out == f"{tmp_path / 'bir.md'} is not current\n"

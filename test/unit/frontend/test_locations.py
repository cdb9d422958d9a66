"""Where an instruction was recorded: the user's frames, as they were, resolved to source ranges."""

from pathlib import Path
from typing import Any

from nki_mlir.diagnostics import Location
from nki_mlir.frontend import locations
from nki_mlir.frontend.locations import entry, here, innermost, is_own, resolve

HERE = __file__


def record() -> Any:
    return here(1)


def helper() -> Any:
    return record()


@entry
def driver(kernel: Any) -> Any:
    return kernel()


def test_frames_up_to_the_entry() -> None:
    places = resolve(driver(lambda: helper()))
    assert [place.function.rpartition(".")[2] for place in places] == ["record", "helper", "<lambda>"]
    lines = Path(HERE).read_text().splitlines()
    assert [lines[place.line - 1].strip() for place in places][:2] == ["return here(1)", "return record()"]
    first = places[0]
    text = lines[first.line - 1]
    assert text[first.column - 1 : first.end_column - 1] == "here(1)"
    assert first.location == Location(HERE, first.line, first.column)
    assert innermost(driver(helper)) == first.location


def test_frames_are_interned() -> None:
    frames = [driver(helper) for _ in range(3)]
    assert frames[0] is frames[1] is frames[2]
    assert driver(record) is not frames[0]


def test_own_frames_are_left_out() -> None:
    assert is_own(here.__code__)
    assert not is_own(helper.__code__)
    assert here(0)[0][0] is test_own_frames_are_left_out.__code__
    assert innermost(()) is None


def test_code_without_positions() -> None:
    code = helper.__code__.replace(co_linetable=b"")
    place = locations.resolve(((code, 10),))[0]
    assert (place.line, place.column) == (code.co_firstlineno, 0)

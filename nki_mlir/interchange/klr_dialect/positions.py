"""Source positions: `Pos` of a KLR file is the location of an op.

A position with an end is the fusion of two places, its start and its end; a line or column is Python's on disk (columns
from 0) and MLIR's in the IR (columns from 1).
"""

from typing import Any, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    CallSiteLoc,
    DictionaryAttr,
    FileLineColLoc,
    FusedLoc,
    IntAttr,
    IntegerAttr,
    LocationAttr,
    NameLoc,
    NoneAttr,
    StringAttr,
    i64,
)
from xdsl.ir import Attribute

from nki_mlir.diagnostics import Location
from nki_mlir.interchange.klr.schema import Record, make

NO_FILE = "<kernel>"
"""The file of a location whose position on disk names none."""


_new = object.__new__
_set = object.__setattr__
_NO_METADATA = NoneAttr()


class Locations:
    """The location attributes of one file; statements of one place share theirs."""

    def __init__(self) -> None:
        self._known: dict[tuple[Any, ...], tuple[LocationAttr, DictionaryAttr | None]] = {}
        self._files: dict[str, StringAttr] = {}
        self._integers: dict[int, IntAttr] = {}

    def of(self, pos: Record) -> tuple[LocationAttr, DictionaryAttr | None]:
        """Returns the location of a position, and what is to be kept of it."""
        key = tuple(pos)
        known = self._known.get(key)
        if known is None:
            line, column, line_end, column_end, file = key
            name = NO_FILE if file is None else file
            location: LocationAttr = self._place(name, line, column)
            is_whole = file != NO_FILE and (line_end is None) == (column_end is None)
            if line_end is not None and column_end is not None:
                location = _fused(location, self._place(name, line_end, column_end))
            known = self._known[key] = (location, None if is_whole else _optional_fields(pos))
        return known

    # The constructors of these attributes verify what cannot be wrong here, and that is most of their time.

    def _place(self, name: str, line: int, column: int) -> FileLineColLoc:
        file = self._files.get(name)
        if file is None:
            file = self._files[name] = StringAttr(name)
        location = _new(FileLineColLoc)
        _set(location, "filename", file)
        _set(location, "line", self._integer(line))
        _set(location, "column", self._integer(column + 1))
        return location

    def _integer(self, value: int) -> IntAttr:
        known = self._integers.get(value)
        if known is None:
            known = self._integers[value] = IntAttr(value)
        return known


def _fused(start: LocationAttr, end: LocationAttr) -> FusedLoc:
    places: ArrayAttr[Attribute] = _new(ArrayAttr)
    _set(places, "data", (start, end))
    location = _new(FusedLoc)
    _set(location, "locations", places)
    _set(location, "metadata", _NO_METADATA)
    return location


def error_location(pos: Record) -> Location:
    """Returns a position as the place of an error."""
    return Location(pos.filename or NO_FILE, pos.line, pos.column + 1)


def _optional_fields(pos: Record) -> DictionaryAttr:
    numbers = {"lineEnd": pos.lineEnd, "columnEnd": pos.columnEnd}
    kept: dict[str, Attribute] = {k: IntegerAttr(v, i64) for k, v in numbers.items() if v is not None}
    if pos.filename is not None:
        kept["filename"] = StringAttr(pos.filename)
    return DictionaryAttr(kept)


def position_of(location: Attribute, kept: Attribute | None) -> Record:
    """Returns the position on disk of a location; line 0 of no file where it is not known.

    What was kept of the position is taken if it still belongs to the location.
    """
    if isinstance(kept, DictionaryAttr):
        start, _ = _ends(location)
        file = kept.data.get("filename")
        as_read = make(
            "Pos",
            line=0 if start is None else start.line.data,
            column=0 if start is None else _column(start),
            lineEnd=_integer(kept.data.get("lineEnd")),
            columnEnd=_integer(kept.data.get("columnEnd")),
            filename=file.data if isinstance(file, StringAttr) else None,
        )
        if Locations().of(as_read)[0] == location:
            return as_read
    start, end = _ends(location)
    if start is None:
        return make("Pos", line=0, column=0, lineEnd=None, columnEnd=None, filename=None)
    file = start.filename.data
    return make(
        "Pos",
        line=start.line.data,
        column=_column(start),
        lineEnd=None if end is None else end.line.data,
        columnEnd=None if end is None else _column(end),
        filename=None if file == NO_FILE else file,
    )


def _integer(attribute: Attribute | None) -> int | None:
    return attribute.value.data if isinstance(attribute, IntegerAttr) else None


def _column(place: FileLineColLoc) -> int:
    return max(place.column.data - 1, 0)


def _ends(location: Attribute) -> tuple[FileLineColLoc | None, FileLineColLoc | None]:
    """Returns start and end of a location: of a call those of the callee, of several those of the first known."""
    match location:
        case FileLineColLoc():
            return location, None
        case NameLoc():
            return _ends(location.location)
        case CallSiteLoc():
            found = _ends(location.callee)
            return _ends(location.caller) if found[0] is None else found
        case FusedLoc():
            parts = cast("tuple[Attribute, ...]", getattr(location.locations, "data", ()))
            match parts:
                case (FileLineColLoc() as start, FileLineColLoc() as end) if start.filename == end.filename:
                    return start, end
                case _:
                    ends = (_ends(part) for part in parts)
                    return next((found for found in ends if found[0] is not None), (None, None))
        case _:
            return None, None

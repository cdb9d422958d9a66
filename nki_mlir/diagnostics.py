"""How every part of nki-mlir says what went wrong: one message with a place, shown with its source line and a caret."""

import linecache
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Location:
    """A place in a text file; `line` and `column` count from 1, 0 means unknown."""

    file: str
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        text = self.file
        if self.line:
            text += f":{self.line}"
            if self.column:
                text += f":{self.column}"
        return text


@dataclass(frozen=True, slots=True)
class ByteLocation:
    """A place in a binary file; `offset` counts bytes from 0."""

    file: str
    offset: int

    def __str__(self) -> str:
        return f"{self.file}: byte {self.offset}"


class NkiError(Exception):
    """A problem of the user's input: what is wrong, where, and under which rule.

    `str(error)` is the message alone; `render(error)` adds the place, the source line and a caret.
    """

    def __init__(self, message: str, location: Location | ByteLocation | None = None, *, rule: str = "") -> None:
        super().__init__(f"{message} [{rule}]" if rule else message)
        self.location = location
        self.rule = rule


def render(
    message: object,
    location: Location | ByteLocation | None = None,
    *,
    severity: str = "error",
    source_line: str | None = None,
) -> str:
    """Returns `place: severity: message`, followed by the source line and a caret where the text is at hand.

    `source_line` is used instead of reading the file (standard input, text in memory).
    """
    head = f"{severity}: {message}" if location is None else f"{location}: {severity}: {message}"
    if not isinstance(location, Location) or not location.line:
        return head
    line = source_line if source_line is not None else linecache.getline(location.file, location.line)
    line = line.rstrip("\n")
    if not line.strip():
        return head
    if not location.column:
        return f"{head}\n  {line}"
    lead = "".join(c if c == "\t" else " " for c in line[: location.column - 1])
    return f"{head}\n  {line}\n  {lead}^"

"""How every part of nki-mlir says what went wrong: one message with a place, shown with its source line and a caret."""

import linecache
import os
import sys
from dataclasses import dataclass

LONGEST_LINE = 200
"""Characters of a source line that are shown; of a longer one, those around the column."""


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


def debug(module: str, message: str, *values: object) -> None:
    """Logs what a module did, under its name, for `--debug` and `--debug-only`.

    Importing `logging` takes as long as a small pass; where nobody has, nobody listens.
    """
    if (logging := sys.modules.get("logging")) is not None:
        logging.getLogger(module).debug(message, *values)


def internal_error(error: BaseException, place: Location | None = None, doing: str = "") -> NkiError:
    """Returns the message for an exception that nobody foresaw; the traceback is for `--debug`."""
    text = " ".join(str(error).split())
    return NkiError(
        f"internal error{doing and ' ' + doing}: {type(error).__name__}{text and ': ' + text}"
        " (--debug shows the traceback)",
        place,
    )


def one_line(text: str) -> str:
    """Joins a message of several lines, as xDSL has them."""
    return " ".join(part for line in text.splitlines() if (part := line.strip()))


def _line(location: Location) -> str:
    """Returns a line of a source file; of ordinary files only, since the name may come from the input."""
    if location.file in linecache.cache or ("\0" not in location.file and os.path.isfile(location.file)):
        return linecache.getline(location.file, location.line)
    return ""


def _window(line: str, column: int) -> tuple[str, int]:
    """Returns the part of a line to show, and the column in it."""
    if len(line) <= LONGEST_LINE:
        return line, column
    start = min(max(0, column - LONGEST_LINE // 2), len(line) - LONGEST_LINE)
    return line[start : start + LONGEST_LINE], column - start


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
    line = _line(location) if source_line is None else source_line
    line = line.rstrip("\n")
    if not line.strip():
        return head
    if not location.column:
        return f"{head}\n  {line[:LONGEST_LINE]}"
    line, column = _window(line, location.column)
    lead = "".join(c if c == "\t" else " " for c in line[: column - 1])
    return f"{head}\n  {line}\n  {lead}^"

"""`--verify-diagnostics`: the errors of a run against the `expected-error {{…}}` comments of its input.

A comment expects a message that contains the text in braces, on its own line or on the line that `@+N`, `@-N`, `@above`
or `@below` points to; `@unknown` is an error without a place in the file. `expected-error-re` holds regular expressions
in double braces between literal text: `{{dim {{[0-9]+}} is too large}}`.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from nki_mlir.diagnostics import Location, NkiError

_COMMENT = re.compile(
    r"expected-(?P<kind>error|warning|remark|note)(?P<re>-re)?"
    r"\s*(?:@(?P<where>[+-]\d+|above|below|unknown))?\s*\{\{(?P<text>.*)\}\}\s*$"
)
_DOUBLE_BRACES = re.compile(r"\{\{(.*?)\}\}")
_MALFORMED = re.compile(r"//.*\bexpected-(?:error|warning|remark|note)\b")


@dataclass
class _Expectation:
    kind: str
    text: str
    pattern: re.Pattern[str] | None
    place: Location
    line: int | None
    """The line at which the error must be, None for an error without a place."""

    def matches(self, message: str, line: int | None) -> bool:
        if self.line != line:
            return False
        return self.text in message if self.pattern is None else self.pattern.search(message) is not None


def mismatches(
    text: str, file: str, first_line: int, errors: Sequence[NkiError], *, only_expected: bool = False
) -> list[NkiError]:
    """Returns what is wrong with the errors of a run: those that no comment expects, and comments without an error;
    with `only_expected` the latter alone.

    `text` is the input whose first line has the number `first_line` in `file`.
    """
    expectations, complaints = _read(text, file, first_line)
    for error in errors:
        message, line = str(error), _line_in(file, error)
        match = next((e for e in expectations if e.kind == "error" and e.matches(message, line)), None)
        if match is None and only_expected:
            continue
        if match is None:
            complaints.append(NkiError(f"unexpected error: {message}", error.location))
        else:
            expectations.remove(match)
            _take_notes(error, expectations, line)
    for left in expectations:
        complaints.append(NkiError(f'expected {left.kind} "{left.text}" was not produced', left.place))
    return complaints


def _take_notes(error: NkiError, expectations: list[_Expectation], line: int | None) -> None:
    for note in getattr(error, "__notes__", ()):
        match = next((e for e in expectations if e.kind == "note" and e.matches(note, line)), None)
        if match is not None:
            expectations.remove(match)


def _line_in(file: str, error: NkiError) -> int | None:
    place = error.location
    return place.line or None if isinstance(place, Location) and place.file == file else None


def _read(text: str, file: str, first_line: int) -> tuple[list[_Expectation], list[NkiError]]:
    expectations: list[_Expectation] = []
    complaints: list[NkiError] = []
    below: list[_Expectation] = []
    above = first_line - 1
    for number, line in enumerate(text.split("\n"), first_line):
        comment = line.find("//")
        match = _COMMENT.search(line, comment) if comment >= 0 else None
        if match is None:
            if _MALFORMED.search(line):
                place = Location(file, number, comment + 1)
                complaints.append(NkiError("expected a comment of the form expected-error {{text}}", place))
            for waiting in below:
                waiting.line = number
            below.clear()
            above = number
            continue
        kind, where, body = match["kind"], match["where"], match["text"]
        pattern = None
        if match["re"]:
            try:
                pattern = _regex(body)
            except _BadRegex as error:
                place = Location(file, number, match.start("text") + error.start + 1)
                complaints.append(NkiError(str(error), place))
                continue
        expectation = _Expectation(
            kind=kind,
            text=body,
            pattern=pattern,
            place=Location(file, number, match.start() + 1),
            line=number,
        )
        if where == "unknown":
            expectation.line = None
        elif where == "above":
            expectation.line = above
        elif where == "below":
            below.append(expectation)
        elif where:
            expectation.line = number + int(where)
        expectations.append(expectation)
    return expectations, complaints


class _BadRegex(Exception):
    """A regular expression that is none; `start` is its position in the text of its comment."""

    def __init__(self, pattern: str, reason: Exception, start: int) -> None:
        super().__init__(f"'{pattern}' is no regular expression: {getattr(reason, 'msg', reason)}")
        self.start = start


def _regex(text: str) -> re.Pattern[str]:
    whole, at = "", 0
    for match in _DOUBLE_BRACES.finditer(text):
        part = match[1]
        try:
            re.compile(part)
        except (re.error, OverflowError, RecursionError) as error:
            raise _BadRegex(part, error, match.start(1)) from error
        whole += f"{re.escape(text[at : match.start()])}(?:{part})"
        at = match.end()
    return re.compile(whole + re.escape(text[at:]))

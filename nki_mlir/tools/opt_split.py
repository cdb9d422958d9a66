"""Splits an input file at the lines `// -----`."""

import re

SEPARATOR = "// -----"
_LINE = re.compile(rf"^{SEPARATOR}[ \t\r]*(?:\n|\Z)", re.MULTILINE)


def split_input(text: str) -> list[tuple[str, int]]:
    """Returns the pieces of a text and the number of each one's first line; only whole lines separate."""
    pieces: list[tuple[str, int]] = []
    start, line = 0, 1
    for match in _LINE.finditer(text):
        pieces.append((text[start : match.start()], line))
        line += text.count("\n", start, match.end())
        start = match.end()
    pieces.append((text[start:], line))
    return pieces

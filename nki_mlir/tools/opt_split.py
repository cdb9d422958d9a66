"""Splits an input file at lines such as `// -----`."""

import re

SEPARATOR = "// -----"


def split_input(text: str, separator: str = SEPARATOR) -> list[tuple[str, int]]:
    """Returns the pieces of a text and the number of each one's first line; only whole lines separate."""
    line_of_it = re.compile(rf"^{re.escape(separator)}[ \t\r]*(?:\n|\Z)", re.MULTILINE)
    pieces: list[tuple[str, int]] = []
    start, line = 0, 1
    for match in line_of_it.finditer(text):
        pieces.append((text[start : match.start()], line))
        line += text.count("\n", start, match.end())
        start = match.end()
    pieces.append((text[start:], line))
    return pieces

"""Reading raw text in the middle of an xDSL token stream.

xDSL's lexer makes one object a token; an access pattern or an instruction read as a string is several times faster.
This is the only module that reaches into the parser's private state; test/unit/dialects/test_rawtext.py pins what it
relies on.
"""

import re
from collections.abc import Callable
from io import StringIO
from typing import NoReturn, TypeVar

from xdsl.ir import Operation, SSAValue
from xdsl.parser import AttrParser, Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import ParseError, VerifyException
from xdsl.utils.lexer import Span

from nki_mlir.dialects.affine import ExprSyntaxError

T = TypeVar("T")
_COMMENT = re.compile(r"//[^\n]*")
_CLOSING = re.compile(r"//[^\n]*|>")


def source(parser: AttrParser) -> str:
    """Returns the whole text that the parser reads."""
    return parser.lexer.input.content


def position(parser: AttrParser) -> int:
    """Returns the position in `source` of the token that is next."""
    return parser._current_token.span.start  # pyright: ignore[reportPrivateUsage]


def resume(parser: AttrParser, at: int) -> None:
    """Lets the token stream go on at position `at` of `source`."""
    parser._resume_from(at)  # pyright: ignore[reportPrivateUsage]


def next_character(parser: AttrParser) -> str:
    """Returns the character with which the next token begins; of the end of the text an empty one."""
    at = position(parser)
    return source(parser)[at : at + 1]


def value_name(printer: Printer, value: SSAValue) -> str:
    """Returns the name, with its '%', under which the printer writes a value; gives it one if it has none."""
    name = printer._ssa_values.get(value)  # pyright: ignore[reportPrivateUsage]
    if name is None:
        stream, printer.stream = printer.stream, StringIO()
        name = printer.print_ssa_value(value)
        printer.stream = stream
    return f"%{name}"


def value_names(printer: Printer, op: Operation) -> list[str]:
    """Returns the names of an op's operands, as `value_name` does."""
    values = op._operands  # pyright: ignore[reportPrivateUsage]
    known = printer._ssa_values  # pyright: ignore[reportPrivateUsage]
    try:
        return [f"%{known[value]}" for value in values]
    except KeyError:
        return [value_name(printer, value) for value in values]


def fail(parser: AttrParser, message: str, start: int, end: int | None = None) -> NoReturn:
    """Raises the parser's error for the text from `start` to `end` (default: one character)."""
    raise ParseError(Span(start, start + 1 if end is None else end, parser.lexer.input), message)


def fail_at_entry(parser: Parser, start: int, key: str, op: str) -> NoReturn:
    """Fails at the entry `key`, which has its place elsewhere, of an op's dictionary that begins at `start`."""
    resume(parser, start)

    def entry() -> None:
        at = position(parser)
        if (parser.parse_optional_identifier() or parser.parse_optional_str_literal()) == key:
            fail(parser, f"'{key}' of {op} stands in the line, not in the dictionary", at, at + len(key))
        if parser.parse_optional_punctuation("=") is not None:
            parser.parse_attribute()

    parser.parse_comma_separated_list(parser.Delimiter.BRACES, entry)
    raise AssertionError(key)


def without_comments(text: str) -> str:
    """Returns the text with blanks in place of its comments."""
    return _COMMENT.sub(lambda match: " " * len(match[0]), text) if "//" in text else text


def raw_parameter(parser: AttrParser, read: Callable[[str], T]) -> T:
    """Reads `<…>`, whose content holds '>' in comments only, by `read`.

    Its `ExprSyntaxError` becomes a parse error in place.
    """
    text, start = source(parser), position(parser)
    if text[start : start + 1] != "<":
        fail(parser, "'<' expected", start)
    end = text.find(">", start)
    if text.find("//", start, end) >= 0:
        end = next((match.start() for match in _CLOSING.finditer(text, start) if match[0] == ">"), -1)
    if end < 0:
        fail(parser, "'>' expected after this '<'", start)
    try:
        value = read(without_comments(text[start + 1 : end]))
    except ExprSyntaxError as error:
        fail(parser, str(error), start + 1 + error.position)
    except VerifyException as error:
        fail(parser, str(error), start, end + 1)
    resume(parser, end + 1)
    return value

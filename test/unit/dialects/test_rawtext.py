"""Pins what `dialects/rawtext.py` relies on of xDSL's private state; after an update of xDSL these fail first."""

import io

import pytest
from parsing import CONTEXT, body, instructions
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import ParseError

from nki_mlir.dialects import rawtext
from nki_mlir.dialects.affine import ExprSyntaxError


def test_the_text_and_the_position_of_the_next_token() -> None:
    text = "  first // comment\n  second"
    parser = Parser(CONTEXT, text)
    assert rawtext.source(parser) == text
    assert rawtext.position(parser) == text.index("first")
    assert rawtext.next_character(parser) == "f"
    parser.parse_keyword("first")
    assert rawtext.position(parser) == text.index("second")
    assert rawtext.next_character(parser) == "s"


def test_the_token_stream_goes_on_where_it_is_told() -> None:
    text = "one [not {tokens} $ at all] two three"
    parser = Parser(CONTEXT, text)
    parser.parse_keyword("one")
    rawtext.resume(parser, text.index("]") + 1)
    assert rawtext.position(parser) == text.index("two")
    parser.parse_keyword("two")
    parser.parse_keyword("three")


def test_a_resumed_parser_can_be_at_the_end() -> None:
    parser = Parser(CONTEXT, "one ]")
    parser.parse_keyword("one")
    rawtext.resume(parser, len("one ]"))
    assert rawtext.position(parser) == len("one ]")


def test_errors_have_their_span() -> None:
    parser = Parser(CONTEXT, "abc def")
    with pytest.raises(ParseError, match="wrong") as caught:
        rawtext.fail(parser, "wrong", 4, 7)
    assert (caught.value.span.start, caught.value.span.end, caught.value.span.text) == (4, 7, "def")
    with pytest.raises(ParseError) as caught:
        rawtext.fail(parser, "wrong", 4)
    assert caught.value.span.text == "d"


def test_raw_parameters() -> None:
    parser = Parser(CONTEXT, "<[0 : 4] f32> next")
    assert rawtext.raw_parameter(parser, str.upper) == "[0 : 4] F32"
    parser.parse_keyword("next")


@pytest.mark.parametrize(
    "text, message, start", [("x>", "'<' expected", 0), ("<x", "'>' expected after this '<'", 0), ("<ab>", "no", 2)]
)
def test_mistakes_in_raw_parameters(text: str, message: str, start: int) -> None:
    def read(_: str) -> None:
        raise ExprSyntaxError("no", 1)

    with pytest.raises(ParseError) as caught:
        rawtext.raw_parameter(Parser(CONTEXT, text), read)
    assert message in str(caught.value)
    assert caught.value.span.start == start


def test_values_are_printed_under_the_name_that_xdsl_gives_them() -> None:
    op = instructions(body("bir.memset outs(%t[0 : 128 | 0 : 512] f32) ins(0.0 : f32)"))[0]
    value = op.operands[0]
    printer = Printer(io.StringIO())
    name = rawtext.value_name(printer, value)
    assert name == "%t"
    printer.stream = stream = io.StringIO()
    printer.print_ssa_value(value)
    assert stream.getvalue() == name, "both ways to the same name"
    value.name_hint = None
    printer = Printer(stream := io.StringIO())
    assert rawtext.value_name(printer, value) == "%0"
    assert stream.getvalue() == "", "asking for a name prints nothing"

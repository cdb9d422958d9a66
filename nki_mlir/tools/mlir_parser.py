"""Reads MLIR text so that every op knows its place in the file, and every mistake is an NkiError with its place.

This module, and nothing else in the tools, relies on private methods of xDSL's parser.
"""

import re
import sys
from bisect import bisect_right
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from math import prod
from typing import Any, cast

from xdsl.context import Context
from xdsl.dialects.builtin import (
    AnyFloat,
    ArrayAttr,
    ComplexType,
    DictionaryAttr,
    FileLineColLoc,
    FusedLoc,
    IndexType,
    IntAttr,
    IntegerType,
    LocationAttr,
    ModuleOp,
    NoneAttr,
    RankedStructure,
    StringAttr,
    UnknownLoc,
    UnregisteredAttr,
    UnregisteredOp,
)
from xdsl.ir import Attribute, AttributeInvT, Block, Data, Operation, ParametrizedAttribute, SSAValue, TypeAttribute
from xdsl.parser import Parser, ParserState, UnresolvedOperand
from xdsl.utils.exceptions import MultipleSpansParseError, ParseError, VerifyException
from xdsl.utils.lexer import Input, Span, Token
from xdsl.utils.mlir_lexer import MLIRLexer, MLIRTokenKind, StringLiteral

from nki_mlir.diagnostics import Location, NkiError, internal_error, one_line
from nki_mlir.dialects.blocks import insert
from nki_mlir.dialects.locations import file_location, integer
from nki_mlir.tools.common import closest, visible

MOST_DENSE_ELEMENTS = 1 << 26
"""No dense literal may have more elements: xDSL expands `dense<0>`, so that a short text could take all memory."""

MOST_BITS = (1 << 24) - 1
"""No integer type is wider, in MLIR too: xDSL makes numbers of as many bits."""

MOST_PARTS = 1 << 16
"""No alias may stand for more types and attributes: each doubles with two uses of another, and xDSL walks them all."""

MOST_NESTED = 128
"""No more ops may stand inside one another, in either form; these can be printed within Python's limit of recursion."""
_CALLS_A_LEVEL = 16
"""Calls of Python that are open for one op around another while the generic form is read, with some to spare."""
_INTEGER_TYPE = re.compile(r"[su]?i([0-9]+)")
_IN_ORDER = ("bir.", "klr.", "penguin.")
"""Ops whose operands are defined above them: their custom form cannot name others."""
_NO_CUSTOM_FORM = getattr(Operation.parse, "__func__")  # noqa: B009
_TOO_LONG = re.compile(r"0x[0-9a-fA-F]{3570,}|[0-9]{4301,}")  # Python's limit for conversion from text
_UNCLEAR = {
    " in block definition": "an operation, a block label or '}' is expected",
    "Expected ':'function type signature expected": "':' and a function type expected",
    "Expected suffix identifier after {first_char}": "a name is expected after this character",
}
"""Messages of xDSL that do not say what they should."""
_COMPLETE = re.compile(r"^(?!.*expect)|^unexpected character|\b(?:got|found|but|after this)\b", re.IGNORECASE)
"""Messages that do not lack what was found."""
_LONGEST_FOUND = 40
_FOUND = re.compile(r"[%^@#!]?[\w.$-]+|->|\S")
_FREQUENT = (None, MLIRTokenKind.BARE_IDENT, MLIRTokenKind.PERCENT_IDENT, MLIRTokenKind.STRING_LIT)
"""The kinds of token that the groups of the lexer's expression stand for."""
_BLANK = r"\s*(?://[^\n]*(?:\n\s*|\Z))*"
_OP_NAME = re.compile(rf"{_BLANK}([a-zA-Z_][\w$.]*)", re.ASCII)
_LOC = re.compile(rf"{_BLANK}loc\b", re.ASCII)
_PUNCTUATION = {kind.value: kind for kind in MLIRTokenKind}
_ALIASES = (MLIRTokenKind.HASH_IDENT, MLIRTokenKind.EXCLAMATION_IDENT)
_ALIAS_DEFINITION = re.compile(r"^[ \t]*([#!][a-zA-Z_][\w$.]*)[ \t]*=", re.MULTILINE | re.ASCII)


class _Lexer(MLIRLexer):
    """xDSL's lexer; the tokens of which a text has most are found by one expression, in half the time.

    xDSL's own expression takes exponential time for a string that does not end.
    """

    _string_regex = re.compile(r'"[^"\\\n\v\f]*(?:\\(?:["nt\\]|[0-9A-Fa-f]{2})[^"\\\n\v\f]*)*')
    _frequent_regex = re.compile(
        r"\s*(?://[^\n]*(?:\n\s*|\Z))*(?:([a-zA-Z_][\w$.]*)|(%(?:[0-9]+|[a-zA-Z$._-][\w$.-]*))"
        r'|("[^"\\\n\v\f]*")|[()\[\]}<>,:=])',
        re.ASCII,
    )

    def lex(self) -> Token[MLIRTokenKind, str]:
        match = self._frequent_regex.match(self.input.content, self.pos)
        if match is None:
            return super().lex()
        self.pos = end = match.end()
        group = match.lastindex or 0
        kind = _FREQUENT[group]
        if kind is None:
            return Token(_PUNCTUATION[self.input.content[end - 1]], Span(end - 1, end, self.input))
        span_class = StringLiteral if kind is MLIRTokenKind.STRING_LIT else Span
        return Token(kind, span_class(match.start(group), end, self.input))

    def _lex_string_literal(self, start_pos: int) -> Token[MLIRTokenKind, str]:
        content = self.input.content
        match = self._string_regex.match(content, start_pos)
        assert match is not None
        if not content.startswith('"', end := match.end()):
            if content.startswith("\\", end):
                span = Span(end, end + 2, self.input)
                raise ParseError(span, r"the escapes of a string are \n, \t, \\, \" and \ with two hexadecimal digits")
            raise ParseError(Span(start_pos, end, self.input), "this string does not end in its line")
        return super()._lex_string_literal(start_pos)


class _Aliases(dict[str, Attribute]):
    """The aliases of a text; one that is defined below its first use is read when it is used.

    mlir-opt writes the aliases of locations at the end of its output.
    """

    def __init__(self, parser: "LocParser") -> None:
        super().__init__()
        self.parser = parser

    def __contains__(self, name: object) -> bool:
        if not super().__contains__(name):
            self.parser.read_ahead(str(name))
        return True


class LocParser(Parser):
    """xDSL's parser; ops without `loc(…)` get the place of their name in the text, as mlir-opt gives them.

    `first_line` is the number of the text's first line in its file.
    """

    def __init__(self, ctx: Context, text: str, name: str, first_line: int = 1) -> None:
        self._text = text
        self._file = StringAttr(name)
        self._first_line = first_line
        self._line_starts = [0, *(match.end() for match in re.finditer("\n", text))]
        self._columns: dict[int, IntAttr] = {}
        self._open_ops: list[int] = []
        """Where the names of the ops that are being parsed stand, outermost first."""
        self._first_uses: dict[str, Span] = {}
        self._later: dict[str, int] | None = None
        """Where aliases are defined, once one is used before that; those that are being read ahead are left out."""
        self._sizes: dict[int, int] = {}
        """Of how many types and attributes consists what an alias stands for, by its identity."""
        self._read: dict[int, int] = {}
        """Where the definitions of aliases that were read ahead begin and end."""
        self._raw: dict[str, Callable[..., tuple[Operation, int | None]] | None] = {}
        self._raw_op: int | None = None
        """Where the name of the op stands that is read from the raw text."""
        super().__init__(ctx, "", name)
        self._parser_state = ParserState(_Lexer(Input(text, name)))
        self.attribute_aliases = _Aliases(self)

    def parse_optional_str_literal(self) -> str | None:
        """Reads a string as the printer writes it: bytes of UTF-8, those beyond ASCII escaped, which xDSL refuses."""
        text = super().parse_optional_str_literal()
        if text is not None:
            return text
        place = self.pos
        raw = self.parse_optional_bytes_literal()
        if raw is None:
            return None
        try:
            return raw.decode("utf-8")
        except UnicodeDecodeError:
            self.raise_error("expected a string of UTF-8, got other bytes", place)

    def location_at(self, position: int) -> FileLineColLoc:
        """Returns the location of a position in the text."""
        line = bisect_right(self._line_starts, position)
        column = position - self._line_starts[line - 1] + 1
        column_attribute = self._columns.get(column)
        if column_attribute is None:
            column_attribute = self._columns[column] = integer(column)
        return file_location(self._file, integer(line + self._first_line - 1), column_attribute)

    def place_at(self, position: int) -> Location:
        """Returns the place of a position in the text, for a message."""
        line = bisect_right(self._line_starts, position)
        column = position - self._line_starts[line - 1] + 1
        return Location(self._file.data, line + self._first_line - 1, column)

    # Ops

    def parse_module(self, allow_implicit_module: bool = True) -> ModuleOp:
        """Parses the whole text. Texts without ops are the empty module."""
        ops: list[Operation] = []
        while self._current_token.kind != MLIRTokenKind.EOF:
            if self._current_token.kind in _ALIASES:
                self._parse_alias_def()
            elif self._current_token.kind == MLIRTokenKind.FILE_METADATA_BEGIN:
                self._parse_file_metadata_dictionary()
            elif (op := self.parse_optional_operation()) is not None:
                ops.append(op)
            else:
                self.raise_error(f"expected an operation, got '{self._current_token.text}'")
        for name in self.forward_ssa_references:
            self.raise_error(f"value %{name} is used but not defined", self._first_uses.get(name))
        if len(ops) == 1 and isinstance(ops[0], ModuleOp):
            return ops[0]
        if not allow_implicit_module:
            self.raise_error("expected one builtin.module and nothing else", 0)
        module = ModuleOp(ops)
        module.location = self.location_at(0)
        return module

    def parse_operation(self) -> Operation:
        """Parses an op and gives it its location."""
        token = self._current_token
        if token.kind == MLIRTokenKind.BARE_IDENT and (parse := self._raw_parser(token.text)) is not None:
            op, _ = self._parse_raw(parse, token.span.start, token.span.end, last=True)
            return op
        with_location = super().parse_operation()
        start = self._open_ops.pop()
        if isinstance(with_location.location, UnknownLoc):
            with_location.location = self.location_at(start)
        if self.forward_ssa_references and with_location.name.startswith(_IN_ORDER):
            operands = set(with_location.operands)
            for name, references in self.forward_ssa_references.items():
                if not operands.isdisjoint(references.values()):
                    self.raise_error(f"%{name} is not defined above its use", self._first_uses.get(name))
        return with_location

    def _raw_parser(self, name: str) -> Callable[..., tuple[Operation, int | None]] | None:
        """Returns the method by which an op of this name is read from the raw text; None if it is read from tokens."""
        if name not in self._raw:
            self._raw[name] = getattr(self.ctx.get_optional_op(name), "parse_at", None)
        return self._raw[name]

    def _parse_block_body(self, block: Block) -> None:
        """Parses the ops of a block; a row of ops that are read from the raw text without tokens between them."""
        while True:
            token = self._current_token
            if token.kind != MLIRTokenKind.BARE_IDENT or (parse := self._raw_parser(token.text)) is None:
                op = self.parse_optional_operation()
                if op is None:
                    return
                block.add_op(op)
                continue
            start, end = token.span.start, token.span.end
            row: list[Operation] = []
            while parse is not None:
                op, at = self._parse_raw(parse, start, end)
                row.append(op)
                if at is None:
                    break
                following = _OP_NAME.match(self._text, at)
                parse = None if following is None else self._raw_parser(following[1])
                if following is None or parse is None:
                    self._resume_from(at)
                    break
                start, end = following.span(1)
            insert(block, row)

    def _resume_from(self, pos: int | ParserState[MLIRTokenKind, str]) -> None:
        self._raw_op = None
        super()._resume_from(pos)

    def _parse_raw(
        self, parse: Callable[..., tuple[Operation, int | None]], start: int, end: int, *, last: bool = False
    ) -> tuple[Operation, int | None]:
        """Parses an op without results whose name stands from `start` to `end`; what xDSL does around an op would cost
        as much again. Returns it with where its text ends, None if the tokens go on from there, as behind the `last`.
        """
        self._open(start)
        self._raw_op = start
        op, at = parse(self, end, self.location_at(start))
        self._raw_op = None
        if at is not None and (last or _LOC.match(self._text, at) is not None):
            self._resume_from(at)
            at = None
        if (
            at is None
            and self._current_token.text == "loc"
            and (location := self.parse_optional_location()) is not None
        ):
            op.location = location
        self._open_ops.pop()
        return op, at

    def _parse_op_result_list(self) -> list[tuple[Span, int]]:
        results = super()._parse_op_result_list()
        self._open(self._current_token.span.start)
        return results

    def _open(self, start: int) -> None:
        """Notes that an op is being parsed whose name stands at `start`."""
        self._open_ops.append(start)
        if len(self._open_ops) > MOST_NESTED:
            raise NkiError("the input is nested too deeply", self.place_at(start))

    def _get_op_by_name(self, name: str) -> type[Operation]:
        op = self.ctx.get_optional_op(name, dialect_stack=self._parser_state.dialect_stack)
        if op is None:
            self.raise_error(self._unknown_op(name), self._open_ops[-1])
        start = self._open_ops[-1]
        if self._text[start] != '"' and getattr(op.parse, "__func__", None) is _NO_CUSTOM_FORM:
            reason = "is not registered" if issubclass(op, UnregisteredOp) else "has no custom form"
            self.raise_error(f"'{name}' {reason}, so it can only be written in the generic form", start)
        return op

    def _unknown_op(self, name: str) -> str:
        prefix, _, _ = name.partition(".")
        if prefix == name:
            return f"unknown operation '{name}'"
        dialect = self.ctx.get_optional_dialect(prefix)
        if dialect is None:
            near = closest(prefix, self.ctx.registered_dialect_names)
            return f"unknown dialect '{prefix}' of operation '{name}'{near}"
        return f"unknown operation '{name}'{closest(name, (op.name for op in dialect.operations))}"

    # Blocks: xDSL would keep their labels as names, which those labels of MLIR that are numbers cannot be. And it does
    # not note where a block is that was used before, so that it breaks at a second one.

    def parse_optional_successor(self) -> Block | None:
        """Reads the label of a block, if one is next."""
        label = self._current_token
        if label.kind == MLIRTokenKind.CARET_IDENT:
            self._get_block_from_name(label.span)
        return super().parse_optional_successor()

    def _parse_block(self) -> Block:
        label = self._parse_token(MLIRTokenKind.CARET_IDENT, " in block definition").span
        name = label.text[1:]
        self._get_block_from_name(label)
        block, defined = self.blocks[name]
        if defined is not None:
            message, note = f"re-declaration of block '{name}'", "originally declared here:"
            raise MultipleSpansParseError(label, message, note, [(defined, None)])
        del self.forward_block_references[name]
        self.blocks[name] = block, label
        self._parse_optional_block_arg_list(block)
        self.parse_punctuation(":")
        self._parse_block_body(block)
        return block

    # Values

    def resolve_operand(self, operand: UnresolvedOperand, type: AttributeInvT) -> SSAValue[AttributeInvT]:
        """Resolves an operand; remembers where a value not yet defined was used first."""
        name = operand.operand_name
        if name not in self.ssa_values and name not in self._first_uses:
            self._first_uses[name] = operand.span
        return super().resolve_operand(operand, type)

    # Types and attributes

    def _parse_alias_def(self) -> None:
        start = self.pos
        if start in self._read:
            self._resume_from(self._read[start])
            return
        name = self._current_token.text
        if name in self.attribute_aliases.keys():  # noqa: SIM118, the aliases themselves would read ahead
            self.raise_error(f"re-declaration of alias '{name}'")
        self._consume_token()
        self.parse_punctuation("=", " after attribute alias name")
        value = self.attribute_aliases[name] = self.parse_attribute()
        size = self._sizes[id(value)] = self._expanded(value)
        if size > MOST_PARTS:
            message = f"alias '{name}' stands for {size} types and attributes, at most {MOST_PARTS} are allowed"
            self.raise_error(message, start, start + len(name))

    def _expanded(self, attribute: object) -> int:
        """Returns of how many types and attributes one consists, those that aliases stand for counted each time."""
        known = self._sizes.get(id(attribute))
        if known is not None:
            return known
        parts: Iterable[object] = ()
        if isinstance(attribute, ParametrizedAttribute):
            parts = attribute.parameters
        elif isinstance(attribute, ArrayAttr):
            parts = cast("ArrayAttr[Attribute]", attribute).data
        elif isinstance(attribute, DictionaryAttr):
            parts = attribute.data.values()
        return 1 + sum(map(self._expanded, parts))

    def read_ahead(self, name: str) -> None:
        """Reads the definition of an alias that stands below its use, which comes just before the present token."""
        if self._later is None:
            self._later = {}
            for found in _ALIAS_DEFINITION.finditer(self._text):
                self._later.setdefault(found[1], found.start(1))
        start = self._later.pop(name, None)
        here = self.pos
        if start is None:
            used = max(self._text.rfind(name, 0, here), 0)
            known = [*self.attribute_aliases, *self._later]
            self.raise_error(f"undefined symbol alias '{name}'{closest(name, known)}", used, used + len(name))
        self._resume_from(start)
        self._parse_alias_def()
        self._read[start] = self.pos
        self._resume_from(here)

    def _parse_dialect_type_or_attribute_body(
        self, attr_name: str, is_type: bool, is_opaque: bool, starting_opaque_pos: int | None
    ) -> UnregisteredAttr | ParametrizedAttribute | Data[Any]:
        start = max(self._text.rfind(attr_name, 0, self.pos) - 1, 0)
        if "." in attr_name:
            known = self.ctx.get_optional_type(attr_name) if is_type else self.ctx.get_optional_attr(attr_name)
            if known is None:
                self.raise_error(self._unknown_attribute(attr_name, is_type), start)
        try:
            return super()._parse_dialect_type_or_attribute_body(attr_name, is_type, is_opaque, starting_opaque_pos)
        except VerifyException as error:
            raise ParseError(Span(start, self.pos, self.lexer.input), one_line(str(error))) from error

    def _parse_optional_integer_or_float_type(self) -> TypeAttribute | None:
        token = self._current_token
        width = _INTEGER_TYPE.fullmatch(token.text)
        if width is not None and (len(width[1]) > 8 or int(width[1]) > MOST_BITS):
            self.raise_error(f"an integer type has at most {MOST_BITS} bits", token.span)
        return super()._parse_optional_integer_or_float_type()

    def _parse_dense_literal_type(self) -> RankedStructure[IntegerType | IndexType | AnyFloat | ComplexType]:
        start = self.pos
        literal_type = super()._parse_dense_literal_type()
        if prod(literal_type.get_shape()) > MOST_DENSE_ELEMENTS:
            self.raise_error(f"a dense literal has at most {MOST_DENSE_ELEMENTS} elements", start, self.pos)
        return literal_type

    def _parse_location(self) -> LocationAttr:
        """Parses a location; of a range, for which xDSL has no attribute, its start is kept."""
        if self.parse_optional_keyword("fused"):
            metadata: Attribute = NoneAttr()
            if self.parse_optional_punctuation("<") is not None:
                metadata = self.parse_attribute()
                self.parse_punctuation(">")
            parts = self.parse_comma_separated_list(self.Delimiter.SQUARE, self._parse_location)
            return FusedLoc(tuple(parts), metadata)
        location = super()._parse_location()
        if isinstance(location, FileLineColLoc) and self.parse_optional_keyword("to"):
            self.parse_optional_integer(False, False)
            self.parse_punctuation(":")
            self.parse_integer(False, False)
        return location

    def _unknown_attribute(self, name: str, is_type: bool) -> str:
        kind, sigil = ("type", "!") if is_type else ("attribute", "#")
        prefix, _, _ = name.partition(".")
        dialect = self.ctx.get_optional_dialect(prefix)
        if dialect is None:
            near = closest(prefix, self.ctx.registered_dialect_names)
            return f"unknown dialect '{prefix}' of {kind} '{sigil}{name}'{near}"
        return f"unknown {kind} '{sigil}{name}'{closest(name, (known.name for known in dialect.attributes))}"

    # Errors

    @contextmanager
    def located_errors(self) -> Generator[None]:
        """Turns whatever goes wrong inside into an NkiError at the place of the mistake."""
        try:
            yield
        except ParseError as error:
            raise self._located(error) from error
        except VerifyException as error:
            # A builtin type or attribute that cannot exist: all that is known is the op that it stands in.
            start = self._open_ops[-1] if self._open_ops else self.pos
            raise NkiError(one_line(str(error)), self.place_at(start)) from error
        except NkiError as error:
            if error.location is None:
                error.location = self.place_at(self._here())
            raise
        except RecursionError as error:
            raise NkiError("the input is nested too deeply", self.place_at(self._here())) from error
        except Exception as error:
            read = (0, self.pos) if self._raw_op is None else (self._raw_op, len(self._text))
            if isinstance(error, ValueError) and (number := _TOO_LONG.search(self._text, *read)):
                message = f"an integer of {len(number[0])} digits is too large"
                raise NkiError(message, self.place_at(number.start())) from error
            raise internal_error(error, self.place_at(self._here()), "while parsing") from error

    def _here(self) -> int:
        """Returns the position that is being parsed: of what is read from the raw text the op's."""
        return self.pos if self._raw_op is None else self._raw_op

    def _located(self, error: ParseError) -> NkiError:
        located = NkiError(_worded(error, self._text), self.place_at(error.span.start))
        if isinstance(error, MultipleSpansParseError):
            for span, note in error.refs:
                text = note or (error.ref_text or "").rstrip(":")
                located.add_note(f"{self.place_at(span.start)}: {text}")
        return located


def _worded(error: ParseError, text: str) -> str:
    """Returns the message of an error, with what was found where it tells only what was expected."""
    message = _UNCLEAR.get(error.msg) or visible(one_line(error.msg))
    if _COMPLETE.search(message):
        return message
    start = error.span.start
    found = _FOUND.match(text, start)
    end = "the end of the line" if text[start:].strip() else "the end of the input"
    return f"{message.rstrip('!.')}, got " + (f"'{visible(found[0][:_LONGEST_FOUND])}'" if found else end)


def parse_mlir(
    ctx: Context, text: str, name: str, *, first_line: int = 1, allow_implicit_module: bool = True
) -> ModuleOp:
    """Parses MLIR text of the file `name`; raises NkiError with the place of the first mistake."""
    try:
        parser = LocParser(ctx, text, name, first_line)
    except ParseError as error:  # the first token is none
        line, column = error.span.get_location()[1:]
        raise NkiError(_worded(error, text), Location(name, line + first_line - 1, column)) from error
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(limit + MOST_NESTED * _CALLS_A_LEVEL)
    try:
        with parser.located_errors():
            return parser.parse_module(allow_implicit_module)
    finally:
        sys.setrecursionlimit(limit)

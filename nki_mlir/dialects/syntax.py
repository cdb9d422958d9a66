"""The custom syntax of instructions, one for all dialects:

    bir.activation exp on act "I-2" outs(%y[0 : 128 | 0 : 512] f32) ins(%x[0 : 128 | 0 : 512] f32, scale = 2.0 : f32)
        params(…) when(%i - 1 ge 0) {dge_type = #nki.dge<hwdge>}

After the op's name come its inline enums and flags as words, its engine, its name as a string, then the operands by
group in the order of the class; a required operand is known by its position, an optional one is written with its name.
The rare properties stand in the dictionary, and behind it the blocks that a branch goes to: `[^body, ^exit]`. The text
from the name to the last parenthesis is read by regular expressions, patterns are looked up by their text; then xDSL's
token stream goes on.
"""

import re
from functools import cache
from typing import Any, NamedTuple, NoReturn, TypeAlias, cast

from xdsl.dialects.builtin import ArrayAttr, LocationAttr, StringAttr, UnitAttr
from xdsl.ir import Attribute, SSAValue
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from nki_mlir.dialects import rawtext
from nki_mlir.dialects.access import Access
from nki_mlir.dialects.affine import ExprSyntaxError
from nki_mlir.dialects.attributes import REGISTER, ConditionAttr, EngineAttr, ExprAttr, Immediate, RegisterAttr
from nki_mlir.dialects.instruction import (
    COMMON_PROPERTIES,
    GROUPS,
    InstructionOp,
    Role,
    operands_of,
)
from nki_mlir.dialects.locations import string

# No expression here holds a possessive or atomic group: Python 3.11.2 takes some of them wrong (CPython issue 101955).
_BLANK = r"\s*(?://[^\n]*(?:\n\s*|\Z))*"  # a comment is skipped as a whole, or its words would be read
_GAP = rf"(?=[\s/]){_BLANK}"
_HEAD = re.compile(
    rf'{_BLANK}(?:on{_GAP}(?P<engine>\w+)|(?P<word>[a-z_]\w*)(?![\w.]|{_BLANK}\()|"(?P<name>(?:[^"\\\n]|\\.)*)")'
)
_PLAIN_HEAD = re.compile(r'((?: [a-z_]\w*(?![\w.(]))*)(?: "([^"\\\n]*)")?(?= (?:outs|ins)\()')
_GROUP = re.compile(rf"{_BLANK}(?P<group>outs|ins|indirection|params|when){_BLANK}\(")
_ROLE = rf"{_BLANK}(?:(?P<role>[a-z_]\w*){_BLANK}={_BLANK})?"
_BLOCK = rf"(?:\{{[^{{}}/]*(?://[^\n]*\n[^{{}}/]*)*\}}{_BLANK})?"  # a comment may hold brackets, here and below
_PLACE = rf"(?P<access>{_BLOCK}\[[^\[\]/]*(?://[^\n]*\n[^\[\]/]*)*\]"
_END = rf"{_BLANK}(?P<end>[,)])"
_WITHOUT_END = (
    rf"{_ROLE}(?:%(?P<storage>[\w$.-]+){_BLANK}(?:{_PLACE}{_BLANK}[a-z]\w*(?:{_GAP}at{_GAP}\d+{_GAP}max{_GAP}\d+)?))?"
    rf"|(?P<number>-?(?:inf|nan|\d[\w.+-]*){_BLANK}:{_BLANK}[a-z]\w*))"
)
_COMMENTED_OPERAND = _WITHOUT_END + _END
_OPERAND = re.compile(_COMMENTED_OPERAND.replace(_BLANK, r"\s*"))  # nearly all operands, in less time
_PARAM = re.compile(rf"{_BLANK}(?P<role>[a-z_]\w*){_BLANK}=")
_DELIMITER = re.compile(r"//[^\n]*|[\[\](),]")
_VALUE_NAME = re.compile(r"%[\w$.-]+")
_EMPTY = re.compile(rf"{_BLANK}\)")
_BLANKS = re.compile(_BLANK)
_MORE = re.compile(rf"{_BLANK}[{{\[]")
_PLAIN = re.compile(r"[ !#-\[\]-~]*")

# What an operand looks like that is cut short, for a message about what is missing.
_OPENED = rf"{_ROLE}%[\w$.-]+{_BLANK}{_BLOCK}\["
_WITHOUT_TYPE = rf"{_ROLE}%[\w$.-]+{_BLANK}{_PLACE})"
_NUMBER_ALONE = rf"{_ROLE}-?(?:inf|nan|\d[\w.+-]*)"


@cache
def _rarely(expression: str) -> re.Pattern[str]:
    """Returns a compiled expression; those that few texts need would be a hundredth of every start."""
    return re.compile(expression)


class _Form(NamedTuple):
    """What the text of an instruction class is made of: for each group its roles by name, the required ones in order,
    and the variadic one; and the properties that do not stand in the dictionary."""

    names: dict[str, dict[str, Role]]
    required: dict[str, tuple[str, ...]]
    rest: dict[str, str | None]
    printed: frozenset[str]
    head: tuple[str, ...]
    """The properties for which the words before the label stand."""
    heads: dict[str, dict[str, Attribute]]
    """What they are, by those words that were read before."""
    words: dict[tuple[Attribute | None, ...], str]
    """The words, by those of these properties that were printed before."""
    leads: tuple[tuple[str, str, bool, str, str, str], ...]
    """For each role its name, its group, whether it is variadic, and what stands before an operand of it: the first of
    all, the first of its group, a further one."""


@cache
def _form(cls: type[InstructionOp]) -> _Form:
    groups = {group: [role for role in cls.ROLES if role.group == group] for group in GROUPS}
    inline = [name for name, _, _ in cls.INLINE]
    return _Form(
        {group: {role.name: role for role in roles} for group, roles in groups.items()},
        {g: tuple(r.name for r in roles if not r.optional and not r.variadic) for g, roles in groups.items()},
        {group: next((role.name for role in roles if role.variadic), None) for group, roles in groups.items()},
        COMMON_PROPERTIES | {*cls.FLAGS, *inline, *(role.name for role in cls.ROLES)},
        (*inline, *cls.FLAGS, "engine"),
        {},
        {},
        tuple(map(_lead, cls.ROLES)),
    )


def _lead(role: Role) -> tuple[str, str, bool, str, str, str]:
    name, group, optional, variadic, _ = role
    named = f"{name} = " if optional or group == "params" else ""
    return name, group, variadic, f" {group}({named}", f") {group}({named}", f", {named}"


_Operand: TypeAlias = tuple[Attribute, list[SSAValue]]
"""One operand as read: its pattern and its SSA values."""


class _Reader:
    """Reads one instruction from the raw text; `at` is the position in the text."""

    __slots__ = ("at", "cls", "defined", "form", "parser", "properties", "text")

    def __init__(self, cls: type[InstructionOp], parser: Parser, at: int) -> None:
        self.cls = cls
        self.form = _form(cls)
        self.parser = parser
        self.defined = parser.ssa_values
        self.text = rawtext.source(parser)
        self.at: int = at
        self.properties: dict[str, Attribute] = {}

    def fail(self, message: str, start: int | None = None, end: int | None = None) -> NoReturn:
        """Raises a parse error, by default at the next character that is not blank."""
        if start is None:
            blank = _BLANKS.match(self.text, self.at)
            start = min(self.at if blank is None else blank.end(), max(len(self.text) - 1, 0))
        rawtext.fail(self.parser, message, start, end)

    def head(self) -> None:
        """Reads enums, flags, engine and name; the words of most heads were read before."""
        plain = _PLAIN_HEAD.match(self.text, self.at)
        if plain is None:
            return self.any_head()
        words, label = plain.groups()
        known = self.form.heads.get(words)
        if known is None:
            self.any_head()
            self.form.heads[words] = {name: held for name, held in self.properties.items() if name != "name"}
            return None
        self.properties = {**known}
        if label is not None:
            self.properties["name"] = string(label)
        self.at = plain.end()
        return None

    def any_head(self) -> None:
        cls, text, properties, inline = self.cls, self.text, self.properties, 0
        while (match := _HEAD.match(text, self.at)) is not None:
            kind = cast(str, match.lastgroup)
            found, start = match[kind], match.start(kind)
            if kind == "name":
                if "name" in properties:
                    self.fail("an instruction has one name", start - 1, match.end())
                properties["name"] = StringAttr(_unescape(found))
            elif kind == "engine":
                if "engine" in properties:
                    self.fail("an instruction has one engine", start, match.end())
                properties["engine"] = self.enum(EngineAttr, found, start)
            elif found in cls.FLAGS:
                properties[found] = UnitAttr()
            elif inline < len(cls.INLINE):
                name, attribute, _ = cls.INLINE[inline]
                properties[name] = self.enum(attribute, found, start)
                inline += 1
            else:
                self.fail(f"{cls.name} has no parameter to take '{found}'", start, match.end())
            self.at = match.end()
        for name, attribute, optional in cls.INLINE[inline:]:
            if not optional:
                kind = cast(str, attribute.name).partition(".")[2]
                self.fail(f"expected {name}, a word of #nki.{kind}, after {cls.name}")

    def enum(self, attribute: type[Any], word: str, start: int) -> Attribute:
        try:
            return attribute.read(word)
        except ExprSyntaxError as error:
            self.fail(str(error), start, start + len(word))

    def groups(self) -> list[SSAValue]:
        """Reads the operand groups and returns the SSA values in the order of the roles."""
        found: dict[str, list[_Operand]] = {}
        guard: list[SSAValue] = []
        last = -1
        while (match := _GROUP.match(self.text, self.at)) is not None:
            group = match["group"]
            rank = len(GROUPS) if group == "when" else GROUPS.index(group)
            if rank <= last:
                order = ", ".join(GROUPS)
                self.fail(f"'{group}' must stand once, in the order {order}, when", match.start("group"), match.end())
            last = rank
            self.at = match.end()
            if group == "when":
                guard = self.guard()
            elif group == "params":
                self.params(found)
            else:
                self.operands(group, found)
        values: list[SSAValue] = []
        properties = self.properties
        for name, group, optional, variadic, _ in self.cls.ROLES:
            operands = found.get(name, ())
            if variadic:
                properties[name] = ArrayAttr([pattern for pattern, _ in operands])
            elif operands:
                properties[name] = operands[0][0]
            elif not optional:
                self.fail(f"expected {group}(… {name} …) of {self.cls.name}")
            for _, inside in operands:
                values += inside
        return values + guard if guard else values

    def operands(self, group: str, found: dict[str, list[_Operand]]) -> None:
        """Reads the operands of one group up to its closing parenthesis."""
        form, waiting, first = self.form, self.form.required[group], True
        text, defined = self.text, self.defined
        while True:
            match = _OPERAND.match(text, self.at) or _rarely(_COMMENTED_OPERAND).match(text, self.at)
            if match is None:
                if first and (match := _EMPTY.match(text, self.at)) is not None:
                    self.at = match.end()
                    return
                self.explain_operand()
            first = False
            name, storage, access, number, end = match.groups()
            if name is None:
                while waiting and waiting[0] in found:
                    waiting = waiting[1:]
                name = waiting[0] if waiting else form.rest[group]
                if name is None:
                    start = match.start("number") if storage is None else match.start("storage") - 1
                    self.fail(f"{self.cls.name} has no role for this operand of {group}", start, match.start("end"))
            else:
                role = form.names[group].get(name)
                if role is None or (name in found and not role.variadic):
                    self.unknown("role", name, match, form.names[group], found, f" in {group}")
            if storage is None:
                operand = self.number(number, match)
            else:
                values = defined.get(storage)
                value = self.value(storage, match.start("storage") - 1) if values is None else values[0]
                if access is None:
                    operand = REGISTER, [value]
                elif (known := Access.known(access)) is not None:
                    operand = known, [value]
                else:
                    pattern, indices = self.pattern(Access, access, match.start("access"))
                    operand = pattern, [value, *indices]
            found.setdefault(name, []).append(operand)
            self.at = match.end()
            if end == ")":
                return

    def unknown(
        self,
        kind: str,
        name: str,
        match: re.Match[str],
        known: dict[str, Role],
        found: dict[str, list[_Operand]],
        where: str = "",
    ) -> NoReturn:
        """Fails at a role or parameter that the class does not have, or has already got."""
        free = ", ".join(role for role in known if role not in found) or "none"
        message = f"{self.cls.name} has no further {kind} '{name}'{where}; known: {free}"
        self.fail(message, match.start("role"), match.end("role"))

    def explain_operand(self) -> NoReturn:
        """Fails with what is missing in the operand that begins here."""
        whole, opened = _rarely(_WITHOUT_END).match(self.text, self.at), _rarely(_OPENED).match(self.text, self.at)
        if whole is not None and (whole["access"] is not None or opened is None):
            self.at = whole.end()
            self.fail("expected ',' or ')' after the operand")
        if (pattern := _rarely(_WITHOUT_TYPE).match(self.text, self.at)) is not None:
            self.at = pattern.end()
            self.fail("expected an element type such as f32 after the access pattern")
        if opened is not None:
            self.fail("']' expected after this '['", opened.end() - 1)
        if (number := _rarely(_NUMBER_ALONE).match(self.text, self.at)) is not None:
            self.at = number.end()
            self.fail("expected ': type' after the number, such as 2.0 : f32")
        self.fail("expected an operand such as %t[0 : 128 | 0 : 512] f32 or 2.0 : f32")

    def number(self, text: str, match: re.Match[str]) -> _Operand:
        known = Immediate.known(text)
        if known is not None:
            return known, []
        text = rawtext.without_comments(text)
        try:
            return Immediate.read(text), []
        except ExprSyntaxError as error:
            self.fail(str(error), match.start("number") + error.position, match.end("number"))
        except VerifyException as error:
            self.fail(str(error), match.start("number"), match.end("number"))

    def pattern(self, attribute: type[Any], text: str, start: int) -> tuple[Any, list[SSAValue]]:
        """Reads the text of a pattern with SSA names in it; returns the attribute and the named values."""
        text = rawtext.without_comments(text)
        if "%" not in text:
            names: list[str] = []
            plain = text
        else:
            names = list(dict.fromkeys(_VALUE_NAME.findall(text)))
            plain = _VALUE_NAME.sub(lambda match: f"d{names.index(match[0])}", text)
        try:
            found = attribute.read(plain) if not names else self.indexed(attribute, plain, names)
        except ExprSyntaxError as error:
            where = start + min(_original(text, names, error.position), len(text) - 1)
            self.fail(str(error), where, start + len(text))
        except VerifyException as error:
            self.fail(str(error), start, start + len(text))
        return found, [self.value(name[1:], start + text.index(name)) for name in names] if names else []

    def indexed(self, attribute: type[Any], plain: str, names: list[str]) -> Any:
        """Reads a pattern over d0, d1, …; leaves in `names` those that do not fold away, as the pattern has them."""
        try:
            found = attribute.read(plain)
            if found.indices == len(names):
                return found
        except VerifyException:
            pass  # also where index values do not come in the order of the text: then what follows succeeds
        found, order = attribute.read_sparse(plain)
        names[:] = [names[number] for number in order]
        return found

    def value(self, name: str, start: int) -> SSAValue:
        values = self.defined.get(name)
        if values is None:
            self.fail(f"%{name} is not defined above its use", start, start + 1 + len(name))
        return values[0]

    def params(self, found: dict[str, list[_Operand]]) -> None:
        """Reads `name = expression, …` up to the closing parenthesis."""
        known = self.form.names["params"]
        while True:
            match = _PARAM.match(self.text, self.at)
            if match is None:
                self.fail("expected 'name = expression' in params(…)")
            name = match["role"]
            if name not in known or name in found:
                self.unknown("parameter", name, match, known, found)
            end = self.closing(match.end(), ",)")
            pattern, values = self.pattern(ExprAttr, self.text[match.end() : end], match.end())
            found[name] = [(pattern, values)]
            self.at = end + 1
            if self.text[end] == ")":
                return

    def guard(self) -> list[SSAValue]:
        """Reads the conditions of `when(…)` and the closing parenthesis."""
        end = self.closing(self.at, ")")
        self.properties["when"], values = self.pattern(ConditionAttr, self.text[self.at : end], self.at)
        self.at = end + 1
        return values

    def closing(self, start: int, stops: str) -> int:
        """Returns the position of the first of `stops` that stands outside of brackets opened after `start`."""
        depth = 0
        for match in _DELIMITER.finditer(self.text, start):
            found = match[0]
            if not depth and found in stops:
                return match.start()
            if found in "([":
                depth += 1
            elif found in ")]":
                depth -= 1
                if depth < 0:
                    break
        self.fail("')' expected after this", start)


def _original(text: str, names: list[str], position: int) -> int:
    """Returns the position in `text` of what is at `position` once the names are replaced by d0, d1, …."""
    shift = 0
    for match in _VALUE_NAME.finditer(text):
        start = match.start() - shift
        if position <= start:
            break
        end = start + len(f"d{names.index(match[0])}")
        shift += len(match[0]) - (end - start)
        if position < end:
            return match.start()
    return position + shift


def parse_instruction(
    cls: type[Any], parser: Parser, at: int, location: LocationAttr | None
) -> "tuple[Any, int | None]":
    """Reads an instruction of a class from position `at` of the text, where its name ends; see `parse_at`."""
    reader = _Reader(cls, parser, at)
    reader.head()
    values = reader.groups()
    if _MORE.match(reader.text, reader.at) is None:
        if location is not None:
            return cls.assemble(values, reader.properties, location), reader.at
        return cls.create(operands=values, properties=reader.properties), reader.at
    rawtext.resume(parser, reader.at)
    attributes: dict[str, Attribute] = {}
    following = rawtext.next_character(parser)
    if following == "{":
        defined, printed, start = cls.get_irdl_definition().properties, reader.form.printed, rawtext.position(parser)
        for key, value in parser.parse_optional_attr_dict().items():
            if key in printed:
                rawtext.fail_at_entry(parser, start, key, cls.name)
            (reader.properties if key in defined else attributes)[key] = value
        following = rawtext.next_character(parser)
    successors = parser.parse_successors() if following == "[" else ()
    op = cls.create(
        operands=values,
        properties=reader.properties,
        attributes=attributes,
        successors=successors,
        location=location,
    )
    return op, None


def print_instruction(op: InstructionOp, printer: Printer, name: str = "") -> None:
    """Prints an instruction after its name, or with the name given."""
    printer.print_string(name + _line(op, printer))
    properties, printed = op.properties, _form(type(op)).printed
    if op.attributes or not properties.keys() <= printed:
        shown = {name: held for name, held in properties.items() if name not in printed}
        printer.print_string(" ")
        printer.print_attr_dict({**shown, **op.attributes})
    if op.successors:
        printer.print_successors(op.successors)


_OF_A_VALUE: frozenset[type] = frozenset({Access, RegisterAttr})
"""What stands for a value of the op's own, which comes before its index values."""


def _line(op: InstructionOp, printer: Printer) -> str:
    """Returns the text of an instruction from behind its name to the last parenthesis.

    Every instruction that is printed comes by here, so operands are taken apart without `operands_of`.
    """
    properties, names, position, opened = op.properties, rawtext.value_names(printer, op), 0, ""
    form = _form(type(op))
    out = [_words(op, form)]
    if (label := properties.get("name")) is not None:
        out.append(f' "{_escape(cast(StringAttr, label).data)}"')
    try:
        for role, group, variadic, first, other, further in form.leads:
            held: Any = properties.get(role)
            if held is None:
                continue
            for pattern in held.data if variadic else (held,):
                out.append(further if group == opened else other if opened else first)
                opened = group
                if type(pattern) is Immediate:
                    out.append(pattern.text())
                    continue
                if type(pattern) in _OF_A_VALUE:
                    out.append(names[position])
                    position += 1
                if type(pattern) is not RegisterAttr:
                    end = position + pattern.indices
                    out.append(pattern.text(names[position:end]))
                    position = end
        if opened:
            out.append(")")
        when: Any = properties.get("when")
        if when is not None:
            out.append(f" when({when.text(names[len(names) - when.indices :])})")
    except IndexError:
        list(operands_of(op))  # tells which pattern mentions a value that the op does not have
        raise
    return "".join(out)


def _words(op: InstructionOp, form: _Form) -> str:
    """Returns the words before the instruction's label."""
    properties = op.properties
    key = tuple(map(properties.get, form.head))
    known = form.words.get(key)
    if known is None:
        words = [str(cast(Any, properties[name]).data) for name, _, _ in op.INLINE if name in properties]
        words += (name for name in op.FLAGS if name in properties)
        if "engine" in properties:
            words.append(f"on {cast(EngineAttr, properties['engine']).data}")
        known = form.words[key] = "".join(f" {word}" for word in words)
    return known


def _escape(text: str) -> str:
    if _PLAIN.fullmatch(text):
        return text
    return "".join(c if " " <= c <= "~" and c not in '"\\' else _escaped(c) for c in text)


def _escaped(character: str) -> str:
    return "".join(f"\\{byte:02X}" for byte in character.encode("utf-8"))


def _unescape(text: str) -> str:
    if "\\" not in text:
        return text
    raw = re.sub(
        rb"\\([0-9A-Fa-f]{2}|.)",
        lambda m: bytes([int(m[1], 16)]) if len(m[1]) == 2 else {b"n": b"\n", b"t": b"\t"}.get(m[1], m[1]),
        text.encode("utf-8"),
    )
    return raw.decode("utf-8", errors="replace")

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
from typing import Any, NamedTuple, cast

from xdsl.dialects.builtin import ArrayAttr, StringAttr, UnitAttr
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
    guard_indices,
    operands_of,
)

_BLANK = r"(?>(?:\s|//[^\n]*)*)"  # atomic: a comment is skipped as a whole, or its words would be read
_HEAD = re.compile(rf'{_BLANK}(?:on\s+(?P<engine>\w+)|(?P<word>[a-z_]\w*)(?!\w*\s*\()|"(?P<name>(?:[^"\\\n]|\\.)*)")')
_GROUP = re.compile(rf"{_BLANK}(?P<group>outs|ins|indirection|params|when)\s*\(")
_OPERAND = re.compile(
    rf"{_BLANK}(?:(?P<role>[a-z_]\w*)\s*=\s*)?"
    r"(?:%(?P<storage>[\w$.-]+)\s*(?P<access>(?:\{[^{}]*\}\s*)?\[[^\[\]]*\]\s*[a-z]\w*(?:\s+at\s+\d+\s+max\s+\d+)?)?"
    r"|(?P<number>-?(?:inf|nan|\d[\w.+-]*)\s*:\s*[a-z]\w*))"
    rf"{_BLANK}(?P<end>[,)])"
)
_PARAM = re.compile(
    rf"{_BLANK}(?P<role>[a-z_]\w*)\s*=\s*(?P<value>\[[^\[\]]*\]|[^,()\[\]]*(?:\([^()]*\)[^,()\[\]]*)*)(?P<end>[,)])"
)
_WHEN = re.compile(r"(?P<value>[^()]*(?:\([^()]*\)[^()]*)*)\)")
_NAME = re.compile(r"%[\w$.-]+")
_EMPTY = re.compile(rf"{_BLANK}\)")


class _Operand(NamedTuple):
    """One operand as read: its pattern and its SSA values, where it stands in the text."""

    pattern: Attribute
    values: list[SSAValue]


class _Reader:
    """Reads one instruction from the raw text; `at` is the position in the text."""

    def __init__(self, cls: type[InstructionOp], parser: Parser) -> None:
        self.cls = cls
        self.parser = parser
        self.text = rawtext.source(parser)
        self.at = rawtext.position(parser)
        self.properties: dict[str, Attribute] = {}

    def head(self) -> None:
        """Reads enums, flags, engine and name."""
        cls, inline = self.cls, iter(self.cls.INLINE)
        match = _HEAD.match(self.text, self.at)
        while match is not None:
            kind, found = match.lastgroup, match[match.lastgroup or 0]
            start = match.start(kind or 0)
            if kind == "name":
                if "name" in self.properties:
                    rawtext.fail(self.parser, "an instruction has one name", start - 1, match.end())
                self.properties["name"] = StringAttr(_unescape(found))
            elif kind == "engine":
                self.properties["engine"] = self.enum(EngineAttr, found, start)
            elif found in cls.FLAGS:
                self.properties[found] = UnitAttr()
            elif found in GROUPS or found == "when":
                break
            else:
                field = next(inline, None)
                if field is None:
                    rawtext.fail(self.parser, f"{cls.name} has no parameter to take '{found}'", start, match.end())
                self.properties[field[0]] = self.enum(field[1], found, start)
            self.at = match.end()
            match = _HEAD.match(self.text, self.at)
        for name, attribute, optional in inline:
            if not optional:
                expected = attribute.name.partition(".")[2]
                self.fail(f"expected {name}, a word of #nki.{expected}, after {cls.name}")

    def enum(self, attribute: type[Any], word: str, start: int) -> Attribute:
        try:
            return attribute.read(word)
        except ExprSyntaxError as error:
            rawtext.fail(self.parser, str(error), start, start + len(word))

    def fail(self, message: str) -> Any:
        """Raises a parse error at the next character that is not blank."""
        blank = re.compile(_BLANK).match(self.text, self.at)
        start = self.at if blank is None else blank.end()
        rawtext.fail(self.parser, message, min(start, len(self.text) - 1) if self.text else 0)

    def groups(self) -> list[SSAValue]:
        """Reads the operand groups and returns the SSA values in the order of the roles."""
        found: dict[str, list[_Operand]] = {}
        guard: list[SSAValue] = []
        last = -1
        match = _GROUP.match(self.text, self.at)
        while match is not None:
            group = match["group"]
            rank = len(GROUPS) if group == "when" else GROUPS.index(group)
            if rank <= last:
                rawtext.fail(
                    self.parser,
                    f"'{group}' must stand once, in the order {', '.join(GROUPS)}, when",
                    match.start("group"),
                    match.end(),
                )
            last = rank
            self.at = match.end()
            if group == "when":
                guard = self.guard()
            elif group == "params":
                self.params(found)
            else:
                self.operands(group, found)
            match = _GROUP.match(self.text, self.at)
        values: list[SSAValue] = []
        for role in self.cls.ROLES:
            operands = found.get(role.name)
            if role.variadic:
                self.properties[role.name] = ArrayAttr([o.pattern for o in operands or ()])
            elif operands is None:
                if not role.optional:
                    self.fail(f"expected {role.group}(… {role.name} …) of {self.cls.name}")
                continue
            else:
                self.properties[role.name] = operands[0].pattern
            for operand in operands or ():
                values += operand.values
        return values + guard

    def operands(self, group: str, found: dict[str, list[_Operand]]) -> None:
        """Reads the operands of one group up to its closing parenthesis."""
        roles = [role for role in self.cls.ROLES if role.group == group]
        required = [role for role in roles if not role.optional and not role.variadic]
        rest = next((role for role in roles if role.variadic), None)
        if (match := _EMPTY.match(self.text, self.at)) is not None:
            self.at = match.end()
            return
        position = 0
        while True:
            match = _OPERAND.match(self.text, self.at)
            if match is None:
                self.fail("expected an operand such as %t[0 : 128 | 0 : 512] f32 or 2.0 : f32")
                return
            role: Role | None
            if match["role"]:
                role = next((r for r in roles if r.name == match["role"] and r.name not in found), None)
                if role is None:
                    known = ", ".join(r.name for r in roles if r.name not in found) or "none"
                    rawtext.fail(
                        self.parser,
                        f"{self.cls.name} has no further role '{match['role']}' in {group}; known: {known}",
                        match.start("role"),
                        match.end("role"),
                    )
            elif position < len(required):
                role = required[position]
                position += 1
            else:
                role = rest
            if role is None:
                start = match.start("storage") - 1 if match["storage"] else match.start("number")
                rawtext.fail(
                    self.parser, f"{self.cls.name} has no role for this operand of {group}", start, match.start("end")
                )
            found.setdefault(role.name, []).append(self.operand(match))
            self.at = match.end()
            if match["end"] == ")":
                return

    def operand(self, match: re.Match[str]) -> _Operand:
        number = match["number"]
        if number is not None:
            try:
                return _Operand(Immediate.read(number), [])
            except ExprSyntaxError as error:
                rawtext.fail(self.parser, str(error), match.start("number"), match.end("number"))
            except VerifyException as error:
                rawtext.fail(self.parser, str(error), match.start("number"), match.end("number"))
        storage = self.value(match["storage"], match.start("storage") - 1)
        access = match["access"]
        if access is None:
            return _Operand(REGISTER, [storage])
        pattern, indices = self.pattern(Access, access, match.start("access"))
        return _Operand(pattern, [storage, *indices])

    def pattern(self, attribute: type[Any], text: str, start: int) -> tuple[Any, list[SSAValue]]:
        """Reads the text of a pattern with SSA names in it; returns the attribute and the named values."""
        names: dict[str, int] = {}
        plain = text
        if "%" in text:
            plain = _NAME.sub(lambda m: f"d{names.setdefault(m.group(), len(names))}", text)
        try:
            found = attribute.read(plain)
        except ExprSyntaxError as error:
            where = min(start + error.position, start + len(text) - 1)
            rawtext.fail(self.parser, str(error), where, start + len(text))
        except VerifyException as error:
            rawtext.fail(self.parser, str(error), start, start + len(text))
        return found, [self.value(name[1:], start + text.index(name)) for name in names]

    def value(self, name: str, start: int) -> SSAValue:
        values = self.parser.ssa_values.get(name)
        if values is None:
            rawtext.fail(self.parser, f"%{name} is not defined above its use", start, start + 1 + len(name))
        return values[0]

    def params(self, found: dict[str, list[_Operand]]) -> None:
        names = {role.name for role in self.cls.ROLES if role.group == "params"}
        while True:
            match = _PARAM.match(self.text, self.at)
            if match is None:
                self.fail("expected 'name = expression' in params(…)")
                return
            name = match["role"]
            if name not in names or name in found:
                known = ", ".join(sorted(names - found.keys())) or "none"
                rawtext.fail(
                    self.parser,
                    f"{self.cls.name} has no further parameter '{name}'; known: {known}",
                    match.start("role"),
                    match.end("role"),
                )
            pattern, values = self.pattern(ExprAttr, match["value"], match.start("value"))
            found[name] = [_Operand(pattern, values)]
            self.at = match.end()
            if match["end"] == ")":
                return

    def guard(self) -> list[SSAValue]:
        match = _WHEN.match(self.text, self.at)
        if match is None:
            self.fail("expected conditions 'expression ge 0' or 'expression eq 0' in when(…)")
            return []
        pattern, values = self.pattern(ConditionAttr, match["value"], self.at)
        self.properties["when"] = pattern
        self.at = match.end()
        return values


def parse_instruction(cls: type[Any], parser: Parser) -> Any:
    """Reads an instruction of a class, its name being read already."""
    reader = _Reader(cls, parser)
    reader.head()
    values = reader.groups()
    rawtext.resume(parser, reader.at)
    attributes: dict[str, Attribute] = {}
    if rawtext.next_is(parser, "{"):
        defined = cls.get_irdl_definition().properties
        for key, value in parser.parse_optional_attr_dict().items():
            (reader.properties if key in defined else attributes)[key] = value
    successors = parser.parse_successors() if rawtext.next_is(parser, "[") else ()
    return cls.create(operands=values, properties=reader.properties, attributes=attributes, successors=successors)


def print_instruction(op: InstructionOp, printer: Printer) -> None:
    """Prints an instruction after its name."""
    properties = op.properties
    out = ""
    for name, _, _ in op.INLINE:
        held = properties.get(name)
        if held is not None:
            out += f" {cast(Any, held).data}"
    for name in op.FLAGS:
        if name in properties:
            out += f" {name}"
    if (engine := properties.get("engine")) is not None:
        out += f" on {cast(EngineAttr, engine).data}"
    if (name := properties.get("name")) is not None:
        out += f' "{_escape(cast(StringAttr, name).data)}"'
    group = ""
    for use in operands_of(op):
        role = use.role
        if role.group != group:
            out += f"{')' if group else ''} {role.group}("
            group = role.group
        else:
            out += ", "
        if role.optional or role.group == "params":
            out += f"{role.name} = "
        pattern = use.pattern
        if isinstance(pattern, Access):
            names = [rawtext.value_name(printer, value) for value in use.indices]
            braces, body = pattern.text(names)
            out += f"{rawtext.value_name(printer, cast(SSAValue, use.storage))}{braces}{body}"
        elif isinstance(pattern, Immediate):
            out += pattern.text()
        elif isinstance(pattern, RegisterAttr):
            out += rawtext.value_name(printer, cast(SSAValue, use.storage))
        else:
            out += cast(ExprAttr, pattern).text([rawtext.value_name(printer, value) for value in use.indices])
    if group:
        out += ")"
    if op.when is not None:
        out += f" when({op.when.text([rawtext.value_name(printer, value) for value in guard_indices(op)])})"
    printer.print_string(out)
    shown = _dictionary(op)
    if shown:
        printer.print_string(" ")
        printer.print_attr_dict(shown)
    printer.print_successors(op.successors)


def _dictionary(op: InstructionOp) -> dict[str, Attribute]:
    """Returns the properties and attributes that are printed as a dictionary."""
    inside = {*COMMON_PROPERTIES, *op.FLAGS, *(name for name, _, _ in op.INLINE), *(role.name for role in op.ROLES)}
    shown = {k: v for k, v in op.properties.items() if k not in inside}
    return {**shown, **op.attributes} if op.attributes else shown


def _escape(text: str) -> str:
    if text.isalnum():
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

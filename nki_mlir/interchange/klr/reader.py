"""Turns the table into functions that read, and holds the state of reading one file.

Nothing is allocated on the word of a file: a list grows as its elements are read, and each takes at least a byte.
"""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, NoReturn

from nki_mlir.diagnostics import ByteLocation, NkiError
from nki_mlir.interchange.klr.cbor import (
    BYTES,
    EMPTY_LIST,
    FALSE,
    FLOAT32,
    HEADER,
    INTEGERS,
    LIST,
    LONG_HEADS,
    MAP,
    MAX_ACCESS_DEPTH,
    MAX_STRING,
    NEGATIVE,
    NONE,
    SOME,
    TEXT,
    TRUE,
    UNSIGNED,
    float_from_bits,
)
from nki_mlir.interchange.klr.schema import TYPES, Constructor, Field, FieldType, Layout, Record, Type

_MAJOR_NAMES = {BYTES: "a byte string", TEXT: "a text", LIST: "a list", MAP: "a map"}


class Reader:
    """The state of reading one file.

    Bytes that fit nothing are put after the file's own, so that a file that ends early fails like any other.
    """

    __slots__ = ("data", "depth", "end", "filename", "layout", "pos", "proof_bytes", "strings", "tensors")

    def __init__(self, data: bytes, filename: str) -> None:
        self.data = bytes(data) + b"\xff" * 8
        self.filename = filename
        self.end = len(data)
        self.pos = 0
        self.depth = 0
        self.layout: Layout | None = None
        self.proof_bytes: bool | None = None
        # Every operand repeats its whole tensor, every statement its file name: equal bytes become one object.
        self.strings: dict[bytes, str] = {}
        self.tensors: dict[bytes, tuple[bytes, Record]] = {}

    def location(self, pos: int) -> ByteLocation:
        return ByteLocation(self.filename, pos)

    def fail(self, expected: str, pos: int | None = None) -> NoReturn:
        """Says what was expected and what is there, at `pos` or at the current place."""
        at = min(self.pos if pos is None else pos, self.end)
        raise NkiError(f"expected {expected}, found {self.found(at)}", self.location(at))

    def head(self, major: int, expected: str) -> int:
        """Reads a CBOR head of a major type, and returns its number."""
        start = self.pos
        first = self.data[start]
        short = first & 31
        if first >> 5 != major:
            self.fail(expected)
        if short < 24:
            self.pos = start + 1
            return short
        if short not in LONG_HEADS:
            self.fail(expected)
        size, smallest = LONG_HEADS[short]
        stop = start + 1 + size
        if stop > self.end:
            self.fail(expected, self.end)
        number = int.from_bytes(self.data[start + 1 : stop], "big")
        if number < smallest:
            raise NkiError(
                f"expected {expected} in its shortest form, found {number} in {size} more bytes", self.location(start)
            )
        self.pos = stop
        return number

    def found(self, pos: int) -> str:
        """Describes what stands at a place."""
        if pos >= self.end:
            return "the end of the file"
        first = self.data[pos]
        major, short = first >> 5, first & 31
        if first == HEADER and pos + 4 <= self.end:
            return _describe_header(*self.data[pos + 1 : pos + 4])
        if first in (FALSE, TRUE):
            return "the Boolean true" if first == TRUE else "the Boolean false"
        if first == FLOAT32:
            return "a 32-bit float"
        size = 0 if short < 24 else LONG_HEADS.get(short, (self.end,))[0]
        if major > MAP or pos + 1 + size > self.end:
            return f"the byte {first:02x}"
        number = int.from_bytes(self.data[pos + 1 : pos + 1 + size], "big") if size else short
        if major in (UNSIGNED, NEGATIVE):
            return f"the integer {number if major == UNSIGNED else -1 - number}"
        return f"{_MAJOR_NAMES[major]} of length {number}"


def _fields(counts: str) -> str:
    return f"{counts} field" if counts == "1" else f"{counts} fields"


def _describe_type(entry: Type) -> str:
    first, *others = entry.constructors
    if others:
        return f"a constructor of {entry.name} (tag {entry.tag})"
    counts = sorted({first.count(layout) for layout in Layout})
    return f"{entry.name} (tag {entry.tag}) with {_fields(' or '.join(map(str, counts)))}"


def _describe_header(tag: int, number: int, length: int) -> str:
    """Names the value that a four-byte header starts."""
    what = f"constructor {number} of tag {tag}"
    if tag == NONE[1]:
        what = f"an option with constructor {number}"
    for entry in TYPES.values():
        for constructor in entry.constructors:
            if (constructor.tag, constructor.number) == (tag, number):
                what = str(constructor)
    return f"{what} with {_fields(str(length & 31))}" if length >> 5 == LIST else f"{what} without a field count"


Decode = Callable[[Reader], Any]


@cache
def decoders() -> Mapping[str, Decode]:
    """One function for each type of the table that reads a value. Types refer to each other, so tables come first."""
    variants: dict[str, dict[bytes, tuple[type[Record], list[Decode]]]] = {}
    functions: dict[str, Decode] = {}
    for entry in TYPES.values():
        if entry.is_enum:
            members = {ctor.header(Layout.HEAD): ctor.name for ctor in entry.constructors}
            functions[entry.name] = _enum_decoder(members, f"a member of {entry.name} (tag {entry.tag})")
        else:
            table = variants[entry.name] = {}
            functions[entry.name] = _record_decoder(table, _describe_type(entry))
    functions["Access"] = _nested_decoder(functions["Access"])
    functions["TensorName"] = _shared_decoder(functions["TensorName"])
    for entry in TYPES.values():
        for record in entry.records:
            constructor = record.constructor
            for layout in Layout if constructor.is_readable else ():
                fields = [_field_decoder(constructor, field, layout, functions) for field in constructor.fields]
                if constructor.count(Layout.NXCC_2_24) != constructor.count(Layout.HEAD):
                    fields[0] = _layout_decoder(fields[0], constructor, layout)
                variants[entry.name][constructor.header(layout)] = record, fields
    return functions


def _record_decoder(variants: dict[bytes, tuple[type[Record], list[Decode]]], expected: str) -> Decode:
    find = variants.get

    def decode(reader: Reader) -> Record:
        pos = reader.pos
        variant = find(reader.data[pos : pos + 4])
        if variant is None:
            reader.fail(expected)
        reader.pos = pos + 4
        record, fields = variant
        return record([field(reader) for field in fields])

    return decode


def _enum_decoder(members: dict[bytes, str], expected: str) -> Decode:
    find = members.get

    def decode(reader: Reader) -> str:
        pos = reader.pos
        member = find(reader.data[pos : pos + 4])
        if member is None:
            reader.fail(expected)
        reader.pos = pos + 4
        return member

    return decode


def _nested_decoder(decode_access: Decode) -> Decode:
    """Accesses are the one type that can hold itself: their depth is limited before Python's stack is."""

    def decode(reader: Reader) -> Any:
        if reader.depth == MAX_ACCESS_DEPTH:
            raise NkiError(
                f"accesses nest more than {MAX_ACCESS_DEPTH} deep in their run-time offsets",
                reader.location(reader.pos),
            )
        reader.depth += 1
        access = decode_access(reader)
        reader.depth -= 1
        return access

    return decode


def _shared_decoder(decode_tensor: Decode) -> Decode:
    """Looks first whether the tensor of this name was read before from the same bytes."""

    def decode(reader: Reader) -> Any:
        data, start = reader.data, reader.pos
        length = data[start + 4] - 0x60 if start < reader.end else 0
        name = data[start + 4 : start + 5 + length] if length < 24 else data[start + 4 : start + 6 + data[start + 5]]
        known = reader.tensors.get(name)
        if known is not None and data.startswith(known[0], start):
            reader.pos = start + len(known[0])
            return known[1]
        tensor = decode_tensor(reader)
        reader.tensors[name] = data[start : reader.pos], tensor
        return tensor

    return decode


def _layout_decoder(decode_field: Decode, constructor: Constructor, layout: Layout) -> Decode:
    """The first field of a record whose header count tells the layout."""

    def decode(reader: Reader) -> Any:
        if reader.layout is None:
            reader.layout = layout
        elif reader.layout is not layout:
            raise NkiError(
                f"{constructor} has {constructor.count(layout)} fields as in {layout.title}, "
                f"but an earlier record of the file has the layout of {reader.layout.title}",
                reader.location(reader.pos - 4),
            )
        return decode_field(reader)

    return decode


def _field_decoder(constructor: Constructor, field: Field, layout: Layout, decoders: Mapping[str, Decode]) -> Decode:
    if field.since > layout:
        default = field.default
        return lambda reader: default
    decode = _type_decoder(field.type, f"{constructor}.{field.name}", decoders)
    return _proofs_decoder(decode, field.proofs, str(constructor)) if field.proofs else decode


def _proofs_decoder(decode_field: Decode, count: int, owner: str) -> Decode:
    def decode(reader: Reader) -> Any:
        value = decode_field(reader)
        if reader.proof_bytes is None:
            reader.proof_bytes = reader.data[reader.pos] == EMPTY_LIST
        if reader.proof_bytes:
            for _ in range(count):
                if reader.data[reader.pos] != EMPTY_LIST:
                    reader.fail(f"an empty list for a proof of {owner}, as earlier in the file")
                reader.pos += 1
        return value

    return decode


def _type_decoder(kind: FieldType, label: str, decoders: Mapping[str, Decode]) -> Decode:
    if kind.optional:
        return _option_decoder(_type_decoder(kind.inner, label, decoders), f"an option of {kind.inner} for {label}")
    if kind.lists:
        return _list_decoder(_type_decoder(kind.inner, label, decoders), f"a list of {kind.inner} for {label}")
    if kind.name in INTEGERS:
        limits, expected = INTEGERS[kind.name]
        return _integer_decoder(limits, f"{expected} for {label}")
    scalars = {"Bool": _bool_decoder, "Float32": _float_decoder, "String": _string_decoder}
    return scalars[kind.name](label) if kind.name in scalars else decoders[kind.name]


def _option_decoder(decode_value: Decode, expected: str) -> Decode:
    def decode(reader: Reader) -> Any:
        pos = reader.pos
        head = reader.data[pos : pos + 4]
        if head == NONE:
            reader.pos = pos + 4
            return None
        if head != SOME:
            reader.fail(expected)
        reader.pos = pos + 4
        return decode_value(reader)

    return decode


def _list_decoder(decode_item: Decode, expected: str) -> Decode:
    def decode(reader: Reader) -> tuple[Any, ...]:
        start = reader.pos
        count = reader.head(LIST, expected)
        rest = reader.end - reader.pos
        if count > rest:
            raise NkiError(
                f"expected {expected}, found one that claims {count} elements with {rest} bytes left in the file",
                reader.location(start),
            )
        return tuple([decode_item(reader) for _ in range(count)])

    return decode


def _integer_decoder(limits: range, expected: str) -> Decode:
    signed = limits.start < 0

    def decode(reader: Reader) -> int:
        start = reader.pos
        first = reader.data[start]
        if first < 24:
            reader.pos = start + 1
            return first
        if signed and first >> 5 == NEGATIVE:
            number = -1 - reader.head(NEGATIVE, expected)
        else:
            number = reader.head(UNSIGNED, expected)
        if number not in limits:
            reader.fail(expected, start)
        return number

    return decode


def _bool_decoder(label: str) -> Decode:
    expected = f"a Boolean for {label}"

    def decode(reader: Reader) -> bool:
        first = reader.data[reader.pos]
        if first not in (FALSE, TRUE):
            reader.fail(expected)
        reader.pos += 1
        return first == TRUE

    return decode


def _float_decoder(label: str) -> Decode:
    expected = f"a 32-bit float for {label}"

    def decode(reader: Reader) -> float:
        start = reader.pos
        if reader.data[start] != FLOAT32:
            reader.fail(expected)
        if start + 5 > reader.end:
            reader.fail(expected, reader.end)
        reader.pos = start + 5
        return float_from_bits(reader.data[start + 1 : start + 5])

    return decode


def _string_decoder(label: str) -> Decode:
    expected = f"a text of at most {MAX_STRING} bytes for {label}"

    def decode(reader: Reader) -> str:
        start = reader.pos
        length = reader.head(TEXT, expected)
        stop = reader.pos + length
        if length > MAX_STRING:
            reader.fail(expected, start)
        if stop > reader.end:
            reader.fail(f"{length} bytes of text for {label}", reader.end)
        encoded = reader.data[reader.pos : stop]
        text = reader.strings.get(encoded)
        if text is None:
            try:
                text = encoded.decode()
            except UnicodeDecodeError as error:
                raise NkiError(
                    f"expected UTF-8 text for {label}, found the byte {encoded[error.start]:02x} ({error.reason})",
                    reader.location(reader.pos + error.start),
                ) from None
            reader.strings[encoded] = text
        reader.pos = stop
        return text

    return decode

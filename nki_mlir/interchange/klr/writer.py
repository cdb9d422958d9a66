"""Turns the table into functions that write, and holds the state of writing one file."""

import reprlib
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, NoReturn, cast

from nki_mlir.diagnostics import NkiError
from nki_mlir.interchange.klr.cbor import (
    EMPTY_LIST,
    FALSE,
    FLOAT32,
    INTEGERS,
    LIST,
    MAX_ACCESS_DEPTH,
    MAX_STRING,
    NEGATIVE,
    NONE,
    SOME,
    TEXT,
    TRUE,
    UNSIGNED,
    bits_from_float,
    head,
)
from nki_mlir.interchange.klr.schema import TYPES, Constructor, Field, FieldType, Layout, Record


class Writer:
    """The state of writing one file."""

    __slots__ = ("depth", "out", "tensors")

    def __init__(self) -> None:
        self.out = bytearray()
        self.depth = 0
        # By identity: a file that was read, or built with care, has one object for each tensor.
        self.tensors: dict[int, bytes] = {}


Encode = Callable[[Writer, Any], None]


def unfit(expected: str, value: object) -> NoReturn:
    got = str(value.constructor) if isinstance(value, Record) else reprlib.repr(value)
    raise NkiError(f"cannot write KLR: expected {expected}, got {got}")


@cache
def encoders(layout: Layout, proof_bytes: bool) -> Mapping[str, Encode]:
    """One function for each type of the table that writes a value."""
    variants: dict[str, dict[type[Record], tuple[bytes, list[Encode]]]] = {}
    functions: dict[str, Encode] = {}
    for entry in TYPES.values():
        if entry.is_enum:
            members = {ctor.name: ctor.header(layout) for ctor in entry.constructors}
            functions[entry.name] = _enum_encoder(members, f"a member of {entry.name}")
        else:
            table = variants[entry.name] = {}
            functions[entry.name] = _record_encoder(table, f"a value of {entry.name}")
    functions["Access"] = _nested_encoder(functions["Access"])
    functions["TensorName"] = _shared_encoder(functions["TensorName"])
    for entry in TYPES.values():
        for record in entry.records:
            constructor = record.constructor
            if constructor.is_readable:
                fields = [
                    _field_encoder(constructor, field, layout, proof_bytes, functions) for field in constructor.fields
                ]
                variants[entry.name][record] = constructor.header(layout), fields
    return functions


def _record_encoder(variants: dict[type[Record], tuple[bytes, list[Encode]]], expected: str) -> Encode:
    def encode(writer: Writer, value: Any) -> None:
        variant = variants.get(value.__class__)
        if variant is None or len(value) != len(variant[1]):
            unfit(expected, value)
        header, fields = variant
        writer.out += header
        for field, item in zip(fields, value, strict=True):
            field(writer, item)

    return encode


def _enum_encoder(members: dict[str, bytes], expected: str) -> Encode:
    def encode(writer: Writer, value: Any) -> None:
        header = members.get(value) if isinstance(value, str) else None
        if header is None:
            unfit(expected, value)
        writer.out += header

    return encode


def _nested_encoder(encode_access: Encode) -> Encode:
    def encode(writer: Writer, value: Any) -> None:
        if writer.depth == MAX_ACCESS_DEPTH:
            raise NkiError(
                f"cannot write KLR: accesses nest more than {MAX_ACCESS_DEPTH} deep in their run-time offsets"
            )
        writer.depth += 1
        encode_access(writer, value)
        writer.depth -= 1

    return encode


def _shared_encoder(encode_tensor: Encode) -> Encode:
    def encode(writer: Writer, value: Any) -> None:
        known = writer.tensors.get(id(value))
        if known is None:
            start = len(writer.out)
            encode_tensor(writer, value)
            writer.tensors[id(value)] = bytes(writer.out[start:])
        else:
            writer.out += known

    return encode


def _field_encoder(
    constructor: Constructor, field: Field, layout: Layout, proof_bytes: bool, encoders: Mapping[str, Encode]
) -> Encode:
    label = f"{constructor}.{field.name}"
    if field.since > layout:
        return _absent_encoder(field, label, layout)
    encode = _type_encoder(field.type, label, encoders)
    return _proofs_encoder(encode, field.proofs) if field.proofs and proof_bytes else encode


def _absent_encoder(field: Field, label: str, layout: Layout) -> Encode:
    def encode(_writer: Writer, value: Any) -> None:
        if value != field.default:
            unfit(f"{field.default} for {label}, which {layout.title} does not have", value)

    return encode


def _proofs_encoder(encode_field: Encode, count: int) -> Encode:
    proofs = bytes((EMPTY_LIST,)) * count

    def encode(writer: Writer, value: Any) -> None:
        encode_field(writer, value)
        writer.out += proofs

    return encode


def _type_encoder(kind: FieldType, label: str, encoders: Mapping[str, Encode]) -> Encode:
    if kind.optional:
        return _option_encoder(_type_encoder(kind.inner, label, encoders))
    if kind.lists:
        return _list_encoder(_type_encoder(kind.inner, label, encoders), f"a tuple of {kind.inner} for {label}")
    if kind.name in INTEGERS:
        limits, expected = INTEGERS[kind.name]
        return _integer_encoder(limits, f"{expected} for {label}")
    scalars = {"Bool": _bool_encoder, "Float32": _float_encoder, "String": _string_encoder}
    return scalars[kind.name](label) if kind.name in scalars else encoders[kind.name]


def _option_encoder(encode_value: Encode) -> Encode:
    def encode(writer: Writer, value: Any) -> None:
        if value is None:
            writer.out += NONE
        else:
            writer.out += SOME
            encode_value(writer, value)

    return encode


def _list_encoder(encode_item: Encode, expected: str) -> Encode:
    def encode(writer: Writer, value: Any) -> None:
        if type(value) is not tuple:
            unfit(expected, value)
        items = cast("tuple[Any, ...]", value)
        writer.out += head(LIST, len(items))
        for item in items:
            encode_item(writer, item)

    return encode


def _integer_encoder(limits: range, expected: str) -> Encode:
    def encode(writer: Writer, value: Any) -> None:
        if type(value) is not int or value not in limits:
            unfit(expected, value)
        if 0 <= value < 24:
            writer.out.append(value)
        else:
            writer.out += head(UNSIGNED, value) if value >= 0 else head(NEGATIVE, -1 - value)

    return encode


def _bool_encoder(label: str) -> Encode:
    def encode(writer: Writer, value: Any) -> None:
        if not isinstance(value, bool):
            unfit(f"a Boolean for {label}", value)
        writer.out.append(TRUE if value else FALSE)

    return encode


def _float_encoder(label: str) -> Encode:
    def encode(writer: Writer, value: Any) -> None:
        bits = bits_from_float(value) if isinstance(value, float) else None
        if bits is None:
            unfit(f"a float of at most 32 bits for {label}", value)
        writer.out.append(FLOAT32)
        writer.out += bits

    return encode


def _string_encoder(label: str) -> Encode:
    def encode(writer: Writer, value: Any) -> None:
        try:
            encoded = value.encode() if isinstance(value, str) else None
        except UnicodeEncodeError:
            encoded = None
        if encoded is None or len(encoded) > MAX_STRING:
            unfit(f"a text of at most {MAX_STRING} bytes of UTF-8 for {label}", value)
        writer.out += head(TEXT, len(encoded))
        writer.out += encoded

    return encode

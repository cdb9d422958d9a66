"""Reads and writes KLR files: CBOR with the record table of `schema`.

A KLR file says neither which layout of the table it has nor which of two ways it treats proofs; both show in the bytes:

- Four records have other header counts in each layout. The first of them decides, the others have to agree. A file
  without any of them is the same in both layouts and counts as `Layout.HEAD`.
- KLR leaves out the bytes of proofs, which its headers count; its C++ writer puts an empty array for each. The first
  tensor decides: an empty array cannot stand where the Boolean after its proofs is due.

Whatever is read can be written again to the same bytes, so there must be one way to write a value: numbers have to be
in their shortest form, as KLR itself writes them.

Source: KLR reference, §3.1 to §3.4.
"""

import dataclasses
from dataclasses import dataclass
from typing import Any, cast

from nki_mlir.diagnostics import NkiError
from nki_mlir.interchange.klr.cbor import TEXT
from nki_mlir.interchange.klr.reader import Reader, decoders
from nki_mlir.interchange.klr.schema import NOT_LOWERED, TYPES, Layout, Record, make
from nki_mlir.interchange.klr.writer import Writer, encoders, unfit

VERSION = (0, 0, 12)
"""The only version there is: it did not change when the layout did."""


@dataclass(frozen=True, slots=True)
class KlrFile:
    """What a file holds. `contents` is `Contents.lnc` or `Contents.kernel`; either has the field `kernel`.

    `proof_bytes` tells the form that KLR's C++ writer gives to proofs, `name` is that of the file, for messages.
    """

    version: tuple[int, int, int]
    metadata: str
    contents: Record
    layout: Layout = Layout.HEAD
    proof_bytes: bool = False
    name: str = dataclasses.field(default="<klr>", compare=False)


def read_klr(data: bytes, filename: str) -> KlrFile:
    """Reads a KLR file with a lowered kernel, in either layout.

    Raises NkiError with the byte's place for anything that is not such a file, to its last byte.
    """
    reader = Reader(data, filename)
    decode = decoders()
    magic = TYPES["KLRFile"].constructors[0].header(Layout.HEAD)
    if not data.startswith(magic):
        found = data[: len(magic)].hex(" ") or "an empty file"
        raise NkiError(f"expected a KLR file, which starts with {magic.hex(' ')}, found {found}", reader.location(0))
    major, minor, patch = decode["KLRFile"](reader)
    version = (major, minor, patch)
    if version != VERSION:
        raise NkiError(
            f"expected KLR version {_dotted(VERSION)}, found {_dotted(version)}", reader.location(len(magic))
        )
    metadata: str = decode["KLRMetaData"](reader).format
    _check_contents(reader)
    contents: Record = decode["Contents"](reader)
    if reader.pos < reader.end:
        rest = reader.end - reader.pos
        raise NkiError(
            f"expected the end of the file after the kernel, found {rest} more bytes", reader.location(reader.pos)
        )
    return KlrFile(version, metadata, contents, reader.layout or Layout.HEAD, bool(reader.proof_bytes), filename)


def write_klr(file: KlrFile, layout: Layout | None = None) -> bytes:
    """Returns the bytes of a file, in its own layout or another.

    Raises NkiError for a value that does not fit its field, and for a field with a meaning that an older layout
    cannot express. A number of a Float32 field is rounded to the nearest one.
    """
    if file.version != VERSION:
        unfit(f"version {_dotted(VERSION)}", file.version)
    writer = Writer()
    encode = encoders(file.layout if layout is None else layout, file.proof_bytes)
    encode["KLRFile"](writer, make("KLRFile", major=VERSION[0], minor=VERSION[1], patch=VERSION[2]))
    encode["KLRMetaData"](writer, make("KLRMetaData", format=file.metadata))
    encode["Contents"](writer, file.contents)
    return bytes(writer.out)


def to_json(value: Any, layout: Layout = Layout.HEAD) -> Any:
    """Returns a file, or a value out of one, as JSON data with the fields of `layout` (for a file: its own).

    A record is an object of its fields, a constructor its name or `{name: {field: value}}`, and an option null or
    `{"some": value}`.
    """
    if isinstance(value, KlrFile):
        major, minor, patch = value.version
        return {
            "file": {"major": major, "minor": minor, "patch": patch},
            "meta": {"format": value.metadata},
            "contents": to_json(value.contents, value.layout),
        }
    if isinstance(value, Record):
        return _record_to_json(value, layout)
    if isinstance(value, tuple):
        return [to_json(item, layout) for item in cast("tuple[Any, ...]", value)]
    return value


def _record_to_json(record: Record, layout: Layout) -> Any:
    fields: dict[str, Any] = {}
    for field, value in zip(record.constructor.fields, record, strict=True):
        if field.since <= layout:
            rendered = to_json(value, layout)
            fields[field.name] = {"some": rendered} if field.type.optional and value is not None else rendered
    if not record.ctor:
        return fields
    return {record.ctor: fields} if fields else record.ctor


def _dotted(version: tuple[int, int, int]) -> str:
    return ".".join(map(str, version))


def _check_contents(reader: Reader) -> None:
    """Says what a file holds that is valid but not lowered.

    In the files of the klr-lang 0.0.12 package, the name of a call site has the number that `kernel` has now.
    """
    start = reader.pos
    for constructor in TYPES["Contents"].constructors:
        if reader.data.startswith(constructor.header(Layout.HEAD), start):
            name = "hlo" if constructor.name == "kernel" and reader.data[start + 4] >> 5 == TEXT else constructor.name
            if name in NOT_LOWERED:
                raise NkiError(
                    f"expected a lowered kernel (Contents.lnc or Contents.kernel), found {NOT_LOWERED[name]}",
                    reader.location(start),
                )

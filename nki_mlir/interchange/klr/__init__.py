"""KLR kernel files: the table of the format, and the reader and writer of its CBOR form."""

from nki_mlir.interchange.klr.codec import KlrFile, read_klr, to_json, write_klr
from nki_mlir.interchange.klr.schema import Layout, Record, make

__all__ = ["KlrFile", "Layout", "Record", "make", "read_klr", "to_json", "write_klr"]

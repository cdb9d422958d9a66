"""The pieces of CBOR that KLR files are made of, and the limits of KLR's own readers.

Source: KLR reference, §3.2.
"""

import struct

MAX_STRING = 65536
"""The longest string, in bytes, that KLR's C++ reader takes."""

MAX_ACCESS_DEPTH = 32
"""How deep accesses may nest through their run-time offsets; KLR's tracer makes two levels."""

# KLR's C++ reader, which the compiler uses, keeps 32 bits of a number: a larger one would silently become another.
_NAT = range(2**32)
_INT = range(-(2**31), 2**31)
INTEGERS = {
    "Nat": (_NAT, "an unsigned integer of at most 32 bits"),
    "Reg": (_NAT, "a register number of at most 32 bits"),
    "Int": (_INT, "a signed integer of at most 32 bits"),
    "Int32": (_INT, "a signed integer of at most 32 bits"),
}
"""The range of each integer type, and how a message names it."""

HEADER = 0xD9
"""The first byte of every record, enum member and option: a tag whose number takes two bytes."""

NONE = b"\xd9\xff\x00\x80"
SOME = b"\xd9\xff\x01\x81"
EMPTY_LIST = 0x80
FALSE, TRUE, FLOAT32 = 0xF4, 0xF5, 0xFA

UNSIGNED, NEGATIVE, BYTES, TEXT, LIST, MAP = range(6)
"""The major types, which are the upper three bits of a head."""

LONG_HEADS = {24: (1, 24), 25: (2, 2**8), 26: (4, 2**16), 27: (8, 2**32)}
"""For the lower five bits of a long head: how many bytes of number follow, and the smallest number that needs them."""


def head(major: int, number: int) -> bytes:
    """Returns the shortest head of a number."""
    if number < 24:
        return bytes((major << 5 | number,))
    short, size = next((short, size) for short, (size, _) in LONG_HEADS.items() if number < 1 << 8 * size)
    return bytes((major << 5 | short,)) + number.to_bytes(size, "big")


# Float32 values are Python floats, which hold them exactly. NaNs are moved bit by bit, because a conversion between
# the widths would set the bit that tells quiet from signalling ones.


def float_from_bits(bits: bytes) -> float:
    value: float = struct.unpack(">f", bits)[0]
    if value == value:
        return value
    number = int.from_bytes(bits, "big")
    wide = (number >> 31) << 63 | 0x7FF << 52 | (number & 0x7FFFFF) << 29
    return struct.unpack(">d", wide.to_bytes(8, "big"))[0]


def bits_from_float(value: float) -> bytes | None:
    """Returns None for a number that is too large."""
    if value == value:
        try:
            return struct.pack(">f", value)
        except OverflowError:
            return None
    wide = int.from_bytes(struct.pack(">d", value), "big")
    payload = wide >> 29 & 0x7FFFFF or 1 << 22
    return ((wide >> 63) << 31 | 0xFF << 23 | payload).to_bytes(4, "big")

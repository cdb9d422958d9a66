"""Arrays in .npy files, and inputs made up by a recipe.

numpy has no names for bf16 and fp8: it saves them as raw elements of their size (`V2`, `V1`), which `numpy.load` gives
back as such and `.view(ml_dtypes.bfloat16)` reads. Reading restores them by the dtype that the tensor has. One of them,
float8_e5m2, has a name in the files of `numpy.save`, `f1`, but `numpy.load` does not read it.
"""

import re
from struct import Struct
from typing import IO, Any, cast

import numpy as np
from numpy.lib import format as npy

from nki_mlir.diagnostics import ByteLocation, NkiError
from nki_mlir.isa.dtypes import Dtype
from nki_mlir.simulator.machine import array_form
from nki_mlir.simulator.memory import Array

RECIPES = ("random", "zeros", "ones", "arange")
DEFAULT_SEED = 0
_SEED = re.compile(r"[0-9]{1,18}")
_MOST_HEADER = 1 << 16


def write_npy(file: IO[bytes], array: Array) -> None:
    """Writes an array so that `numpy.load` can read it."""
    raw = array if array.dtype.isbuiltin == 1 else array.view(f"V{array.dtype.itemsize}")
    npy.write_array(file, raw, allow_pickle=False)


def read_npy(data: bytes, shape: tuple[int, ...], dtype: Dtype, name: str) -> Array:
    """Returns the array in the bytes of a .npy file, which must have the given shape and dtype, in either byte order.

    Truth values are read as 0 and 1 where u8 is expected, as which kernels have them.

    Raises NkiError that calls the file `name` if it is none, or holds something else; nothing is allocated on its word,
    and its header is read as text that numpy writes, never evaluated.
    """
    description, fortran, found_shape, start = _read_header(data, name)
    wanted, found = dtype.numpy, _described(description)
    raw = wanted.isbuiltin != 1 and found == np.dtype(f"V{wanted.itemsize}")
    same = found is not None and (found.newbyteorder("=") == wanted or (found == np.bool_ and wanted == np.uint8))
    if found_shape != shape or not (raw or same):
        held = array_form(found_shape, found) if found is not None else f"{description[:40]}{list(found_shape)}"
        message = f"'{name}' holds {held}, expected {array_form(shape, wanted)}"
        raise NkiError(message, ByteLocation(name, start))
    content = data[start:]
    size = int(np.prod(shape, dtype=object)) * wanted.itemsize
    if len(content) < size:
        message = f"'{name}' is cut off: expected {size} bytes of elements, found {len(content)}"
        raise NkiError(message, ByteLocation(name, len(data)))
    stored = wanted if raw or found is None else found
    array: Array = np.frombuffer(bytearray(content[:size]), stored)
    return array.astype(wanted, copy=False).reshape(shape, order="F" if fortran else "C")


def _read_header(data: bytes, name: str) -> tuple[str, bool, tuple[int, ...], int]:
    """Returns description of the type, order, shape and the position of the first element of a .npy file."""

    def fail(expected: str, position: int, found: bytes | str) -> NkiError:
        shown = found if isinstance(found, str) else repr(found[:40])[1:] if found else "the end of the file"
        message = f"'{name}' is no .npy file: expected {expected}, found {shown}"
        return NkiError(message, ByteLocation(name, position))

    if not data.startswith(npy.MAGIC_PREFIX):
        raise fail("\\x93NUMPY", 0, data[: len(npy.MAGIC_PREFIX)])
    at = len(npy.MAGIC_PREFIX)
    length = _LENGTHS.get(data[at : at + 2])
    if length is None:
        raise fail("version 1.0, 2.0 or 3.0", at, data[at : at + 2])
    at += 2
    if len(data) < at + length.size:
        raise fail("the length of the header", at, data[at:])
    size = length.unpack_from(data, at)[0]
    at += length.size
    if size > _MOST_HEADER:
        raise fail(f"a header of at most {_MOST_HEADER} bytes", at, f"one of {size} bytes")
    if size > len(data) - at:
        raise fail(f"a header of {size} bytes", at, f"{len(data) - at} bytes")
    match = _HEADER.fullmatch(data, at, at + size)
    if match is None:
        raise fail("a header {'descr': …, 'fortran_order': …, 'shape': …}", at, data[at : at + size])
    description, order, sizes = (part.decode("latin-1") for part in match.groups())
    shape = tuple(int(part) for part in sizes.replace("L", "").split(",") if part.strip())
    return description, order == "True", shape, at + size


def _described(description: str) -> "np.dtype[Any] | None":
    """Returns the dtype that a header describes, None for records and for what numpy does not have."""
    match = _SIMPLE_TYPE.fullmatch(description)
    if match is None:
        return None
    if match[2] == _FLOAT8_E5M2:
        return Dtype.F8E5.numpy
    try:
        return np.dtype(match[1])
    except (TypeError, ValueError):
        return None


_LENGTHS = {b"\1\0": Struct("<H"), b"\2\0": Struct("<I"), b"\3\0": Struct("<I")}
_HEADER = re.compile(
    rb"\{'descr': *([^\n]+?), *'fortran_order': *(True|False), *'shape': *"
    rb"\(((?:\d{1,18}L?, *)*(?:\d{1,18}L?)?)\) *,? *\} *\n?"
)
_SIMPLE_TYPE = re.compile(r"'([<>|=]?([A-Za-z]\d{0,6}))'")
_FLOAT8_E5M2 = "f1"


def made_input(recipe: str, name: str, shape: tuple[int, ...], dtype: Dtype) -> Array | None:
    """Returns the array that a recipe makes for the input `name`, None if the text is no recipe.

    zeros, ones; arange (0, 1, 2, … in row-major order, modulo what the dtype holds exactly); random or random:SEED
    (floats uniform in [-1, 1), integers over the whole range, the bits of x4 types; equal for equal seeds and names).
    """
    kind, colon, seed = recipe.partition(":")
    if kind not in RECIPES or (colon and (kind != "random" or not _SEED.fullmatch(seed))):
        return None
    wanted, count = dtype.numpy, int(np.prod(shape, dtype=np.int64))
    if kind == "random":
        generator = np.random.default_rng([int(seed) if seed else DEFAULT_SEED, *name.encode()])
        values: Any = (
            generator.uniform(-1, 1, count)
            if dtype.is_float
            else np.frombuffer(generator.bytes(count * wanted.itemsize), wanted)
        )
    elif kind == "arange":
        values = np.arange(count) % _exact_integers(dtype)
    else:
        values = np.full(count, kind == "ones", np.uint8)
    with np.errstate(all="ignore"):
        return np.array(values).astype(wanted).reshape(shape)


def _exact_integers(dtype: Dtype) -> int:
    """Returns how many integers from 0 on the dtype has without a gap."""
    if not dtype.is_float:
        return 1 << min(8 * dtype.size - dtype.is_signed, 62)
    import ml_dtypes

    information = cast(Any, ml_dtypes).finfo(dtype.numpy)
    return int(min(2 ** (int(information.nmant) + 1), float(information.max))) + 1

"""Arrays in .npy files, and inputs made up by a recipe.

numpy has no names for bf16 and fp8: it saves them as raw elements of their size (`V2`, `V1`), which `numpy.load` gives
back as such and `.view(ml_dtypes.bfloat16)` reads. Reading restores them by the dtype that the tensor has.
"""

import io
import warnings
from typing import IO, Any, cast

import numpy as np
from numpy.lib import format as npy

from nki_mlir.diagnostics import NkiError
from nki_mlir.isa.dtypes import Dtype
from nki_mlir.simulator.machine import array_form
from nki_mlir.simulator.memory import Array

RECIPES = ("random", "zeros", "ones", "arange")
DEFAULT_SEED = 0
_MOST_HEADER = 1 << 16


def write_npy(file: IO[bytes], array: Array) -> None:
    """Writes an array so that `numpy.load` can read it."""
    raw = array if array.dtype.isbuiltin == 1 else array.view(f"V{array.dtype.itemsize}")
    npy.write_array(file, raw, allow_pickle=False)


def read_npy(data: bytes, shape: tuple[int, ...], dtype: Dtype, name: str) -> Array:
    """Returns the array in the bytes of a .npy file, which must have the given shape and dtype.

    Raises NkiError that calls the file `name` if it is none, or holds something else; nothing is allocated on its word.
    """
    stream = io.BytesIO(data)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            version = npy.read_magic(stream)
            read_header = npy.read_array_header_1_0 if version[0] == 1 else npy.read_array_header_2_0
            found_shape, fortran, found = read_header(stream, max_header_size=_MOST_HEADER)
    except (ValueError, EOFError) as error:
        raise NkiError(f"'{name}' is no .npy file: {' '.join(str(error).split())}") from None
    wanted = dtype.numpy
    raw = wanted.isbuiltin != 1 and found == np.dtype(f"V{wanted.itemsize}")
    if tuple(found_shape) != shape or not (raw or found == wanted):
        raise NkiError(f"'{name}' holds {array_form(found_shape, found)}, expected {array_form(shape, wanted)}")
    content = data[stream.tell() :]
    size = int(np.prod(shape, dtype=object)) * wanted.itemsize
    if len(content) < size:
        raise NkiError(f"'{name}' is cut off: expected {size} bytes of elements, found {len(content)}")
    array = np.frombuffer(bytearray(content[:size]), np.uint8).view(wanted)
    return array.reshape(shape, order="F" if fortran else "C")


def made_input(recipe: str, name: str, shape: tuple[int, ...], dtype: Dtype) -> Array | None:
    """Returns the array that a recipe makes for the input `name`, None if the text is no recipe.

    zeros, ones; arange (0, 1, 2, … in row-major order, modulo what the dtype holds exactly); random or random:SEED
    (floats uniform in [-1, 1), integers over the whole range, the bits of x4 types; equal for equal seeds and names).
    """
    kind, colon, seed = recipe.partition(":")
    if kind not in RECIPES or (colon and (kind != "random" or not seed.isascii() or not seed.isdigit())):
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

"""Where in the user's source something was recorded.

A recorded instruction keeps `Frames`: code object and instruction offset of every frame of the user's, innermost first.
They are interned (kernels record thousands of instructions at few places) and turned into lines and columns only when
somebody prints them. All frames are kept, because most instructions of a library are recorded in helper functions.
"""

import os
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path
from types import CodeType, TracebackType
from typing import NamedTuple, TypeVar

from nki_mlir.diagnostics import Location

Frame = tuple[CodeType, int]
Frames = tuple[Frame, ...]
Function = TypeVar("Function", bound=Callable[..., object])

_PACKAGE = str(Path(__file__).resolve().parent.parent) + os.sep
_STANDARD_LIBRARY = sysconfig.get_path("stdlib") + os.sep
_INSTALLED = f"{os.sep}site-packages{os.sep}"
_CALLED = ("numpy", "ml_dtypes", "xdsl")
"""Installed packages that kernels and this package call; in others there may be kernels."""

# Code objects are told apart by id, since their own hash runs over all constants; `_codes` keeps them alive.
_own_files: dict[str, bool] = {}
_entries: dict[int, CodeType] = {}
_codes: dict[int, CodeType] = {}
_interned: dict[tuple[int, ...], Frames] = {}


class Place(NamedTuple):
    """A range of source; lines and columns count from 1, 0 means unknown."""

    file: str
    function: str
    line: int
    column: int
    end_line: int
    end_column: int

    @property
    def location(self) -> Location:
        return Location(self.file, self.line, self.column)


def entry(function: Function) -> Function:
    """Marks the function that calls the kernel: frames are collected up to it."""
    code = function.__code__
    _entries[id(code)] = code
    return function


def is_own(code: CodeType) -> bool:
    """Whether `code` is none of the user's: it belongs to this package, to Python or to a package that they call."""
    name = code.co_filename
    own = _own_files.get(name)
    if own is None:
        _, installed, inside = name.partition(_INSTALLED)
        called = inside.split(os.sep)[0] in _CALLED if installed else name.startswith(_STANDARD_LIBRARY)
        own = _own_files[name] = called or name.startswith((_PACKAGE, "<frozen "))
    return own


def of_user(traceback: TracebackType | None) -> TracebackType | None:
    """Returns a traceback without the frames of this package; the traceback itself is changed."""
    kept: TracebackType | None = None
    first: TracebackType | None = None
    while traceback is not None:
        if not traceback.tb_frame.f_code.co_filename.startswith(_PACKAGE):
            if kept is None:
                first = traceback
            else:
                kept.tb_next = traceback
            kept = traceback
        traceback = traceback.tb_next
    if kept is not None:
        kept.tb_next = None
    return first


def here(depth: int = 1) -> Frames:
    """Returns the user's frames, innermost first, from `depth` frames above this one: 1 is the caller.

    The walk ends at the function marked by `entry`, or at the bottom of the stack.
    """
    frame = sys._getframe(depth)  # pyright: ignore[reportPrivateUsage]
    own_files = _own_files
    if own_files.get(frame.f_code.co_filename) and frame.f_back is not None:  # the API's function
        frame = frame.f_back
        depth += 1
    caller = frame.f_back
    if caller is not None and id(caller.f_code) in _entries:  # the kernel's own function, the most frequent case
        known = _interned.get((id(frame.f_code), frame.f_lasti))
        if known is not None:
            return known
    key: list[int] = []
    while frame is not None:
        code = frame.f_code
        identity = id(code)
        if identity in _entries:
            break
        own = own_files.get(code.co_filename)
        if own is None:
            own = is_own(code)
        if not own:
            key += (identity, frame.f_lasti)
        frame = frame.f_back
    interned = _interned.get(tuple(key))
    return _intern(depth + 1, tuple(key)) if interned is None else interned


def called() -> str:
    """Returns the name of the function of ours that the user's code has called."""
    frame, name = sys._getframe(1), ""  # pyright: ignore[reportPrivateUsage]
    while frame is not None and is_own(frame.f_code):
        name = frame.f_code.co_name
        frame = frame.f_back
    return name


def _intern(depth: int, key: tuple[int, ...]) -> Frames:
    frame = sys._getframe(depth)  # pyright: ignore[reportPrivateUsage]
    wanted = set(key[::2])
    while frame is not None:
        if id(frame.f_code) in wanted:
            _codes[id(frame.f_code)] = frame.f_code
        frame = frame.f_back
    frames = tuple((_codes[code], offset) for code, offset in zip(key[::2], key[1::2], strict=True))
    return _interned.setdefault(key, frames)


def raised_at(traceback: TracebackType | None) -> Location | None:
    """Returns the innermost place of a traceback in the user's code."""
    found: Location | None = None
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if not is_own(code):
            found = _place(code, traceback.tb_lasti).location
        traceback = traceback.tb_next
    return found


def resolve(frames: Frames) -> list[Place]:
    """The source ranges of `frames`, innermost first."""
    return [_place(code, offset) for code, offset in frames]


def innermost(frames: Frames) -> Location | None:
    """Where the user's code was, or None without any frame of the user's."""
    return _place(*frames[0]).location if frames else None


def _place(code: CodeType, offset: int) -> Place:
    line = end_line = column = end_column = None
    for index, position in enumerate(code.co_positions()):
        if index == offset // 2:
            line, end_line, column, end_column = position
            break
    first = code.co_firstlineno if line is None else line
    return Place(
        code.co_filename,
        code.co_qualname,
        first,
        0 if column is None else column + 1,
        first if end_line is None else end_line,
        0 if end_column is None else end_column + 1,
    )

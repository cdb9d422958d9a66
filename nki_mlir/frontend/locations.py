"""Where in the user's source something was recorded.

A recorded instruction keeps `Frames`: code object and instruction offset of every frame of the user's, innermost first.
They are interned (kernels record thousands of instructions at few places) and turned into lines and columns only when
somebody prints them. All frames are kept, because most instructions of a library are recorded in helper functions.
"""

import sys
from collections.abc import Callable
from pathlib import Path
from types import CodeType
from typing import NamedTuple, TypeVar

from nki_mlir.diagnostics import Location

Frame = tuple[CodeType, int]
Frames = tuple[Frame, ...]
Function = TypeVar("Function", bound=Callable[..., object])

_OWN_FILES = str(Path(__file__).resolve().parent.parent)
_OURS, _USERS, _ENTRY = 0, 1, 2

# Code objects are looked up by id: their own hash runs over all constants. Each entry keeps its code object alive.
_kinds: dict[int, tuple[int, CodeType]] = {}
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
    _kinds[id(code)] = (_ENTRY, code)
    return function


def is_own(code: CodeType) -> bool:
    """Whether `code` belongs to this package."""
    return _kind(code) != _USERS


def _kind(code: CodeType) -> int:
    known = _kinds.get(id(code))
    if known is None:
        known = (_OURS if code.co_filename.startswith(_OWN_FILES) else _USERS, code)
        _kinds[id(code)] = known
    return known[0]


def here(depth: int = 1) -> Frames:
    """Returns the user's frames, innermost first, looking from `depth` frames above the caller's callee.

    `here(1)` starts at the caller. The walk ends at the function marked by `entry`, or at the bottom of the stack.
    """
    frame = sys._getframe(depth)  # pyright: ignore[reportPrivateUsage]
    key: list[int] = []
    kinds = _kinds
    while frame is not None:
        code = frame.f_code
        known = kinds.get(id(code))
        kind = _kind(code) if known is None else known[0]
        if kind == _USERS:
            key.append(id(code))
            key.append(frame.f_lasti)
        elif kind == _ENTRY:
            break
        frame = frame.f_back
    found = _interned.get(tuple(key))
    if found is None:
        found = tuple((_kinds[code][1], offset) for code, offset in zip(key[::2], key[1::2], strict=True))
        _interned[tuple(key)] = found
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

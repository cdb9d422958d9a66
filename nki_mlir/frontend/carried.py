"""Whether the body of a loop carries Python state from one iteration to the next.

A body that is run once for many iterations must leave Python as it found it, or it would have meant something else the
second time. `Snapshot` is taken before the body and compared after it. It sees

1. names that the body may read before it assigns them (`statements.py`), and
2. the contents of all containers, objects, closures and iterators that the frame can reach through its local names and
   through the global names of its code, and of the functions found there.

Tensors, indices and this package's objects do not count: what happens in them is recorded. Attributes of foreign
modules, files and the state of C extensions are out of sight.
"""

import collections
import enum
import functools
import itertools
import sys
from types import BuiltinFunctionType, CodeType, FrameType, FunctionType, GeneratorType, MethodType, ModuleType
from typing import Any

from nki_mlir.frontend.records import Recorder
from nki_mlir.frontend.symbolic import Pred, Sym, Var, same
from nki_mlir.frontend.tensors import Storage, View

_OBJECTS = 4000
"""Containers looked at before the state counts as changed: beyond that, unrolling is cheaper than looking."""
_ARRAY_BYTES = 1 << 16

_SCALARS = (int, float, complex, str, bytes, bool, type(None), type(Ellipsis), range, slice, enum.Enum)
_RECORDED = (View, Storage, Sym, Pred, Var, Recorder)
_LEAVES = (*_SCALARS, *_RECORDED, ModuleType, BuiltinFunctionType, CodeType)
_MISSING = object()

# Iterators of C whose state `__reduce__` tells. Generators have a frame of their own.
_EMPTY: Any = {}
_ITERABLES: Any = ((), [], set(), "", b"", range(0), range(1 << 70), _EMPTY, _EMPTY.values(), _EMPTY.items())
_ITERATORS: Any = (
    *{type(iter(each)) for each in _ITERABLES},
    *(enumerate, zip, map, filter, reversed),
)

_FOREIGN = {*sys.stdlib_module_names, "nki_mlir", "nki", "neuronxcc", "numpy", "ml_dtypes", "jax", "torch", "xdsl"}


def _is_foreign(module: object) -> bool:
    return isinstance(module, str) and module.partition(".")[0] in _FOREIGN and module != "__main__"


class Snapshot:
    """The Python state that a loop body can see, to be compared by `changed`."""

    __slots__ = ("complete", "contents", "frame", "names")

    def __init__(self, frame: FrameType, live_in: tuple[str, ...]) -> None:
        self.frame = frame
        self.names = tuple((name, _lookup(frame, name)) for name in live_in)
        self.contents: list[tuple[Any, tuple[Any, ...]]] = []
        todo: list[Any] = [*frame.f_locals.values(), *_globals_of(frame.f_code, frame.f_globals)]
        seen: set[int] = set()
        while todo and len(self.contents) <= _OBJECTS:
            thing = todo.pop()
            if isinstance(thing, _LEAVES) or id(thing) in seen:
                continue
            seen.add(id(thing))
            parts = _parts(thing)
            if parts:
                todo += parts
            if parts is not None:
                self.contents.append((thing, parts))
        self.complete = not todo

    def changed(self) -> bool:
        """Whether a live name or the contents of anything reachable differ by now."""
        if not self.complete:
            return True
        for name, value in self.names:
            if not _equal(value, _lookup(self.frame, name)):
                return True
        for thing, before in self.contents:
            after = _parts(thing)
            if after is None or len(after) != len(before):
                return True
            for old, new in zip(before, after, strict=True):
                if old is not new and not _equal(old, new):
                    return True
        return False


def _lookup(frame: FrameType, name: str) -> Any:
    value = frame.f_locals.get(name, _MISSING)
    return frame.f_globals.get(name, _MISSING) if value is _MISSING else value


def _globals_of(code: CodeType, namespace: dict[str, Any]) -> list[Any]:
    return [namespace.get(name) for name in code.co_names]


def _equal(old: Any, new: Any) -> bool:
    """Whether the code that reads `new` does what it did with `old`: the same object, or an equal constant."""
    if old is new:
        return True
    if isinstance(old, Sym):
        return same(old, new)
    return type(old) is type(new) and isinstance(old, _SCALARS) and bool(old == new)


def _parts(thing: Any) -> tuple[Any, ...] | None:
    """What an object consists of, as far as a program can change it; None for an object without such parts."""
    kind: Any = thing.__class__
    content: Any = thing
    if isinstance(thing, dict):
        return (*content.keys(), *content.values(), *_attributes(content))
    if isinstance(thing, list | tuple | set | frozenset | collections.deque):
        return (*content, *_attributes(content))
    if kind is FunctionType:
        return _function_parts(thing)
    if kind is MethodType:
        return thing.__self__, thing.__func__
    if isinstance(thing, functools.partial):
        return thing.func, thing.args, thing.keywords
    if isinstance(thing, _ITERATORS):
        return _iterator_parts(thing)
    if kind in (itertools.count, itertools.repeat):
        return (repr(thing),)
    if kind is GeneratorType:
        frame = thing.gi_frame
        return () if frame is None else (frame.f_lasti, *frame.f_locals.values())
    if kind is bytearray:
        return (bytes(thing),)
    if getattr(kind, "__module__", "") == "numpy" and hasattr(thing, "tobytes"):
        return (thing.tobytes(),) if thing.nbytes <= _ARRAY_BYTES else None
    if isinstance(thing, type):
        module = thing.__dict__.get("__module__", "builtins")
        return None if _is_foreign(module) or module == "builtins" else tuple(vars(thing).values())
    if _is_foreign(getattr(kind, "__module__", "builtins")):
        return (object(),) if hasattr(kind, "__next__") else None  # an iterator with a hidden position always changes
    return _attributes(thing)


def _attributes(thing: Any) -> tuple[Any, ...]:
    """The values of an object's attributes, in its dictionary and its slots, and its class."""
    kind: Any = thing.__class__
    values: tuple[Any, ...] = tuple(thing.__dict__.values()) if hasattr(thing, "__dict__") else ()
    if kind.__module__ == "builtins":
        return values
    for base in kind.__mro__:
        slots = base.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if hasattr(thing, name):
                values += (getattr(thing, name),)
    return (*values, kind)


def _function_parts(function: FunctionType) -> tuple[Any, ...] | None:
    if _is_foreign(function.__module__):
        return None
    parts: list[Any] = [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
    for cell in function.__closure__ or ():
        try:
            parts.append(cell.cell_contents)
        except ValueError:  # the name is not bound yet
            parts.append(_MISSING)
    parts += _globals_of(function.__code__, function.__globals__)
    parts += vars(function).values()
    return tuple(parts)


def _iterator_parts(iterator: Any) -> tuple[Any, ...]:
    """The position of an iterator, and what it iterates over."""
    parts: list[Any] = []
    todo: list[Any] = list(iterator.__reduce__()[1:])
    while todo:
        part = todo.pop()
        if type(part) is tuple:
            todo += part
        else:
            parts.append(part)
    return tuple(parts)

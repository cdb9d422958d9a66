"""Whether the body of a loop carries Python state from one iteration to the next.

A body that is run once for many iterations must leave Python as it found it, or it would have meant something else the
second time. `Snapshot` is taken before the body and compared after it. It sees

1. names that the body may read before it assigns them (`statements.py`), and
2. the contents of all containers, objects, closures and iterators that the frame can reach through its local names and
   through the global names of its code, and of the functions found there.

What C code holds is read as copying and pickling read it. An object that does not tell its state there, or whose state
is too large, counts as changed: the loop then goes on one iteration at a time, which is right and only slower.

Tensors, indices and this package's objects do not count: what happens in them is recorded. The globals of other modules
and the class attributes of libraries are out of sight, and so are locks and loggers, of which no kernel makes numbers.
"""

import _thread
import abc
import collections
import contextlib
import copyreg
import enum
import functools
import hashlib
import itertools
import logging
import sys
import types
import weakref
from types import BuiltinFunctionType, CodeType, FrameType, FunctionType, GeneratorType, MethodType, ModuleType
from typing import Any

from nki_mlir.frontend.records import Recorder
from nki_mlir.frontend.symbolic import Pred, Sym, Var, same
from nki_mlir.frontend.tensors import Storage, View
from nki_mlir.isa.lazy import numpy as np

_OBJECTS = 4000
"""Objects looked at before the state counts as changed: beyond that, unrolling is cheaper than looking."""
_KEPT_BYTES = 1 << 12
"""Bytes of an array that are kept as they are; of more a digest is kept."""
_MOST_BYTES = 1 << 24
"""Bytes of an array beyond which it counts as changed: a digest of more takes longer than unrolling."""

_SCALARS = (int, float, complex, str, bytes, bool, type(None), type(Ellipsis), range, slice, enum.Enum)
_PLAIN = frozenset(_SCALARS)
_LEAVES = (View, Storage, Sym, Pred, Var, Recorder, ModuleType, CodeType, enum.Enum)
_MISSING = object()

# Iterators of C whose state `__reduce__` tells. Generators have a frame of their own.
_EMPTY: Any = {}
_ITERABLES: Any = ((), [], set(), "", b"", range(0), range(1 << 70), _EMPTY, _EMPTY.values(), _EMPTY.items())
_ITERATORS: Any = (
    *{type(iter(each)) for each in _ITERABLES},
    *(enumerate, zip, map, filter, reversed),
)

_NO_STATE: Any = (
    *(_thread.LockType, _thread.RLock, logging.Logger, logging.LoggerAdapter, logging.Handler),
    *(types.GetSetDescriptorType, types.MemberDescriptorType, types.WrapperDescriptorType),
    *(types.MethodDescriptorType, types.ClassMethodDescriptorType, types.GenericAlias, types.UnionType),
    type(abc.ABC.__dict__["_abc_impl"]),  # the registry and caches of an abstract class
)
"""Classes of C whose objects never change, or hold nothing that a kernel computes with."""

_OURS = {"nki_mlir", "nki", "neuronxcc"}
_FOREIGN = {*sys.stdlib_module_names, *_OURS, "numpy", "ml_dtypes", "jax", "torch", "xdsl"}


def _is_in(module: object, packages: set[str]) -> bool:
    return isinstance(module, str) and module.partition(".")[0] in packages and module != "__main__"


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
            if type(thing) in _PLAIN or isinstance(thing, _LEAVES) or id(thing) in seen:
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
    return [namespace.get(name) for name in _global_names(code)]


@functools.lru_cache(1024)
def _global_names(code: CodeType) -> tuple[str, ...]:
    """The names that code takes from its module, and those of the functions and comprehensions written in it."""
    names = dict.fromkeys(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            names |= dict.fromkeys(_global_names(constant))
    return tuple(names)


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
    if kind in (MethodType, BuiltinFunctionType, types.MethodWrapperType):
        return thing.__self__, getattr(thing, "__func__", None)
    if isinstance(thing, functools.partial):
        return thing.func, thing.args, thing.keywords
    if isinstance(thing, _ITERATORS):
        return _flat(content.__reduce__()[1:], (tuple,))
    if kind in (itertools.count, itertools.repeat):
        return (repr(thing),)
    if kind is GeneratorType:
        return _generator_parts(thing)
    if kind is bytearray:
        return (bytes(thing),)
    if isinstance(thing, np.ndarray):
        return (*_array_parts(content), *_attributes(content))
    if isinstance(thing, type):
        module = thing.__dict__.get("__module__", "builtins")
        return None if _is_in(module, _FOREIGN) else (*vars(thing).values(), *thing.__bases__)
    if isinstance(thing, (*_NO_STATE, np.generic, np.dtype)):
        return None
    if _is_in(getattr(kind, "__module__", ""), _OURS):
        return (thing.__wrapped__,) if hasattr(thing, "__wrapped__") else None  # a kernel is its function
    return _object_parts(thing, kind)


def _object_parts(thing: Any, kind: Any) -> tuple[Any, ...]:
    """The parts of an object of any class: those that Python sees, and those that C tells of."""
    if isinstance(thing, property):
        return thing.fget, thing.fset, thing.fdel
    if kind in (classmethod, staticmethod):
        return (thing.__func__,)
    if kind is types.MappingProxyType:
        return (*thing.keys(), *thing.values())
    if kind is types.CellType:
        return (_content(thing),)
    if kind is weakref.ref:
        return (thing(),)
    if hasattr(kind, "__next__"):
        return (object(),)  # an iterator with a hidden position always changes
    attributes = _attributes(thing)
    # What a cache remembers is what its function returns anyway.
    if kind is functools._lru_cache_wrapper or not _hides(kind):  # pyright: ignore[reportPrivateUsage]
        return attributes
    return (*_told(thing), *attributes)


@functools.lru_cache(1024)
def _hides(kind: type) -> bool:
    """Whether objects of a class have memory beside their attributes and slots, which only C code can read."""
    word = tuple.__itemsize__
    size = object.__basicsize__
    size += word * (len(_slots(kind)) + (kind.__dictoffset__ > 0) + (kind.__weakrefoffset__ > 0))
    return kind.__basicsize__ > size or kind.__itemsize__ != 0


@functools.lru_cache(1024)
def _slots(kind: type) -> tuple[types.MemberDescriptorType, ...]:
    """The descriptors of the slots of a class; private ones have other names than `__slots__` says."""
    members = [each for base in kind.__mro__ if "__slots__" in vars(base) for each in vars(base).values()]
    return tuple(each for each in members if type(each) is types.MemberDescriptorType)


def _told(thing: Any) -> tuple[Any, ...]:
    """The state that an object tells to be copied or pickled; a new object, equal to none, if it refuses."""
    reduce: Any = copyreg.dispatch_table.get(thing.__class__)
    try:
        state = reduce(thing) if reduce else thing.__reduce_ex__(4)
    except Exception:  # whatever a class raises to refuse
        return (object(),)
    return _flat(state, (tuple, list, dict))


def _flat(state: Any, containers: tuple[type, ...]) -> tuple[Any, ...]:
    """What is in nested containers, which may be made anew each time they are asked for."""
    parts: list[Any] = []
    seen: set[int] = set()
    todo: list[Any] = [state]
    while todo:
        part = todo.pop()
        if type(part) not in containers:
            parts += _array_parts(part) if isinstance(part, np.ndarray) else (part,)
        elif id(part) not in seen:
            seen.add(id(part))
            todo += (*part.keys(), *part.values()) if isinstance(part, dict) else part
        if len(todo) + len(parts) > _OBJECTS:
            return (object(),)
    return tuple(parts)


def _array_parts(array: Any) -> tuple[Any, ...]:
    """The elements of an array: its bytes, a digest of many, or the objects that it refers to."""
    if array.dtype.hasobject:
        return (object(),) if array.dtype.names or array.size > _OBJECTS else (array.shape, *array.flat)
    if array.nbytes > _MOST_BYTES:
        return (object(),)
    raw = array.tobytes()
    if len(raw) > _KEPT_BYTES:
        raw = hashlib.blake2b(raw).digest()
    return raw, str(array.dtype), *array.shape


def _attributes(thing: Any) -> tuple[Any, ...]:
    """The values of an object's attributes, in its dictionary and its slots, and its class."""
    kind: Any = thing.__class__
    values: tuple[Any, ...] = tuple(thing.__dict__.values()) if hasattr(thing, "__dict__") else ()
    if kind.__module__ == "builtins":
        return values
    for slot in _slots(kind):
        with contextlib.suppress(AttributeError):  # it is not set
            values += (slot.__get__(thing),)
    return (*values, kind)


def _function_parts(function: FunctionType) -> tuple[Any, ...] | None:
    if _is_in(function.__module__, _FOREIGN):
        return None
    parts: list[Any] = [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
    parts += map(_content, function.__closure__ or ())
    parts += _globals_of(function.__code__, function.__globals__)
    parts += vars(function).values()
    return tuple(parts)


def _content(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # the name is not bound yet
        return _MISSING


def _generator_parts(generator: Any) -> tuple[Any, ...]:
    frame = generator.gi_frame
    if frame is None:
        return ()
    values = frame.f_locals.values()
    return (frame.f_lasti, generator.gi_yieldfrom, *values, *_globals_of(frame.f_code, frame.f_globals))

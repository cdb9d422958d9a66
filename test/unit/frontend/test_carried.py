"""State that Python carries from one iteration to the next, in objects of every kind, stops a loop from rolling."""

import abc
import argparse
import array
import collections
import contextvars
import ctypes
import dataclasses
import enum
import functools
import io
import itertools
import logging
import random
import re
import threading
import types
import typing
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from toy_kernel import Toy, check, pieces

SINGLES = [(at, at + 1) for at in range(4)]


def attribute(thing: Any) -> Any:
    """`thing` with an attribute `v` that is 0."""
    thing.v = 0
    return thing


class Private:
    __slots__ = ("__v",)

    def __init__(self) -> None:
        self.__v = 0

    def take(self) -> int:
        self.__v += 1
        return self.__v


class Number(int):
    pass


class Point(ctypes.Structure):
    _fields_ = (("x", ctypes.c_int), ("y", ctypes.c_int))


def get_v(thing: Any) -> int:
    return thing.v


def set_v(thing: Any, value: int) -> None:
    thing.v = value


def get_first(thing: Any) -> int:
    return int(thing[0])


def set_first(thing: Any, value: int) -> None:
    thing[0] = value


def get_key(thing: Any) -> int:
    return thing["v"]


def set_key(thing: Any, value: int) -> None:
    thing["v"] = value


def set_content(thing: Any, value: int) -> None:
    thing.set(value)


def get_value(thing: Any) -> int:
    return thing.value


def set_value(thing: Any, value: int) -> None:
    thing.value = value


def get_proxied(thing: Any) -> int:
    return types.MappingProxyType(thing)["v"]


def get_length(thing: Any) -> int:
    return len(thing.getvalue())


def add_letter(thing: Any, value: int) -> None:
    thing.write("a")


def get_referred(thing: Any) -> int:
    return thing[1]().v


def set_referred(thing: Any, value: int) -> None:
    thing[1]().v = value


def referred() -> Any:
    held = argparse.Namespace(v=0)
    return held, weakref.ref(held)


def get_content(thing: Any) -> int:
    return thing.get()


def get_x(thing: Any) -> int:
    return thing.x


def set_x(thing: Any, value: int) -> None:
    thing.x = value


ATTRIBUTE = get_v, set_v
FIRST = get_first, set_first
KEY = get_key, set_key

STATES: dict[str, tuple[Callable[[], Any], tuple[Any, Any]]] = {
    "SimpleNamespace": (lambda: types.SimpleNamespace(v=0), ATTRIBUTE),
    "Namespace": (lambda: argparse.Namespace(v=0), ATTRIBUTE),
    "UserDict": (lambda: collections.UserDict(v=0), KEY),
    "UserList": (lambda: collections.UserList([0]), FIRST),
    "ChainMap": (lambda: collections.ChainMap({"v": 0}), KEY),
    "Counter": (lambda: collections.Counter(v=0), KEY),
    "array": (lambda: array.array("i", [0]), FIRST),
    "bytearray": (lambda: bytearray(1), FIRST),
    "memoryview": (lambda: memoryview(bytearray(1)), FIRST),
    "local": (lambda: attribute(threading.local()), ATTRIBUTE),
    "ContextVar": (lambda: contextvars.ContextVar("v", default=0), (get_content, set_content)),
    "c_int": (lambda: ctypes.c_int(0), (get_value, set_value)),
    "Structure": (lambda: Point(0, 0), (get_x, set_x)),
    "small numpy": (lambda: np.zeros(1, np.int64), FIRST),
    "large numpy": (lambda: np.zeros(20_000, np.int64), FIRST),
    "huge numpy": (lambda: np.zeros(3 << 20, np.int64), FIRST),
    "numpy objects": (lambda: np.array([0, None], object), FIRST),
    "matrix column": (lambda: np.zeros((64, 1000))[:, 5], FIRST),
    "masked numpy": (lambda: np.ma.array(np.arange(2)), FIRST),
    "StringIO": (io.StringIO, (get_length, add_letter)),
    "int subclass": (lambda: attribute(Number(7)), ATTRIBUTE),
    "mapping proxy": (lambda: {"v": 0}, (get_proxied, set_key)),
    "weak reference": (referred, (get_referred, set_referred)),
}


@pytest.mark.parametrize("name", STATES)
def test_state_is_carried(name: str) -> None:
    make, (get, put) = STATES[name]

    def program(k: Toy) -> None:
        state = make()
        for i in k.affine(4):
            number = get(state)
            k.op("load", k.x[i], number=number)
            put(state, number + 1)

    assert pieces(check(program).root) == SINGLES


CALLS: dict[str, Callable[[], Callable[[], Any]]] = {
    "bound method of a list": lambda: [3, 2, 1, 0].pop,
    "bound method of a random generator": lambda: functools.partial(random.Random(1).randrange, 1 << 20),
    "numpy generator": lambda: functools.partial(np.random.default_rng(1).integers, 1 << 20),
    "method wrapper": lambda: iter([1, 2, 3, 4]).__next__,
    "private slot": lambda: Private().take,
    "generator of a generator": lambda: functools.partial(next, _outer()),
}


def _inner() -> Any:
    yield from itertools.count()


def _outer() -> Any:
    yield from _inner()


@pytest.mark.parametrize("name", CALLS)
def test_calls_change_state(name: str) -> None:
    def program(k: Toy) -> None:
        call = CALLS[name]()
        for i in k.affine(4):
            k.op("load", k.x[i], number=int(call()))

    assert pieces(check(program).root) == SINGLES


TALLY = [0]


def _tally() -> int:
    TALLY[0] += 1
    return TALLY[0]


def test_function_named_in_a_comprehension() -> None:
    def program(k: Toy) -> None:
        TALLY[0] = 0
        for i in k.affine(4):
            k.op("load", k.x[i], number=next(_tally() for _ in range(1)))

    assert pieces(check(program).root) == SINGLES


def test_property_and_class_of_a_base() -> None:
    class Base:
        total = 0

    class Derived(Base):
        @property
        def next(self) -> int:
            Base.total += 1
            return Base.total

    def program(k: Toy) -> None:
        Base.total = 0
        state = Derived()
        for i in k.affine(4):
            k.op("load", k.x[i], number=state.next)

    assert pieces(check(program).root) == SINGLES


def test_names_looked_up_by_text() -> None:
    def with_locals(k: Toy) -> None:
        count = 0
        for i in k.affine(4):
            number = locals()["count"]
            k.op("load", k.x[i], number=number)
            count = number + 1
        k.op("end", number=count)

    def with_eval(k: Toy) -> None:
        count = 0
        for i in k.affine(4):
            number = eval("count")
            k.op("load", k.x[i], number=number)
            count = number + 1
        k.op("end", number=count)

    assert pieces(check(with_locals).root) == SINGLES
    assert pieces(check(with_eval).root) == SINGLES


# Objects that are only read let loops roll


class Order(enum.Enum):
    ROWS = 1


T = typing.TypeVar("T")


@dataclasses.dataclass
class Config(abc.ABC, typing.Generic[T]):
    size: int = 4
    order: Order = Order.ROWS
    names: list[str] = dataclasses.field(default_factory=list[str])
    cache: typing.ClassVar[dict[str, int]] = {}

    @functools.cached_property
    def double(self) -> int:
        return 2 * self.size

    @classmethod
    def made(cls) -> Any:
        return cls()

    @staticmethod
    def one() -> int:
        return 1


class Pair(typing.NamedTuple):
    x: int
    y: int


LOG = logging.getLogger("kernel")
PATTERN = re.compile("a+")
UNION = int | None


@functools.lru_cache
def _half(number: int) -> int:
    return number // 2


STILL: dict[str, Callable[[], Any]] = {
    "dataclass": Config.made,
    "namespace": lambda: argparse.Namespace(size=4, names=["a"]),
    "numpy": lambda: [np.arange(20_000), np.float32(1), np.dtype("int8"), np.sum, np.add],
    "array": lambda: array.array("d", [1, 2]),
    "named tuple": lambda: Pair(1, 2),
    "locks": lambda: [threading.Lock(), threading.RLock()],
    "random": lambda: [random.Random(1), np.random.default_rng(1)],
    "types": lambda: [UNION, list[int], typing.Optional, typing.Any, Pair, Config, Order],
    "c_int": lambda: ctypes.c_int(3),
    "exception": lambda: ValueError("no"),
}


@pytest.mark.parametrize("name", STILL)
def test_objects_that_stay_as_they_are(name: str) -> None:
    def program(k: Toy) -> None:
        held = STILL[name]()
        for i in k.affine(8):
            k.op("load", k.x[i], number=0 if held is None else 1)

    assert pieces(check(program).root) == [(0, 8)]


def test_logger_cache_and_pattern() -> None:
    def program(k: Toy) -> None:
        for i in k.affine(8):
            LOG.debug("loading")
            k.op("load", k.x[i], number=_half(4) + (PATTERN.match("a") is not None))

    assert pieces(check(program).root) == [(0, 8)]

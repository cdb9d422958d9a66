"""One loop program for each construct: what it records rolled, expanded, is what it records unrolled."""

import contextlib
import functools
import itertools
import sys
from collections import deque
from dataclasses import dataclass
from typing import Any

import pytest
from toy_kernel import Toy, check, flat, pieces, run

from nki_mlir.frontend.errors import NKIIndexError, NKISyntaxError
from nki_mlir.frontend.loops import KernelRange, LoopInt, failed_loops, loop_of, programs
from nki_mlir.frontend.symbolic import Sym

PROGRAMS: list[Any] = []


def program(*expected: Any) -> Any:
    """Registers a loop program with the pieces of its outermost loops when rolled."""

    def register(function: Any) -> Any:
        PROGRAMS.append(pytest.param(function, list(expected), id=function.__name__))
        return function

    return register


def singles(*values: int) -> list[tuple[int, int]]:
    return [(value, value + 1) for value in values]


@program((0, 8))
def plain(k: Toy) -> None:
    for i in k.affine(8):
        k.op("load", k.x[i], k.y[64 * i : 64 * i + 64], number=3 * i + 1)


@program((0, 5))
def start_and_step(k: Toy) -> None:
    for i in k.sequential(3, 13, 2):
        k.op("load", k.x[i], number=i)


@program((0, 4))
def descending(k: Toy) -> None:
    for i in k.sequential(6, -2, -2):
        k.op("load", k.x[i], number=i)


@program()
def empty(k: Toy) -> None:
    for i in k.affine(0):
        k.op("load", k.x[i])
    else:
        k.op("end")


@program((0, 1))
def one_iteration(k: Toy) -> None:
    for i in k.affine(1):
        k.op("load", k.x[i], number=i)


@program((0, 1), (1, 8))
def condition_on_the_index(k: Toy) -> None:
    for i in k.affine(8):
        if i > 0:
            k.op("later", number=i)
        k.op("load", k.x[i])


@program((0, 3), (3, 7), (7, 10))
def chained_comparison(k: Toy) -> None:
    for i in k.affine(10):
        k.op("inside" if 3 <= i < 7 else "outside", k.x[i])


@program((0, 6), (6, 16))
def minimum(k: Toy) -> None:
    for i in k.affine(16):
        k.op("load", k.x[min(3 * i, 16)], number=max(2, i - 20))


@program((0, 4), (4, 5), (5, 8))
def equality(k: Toy) -> None:
    for i in k.affine(8):
        if i == 4:
            k.op("middle")
        k.op("any", number=i)


@program((0, 2), (2, 3), (3, 5), (5, 6), (6, 10))
def membership(k: Toy) -> None:
    for i in k.affine(10):
        k.op("edge" if i in (2, 5) else "other", number=i)


@program((0, 3), (3, 4))
def ragged_edge(k: Toy) -> None:
    for i in k.affine(4):
        size = min(20, 70 - 20 * i)
        k.op("load", k.y[k.ds(20 * i, size)])


@program((0, 5), (5, 6))
def guarded_break(k: Toy) -> None:
    for i in k.affine(8):
        if i == 5:
            break
        k.op("load", k.x[i])
    else:
        k.op("never")


@program((0, 1))
def plain_break(k: Toy) -> None:
    for i in k.sequential(8):
        k.op("load", k.x[i])
        break


def _leaves(k: Toy) -> int:
    for i in k.affine(8):
        k.op("load", k.x[i])
        if i >= 3:
            return int(i)
    return -1


@program((0, 3), (3, 4))
def returning(k: Toy) -> None:
    k.op("got", number=_leaves(k))


@program((0, 2), (2, 3))
def raising(k: Toy) -> None:
    for i in k.affine(8):
        k.op("load", k.x[i])
        if i == 2:
            raise KeyError("stop")


@program((0, 3), (3, 4))
def exception_caught_outside(k: Toy) -> None:
    try:
        for i in k.affine(8):
            if i == 3:
                raise ValueError
            k.op("load", k.x[i])
    except ValueError:
        k.op("caught")


@program((0, 1), (1, 8))
def continuing(k: Toy) -> None:
    for i in k.affine(8):
        if i < 1:
            continue
        k.op("load", k.x[i])
    else:
        k.op("end")


@program(((0, 4), [(0, 4)]))
def nested(k: Toy) -> None:
    for i in k.affine(4):
        for j in k.sequential(4):
            k.op("load", k.x[4 * i + j])


@program(((0, 1), [(0, 1), (1, 6)]), ((1, 2), [(0, 2), (2, 6)]), ((2, 3), [(0, 3), (3, 6)]), ((3, 4), [(0, 4), (4, 6)]))
def triangle(k: Toy) -> None:
    for i in k.affine(4):
        for j in k.affine(6):
            if j <= i:
                k.op("lower", k.x[i], k.x[j])


def _helper(k: Toy, row: Any, depth: int) -> None:
    for j in k.affine(3):
        k.op("row", k.x[row + j])
        if depth:
            _helper(k, row + j, depth - 1)


@program(((0, 4), [((0, 3), [(0, 3)])]))
def helper_and_recursion(k: Toy) -> None:
    for i in k.affine(4):
        _helper(k, i, 1)


@program((0, 2), (0, 3), (0, 2))
def spelled_in_other_ways(k: Toy) -> None:
    # fmt: off
    for i in (
        k.affine(2)
    ):
        k.op("load", k.x[i])
    indices = k.affine(3)
    for (i) in indices: k.op("load", k.x[i])  # noqa: E701
    for i in {True: k.affine(2)}[
        True
    ]:
        k.op("load", k.x[i])
    # fmt: on


@program((0, 4))
def lambda_with_default(k: Toy) -> None:
    for i in k.affine(4):
        load = lambda number=i: k.op("load", k.x[number])  # noqa: E731
        load()


@program((0, 15), (15, 16))
def caught_bound(k: Toy) -> None:
    for i in k.affine(16):
        try:
            k.op("next", k.x[4 * i + 4])
        except IndexError:
            k.op("last", number=i)


@program(*singles(0, 1, 2, 3, 4))
def carried_value(k: Toy) -> None:
    acc = k.tile()
    for i in k.affine(5):
        acc = k.op("add", acc, k.x[i])
    k.op("store", k.y[0:64], acc.dtype)


@program((0, 5))
def in_place(k: Toy) -> None:
    acc = k.tile()
    for i in k.affine(5):
        acc += k.x[i]
    k.op("store", acc)


@program((0, 5))
def in_place_on_a_view(k: Toy) -> None:
    acc = k.tile(64)
    for i in k.affine(5):
        acc[:, 8 * i : 8 * i + 8] += k.x[i]
        acc[:, 0:8] = k.x[i]
    k.op("store", acc)


@program((0, 6))
def rebound_inside(k: Toy) -> None:
    tile = k.tile()
    for i in k.affine(6):
        tile = k.op("load", k.x[i])
        k.op("use", tile)


@program(*singles(0, 1, 2, 3))
def previous_tile(k: Toy) -> None:
    previous = k.op("first")
    for i in k.affine(4):
        k.op("pair", previous, k.x[i])
        previous = k.op("load", k.x[i])


@program(*singles(0, 1, 2, 3, 4))
def ping_pong(k: Toy) -> None:
    a, b = k.tile(), k.tile()
    for i in k.affine(5):
        k.op("step", a, b, k.x[i])
        a, b = b, a


@program((0, 1), (1, 7))
def first_flag(k: Toy) -> None:
    first = True
    acc = k.tile()
    for i in k.affine(7):
        if first:
            k.op("set", acc, k.x[i])
            first = False
        else:
            acc += k.x[i]


@program(*singles(0, 1, 2, 3, 4))
def counter(k: Toy) -> None:
    offset = 0
    for i in k.affine(5):
        k.op("load", k.y[k.ds(offset, 4)], number=i)
        offset += 4


@program(*singles(0, 1, 2, 3))
def list_append(k: Toy) -> None:
    tiles = [k.tile()]
    for i in k.affine(4):
        tiles.append(tiles[-1])
        k.op("load", k.x[i], count=len(tiles))


@program(*singles(0, 1, 2, 3))
def dict_key(k: Toy) -> None:
    cache: dict[Any, Any] = {}
    for i in k.affine(4):
        cache[i // 2] = i
        k.op("load", k.x[i], count=len(cache))


@dataclass
class Allocator:
    address: int = 0

    def take(self, size: int) -> int:
        self.address += size
        return self.address - size


@program(*singles(0, 1, 2, 3))
def allocator_object(k: Toy) -> None:
    allocator = Allocator()
    for i in k.affine(4):
        k.op("load", k.x[i], address=allocator.take(16))


class Slotted:
    __slots__ = ("count",)
    total = 0

    def __init__(self) -> None:
        self.count = 0


@program(*singles(0, 1, 2, 3))
def slots_of_an_object(k: Toy) -> None:
    state = Slotted()
    for i in k.affine(4):
        state.count += 1
        k.op("load", k.x[i], count=state.count)


@program(*singles(0, 1, 2, 3))
def class_attribute(k: Toy) -> None:
    Slotted.total = 0
    for i in k.affine(4):
        Slotted.total += 1
        k.op("load", k.x[i], count=Slotted.total)


@program(*singles(0, 1, 2, 3))
def closure_cell(k: Toy) -> None:
    count = 0

    def step() -> int:
        nonlocal count
        count += 1
        return count

    for i in k.affine(4):
        k.op("load", k.x[i], count=step())


TALLY = [0]


def _tally() -> int:
    TALLY[0] += 1
    return TALLY[0]


@program(*singles(0, 1, 2, 3))
def state_behind_a_function(k: Toy) -> None:
    TALLY[0] = 0
    for i in k.affine(4):
        k.op("load", k.x[i], count=_tally())


@program(*singles(0, 1, 2, 3))
def bound_method_and_partial(k: Toy) -> None:
    take = functools.partial(Allocator().take, 8)
    for i in k.affine(4):
        k.op("load", k.x[i], address=take())


def _naturals() -> Any:
    number = 0
    while True:
        yield number
        number += 1


@program(*singles(0, 1, 2, 3))
def generator_state(k: Toy) -> None:
    numbers = _naturals()
    for i in k.affine(4):
        k.op("load", k.x[i], number=next(numbers))


@program(*singles(0, 1, 2, 3))
def iterator_state(k: Toy) -> None:
    numbers = iter([5, 6, 7, 8])
    for i in k.affine(4):
        k.op("load", k.x[i], number=next(numbers))


@program(*singles(0, 1, 2, 3))
def counting_iterator(k: Toy) -> None:
    numbers = itertools.count(3)
    for i in k.affine(4):
        k.op("load", k.x[i], number=next(numbers))


@program(*singles(0, 1, 2, 3))
def hidden_iterator(k: Toy) -> None:
    numbers = itertools.chain([1, 2], [3, 4])
    for i in k.affine(4):
        k.op("load", k.x[i], number=next(numbers))


@program(*singles(0, 1, 2, 3))
def iterators_of_iterators(k: Toy) -> None:
    numbers = enumerate(map(abs, [-5, -6, -7, -8]))
    for i in k.affine(4):
        k.op("load", k.x[i], number=next(numbers)[1])


@program(*singles(0, 1, 2, 3))
def ring(k: Toy) -> None:
    buffers = deque([k.tile(), k.tile(), k.tile()])
    for i in k.affine(4):
        k.op("load", buffers[0], k.x[i])
        buffers.rotate(1)


@program((0, 8))
def index_after_the_loop(k: Toy) -> None:
    i = view = None
    for i in k.affine(8):
        view = k.x[i]
        k.op("load", view)
    k.op("last", view, number=i)


@program((0, 1), (1, 4))
def index_of_the_previous_iteration(k: Toy) -> None:
    last = 0
    for i in k.affine(4):
        if i == 0:
            k.op("first")
        k.op("load", k.x[i])
    for j in k.static(2):
        k.op("after", number=last + j)


@program((0, 4))
def tile_after_the_loop(k: Toy) -> None:
    tile = None
    for i in k.affine(4):
        tile = k.op("load", k.x[i])
    k.op("store", tile)


@program(*[((at, at + 1), [(0, at + 1)]) for at in range(4)])
def range_of_an_index(k: Toy) -> None:
    for i in k.affine(4):
        for j in k.affine(i + 1):
            k.op("load", k.x[j], number=i)


@program(*singles(0, 1, 2, 3))
def bare_range_of_an_index(k: Toy) -> None:
    for i in k.affine(4):
        for j in range(i):
            k.op("load", k.x[j], number=i)


@program(*singles(0, 1, 2, 3, 4))
def observed_by_format(k: Toy) -> None:
    for i in k.affine(5):
        k.op(f"load{i}", k.x[i])


@program(*singles(0, 1, 2, 3))
def list_of_tiles(k: Toy) -> None:
    tiles = [k.tile() for _ in range(4)]
    for i in k.affine(4):
        k.op("use", tiles[i])


@program((0, 4), (4, 8), (8, 10))
def quotient_and_remainder(k: Toy) -> None:
    for i in k.affine(10):
        k.op("load", k.x[i // 4], number=i % 4)


@program((0, 6))
def exact_quotient(k: Toy) -> None:
    for i in k.affine(6):
        k.op("load", k.x[(4 * i + 3) // 4], number=(8 * i + 5) % 4)


@program(*singles(0, 1, 2, 3))
def product_of_indices(k: Toy) -> None:
    for i in k.affine(4):
        for j in k.static(4):
            k.op("load", k.x[i * j])
        for j in range(2):
            k.op("power", number=i**2 + j)


@program(((0, 1), [(0, 4)]), ((1, 2), [(0, 4)]), ((2, 3), [(0, 4)]))
def product_of_rolled_indices(k: Toy) -> None:
    for i in k.affine(3):
        for j in k.affine(4):
            k.op("load", k.x[i * j])


@program()
def enumerated(k: Toy) -> None:
    for n, i in enumerate(k.affine(4)):
        k.op("load", k.x[i], number=n)


@program()
def zipped(k: Toy) -> None:
    for i, j in zip(k.affine(4), k.sequential(4, 8), strict=True):
        k.op("load", k.x[i], k.x[j])


@program()
def comprehension(k: Toy) -> None:
    views = [k.x[i] for i in k.affine(4)]
    k.op("all", *views)
    for number in [i + 1 for i in k.affine(3)]:
        k.op("one", number=number)


@program()
def unpacked(k: Toy) -> None:
    i, j, *others = k.affine(4)
    k.op("load", k.x[i], k.x[j], numbers=[*others, *k.affine(2)])


@program()
def explicit_iterator(k: Toy) -> None:
    indices = iter(k.affine(3))
    k.op("first", number=next(indices))
    for i in indices:
        k.op("rest", number=i)


@program()
def generator_of_the_user(k: Toy) -> None:
    def doubled() -> Any:
        count = 0
        for i in k.affine(4):
            count = 2 * count + 1
            yield i + count

    for number in doubled():
        k.op("load", k.x[number])


@program()
def static_range(k: Toy) -> None:
    for i in k.static(4):
        k.op("load", k.x[i])


@program((0, 3))
def while_inside(k: Toy) -> None:
    for i in k.affine(3):
        step = 0
        while step < 2:
            k.op("load", k.x[i + step])
            step += 1


@program((0, 2), (2, 6))
def boolean_operators(k: Toy) -> None:
    for i in k.affine(6):
        if not (i < 2) and (i >= 0 or i == 77):
            k.op("late")
        k.op("any", number=i)


@program((0, 2), (2, 4))
def asserted(k: Toy) -> None:
    for i in k.affine(4):
        with contextlib.suppress(AssertionError):
            assert i < 2
            k.op("small", number=i)


@program((0, 5))
def names_assigned_on_all_branches(k: Toy) -> None:
    limit = 3
    for i in k.affine(5):
        if limit > 2:
            tile = k.op("load", k.x[i])
        else:
            tile = k.op("other")
        try:
            other = k.op("copy", tile)
        finally:
            with contextlib.nullcontext(tile) as same:
                k.op("use", same)
        k.op("use", other)


@program(*singles(0, 1, 2, 3))
def names_assigned_on_one_branch(k: Toy) -> None:
    flags = [True, False, False, False]
    tile = None
    for i in k.affine(4):
        if flags[i]:
            tile = k.op("load", k.x[i])
        k.op("use", tile)


@program((0, 2), (2, 5))
def float_bound(k: Toy) -> None:
    for i in k.affine(5):
        if i < 3 / 2:
            k.op("half")
        k.op("any", number=i)


@program((0, 2), (2, 4))
def mask_of_a_loop_condition(k: Toy) -> None:
    for i in k.affine(4):
        k.op("masked", k.x[i], mask=(i > 0) & (i < 3))
        k.op("either", k.x[i], mask=(i < 2) | (i > 5))


@pytest.mark.parametrize("function, expected", PROGRAMS)
def test_rolled_is_unrolled(function: Any, expected: list[Any]) -> None:
    assert pieces(check(function).root) == expected


def test_triangle_counts() -> None:
    """816 = 16 * 17 * 18 / 6 instructions for the triple loop over a tetrahedron."""

    def tetrahedron(k: Toy) -> None:
        for i in k.affine(16):
            for j in k.affine(16):
                for m in k.affine(16):
                    if i >= j and j >= m:
                        k.op("inside")

    assert len(flat(check(tetrahedron))) == 816


def test_give_up_after_three_singles() -> None:
    """From the fourth piece on the index is a plain number."""
    kinds: list[type] = []

    def carried(k: Toy) -> None:
        count = 0
        for i in k.affine(6):
            kinds.append(type(i))
            count = 2 * count + 1
            k.op("load", k.x[i], count=count)

    run(carried, True)
    assert kinds == [Sym, Sym, Sym, LoopInt, LoopInt, LoopInt]


def test_bounds_error_of_the_last_iteration() -> None:
    def outside(k: Toy) -> None:
        for i in k.affine(16):
            k.op("next", k.x[4 * i + 4])

    toy, error = run(outside, True)
    assert pieces(toy.root) == [(0, 15), (15, 16)]
    assert isinstance(error, NKIIndexError)
    assert str(error) == ("out-of-bound access of x in dimension 0 of size 64: index 64 [tensor_access_out_of_bound]")


def test_bounds_error_names_its_iterations() -> None:
    def outside(k: Toy) -> None:
        for i in k.affine(16):
            if i > 3:
                k.op("next", k.x[4 * i + 48])

    toy, error = run(outside, True)
    assert pieces(toy.root) == [(0, 4), (4, 5)]
    assert str(error) == (
        "out-of-bound access of x in dimension 0 of size 64: indices 64 to 108 from 4*i + 48 with i in [4, 16) "
        "[tensor_access_out_of_bound]"
    )


@pytest.mark.parametrize("rolling", [True, False])
def test_loops_of_an_exception(rolling: bool) -> None:
    """The loops that an exception has left, but not one that had ended before by `break`."""

    def inner(k: Toy, row: Any) -> None:
        for j in k.affine(2, 12, 2):
            for m in k.affine(3):
                if m > 0:
                    break
            if row == 2 and j >= 6:
                raise KeyError

    def kernel(k: Toy) -> None:
        for i in k.affine(4):
            inner(k, i)

    toy, error = run(kernel, rolling)
    assert error is not None
    loops = failed_loops(toy, error.__traceback__)
    assert [(loop.name, loop.bounds, loop.start + loop.step * loop.bounds[0]) for loop in loops] == [
        ("i", (2, 3), 2),
        ("j", (2, 3), 6),
    ]


@pytest.mark.parametrize("rolling", [True, False])
def test_tile_out_of_scope(rolling: bool) -> None:
    _, error = run(tile_after_the_loop, rolling)
    assert isinstance(error, NKISyntaxError)
    assert str(error) == (
        "t was created in a loop that has ended, create it before the loop [local_variable_used_out_of_scope]"
    )


def test_scopes_are_cut_back() -> None:
    """A scope left open by an exception ends with its loop."""
    toy = Toy(True)
    with contextlib.suppress(ZeroDivisionError):
        for _ in toy.affine(3):
            toy.open_scope("no_reorder", {})
            toy.op("inside")
            raise ZeroDivisionError
    toy.op("outside")
    assert [type(node).__name__ for node in toy.root] == ["Loop", "Record"]
    assert toy.depth == 0


def test_scope_in_order() -> None:
    toy = Toy(False)
    scope = toy.open_scope("no_reorder", {"a": 1})
    toy.op("inside")
    toy.close_scope(scope)
    toy.close_scope(scope)
    toy.op("outside")
    assert [instr for instr, *_ in flat(toy)] == ["inside", "outside"]


def test_loop_of_an_index() -> None:
    for rolling in (True, False):
        toy = Toy(rolling)
        for i in toy.affine(4):
            loop = loop_of(i)
            assert loop is toy.loops[-1].instance
            assert loop is not None
            assert (loop.kind, loop.name) == ("affine", "i")
            for j in toy.affine(3):
                assert loop_of(j) is toy.loops[-1].instance
                assert loop_of(i + j if rolling else int(i)) is None
        (index,) = {loop_of(i) for i in list(toy.affine(2))}
        assert index is not None
        assert index.kind == "affine"


def test_without_source_loops_unroll() -> None:
    """Code without a source text is never rolled, since nothing tells which names it carries."""
    text = "def program(k):\n    for i in k.affine(4):\n        k.op('load', k.x[i])\n"
    namespace: dict[str, Any] = {}
    exec(text, namespace)
    assert pieces(check(namespace["program"]).root) == []


def test_loops_roll_under_a_debugger() -> None:
    before = sys.gettrace()
    sys.settrace(lambda frame, event, argument: None)
    try:
        toy = check(plain)
    finally:
        sys.settrace(before)
    assert pieces(toy.root) == [(0, 8)]


def test_range_protocol() -> None:
    toy = Toy(True)
    values = toy.affine(2, 10, 3)
    assert (len(values), values[1], list(reversed(values))) == (3, 5, [8, 5, 2])
    assert 5 in values
    assert 6 not in values
    assert repr(values) == "affine_range(2, 10, 3)"
    with pytest.raises(TypeError):
        KernelRange(toy, "affine", 1.5)


def test_programs_of_a_grid() -> None:
    """Program ids are symbolic; what the kernel needs to know of one makes it run again."""

    def kernel(k: Toy, p: Any, q: Any) -> None:
        if p == 0:
            k.op("first", number=q)
        k.op("any", k.x[8 * p + q])

    traces: list[Any] = []
    for rolling in (True, False):
        toy = Toy(rolling)
        for p, q in programs(toy, (3, 8)):
            kernel(toy, p, q)
        traces.append(flat(toy))
        if rolling:
            assert pieces(toy.root) == [((0, 1), [(0, 8)]), ((1, 3), [(0, 8)])]
    assert traces[0] == traces[1]
    assert list(programs(Toy(True), ())) == [()]

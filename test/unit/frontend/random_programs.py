"""Random loop programs over the toy kernel API, as source text; the same seed gives the same program."""

import linecache
import random
from collections.abc import Callable
from typing import Any

from toy_kernel import Toy

from nki_mlir.frontend.grids import arange

HEADER = """\
def program(k, ip, jf):
    c0, c1, flag = 0, 3, True
    items, table = [1, 2], {}
    t0, t1 = k.tile(), k.tile()
    tiles = [t0, t1]
"""


EXPRESSIONS = """
({a} + {b}) | ({a} - {b}) | ({a}) // {n} | ({a}) % {n} | ({a}) // -{n} | (({a}) // {n}) * {n} + ({a}) % {n}
min({a}, {n}) | max({a}, {b}) | abs({a} - {n}) | ({a} if {c} else {b}) | (({a}) << 1) | divmod({a}, {n})[1]
divmod({a}, {n})[0] | ({a}) * ({i}) | (({a}) & 3) | sum(({a}, {b})) | -({a})
"""
LEAVES = "{i} | {n}*{i} + {n} | {n}*{i} - {n}"
CONDITIONS = """
{a} < {n} | {a} <= {n} | {a} > {n} | {a} >= {n} | {a} == {n} | {a} != {n} | {n} > {a} | {n} <= {a} < {n} + 4
{a} < {b} | ({a}) in ({n}, 7) | ({a}) % {n} == 0 | bool({a}) | {a} < {n}.5 | flag | len(items) % 2
"""
JOINED = "({c} and {d}) | ({c} or {d}) | not {c} | ({c}) == ({d}) | any(({c}, {d}))"
ATOMS = """
(jf + {n}*{i} < 20) | (jf - {i} < {n}) | (ip >= {a}) | (ip + ({a}) < 70) | (2*jf + 1 <= 90 - ({i})) | (jf == {i})
({a} < {n}) | ({i} == {n}) | True
"""
VIEWS = """
k.x[{a}] | k.x[{i} % 9] | k.x[{i}] | k.x[({a}) % 64] | k.x[({a}) % 60, ip, jf] | k.x[3, ip, ({a}) % {n} + jf]
k.y[k.ds(({a}) % 99, 8)] | k.y[{i} * 8 : {i} * 8 + 8] | k.y[abs({a}) : 40] | t0[:, ({a}) % 8 : ({a}) % 8 + {n}]
tiles[({a}) % len(tiles)] | t1
"""
STATES = """
c0 += {n} | c0 = {a} | c1 = c0 + {n} | c0, c1 = c1, c0 | items.append({a}) | items.append({n})
items[({a}) % len(items)] = {n} | table[({a}) % 3] = {b} | c1 = table.get(({a}) % 3, c1) | c0 = items[-1] + ({a})
t0 = k.op('next', t0, {v}) | t0 += k.x[({a}) % 64] | tiles.append(tiles.pop(0)) | t0, t1 = t1, t0 | flag = {c}
call = lambda n={i}: n + {i}; c1 = call() | c0 = int({a}) | local = {a}; c1 = local | del items[1:]
"""


LEAVING = ("break", "continue", "continue", "break", "return", "raise KeyError('out')")


def _choices(text: str) -> list[str]:
    return [choice.strip() for line in text.strip().splitlines() for choice in line.split("|")]


_TEMPLATES = {text: _choices(text) for text in (EXPRESSIONS, LEAVES, CONDITIONS, JOINED, ATOMS, VIEWS, STATES)}


class _Parts:
    """The parts of one template, written when the template asks for them."""

    def __init__(self, writer: "Writer", depth: int) -> None:
        self.writer = writer
        self.depth = depth
        self.written: dict[str, str] = {}

    def __getitem__(self, key: str) -> str:
        if key not in self.written:
            self.written[key] = self.write(key)
        return self.written[key]

    def write(self, key: str) -> str:
        writer = self.writer
        if key in "ab":
            return writer.expression(self.depth)
        if key in "cd":
            return writer.condition(self.depth)
        if key == "v":
            return writer.view()
        return writer.index() if key == "i" else str(writer.number(1, 9))


class Writer:
    """Writes one program. `indices` are the loop variables in sight; `budget` limits the number of statements."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.indices: list[str] = []
        self.budget = self.random.randint(8, 24)
        self.loops = 0

    def write(self) -> str:
        while self.budget > 0:
            self.statement(1)
        self.line(1, "k.op('end', t0, number=c0 + c1, count=len(items))")
        return HEADER + "\n".join(self.lines) + "\n"

    def line(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    def number(self, low: int = 0, high: int = 9) -> int:
        return self.random.randint(low, high)

    # Expressions

    def fill(self, templates: str, depth: int = 1) -> str:
        """One of `templates`: a, b are expressions, c, d conditions, i an index, n a positive number, v a view."""
        return self.random.choice(_TEMPLATES[templates]).format_map(_Parts(self, depth))

    def index(self) -> str:
        return self.random.choice([*self.indices, *self.indices, "c0", "c1"])

    def expression(self, depth: int = 2) -> str:
        leaf = depth <= 0 or self.random.random() < 0.3
        return self.fill(LEAVES if leaf else EXPRESSIONS, depth - 1)

    def condition(self, depth: int = 1) -> str:
        return self.fill(JOINED if depth > 0 and self.random.random() < 0.4 else CONDITIONS, depth - 1)

    def mask(self) -> str:
        return " & ".join(self.fill(ATOMS) for _ in range(self.number(1, 3)))

    def view(self) -> str:
        return self.fill(VIEWS, 2)

    # Statements

    def statement(self, depth: int) -> None:
        self.budget -= 1
        kinds: list[Callable[[int], None]] = [self.op, self.op, self.op, self.state, self.state]
        if depth < 5:
            kinds += [self.branch, self.branch, self.attempt]
            if self.loops < 3:
                kinds += [self.loop] * (6 if not self.loops else 3)
            if self.loops:
                kinds += [self.leave]
        self.random.choice(kinds)(depth)

    def block(self, depth: int) -> None:
        for _ in range(self.number(1, 3)):
            self.statement(depth)

    def op(self, depth: int) -> None:
        if self.random.random() < 0.25:
            self.line(depth, f"k.op('masked', k.x[({self.index()}) % 64, ip, jf], mask={self.mask()})")
            return
        target = self.random.choice(("", "", "t1 = ", "other = "))
        self.line(depth, f"{target}k.op('op{self.number()}', {self.view()}, {self.view()}, number={self.expression()})")

    def state(self, depth: int) -> None:
        self.line(depth, self.fill(STATES))

    def branch(self, depth: int) -> None:
        self.line(depth, f"if {self.condition()}:")
        self.block(depth + 1)
        if self.random.random() < 0.5:
            self.line(depth, "else:")
            self.block(depth + 1)

    def attempt(self, depth: int) -> None:
        self.line(depth, "try:")
        self.block(depth + 1)
        self.line(depth, f"except {self.random.choice(['IndexError', 'Exception', '(IndexError, KeyError)'])}:")
        self.block(depth + 1)
        if self.random.random() < 0.3:
            self.line(depth, "finally:")
            self.line(depth + 1, "c1 += 1")

    def leave(self, depth: int) -> None:
        self.line(depth, f"if {self.condition()}:")
        self.line(depth + 1, self.random.choice(LEAVING))

    def loop(self, depth: int) -> None:
        name = f"i{len(self.lines)}"
        trips = self.number(1, 9 - 3 * self.loops)
        values = f"{trips}" if self.random.random() < 0.7 else f"{self.number(0, 3)}, {trips + 3}, {self.number(1, 3)}"
        if self.indices and self.random.random() < 0.1:
            values = f"({self.index()}) % 4 + 1"
        kind = self.random.choice(["k.affine", "k.affine", "k.sequential", "k.static", "range"])
        self.line(depth, f"for {name} in {kind}({values}):")
        self.indices.append(name)
        self.loops += 1
        self.block(depth + 1)
        self.loops -= 1
        # The index keeps its last value after the loop, which always has an iteration; a loop in a branch may not run.
        if depth > 1:
            self.indices.remove(name)
        if self.random.random() < 0.15:
            self.line(depth, "else:")
            self.line(depth + 1, f"k.op('else', number={self.expression(1)})")


def source(seed: int) -> str:
    return Writer(seed).write()


def compiled(seed: int) -> Callable[[Toy], Any]:
    """The program of `seed`, with its text where tracing finds the source of code."""
    text = source(seed)
    name = f"<random program {seed}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    namespace: dict[str, Any] = {}
    exec(compile(text, name, "exec"), namespace)

    def program(k: Toy) -> Any:
        return namespace["program"](k, arange(128)[:, None], arange(64)[None, :])

    return program

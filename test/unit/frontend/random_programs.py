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


class Writer:
    """Writes one program. `indices` are the loop variables in sight; `budget` limits the number of statements."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.indices: list[str] = []
        self.budget = self.random.randint(8, 24)
        self.loops = 0
        self.names = 0

    def write(self) -> str:
        while self.budget > 0:
            self.statement(1)
        self.line(1, "k.op('end', t0, number=c0 + c1, count=len(items))")
        return HEADER + "\n".join(self.lines) + "\n"

    def line(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    def pick(self, *choices: Any) -> Any:
        return self.random.choice(choices)

    def number(self, low: int = 0, high: int = 9) -> int:
        return self.random.randint(low, high)

    # Expressions

    def index(self) -> str:
        names = [*self.indices, *self.indices, "c0", "c1"]
        return self.random.choice(names)

    def expression(self, depth: int = 2) -> str:
        if depth == 0 or self.random.random() < 0.3:
            return self.pick(self.index(), f"{self.number(1, 4)}*{self.index()} + {self.number(-3, 6)}")
        a, b = self.expression(depth - 1), self.expression(depth - 1)
        n = self.number(1, 5)
        return self.pick(
            f"({a} + {b})",
            f"({a} - {b})",
            f"({a}) // {n}",
            f"({a}) % {n}",
            f"(({a}) // {n}) * {n} + ({a}) % {n}",
            f"({a}) // -{n}",
            f"min({a}, {self.number()})",
            f"max({a}, {b})",
            f"abs({a} - {n})",
            f"({a} if {self.condition(0)} else {b})",
            f"(({a}) << 1)",
            f"divmod({a}, {n})[{self.pick(0, 1)}]",
            f"({a}) * ({self.index()})",
            f"(({a}) & 3)",
            f"sum(({a}, {b}))",
        )

    def condition(self, depth: int = 1) -> str:
        a = self.expression(depth)
        if depth and self.random.random() < 0.4:
            b, c = self.condition(depth - 1), self.condition(depth - 1)
            return self.pick(f"({b} and {c})", f"({b} or {c})", f"not {b}", f"({b}) == ({c})", f"any(({b}, {c}))")
        n = self.number(-2, 12)
        return self.pick(
            f"{a} {self.pick('<', '<=', '>', '>=', '==', '!=')} {n}",
            f"{n} {self.pick('<', '>=')} {a}",
            f"{n} <= {a} < {n + self.number(1, 5)}",
            f"{a} < {self.expression(depth)}",
            f"({a}) in ({n}, {n + 2})",
            f"({a}) % {self.number(2, 3)} == 0",
            f"bool({a})",
            f"{a} < {n}.5",
            "flag",
            "len(items) % 2",
        )

    def mask(self) -> str:
        e = self.expression(1)
        n = self.number(-10, 140)
        atoms = [
            f"(jf + {self.number(-3, 3)}*{self.index()} < {self.number(0, 70)})",
            f"(ip >= {e})",
            f"(ip + ({e}) < {n})",
            f"(2*jf + 1 <= {self.number(0, 140)} - ({self.index()}))",
            f"(jf == {self.index()})",
            f"({e} < {self.number()})",
            f"({self.index()} == {self.number(0, 5)})",
            "True",
        ]
        return " & ".join(self.random.sample(atoms, self.number(1, 3)))

    def view(self) -> str:
        e = self.expression()
        n = self.number(1, 6)
        return self.pick(
            f"k.x[{e}]" if self.random.random() < 0.3 else f"k.x[{self.index()} % 9]",
            f"k.x[({e}) % 64]",
            f"k.x[({e}) % 60, ip, jf]",
            f"k.x[3, ip, ({e}) % {n} + jf]",
            f"k.y[k.ds(({e}) % 99, 8)]",
            f"k.y[{self.index()} * 8 : {self.index()} * 8 + 8]",
            f"k.y[abs({e}) : 40]",
            f"t0[:, ({e}) % 8 : ({e}) % 8 + {n}]",
            f"tiles[({e}) % len(tiles)]",
            "t1",
        )

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
        target = self.pick("", "", "t1 = ", "local = ")
        self.line(depth, f"{target}k.op('op{self.number()}', {self.view()}, {self.view()}, number={self.expression()})")

    def state(self, depth: int) -> None:
        self.names += 1
        e = self.expression(1)
        self.line(
            depth,
            self.pick(
                f"c0 += {self.number(1, 3)}",
                f"c0 = {e}",
                f"c1 = c0 + {self.number()}",
                "c0, c1 = c1, c0",
                f"items.append({e})",
                f"items.append({self.number()})",
                f"items[({e}) % len(items)] = {self.number()}",
                f"table[({e}) % 3] = {e}",
                f"c1 = table.get(({e}) % 3, c1)",
                f"c0 = items[-1] + ({e})",
                f"t0 = k.op('next', t0, {self.view()})",
                f"t0 += k.x[({e}) % 64]",
                "tiles.append(tiles.pop(0))",
                "t0, t1 = t1, t0",
                f"flag = {self.condition(0)}",
                f"call{self.names} = lambda n={self.index()}: n + {self.index()}; c1 = call{self.names}()",
                f"c0 = int({e})",
                f"local{self.names} = {e}; c1 = local{self.names}",
                "del items[1:]",
            ),
        )

    def branch(self, depth: int) -> None:
        self.line(depth, f"if {self.condition()}:")
        self.block(depth + 1)
        if self.random.random() < 0.5:
            self.line(depth, "else:")
            self.block(depth + 1)

    def attempt(self, depth: int) -> None:
        self.line(depth, "try:")
        self.block(depth + 1)
        self.line(depth, f"except {self.pick('IndexError', 'Exception', '(IndexError, KeyError)')}:")
        self.block(depth + 1)
        if self.random.random() < 0.3:
            self.line(depth, "finally:")
            self.line(depth + 1, "c1 += 1")

    def leave(self, depth: int) -> None:
        self.line(depth, f"if {self.condition()}:")
        self.line(depth + 1, self.pick("break", "continue", "continue", "break", "return", "raise KeyError('out')"))

    def loop(self, depth: int) -> None:
        name = f"i{len(self.lines)}"
        trips = self.number(1, 6 if self.loops else 12)
        values = self.pick(f"{trips}", f"{trips}", f"{self.number(0, 4)}, {trips + 4}, {self.number(1, 3)}")
        if self.indices and self.random.random() < 0.1:
            values = f"({self.index()}) % 4 + 1"
        kind = self.pick("k.affine", "k.affine", "k.sequential", "k.static", "range")
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

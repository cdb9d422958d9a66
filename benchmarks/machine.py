"""How fast this machine is now: what xDSL itself costs an op, to read the other tables against.

    python benchmarks/machine.py

Parses, verifies and prints 5,000 ops of xDSL's `arith` and `memref`, the collector off. Beside the figures stand those
of the machine on which the goals were set, where the same kinds of op were measured; the median of the ratios says how
many times slower this machine is.
"""

import gc
import io
import time
from collections.abc import Callable
from statistics import median

from xdsl.context import Context
from xdsl.dialects.arith import Arith
from xdsl.dialects.builtin import Builtin
from xdsl.dialects.func import Func
from xdsl.dialects.memref import MemRef
from xdsl.parser import Parser
from xdsl.printer import Printer

OPS = 5000
REPEATS = 5
GOALS_SET_AT = {"parse": 109.0, "verify": 18.0, "print": 15.0}
"""Microseconds an op on the machine on which the goals were set."""

MIX = (
    "%l{n} = memref.load %m[%i, %i] : memref<128x512xf32>",
    "%a{n} = arith.addf %l{n}, %f : f32",
    "%b{n} = arith.mulf %a{n}, %f : f32",
    "memref.store %b{n}, %m[%i, %i] : memref<128x512xf32>",
)


def text() -> str:
    """Returns a function of so many ops."""
    lines = [MIX[number % len(MIX)].format(n=number // len(MIX)) for number in range(OPS)]
    return "\n".join(["func.func @f(%m: memref<128x512xf32>, %i: index, %f: f32) {", *lines, "func.return", "}"])


def microseconds(run: Callable[[], object]) -> float:
    """Returns the median CPU time an op."""
    times: list[float] = []
    for _ in range(REPEATS):
        start = time.process_time()
        run()
        times.append(time.process_time() - start)
    return 1e6 * median(times) / OPS


def main() -> None:
    """Prints the table."""
    context = Context()
    for dialect in (Builtin, Arith, Func, MemRef):
        context.load_dialect(dialect)
    source = text()
    gc.disable()
    module = Parser(context, source).parse_module()
    spent = {
        "parse": microseconds(lambda: Parser(context, source).parse_module()),
        "verify": microseconds(module.verify),
        "print": microseconds(lambda: Printer(io.StringIO()).print_op(module)),
    }
    print("| xDSL's own ops | µs here | µs where the goals were set | times |")
    print("| --- | --- | --- | --- |")
    for what, taken in spent.items():
        print(f"| {what} | {taken:.0f} | {GOALS_SET_AT[what]:.0f} | {taken / GOALS_SET_AT[what]:.1f} |")
    print(f"\nthis machine: {median(taken / GOALS_SET_AT[what] for what, taken in spent.items()):.1f} times slower")


if __name__ == "__main__":
    main()

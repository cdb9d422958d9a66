"""What parsing, verifying, printing and holding a module costs an instruction.

    python benchmarks/ir.py [--sizes 1000,10000,100000] [--repeat 5]

A BIR function of instructions with two to four operands, three on average, in loops of 50, is parsed with a location
for every op, verified and printed as nki-opt does it. Figures are medians of CPU time; the collector is off, as the
tools set it while IR is built; memory is what the module's objects take, traced by Python.
"""

import argparse
import gc
import io
import time
import tracemalloc
from collections.abc import Callable
from functools import partial
from statistics import median
from typing import Any, TextIO

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from nki_mlir.dialects import get_all_dialects
from nki_mlir.dialects.verifier import verify_module
from nki_mlir.tools.mlir_parser import parse_mlir
from nki_mlir.tools.mlir_printer import MlirPrinter

GOALS = {"parse": 60.0, "print": 20.0, "verify": 40.0, "memory": 2048.0}
"""Microseconds and bytes an instruction."""
LOOP = 50
"""Instructions in one loop."""

HEAD = """bir.module @mix attributes {arch = #nki.arch<gen3>} {
  bir.func @sg0000 {
    %a = bir.tensor "a" kind external_input : !nki.mem<hbm 8256x512xf32>
    %o = bir.tensor "o" kind external_output : !nki.mem<hbm 8256x512xf32>
    %x = bir.tensor "x" at <0, 0> : !nki.mem<sbuf 128x512xf32>
    %y = bir.tensor "y" at <0, 2048> : !nki.mem<sbuf 128x512xf32>
    %z = bir.tensor "z" at <0, 4096> : !nki.mem<sbuf 128x512xbf16>
    %b = bir.tensor "b" at <0, 5120> : !nki.mem<sbuf 128x1xf32>
    %p = bir.tensor "p" at <0, 0> : !nki.mem<psum 128x512xf32>
"""

MIX = (
    "bir.load {name} outs(%x[0 : 128 | 0 : 512] f32) ins(%a[65536*{i} + {k} : 512*128, 512] f32)",
    "bir.tensor_tensor add on dve {name} outs(%y[0 : 128 | {k} : 256] f32)"
    " ins(%x[0 : 128 | {k} : 256] f32, %x[0 : 128 | 256 : 256] f32)",
    "bir.activation exp on act {name} outs(%z[0 : 128 | 0 : 512] bf16)"
    " ins(%y[0 : 128 | 0 : 512] f32, bias = %b[0 : 128 | 0 : 1] f32, scale = 0.5 : f32)",
    "bir.matmult {name} outs(%p[0 : 128 | 0 : 512] f32)"
    " ins(%z[0 : 128 | {k} : 128] bf16, %z[0 : 128 | 0 : 512] bf16) params(accumulate = {i})",
    "bir.tensor_scalar_ptr mult add on dve {name} outs(%x[0 : 128 | 0 : 512] f32)"
    " ins(%p[0 : 128 | 0 : 512] f32, operand0 = %b[0 : 128 | 0 : 1] f32, operand1 = {k}.5 : f32)",
    "bir.tensor_reduce max x on dve {name} outs(%b[0 : 128 | 0 : 1] f32) ins(%x[0 : 128 | {k} : 128] f32)",
    "bir.select {name} outs(%y[0 : 128 | 0 : 512] f32)"
    " ins(%x[0 : 128 | 0 : 512] f32, %x[0 : 128 | 0 : 512] f32, {k}.0 : f32)",
    "bir.save {name} outs(%o[65536*{i} + {k} : 512*128, 512] f32) ins(%y[0 : 128 | 0 : 512] f32)",
)


def text(instructions: int) -> str:
    """Returns a BIR module of so many instructions."""
    lines = [HEAD]
    for number in range(instructions):
        if number % LOOP == 0:
            lines.append(f"    bir.loop %i{number} = 0 to 64 step 1 affine {{\n")
            variable = f"%i{number}"
        body = MIX[number % len(MIX)].format(name=f'"I-{number}"', i=variable, k=number % 256)
        lines.append(f"      {body}\n")
        if number % LOOP == LOOP - 1 or number == instructions - 1:
            lines.append("    }\n")
    return "".join([*lines, "  }\n}\n"])


class Nothing(io.StringIO):
    """A stream that forgets, so that printing is measured and not memory."""

    def write(self, text: str, /) -> int:
        return len(text)


def context() -> Context:
    """Returns a context with our dialects."""
    found = Context()
    for name, dialect in get_all_dialects().items():
        found.register_dialect(name, dialect)
    return found


def seconds(run: Callable[[], Any], repeat: int) -> float:
    """Returns the median of the CPU time of a call."""
    times: list[float] = []
    for _ in range(repeat):
        start = time.process_time()
        result = run()
        times.append(time.process_time() - start)
        del result
    return median(times)


def print_module(module: ModuleOp, stream: TextIO) -> None:
    """Prints a module."""
    MlirPrinter(stream).print_op(module)


def measure(instructions: int, repeat: int) -> dict[str, float]:
    """Returns microseconds and bytes an instruction."""
    source, ctx = text(instructions), context()

    def parse() -> ModuleOp:
        return parse_mlir(ctx, source, "mix.mlir")

    module = parse()
    spent = {
        "parse": seconds(parse, repeat),
        "verify": seconds(partial(verify_module, module), repeat),
        "print": seconds(partial(print_module, module, Nothing()), repeat),
    }
    found = {what: 1e6 * time_spent / instructions for what, time_spent in spent.items()}
    del module
    gc.collect()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    module = parse()
    found["memory"] = (tracemalloc.get_traced_memory()[0] - before) / instructions
    tracemalloc.stop()
    del module
    gc.collect()
    return found


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="1000,10000,100000", help="numbers of instructions")
    parser.add_argument("--repeat", type=int, default=5, help="runs of which the median is taken")
    arguments = parser.parse_args()
    print("| instructions | parse µs | verify µs | print µs | memory bytes |")
    print("| --- | --- | --- | --- | --- |")
    gc.disable()
    for size in map(int, arguments.sizes.split(",")):
        found = measure(size, arguments.repeat)
        print(f"| {size} | " + " | ".join(f"{found[k]:.1f}" for k in ("parse", "verify", "print")), end="")
        print(f" | {found['memory']:.0f} |", flush=True)
    print("| at most | " + " | ".join(f"{GOALS[k]:.0f}" for k in ("parse", "verify", "print", "memory")) + " |")


if __name__ == "__main__":
    main()

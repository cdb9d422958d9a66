"""What the simulator itself costs an instruction: compiling it, and running it on operands of one element a partition.

    python benchmarks/sim_overhead.py [INSTRUCTIONS …]

Prints microseconds of CPU time an instruction, medians of several runs at one BLAS thread, for a mix of instructions
with three operands: straight, and in a loop that makes every view anew. `bare` is what numpy alone takes for the calls,
`over` the rest of `run`, the simulator's overhead.
"""

import gc
import sys
import time
from collections.abc import Callable
from statistics import median

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin
from xdsl.parser import Parser

from nki_mlir.dialects.bir import Bir
from nki_mlir.dialects.bir.structure import ModuleOp
from nki_mlir.dialects.nki import NKI
from nki_mlir.isa.target import CAYMAN
from nki_mlir.simulator.machine import find_module
from nki_mlir.simulator.program import Budget, Function
from nki_mlir.simulator.threads import one_blas_thread
from nki_mlir.simulator.undefined import Undefined

REPEATS = 5
TILES = 64
MIX = (
    "bir.tensor_tensor add outs({0}) ins({1}, {2})",
    "bir.tensor_tensor max outs({1}) ins({0}, {2})",
    "bir.activation copy outs({0}) ins({1}, bias = {2})",
    "bir.tensor_scalar_ptr mult outs({2}) ins({0}, operand0 = {1})",
)


def program(count: int, looped: bool) -> ModuleOp:
    """Returns a module that runs `count` instructions, one body of the mix in a loop or all in a row."""
    context = Context()
    for dialect in (Builtin, NKI, Bir):
        context.load_dialect(dialect)
    columns = [f"%t[0 : 128 | {k}{' + %i' if looped else ''} : 1] f32" for k in range(TILES)]
    lines = [
        'bir.module @m { bir.func @f { %t = bir.tensor "t" at <0, 0> {user_allocated} : !nki.mem<sbuf 128x512xf32>'
    ]
    body = [
        MIX[k % 4].format(*(columns[(k * 7 + n * 5) % TILES] for n in range(3)))
        for k in range(TILES if looped else count)
    ]
    if looped:
        lines.append(
            f"bir.loop %j = 0 to {max(1, count // TILES // 8)} step 1 affine {{ bir.loop %i = 0 to 8 step 1 affine {{"
        )
        lines += [*body, "} }"]
    else:
        lines += body
    return find_module(Parser(context, "\n".join([*lines, "} }"])).parse_module())  # type: ignore[return-value]


def compiled(module: ModuleOp, poison: bool) -> Function:
    """Returns the module's function, compiled."""
    (func,) = module.body.block.ops
    return Function(
        func, {}, CAYMAN, memory_target=CAYMAN, undefined=Undefined() if poison else None, budget=Budget(1 << 40)
    )  # type: ignore[arg-type]


def measured(run: Callable[[], object], count: int) -> float:
    """Returns the median microseconds of CPU time for one of `count`."""
    times: list[float] = []
    for _ in range(REPEATS):
        start = time.process_time()
        run()
        times.append(time.process_time() - start)
    return median(times) / count * 1e6


def bare(count: int) -> float:
    """Returns what the numpy calls behind one instruction take."""
    a = np.zeros((128, 512), np.float32)
    views = [a[:, k : k + 1] for k in range(TILES)]

    def run() -> None:
        for k in range(0, count, 4):
            x, y, z = views[k % TILES], views[(k + 5) % TILES], views[(k + 10) % TILES]
            np.add(y, z, out=x)
            np.maximum(x, z, out=y)
            np.add(y, z, out=x)
            np.multiply(x, y, out=z)

    return measured(run, count)


def main() -> None:
    """Prints the table."""
    counts = [int(argument) for argument in sys.argv[1:]] or [1_000, 10_000, 100_000]
    heads = f"{'compile':>8} {'run':>6} {'bare':>6} {'over':>6} {'poison':>7}"
    print(f"{'instructions':>12} {'form':>9} {heads}   us an instruction")
    gc.disable()
    for count in counts:
        with one_blas_thread(), np.errstate(all="ignore"):
            plain = bare(count)
        for form in ("straight", "looped"):
            module = program(count, form == "looped")
            body = TILES if form == "looped" else count
            compile_time = measured(lambda: compiled(module, False), body)  # noqa: B023
            with one_blas_thread(), np.errstate(all="ignore"):
                function = compiled(module, False)
                executed = count if form == "straight" else max(1, count // TILES // 8) * 8 * TILES
                run_time = measured(function.run, executed)
                checked = _initialised(module)
                poison_time = measured(checked.run, executed)
            print(
                f"{count:>12} {form:>9} {compile_time:>8.2f} {run_time:>6.2f} {plain:>6.2f} "
                f"{run_time - plain:>6.2f} {poison_time:>7.2f}",
                flush=True,
            )
            gc.collect()


def _initialised(module: ModuleOp) -> Function:
    function = compiled(module, True)
    for storage in function.storages:
        for place in storage.places:
            if place.shadow is not None:
                place.shadow.fill(255)
    return function


if __name__ == "__main__":
    main()

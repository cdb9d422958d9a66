"""A tiled fp32 matmul on the simulator, against one numpy.matmul in the same process.

    python benchmarks/sim_matmul.py [SIZE]

Every 128x128 tile of lhsT and 128x512 tile of rhs is loaded by DMA for every use, products are accumulated in PSUM
over K, and results are copied to SBUF and stored. CPU time at one BLAS thread, with the collector as the tools have it
once the input is read, medians of several rounds; `loops` runs the three nested loops, `unrolled` the same instructions
in a row; both must give the same bits.
"""

import gc
import sys
import time
from collections.abc import Callable
from statistics import median

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, ModuleOp
from xdsl.parser import Parser

from nki_mlir.dialects.bir import Bir
from nki_mlir.dialects.nki import NKI
from nki_mlir.simulator import simulate
from nki_mlir.simulator.threads import one_blas_thread

REPEATS = 15


def _tile(size: int, m: str, n: str, k: str) -> list[str]:
    return [
        f"bir.load outs(%at[0 : 128 | 0 : 128] f32) ins(%lhsT[{128 * size}*{k} + 128*{m} : {size}*128, 128] f32)",
        f"bir.load outs(%bt[0 : 128 | 0 : 512] f32) ins(%rhs[{128 * size}*{k} + 512*{n} : {size}*128, 512] f32)",
        "bir.matmult outs(%p[0 : 128 | 0 : 512] f32) ins(%at[0 : 128 | 0 : 128] f32, %bt[0 : 128 | 0 : 512] f32)",
    ]


def _store(size: int, m: str, n: str) -> list[str]:
    return [
        "bir.tensor_copy outs(%ct[0 : 128 | 0 : 512] f32) ins(%p[0 : 128 | 0 : 512] f32)",
        f"bir.save outs(%out[{128 * size}*{m} + 512*{n} : {size}*128, 512] f32) ins(%ct[0 : 128 | 0 : 512] f32)",
    ]


def program(size: int, unrolled: bool) -> ModuleOp:
    """Returns the module that multiplies two square matrices."""
    lines = [
        "bir.module @matmul attributes {arch = #nki.arch<gen3>} { bir.func @f {",
        f'%lhsT = bir.tensor "lhsT" kind external_input : !nki.mem<hbm {size}x{size}xf32>',
        f'%rhs = bir.tensor "rhs" kind external_input : !nki.mem<hbm {size}x{size}xf32>',
        f'%out = bir.tensor "out" kind external_output : !nki.mem<hbm {size}x{size}xf32>',
        '%at = bir.tensor "at" at <0, 0> : !nki.mem<sbuf 128x128xf32>',
        '%bt = bir.tensor "bt" at <0, 512> : !nki.mem<sbuf 128x512xf32>',
        '%ct = bir.tensor "ct" at <0, 2560> : !nki.mem<sbuf 128x512xf32>',
    ]
    accumulator = 'bir.tensor "{}" at <0, 0> : !nki.mem<psum 128x512xf32>'
    if unrolled:
        for m in range(size // 128):
            for n in range(size // 512):
                tile = [f"%p{m}_{n} = " + accumulator.format(f"p{m}_{n}")]
                for k in range(size // 128):
                    tile += _tile(size, str(m), str(n), str(k))
                lines += [line.replace("%p[", f"%p{m}_{n}[") for line in tile + _store(size, str(m), str(n))]
    else:
        lines.append(
            f"bir.loop %m = 0 to {size // 128} step 1 affine {{ bir.loop %n = 0 to {size // 512} step 1 affine {{"
        )
        lines.append("%p = " + accumulator.format("p"))
        lines.append(f"bir.loop %k = 0 to {size // 128} step 1 sequential {{")
        lines += [*_tile(size, "%m", "%n", "%k"), "}", *_store(size, "%m", "%n"), "} }"]
    context = Context()
    for dialect in (Builtin, NKI, Bir):
        context.load_dialect(dialect)
    return Parser(context, "\n".join([*lines, "} }"])).parse_module()


def by_hand(lhs_t: np.ndarray, rhs: np.ndarray) -> np.ndarray:
    """Returns the product by the same tiles and copies as the program, written with numpy alone."""
    size = len(rhs)
    a, b, c = (np.empty((128, width), np.float32) for width in (128, 512, 512))
    total, product = np.empty((128, 512), np.float32), np.empty((128, 512), np.float32)
    out = np.zeros((size, size), np.float32)
    for m in range(0, size, 128):
        for n in range(0, size, 512):
            for k in range(0, size, 128):
                a[...] = lhs_t[k : k + 128, m : m + 128]
                b[...] = rhs[k : k + 128, n : n + 512]
                np.matmul(a.T, b, out=product if k else total)
                if k:
                    np.add(total, product, out=total)
            c[...] = total
            out[m : m + 128, n : n + 512] = c
    return out


def rounds(runs: dict[str, Callable[[], object]], first: str) -> list[tuple[str, float, float]]:
    """Returns (name, milliseconds of CPU time, times that of `first`), medians of several rounds.

    Every round runs all of them, so that the ratios are of times that lie close together.
    """
    times: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(REPEATS):
        for name, run in runs.items():
            start = time.process_time()
            run()
            times[name].append(time.process_time() - start)
    return [
        (name, 1e3 * median(taken), median(one / other for one, other in zip(taken, times[first], strict=True)))
        for name, taken in times.items()
    ]


def main() -> None:
    """Prints the table."""
    size = int(sys.argv[1]) if len(sys.argv) > 1 else 1024
    generator = np.random.default_rng(0)
    inputs = {name: generator.standard_normal((size, size), dtype=np.float32) for name in ("lhsT", "rhs")}
    expected = inputs["lhsT"].T @ inputs["rhs"]
    loops, unrolled = program(size, False), program(size, True)
    first = simulate(loops, inputs).outputs["out"]
    assert np.array_equal(first, simulate(unrolled, inputs).outputs["out"])
    np.testing.assert_allclose(first, expected, rtol=1e-4, atol=1e-3)
    runs: dict[str, Callable[[], object]] = {
        "numpy.matmul": lambda: np.matmul(inputs["lhsT"].T, inputs["rhs"]),
        "tiles by hand in numpy": lambda: by_hand(inputs["lhsT"], inputs["rhs"]),
        "loops": lambda: simulate(loops, inputs, poison=False),
        "loops, poison": lambda: simulate(loops, inputs, poison=True),
        "unrolled": lambda: simulate(unrolled, inputs, poison=False),
        "unrolled, poison": lambda: simulate(unrolled, inputs, poison=True),
    }
    print(f"fp32 matmul {size}^3, one BLAS thread, CPU time\n")
    print(f"{'':>22} {'ms':>8} {'times numpy':>12}")
    gc.collect()
    gc.freeze()
    gc.set_threshold(200_000, 20, 100)
    with one_blas_thread():
        for name, taken, ratio in rounds(runs, "numpy.matmul"):
            print(f"{name:>22} {taken:>8.1f} {ratio:>12.2f}")


if __name__ == "__main__":
    main()

"""What tracing a kernel costs an instruction: recording it (sema, without re-verification) and building the IR.

    python benchmarks/trace.py [--sizes 1000,10000,100000] [--repeat 5]

The kernel is of the current API: a mix of instructions with three operands, each an integer slice of a tensor.
Figures are medians of CPU time in microseconds an instruction; the collector is off, as it is while tracing. The sizes
take turns, so that what slows the machine for a while slows them all.
"""

import argparse
import time
from itertools import pairwise
from statistics import median

import numpy as np

import nki_mlir.nki as nki
import nki_mlir.nki.isa as nisa
import nki_mlir.nki.language as nl
from nki_mlir.frontend.kernel import collector_off
from nki_mlir.isa.target import CAYMAN

GOAL = 30.0
"""Microseconds an instruction, recording and building together."""
KINDS = 5


@nki.jit
def mix(a, steps):
    """Runs `steps` rounds of five instructions."""
    out = nl.ndarray((128, 512), nl.float32, buffer=nl.shared_hbm)
    x = nl.ndarray((128, 512), nl.float32)
    y = nl.ndarray((128, 512), nl.float32)
    p = nl.ndarray((128, 512), nl.float32, buffer=nl.psum)
    nisa.dma_copy(x, a)
    nisa.dma_copy(y, a)
    for step in range(steps):
        k = step % 128
        nisa.tensor_tensor(y[0:128, k : k + 128], x[0:128, 0:128], x[0:128, k : k + 128], op="add")
        nisa.tensor_scalar(x[0:128, k : k + 256], y[0:128, 0:256], "multiply", x[0:128, k : k + 1])
        nisa.activation(y[0:64, k : k + 64], "exp", x[0:64, 0:64], bias=x[0:64, k : k + 1])
        nisa.nc_matmul(p[0:128, 0:256], x[0:128, k : k + 128], y[0:128, k : k + 256])
        nisa.scalar_tensor_tensor(y[0:128, 0:64], x[0:128, k : k + 64], "add", 1.0, "multiply", x[0:128, 64:128])
    nisa.dma_copy(out, y)
    return out


def measure(instructions):
    """Returns the microseconds an instruction of tracing, building Penguin and building KLR."""
    argument = np.zeros((128, 512), np.float32)
    with collector_off():
        times = [time.process_time()]
        trace = mix.trace((argument, instructions // KINDS), {}, frontend="beta2", target=CAYMAN)
        times.append(time.process_time())
        built = []
        for frontend in ("beta3", "beta2"):
            built.append(trace.build(frontend))
            times.append(time.process_time())
    return [(end - start) / instructions * 1e6 for start, end in pairwise(times)]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="1000,10000,100000")
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    sizes = [int(text) for text in options.sizes.split(",")]
    measure(1000)
    found = [[measure(size) for size in sizes] for _ in range(options.repeat)]
    print(f"{'instructions':>12} {'record':>8} {'penguin':>8} {'klr':>8} {'record + build':>15}  (goal {GOAL:.0f} µs)")
    for size, rows in zip(sizes, zip(*found, strict=True), strict=True):
        record, penguin, klr = (median(column) for column in zip(*rows, strict=True))
        print(f"{size:12} {record:8.1f} {penguin:8.1f} {klr:8.1f} {record + max(penguin, klr):15.1f}")


if __name__ == "__main__":
    main()

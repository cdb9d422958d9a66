"""Compiles and simulates every example through both front ends and prints what came out.

Run it with `make demo`, or `python examples/demo.py [DIRECTORY]`. The IR of every kernel is written below the output
directory: Penguin or KLR as traced, and BIR as it ran.
"""

import argparse
import importlib
import sys
import time
from pathlib import Path

import numpy as np

import nki_mlir
from nki_mlir import compat

HERE = Path(__file__).resolve().parent
EXAMPLES = ("add", "softmax", "matmul", "attention", "layernorm", "rmsnorm", "transpose", "average_pool")
FRONTENDS = {"beta2": "klr", "beta3": "penguin"}


def load(name):
    """Returns the module of an example; `nki` and `neuronxcc.nki` are importable in it."""
    compat.install()
    if str(HERE) not in sys.path:
        sys.path.insert(0, str(HERE))
    return importlib.import_module(name)


def run(name, frontend, directory):
    """Runs one example through one front end: (instructions, greatest error, seconds, result, files)."""
    from nki_mlir.dialects.instruction import InstructionOp
    from nki_mlir.frontend.execute import execute

    example = load(name)
    arrays = example.inputs(np.random.default_rng(2026))
    start = time.perf_counter()
    trace = example.KERNEL.trace(arrays, {}, frontend=frontend)
    result = execute(example.KERNEL, trace, arrays, {}, frontend=frontend, poison=True)
    seconds = time.perf_counter() - start
    files = []
    for kind in (FRONTENDS[frontend], "bir"):
        module = nki_mlir.compile(example.KERNEL, *arrays, frontend=frontend, emit=kind)
        path = directory / f"{name}.{frontend}.{kind}.mlir"
        path.write_text(str(module) + "\n")
        files.append(path)
    expected = np.asarray(example.reference(*arrays), np.float64)
    scale = np.maximum(np.abs(expected), 1.0)
    error = float((np.abs(np.asarray(result, np.float64) - expected) / scale).max())
    instructions = sum(isinstance(op, InstructionOp) for op in module.walk())
    return instructions, error, seconds, result, files


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("directory", nargs="?", type=Path, default=Path("build/demo"), help="where the IR is written")
    directory = parser.parse_args().directory
    directory.mkdir(parents=True, exist_ok=True)
    print(f"{'kernel':14} {'front end':10} {'instructions':>12} {'max error':>11} {'seconds':>8}  bits   IR")
    failed = False
    for name in EXAMPLES:
        results = {}
        for frontend in FRONTENDS:
            instructions, error, seconds, results[frontend], files = run(name, frontend, directory)
            fine = error <= load(name).TOLERANCE
            same = ""
            if len(results) == 2:
                equal = results["beta2"].tobytes() == results["beta3"].tobytes()
                same = "equal" if equal else "DIFFER"
                fine = fine and equal
            failed = failed or not fine
            shown = ", ".join(str(path) for path in files)
            print(f"{name:14} {frontend:10} {instructions:12} {error:11.2e} {seconds:8.2f}  {same:6} {shown}")
    print("every kernel agrees with numpy" if not failed else "some kernel does not agree with numpy")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

"""What starting nki-opt on a six-line file costs, beside a bare Python and beside xDSL's own driver.

    python benchmarks/startup.py [--repeat 15]

Figures are of user and system time of the whole process; the commands take turns.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

GOAL = 0.25
"""Seconds."""

TEXT = """bir.module @copy {
  bir.func @sg0000 {
    %x = bir.tensor "x" : !nki.mem<sbuf 2x4xf32>
    bir.tensor_copy outs(%x[0 : 2 | 0 : 4] f32) ins(%x[0 : 2 | 0 : 4] f32)
  }
}
"""


def seconds(command):
    """Returns the CPU time of a command, which may keep the bytecode of what it imports as Python does."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=15)
    repeat = parser.parse_args().repeat
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "six.mlir"
        path.write_text(TEXT)
        empty = Path(folder) / "empty.mlir"
        empty.write_text("builtin.module {}\n")
        imports = "import gc, os; gc.disable(); import xdsl.xdsl_opt_main, xdsl.parser; os._exit(0)"
        rows = {
            "a bare Python": ["pass"],
            "the import of xDSL's driver and parser, and nothing else": [imports],
            "xdsl-opt, empty module": ["from xdsl.tools.xdsl_opt import main; main()", str(empty)],
            "nki-opt, six lines of BIR": ["from nki_mlir.tools.nki_opt import main; main()", str(path)],
        }
        commands = {name: [sys.executable, "-c", *rest] for name, rest in rows.items()}
        for command in commands.values():
            seconds(command)
        found = [[seconds(command) for command in commands.values()] for _ in range(repeat)]
    print("| process | CPU seconds, median | least |")
    print("| --- | --- | --- |")
    for name, column in zip(commands, zip(*found, strict=True), strict=True):
        print(f"| {name} | {median(column):.3f} | {min(column):.3f} |")
    print(f"| at most | {GOAL} | |")


if __name__ == "__main__":
    main()

"""What starting nki-opt on a six-line file costs, beside a bare Python and beside xDSL's own driver.

    python benchmarks/startup.py [--repeat 9]

Figures are medians of user and system time of the whole process.
"""

import argparse
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


def seconds(command, repeat):
    """Returns the median CPU time of a command."""
    found = []
    for _ in range(repeat):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        found.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return median(found)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=9)
    repeat = parser.parse_args().repeat
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "six.mlir"
        path.write_text(TEXT)
        empty = Path(folder) / "empty.mlir"
        empty.write_text("builtin.module {}\n")
        rows = {
            "python -c pass": [sys.executable, "-c", "pass"],
            "xdsl-opt, empty module": [
                sys.executable,
                "-c",
                "from xdsl.tools.xdsl_opt import main; main()",
                str(empty),
            ],
            "nki-opt, six lines of BIR": [
                sys.executable,
                "-c",
                "from nki_mlir.tools.nki_opt import main; main()",
                str(path),
            ],
        }
        print("| process | CPU seconds |")
        print("| --- | --- |")
        for name, command in rows.items():
            print(f"| {name} | {seconds(command, repeat):.3f} |")
        print(f"| at most | {GOAL} |")


if __name__ == "__main__":
    main()

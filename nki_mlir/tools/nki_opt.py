"""nki-opt: reads IR, runs passes over it and prints it. The driver is imported when it runs, so that this is cheap."""

from collections.abc import Sequence
from typing import TextIO

from nki_mlir.tools.common import Console, run_console_script, run_tool


def _body(console: Console, argv: Sequence[str]) -> int:
    from nki_mlir.tools.opt_driver import run_driver

    return run_driver(console, argv)


def run(argv: Sequence[str], stdin: TextIO, stdout: TextIO, stderr: TextIO) -> int:
    """Runs nki-opt on the given arguments and streams; returns its exit status, 0 or 1."""
    return run_tool(_body, argv, stdin, stdout, stderr)


def main() -> None:
    """Runs nki-opt as a process of its own."""
    run_console_script(run)


if __name__ == "__main__":
    main()

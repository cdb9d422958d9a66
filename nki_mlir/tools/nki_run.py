"""nki-run: runs a Python script with `nki` and `neuronxcc.nki` importable; its kernels run on the simulator."""

import argparse
import os
import runpy
import sys
import traceback
import warnings
from collections.abc import Generator, Sequence
from contextlib import contextmanager, redirect_stdout
from types import TracebackType
from typing import NoReturn, TextIO

from nki_mlir.diagnostics import NkiError
from nki_mlir.tools.common import ArgumentParser, Console, drop_output, input_is_read, open_streams, run_tool

EXAMPLES = """\
  nki-run examples/demo.py build/demo
  nki-run --frontend beta3 kernel.py --rows 256
  NKI_CHECK_TRACE=1 nki-run --frontend beta3 kernel.py
"""


def _parser() -> ArgumentParser:
    parser = ArgumentParser(
        "nki-run", "Run a Python script with nki and neuronxcc.nki importable, kernels on the simulator.", EXAMPLES
    )
    parser.add_argument("--frontend", choices=("beta2", "beta3"), help="front end (default: NKI_FRONTEND, else beta2)")
    parser.add_argument("--target", metavar="TARGET", help="hardware generation: trn1, trn2 or trn3 (default: trn2)")
    parser.add_argument("script", metavar="SCRIPT.py", help="the script, - for standard input")
    rest = parser.add_argument(
        "arguments", nargs=argparse.REMAINDER, metavar="…", help="what the script finds in sys.argv"
    )
    rest.required = False  # Python before 3.12 names it among what is missing
    return parser


def body(console: Console, argv: Sequence[str]) -> int:
    """Runs the script named by the command line; returns its exit status."""
    options = _parser().parse_args(list(argv))
    source = console.read_python(options.script)
    environment: dict[str, str] = {}
    if options.frontend:
        environment["NKI_FRONTEND"] = options.frontend
    if options.target:
        from nki_mlir.isa.target import TARGET_VARIABLE, parse_target

        environment[TARGET_VARIABLE] = parse_target(options.target).name
    _install(console)
    input_is_read()
    # The script meets the stream itself, with the errors that Python's has.
    stream = getattr(console.stdout, "stream", console.stdout)
    with redirect_stdout(stream), _process(options.script, options.arguments, environment):
        return _run(console, options.script, source)


def _install(console: Console) -> None:
    """Makes the names importable; a vendor's package that stays in use is mentioned."""
    from nki_mlir import compat

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", compat.VendorPackageWarning)
        compat.install()
    for warning in caught:
        print(f"nki-run: note: {warning.message}", file=console.stderr)


@contextmanager
def _process(script: str, arguments: Sequence[str], environment: dict[str, str]) -> Generator[None]:
    """Gives the script its argv, its folder on the path and its environment, and takes them back."""
    argv, path, held = sys.argv, list(sys.path), {key: os.environ.get(key) for key in environment}
    sys.argv = [script, *arguments]
    sys.path.insert(0, os.getcwd() if script == "-" else os.path.dirname(os.path.abspath(script)))
    os.environ.update(environment)
    try:
        yield
    finally:
        sys.argv, sys.path[:] = argv, path
        for key, value in held.items():
            if value is None:
                os.environ.pop(key, None)
            else:
                os.environ[key] = value


def _run(console: Console, script: str, source: str) -> int:
    """Runs a script as `__main__`; what it raises is shown as Python does, errors of kernels with their place."""
    from nki_mlir.frontend.locations import raised_at

    try:
        if script == "-":
            exec(compile(source, "<stdin>", "exec"), {"__name__": "__main__", "__builtins__": __builtins__})
        else:
            runpy.run_path(script, run_name="__main__")
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return end.code or 0
        print(end.code, file=console.stderr)
        return 1
    except NkiError as error:
        if error.location is None:
            error.location = raised_at(_of_script(error.__traceback__))
        raise
    except Exception as error:
        if console.debug:
            raise
        error.__traceback__ = _of_script(error.__traceback__)
        _without_own_frames(error)
        traceback.print_exception(error, file=console.stderr)
        return 1
    return 0


def _without_own_frames(error: BaseException) -> None:
    """Takes the frames of this package out of the tracebacks of an exception and of those that led to it."""
    from nki_mlir.frontend.locations import of_user

    met: set[int] = set()
    waiting: list[BaseException | None] = [error]
    while waiting:
        found = waiting.pop()
        if found is None or id(found) in met:
            continue
        met.add(id(found))
        found.__traceback__ = of_user(found.__traceback__)
        waiting += [found.__cause__, found.__context__]


def _of_script(trace: TracebackType | None) -> TracebackType | None:
    """Returns a traceback from the first frame of the script on."""
    skipped = (__file__, runpy.__file__)
    while trace is not None and (
        trace.tb_frame.f_code.co_filename in skipped or trace.tb_frame.f_code.co_filename.startswith("<frozen")
    ):
        trace = trace.tb_next
    return trace


def run(argv: Sequence[str], stdin: TextIO, stdout: TextIO, stderr: TextIO) -> int:
    """Runs the tool on the given streams; returns its exit status."""
    return run_tool(body, argv, stdin, stdout, stderr, options=_before_script(argv))


def _before_script(argv: Sequence[str]) -> list[str]:
    """Returns the arguments up to the name of the script; what follows is the script's."""
    found: list[str] = []
    words = iter(argv)
    for word in words:
        if word == "-" or not word.startswith("-"):
            break
        found.append(word)
        if word in ("--frontend", "--target"):
            found += [next(words, "")]
    return found


def main() -> NoReturn:
    """Runs the tool as a process, which ends as a script of its own would: with what it registered for its end."""
    open_streams()
    try:
        status = run(sys.argv[1:], sys.stdin, sys.stdout, sys.stderr)
    except BrokenPipeError:
        status = 1
    except KeyboardInterrupt:
        status = 130
    try:
        sys.stdout.flush()
    except OSError:
        drop_output()
    sys.exit(status)


if __name__ == "__main__":
    main()

"""nki-compile: traces a kernel of a Python file and prints its IR, or simulates it."""

import ast
import os
import re
import sys
from argparse import Namespace
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

from nki_mlir.diagnostics import Location, NkiError
from nki_mlir.isa.dtypes import Dtype
from nki_mlir.tools.common import ArgumentParser, Console, display_name, run_console_script, run_tool

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from nki_mlir.frontend.kernel import Kernel

EXAMPLES = """\
  nki-compile add.py:add --arg a=f32[128,512] --arg b=f32[128,512] --emit bir
  nki-compile add.py:add --arg a=f32[128,512] --arg b=f32[128,512] --emit penguin -o add.mlir
  nki-compile add.py:add --arg a=f32[128,512] --arg b=f32[128,512] --emit klr -o add.klr
  nki-compile add.py:add --arg a=bf16[128,512] --arg b=bf16[128,512] --simulate --input a=a.npy --output-dir out
  nki-compile scale.py:scale --arg x=f32[128,64] --arg factor=2.5 --frontend beta3 --emit penguin
"""
_TENSOR = re.compile(r"([A-Za-z]\w*)\[\s*(\d{1,9}(?:\s*,\s*\d{1,9})*)?\s*\]")
_BLANK = re.compile(r"\s")
_LITERAL_STARTS = ("(", "[", "{", "'", '"')


class Shaped(NamedTuple):
    """What `--arg a=f32[128,512]` gives: a tensor of which only shape and type are known."""

    shape: tuple[int, ...]
    dtype: Dtype


def parse_argument(text: str) -> tuple[str, Any]:
    """Returns (name, value) of `NAME=DTYPE[d0,d1]`, `NAME=` and a Python literal, or `NAME=word`, which is a string.

    A word has neither blanks nor square brackets, so that a tensor that is spelled wrong is none. Blanks around the
    equals sign and at the ends do not count.

    Raises:
        NkiError: the text is not of that form, or names an unknown type.
    """
    name, equals, value = (part.strip() for part in text.partition("="))
    if not equals or not name.isidentifier():
        raise NkiError(f"--arg {text}: expected NAME=DTYPE[d0,d1,…] or NAME=value")
    match = _TENSOR.fullmatch(value)
    if match is not None:
        sizes = tuple(int(size) for size in match[2].split(",")) if match[2] else ()
        if any(size < 1 for size in sizes):
            raise NkiError(f"--arg {text}: the sizes of a tensor must be positive")
        return name, Shaped(sizes, dtype_named(match[1]))
    # The last two take what Python's own literals do not: 007, inf and nan.
    for convert in (ast.literal_eval, int, float):
        try:
            return name, convert(value)
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            continue
    if value.startswith(_LITERAL_STARTS):
        raise NkiError(f"--arg {text}: {value} is no Python literal")
    if "[" in value or "]" in value:
        raise NkiError(f"--arg {text}: expected DTYPE[d0,d1,…] with positive sizes, such as f32[128,512]")
    if _BLANK.search(value):
        raise NkiError(f"--arg {text}: expected a word, got blanks in it; a string has quotes of its own: {value!r}")
    return name, value


def parse_arguments(texts: Sequence[str]) -> dict[str, Any]:
    """Returns the values of all `--arg` by name; NkiError for a name given twice, and where `parse_argument` does."""
    found: dict[str, Any] = {}
    for text in texts:
        name, value = parse_argument(text)
        if name in found:
            raise NkiError(f"argument '{name}' is given twice")
        found[name] = value
    return found


def dtype_named(name: str) -> Dtype:
    """Returns the type of a name as our IR or the API spells it."""
    try:
        return Dtype.from_text(name)
    except NkiError:
        return Dtype.from_api(name)


def load_module(console: Console, path: str) -> ModuleType:
    """Runs a Python file with `nki` and `neuronxcc.nki` importable, and returns its module.

    Raises:
        NkiError: the file cannot be read or raises; an exception keeps its type and text in the message.
    """
    from nki_mlir import compat

    text, shown = console.read_python(path), display_name(path)
    module = ModuleType("__nki_kernel__")
    module.__file__ = shown
    compat.install()
    sys.modules[module.__name__] = module
    sys.path.insert(0, os.path.dirname(path) or ".")
    try:
        # Compiled under the name that the user typed, which messages then show.
        exec(compile(text, shown, "exec"), module.__dict__)
    except NkiError:
        raise
    except OF_THE_KERNEL as error:
        raise own_error(error) from error
    finally:
        sys.path.pop(0)
    return module


def own_error(error: BaseException) -> NkiError:
    """Returns an exception of the user's Python as one message with its type, text and innermost place."""
    from nki_mlir.frontend.locations import raised_at

    if isinstance(error, SyntaxError) and error.filename:
        return NkiError(f"SyntaxError: {error.msg}", Location(error.filename, error.lineno or 0, error.offset or 0))
    place, text = raised_at(error.__traceback__), str(error)
    found = NkiError(f"{type(error).__name__}{text and ': ' + text}", place)
    for note in getattr(error, "__notes__", ()):
        if note != f"{place}: in the kernel":
            found.add_note(note)
    return found


OF_THE_KERNEL = (Exception, SystemExit, GeneratorExit)
"""What the user's Python may raise; of these, KeyboardInterrupt is nobody's error."""


def kernel_of(module: ModuleType, name: str, path: str) -> "Kernel":
    """Returns the kernel of a name in a module; a plain function becomes one of the API that its module imports.

    Raises:
        NkiError: there is no such function.
    """
    from nki_mlir.frontend.kernel import Kernel
    from nki_mlir.tools.common import closest

    found: Any = getattr(module, name, None)
    if isinstance(found, Kernel):
        return found
    if not callable(found):
        names = [n for n, value in vars(module).items() if isinstance(value, Kernel)]
        known = f"; kernels: {', '.join(names)}" if names else ""
        raise NkiError(f"'{path}' has no function '{name}'{closest(name, names) or known}")
    if _is_legacy(getattr(found, "__globals__", vars(module))):
        from nki_mlir.nki_legacy.compile import jit
    else:
        from nki_mlir.nki.compile import jit
    return jit(found)


def _is_legacy(names: Mapping[str, Any]) -> bool:
    """Whether a module's names come from the older API and none of them from the current one."""
    origins = [
        str(value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", ""))
        for value in names.values()
    ]

    def holds(*packages: str) -> bool:
        return any(origin == package or origin.startswith(f"{package}.") for origin in origins for package in packages)

    return holds("neuronxcc", "nki_mlir.nki_legacy") and not holds("nki", "nki_mlir.nki")


def _parser() -> ArgumentParser:
    parser = ArgumentParser("nki-compile", "Trace an NKI kernel and print its IR, or simulate it.", EXAMPLES)
    parser.add_argument("kernel", metavar="KERNEL.py:FUNCTION", help="the kernel, -:FUNCTION for standard input")
    parser.add_argument(
        "--arg",
        action="append",
        default=[],
        metavar="NAME=DTYPE[d0,d1]|VALUE",
        help="an argument of the kernel: a tensor such as f32[128,512], a Python literal, or a word",
    )
    parser.add_argument("--frontend", choices=("beta2", "beta3"), help="front end (default: NKI_FRONTEND, else beta2)")
    parser.add_argument("--target", metavar="NAME", help="trn1, trn2 (default) or trn3")
    parser.add_argument("--grid", metavar="N[,M…]", help="launch grid")
    parser.add_argument(
        "--emit", choices=("penguin", "klr", "bir"), default="bir", help="the IR to print (default: bir)"
    )
    parser.add_argument(
        "-o",
        dest="output",
        metavar="FILE",
        help="where the IR goes (default: standard output); what --emit klr gives is a KLR file if it is called so",
    )
    parser.add_argument(
        "--mlir-print-debuginfo",
        "--print-debuginfo",
        dest="locations",
        action="store_true",
        help="print with every op its place in the kernel, which errors about the IR then name",
    )
    parser.add_argument(
        "--simulate", action="store_true", help="run the kernel on the simulator instead of printing IR"
    )
    parser.add_argument(
        "--input", action="append", default=[], metavar="NAME=FILE.npy", help="contents of a tensor argument"
    )
    parser.add_argument("--output-dir", metavar="DIR", help="where outputs are written as .npy")
    return parser


def _grid(text: str | None) -> tuple[int, ...]:
    try:
        return tuple(int(size) for size in text.split(",")) if text else ()
    except ValueError:
        raise NkiError(f"--grid {text}: expected numbers such as 2 or 2,4") from None


def _traced(
    module: ModuleType, path: str, name: str, arguments: dict[str, Any], grid: tuple[int, ...], options: Namespace
) -> "ModuleOp":
    """Returns the IR of a function of a module."""
    from nki_mlir.frontend.compiling import compile_kernel
    from nki_mlir.frontend.kernel import ARGUMENTS, defined_at

    try:
        kernel = kernel_of(module, name, display_name(path))
        if grid:
            kernel = kernel[grid]
    except NkiError as error:
        error.location = None  # the command line has no place in the user's source
        raise
    emit = "bir" if options.simulate else options.emit
    try:
        return compile_kernel(kernel, (), arguments, frontend=options.frontend, target=options.target, emit=emit)
    except NkiError as error:
        if error.location is None and error.rule == ARGUMENTS:
            error.location = defined_at(kernel.func)
        raise
    except OF_THE_KERNEL as error:
        raise own_error(error) from error


def body(console: Console, argv: Sequence[str]) -> int:
    """Runs the tool."""
    options = _parser().parse_args(argv)
    path, colon, name = options.kernel.rpartition(":")
    if not colon or not path:
        raise NkiError(f"'{options.kernel}': expected KERNEL.py:FUNCTION, or -:FUNCTION for standard input")
    for option, given in (("--input", options.input), ("--output-dir", options.output_dir)):
        if given and not options.simulate:
            raise NkiError(f"{option} is for --simulate")
    if options.simulate and options.output is not None:
        raise NkiError("-o is for IR; the outputs of --simulate go to --output-dir")
    klr_file = options.output is not None and options.output.endswith(".klr")
    if klr_file and options.emit != "klr":
        raise NkiError(
            f"'{options.output}' is a KLR file by its name, the IR is {options.emit} (--emit klr changes that)"
        )
    if options.locations and (options.simulate or klr_file):
        raise NkiError("--mlir-print-debuginfo is for MLIR text")
    arguments = parse_arguments(options.arg)
    grid = _grid(options.grid)
    with redirect_stdout(console.stderr):  # what the user's Python prints is not part of the result
        ir = _traced(load_module(console, path), path, name, arguments, grid, options)
    if options.simulate:
        return _simulate(console, ir, options.input, options.output_dir)
    if klr_file:
        from nki_mlir.interchange.klr import write_klr
        from nki_mlir.interchange.klr_dialect import module_to_klr

        console.write(options.output, write_klr(module_to_klr(ir)))
    else:
        from nki_mlir.tools.mlir_printer import mlir_text

        console.write(options.output, mlir_text(ir, locations=options.locations))
    return 0


def _simulate(console: Console, module: "ModuleOp", inputs: Sequence[str], directory: str | None) -> int:
    """Runs a BIR module; outputs are printed, or written where there is a directory for them."""
    from nki_mlir.simulator import simulate
    from nki_mlir.simulator.machine import find_module
    from nki_mlir.simulator.text import DEFAULT_LIMIT
    from nki_mlir.tools.nki_sim import print_outputs, read_inputs, write_outputs, written

    program = find_module(module)
    result = simulate(program, read_inputs(console, program, inputs))
    if directory is not None:
        write_outputs(directory, written(result))
    else:
        print_outputs(console, program, written(result), DEFAULT_LIMIT)
    return 0


def run(argv: Sequence[str], stdin: TextIO, stdout: TextIO, stderr: TextIO) -> int:
    """Runs the tool on the given streams and returns its exit status."""
    return run_tool(body, argv, stdin, stdout, stderr)


def main() -> None:
    """The console script."""
    run_console_script(run)


if __name__ == "__main__":
    main()

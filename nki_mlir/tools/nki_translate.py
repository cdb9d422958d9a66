"""nki-translate: turns a kernel in one file format into another. Formats are imported when they are needed."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, TextIO

from nki_mlir.diagnostics import NkiError
from nki_mlir.tools.common import (
    ArgumentParser,
    Console,
    display_name,
    input_is_read,
    placed_in,
    run_console_script,
    run_tool,
)

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from nki_mlir.interchange.klr import KlrFile

FORMATS = ("mlir", "klr")
_KLR_MAGIC = b"\xd9\xd9\xf7"
_EXAMPLES = """\
  nki-translate add.klr                         show a KLR file as MLIR text
  nki-translate add.klr -o add.mlir             the formats follow from the names
  nki-translate add.mlir -o add.klr             back to the same bytes
  nki-translate old.klr -o new.klr --layout head
  cat add.klr | nki-translate - --strip-locations
"""


def _parser() -> ArgumentParser:
    parser = ArgumentParser(
        "nki-translate",
        "Translates a kernel from one file format to another: mlir (text) or klr (KLR, binary).",
        _EXAMPLES,
    )
    parser.add_argument("input", metavar="IN", help="input file; standard input if it is -")
    parser.add_argument(
        "--from", dest="source", choices=FORMATS, help="format of the input (default: by name, then by contents)"
    )
    parser.add_argument(
        "--to", dest="result", choices=FORMATS, help="format of the output (default: by name, else the other one)"
    )
    parser.add_argument(
        "-o", dest="output", metavar="OUT", default="-", help="output file; standard output if it is - or absent"
    )
    parser.add_argument(
        "--layout",
        choices=("nxcc224", "head"),
        help="record layout of a KLR file that is written: neuronx-cc 2.24 or KLR of March 2026 (default: that of the"
        " KLR file which was read, else head)",
    )
    parser.add_argument("--strip-locations", action="store_true", help="write MLIR text without loc(…)")
    parser.add_argument("--no-verify", action="store_true", help="write MLIR text of IR that breaks rules, too")
    return parser


def _body(console: Console, argv: Sequence[str]) -> int:
    args = _parser().parse_args(argv)
    data = console.read_bytes(args.input)
    source = args.source or _by_name(args.input) or ("klr" if data.startswith(_KLR_MAGIC) else "mlir")
    result = args.result or _by_name(args.output) or ("mlir" if source == "klr" else "klr")
    if args.layout and result != "klr":
        raise NkiError(f"--layout is for KLR files, the output is {result} (--to klr changes that)")
    for option, given in (("--strip-locations", args.strip_locations), ("--no-verify", args.no_verify)):
        if given and result != "mlir":
            raise NkiError(f"{option} is for MLIR text, the output is {result}")
    if source == "klr":
        from nki_mlir.interchange.klr import read_klr

        file = read_klr(data, display_name(args.input))
        if result == "klr":  # no need for the dialect, which knows fewer operators
            console.write(args.output, _klr_bytes(file, args.layout))
            return 0
        from nki_mlir.interchange.klr_dialect import klr_to_module

        module = klr_to_module(file)
        input_is_read()
    else:
        module = _parse(console, args.input, data)
    if not args.no_verify:
        from nki_mlir.dialects.verifier import verify_module

        with placed_in(args.input):
            verify_module(module)
    if result == "mlir":
        from nki_mlir.tools.mlir_printer import mlir_text

        console.write(args.output, mlir_text(module, locations=not args.strip_locations))
    else:
        from nki_mlir.interchange.klr_dialect import LAYOUTS, module_to_klr

        with placed_in(args.input):
            file = module_to_klr(module, LAYOUTS[args.layout] if args.layout else None)
        console.write(args.output, _klr_bytes(file, None))
    return 0


def _by_name(path: str) -> str | None:
    ending = path.rpartition(".")[2]
    return ending if ending in FORMATS and ending != path else None


def _klr_bytes(file: "KlrFile", layout: str | None) -> bytes:
    from nki_mlir.interchange.klr import write_klr
    from nki_mlir.interchange.klr_dialect import LAYOUTS

    return write_klr(file, LAYOUTS[layout] if layout else None)


def _parse(console: Console, path: str, data: bytes) -> "ModuleOp":
    from xdsl.context import Context
    from xdsl.universe import XDSL_UNIVERSE

    from nki_mlir.dialects import get_all_dialects
    from nki_mlir.tools.mlir_parser import parse_mlir

    context = Context()
    context.register_dialect("builtin", XDSL_UNIVERSE.all_dialects["builtin"])
    for name, factory in get_all_dialects().items():
        context.register_dialect(name, factory)
    module = parse_mlir(context, console.text_of(data, path, "MLIR text or a KLR file"), display_name(path))
    input_is_read()
    return module


def run(argv: Sequence[str], stdin: TextIO, stdout: TextIO, stderr: TextIO) -> int:
    """Runs nki-translate on the given arguments and streams; returns its exit status, 0 or 1."""
    return run_tool(_body, argv, stdin, stdout, stderr)


def main() -> None:
    """Runs nki-translate as a process of its own."""
    run_console_script(run)


if __name__ == "__main__":
    main()

"""nki-sim: runs BIR on the simulator, or lowers a Penguin or KLR file first."""

from collections.abc import Container, Sequence
from typing import TYPE_CHECKING, Any, TextIO

from nki_mlir.tools.common import Console, run_console_script, run_tool

if TYPE_CHECKING:
    from nki_mlir.simulator import Result
    from nki_mlir.tools.common import ArgumentParser

_EXAMPLES = """\
  nki-sim add.mlir --input a=a.npy --input b=ones --print
  nki-sim add.klr --input a=random:1 --input b=arange --output-dir results
  nki-sim matmul.mlir --input x=random --input y=random --no-poison --print --print-limit 20

inputs of --input NAME=VALUE:
  FILE.npy          an array of the tensor's shape and dtype; bf16 and fp8 as numpy saves those of ml_dtypes
  zeros, ones       all elements the same
  arange            0, 1, 2, … in row-major order, starting again after the last integer that the dtype has
  random[:SEED]     floats uniform in [-1, 1), other dtypes any bits; equal for equal seeds and
                    input names (default seed 0)

Shared constants of a KLR file come from the .npy files beside it that it names, unless --input gives them.
"""


def _arguments() -> "ArgumentParser":
    from nki_mlir.simulator.program import MOST_ITERATIONS, MOST_REPEATED
    from nki_mlir.simulator.text import DEFAULT_LIMIT
    from nki_mlir.tools.common import ArgumentParser, count

    parser = ArgumentParser(
        "nki-sim", "Runs a BIR file, or lowers a Penguin or KLR file to BIR and runs that.", _EXAMPLES
    )
    parser.add_argument("file", help="the program, .mlir or .klr; standard input if it is -")
    parser.add_argument(
        "--input", action="append", default=[], metavar="NAME=VALUE", help="the contents of an input, see below"
    )
    parser.add_argument(
        "--output-dir", metavar="DIR", help="write every output, and every input that is written, to DIR/NAME.npy"
    )
    parser.add_argument("--print", action="store_true", help="print the same, for reading and for FileCheck")
    parser.add_argument(
        "--print-limit",
        type=count,
        default=DEFAULT_LIMIT,
        metavar="N",
        help=f"print the ends only of outputs of more than N elements (default {DEFAULT_LIMIT})",
    )
    parser.add_argument(
        "--no-poison", action="store_true", help="do not check for reads of what was never written; faster"
    )
    parser.add_argument(
        "--target", metavar="NAME", help="the target, where the file does not name one: trn1, trn2, trn3"
    )
    parser.add_argument(
        "--max-iterations",
        type=count,
        metavar="N",
        help=f"stop after N iterations of loops and branches (default {MOST_ITERATIONS}, and {MOST_REPEATED}"
        " instructions and iterations in what repeats for as long as a register has it)",
    )
    return parser


def _body(console: Console, argv: Sequence[str]) -> int:
    from nki_mlir.diagnostics import NkiError
    from nki_mlir.isa.target import parse_target
    from nki_mlir.simulator import simulate
    from nki_mlir.simulator.machine import find_module
    from nki_mlir.simulator.program import ITERATIONS
    from nki_mlir.tools.common import input_is_read, placed_in

    arguments = _arguments().parse_args(argv)
    target = None if arguments.target is None else parse_target(arguments.target)
    lowered = _lowered(console, arguments.file, target)
    with placed_in(arguments.file):
        module = find_module(lowered)
    input_is_read()
    inputs = read_inputs(console, module, arguments.input)
    with placed_in(arguments.file):
        inputs |= read_constants(console, module, arguments.file, inputs)
        try:
            result = simulate(
                module, inputs, poison=not arguments.no_poison, target=target, most_iterations=arguments.max_iterations
            )
        except NkiError as error:
            if error.rule == ITERATIONS:
                error.add_note("--max-iterations N allows more")
            raise
    if arguments.output_dir is not None:
        write_outputs(arguments.output_dir, written(result))
    if arguments.print:
        print_outputs(console, module, written(result), arguments.print_limit)
    return 0


def _lowered(console: Console, path: str, target: Any) -> Any:
    """Returns the module of a file, verified, as BIR."""
    from xdsl.context import Context
    from xdsl.dialects.builtin import Builtin

    from nki_mlir.dialects import get_all_dialects
    from nki_mlir.dialects.verifier import quiet_diagnostics, verify_module
    from nki_mlir.tools.common import placed_in
    from nki_mlir.transforms.pipeline import lower_to_bir

    context = Context()
    context.load_dialect(Builtin)
    for name, factory in get_all_dialects().items():
        context.register_dialect(name, factory)
    module = _read(console, context, path)
    with placed_in(path):
        verify_module(module)
        if any(op.name.startswith(("penguin.", "klr.")) for op in module.body.ops):
            with quiet_diagnostics():
                lower_to_bir(context, module, target=target, allocate=False)
            verify_module(module)
    return module


def _read(console: Console, context: Any, path: str) -> Any:
    from nki_mlir.tools.common import display_name
    from nki_mlir.tools.mlir_parser import parse_mlir

    data = console.read_bytes(path)
    name = display_name(path)
    if path.endswith(".klr") or data[:1] == _KLR_MARK:
        from nki_mlir.interchange.klr import read_klr
        from nki_mlir.interchange.klr_dialect import klr_to_module

        return klr_to_module(read_klr(data, name))
    text = console.text_of(data, path, "MLIR text or a KLR file")
    return parse_mlir(context, text, name)


_KLR_MARK = b"\xd9"
"""The first byte of a KLR file, with which no text begins that people write."""


def read_inputs(console: Console, module: Any, given: Sequence[str]) -> dict[str, Any]:
    """Returns the arrays of `--input NAME=VALUE`."""
    from nki_mlir.diagnostics import NkiError
    from nki_mlir.isa.names import unknown
    from nki_mlir.simulator.files import RECIPES, made_input, read_npy
    from nki_mlir.simulator.machine import input_tensors, shape_of

    tensors = input_tensors(module)
    found: dict[str, Any] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or not name or not value:
            raise NkiError(f"expected --input NAME=VALUE, got '{text}'")
        if name in found:
            raise NkiError(f"input '{name}' is given twice")
        if name not in tensors:
            raise unknown("input", name, tensors) if tensors else NkiError(f"the program has no inputs, got '{name}'")
        shape, dtype = shape_of(tensors[name]), tensors[name].mem.dtype
        array = made_input(value, name, shape, dtype)
        if array is None:
            if not value.endswith(".npy"):
                raise NkiError(
                    f"input '{name}' must be a .npy file, {', '.join(RECIPES)} or random:SEED, got '{value}'"
                )
            array = read_npy(console.read_bytes(value), shape, dtype, value)
        found[name] = array
    return found


def read_constants(console: Console, module: Any, path: str, given: Container[str]) -> dict[str, Any]:
    """Returns the arrays of shared constants that are not given, from the files beside the program that hold them.

    Only files in the program's own folder are read, for their names come from the program.

    Raises NkiError for a constant without such a file, or with one that holds something else.
    """
    from nki_mlir.diagnostics import NkiError
    from nki_mlir.simulator.files import read_npy
    from nki_mlir.simulator.machine import input_tensors, shape_of
    from nki_mlir.tools.common import visible
    from nki_mlir.transforms.klr_to_bir.structure import FILE

    found: dict[str, Any] = {}
    for name, tensor in input_tensors(module).items():
        held = tensor.attributes.get(FILE)
        file = getattr(held, "data", None)
        if name in given or not isinstance(file, str):
            continue
        beside, wrong = _beside(path, file)
        if wrong is not None:
            raise NkiError(
                f"constant '{name}' comes from '{visible(file)}', which {wrong};"
                f" it can be given with --input {name}=FILE.npy"
            )
        found[name] = read_npy(console.read_bytes(beside), shape_of(tensor), tensor.mem.dtype, beside)
    return found


def _beside(path: str, file: str) -> tuple[str, str | None]:
    """Returns the path of a file named relative to the folder of another, and what is wrong with it."""
    import os

    if path == "-":
        return file, "is looked for beside a program, not beside standard input"
    folder = os.path.dirname(path)
    beside = os.path.join(folder, file)
    root = os.path.realpath(folder or os.curdir)
    if "\0" in file or os.path.commonpath([root, os.path.realpath(beside)]) != root:
        return beside, "is not in the folder of the program"
    if not os.path.exists(beside):
        return beside, "does not exist"
    return beside, None if os.path.isfile(beside) else "is no file"


def written(result: "Result") -> dict[str, Any]:
    """Returns what a run hands back: its outputs, and before them the inputs that the program writes."""
    return {**result.inputs, **result.outputs}


def write_outputs(folder: str, outputs: dict[str, Any]) -> None:
    """Writes every output to FOLDER/NAME.npy; NkiError if that is not possible."""
    import os

    from nki_mlir.diagnostics import NkiError
    from nki_mlir.simulator.files import write_npy
    from nki_mlir.tools.common import replacing

    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise NkiError(f"cannot make the folder '{folder}': {error.strerror}") from error
    for name, array in outputs.items():
        if not name or name.startswith(".") or "/" in name or "\0" in name or os.sep in name:
            raise NkiError(f"output '{name}' cannot be written: its name is no file name")
        with replacing(os.path.join(folder, f"{name}.npy")) as file:
            write_npy(file, array)


def print_outputs(console: Console, module: Any, outputs: dict[str, Any], limit: int) -> None:
    """Prints every output, in a form for reading and for FileCheck."""
    from nki_mlir.simulator.machine import tensors_of
    from nki_mlir.simulator.text import array_text

    tensors = tensors_of(module)
    for name, array in outputs.items():
        console.write(None, array_text(name, array, tensors[name].mem.dtype, limit))


def run(argv: Sequence[str], stdin: TextIO, stdout: TextIO, stderr: TextIO) -> int:
    """Runs nki-sim on the given arguments and streams; returns its exit status, 0 or 1."""
    return run_tool(_body, argv, stdin, stdout, stderr)


def main() -> None:
    """Runs nki-sim as a process of its own."""
    run_console_script(run)


if __name__ == "__main__":
    main()

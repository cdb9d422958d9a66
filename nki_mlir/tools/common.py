"""What the command-line tools share: streams, arguments, errors with their source line, files written whole.

A tool is a function `body(console, argv) -> int`; its module offers

    def run(argv, stdin, stdout, stderr): return run_tool(body, argv, stdin, stdout, stderr)
    def main(): run_console_script(run)

so that tests call `run` many times in one process. A problem of the user's input is an NkiError, or an ExceptionGroup
of them, raised anywhere below `body`: it is shown on the error stream and ends the tool with status 1.
"""

import argparse
import gc
import io
import linecache
import os
import re
import stat
import sys
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager, nullcontext, redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass, field
from typing import IO, Any, NoReturn, TextIO, cast

from nki_mlir import __version__
from nki_mlir.diagnostics import ByteLocation, Location, NkiError, internal_error, render
from nki_mlir.tools.startup import kept_dataclass_code

STDIN_NAME = "<stdin>"
MOST_ERRORS_SHOWN = 100
_STANDARD_OUTPUT = (None, "-", "/dev/stdout")
"""Under its device's name too, standard output goes on where it is; the device would be written from its beginning."""
_COUNT = re.compile(r"[0-9]{1,18}")


@contextmanager
def _writing() -> Generator[None]:
    """Says which stream an error is about; that the reader has left is no error."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise NkiError(f"cannot write standard output: {error.strerror}") from error


class Output:
    """A stream that stands for standard output, whose errors are NkiErrors: argparse is silent about an OSError."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        with _writing():
            return self.stream.write(text)

    def flush(self) -> None:
        with _writing():
            self.stream.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


@dataclass
class Console:
    """The streams of one run of a tool, and the texts it read, so that an error can show its line."""

    stdin: TextIO
    stdout: TextIO
    stderr: TextIO
    debug: bool = False
    """Show a traceback with every error."""
    lines: dict[str, list[str]] = field(default_factory=dict[str, list[str]])

    def read_bytes(self, path: str) -> bytes:
        """Returns the contents of a file, of standard input for `-`; NkiError if it cannot be read."""
        try:
            if path == "-":
                binary = getattr(self.stdin, "buffer", None)
                return self.stdin.read().encode() if binary is None else binary.read()
            with open(path, "rb") as file:
                return file.read()
        except OSError as error:
            raise NkiError(f"cannot read '{path}': {error.strerror}") from error

    def read_text(self, path: str) -> str:
        """Returns the text of a file, of standard input for `-`; NkiError if it cannot be read or is not UTF-8."""
        return self.text_of(self.read_bytes(path), path)

    def text_of(self, data: bytes, path: str, expected: str = "UTF-8 text") -> str:
        """Returns the text of what was read from a file, without a mark of its byte order; NkiError for other bytes."""
        return self._decoded(data, path, "utf-8", expected)

    def read_python(self, path: str) -> str:
        """Returns the text of a Python file, as `read_text` does, in the encoding that PEP 263 finds for it."""
        from tokenize import detect_encoding

        data = self.read_bytes(path)
        try:
            encoding = detect_encoding(io.BytesIO(data).readline)[0].removesuffix("-sig")
            return self._decoded(data, path, encoding, f"{encoding.upper()} text")
        except (SyntaxError, LookupError) as error:
            raise NkiError(str(error), Location(display_name(path))) from error

    def _decoded(self, data: bytes, path: str, encoding: str, expected: str) -> str:
        name = display_name(path)
        try:
            text = data.decode(encoding).removeprefix("\ufeff")
        except UnicodeDecodeError as error:
            message = f"expected {expected}, got byte 0x{data[error.start]:02x}"
            raise NkiError(message, ByteLocation(name, error.start)) from error
        self.lines[name] = text.split("\n")
        return text

    def write(self, path: str | None, content: str | bytes) -> None:
        """Writes a whole file, or standard output for None, `-` and its device; NkiError if that is not possible."""
        data = content.encode() if isinstance(content, str) else content
        if path not in _STANDARD_OUTPUT:
            with replacing(path) as file:
                file.write(data)
            return
        with _writing():
            if isinstance(content, str):
                self.stdout.write(content)
            else:
                self.stdout.flush()
                self.stdout.buffer.write(data)
            self.stdout.flush()

    def source_line(self, location: Location | ByteLocation | None) -> str | None:
        """Returns the text of a location's line if this run has read it."""
        if isinstance(location, Location):
            lines = self.lines.get(location.file, ())
            if 0 < location.line <= len(lines):
                line = lines[location.line - 1].removesuffix("\r")
                return "".join(c if c.isprintable() or c == "\t" else "\N{REPLACEMENT CHARACTER}" for c in line)
            linecache.checkcache(location.file)
        return None

    def render(self, error: NkiError, severity: str = "error") -> str:
        """Returns an error with its place, source line and caret, its notes below it."""
        parts = [render(error, error.location, severity=severity, source_line=self.source_line(error.location))]
        parts += [f"note: {note}" for note in getattr(error, "__notes__", ())]
        return "\n".join(parts)

    def report(self, errors: Iterable[NkiError]) -> None:
        """Prints errors on the error stream, but no more than anybody would read."""
        errors = list(errors)
        for error in errors[:MOST_ERRORS_SHOWN]:
            print(self.render(error), file=self.stderr)
        if len(errors) > MOST_ERRORS_SHOWN:
            print(f"error: {len(errors) - MOST_ERRORS_SHOWN} more errors are not shown", file=self.stderr)

    def errors_of(self, error: BaseException) -> list[NkiError]:
        """Returns what to tell the user about an exception; with `debug` the traceback is printed first."""
        if self.debug:
            import traceback

            traceback.print_exception(error, file=self.stderr)
        return list(_explain(error))


def _explain(error: BaseException) -> Generator[NkiError]:
    match error:
        case BaseExceptionGroup():
            for part in error.exceptions:
                yield from _explain(part)
        case NkiError():
            yield error
        case RecursionError():
            yield NkiError("the input is nested too deeply")
        case MemoryError():
            yield NkiError("out of memory")
        case _:
            yield internal_error(error)


@contextmanager
def placed_in(path: str) -> Generator[None]:
    """Gives errors that have no place of their own the file as theirs.

    Such are those about a program as a whole, and those about what stands nowhere in the source of a KLR file's kernel.
    """
    try:
        yield
    except (NkiError, ExceptionGroup) as error:
        _place(error, Location(display_name(path)))
        raise


def _place(error: Exception, place: Location) -> None:
    if isinstance(error, ExceptionGroup):
        for part in cast("ExceptionGroup[Exception]", error).exceptions:
            _place(part, place)
    elif isinstance(error, NkiError) and error.location is None:
        error.location = place


def display_name(path: str) -> str:
    """Returns how messages call an input."""
    return STDIN_NAME if path == "-" else path


def visible(text: str) -> str:
    """Returns a text with the numbers of those characters in it that would not show, such as U+0000."""
    return "".join(c if c.isprintable() else f"U+{ord(c):04X}" for c in text)


def closest(word: str, names: Iterable[str]) -> str:
    """Returns `; did you mean 'name'?` for the most similar of the names, the empty string if none is similar."""
    import difflib

    near = difflib.get_close_matches(word, names, n=1)
    return f"; did you mean '{near[0]}'?" if near else ""


@contextmanager
def replacing(path: str) -> Generator[IO[bytes]]:
    """A binary file that takes the place of `path` when the block ends well, and leaves no trace when it does not.

    Devices, pipes, and files whose folder may not be changed are not replaced but written, when the block has ended.
    Raises NkiError if the file cannot be written.
    """
    if not path:
        raise NkiError("cannot write '': the name of the file is empty")
    target, temporary = os.path.realpath(path), None
    try:
        mode = os.stat(path).st_mode if os.path.exists(path) else None
        handle = None
        if mode is None:
            handle, temporary = _file_beside(target)
        elif stat.S_ISREG(mode):
            with open(path, "ab"):  # a file that may not be written is not replaced either
                pass
            with suppress(PermissionError):
                handle, temporary = _file_beside(target)
        if handle is None or temporary is None:
            content = io.BytesIO()
            yield content
            with open(path, "wb") as file:
                file.write(content.getbuffer())
            return
        with open(handle, "wb") as file:
            yield file
        os.chmod(temporary, stat.S_IMODE(mode) if mode is not None else 0o666 & ~_umask())
        os.replace(temporary, target)
        temporary = None
    except OSError as error:
        raise NkiError(f"cannot write '{path}': {error.strerror}") from error
    finally:
        if temporary is not None:
            os.unlink(temporary)


def _file_beside(target: str) -> tuple[int, str]:
    """Returns handle and name of a new file in the folder of another."""
    import tempfile

    return tempfile.mkstemp(prefix=".", suffix=".tmp", dir=os.path.dirname(target))


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def version_text(tool: str) -> str:
    """Returns what `--version` prints."""
    from importlib.metadata import version

    return f"{tool} {__version__} (xDSL {version('xdsl')})"


def usage_error(parser: argparse.ArgumentParser, message: str, more_options: Iterable[str] = ()) -> NoReturn:
    """Raises a wrong command line as NkiError, with a close name for a misspelt option."""
    unknown = message.removeprefix("unrecognized arguments: ")
    if unknown != message:
        options = [*parser._option_string_actions, *more_options]
        message += closest(unknown.split()[0].partition("=")[0], options)
    raise NkiError(message)


def count(text: str) -> int:
    """Returns the number that an option of argparse has as its value, 0 or more."""
    if not _COUNT.fullmatch(text):
        raise argparse.ArgumentTypeError(f"expected an integer from 0 on, of at most 18 digits, got '{text}'")
    return int(text)


class ArgumentParser(argparse.ArgumentParser):
    """Command lines as all tools have them: wrong ones are an NkiError, options are not abbreviated.

    `examples` is shown below the options as it stands; `--version` and `--debug` are there already.
    """

    def __init__(self, prog: str, description: str, examples: str = "") -> None:
        super().__init__(
            prog=prog,
            description=description,
            epilog=examples and f"examples:\n{examples}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        self.add_argument("--version", action=_Version, help="print the version and exit")
        self.add_argument("--debug", action="store_true", help="print debug messages, and a traceback with an error")

    def error(self, message: str) -> NoReturn:
        usage_error(self, message)

    def _parse_optional(self, arg_string: str) -> Any:
        """Takes `-:NAME`, a part of standard input, as an argument; it has the looks of an option."""
        return None if arg_string.startswith("-:") else super()._parse_optional(arg_string)


class _Version(argparse.Action):
    def __init__(self, option_strings: Sequence[str], dest: str, help: str | None = None) -> None:
        super().__init__(option_strings, dest, nargs=0, help=help)

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        print(version_text(parser.prog))
        parser.exit()


@contextmanager
def debug_log(stream: TextIO, names: Sequence[str] = ()) -> Generator[None]:
    """Prints the debug messages of nki-mlir's modules, or only of those named: `unroll`, or `transforms.unroll`."""
    import logging

    def chosen(record: logging.LogRecord) -> bool:
        return not names or any(f".{record.name}".endswith(f".{name}") for name in names)

    handler = logging.StreamHandler(stream)
    handler.setFormatter(logging.Formatter("[%(name)s] %(message)s"))
    handler.addFilter(chosen)
    logger = logging.getLogger("nki_mlir")
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)


@contextmanager
def _collector() -> Generator[None]:
    """Keeps Python's cyclic collector out of the way while IR is built: it can triple the cost."""
    enabled, threshold = gc.isenabled(), gc.get_threshold()
    gc.disable()
    gc.set_threshold(200_000, 20, 100)
    try:
        yield
    finally:
        gc.unfreeze()
        gc.set_threshold(*threshold)
        if enabled:
            gc.enable()
        else:
            gc.disable()


def input_is_read() -> None:
    """Tells the collector that what is in memory now stays, and lets it work again."""
    gc.freeze()
    gc.enable()


@contextmanager
def _standard_input(stream: TextIO) -> Generator[None]:
    saved, sys.stdin = sys.stdin, stream
    try:
        yield
    finally:
        sys.stdin = saved


def run_tool(
    body: Callable[[Console, Sequence[str]], int],
    argv: Sequence[str],
    stdin: TextIO,
    stdout: TextIO,
    stderr: TextIO,
    options: Sequence[str] | None = None,
) -> int:
    """Runs a tool on the given streams, which stand in for the process's own; returns its exit status.

    `options` are the arguments that are for the tool itself, if those are not all. The collector is off until the tool
    calls `input_is_read`; nothing of the process stays changed.
    """
    output = cast(TextIO, Output(stdout))
    words = argv if options is None else options
    console = Console(stdin, output, stderr, debug="--debug" in words)
    # Which modules are to be heard, of those of nki-opt, is known when its arguments are.
    every = console.debug and not any(word.partition("=")[0] == "--debug-only" for word in words)
    log = debug_log(stderr) if every else nullcontext()
    with redirect_stdout(output), redirect_stderr(stderr), _standard_input(stdin), _collector(), log:
        try:
            try:
                status = body(console, argv)
            except SystemExit as end:  # argparse, after --help and --version
                status = end.code if isinstance(end.code, int) else 0
            output.flush()
            return status
        except BrokenPipeError:
            raise
        except Exception as error:
            console.report(console.errors_of(error))
        return 1


def open_streams() -> None:
    """Gives a process that was started with closed streams ones that fail when they are used, as Python does not."""
    for name, device_mode, mode in (
        ("stdin", os.O_WRONLY, "r"),
        ("stdout", os.O_RDONLY, "w"),
        ("stderr", os.O_WRONLY, "w"),
    ):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, device_mode), mode, encoding="utf-8"))


def drop_output() -> None:
    """Forgets what standard output still has to write, so that Python does not try again when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def run_console_script(run: Callable[[Sequence[str], TextIO, TextIO, TextIO], int]) -> NoReturn:
    """Runs a tool as a process of its own."""
    open_streams()
    try:
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(encoding="utf-8", errors="backslashreplace")
        with kept_dataclass_code():
            status = run(sys.argv[1:], sys.stdin, sys.stdout, sys.stderr)
    except BrokenPipeError:
        status = 1
    except KeyboardInterrupt:
        status = 130
    # Taking a large IR apart object by object would be the last and quite a long step.
    sys.stderr.flush()
    os._exit(status)

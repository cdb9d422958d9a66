"""The driver of nki-opt: xDSL's opt driver with the dialects and passes of nki-mlir, and the habits of mlir-opt."""

import argparse
import warnings
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from io import BytesIO
from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute
from xdsl.passes import PassPipeline
from xdsl.universe import XDSL_UNIVERSE
from xdsl.utils.arg_spec import parse_spec
from xdsl.utils.diagnostic import Diagnostic
from xdsl.utils.exceptions import DiagnosticException, ParseError, ShrinkException
from xdsl.xdsl_opt_main import xDSLOptMain

from nki_mlir import __version__
from nki_mlir.diagnostics import Location, NkiError, internal_error, one_line
from nki_mlir.dialects.locations import place_of
from nki_mlir.dialects.verifier import op_error, operation_of, quiet_diagnostics
from nki_mlir.tools.common import (
    Console,
    debug_log,
    display_name,
    input_is_read,
    placed_in,
    replacing,
    usage_error,
)
from nki_mlir.tools.mlir_parser import parse_mlir
from nki_mlir.tools.opt_instrument import Instrumentation, Timer, breaks_rules, print_module
from nki_mlir.tools.opt_pipeline import (
    checked_spec,
    describe_passes,
    known_pass,
    made,
    make_passes,
    pipeline_of_mlir,
    pipeline_of_reproducer,
    reproducer_line,
    take_pass_flags,
)
from nki_mlir.tools.opt_split import SEPARATOR, split_input
from nki_mlir.universe import UNIVERSE

_EXAMPLES = """\
examples:
  nki-opt add.mlir                                   parse, verify and print
  nki-opt add.mlir -p convert-klr-to-bir,unroll      run passes
  nki-opt add.mlir --convert-klr-to-bir --unroll     the same, a flag a pass
  nki-opt --list-passes                              every pass, with its options
  nki-opt bad.mlir --split-input-file --verify-diagnostics
"""

_OTHER_MEANINGS = {
    "input_file": "path to input file; standard input if it is - or absent",
}
"""Help for those arguments of xDSL that do more here."""

_VALUES_LEFT_OUT = {"--verify-each": "1", "--split-input-file": SEPARATOR, "--verify-diagnostics": "all"}
"""What flags mean that may stand alone; argparse would take a file name behind them for their value."""

_OF_NO_PASS: tuple[type[Exception], ...] = (RecursionError, MemoryError, ExceptionGroup)

ALL_PASSES = XDSL_UNIVERSE.all_passes | UNIVERSE.all_passes


def run_driver(console: Console, argv: Sequence[str]) -> int:
    """Runs nki-opt; see `nki_mlir.tools.nki_opt.run`."""
    post_init, colored = Attribute.__post_init__, Diagnostic.colored
    try:
        with ExitStack() as stack:
            driver = NkiOpt(console, argv)
            if driver.args.debug_only:
                stack.enter_context(debug_log(console.stderr, driver.args.debug_only))
            stack.enter_context(quiet_diagnostics())
            return driver.execute()
    finally:
        # The flags --disable-verify and --syntax-highlight act on classes.
        Attribute.__post_init__, Diagnostic.colored = post_init, colored


class NkiOpt(xDSLOptMain):
    """One run of nki-opt."""

    version_format = f"nki-opt {__version__} (xDSL {{xdsl_version}})"

    def __init__(self, console: Console, argv: Sequence[str]) -> None:
        self.console = console
        self.timer = Timer()
        self.reproduced = False
        self.arguments, self.pass_flags = take_pass_flags(argv, ALL_PASSES)
        super().__init__("Reads IR, verifies it, runs passes over it and prints it.", self.arguments)

    # Registration: xDSL's universe and ours, without a search for other packages.

    def register_all_dialects(self) -> None:
        for name, factory in (XDSL_UNIVERSE.all_dialects | UNIVERSE.all_dialects).items():
            self.ctx.register_dialect(name, factory)

    def register_all_passes(self) -> None:
        self.available_passes.update(ALL_PASSES)

    def register_all_targets(self) -> None:
        self.available_targets.update(XDSL_UNIVERSE.all_targets)

    def register_all_frontends(self) -> None:
        self.available_frontends.update(XDSL_UNIVERSE.all_frontends)

    def register_all_arguments(self, arg_parser: argparse.ArgumentParser) -> None:
        super().register_all_arguments(arg_parser)
        arg_parser.prog = "nki-opt"
        arg_parser.allow_abbrev = False
        arg_parser.error = partial(usage_error, arg_parser, more_options=[f"--{name}" for name in ALL_PASSES])
        arg_parser.formatter_class = argparse.RawDescriptionHelpFormatter
        arg_parser.epilog = "Every pass is also a flag of its own: --unroll, --canonicalize, …\n\n" + _EXAMPLES
        for action in arg_parser._actions:
            action.help = _OTHER_MEANINGS.get(action.dest, action.help)
            if action.dest in ("target", "frontend"):
                action.type = checked_spec
        flag = partial(arg_parser.add_argument, action="store_true")
        value = arg_parser.add_argument
        value("--pass-pipeline", metavar="PIPELINE", help="passes as mlir-opt spells them: 'builtin.module(a,b{x=1})'")
        value(
            "--verify-each",
            type=_truth,
            default=True,
            metavar="0|1",
            help="verify after every pass (default 1); with 0, only the input and the result",
        )
        flag("--mlir-print-ir-before-all", help="print the IR before every pass, to standard error")
        flag("--mlir-print-ir-after-all", help="print the IR after every pass, to standard error")
        flag("--mlir-print-ir-after-change", help="print the IR after every pass that changed it, to standard error")
        for when in ("before", "after"):
            value(
                f"--mlir-print-ir-{when}",
                action="extend",
                type=_names,
                default=[],
                metavar="PASSES",
                help=f"print the IR {when} these passes, to standard error",
            )
        flag("--mlir-print-ir-after-failure", help="print the IR after a pass that failed, to standard error")
        flag("--mlir-print-op-generic", dest="print_op_generic", help="the same as --print-op-generic")
        flag("--mlir-print-debuginfo", dest="print_debuginfo", help="the same as --print-debuginfo")
        flag("--mlir-disable-threading", help="does nothing: passes run one after the other")
        flag("--mlir-print-ir-module-scope", help="does nothing: whole modules are printed")
        flag("--mlir-print-local-scope", help="does nothing: locations are printed in place, without aliases")
        flag("--mlir-timing", help="print how long each step took, to standard error")
        value(
            "--mlir-pass-pipeline-crash-reproducer",
            metavar="FILE",
            help="when a pass fails, write the IR before it and the rest of the pipeline to a file",
        )
        flag("--run-reproducer", help="run the passes that a reproducer names in its first line")
        flag("--list-passes", help="list all passes with their options")
        flag("--list-dialects", help="list all dialects")
        flag("--show-dialects", dest="list_dialects", help="the same")
        flag("--debug", help="print debug messages, and a traceback with an error")
        value("--debug-only", type=_names, default=[], metavar="NAMES", help="print debug messages of these modules")
        value(
            "--output-split-marker",
            metavar="LINE",
            default=SEPARATOR,
            help=f"what stands between the outputs of --split-input-file (default `{SEPARATOR}`)",
        )
        # Of these xDSL's have no values.
        arg_parser._optionals.conflict_handler = "resolve"
        value(
            "--split-input-file",
            nargs="?",
            metavar="LINE",
            help=f"process the pieces between lines `{SEPARATOR}`, or those given, one by one, going on after errors",
        )
        value(
            "--verify-diagnostics",
            nargs="?",
            choices=("all", "only-expected"),
            help="check that the errors are those of comments `expected-error @+1 {{text}}`, and (all, the default) no"
            " others",
        )
        arg_parser._optionals.conflict_handler = "error"
        known = arg_parser._option_string_actions
        self.arguments[:] = [text for argument in self.arguments for text in _in_full(argument, known)]

    def setup_pipeline(self) -> None:
        args = self.args
        target: Any = self._made("target", args.target, self.available_targets)
        self.writes_mlir = target.name == "mlir"
        if self.writes_mlir:  # xDSL puts the flags in place of the target's options
            args.print_op_generic |= target.print_generic_format
            args.print_no_properties |= target.print_properties_as_attributes
            args.print_debuginfo |= target.print_debuginfo
            args.syntax_highlight |= target.syntax_highlight
        if args.frontend:
            frontend: Any = self._made("frontend", args.frontend, self.available_frontends)
            args.no_implicit_module |= getattr(frontend, "no_implicit_module", False)
        for name in (*args.mlir_print_ir_before, *args.mlir_print_ir_after):
            known_pass(name, self.available_passes)
        given = [
            text
            for text in (
                args.passes,
                self.pass_flags,
                args.pass_pipeline is not None and pipeline_of_mlir(args.pass_pipeline),
            )
            if text
        ]
        if len(given) > 1:
            raise NkiError("passes are given twice: use one of -p, --pass-pipeline and flags such as --canonicalize")
        if given and args.run_reproducer:
            raise NkiError("passes are given with --run-reproducer, which runs those of the file")
        self._use(given[0] if given else "")

    def _use(self, pipeline: str) -> None:
        passes = make_passes(pipeline, self.available_passes)
        self.instrumentation = Instrumentation(self.args, self.console.stdout, self.console.stderr, self.timer, passes)
        self.pipeline = PassPipeline(passes, self.instrumentation)

    def _made(self, kind: str, text: str, available: Any) -> Any:
        spec = parse_spec(text)
        return made(kind, spec, available[spec.name])

    # Running

    def execute(self) -> int:
        """Does what the arguments ask for; returns the exit status."""
        if self.args.list_passes:
            self.console.write(None, describe_passes(self.available_passes))
            return 0
        if self.args.list_dialects:
            self.console.write(None, "".join(f"{name}\n" for name in sorted(self.ctx.registered_dialect_names)))
            return 0
        try:
            status = self._process_file("-" if self.args.input_file is None else self.args.input_file)
        except ShrinkException:
            if not self.args.shrink:
                raise
            print("Success, can shrink")
            return 0
        if self.args.mlir_timing:
            print(self.timer.report(), end="", file=self.console.stderr)
        if self.args.shrink:
            print("Failure, can't shrink")
            return 1
        return status

    def _process_file(self, path: str) -> int:
        text = self.console.read_text(path)
        name = display_name(path)
        if self.args.run_reproducer:
            with placed_in(path):
                self._use(pipeline_of_reproducer(text))
        failed = False
        outputs: list[str] = []
        separator = self.args.split_input_file
        for piece, first_line in split_input(text, separator) if separator else [(text, 1)]:
            output, errors = self._process(piece, name, first_line)
            if self.args.verify_diagnostics:
                from nki_mlir.tools.opt_expected import mismatches

                only_expected = self.args.verify_diagnostics == "only-expected"
                errors = mismatches(piece, name, first_line, errors, only_expected=only_expected)
            self.console.report(errors)
            failed = failed or bool(errors)
            outputs.append(output)
        # A file is written only if all went well; on standard output the good pieces of a bad input are shown.
        if not failed or self.args.output_file in (None, "-"):
            self.console.write(self.args.output_file, f"{self.args.output_split_marker}\n".join(outputs))
        return int(failed)

    def _process(self, text: str, name: str, first_line: int) -> tuple[str, list[NkiError]]:
        """Returns the output for one piece of the input, or its errors."""
        self.instrumentation.restart()
        try:
            with self.timer.measure("Parse", 0):
                module = self._parse(text, name, first_line)
        except ShrinkException:
            raise
        except Exception as error:
            errors = self.console.errors_of(error)
            if not self.args.parsing_diagnostics:
                return "", errors
            for located in errors:
                print(self.console.render(located), file=self.console.stdout)
            return "", []
        input_is_read()
        try:
            self.apply_passes(module)
            with self.timer.measure("Print", 2 + len(self.pipeline.passes)):
                return self._output(module), []
        except ShrinkException:
            raise
        except Exception as error:
            errors = self.console.errors_of(self._pass_error(error, module))
            for located in errors:
                located.location = located.location or Location(name)
            try:
                self._write_reproducer(errors)
                self.instrumentation.failed(module)
            except Exception as another:  # which must not take the place of what went wrong first
                errors += self.console.errors_of(another)
            return "", errors

    def _output(self, module: ModuleOp) -> str:
        """Returns a module as the target writes it, which for MLIR text is with one newline at its end, as mlir-opt has
        it and not xDSL. Targets of xDSL check what they get by assertions, or write nothing of what they do not know.
        """
        if self.writes_mlir:
            if breaks_rules(module, self.args):
                return print_module(module, self.args)
            return self.output_resulting_program(module).rstrip("\n") + "\n"
        refusal = NkiError(f"the target '{self.args.target}' cannot write this module", place_of(module.location))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                text = self.output_resulting_program(module)
        except (AssertionError, NotImplementedError, ValueError, Warning) as error:
            raise refusal from error
        if not text.strip() and not module.body.block.is_empty:
            raise refusal
        return text

    def _parse(self, text: str, name: str, first_line: int) -> ModuleOp:
        frontend = self._frontend(name)
        if frontend == "mlir":
            implicit = not self.args.no_implicit_module
            return parse_mlir(self.ctx, text, name, first_line=first_line, allow_implicit_module=implicit)
        try:
            module = self.parse_chunk(BytesIO(text.encode()), frontend, first_line - 1)
        except ParseError as error:
            raise NkiError(one_line(str(error))) from error
        assert module is not None
        return module

    def _frontend(self, name: str) -> str:
        """Returns the name of the reader: what `-f` says, or the file's ending if a reader is known by it, or MLIR."""
        if self.args.frontend:
            return parse_spec(self.args.frontend).name
        ending = name.rpartition(".")[2]
        return ending if ending in self.available_frontends else "mlir"

    def _pass_error(self, error: Exception, module: ModuleOp) -> Exception:
        """Returns an error of the running pass with its place and the name of the pass."""
        running = self.instrumentation.running
        if running is None or isinstance(error, _OF_NO_PASS):
            return error
        op = operation_of(error)
        if isinstance(error, NkiError):
            located = error
        elif isinstance(error, DiagnosticException):
            message = str(error)
            if module.name in message:  # some of xDSL's messages print all of it
                message = message.replace(f"{module}", "the module")
            located = NkiError(one_line(message)) if op is None else op_error(op, message)
        else:
            located = internal_error(error)
        while located.location is None and op is not None:
            located.location, op = place_of(op.location), op.parent_op()
        located.add_note(f"in the pass '{running.name}'")
        located.__cause__ = None if located is error else error
        return located

    def _write_reproducer(self, errors: Sequence[NkiError]) -> None:
        """Writes the IR before the running pass for the first module of a run that needs it: there is one file."""
        path = self.args.mlir_pass_pipeline_crash_reproducer
        instrumentation = self.instrumentation
        if path is None or instrumentation.running is None:
            return
        if self.reproduced:
            errors[-1].add_note(f"the IR before the pass is not written: '{path}' holds that of an error above")
            return
        rest = ",".join(str(one) for one in self.pipeline.passes[instrumentation.done :])
        head = "".join(f"// {line}\n" for error in errors for line in self.console.render(error).split("\n"))
        with replacing(path) as file:
            file.write(f"{reproducer_line(rest)}\n{head}".encode())
            file.write(instrumentation.before.encode())
        self.reproduced = True
        errors[-1].add_note(f"the IR before the pass is in '{path}'")


def _in_full(argument: str, known: Mapping[str, argparse.Action]) -> list[str]:
    """Returns an argument as argparse takes it: mlir-opt's long options may have one dash, its flags a value."""
    if argument.startswith("-") and f"-{argument}".partition("=")[0] in known:
        argument = f"-{argument}"
    if argument in _VALUES_LEFT_OUT:
        return [f"{argument}={_VALUES_LEFT_OUT[argument]}"]
    flag, equals, value = argument.partition("=")
    if not equals or flag not in known or known[flag].const is not True:
        return [argument]
    try:
        return [flag] if _truth(value) else []
    except argparse.ArgumentTypeError as error:
        raise NkiError(f"argument {flag}: {error}") from error


def _truth(text: str) -> bool:
    values = {"0": False, "false": False, "1": True, "true": True}
    if text.lower() not in values:
        raise argparse.ArgumentTypeError(f"expected 0 or 1, got '{text}'")
    return values[text.lower()]


def _names(text: str) -> list[str]:
    return text.split(",")

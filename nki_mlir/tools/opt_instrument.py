"""What nki-opt does between passes: verify, print the IR, measure the time, keep what a reproducer needs."""

import argparse
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TextIO

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from nki_mlir.diagnostics import NkiError
from nki_mlir.dialects.verifier import verify_module
from nki_mlir.tools.mlir_printer import mlir_text


@dataclass
class Timer:
    """Wall time of the steps of a run, added up over the pieces of a split input."""

    rows: dict[tuple[int, str], float] = field(default_factory=dict[tuple[int, str], float])

    @contextmanager
    def measure(self, name: str, order: int) -> Generator[None]:
        """Adds the time of the block to the row `name`; rows are shown by `order`."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self.add(name, order, time.perf_counter() - start)

    def add(self, name: str, order: int, seconds: float) -> None:
        """Adds to a row."""
        self.rows[order, name] = self.rows.get((order, name), 0.0) + seconds

    def report(self) -> str:
        """Returns the table that `--mlir-timing` prints."""
        total = sum(self.rows.values())
        rule = f"===-{'-' * 73}-===\n"
        text = f"{rule}{'... Execution time report ...':^81}".rstrip() + f"\n{rule}"
        text += f"  Total Execution Time: {total:.4f} seconds\n\n  ----Wall Time----  ----Name----\n"
        for (_, name), seconds in [*sorted(self.rows.items()), ((0, "Total"), total)]:
            text += f"  {seconds:8.4f} ({seconds / total * 100 if total else 0:5.1f}%)  {name}\n"
        return text


def breaks_rules(module: ModuleOp, args: argparse.Namespace) -> bool:
    """Whether a module does not verify, where the flags let that pass: its custom form cannot be relied on then."""
    if args.verify_each and not args.disable_verify:
        return False
    try:
        verify_module(module)
    except (NkiError, ExceptionGroup):
        return True
    return False


def print_module(module: ModuleOp, args: argparse.Namespace, *, generic: bool = False) -> str:
    """Returns the text of a module in the form that the printing flags ask for; the generic one if it is invalid."""
    return mlir_text(
        module,
        generic=generic or args.print_op_generic or breaks_rules(module, args),
        properties_as_attributes=args.print_no_properties,
        locations=args.print_debuginfo,
    )


@dataclass
class Instrumentation:
    """The callback of nki-opt's pass pipeline; xDSL calls it before the first pass and after every pass."""

    args: argparse.Namespace
    stdout: TextIO
    stderr: TextIO
    timer: Timer
    passes: Sequence[ModulePass] = ()
    done: int = 0
    """How many passes have run on the present module."""
    before: str = ""
    """The module before the running pass, where a flag needs it."""
    _start: float = 0.0

    @property
    def running(self) -> ModulePass | None:
        """The pass that is running, None outside of passes."""
        return self.passes[self.done] if self._start else None

    def restart(self) -> None:
        """Gets ready for another module."""
        self.done, self.before, self._start = 0, "", 0.0

    def __call__(self, previous: ModulePass | None, module: ModuleOp, following: ModulePass | None) -> None:
        if previous is not None:
            seconds = time.perf_counter() - self._start
            self.timer.add(previous.name, 2 + self.done, seconds)
            if self.args.time_passes:
                print(f"Pass {previous.name} took {seconds} seconds", file=self.stdout)
        if previous is None or following is None or self.args.verify_each:
            self._verify(previous, module)
        self._start = 0.0
        if previous is not None:
            self.done += 1
            self._after(previous, module)
            if following is not None and self.args.print_between_passes:
                text = print_module(module, self.args)
                print(f"IR after {previous.name}:\n{text}\n\n\n", end="", file=self.stdout)
        if following is not None:
            self._before(following, module)
            self._start = time.perf_counter()

    def _verify(self, previous: ModulePass | None, module: ModuleOp) -> None:
        if self.args.disable_verify:
            return
        with self.timer.measure("Verify", 1):
            try:
                verify_module(module)
            except ExceptionGroup as errors:
                if previous is not None:
                    for error in errors.exceptions:
                        error.add_note(f"after the pass '{previous.name}'")
                raise

    def _before(self, following: ModulePass, module: ModuleOp) -> None:
        args = self.args
        if args.mlir_print_ir_before_all or following.name in args.mlir_print_ir_before:
            self._dump(f"Before {following.name}", print_module(module, args))
        if args.mlir_print_ir_after_change or args.mlir_pass_pipeline_crash_reproducer:
            self.before = print_module(module, args)

    def failed(self, module: ModuleOp) -> None:
        """Prints what a pass has left that raised an error, or made an invalid module, if somebody wants to see it."""
        running = self.running
        if running is not None and (self._prints_after(running) or self.args.mlir_print_ir_after_failure):
            self._dump(f"After {running.name} Failed", print_module(module, self.args, generic=True))

    def _prints_after(self, previous: ModulePass) -> bool:
        args = self.args
        return (
            args.mlir_print_ir_after_all or args.mlir_print_ir_after_change or previous.name in args.mlir_print_ir_after
        )

    def _after(self, previous: ModulePass, module: ModuleOp) -> None:
        if self._prints_after(previous):
            text = print_module(module, self.args)
            if not (self.args.mlir_print_ir_after_change and text == self.before):
                self._dump(f"After {previous.name}", text)

    def _dump(self, when: str, text: str) -> None:
        print(f"// -----// IR Dump {when} //----- //\n{text}", file=self.stderr)

"""nki-opt in one process: what lit cannot say about streams, files, failing passes and the state of the process."""

import gc
import io
import logging
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from xdsl.context import Context
from xdsl.dialects.arith import AddiOp
from xdsl.dialects.builtin import ModuleOp, UnknownLoc
from xdsl.ir import Attribute
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, PatternRewriteWalker, RewritePattern
from xdsl.utils.diagnostic import Diagnostic
from xdsl.utils.exceptions import PassFailedException, ShrinkException, VerifyException

from nki_mlir.diagnostics import Location, NkiError
from nki_mlir.tools import nki_opt, opt_driver
from nki_mlir.tools.opt_driver import ALL_PASSES, NkiOpt

ADD = """\
%0 = "test.op"() : () -> i32
%1 = arith.addi %0, %0 : i32
"""


@dataclass
class Result:
    status: int
    out: str
    err: str


def opt(*argv: str, text: str | bytes = ADD) -> Result:
    data = text.encode() if isinstance(text, str) else text
    stdin = io.TextIOWrapper(io.BytesIO(data), encoding="utf-8")
    stdout, stderr = io.StringIO(), io.StringIO()
    status = nki_opt.run(argv, stdin, stdout, stderr)
    return Result(status, stdout.getvalue(), stderr.getvalue())


# Passes that behave in every bad way


@dataclass(frozen=True)
class ActPass(ModulePass):
    """Does what the test says.

    Not part of the summary.
    """

    name = "act"
    size: int
    names: tuple[str, ...] = ()
    loop_depth: int | None = None

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        ACTION(op)


def nothing(module: ModuleOp) -> None:
    logging.getLogger("nki_mlir.transforms.act").debug("%d ops", len(list(module.walk())))


ACTION: Callable[[ModuleOp], None] = nothing


@pytest.fixture(autouse=True)
def act_pass(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[ModuleOp], None]], None]:
    monkeypatch.setitem(ALL_PASSES, "act", lambda: ActPass)

    def set_action(action: Callable[[ModuleOp], None]) -> None:
        monkeypatch.setattr(sys.modules[__name__], "ACTION", action)

    return set_action


def first_add(module: ModuleOp) -> AddiOp:
    return next(op for op in module.walk() if isinstance(op, AddiOp))


def raising(error: Exception) -> Callable[[ModuleOp], None]:
    def action(module: ModuleOp) -> None:
        raise error

    return action


def erase_operands(module: ModuleOp) -> None:
    first_add(module).operands = ()


class RaiseOnAdd(RewritePattern):
    def __init__(self, error: Exception) -> None:
        self.error = error

    def match_and_rewrite(self, op: object, rewriter: PatternRewriter) -> None:
        if isinstance(op, AddiOp):
            raise self.error


def rewriting(error: Exception) -> Callable[[ModuleOp], None]:
    return lambda module: PatternRewriteWalker(RaiseOnAdd(error)).rewrite_module(module) and None


# Failing passes


def test_pass_failure(act_pass):
    act_pass(raising(PassFailedException("no room in SBUF")))
    assert opt("-p", "act{size=1}") == Result(1, "", "<stdin>: error: no room in SBUF\nnote: in the pass 'act'\n")


def test_pass_failure_at_an_op(act_pass):
    act_pass(rewriting(PassFailedException("no room\nin SBUF")))
    assert opt("-p", "act{size=1}").err == (
        "<stdin>:2:6: error: 'arith.addi' op no room in SBUF\n"
        "  %1 = arith.addi %0, %0 : i32\n"
        "       ^\n"
        "note: in the pass 'act'\n"
    )


def test_an_op_without_a_place_is_where_the_nearest_one_around_it_is(act_pass):
    def act(module: ModuleOp) -> None:
        first_add(module).location = UnknownLoc()
        rewriting(PassFailedException("no room"))(module)

    act_pass(act)
    text = f'"test.op"() ({{\n{ADD}"test.termop"() : () -> ()\n}}) : () -> ()'
    result = opt("-p", "act{size=1}", text=text)
    assert result.err.startswith("<stdin>:1:1: error: 'arith.addi' op no room\n")


def test_an_op_without_a_place_that_does_not_verify_is_in_the_file(act_pass):
    def act(module: ModuleOp) -> None:
        erase_operands(module)
        first_add(module).location = UnknownLoc()

    act_pass(act)
    assert opt("-p", "act{size=1}").err == (
        "<stdin>: error: 'arith.addi' op Expected 2 operands, but got 0\nnote: after the pass 'act'\n"
    )


def test_no_message_prints_the_module():
    assert opt("-p", "transform-interpreter").err == (
        "<stdin>: error: the module could not find a nested named sequence with name: __transform_main\n"
        "note: in the pass 'transform-interpreter'\n"
    )


def test_error_of_ours_keeps_its_place(act_pass):
    act_pass(raising(NkiError("wrong dtype", Location("<stdin>", 1, 6), rule="R1")))
    assert opt("-p", "act{size=1}").err == (
        "<stdin>:1:6: error: wrong dtype [R1]\n  %0 = \"test.op\"() : () -> i32\n       ^\nnote: in the pass 'act'\n"
    )


def test_error_of_ours_without_place_gets_that_of_the_op(act_pass):
    act_pass(rewriting(NkiError("wrong dtype")))
    assert opt("-p", "act{size=1}").err.startswith("<stdin>:2:6: error: wrong dtype\n")


def test_unforeseen_exception_is_one_message(act_pass):
    act_pass(rewriting(ValueError("a\n  b")))
    assert opt("-p", "act{size=1}").err == (
        "<stdin>:2:6: error: internal error: ValueError: a b (--debug shows the traceback)\n"
        "  %1 = arith.addi %0, %0 : i32\n"
        "       ^\n"
        "note: in the pass 'act'\n"
    )


def test_debug_shows_the_traceback(act_pass):
    act_pass(raising(ValueError("a")))
    plain, debug = opt("-p", "act{size=1}"), opt("-p", "act{size=1}", "--debug")
    assert "Traceback" not in plain.err
    assert "Traceback" in debug.err
    assert debug.err.endswith(plain.err)


@pytest.mark.parametrize(
    "error, message", [(RecursionError(), "the input is nested too deeply"), (MemoryError(), "out of memory")]
)
def test_exhausted_resources(act_pass, error, message):
    act_pass(raising(error))
    assert opt("-p", "act{size=1}") == Result(1, "", f"<stdin>: error: {message}\n")


def test_invalid_ir_after_a_pass(act_pass):
    act_pass(erase_operands)
    result = opt("-p", "act{size=1},cse", "--mlir-print-ir-after-all")
    assert result.status == 1
    dump, error = result.err.split("\n\n")
    assert dump == (
        "// -----// IR Dump After act Failed //----- //\n"
        '"builtin.module"() ({\n'
        '  %0 = "test.op"() : () -> i32\n'
        '  %1 = "arith.addi"() <{overflowFlags = #arith.overflow<none>}> : () -> i32\n'
        "}) : () -> ()"
    )
    assert error == (
        "<stdin>:2:6: error: 'arith.addi' op Expected 2 operands, but got 0\n"
        "  %1 = arith.addi %0, %0 : i32\n"
        "       ^\n"
        "note: after the pass 'act'\n"
    )


@pytest.mark.parametrize(
    "flag", ["--mlir-print-ir-after-failure", "--mlir-print-ir-after-all", "--mlir-print-ir-after=act"]
)
def test_ir_after_a_pass_that_failed(act_pass, flag):
    def act(module: ModuleOp) -> None:
        first_add(module).detach()
        raise NkiError("no room")

    act_pass(act)
    assert opt("-p", "act{size=1},cse", flag) == Result(
        1,
        "",
        "// -----// IR Dump After act Failed //----- //\n"
        '"builtin.module"() ({\n'
        '  %0 = "test.op"() : () -> i32\n'
        "}) : () -> ()\n\n"
        "<stdin>: error: no room\nnote: in the pass 'act'\n",
    )
    assert opt("-p", "cse", "--mlir-print-ir-after-failure").err == ""


def test_ir_that_cannot_be_printed_hides_no_error(act_pass, monkeypatch: pytest.MonkeyPatch):
    def unprintable(*_: object, **__: object) -> str:
        raise ValueError("broken")

    act_pass(raising(NkiError("no room")))
    monkeypatch.setattr("nki_mlir.tools.opt_instrument.print_module", unprintable)
    assert opt("-p", "act{size=1}", "--mlir-print-ir-after-failure") == Result(
        1,
        "",
        "<stdin>: error: no room\nnote: in the pass 'act'\n"
        "error: internal error: ValueError: broken (--debug shows the traceback)\n",
    )


def repair(module: ModuleOp) -> None:
    add = first_add(module)
    if add.operands:
        add.operands = ()
    else:
        value = next(iter(module.body.block.ops)).results[0]
        add.operands = (value, value)


@pytest.mark.parametrize("flag", ["--verify-each", "--verify-each=1", "--verify-each=true"])
def test_verify_each_is_the_default(act_pass, flag):
    act_pass(repair)
    pipeline = "act{size=1},act{size=2}"
    assert opt("-p", pipeline).status == 1
    assert opt("-p", pipeline, flag).status == 1


@pytest.mark.parametrize("flag", ["--verify-each=0", "--verify-each=false"])
def test_verify_each_off_still_verifies_the_result(act_pass, flag):
    act_pass(repair)
    assert opt("-p", "act{size=1},act{size=2}", flag).status == 0
    assert "after the pass 'act'" in opt("-p", "act{size=1}", flag).err


def test_expected_error_in_a_pass(act_pass):
    act_pass(rewriting(PassFailedException("no room in SBUF")))
    text = ADD + "// expected-error @-2 {{no room}}\n"
    assert opt("-p", "act{size=1}", "--verify-diagnostics", text=text.replace("@-2", "@above")) == Result(0, "", "")
    act_pass(raising(PassFailedException("no room in SBUF")))
    text = ADD + "// expected-error @unknown {{no room}}\n// expected-note @unknown {{in the pass 'act'}}\n"
    assert opt("-p", "act{size=1}", "--verify-diagnostics", text=text) == Result(0, "", "")


# The reproducer


def test_crash_reproducer(act_pass, tmp_path: Path):
    path = tmp_path / "crash.mlir"
    flag = f"--mlir-pass-pipeline-crash-reproducer={path}"
    assert opt("-p", "cse,act{size=1}", flag).status == 0
    assert not path.exists()
    act_pass(raising(ValueError("a")))
    result = opt("-p", "cse,act{size=1 names=a,b},dce", flag)
    assert result.status == 1
    assert result.err.endswith(f"note: in the pass 'act'\nnote: the IR before the pass is in '{path}'\n")
    assert path.read_text() == (
        '// configuration: --pass-pipeline=\'builtin.module(act{size=1 names="a","b"},dce)\'\n'
        "// <stdin>: error: internal error: ValueError: a (--debug shows the traceback)\n"
        "// note: in the pass 'act'\n"
        "builtin.module {\n"
        '  %0 = "test.op"() : () -> i32\n'
        "}\n"
    )
    assert os.listdir(tmp_path) == ["crash.mlir"]
    # The file with its own configuration fails in the same way.
    pipeline = path.read_text().split("'")[1]
    assert opt(str(path), f"--pass-pipeline={pipeline}").err.startswith(
        f"{path}: error: internal error: ValueError: a "
    )
    assert opt(str(path), "--run-reproducer").err.startswith(f"{path}: error: internal error: ValueError: a ")


@pytest.mark.parametrize(
    "arguments, text, message",
    [
        ([], ADD, "error: --run-reproducer expects a file that begins with the line `// configuration: --pass-"),
        ([], "// configuration: --pass-pipeline='func.func(cse)'\n", "--pass-pipeline expects 'builtin.module(…)'"),
        ([], "// configuration: --pass-pipeline='builtin.module(cs)'\n", "unknown pass 'cs'; did you mean 'cse'?"),
        (["--cse"], ADD, "error: passes are given with --run-reproducer, which runs those of the file"),
    ],
)
def test_run_reproducer_refuses(arguments, text, message):
    result = opt("--run-reproducer", *arguments, text=text)
    assert (result.status, result.out) == (1, "")
    assert message in result.err


def test_run_reproducer_runs_the_passes_of_the_file():
    text = "// configuration: --pass-pipeline='builtin.module(dce)'\n" + ADD.replace("arith.addi", "arith.muli")
    result = opt("--run-reproducer", text=text)
    assert (result.status, result.err) == (0, "")
    assert "test.op" in result.out
    assert "muli" not in result.out


def test_crash_reproducer_that_cannot_be_written(act_pass, tmp_path: Path):
    """It comes on top of the error of the pass."""
    path = tmp_path / "no" / "crash.mlir"
    act_pass(raising(NkiError("a")))
    result = opt("-p", "act{size=1}", f"--mlir-pass-pipeline-crash-reproducer={path}")
    assert result == Result(
        1, "", f"<stdin>: error: a\nnote: in the pass 'act'\nerror: cannot write '{path}': No such file or directory\n"
    )


def test_crash_reproducer_of_a_split_input_is_that_of_its_first_error(act_pass, tmp_path: Path):
    path = tmp_path / "crash.mlir"

    def refuse(module: ModuleOp) -> None:
        raise NkiError(next(iter(module.body.ops)).name)

    act_pass(refuse)
    text = '"test.op"() : () -> ()\n// -----\n"test.termop"() : () -> ()\n'
    result = opt("-p", "act{size=1}", "--split-input-file", f"--mlir-pass-pipeline-crash-reproducer={path}", text=text)
    assert result.err == (
        f"<stdin>: error: test.op\nnote: in the pass 'act'\nnote: the IR before the pass is in '{path}'\n"
        "<stdin>: error: test.termop\nnote: in the pass 'act'\n"
        f"note: the IR before the pass is not written: '{path}' holds that of an error above\n"
    )
    assert "test.op" in path.read_text()
    assert "test.termop" not in path.read_text()


# Options of passes


@pytest.mark.parametrize(
    "pipeline, message",
    [
        ("act", "pass 'act' needs the option 'size' (int)"),
        ("act{size=one}", "option 'size' of pass 'act' expects int, got one"),
        ("act{size=true}", "option 'size' of pass 'act' expects int, got true"),
        ("act{size=1 loop-depth=false}", "option 'loop-depth' of pass 'act' expects int|None, got false"),
        ("act{size=1 names=a,true}", "option 'names' of pass 'act' expects tuple[str, ...], got a,true"),
        (f"act{{size={'9' * 5000}}}", "an integer of 5000 digits is too large"),
        ("cse,", "expected pass name, got the end\n  cse,\n      ^"),
        (
            "mlir-opt{executable=no-such-program}",
            "pass 'mlir-opt' is not available: there is no program 'no-such-program'",
        ),
        ("act{size=1,2}", "option 'size' of pass 'act' expects int, got 1,2"),
        ("act{size=1 lop-depth=2}", "pass 'act' has no option 'lop-depth'; did you mean 'loop-depth'?"),
        ("act{size=1 loop-depth=a}", "option 'loop-depth' of pass 'act' expects int|None, got a"),
    ],
)
def test_bad_options(pipeline, message):
    assert opt("-p", pipeline) == Result(1, "", f"error: {message}\n")


def test_good_options(act_pass):
    for options in ("size=1", "size=1 names=a", "size=1 names=a,b loop-depth=3", "size=1 loop_depth=3 loop-depth"):
        assert opt("-p", f"act{{{options}}}").status == 0
        assert opt(f"--act={options}").status == 0


@pytest.mark.parametrize("flag", ["-t", "-f"])
def test_bad_options_of_targets_and_frontends(flag):
    message = "error: an integer of 5000 digits is too large\n"
    assert opt(flag, f"mlir{{x={'9' * 5000}}}") == Result(1, "", message)
    assert opt(flag, "mlir{").err == "error: expected argument name, got the end\n  mlir{\n       ^\n"


def test_listing_shows_summary_and_options():
    assert (
        "act\n    Does what the test says.\n    size: int\n    names: tuple[str, ...] = ()\n"
        "    loop-depth: int|None = none\n" in opt("--list-passes").out
    )


def test_no_pass_is_hidden_by_a_flag_of_the_driver():
    help_text = opt("--help").out
    assert not [name for name in ALL_PASSES if f"\n  --{name} " in help_text or f"\n  --{name}\n" in help_text]


# Debug messages


def test_debug_messages():
    line = "[nki_mlir.transforms.act] 3 ops\n"
    assert opt("-p", "act{size=1}").err == ""
    assert opt("-p", "act{size=1}", "--debug").err == line
    for names in ("act", "transforms.act", "other,act", "nki_mlir.transforms.act"):
        assert opt("-p", "act{size=1}", f"--debug-only={names}").err == line
    assert opt("-p", "act{size=1}", "--debug-only=other").err == ""


# Bad bytes and bad nesting


def test_binary_input():
    result = opt(text=b"abc\xff\x00")
    assert result == Result(1, "", "<stdin>: byte 3: error: expected UTF-8 text, got byte 0xff\n")


def test_deep_nesting():
    result = opt(text='"test.op"() ({\n' * 3000)
    assert result.status == 1
    assert result.err.split("\n")[0].endswith("error: the input is nested too deeply")
    assert result.err.startswith("<stdin>:")
    assert len(result.err.split("\n")) == 4


def test_integer_of_too_many_digits():
    result = opt(text=f'"test.op"() {{a = {"9" * 5000}}} : () -> ()')
    assert result.err.startswith("<stdin>:1:18: error: an integer of 5000 digits is too large\n")


def test_too_many_errors_are_counted():
    result = opt(text='"arith.addi"() : () -> ()\n' * 150)
    assert result.err.count("Expected 2 operands") == 100
    assert result.err.endswith("error: 50 more errors are not shown\n")


def test_verifier_that_crashes_is_located(monkeypatch: pytest.MonkeyPatch):
    def crash(op: AddiOp, verify_nested_ops: bool = True) -> None:
        raise AssertionError("x")

    monkeypatch.setattr(AddiOp, "verify", crash)
    assert opt().err.startswith(
        "<stdin>:2:6: error: internal error in the verifier of 'arith.addi': AssertionError: x (--debug"
    )


def test_verifier_that_raises_a_bare_exception_has_said_what_is_wrong():
    text = """%m = "test.op"() : () -> memref<4x4xf32>
%i = "test.op"() : () -> index
%x = "memref.load"(%m, %i) : (memref<4x4xf32>, index) -> f32
"""
    message = "<stdin>:3:6: error: 'memref.load' op expected an index for each dimension\n"
    assert opt(text=text).err.startswith(message)


# Files


def test_output_file_takes_its_place_whole(act_pass, tmp_path: Path):
    path = tmp_path / "out.mlir"
    path.write_text("old")
    path.chmod(0o640)
    assert opt("-p", "nope", "-o", str(path)).status == 1
    assert opt("-o", str(path), text="arith.nope").status == 1
    act_pass(raising(ValueError("a")))
    assert opt("-o", str(path), "-p", "act{size=1}").status == 1
    assert path.read_text() == "old"
    link = tmp_path / "link.mlir"
    link.symlink_to(path)
    assert opt("-o", str(link)) == Result(0, "", "")
    assert path.read_text() == opt().out == opt("-o", "-").out
    assert link.is_symlink()
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert sorted(os.listdir(tmp_path)) == ["link.mlir", "out.mlir"]


def test_new_output_file_obeys_the_umask(tmp_path: Path):
    mask = os.umask(0o027)
    try:
        opt("-o", str(tmp_path / "new"))
    finally:
        os.umask(mask)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o640


def test_output_to_a_device():
    assert opt("-o", "/dev/null") == Result(0, "", "")
    assert opt("-o", "/dev/full") == Result(1, "", "error: cannot write '/dev/full': No space left on device\n")


def test_good_pieces_of_a_bad_input_go_to_standard_output_only(tmp_path: Path):
    text = f"{ADD}// -----\narith.nope\n"
    assert "arith.addi" in opt("--split-input-file", text=text).out
    assert opt("--split-input-file", "-o", str(tmp_path / "out"), text=text).status == 1
    assert os.listdir(tmp_path) == []


# The process stays as it was


@pytest.mark.parametrize(
    "argv", [(), ("--disable-verify",), ("--syntax-highlight",), ("--debug",), ("--help",), ("-p", "nope")]
)
def test_nothing_leaks(argv):
    def state() -> tuple[object, ...]:
        log = logging.getLogger("nki_mlir")
        return (
            Attribute.__post_init__,
            Diagnostic.colored,
            Diagnostic.raise_exception,
            (sys.stdin, sys.stdout, sys.stderr),
            (gc.isenabled(), gc.get_threshold(), gc.get_freeze_count()),
            (log.level, tuple(log.handlers)),
        )

    before = state()
    opt(*argv)
    assert state() == before


def test_collector_is_off_while_parsing_and_on_in_passes(act_pass, monkeypatch: pytest.MonkeyPatch):
    seen: list[object] = []
    parse = opt_driver.parse_mlir

    def parse_and_look(*args, **kwargs):
        seen.append(gc.isenabled())
        return parse(*args, **kwargs)

    monkeypatch.setattr(opt_driver, "parse_mlir", parse_and_look)
    act_pass(lambda module: seen.extend([gc.isenabled(), gc.get_threshold(), gc.get_freeze_count() > 1000]))
    opt("-p", "act{size=1}")
    assert seen == [False, True, (200_000, 20, 100), True]


def test_disable_verify():
    bad = '"arith.addi"() : () -> ()'
    assert opt(text=bad).status == 1
    assert opt("--disable-verify", "--print-op-generic", text=bad).status == 0


@pytest.mark.parametrize(
    "text",
    [
        '"arith.extsi"() : () -> ()',
        '"scf.for"() ({\n  }) : () -> ()',
        '"penguin.func"() <{sym_name = "f"}> ({\n  }) : () -> ()',
    ],
)
def test_what_does_not_verify_is_printed_in_the_generic_form(text):
    """As by mlir-opt, for the custom form may rely on what is not there."""
    printed = f'"builtin.module"() ({{\n  {text}\n}}) : () -> ()\n'
    assert opt("--disable-verify", text=text) == Result(0, printed, "")
    dump = f"// -----// IR Dump Before cse //----- //\n{printed}\n"
    assert opt("--disable-verify", "--mlir-print-ir-before=cse", "-p", "cse", text=text).err.startswith(dump)
    assert opt("--disable-verify").out == opt().out


def test_invalid_ir_between_passes_is_printed_in_the_generic_form(act_pass):
    act_pass(repair)
    flags = ["--verify-each=0", "--mlir-print-ir-after=act"]
    first, second = opt("-p", "act{size=1},act{size=2}", *flags).err.split("\n\n")[:2]
    assert '"arith.addi"() <{' in first
    assert "%1 = arith.addi %0, %0 : i32" in second


def test_shrink(act_pass):
    act_pass(raising(ShrinkException()))
    assert opt("-p", "act{size=1}", "--shrink") == Result(0, "Success, can shrink\n", "")
    act_pass(nothing)
    result = opt("-p", "act{size=1}", "--shrink")
    assert (result.status, result.out.split("\n")[-2]) == (1, "Failure, can't shrink")


def test_no_implicit_module():
    assert opt("--no-implicit-module", text="builtin.module {\n}").status == 0
    assert opt("--no-implicit-module").err.startswith(
        "<stdin>:1:1: error: expected one builtin.module and nothing else"
    )


def test_verify_exception_of_a_dialect_type_is_placed_at_the_type(monkeypatch: pytest.MonkeyPatch):
    from xdsl.dialects.arith import FastMathFlagsAttr

    def refuse(self: Attribute) -> None:
        raise VerifyException("never\nright")

    monkeypatch.setattr(FastMathFlagsAttr, "__post_init__", refuse, raising=False)
    result = opt(text='"test.op"() {\n  a = #arith.fastmath<fast>} : () -> ()')
    assert result.err == "<stdin>:2:7: error: never right\n    a = #arith.fastmath<fast>} : () -> ()\n        ^\n"


# Every flag of xDSL's driver is still there


def test_flags_of_xdsl():
    import argparse

    from xdsl.xdsl_opt_main import xDSLOptMain

    class Flags(xDSLOptMain):
        def __init__(self) -> None:
            self.available_frontends, self.available_passes, self.available_targets = {}, {}, {}

    parser = argparse.ArgumentParser()
    Flags().register_all_arguments(parser)
    help_text = opt("--help").out
    flags = [flag for action in parser._actions for flag in action.option_strings]
    assert len(flags) > 20
    assert [flag for flag in flags if flag not in help_text] == []


def test_the_constructor_is_that_of_xdsl():
    driver = NkiOpt(nki_opt.Console(sys.stdin, sys.stdout, sys.stderr), [])
    assert driver.args.target == "mlir"
    assert "bir" in driver.ctx.registered_dialect_names


# Processes


def python(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def test_import_is_cheap():
    code = "import sys, nki_mlir.tools.nki_opt; print([m for m in sys.modules if m.split('.')[0] in ('xdsl', 'numpy')])"
    assert python(code) == "[]"


def test_a_run_imports_neither_numpy_nor_our_dialects_nor_other_passes():
    code = f"""
import io, sys
from nki_mlir.tools.nki_opt import run
assert run(["-p", "cse"], io.StringIO({ADD!r}), io.StringIO(), sys.stderr) == 0
ours = [m for m in sys.modules if m.startswith(("nki_mlir.dialects.", "nki_mlir.transforms.", "nki_mlir.isa"))]
print(sorted(ours), "numpy" in sys.modules, "xdsl.transforms.canonicalize" in sys.modules, "logging" in sys.modules)
"""
    helpers = [f"nki_mlir.dialects.{name}" for name in ("blocks", "locations", "verifier")]
    assert python(code) == f"{helpers} False False False"


def test_reader_that_leaves_early():
    code = "import sys; sys.argv = ['nki-opt', '--list-dialects']; from nki_mlir.tools.nki_opt import main; main()"
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 1


def test_output_ends_with_one_newline() -> None:
    for flags in ((), ("--print-op-generic",), ("--print-debuginfo",)):
        out = opt(*flags).out
        assert out.endswith("\n")
        assert not out.endswith("\n\n")
    assert opt("--split-input-file", text=f"{ADD}// -----\n{ADD}").out.count("\n\n") == 0


@pytest.mark.parametrize("value, given", [("1", True), ("true", True), ("TRUE", True), ("0", False), ("False", False)])
@pytest.mark.parametrize("dash", ["-", "--"])
def test_flags_with_a_value(value, given, dash):
    plain, generic = opt().out, opt("--print-op-generic").out
    for flag in ("print-op-generic", "mlir-print-op-generic"):
        assert opt(f"{dash}{flag}={value}") == Result(0, generic if given else plain, "")
    assert opt(f"{dash}mlir-disable-threading={value}").status == 0


def test_flags_with_a_wrong_value():
    message = "error: argument --mlir-disable-threading: expected 0 or 1, got 'yes'\n"
    assert opt("--mlir-disable-threading=yes") == Result(1, "", message)
    message = "error: argument --verify-diagnostics: invalid choice: 'some' (choose from "
    assert opt("--verify-diagnostics=some").err.startswith(message)


def test_marks_of_a_split_input(tmp_path: Path):
    one = '"test.op"() : () -> ()\n'
    module = f"builtin.module {{\n  {one}}}\n"
    text = f"{one}// +++\n{one}// -----\n{one}"
    assert opt("--split-input-file=// +++", text=text).out == f"{module}// -----\nbuiltin.module {{\n  {one}  {one}}}\n"
    assert opt("--split-input-file", "--output-split-marker=// next", text=text.replace("+++", "-----")).out == (
        f"{module}// next\n{module}// next\n{module}"
    )
    assert opt("--split-input-file=", text=text).out == opt(text=text).out
    # The name of a file behind the flag is not its value.
    path = tmp_path / "in.mlir"
    path.write_text(f"{one}// -----\n{one}")
    for flags in (
        ["--split-input-file", str(path)],
        ["-split-input-file", str(path)],
        [str(path), "--split-input-file"],
    ):
        assert opt(*flags, text="").out == f"{module}// -----\n{module}"


def test_errors_that_nobody_expects():
    wrong = '"arith.addi"() : () -> ()'
    expected = f"{wrong} // expected-error {{{{Expected 2 operands}}}}\n"
    for flag, status in (("", 1), ("=all", 1), ("=only-expected", 0)):
        assert opt(f"--verify-diagnostics{flag}", text=expected + wrong).status == status
        assert opt(f"--verify-diagnostics{flag}", text=expected).status == 0
        missing = opt(f"--verify-diagnostics{flag}", text=expected + "// expected-error {{more}}")
        assert missing.err.startswith('<stdin>:2:4: error: expected error "more" was not produced')

"""The runner of lit tests agrees with lit, and knows what it cannot do."""

import shutil
import subprocess
from pathlib import Path

import pytest
from in_process_lit import LIT, Failure, NotInProcess, check_in_process, execute, run_lines, run_with_lit, substitute

ROOT = Path(__file__).parents[3]
EXAMPLE = ROOT / "test" / "tools" / "roundtrip.mlir"


def test_lit_itself_runs_the_files():
    result = subprocess.run([*LIT, "-v", str(EXAMPLE)], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "PASS: nki-mlir :: tools/roundtrip.mlir" in result.stdout


def test_run_lines():
    text = "// RUN: a %s \\\n// RUN:   | b\n// CHECK: x\n// RUN: c\n"
    assert run_lines(text) == ["a %s | b", "c"]


def test_substitutions(tmp_path: Path):
    assert substitute("x %s %S/y %t.a 10%%", EXAMPLE, tmp_path / "t") == (
        f"x {EXAMPLE} {EXAMPLE.parent}/y {tmp_path}/t.a 10%"
    )
    with pytest.raises(NotInProcess):
        substitute("x %{other}", EXAMPLE, tmp_path)


@pytest.mark.parametrize("command", ["cat a", "nki-opt a || nki-opt b", "nki-opt $(x)* >| y", "nki-opt a | sort"])
def test_commands_for_a_shell(command):
    with pytest.raises((NotInProcess, ValueError)):
        check_in_process(command)


def test_pipes_redirections_and_negation(tmp_path: Path):
    good, bad, out = tmp_path / "good.mlir", tmp_path / "bad.mlir", tmp_path / "out"
    good.write_text('// CHECK: "test.op"\n"test.op"() : () -> ()')
    bad.write_text("// CHECK: unknown operation 'test.no'\n\"test.no\"() : () -> ()")
    for command in (
        f"nki-opt {good} | nki-opt | filecheck {good}",
        f"nki-opt < {good} > {out} && filecheck {good} < {out}",
        f"not nki-opt {bad} 2>&1 | filecheck {bad}",
        f"not nki-opt {bad} 2> {out} && filecheck {bad} --input-file {out}",
        f"not nki-opt {bad} > {out} 2>&1 && filecheck {bad} < {out}",
        f"! nki-opt {bad}",
        f"nki-opt {good} | not filecheck {bad}",
        f"not not nki-opt {good}",
    ):
        check_in_process(command)
        execute(command)


def test_failures_show_what_was_printed(tmp_path: Path):
    bad = tmp_path / "bad.mlir"
    bad.write_text('"test.no"() : () -> ()')
    for command in (f"nki-opt {bad}", f"nki-opt {bad} | nki-opt", f"not nki-opt {bad} && nki-opt {bad}"):
        with pytest.raises(Failure, match=r"unknown operation 'test\.no'"):
            execute(command)
    with pytest.raises(Failure):
        execute("not nki-opt --version")


def test_other_files_are_given_to_lit(tmp_path: Path):
    shutil.copy(ROOT / "test" / "lit.cfg.py", tmp_path / "lit.cfg.py")
    (tmp_path / "good.mlir").write_text("// RUN: echo a | cat\n")
    (tmp_path / "bad.mlir").write_text("// RUN: echo a | grep b\n")
    (tmp_path / "other.mlir").write_text("// REQUIRES: a-feature\n// RUN: echo a | cat\n")
    run_with_lit(tmp_path / "good.mlir")
    with pytest.raises(Failure):
        run_with_lit(tmp_path / "bad.mlir")
    with pytest.raises(pytest.skip.Exception):
        run_with_lit(tmp_path / "other.mlir")

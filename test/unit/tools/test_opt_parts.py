"""The parts of nki-opt that are functions of text."""

import pytest

from nki_mlir.diagnostics import Location, NkiError
from nki_mlir.tools.opt_driver import ALL_PASSES
from nki_mlir.tools.opt_expected import mismatches
from nki_mlir.tools.opt_pipeline import pipeline_of_mlir, take_pass_flags
from nki_mlir.tools.opt_split import split_input


@pytest.mark.parametrize(
    "text, pieces",
    [
        ("", [("", 1)]),
        ("a\n", [("a\n", 1)]),
        ("a\n// -----\nb\n", [("a\n", 1), ("b\n", 3)]),
        ("a\n// ----- \t\r\nb", [("a\n", 1), ("b", 3)]),
        ("// -----\n// -----\n", [("", 1), ("", 2), ("", 3)]),
        ("a\n\n// -----", [("a\n\n", 1), ("", 3)]),
        ("a\n// -----\n\nb\n// -----\nc", [("a\n", 1), ("\nb\n", 3), ("c", 6)]),
        ('"// -----"\n', [('"// -----"\n', 1)]),
        (" // -----\n// ------\n// ----- x\n//-----\n", [(" // -----\n// ------\n// ----- x\n//-----\n", 1)]),
    ],
)
def test_split(text, pieces):
    assert split_input(text) == pieces


def test_split_at_other_lines():
    assert split_input("a\n.*\nb\n// -----\n", ".*") == [("a\n", 1), ("b\n// -----\n", 3)]


def check(text: str, *errors: tuple[str, int], first_line: int = 1) -> list[str]:
    located = [NkiError(message, Location("f.mlir", line, 1) if line else None) for message, line in errors]
    return [f"{error.location}: {error}" for error in mismatches(text, "f.mlir", first_line, located)]


def test_expected_errors_match_by_line_and_part_of_the_message():
    assert check("a // expected-error {{bc}}", ("abcd", 1)) == []
    assert check("a // expected-error {{bd}}", ("abcd", 1)) == [
        "f.mlir:1:1: unexpected error: abcd",
        'f.mlir:1:6: expected error "bd" was not produced',
    ]
    assert len(check("a // expected-error {{bc}}", ("abcd", 2))) == 2


def test_expected_errors_elsewhere():
    assert check("// expected-error @+2 {{x}}\n\na", ("x", 3)) == []
    assert check("a\n\n// expected-error @-2 {{x}}", ("x", 1)) == []
    assert check("// expected-error @below {{x}}\n// expected-error@below{{y}}\na", ("x", 3), ("y", 3)) == []
    assert check("a\n// expected-error @above {{x}}\n// expected-error @above {{y}}", ("y", 1), ("x", 1)) == []
    assert check("// expected-error @unknown {{x}}", ("x", 0)) == []
    assert check("// expected-error @+1 {{x}}\na", ("x", 11), first_line=10) == []


def test_regular_expressions_that_are_none():
    for body, pattern, column, reason in (
        ("a {{[}} b", "[", 28, "unterminated character set"),
        ("{{a*}}, {{)}}", ")", 34, "unbalanced parenthesis"),
        ("{{a{99999999999} }}", "a{99999999999} ", 26, "the repetition number is too large"),
    ):
        wanted = f"f.mlir:1:{column}: '{pattern}' is no regular expression: {reason}"
        assert check(f"// expected-error-re {{{{{body}}}}}") == [wanted]
    assert check("// expected-error-re {{a {{[0-9]+}} (b)}}", ("a 12 (b)", 1)) == []


def test_every_error_and_every_comment_counts_once():
    assert check("a // expected-error {{x}}", ("x", 1), ("x", 1)) == ["f.mlir:1:1: unexpected error: x"]
    assert check("// expected-error @+2 {{x}}\n// expected-error @+1 {{x}}\na", ("x", 3)) == [
        'f.mlir:2:4: expected error "x" was not produced'
    ]


def test_errors_in_other_files_are_without_a_place():
    error = NkiError("x", Location("kernel.py", 1, 1))
    assert mismatches("// expected-error @unknown {{x}}", "f.mlir", 1, [error]) == []
    assert mismatches("// expected-error @unknown {{x}}", "f.mlir", 1, [NkiError("x", Location("f.mlir"))]) == []
    assert len(mismatches("a // expected-error {{x}}", "f.mlir", 1, [error])) == 2


def test_expected_errors_as_regular_expressions():
    text = "a // expected-error-re {{dim {{[0-9]+}} (of {{a|b}})}}"
    assert check(text, ("dim 12 (of b)", 1)) == []
    assert len(check(text, ("dim x (of b)", 1))) == 2


def test_braces_in_an_expected_error():
    assert check("a // expected-error {{got {x = {y}}}}", ("got {x = {y}}", 1)) == []


def test_malformed_comments_are_told():
    message = "f.mlir:1:3: expected a comment of the form expected-error {{text}}"
    for comment in ("expected-error {x}", "expected-error @abov {{x}}", "expected-error-rx {{x}}"):
        assert check(f"a // {comment}") == [message]


@pytest.mark.parametrize(
    "text, pipeline",
    [
        ("builtin.module()", ""),
        ("builtin.module(cse)", "cse"),
        (" builtin.module ( cse , dce ) ", "cse,dce"),
        ("builtin.module(a{ x=1  y=2 }, b{ })", "a{x=1  y=2},b{}"),
        ("builtin.module(mlir-opt[ cse ])", "mlir-opt[cse]"),
        ('any(a{x=1 y="p, (q"},b)', 'a{x=1 y="p, (q"},b'),
    ],
)
def test_pipelines_of_mlir(text, pipeline):
    assert pipeline_of_mlir(text) == pipeline


@pytest.mark.parametrize("text", ["", "cse", "func.func(cse)", "builtin.module(cse", "builtin.module(cse),any(dce)"])
def test_other_pipelines_are_refused(text):
    with pytest.raises(NkiError, match="--pass-pipeline expects"):
        pipeline_of_mlir(text)


def test_pass_flags_make_a_pipeline_in_their_order():
    argv = ["--dce", "a.mlir", "--cse=", "--apply-pdl=pdl-file=a x=1", "-o", "b", "--", "--cse"]
    assert take_pass_flags(argv, ALL_PASSES) == (
        ["a.mlir", "-o", "b", "--", "--cse"],
        "dce,cse,apply-pdl{pdl-file=a x=1}",
    )
    assert take_pass_flags(["-", "cse", "-cse", "-xcse"], ALL_PASSES) == (["-", "cse", "-xcse"], "cse")

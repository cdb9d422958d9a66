"""The parser that knows where every op stands. It uses private methods of xDSL's: this is what must go on working."""

import sys
from io import StringIO

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import FileLineColLoc, IntAttr, ModuleOp, StringAttr, UnknownLoc
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.universe import XDSL_UNIVERSE

from nki_mlir.diagnostics import Location, NkiError
from nki_mlir.dialects.locations import file_location, integer, place_of
from nki_mlir.dialects.verifier import verify_module
from nki_mlir.tools.mlir_parser import MOST_NESTED, parse_mlir
from nki_mlir.tools.mlir_printer import mlir_text
from nki_mlir.universe import UNIVERSE


def context() -> Context:
    ctx = Context()
    for name, factory in XDSL_UNIVERSE.all_dialects.items():
        ctx.register_dialect(name, factory)
    return ctx


def parse(text: str, first_line: int = 1) -> ModuleOp:
    return parse_mlir(context(), text, "f.mlir", first_line=first_line)


def test_fast_attributes_equal_ordinary_ones():
    fast = file_location(StringAttr("a"), integer(3), integer(1 << 40))
    slow = FileLineColLoc(StringAttr("a"), IntAttr(3), IntAttr(1 << 40))
    assert fast == slow
    assert hash(fast) == hash(slow)
    assert str(fast) == str(slow)
    assert repr(fast) == repr(slow)


PROGRAM = """\
!t = memref<4xf32>
#map = affine_map<(d0) -> (d0)>
func.func @f(%a: !t, %n: index) -> f32 {
  cf.br ^exit(%n : index)
^exit(%i: index):
  %v = memref.load %a[%i] : !t
  %r:2 = scf.if %c -> (f32, f32) {
    scf.yield %v, %v : f32, f32
  } else {
    scf.yield %v, %v : f32, f32
  }
  %c = "test.op"() {m = #map} : () -> i1
  func.return %r#1 : f32
}
"""


def test_the_ir_is_that_of_the_plain_parser():
    ours, theirs = parse(PROGRAM), Parser(context(), PROGRAM, "f.mlir").parse_module()

    def text(module: ModuleOp) -> str:
        stream = StringIO()
        Printer(stream=stream, print_generic_format=True).print_op(module)
        return stream.getvalue()

    assert text(ours) == text(theirs)


def test_every_op_has_a_place():
    module = parse(PROGRAM, first_line=11)
    places = [place_of(op.location) for op in module.walk()]
    assert places == [
        Location("f.mlir", line, column)
        for line, column in [
            (11, 1), (13, 1), (14, 3), (16, 8), (17, 10), (18, 5), (20, 5), (22, 8), (23, 3),
        ]
    ]  # fmt: skip


@pytest.mark.parametrize(
    "text, printed",
    [
        ('"k.py":3:4 to 3:9', '"k.py":3:4'),
        ('"k.py":3:4 to :9', '"k.py":3:4'),
        ('"n"("k.py":3:4 to 5:1)', '"n"("k.py":3:4)'),
        ('callsite("k.py":3:4 to :9 at "m.py":1:1 to 2:2)', 'callsite("k.py":3:4 at "m.py":1:1)'),
        ('fused["k.py":3:4, unknown]', 'fused["k.py":3:4, unknown]'),
        ('fused<"meta">["k.py":3:4 to :9, unknown]', 'fused<"meta">["k.py":3:4, unknown]'),
    ],
)
def test_forms_of_locations(text, printed):
    """Those of newer MLIR; xDSL knows no ranges, so their beginning is what stays."""
    module = parse(f'"test.op"() : () -> () loc({text})')
    assert place_of(next(iter(module.ops)).location) == Location("k.py", 3, 4)
    stream = StringIO()
    Printer(stream, print_debuginfo=True).print_op(module)
    assert f'"test.op"() : () -> () loc({printed})\n' in stream.getvalue()


def test_a_range_that_does_not_end():
    with pytest.raises(NkiError, match=r"^Expected ':', got '\)'$"):
        parse('"test.op"() : () -> () loc("k.py":3:4 to 3)')


def nested(depth: int) -> str:
    """Returns a text of as many ops inside one another."""
    loops = "".join(f"bir.loop %i{level} = 0 to 1 step 1 affine {{\n" for level in range(depth - 3))
    return f"builtin.module {{ bir.module @m {{ bir.func @f {{\n{loops}" + "}" * depth


def test_both_forms_nest_equally_deeply():
    """At the limit of Python's recursion, generic text would reach but two thirds of the depth."""
    context = Context()
    for name, dialect in (XDSL_UNIVERSE.all_dialects | UNIVERSE.all_dialects).items():
        context.register_dialect(name, dialect)
    limit = sys.getrecursionlimit()
    module = parse_mlir(context, nested(MOST_NESTED), "f.mlir")
    generic, custom = mlir_text(module, generic=True), mlir_text(module)
    assert mlir_text(parse_mlir(context, generic, "f.mlir")) == custom
    deeper = generic.replace('"bir.loop"', '"bir.module"() <{sym_name = "n"}> ({\n"bir.loop"', 1)
    for text in (nested(MOST_NESTED + 1), deeper):
        with pytest.raises(NkiError, match=r"^the input is nested too deeply$") as caught:
            parse_mlir(context, text, "f.mlir")
        innermost = text.rindex("bir.loop")
        assert caught.value.location.line == text.count("\n", 0, innermost) + 1
    assert sys.getrecursionlimit() == limit


def test_places_of_locations():
    assert place_of(UnknownLoc()) is None
    assert place_of(StringAttr("a")) is None


@pytest.mark.parametrize(
    "text, place, message",
    [
        ("", None, ""),
        ("`", (5, 1), "Unexpected character: `"),
        ("\n  `", (6, 3), "Unexpected character: `"),
        ("%a `", (5, 4), "Unexpected character: `"),
        ("# title", (5, 1), "a name is expected after this character"),
        ("%a = ! b", (5, 6), "a name is expected after this character"),
        ('\n"test.op"(', (6, 11), "operand expected, got the end of the input"),
        ("%0 = arith.addi %1, %1 : i32", (5, 17), "value %1 is used but not defined"),
        ("\0", (5, 1), "Unexpected character: U+0000"),
        ("%a \x1b", (5, 4), "Unexpected character: U+001B"),
        ("\ufeff", (5, 1), "Unexpected character: U+FEFF"),
        ('"test.op"() [\u200b', (5, 14), "Unexpected character: U+200B"),
        ("#a = #a", (5, 6), "undefined symbol alias '#a'"),
    ],
)
def test_errors_count_lines_from_the_first(text, place, message):
    if place is None:
        assert list(parse(text, 5).ops) == []
        return
    with pytest.raises(NkiError) as caught:
        parse(text, 5)
    assert (str(caught.value), caught.value.location) == (message, Location("f.mlir", *place))


def test_verification_finds_all_errors_in_the_order_of_the_text():
    module = parse(
        '"test.op"() ({\n  "arith.addi"() : () -> ()\n  "test.termop"() : () -> ()\n'
        '}) : () -> ()\n"arith.muli"() : () -> ()'
    )
    with pytest.raises(ExceptionGroup) as caught:
        verify_module(module)
    assert [(str(error), error.location.line) for error in caught.value.exceptions] == [
        ("'arith.addi' op Expected 2 operands, but got 0", 2),
        ("'arith.muli' op Expected 2 operands, but got 0", 5),
    ]


def test_notes_of_an_error_have_places():
    with pytest.raises(NkiError) as caught:
        parse('"test.op"() ({\n^a:\n  "test.op"() : () -> ()\n^a:\n}) : () -> ()')
    assert str(caught.value) == "re-declaration of block 'a'"
    assert caught.value.location == Location("f.mlir", 4, 1)
    assert caught.value.__notes__ == ["f.mlir:2:1: originally declared here"]


@pytest.mark.parametrize("name", ["a", "0", "bb0"])
def test_a_second_block_of_a_name_that_was_used_before_the_first(name):
    with pytest.raises(NkiError) as caught:
        parse(
            f'"test.op"() ({{\n  "test.termop"()[^{name}] : () -> ()\n^{name}:\n  "test.termop"() : () -> ()\n'
            f'^{name}:\n  "test.termop"() : () -> ()\n}}) : () -> ()'
        )
    assert str(caught.value) == f"re-declaration of block '{name}'"
    assert caught.value.location == Location("f.mlir", 5, 1)
    assert caught.value.__notes__ == ["f.mlir:3:1: originally declared here"]


def test_labels_that_are_numbers():
    """MLIR has them; a label before its block and behind it, and one in a region inside."""
    module = parse(
        '"test.op"() ({\n  "test.termop"()[^1, ^0] : () -> ()\n^0:\n  "test.op"() ({\n  ^0:\n'
        '  }) : () -> ()\n  "test.termop"()[^0, ^1] : () -> ()\n^1(%a : i32):\n}) : () -> ()'
    )
    entry, zero, one = next(iter(module.ops)).regions[0].blocks
    assert [list(op.successors) for op in (entry.last_op, zero.last_op)] == [[one, zero], [zero, one]]
    assert len(one.args) == 1
    assert zero.name_hint is None


@pytest.mark.parametrize(
    "label, message, line",
    [
        ("^0:", "re-declaration of block '0'", 4),
        ("^1:", "region ends with missing block declarations for block(s) 2", 5),
    ],
)
def test_wrong_labels_that_are_numbers(label, message, line):
    with pytest.raises(NkiError) as caught:
        parse(f'"test.op"() ({{\n^0:\n  "test.termop"()[^2] : () -> ()\n{label}\n}}) : () -> ()')
    assert str(caught.value) == message
    assert caught.value.location.line == line


def test_the_place_of_nesting_in_the_dictionary_of_an_instruction():
    head = 'bir.module @m { bir.func @f { %t = bir.tensor "t" : !nki.mem<sbuf 128x4xf32>\n'
    line = "bir.memset outs(%t[0 : 128 | 0 : 4] f32) ins(1.0 : f32) {a = 1,\n"
    context = Context()
    for name, dialect in (XDSL_UNIVERSE.all_dialects | UNIVERSE.all_dialects).items():
        context.register_dialect(name, dialect)
    with pytest.raises(NkiError, match=r"^the input is nested too deeply$") as caught:
        parse_mlir(context, head + line + "b = " + "[" * 3000, "f.mlir")
    assert caught.value.location.line == 3

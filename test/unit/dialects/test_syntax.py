"""Texts of all ops both ways, and what the lit files of the dialects have to hold."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from parsing import HEAD, body, instruction, instructions, parse, printed
from strategies import accesses, relaxed
from xdsl.dialects.builtin import StringAttr

from nki_mlir.diagnostics import NkiError
from nki_mlir.dialects import get_all_dialects
from nki_mlir.dialects.access import Access
from nki_mlir.dialects.attributes import ConditionAttr, ExprAttr
from nki_mlir.dialects.instruction import operands_of
from nki_mlir.isa.instructions import INSTRUCTIONS

FOLDER = Path(__file__).parents[2] / "dialects"
FILES = sorted(FOLDER.glob("*/*.mlir"))
DIALECTS = ("bir", "klr", "penguin")


def ops_file(dialect: str) -> str:
    return (FOLDER / dialect / "ops.mlir").read_text(encoding="utf-8")


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("generic", [False, True], ids=["custom", "generic"])
@pytest.mark.parametrize("locations", [False, True], ids=["plain", "locations"])
def test_printing_is_a_fixed_point(dialect: str, generic: bool, locations: bool) -> None:
    module = parse(ops_file(dialect))
    text = printed(module, generic=generic, locations=locations)
    again = parse(text)
    assert printed(again, generic=generic, locations=locations) == text
    assert printed(again) == printed(module)
    assert again.is_structurally_equivalent(module)
    if locations:
        where = [op.location for op in module.walk() if op.parent is not None]
        assert [op.location for op in again.walk() if op.parent is not None] == where


@pytest.mark.parametrize("dialect", DIALECTS)
def test_clones_print_alike(dialect: str) -> None:
    module = parse(ops_file(dialect))
    assert printed(module.clone()) == printed(module)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_op_is_in_the_lit_file(dialect: str) -> None:
    text = ops_file(dialect)
    defined = {op.name for op in get_all_dialects()[dialect]().operations}
    for line in ("// CHECK: ", "// GENERIC: "):
        written = set(re.findall(rf'{line}(?:%[\w.]+ = )?"?({dialect}\.\w+)', text))
        assert written == defined


def test_every_attribute_is_in_the_lit_file() -> None:
    text = (FOLDER / "nki" / "types.mlir").read_text(encoding="utf-8")
    defined = {attribute.name for attribute in get_all_dialects()["nki"]().attributes}
    assert {name for name in defined if re.search(rf"CHECK: .*[#!]{re.escape(name)}\b", text)} == defined


def test_every_rule_is_in_a_lit_file_with_its_message() -> None:
    found = {
        match
        for file in FILES
        for match in re.findall(r"expected-error .*\[([A-Z0-9-]+)\]\}\}", file.read_text("utf-8"))
    }
    assert found >= {rule.identifier for isa in INSTRUCTIONS.values() for rule in isa.rules}


# Operands --------------------------------------------------------------------------------------------------------


@relaxed
@given(accesses())
def test_any_pattern_in_an_instruction(access: Access) -> None:
    names = [f"%i{k}" for k in range(access.indices)]
    storage = "%u" if access.on_chip else "%a"
    loops = "".join(f"bir.loop {name} = 0 to 2 step 1 affine {{" for name in names)
    line = f"bir.memset outs({storage}{access.text(names)}) ins(0.0 : f32)"
    module = body(loops + line + "}" * len(names))
    (op,) = instructions(module)
    (dst, value) = operands_of(op)
    assert dst.pattern is access
    assert dst.storage is not None
    assert [v.name_hint for v in dst.indices] == [name[1:] for name in names]
    assert value.storage is None
    text = printed(module)
    assert line in text
    assert printed(parse(text)) == text
    assert printed(parse(printed(module, generic=True))) == text


@relaxed
@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_any_name(name: str) -> None:
    module = body("bir.register_move outs(%r) ins(0 : i32)")
    (op,) = instructions(module)
    op.properties["name"] = StringAttr(name)
    for generic in (False, True):
        (again,) = instructions(parse(printed(module, generic=generic)))
        assert again.inst_name is not None
        assert again.inst_name.data == name


def test_index_values_are_numbered_by_first_appearance() -> None:
    op = instruction(
        "bir.loop %i = 0 to 2 affine { bir.loop %j = 0 to 2 affine {"
        "bir.memset outs(%u{%j}[0 : 128 | 2*%i + %r + %j : 4] f32) ins(0.0 : f32) when(%q eq 0, %i - %q ge 0) } }"
    )
    (dst, _) = operands_of(op)
    assert dst.pattern is Access.read("{d0}[0 : 128 | 2*d1 + d2 + d0 : 4] f32")
    assert [value.name_hint for value in op.operands] == ["u", "j", "i", "r", "q", "i"]
    assert op.when is ConditionAttr.read("d0 eq 0, d1 - d0 ge 0")


def test_parameters() -> None:
    op = instruction(
        "bir.loop %i = 0 to 2 affine { bir.matmult outs(%t[0 : 32 | 0 : 512] f32)"
        " ins(%t[0 : 32 | 0 : 32] f32, %t[0 : 32 | 0 : 512] f32)"
        " params(tile_size = [32, 32], tile_position = [((%i floordiv 2) mod 3), 32*%r], accumulate = (%i mod 2)) }"
    )
    held = op.properties
    assert held["accumulate"] is ExprAttr.read("(d0 mod 2)")
    assert held["tile_position"] is ExprAttr.read("[((d0 floordiv 2) mod 3), 32*d1]")
    assert held["tile_size"] is ExprAttr.read("[32, 32]")
    assert [value.name_hint for value in op.operands] == ["t", "t", "t", "i", "i", "r"]
    assert (
        "params(accumulate = (%i mod 2), tile_position = [((%i floordiv 2) mod 3), 32*%r], tile_size = [32, 32])"
        in printed(op)
    )


def test_flags_print_in_the_order_of_the_class() -> None:
    op = instruction(
        "bir.tensor_scalar_ptr reverse1 is_scalar_tensor_tensor reverse0 add mult outs(%t[0 : 128 | 0 : 512] f32)"
        " ins(%t[0 : 128 | 0 : 512] f32, operand1 = %t[0 : 128 | 0 : 512] f32, operand0 = 1.0 : f32)"
    )
    assert printed(op).startswith("bir.tensor_scalar_ptr add mult reverse0 reverse1 is_scalar_tensor_tensor outs(")


def test_what_follows_an_instruction_is_read_by_xdsl() -> None:
    module = body(
        'bir.memset outs(%t[0 : 128 | 0 : 512] f32) ins(0.0 : f32) {nki.a = [1, "}"]} loc("k.py":3:4)\n'
        '%x = bir.tensor "x" : !nki.mem<sbuf 4x4xf32> bir.memset outs(%x[0 : 4 | 0 : 4] f32) ins(0.0 : f32)'
    )
    first, second = instructions(module)
    assert str(first.location) == 'loc("k.py":3:4)'
    assert second.operands[0].name_hint == "x"


@pytest.mark.parametrize(
    "line",
    [
        'bir.activation exp on act "n" outs(%t[0 : 128 | 0 : 8] f32) ins(%t[0 : 128 | 0 : 8] f32, scale = -2.0 : f32)'
        " when(%r - 1 ge 0) {dge_type = #nki.dge<hwdge>}",
        "bir.matmult outs(%t[0 : 32 | 0 : 512] f32) ins(%t[0 : 32 | 0 : 32] f32, %t[0 : 32 | 0 : 512] f32)"
        " params(accumulate = (%r mod 2), tile_position = [32*%r, 0])",
        "bir.memset outs(%u{%r}[0 : 128 | 4*%q : 4] f32 at 1 max 8) ins(inf : f32)",
        "bir.register_alu add outs(%r) ins(%q, 1 : i32)",
    ],
)
def test_a_comment_may_stand_between_any_two_tokens(line: str) -> None:
    """Also one that looks like what may follow."""
    tokens = re.findall(r'-?#?[\w.]+|%\w+|"n"|[^\w\s]', line)
    written = printed(instruction(line))
    assert written == printed(instruction(" ".join(tokens)))
    assert written == printed(instruction(' // , ) ] } f32 = ( { [ :\n// "\n '.join(tokens)))
    for place in range(1, len(tokens)):
        split = " ".join(tokens[:place]) + "//)]} f32\n" + " ".join(tokens[place:])
        assert written == printed(instruction(split))


# Mistakes --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "line, marked",
    [
        ("bir.tensor_tensor ad outs(%t[0 : 1 | 0 : 1] f32) ins(…)", "ad"),
        ("bir.tensor_tensor add on dvf outs(%t[0 : 1 | 0 : 1] f32)", "dvf"),
        ("bir.memset outs(%t[0 : 12a8 | 0 : 512] f32) ins(0.0 : f32)", "12a8"),
        ("bir.memset outs(%t[0 : 128 | 4*%r + 2*%q + * : 512] f32) ins(0.0 : f32)", "* : 512"),
        ("bir.memset outs(%t[0 : 128 | 4*%r * %q : 512] f32) ins(0.0 : f32)", "4*%r * %q"),
        ("bir.memset outs(%t[0 : 128 | 4*%r + 2*%missing : 512] f32) ins(0.0 : f32)", "%missing"),
        ("bir.memset outs(%missing[0 : 128 | 0 : 512] f32) ins(0.0 : f32)", "%missing"),
        ("bir.memset outs(%t[0 : 128 | 0 : 512] f31) ins(0.0 : f32)", "f31"),
        ("bir.memset outs(%t[0 : 128 | 0 : 512] f32) ins(0.0 : f31)", "f31"),
        ("bir.memset outs(%t[0 : 128 | 0 : 512] f32) ins(value = 0.0 : f32, other = 1.0 : f32)", "other"),
        ("bir.memset outs(%t[0 : 128 | 0 : 512] f32) ins(0.0 : f32, 1.0 : f32)", "1.0"),
        ("bir.memset outs(%t[0 : 128 | 0 : 512] f32) ins(0.0 : f32) when(%r ge 0, %q gt 0)", "%q gt"),
        ("bir.memset outs(%t[0 : 128 | 0 : 512] f32) ins(0.0 : f32) when(%r ge 0, %q + ge 0)", " ge 0)"),
    ],
)
def test_the_caret_is_at_the_mistake(line: str, marked: str) -> None:
    text = f"bir.module @m {{ bir.func @f {{ {HEAD}\n{line} }} }}"
    with pytest.raises(NkiError) as caught:
        parse(text)
    location = caught.value.location
    assert location is not None
    assert text.splitlines()[location.line - 1] == f"{line} }} }}"
    column = line.rindex(marked) + len(marked) - len(marked.lstrip())
    assert location.column - 1 in (column, line.rindex(marked))


@pytest.mark.parametrize("key", ["engine", "name", "value", "dst", "when"])
def test_what_stands_in_the_line_does_not_stand_in_the_dictionary(key: str) -> None:
    line = f"bir.memset outs(%t[0 : 128 | 0 : 512] f32) ins(0.0 : f32) {{nki.a = {{{key} = 1}}, {key} = 5}}"
    text = f"bir.module @m {{ bir.func @f {{ {HEAD}\n{line} }} }}"
    with pytest.raises(NkiError) as caught:
        parse(text)
    assert str(caught.value) == f"'{key}' of bir.memset stands in the line, not in the dictionary"
    assert caught.value.location is not None
    assert caught.value.location.column - 1 == line.rindex(key)


@relaxed
@given(st.data())
def test_a_damaged_text_is_one_error_or_another_program(data: st.DataObject) -> None:
    line = data.draw(
        st.sampled_from([line for line in ops_file("bir").splitlines() if line.lstrip().startswith("bir.")])
    )
    start = data.draw(st.integers(0, len(line)))
    end = data.draw(st.integers(start, min(len(line), start + 3)))
    added = data.draw(st.text(st.sampled_from('()[]{}<>|:*%,=-+ "/abd019.\n'), max_size=2))
    module, error = None, ""
    try:
        module = body(line[:start] + added + line[end:])
    except NkiError as caught:
        error = str(caught)
    assert "internal error" not in error
    assert module is None or printed(parse(printed(module))) == printed(module)


@pytest.mark.parametrize(
    "piece", ["(", "[", "{", "-", "((%r mod 2) mod 3) + ", "%r + ", "1, ", "// \n", '"a" ', "on dve "]
)
def test_hostile_texts_end_soon(piece: str) -> None:
    for prefix in (
        "bir.memset outs(%t[0 : 128 | ",
        "bir.memset outs(%t[0 : 128 | 0 : ",
        "bir.memset outs(",
        "bir.matmult params(accumulate = ",
        "bir.memset when(",
        "bir.memset ",
    ):
        with pytest.raises(NkiError):
            body(prefix + 3000 * piece)

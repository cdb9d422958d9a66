"""The registration of the lowerings: no class without a row, no property lost, nothing changed after an error."""

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Dialect

from nki_mlir.diagnostics import NkiError
from nki_mlir.dialects import bir, get_all_dialects, klr, penguin
from nki_mlir.dialects.instruction import InstructionOp
from nki_mlir.tools.mlir_parser import parse_mlir
from nki_mlir.transforms.klr_to_bir import KLR_TO_BIR, ConvertKlrToBir
from nki_mlir.transforms.lowering import Lowering, Row, same
from nki_mlir.transforms.penguin_to_bir import PENGUIN_TO_BIR, ConvertPenguinToBir


def parse(text: str) -> tuple[Context, ModuleOp]:
    """Returns a context with our dialects and the module that the text is."""
    ctx = Context()
    for name, dialect in get_all_dialects().items():
        ctx.register_dialect(name, dialect)
    return ctx, parse_mlir(ctx, text, "test.mlir")


@pytest.mark.parametrize(
    ("dialect", "lowering"), [(penguin.Penguin, PENGUIN_TO_BIR), (klr.Klr, KLR_TO_BIR)], ids=["penguin", "klr"]
)
def test_every_class_has_a_row(dialect: Dialect, lowering: Lowering):
    assert set(lowering.rows) == set(dialect.operations)


@pytest.mark.parametrize(("directory", "dialect"), [("penguin_to_bir", penguin.Penguin), ("klr_to_bir", klr.Klr)])
def test_every_class_is_in_a_lit_test(directory: str, dialect: Dialect, request: pytest.FixtureRequest):
    folder = request.config.rootpath / "test" / "transforms" / directory
    text = "".join(file.read_text(encoding="utf-8") for file in folder.glob("*.mlir"))
    assert [op.name for op in dialect.operations if f"{op.name} " not in text] == []


def test_a_row_cannot_lose_a_property():
    with pytest.raises(TypeError, match=r"bir\.memset has no dtype, which klr\.mem_set has"):
        same(klr.MemSetOp, bir.MemsetOp)


def test_a_row_cannot_join_other_roles():
    with pytest.raises(TypeError, match=r"klr\.mem_set and bir\.tensor_copy differ in their roles"):
        same(klr.MemSetOp, bir.TensorCopyOp)


def test_a_class_has_one_row():
    row = Row(penguin.MemsetOp, lambda op, _: ())
    with pytest.raises(TypeError, match=r"penguin\.memset has two rows"):
        Lowering((penguin.ModuleOp,), [row], [row])


PENGUIN = """
penguin.module @m {
  penguin.func @f {
    %a = penguin.tensor "a" : !nki.mem<sbuf 128x64xf32>
    %b = penguin.tensor "b" : !nki.mem<sbuf 64x128xf32>
    penguin.scope {
      penguin.memset outs(%a[0 : 128 | 0 : 64] f32) ins(0.0 : f32)
    }
    penguin.transpose outs(%b[0 : 64 | 0 : 128] f32) ins(%a[0 : 128 | 0 : 64] f32)
  }
}
"""
KLR = """
klr.kernel @k {
  klr.body 0 {
    %a = klr.tensor "a" : !nki.mem<sbuf 128x64xf32>
    %r = klr.register "r"
    klr.block "main.1" no_reorder {
      klr.mem_set outs(%a[0 : 128 | 0 : 64] f32) ins(0.0 : f32)
      klr.cmp_branch lt_imm ins(left = %r, right = 0 : i32) {true_label = "main.1", false_label = "main.1"}
    }
  }
}
"""


@pytest.mark.parametrize(
    ("text", "convert", "message"),
    [
        (PENGUIN, ConvertPenguinToBir, "128 x 64 elements"),
        (KLR, ConvertKlrToBir, "a conditional branch in block 'main.1'"),
    ],
)
def test_an_error_leaves_the_module_as_it_was(text: str, convert: type, message: str):
    ctx, module = parse(text)
    before = str(module)
    with pytest.raises(NkiError, match=message) as caught:
        convert("trn1").apply(ctx, module)
    assert str(module) == before
    assert str(caught.value.location).startswith("test.mlir:")


def test_an_unknown_target_leaves_the_module_as_it_was():
    ctx, module = parse("penguin.module @m {\n}")
    before = str(module)
    with pytest.raises(NkiError, match="unknown target 'trn9'"):
        ConvertPenguinToBir("trn9").apply(ctx, module)
    assert str(module) == before


@pytest.mark.parametrize(
    ("text", "convert"), [(PENGUIN.replace("64x128", "32x32"), ConvertPenguinToBir), (KLR, ConvertKlrToBir)]
)
def test_every_op_keeps_the_place_of_the_op_that_it_comes_from(text: str, convert: type):
    text = text.replace("[0 : 64 | 0 : 128]", "[0 : 32 | 0 : 32]").replace(
        "ins(%a[0 : 128 | 0 : 64]", "ins(%a[0 : 32 | 0 : 32]"
    )
    text = text.replace("klr.cmp_branch lt_imm", 'klr.cmp_branch always {true_label = "main.1"} //')
    ctx, module = parse(text)
    convert().apply(ctx, module)
    module.verify()
    for op in module.walk():
        if op is not module:
            line = int(str(op.location).split(":")[-2])
            assert 1 < line < text.count("\n"), op
            if isinstance(op, InstructionOp):
                assert "0.0 : f32" not in str(op) or "0.0 : f32" in text.splitlines()[line - 1]


def test_the_dialects_of_one_module_are_converted_in_turn():
    ctx, module = parse(PENGUIN.replace("penguin.transpose", "// ") + KLR.replace("klr.cmp_branch", "// "))
    ConvertPenguinToBir().apply(ctx, module)
    assert [op.name for op in module.ops] == ["bir.module", "klr.kernel"]
    module.verify()
    ConvertKlrToBir().apply(ctx, module)
    assert [op.name for op in module.ops] == ["bir.module", "bir.module"]
    module.verify()

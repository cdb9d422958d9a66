"""Memory effects follow from the roles."""

from parsing import body, instruction, instructions
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.traits import MemoryEffectKind, get_effects, is_side_effect_free
from xdsl.transforms.dead_code_elimination import dce

READ, WRITE, ALLOC = MemoryEffectKind.READ, MemoryEffectKind.WRITE, MemoryEffectKind.ALLOC


def effects(op: Operation) -> set[tuple[MemoryEffectKind, str | None]]:
    """(kind, name of the value) of each effect."""
    found = get_effects(op)
    assert found is not None
    return {(effect.kind, effect.value.name_hint if effect.value else None) for effect in found}  # type: ignore[union-attr]


def test_outs_are_written_and_the_rest_is_read() -> None:
    op = instruction("bir.tensor_copy outs(%t[0 : 128 | 0 : 512] f32) ins(%u[0 : 128 | 0 : 512] f32)")
    assert effects(op) == {(WRITE, "t"), (READ, "u")}


def test_numbers_and_loop_variables_have_no_effects() -> None:
    op = instruction(
        "bir.loop %i = 0 to 4 affine { bir.memset outs(%u{%i}[0 : 128 | 0 : 512] f32) ins(0.0 : f32) when(%i eq 0) }"
    )
    assert effects(op) == {(WRITE, "u")}


def test_registers_are_storage() -> None:
    assert effects(instruction("bir.register_move outs(%r) ins(%q)")) == {(WRITE, "r"), (READ, "q")}
    assert effects(instruction("bir.register_move outs(%r) ins(%r)")) == {(WRITE, "r"), (READ, "r")}
    op = instruction("bir.memset outs(%t[0 : 128 | %r : 1] f32) ins(0.0 : f32) when(%q eq 0)")
    assert effects(op) == {(WRITE, "t"), (READ, "r"), (READ, "q")}


def test_parameters_read_the_registers_they_mention() -> None:
    op = instruction(
        "bir.matmult outs(%t[0 : 32 | 0 : 512] f32) ins(%t[0 : 32 | 0 : 32] f32, %t[0 : 32 | 0 : 512] f32)"
        " params(accumulate = %r)"
    )
    assert effects(op) == {(WRITE, "t"), (READ, "t"), (READ, "r")}


def test_storage_is_allocated() -> None:
    module = body("")
    found = {op.results[0].name_hint: effects(op) for op in module.walk() if op.results}
    assert found["t"] == {(ALLOC, "t")}
    assert found["r"] == {(ALLOC, "r")}
    assert found["a"] == {(ALLOC, "a"), (WRITE, "a")}, "the caller's"


def test_a_loop_has_the_effects_of_its_body() -> None:
    module = body("bir.loop %i = 0 to 4 affine { bir.memset outs(%u{%i}[0 : 128 | 0 : 512] f32) ins(0.0 : f32) }")
    loop = next(op for op in module.walk() if op.name == "bir.loop")
    assert effects(loop) == {(WRITE, "u")}
    assert not is_side_effect_free(loop)


def names(module: ModuleOp) -> list[str | None]:
    return [op.results[0].name_hint for op in module.walk() if op.results]


def test_unused_storage_goes_but_not_what_the_caller_sees() -> None:
    module = body("bir.memset outs(%t[0 : 128 | 0 : 512] f32) ins(0.0 : f32)")
    dce(module)
    assert names(module) == ["t", "a"]
    assert [op.name for op in instructions(module)] == ["bir.memset"]

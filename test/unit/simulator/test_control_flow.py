"""Loops against the same instructions written out, registers, dynamic loops and branches."""

from typing import Any

import numpy as np
import pytest
from bir_programs import parsed, run
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from nki_mlir.diagnostics import NkiError
from nki_mlir.simulator import simulate

A = '%a = bir.tensor "a" kind external_input : !nki.mem<hbm 64xf32>'
Y = '%y = bir.tensor "y" kind external_output : !nki.mem<hbm 64xf32>'
T = '%t = bir.tensor "t" at <0, 0>, <0, 128>, <32, 4> : !nki.mem<sbuf 4x32xf32, blocks 3>'
DATA = np.arange(64, dtype=np.float32)


@given(
    bounds=st.tuples(*[st.tuples(st.integers(-2, 2), st.integers(0, 3), st.integers(1, 2))] * 2),
    block=st.tuples(st.integers(-1, 1), st.integers(-1, 1)),
    column=st.tuples(st.integers(-1, 1), st.integers(-1, 1)),
    guard=st.tuples(st.integers(-1, 1), st.integers(-1, 1), st.integers(-1, 1), st.sampled_from(["ge", "eq"])),
    modulus=st.integers(1, 3),
    poison=st.booleans(),
)
@settings(max_examples=30, deadline=None, phases=[Phase.explicit, Phase.generate])
def test_loops_compute_what_their_iterations_do_in_a_row(
    bounds: Any, block: Any, column: Any, guard: Any, modulus: int, poison: bool
) -> None:
    """Blocks, columns and guards are affine in two loop variables."""

    def affine(coefficients: tuple[int, ...], constant: int) -> tuple[str, Any]:
        terms = [f"{c}*%{name}" for c, name in zip(coefficients, "ij", strict=True) if c]
        text = " + ".join([*terms, str(constant)])
        return text, lambda i, j: coefficients[0] * i + coefficients[1] * j + constant

    ranges = [range(low, low + trips * step, step) for low, trips, step in bounds]
    block_text, block_at = affine(block, 0)
    column_text, column_at = affine(column, 16)
    guard_text, guard_at = affine(guard[:2], guard[2])
    start = [A, Y, T, *(f"bir.memset outs(%t{{{b}}}[0 : 4 | 0 : 32] f32) ins({b}.5 : f32)" for b in range(3))]

    def instruction(b: object, c: object, when: str) -> str:
        access = f"%t{{{b}}}[0 : 4 | {c} : 2*1] f32"
        ins = f"{access}, operand0 = 3.0 : f32, operand1 = 1.0 : f32"
        return f"bir.tensor_scalar mult add outs({access}) ins({ins}){when}"

    end = [f"bir.save outs(%y[{n} : 1] f32) ins(%t{{{n % 3}}}[0 : 1 | {n // 2} : 1] f32)" for n in range(64)]
    (i0, j0) = ((f"{r.start} to {r.stop} step {r.step}") for r in ranges)
    rolled = [
        f"bir.loop %i = {i0} affine {{ bir.loop %j = {j0} sequential {{",
        instruction(f"(({block_text}) mod 3)", column_text, f" when({guard_text} {guard[3]} 0)"),
        instruction("1", f"(({column_text}) floordiv {modulus})", ""),
        "} }",
    ]
    flat = []
    for i in ranges[0]:
        for j in ranges[1]:
            value = guard_at(i, j)
            if value >= 0 if guard[3] == "ge" else value == 0:
                flat.append(instruction(block_at(i, j) % 3, column_at(i, j), ""))
            flat.append(instruction(1, column_at(i, j) // modulus, ""))
    got, expected = (
        run("\n".join([*start, *body, *end]), inputs={"a": DATA}, poison=poison).outputs["y"] for body in (rolled, flat)
    )
    assert np.array_equal(got, expected)


def test_parameters_over_loop_variables() -> None:
    """The first product of a loop overwrites, later ones add: by an explicit flag, and by where storage began."""

    def body(flag: str, inside: bool) -> str:
        storage = '%p = bir.tensor "p" at <0, 0> : !nki.mem<psum 4x4xf32>'
        return "\n".join(
            [
                Y,
                '%o = bir.tensor "o" at <0, 0> : !nki.mem<sbuf 4x4xf32>',
                "" if inside else storage,
                "bir.memset outs(%o[0 : 4 | 0 : 4] f32) ins(1.0 : f32)",
                "bir.loop %i = 0 to 4 step 1 affine {",
                storage if inside else "",
                "bir.loop %k = 0 to 3 step 1 sequential {",
                f"bir.matmult outs(%p[0 : 4 | 0 : 4] f32) ins(%o[0 : 4 | 0 : 4] f32, %o[0 : 4 | 0 : 4] f32){flag}",
                "}",
                "bir.save outs(%y[16*%i : 4*4, 4] f32) ins(%p[0 : 4 | 0 : 4] f32)",
                "}",
            ]
        )

    for poison in (True, False):
        for flag, inside, expected in (
            ("", True, [12.0] * 4),
            ("", False, [12.0, 24.0, 36.0, 48.0]),
            (" params(accumulate = %k)", False, [12.0] * 4),
            (" params(accumulate = 0)", False, [4.0] * 4),
        ):
            got = run(body(flag, inside), poison=poison).outputs["y"].reshape(4, 16)
            assert np.array_equal(got, np.repeat(np.array(expected, np.float32)[:, None], 16, axis=1))


def test_accumulation_is_per_location() -> None:
    """Overlapping products add only where an earlier one wrote."""
    body = f"""{Y}
        %o = bir.tensor "o" at <0, 0> : !nki.mem<sbuf 1x64xf32>
        %p = bir.tensor "p" at <0, 0> : !nki.mem<psum 1x64xf32>
        bir.memset outs(%o[0 : 1 | 0 : 64] f32) ins(1.0 : f32)
        bir.matmult outs(%p[0 : 1 | 0 : 40] f32) ins(%o[0 : 1 | 0 : 1] f32, %o[0 : 1 | 0 : 40] f32)
        bir.loop %i = 0 to 1 step 1 affine {{
          bir.matmult outs(%p[0 : 1 | 24 + %i : 40] f32) ins(%o[0 : 1 | 0 : 1] f32, %o[0 : 1 | 0 : 40] f32)
        }}
        bir.save outs(%y[0 : 64] f32) ins(%p[0 : 1 | 0 : 64] f32)"""
    for poison in (True, False):
        assert run(body, poison=poison).outputs["y"].tolist() == [1.0] * 24 + [2.0] * 16 + [1.0] * 24


@pytest.mark.parametrize("flags", ["0 .", "1 .", "0 1 .", ". 0 .", "0 . 1 .", "%i ."])
@pytest.mark.parametrize("moving", [False, True])
def test_flags_count_for_matmuls_without_one(flags: str, moving: bool) -> None:
    """A dot stands for a matmul without a flag, which adds behind any other."""
    where = "4*%i : 8" if moving else "0 : 8"
    product = f"bir.matmult outs(%p[0 : 1 | {where}] f32) ins(%o[0 : 1 | 0 : 1] f32, %o[0 : 1 | 0 : 8] f32)"
    expected = 0.0 if flags[0] in "0.%" else 2.5
    for flag in flags.split():
        expected = 1.0 if flag in ("0", "%i") or (flag == "." and expected == 0.0) else expected + 1.0
    matmuls = "\n".join(product + ("" if flag == "." else f" params(accumulate = {flag})") for flag in flags.split())
    body = f"""{Y.replace("64x", "8x")}
        %o = bir.tensor "o" at <0, 0> : !nki.mem<sbuf 1x8xf32>
        %p = bir.tensor "p" at <0, 0> : !nki.mem<psum 1x16xf32>
        bir.memset outs(%o[0 : 1 | 0 : 8] f32) ins(1.0 : f32)
        bir.memset outs(%p[0 : 1 | 0 : 16] f32) ins(2.5 : f32)
        bir.loop %i = 0 to 1 step 1 affine {{
        {matmuls}
        }}
        bir.save outs(%y[0 : 8] f32) ins(%p[0 : 1 | 0 : 8] f32)"""
    for poison in (True, False):
        assert run(body, poison=poison).outputs["y"].tolist() == [expected] * 8


def test_accumulating_adds_to_what_psum_holds() -> None:
    body = f"""{Y.replace("64x", "8x")}
        %o = bir.tensor "o" at <0, 0> : !nki.mem<sbuf 1x8xf32>
        %p = bir.tensor "p" at <0, 0> : !nki.mem<psum 1x8xf32>
        bir.memset outs(%o[0 : 1 | 0 : 8] f32) ins(1.0 : f32)
        bir.memset outs(%p[0 : 1 | 0 : 8] f32) ins(2.5 : f32)
        bir.matmult outs(%p[0 : 1 | 0 : 8] f32) ins(%o[0 : 1 | 0 : 1] f32, %o[0 : 1 | 0 : 8] f32) params(accumulate = 1)
        bir.save outs(%y[0 : 8] f32) ins(%p[0 : 1 | 0 : 8] f32)"""
    for poison in (True, False):
        assert run(body, poison=poison).outputs["y"].tolist() == [3.5] * 8


# Registers --------------------------------------------------------------------------------------------------------

R = '%r = bir.register "r"\n%s = bir.register "s"'
OUT = """%y = bir.tensor "y" kind external_output : !nki.mem<hbm 1xi32>"""


def register_result(body: str, **inputs: Any) -> int:
    """Returns what register %r holds after a program."""
    return int(run(f"{OUT}\n{R}\n{body}\nbir.tensor_save outs(%y[0 : 1] i32) ins(%r)", inputs=inputs).outputs["y"][0])


@pytest.mark.parametrize(
    "op, a, b, expected",
    [
        ("add", 2**31 - 1, 1, -(2**31)),
        ("subtract", -(2**31), 1, 2**31 - 1),
        ("mult", 65537, 65537, 131073),
        ("max", -3, 2, 2),
        ("min", -3, 2, -3),
        ("bypass", 5, 7, 5),
        ("bitwise_and", -2, 7, 6),
        ("bitwise_or", 8, 3, 11),
        ("bitwise_xor", -1, 5, -6),
        ("bitwise_not", 5, 0, -6),
        ("logical_shift_left", 3, 30, -(2**30)),
        ("logical_shift_left", 3, 32, 0),
        ("logical_shift_right", -1, 28, 15),
        ("logical_shift_right", -1, -1, 0),
        ("arith_shift_right", -16, 2, -4),
        ("arith_shift_right", -16, 40, -1),
        ("arith_shift_left", 1, 31, -(2**31)),
        ("is_lt", -1, 0, 1),
        ("is_ge", -1, 0, 0),
        ("is_equal", 4, 4, 1),
        ("not_equal", 4, 4, 0),
        ("is_gt", 4, 4, 0),
        ("is_le", 4, 4, 1),
        ("logical_and", 4, 0, 0),
        ("logical_or", 4, 0, 1),
        ("logical_xor", 4, 5, 0),
    ],
)
def test_register_arithmetic_wraps_at_32_bits(op: str, a: int, b: int, expected: int) -> None:
    move = f"bir.register_move outs(%r) ins({a} : i32)\nbir.register_move outs(%s) ins({b} : i32)\n"
    assert register_result(f"{move}bir.register_alu {op} outs(%r) ins(%r, {b} : i32)") == expected
    assert register_result(f"{move}bir.register_alu {op} outs(%r) ins(%r, %s)") == expected


@pytest.mark.parametrize(
    "dtype, stored, expected",
    [("i32", -5, -5), ("u32", 2**32 - 5, -5), ("u8", 200, 200), ("i8", -3, -3), ("i64", 2**40 + 7, 7)],
)
def test_loading_and_saving_registers(dtype: str, stored: int, expected: int) -> None:
    name = {"u": "uint", "i": "int"}[dtype[0]] + dtype[1:]
    tensor = f'%x = bir.tensor "x" kind external_input : !nki.mem<hbm 3x{dtype}>'
    body = f"{tensor}\nbir.tensor_load outs(%r) ins(%x[1 : 1] {dtype})"
    assert register_result(body, x=np.array([0, stored, 0], name)) == expected


@pytest.mark.parametrize(
    "body, message",
    [
        (
            "bir.tensor_save outs(%y[0 : 1] i32) ins(%r)",
            "'bir.tensor_save' op: reads the register 'r' before anything was written to it",
        ),
        (
            "bir.tensor_save outs(%y[0 : 1] f32) ins(%r)",
            "'bir.tensor_save' op: dst is of type f32, registers hold integers",
        ),
        (
            "bir.tensor_load outs(%r) ins(%y[0 : 1] i32)",
            "'bir.tensor_load' op: src reads 1 of 1 elements of 'y' that were never written, the first is element 0",
        ),
        (
            "bir.register_move outs(%s) ins(1 : i32)\\nbir.tensor_save outs(%y[%r : 1] i32) ins(%s)",
            "'bir.tensor_save' op: dst an index of the access to 'y' is a register that nothing has written",
        ),
        (
            "bir.register_move outs(%s) ins(1 : i32)\\nbir.tensor_save outs(%y[%s : 1] i32) ins(%s)",
            "'bir.tensor_save' op: dst reaches element 1 of 'y', which has 1 elements [X-FMAX]",
        ),
    ],
)
def test_wrong_register_instructions(body: str, message: str) -> None:
    with pytest.raises(NkiError) as caught:
        register_result(body.replace("\\n", "\n"))
    assert str(caught.value) == message


@pytest.mark.parametrize("trips", [-1, 0, 1, 5])
def test_dynamic_for_loop(trips: int) -> None:
    body = f"""bir.register_move outs(%r) ins(0 : i32)
        bir.register_move outs(%s) ins({trips} : i32)
        bir.dynamic_for_loop %i = 0 to %s step 2 {{
          bir.register_alu add outs(%r) ins(%r, 10 : i32)
          bir.register_move outs(%s) ins(0 : i32)
        }}"""
    assert register_result(body) == 10 * len(range(0, trips, 2))


def test_dynamic_loop_variables_index_memory() -> None:
    body = f"""{A}
        {Y}
        %n = bir.register "n"
        %t = bir.tensor "t" at <0, 0> : !nki.mem<sbuf 1x64xf32>
        bir.register_move outs(%n) ins(64 : i32)
        bir.dynamic_for_loop %i = 0 to %n step 1 {{
          bir.load outs(%t[0 : 1 | %i : 1] f32) ins(%a[-1*%i + 63 : 1] f32)
          bir.save outs(%y[%i : 1] f32) ins(%t[0 : 1 | %i : 1] f32)
        }}"""
    for poison in (True, False):
        assert np.array_equal(run(body, inputs={"a": DATA}, poison=poison).outputs["y"], DATA[::-1])


def test_do_while_runs_at_least_once() -> None:
    for first, expected in ((1, 1), (3, 3), (0, None)):
        body = f"""bir.register_move outs(%r) ins(0 : i32)
            bir.register_move outs(%s) ins({first} : i32)
            bir.do_while %s {{
              bir.register_alu add outs(%r) ins(%r, 1 : i32)
              bir.register_alu subtract outs(%s) ins(%s, 1 : i32)
            }}"""
        if expected is not None:
            assert register_result(body) == expected
    body = body.replace("subtract", "mult")
    assert register_result(body) == 1


def test_blocks_and_branches() -> None:
    """Collatz steps from 27, with the numbers kept in registers."""
    text = """bir.module @m { bir.func @f {
          %y = bir.tensor "y" kind external_output : !nki.mem<hbm 1xi32>
          %n = bir.register "n"
          %k = bir.register "k"
          %odd = bir.register "odd"
          bir.register_move outs(%n) ins(27 : i32)
          bir.register_move outs(%k) ins(0 : i32)
          bir.unconditional_branch ^head
        ^head:
          "bir.compare_and_branch"(%n) [^end, ^step] <{comp_op = #nki.compare<eq_imm>, left = #nki.register, right = #nki.imm<1 : i32>}> : (!nki.reg) -> ()
        ^step:
          bir.register_alu add outs(%k) ins(%k, 1 : i32)
          bir.register_alu bitwise_and outs(%odd) ins(%n, 1 : i32)
          "bir.compare_and_branch"(%odd) [^triple, ^half] <{comp_op = #nki.compare<ne_imm>, left = #nki.register, right = #nki.imm<0 : i32>}> : (!nki.reg) -> ()
        ^half:
          bir.register_alu arith_shift_right outs(%n) ins(%n, 1 : i32)
          bir.unconditional_branch ^head
        ^triple:
          bir.register_alu mult outs(%n) ins(%n, 3 : i32)
          bir.register_alu add outs(%n) ins(%n, 1 : i32)
          bir.unconditional_branch ^head
        ^end:
          bir.tensor_save outs(%y[0 : 1] i32) ins(%k)
          bir.return
        } }"""  # fmt: skip  # noqa: E501
    expected, n = 0, 27
    while n != 1:
        n, expected = (3 * n + 1 if n % 2 else n // 2), expected + 1
    assert simulate(parsed(text), {}).outputs["y"].tolist() == [expected]


@pytest.mark.parametrize("place", ["", " at <0, 0>", " at <0, 0> {user_allocated}"])
@pytest.mark.parametrize("poison", [True, False])
def test_storage_begins_anew_in_a_block_that_runs_again(place: str, poison: bool) -> None:
    """Its first access is in the next block; each product overwrites the one before."""
    whole = "[0 : 4 | 0 : 4] f32"
    body = f"""%y = bir.tensor "y" kind external_output : !nki.mem<hbm 4x4xf32>
        %o = bir.tensor "o" : !nki.mem<sbuf 4x4xf32>
        %r = bir.register "r"
        bir.register_move outs(%r) ins(3 : i32)
        bir.memset outs(%o{whole}) ins(1.0 : f32)
        bir.unconditional_branch ^head
        ^head:
        %p = bir.tensor "p"{place} : !nki.mem<psum 4x4xf32>
        bir.register_alu subtract outs(%r) ins(%r, 1 : i32)
        bir.unconditional_branch ^next
        ^next:
        bir.matmult outs(%p{whole}) ins(%o{whole}, %o{whole})
        bir.save outs(%y[0 : 4*4, 4] f32) ins(%p{whole})
        bir.compare_and_branch gt_imm ins(%r, 0 : i32) [^head, ^end]
        ^end:
        bir.return"""
    assert (run(body, poison=poison).outputs["y"] == 4.0).all()


def test_guards_over_registers() -> None:
    body = """bir.register_move outs(%r) ins(0 : i32)
        bir.register_move outs(%s) ins(3 : i32)
        bir.loop %i = 0 to 9 step 1 affine {
          bir.register_alu add outs(%r) ins(%r, 1 : i32) when(%i - %s ge 0, -1*%i + 7 ge 0)
        }"""
    assert register_result(body) == len([i for i in range(9) if 3 <= i <= 7])

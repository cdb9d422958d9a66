"""Every check of the simulator: its exact message at the first program that breaks it, silence at its boundary."""

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from bir_programs import parsed, program, run
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin
from xdsl.parser import Parser

from nki_mlir.diagnostics import Location, NkiError
from nki_mlir.isa.target import parse_target
from nki_mlir.simulator import simulate

T = '%t = bir.tensor "t" at <0, 0> : !nki.mem<sbuf 4x8xf32>'
U = '%u = bir.tensor "u" at <0, 64> : !nki.mem<sbuf 4x8xf32>'
A = '%a = bir.tensor "a" kind external_input : !nki.mem<hbm 4x8xf32>'
Y = '%y = bir.tensor "y" kind external_output : !nki.mem<hbm 4x8xf32>'
WHOLE = "[0 : 4 | 0 : 8] f32"
HBM = "[0 : 8*4, 8] f32"
DATA = np.arange(32, dtype=np.float32).reshape(4, 8)


def load(target: str = "t", access: str = WHOLE, source: str = HBM, name: str = "load") -> str:
    return f'bir.load "{name}" outs(%{target}{access}) ins(%a{source})'


def save(source: str = "t", access: str = WHOLE, target: str = HBM, name: str = "save") -> str:
    return f'bir.save "{name}" outs(%y{target}) ins(%{source}{access})'


def lines(*parts: str) -> str:
    return "\n".join(parts)


def fails(body: str, message: str, line: int, inputs: Any = None, **options: Any) -> NkiError:
    """Asserts that a program fails with a message at a line of test.mlir, counted from its first line, 2."""
    given = {"a": DATA} if inputs is None else inputs
    with pytest.raises(NkiError) as caught:
        run(body, inputs=given, **options)
    assert str(caught.value) == message
    assert isinstance(caught.value.location, Location)
    assert (caught.value.location.file, caught.value.location.line) == ("test.mlir", line)
    return caught.value


def test_a_program_that_breaks_nothing() -> None:
    result = run(lines(A, Y, T, load(), save()), inputs={"a": DATA})
    assert np.array_equal(result.outputs["y"], DATA)
    assert list(result.outputs) == ["y"]
    assert result.inputs == {}


# Never written ----------------------------------------------------------------------------------------------------


def test_reading_what_was_never_written() -> None:
    body = lines(Y, T, save())
    fails(
        body,
        "'bir.save' op \"save\": src reads 32 of 32 elements of 't' that were never written, the first is element 0 of"
        " partition 0",
        4,
        {},
    )
    assert np.array_equal(run(body, poison=False).outputs["y"], np.zeros((4, 8), np.float32))


def test_reading_one_element_too_many() -> None:
    start = lines(A, Y, T, load(access="[1 : 3 | 2 : 6] f32", source="[0 : 8*3, 6] f32"))
    fits = save(access="[1 : 3 | 2 : 2*3] f32", target="[0 : 8*3, 3] f32")
    with pytest.raises(NkiError, match=r"^output 'y' was written only in part: 23 of 32 elements were not"):
        run(lines(start, fits), inputs={"a": DATA})
    too_many = save(access="[1 : 3 | 1 : 3*3] f32", target="[0 : 8*3, 3] f32")
    fails(
        lines(start, too_many),
        "'bir.save' op \"save\": src reads 3 of 9 elements of 't' that were never written, the first is element 1 of"
        " partition 1",
        6,
    )


def test_a_repeated_element_counts_once() -> None:
    body = lines(Y, T, save(access="[0 : 4 | 3 : 0*8] f32"))
    fails(
        body,
        "'bir.save' op \"save\": src reads 4 of 4 elements of 't' that were never written, the first is element 3 of"
        " partition 0",
        4,
        {},
    )


def test_bytes_count_not_elements() -> None:
    """Half of an fp32 element written as bf16 leaves the other half unwritten."""
    half = 'bir.memset "half" outs(%t[0 : 4 | 0 : 2*8] bf16) ins(1.0 : f32)'
    other = 'bir.memset "other" outs(%t[0 : 4 | 1 : 2*8] bf16) ins(1.0 : f32)'
    fails(
        lines(Y, T, half, save()),
        "'bir.save' op \"save\": src reads 32 of 32 elements of 't' that were never written, the first is element 0 of"
        " partition 0",
        5,
        {},
    )
    assert run(lines(Y, T, half, other, save())).outputs["y"].view(ml_dtypes.bfloat16).tolist() == [[1.0] * 16] * 4


def test_storages_at_one_address_share_bytes() -> None:
    alias = '%v = bir.tensor "v" at <0, 4> {user_allocated} : !nki.mem<sbuf 4x4xf32>'
    body = lines(A, '%y = bir.tensor "y" kind external_output : !nki.mem<hbm 4x4xf32>', T, alias, load())
    result = run(lines(body, 'bir.save "save" outs(%y[0 : 4*4, 4] f32) ins(%v[0 : 4 | 0 : 4] f32)'), inputs={"a": DATA})
    assert np.array_equal(result.outputs["y"], DATA[:, 1:5])


def test_storage_of_a_loop_begins_anew_in_every_iteration() -> None:
    body = lines(A, Y, "bir.loop %i = 0 to 2 step 1 affine {", T, load() + " when(-1*%i ge 0)", save(), "}")
    error = fails(
        body,
        "'bir.save' op \"save\": src reads 32 of 32 elements of 't' that were never written, the first is element 0 of"
        " partition 0",
        7,
    )
    assert error.__notes__ == ["in the iteration %i = 1", "what is computed from them reaches output 'y'"]
    outside = lines(A, Y, T, "bir.loop %i = 0 to 2 step 1 affine {", load() + " when(-1*%i ge 0)", save(), "}")
    assert np.array_equal(run(outside, inputs={"a": DATA}).outputs["y"], DATA)


NEVER = (
    "'bir.save' op \"save\": src reads {0} of {0} elements of 'v' that were never written, the first is element 0 of"
    " partition 0"
)
V = '%v = bir.tensor "v" at <0, 0> : !nki.mem<sbuf 4x8xf32>'


def test_what_stood_at_the_addresses_of_storage_is_not_its_contents() -> None:
    body = lines(A, Y, T, V, load(), save("v"))
    fails(body, NEVER.format(32), 7)
    by_user = V.replace(" : ", " {user_allocated} : ")
    assert np.array_equal(run(lines(A, Y, T, by_user, load(), save("v")), inputs={"a": DATA}).outputs["y"], DATA)


def test_nor_is_it_in_a_loop_whose_iterations_use_the_addresses_twice() -> None:
    body = lines(A, Y, "bir.loop %i = 0 to 2 step 1 affine {", T, V, load(), save("v"), "}")
    fails(body, NEVER.format(32), 8)


def test_each_block_of_storage_begins_with_its_own_first_access() -> None:
    """The second block lies where t is, which is read after the first block was written."""
    blocks = '%v = bir.tensor "v" at <0, 64>, <0, 0> : !nki.mem<sbuf 4x8xf32, blocks 2>'

    def copied(block: int, source: str = f"%t{WHOLE}") -> str:
        return f'bir.tensor_copy "copy{block}" outs(%v{{{block}}}{WHOLE}) ins({source})'

    last = copied(1, f"%v{WHOLE}")
    body = lines(A, Y, T, blocks, load(), copied(0), last, save("v", "{1}" + WHOLE))
    assert np.array_equal(run(body, inputs={"a": DATA}).outputs["y"], DATA)
    body = lines(A, Y, T, blocks, load(), copied(0), save("v", "{1}" + WHOLE))
    fails(body, NEVER.format(32), 8)
    again = copied(0).replace("copy0", "again")
    body = lines(A, Y, T, blocks, load(), copied(0), again, last, save("v", "{1}" + WHOLE))
    assert np.array_equal(run(body, inputs={"a": DATA}).outputs["y"], DATA)
    fails(lines(A, Y, T, blocks, load(), copied(0), again, save("v", "{1}" + WHOLE)), NEVER.format(32), 9)


def test_the_last_block_begins_with_its_own_access_too() -> None:
    """The second block lies where t is and is never accessed; the first one is read again while t is in use."""
    blocks = '%v = bir.tensor "v" at <0, 64>, <0, 0> : !nki.mem<sbuf 4x8xf32, blocks 2>'
    first = f'bir.tensor_copy "first" outs(%v{WHOLE}) ins(%t{WHOLE})'
    again = f'bir.tensor_copy "again" outs(%v{WHOLE}) ins(%v{WHOLE})'
    body = lines(A, Y, T, blocks, load(), first, again, save("t"))
    assert np.array_equal(run(body, inputs={"a": DATA}).outputs["y"], DATA)


def test_storage_begins_before_a_loop_that_goes_on_with_it() -> None:
    add = f'bir.tensor_tensor add on dve "add" outs(%v{WHOLE}) ins(%v{WHOLE}, %u{WHOLE})'
    loop = lines("bir.loop %i = 0 to 3 step 1 sequential {", add, "}")
    first = [T, V, U, load(), f'bir.tensor_copy "copy" outs(%u{WHOLE}) ins(%t{WHOLE})']
    body = lines(A, Y, *first, f'bir.memset "set" outs(%v{WHOLE}) ins(1.0 : f32)', loop, save("v"))
    assert np.array_equal(run(body, inputs={"a": DATA}).outputs["y"], 3 * DATA + 1)
    fails(
        lines(A, Y, *first, loop, save("v")),
        NEVER.format(32).replace("'bir.save' op \"save\": src", "'bir.tensor_tensor' op \"add\": data1"),
        10,
    )


def test_storage_begins_within_a_loop_of_one_iteration_where_that_uses_it_first() -> None:
    """t is read in the loop before v is written in its place."""
    inside = [
        f'bir.tensor_copy "{n}" outs(%{o}{WHOLE}) ins(%{i}{WHOLE})' for n, o, i in (("c", "u", "t"), ("d", "v", "u"))
    ]
    body = lines(A, Y, T, U, V, load(), "bir.loop %i = 0 to 1 step 1 affine {", *inside, "}", save("v"))
    assert np.array_equal(run(body, inputs={"a": DATA}).outputs["y"], DATA)


@pytest.mark.parametrize("ends", ["2", "1"])
def test_storage_of_a_loop_may_lie_where_other_storage_is_still_read(ends: str) -> None:
    """Storage is live from its first access, wherever it is defined, also within a loop of one iteration."""
    again = '%v = bir.tensor "v" at <0, 0> : !nki.mem<sbuf 4x8xf32>'
    twice = f'bir.tensor_tensor add on dve "twice" outs(%u{WHOLE}) ins(%t{WHOLE}, %t{WHOLE})'
    last = f'bir.tensor_copy "last" outs(%v{WHOLE}) ins(%u{WHOLE})'
    inner = lines("bir.loop %j = 0 to 1 step 1 affine {", again, twice, last, save("v"), "}")
    for tail in (lines(again, twice, last, save("v")), inner):
        body = lines(A, Y, f"bir.loop %i = 0 to {ends} step 1 affine {{", T, U, load(), tail, "}")
        assert np.array_equal(run(body, inputs={"a": DATA}).outputs["y"], 2 * DATA)


def test_a_predicated_copy_writes_only_where_it_copies() -> None:
    mask = '%m = bir.tensor "m" at <0, 256> : !nki.mem<sbuf 4x8xu8>'
    ramp = (
        'bir.iota "ramp" outs(%m[0 : 4 | 0 : 8] u8)'
        " {pattern = #nki.pattern<1*8>, offset = 0 : i64, channel_multiplier = 0 : i64}"
    )
    copy = 'bir.copy_predicated "copy" outs(%t[0 : 4 | 0 : 8] f32) ins(1.0 : f32, %m[0 : 4 | 0 : 8] u8)'
    fails(
        lines(Y, T, mask, ramp, copy, save()),
        "'bir.save' op \"save\": src reads 4 of 32 elements of 't' that were never written, the first is element 0 of"
        " partition 0",
        7,
        {},
    )


def test_accumulating_needs_something_to_add_to() -> None:
    tiles = '%p = bir.tensor "p" at <0, 0> : !nki.mem<psum 4x8xf32>'
    fill = lines(*(f"bir.memset outs(%{name}{WHOLE}) ins(1.0 : f32)" for name in "tu"))
    ins = f"ins(%t[0 : 4 | 0 : 4] f32, %u{WHOLE})"

    def body(flag: str) -> str:
        product = f'bir.matmult "mm" outs(%p{WHOLE}) {ins} params(accumulate = {flag})'
        return lines(Y, T, U, tiles, fill, product, save("p"))

    fails(
        body("1"),
        "'bir.matmult' op \"mm\": dst reads 32 of 32 elements of 'p' that were never written, the first is element 0"
        " of partition 0",
        8,
        {},
    )
    assert run(body("0")).outputs["y"].tolist() == [[4.0] * 8] * 4


# Undefined elements -----------------------------------------------------------------------------------------------

PART = load(access="[0 : 3 | 0 : 8] f32", source="[0 : 8*3, 8] f32")
"""Loads three of the four partitions."""
DOUBLE = f'bir.tensor_tensor add on dve "double" outs(%u{WHOLE}) ins(%t{WHOLE}, %t{WHOLE})'
READ = (
    "'bir.tensor_tensor' op \"double\": data1 reads 8 of 32 elements of 't' that were never written, the first is"
    " element 0 of partition 3"
)
"""What is wrong with DOUBLE after PART."""


def part_of_y(source: str) -> str:
    return save(source, "[0 : 3 | 0 : 8] f32", "[0 : 8*3, 8] f32")


def test_undefined_elements_may_be_computed_on():
    """A ragged tile: computed whole, stored in part."""
    body = lines(A, Y, T, U, PART, DOUBLE, part_of_y("u"))
    with pytest.raises(NkiError, match=r"^output 'y' was written only in part: 8 of 32 elements"):
        run(body, inputs={"a": DATA})
    rest = save("u", "[0 : 1 | 0 : 8] f32", "[24 : 8*1, 8] f32", "rest")
    found = run(lines(body, rest), inputs={"a": DATA}).outputs["y"]
    assert np.array_equal(found, 2 * DATA[[0, 1, 2, 0]])


def test_undefined_elements_must_not_reach_an_output():
    """The error is that of the first read, however far away the output is."""
    hbm = '%h = bir.tensor "h" : !nki.mem<hbm 4x8xf32>'
    out, back = f'bir.save "out" outs(%h{HBM}) ins(%u{WHOLE})', f'bir.load "in" outs(%t{WHOLE}) ins(%h{HBM})'
    for rest in (save("u"), lines(out, back, save("t"))):
        error = fails(lines(A, Y, T, U, hbm, PART, DOUBLE, rest), READ, 8)
        assert error.__notes__ == ["what is computed from them reaches output 'y'"]


def test_undefined_elements_must_not_reach_an_input_that_is_written():
    body = lines(A, Y, T, U, PART, DOUBLE, save("u", name="back").replace("%y", "%a"), part_of_y("u"))
    last = "bir.save outs(%y[24 : 8*1, 8] f32) ins(%t[0 : 1 | 0 : 8] f32)"
    error = fails(lines(body, last), READ, 7)
    assert error.__notes__ == ["what is computed from them reaches input 'a', which the program writes"]


def test_defined_elements_replace_undefined_ones():
    body = lines(A, Y, T, U, PART, DOUBLE, load(name="whole"), DOUBLE.replace('"double"', ""), save("u"))
    assert np.array_equal(run(body, inputs={"a": DATA}).outputs["y"], 2 * DATA)


def test_undefined_elements_in_a_loop():
    """The views move with the loop; each iteration leaves a partition more undefined."""
    loop = "bir.loop %i = 0 to 4 step 1 affine {"
    row = (
        'bir.tensor_tensor add on dve "row" outs(%u[0 : 4 | 2*%i : 2] f32)'
        " ins(%t[0 : 4 | 2*%i : 2] f32, %t[0 : 4 | 2*%i : 2] f32)"
    )
    body = lines(A, Y, T, U, PART, loop, row, "}")
    error = fails(
        lines(body, save("u")),
        "'bir.tensor_tensor' op \"row\": data1 reads 2 of 8 elements of 't' that were never written, the first is"
        " element 0 of partition 3",
        8,
    )
    assert error.__notes__ == ["in the iteration %i = 0", "what is computed from them reaches output 'y'"]
    whole = lines(body, load("u", "[3 : 1 | 0 : 8] f32", "[0 : 8*1, 8] f32", "rest"), save("u"))
    assert np.array_equal(run(whole, inputs={"a": DATA}).outputs["y"], np.concatenate([2 * DATA[:3], DATA[:1]]))


def test_a_product_of_undefined_elements():
    """Undefined columns of the stationary operand are rows of the product; all of a partition is all of it."""
    product = '%p = bir.tensor "p" at <0, 0> : !nki.mem<psum 4x8xf32>'

    def body(flag: str, loaded: str) -> str:
        multiply = f'bir.matmult "mm" outs(%p{WHOLE}) ins(%t[0 : 4 | 0 : 4] f32, %u{WHOLE}) {flag}'
        again = multiply.replace('"mm"', '"again"')
        return lines(A, Y, T, U, product, loaded, load("u", name="moving"), multiply, again, part_of_y("p"))

    columns = load(access="[0 : 4 | 0 : 3] f32", source="[0 : 8*4, 3] f32")
    rest = "bir.save outs(%y[24 : 8*1, 8] f32) ins(%p[0 : 1 | 0 : 8] f32)"
    for flag in ("", "params(accumulate = 0)"):
        found = run(lines(body(flag, columns), rest), inputs={"a": DATA}).outputs["y"]
        expected = DATA[:, :3].T @ DATA * (1 if flag else 2)
        assert np.array_equal(found, np.concatenate([expected, expected[:1]]))
    for flag, loaded, line in (("", PART, 9), ("", columns, 9)):
        with pytest.raises(NkiError, match=r'^.bir.matmult. op "mm": stationary reads 4 of 16 elements') as caught:
            run(lines(body(flag, loaded), save("p", name="rest")), inputs={"a": DATA})
        assert isinstance(caught.value.location, Location)
        assert caught.value.location.line == line


def test_instructions_that_mix_elements_fail_at_once():
    """Nothing of the result is stored, and yet it is an error."""
    row = '%r = bir.tensor "r" at <0, 128> : !nki.mem<sbuf 1x8xf32>'
    reduce = f'bir.tensor_reduce add c on pool "mix" outs(%r[0 : 1 | 0 : 8] f32) ins(%t{WHOLE})'
    fails(
        lines(A, Y, T, row, PART, reduce),
        "'bir.tensor_reduce' op \"mix\": data reads 8 of 32 elements of 't' that were never written, the first is"
        " element 0 of partition 3",
        7,
    )


def test_sums_of_undefined_elements_are_undefined():
    """One sum a partition, so those of the others may be stored; what holds such a sum must be reset before use."""
    sums = '%s = bir.tensor "s" at <0, 128> : !nki.mem<sbuf 4x1xf32>'

    def body(rows: int, *further: str) -> str:
        z = f'%z = bir.tensor "z" kind external_output : !nki.mem<hbm {rows}xf32>'
        stored = f"bir.save outs(%z[0 : 1*{rows}, 1] f32) ins(%s[0 : {rows} | 0 : 1] f32)"
        return lines(A, T, U, sums, z, PART, add("sum", "zero_accumulate"), *further, stored)

    def add(name: str, command: str) -> str:
        outs = f"outs(%u{WHOLE}, reduce_res = %s[0 : 4 | 0 : 1] f32)"
        return f'bir.activation copy on act "{name}" {outs} ins(%t{WHOLE}) {{accumulate = #nki.accumulate<{command}>}}'

    assert np.array_equal(run(body(3), inputs={"a": DATA}).outputs["z"], DATA[:3].sum(axis=1))
    read = "'bir.activation' op \"sum\": data reads 8 of 32 elements of 't' that were never written, the first is"
    fails(body(4), f"{read} element 0 of partition 3", 8)
    message = "'bir.activation' op \"more\": the accumulator holds the sum of elements that were never written"
    fails(body(4, load(name="all"), add("more", "accumulate")), message, 10)
    again = body(4, load(name="all"), add("again", "zero_accumulate"), add("more", "accumulate"))
    assert np.array_equal(run(again, inputs={"a": DATA}).outputs["z"], 2 * DATA.sum(axis=1))


@pytest.mark.parametrize("command", ["accumulate", "add_accumulate", "idle"])
def test_the_accumulator_must_be_reset_before_it_is_used(command: str) -> None:
    sums = '%s = bir.tensor "s" at <0, 128> : !nki.mem<sbuf 4x1xf32>'
    outs = f"outs(%u{WHOLE}, reduce_res = %s[0 : 4 | 0 : 1] f32)"
    used = f'bir.activation copy on act "use" {outs} ins(%t{WHOLE}) {{accumulate = #nki.accumulate<{command}>}}'
    reset = used.replace('"use"', "").replace(f"<{command}>", "<zero>")
    z = '%z = bir.tensor "z" kind external_output : !nki.mem<hbm 4xf32>'
    ends = "bir.save outs(%z[0 : 1*4, 1] f32) ins(%s[0 : 4 | 0 : 1] f32)"
    message = "the accumulator was never reset, so that it holds nothing to add to or to read"
    fails(lines(A, T, U, sums, z, load(), used, ends), f"'bir.activation' op \"use\": {message}", 8)
    expected = np.zeros(4) if command == "idle" else DATA.sum(axis=1)
    assert np.array_equal(
        run(lines(A, T, U, sums, z, load(), reset, used, ends), inputs={"a": DATA}).outputs["z"], expected
    )
    unchecked = run(lines(A, T, U, sums, z, load(), used, ends), inputs={"a": DATA}, poison=False)
    assert np.array_equal(unchecked.outputs["z"], expected)


# Outputs ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("poison", [True, False])
def test_an_output_that_is_never_written(poison: bool) -> None:
    fails(lines(A, Y, T, load()), "output 'y' was never written", 3, poison=poison)


def test_an_output_that_is_written_in_part() -> None:
    part = save(access="[0 : 4 | 0 : 7] f32", target="[0 : 8*4, 7] f32")
    fails(
        lines(A, Y, T, load(), part),
        "output 'y' was written only in part: 4 of 32 elements were not, the first is [0, 7]",
        3,
    )
    assert run(lines(A, Y, T, load(), part), inputs={"a": DATA}, poison=False).outputs["y"][0, 6] == 6.0


# Bounds -----------------------------------------------------------------------------------------------------------


def unverified(body: str) -> Any:
    """Returns a module that need not verify."""
    from nki_mlir.dialects.bir import Bir
    from nki_mlir.dialects.nki import NKI

    context = Context()
    for dialect in (Builtin, NKI, Bir):
        context.load_dialect(dialect)
    return Parser(context, program(body)).parse_module()


@pytest.mark.parametrize(
    "access, message",
    [
        ("[0 : 4 | 1 : 8] f32", "dst reaches element 8 of a partition of 't', which has 8 elements [X-FMAX]"),
        ("[0 : 4 | 6 : -1*8] f32", "dst reaches element -1 of a partition of 't', which has 8 elements [X-FMAX]"),
        ("[1 : 4 | 0 : 8] f32", "dst reaches partition 4 of 't', which has 4 partitions [X-FMAX]"),
        ("[0 : 4 | 0 : 17] bf16", "dst reaches element 16 of a partition of 't', which has 16 elements [X-FMAX]"),
    ],
)
def test_constant_accesses_out_of_bounds(access: str, message: str) -> None:
    for poison in (True, False):
        with pytest.raises(NkiError) as caught:
            simulate(unverified(lines(A, T, load(access=access))), {"a": DATA}, poison=poison)
        assert str(caught.value) == f"'bir.load' op \"load\": {message}"


def test_hbm_accesses_out_of_bounds() -> None:
    with pytest.raises(NkiError) as caught:
        simulate(unverified(lines(A, T, load(source="[1 : 8*4, 8] f32"))), {"a": DATA})
    assert str(caught.value) == "'bir.load' op \"load\": src reaches element 32 of 'a', which has 32 elements [X-FMAX]"


@pytest.mark.parametrize("poison", [True, False])
def test_a_register_leads_out_of_bounds(poison: bool) -> None:
    def body(value: int) -> str:
        move = f'bir.register_move "move" outs(%r) ins({value} : i32)'
        return lines(
            A, Y, '%r = bir.register "r"', T, move, load(access="[0 : 4 | 0 : 4] f32", source="[4*%r : 8*4, 4] f32"),
            load(access="[0 : 4 | 4 : 4] f32", source="[0 : 8*4, 4] f32", name="rest"), save(),
        )  # fmt: skip

    got = run(body(1), inputs={"a": DATA}, poison=poison).outputs["y"]
    assert np.array_equal(got[:, :4], DATA[:, 4:])
    for value, element in ((2, 35), (-1, -4)):
        fails(
            body(value),
            f"'bir.load' op \"load\": src reaches element {element} of 'a', which has 32 elements [X-FMAX]",
            7,
            poison=poison,
        )


def test_a_block_out_of_bounds() -> None:
    def body(value: int) -> str:
        move = f"bir.register_move outs(%r) ins({value} : i32)"
        blocks = '%b = bir.tensor "b" at <0, 512>, <>, <32, 0> : !nki.mem<sbuf 4x8xf32, blocks 3>'
        return lines(A, Y, '%r = bir.register "r"', blocks, move, load("b", "{%r}" + WHOLE), save("b", "{%r}" + WHOLE))

    for value in range(3):
        assert np.array_equal(run(body(value), inputs={"a": DATA}).outputs["y"], DATA)
    fails(body(3), "'bir.load' op \"load\": dst accesses block 3 of 'b', which has 3 [X-FMAX]", 7)


@pytest.mark.parametrize("poison", [True, False])
def test_a_mask_shrinks_an_access(poison: bool) -> None:
    """Rows 0 to 5 of 6 in tiles of 4: the second tile has 2, a third one nothing."""

    static = ("bir.loop %i = 0 to 3 step 1 affine {",)
    dynamic = (
        '%n = bir.register "n"',
        "bir.register_move outs(%n) ins(3 : i32)",
        "bir.dynamic_for_loop %i = 0 to %n step 1 {",
    )

    def body(rows: int, other: int, loop: tuple[str, ...] = static) -> str:
        mask, second = f"min(4, -4*%i + {rows})", f"min(4, -4*%i + {other})"
        return lines(
            '%a = bir.tensor "a" kind external_input : !nki.mem<hbm 6x8xf32>',
            '%y = bir.tensor "y" kind external_output : !nki.mem<hbm 6x8xf32>',
            T,
            *loop,
            f'bir.load "load" outs(%t[0 : {mask} | 0 : 8] f32) ins(%a[32*%i : 8*{second}, 8] f32)',
            f'bir.save "save" outs(%y[32*%i : 8*{mask}, 8] f32) ins(%t[0 : {mask} | 0 : 8] f32)',
            "}",
        )

    data = np.arange(48, dtype=np.float32).reshape(6, 8)
    assert np.array_equal(run(body(6, 6), inputs={"a": data}, poison=poison).outputs["y"], data)
    with pytest.raises(ExceptionGroup) as caught:
        run(body(6, 7), inputs={"a": data}, poison=poison)
    message = "'bir.load' op src reaches element 55 of its tensor, it has 48 elements [X-FMAX]"
    assert [str(error) for error in caught.value.exceptions] == [message]
    assert np.array_equal(run(body(6, 6, dynamic), inputs={"a": data}, poison=poison).outputs["y"], data)
    fails(
        body(6, 7, dynamic),
        "'bir.load' op \"load\": src reaches element 55 of 'a', which has 48 elements [X-FMAX]",
        8,
        {"a": data},
        poison=poison,
    )
    fails(
        body(6, 5),
        "'bir.load' op \"load\": src accesses 8 elements, dst accesses 16 [DMA-COUNT]",
        6,
        {"a": data},
        poison=poison,
    )


def test_every_first_partition_of_a_masked_access_is_checked() -> None:
    """The second iteration leaves as much as the first one, but from a partition where none may start."""
    body = lines(
        '%t = bir.tensor "t" : !nki.mem<sbuf 128x8xf32>',
        '%n = bir.register "n"',
        "bir.register_move outs(%n) ins(2 : i32)",
        "bir.dynamic_for_loop %i = 0 to %n step 1 {",
        "bir.memset outs(%t[%i : min(8, -1*%i + 20) | 0 : 8] f32) ins(0.0 : f32)",
        "}",
    )
    message = "dst accesses 8 partitions from partition 1, they must start at 0, 32, 64 or 96 [HW-P2]"
    fails(body, f"'bir.memset' op: {message}", 6, {})


def test_what_never_runs_may_be_out_of_bounds() -> None:
    body = lines(
        A,
        Y,
        T,
        '%b = bir.tensor "b" : !nki.mem<sbuf 4x8xf32, blocks 2>',
        load(),
        "bir.loop %i = 0 to 3 step 1 affine {",
        "bir.memset outs(%t[2 : 4 | 6 : 4] f32) ins(0.0 : f32) when(2 eq 0)",
        "bir.memset outs(%b{2}[0 : 4 | 0 : 8] f32) ins(0.0 : f32) when(%i - 3 ge 0)",
        "}",
        save(),
    )
    assert np.array_equal(run(body, inputs={"a": DATA}).outputs["y"], DATA)


# Inputs -----------------------------------------------------------------------------------------------------------


def test_wrong_inputs() -> None:
    body = lines(A, '%b = bir.tensor "b" kind external_input : !nki.mem<hbm 2xbf16>', Y, T, load(), save())
    b = np.zeros(2, ml_dtypes.bfloat16)
    assert np.array_equal(run(body, inputs={"a": DATA, "b": b}).outputs["y"], DATA)
    fails(body, "input 'a' of type float32[4, 8] was not given (2 inputs are missing: a, b)", 2, {})
    fails(body, "input 'b' of type bfloat16[2] was not given", 3, {"a": DATA})
    fails(body, "input 'b' must be bfloat16[2], got float32[2]", 3, {"a": DATA, "b": np.zeros(2, np.float32)})
    fails(body, "input 'a' must be float32[4, 8], got float32[8, 4]", 2, {"a": DATA.T, "b": b})
    with pytest.raises(NkiError, match=r"^unknown input 'aa'; did you mean 'a'\?$"):
        run(body, inputs={"a": DATA, "b": b, "aa": b})
    with pytest.raises(NkiError, match=r"^the program has no inputs, got 'a'$"):
        run("", inputs={"a": DATA})


def test_inputs_are_not_changed_and_written_ones_are_returned() -> None:
    """Rows of the tile become columns of the tensor, seen as 8 rows of 4."""
    body = lines(A, T, load(), 'bir.save "save" outs(%a[0 : 4, 4*8] f32) ins(%t[0 : 4 | 0 : 8] f32)')
    before = DATA.copy()
    result = run(body, inputs={"a": before})
    assert np.array_equal(before, DATA)
    assert list(result.inputs) == ["a"]
    for row in range(4):
        for column in range(8):
            assert result.inputs["a"].reshape(8, 4)[column, row] == DATA[row, column]


def test_strided_inputs_of_any_layout() -> None:
    body = lines(A, Y, T, load(), save())
    assert np.array_equal(run(body, inputs={"a": np.asfortranarray(DATA)}).outputs["y"], DATA)
    assert np.array_equal(run(body, inputs={"a": DATA[::-1]}).outputs["y"], DATA[::-1])


def test_constants_may_be_given() -> None:
    body = lines(A.replace("external_input", "const"), Y, T, load(), save())
    assert np.array_equal(run(body, inputs={"a": DATA}).outputs["y"], DATA)
    fails(
        body,
        "'bir.load' op \"load\": src reads 32 of 32 elements of 'a' that were never written, the first is element 0",
        5,
        {},
    )


# What cannot run --------------------------------------------------------------------------------------------------


def test_huge_storage_is_refused_before_it_is_allocated() -> None:
    tensors = [f'%h{k} = bir.tensor "h{k}" : !nki.mem<hbm 1024x1024x{1000 + k}xf32>' for k in range(4)]
    message = (
        r"^'bir.tensor' op \"h3\": storage 'h3' takes {} GiB and all storage together {} GiB, the simulator may use"
    )
    with pytest.raises(NkiError, match=message.format(7.836, 31.3)):
        run(lines(*tensors))
    with pytest.raises(NkiError, match=message.format(3.918, 31.3)):
        run(lines(*tensors, *(tensor.replace("h", "g", 2) for tensor in tensors)), poison=False)


def test_a_place_outside_the_chip() -> None:
    def body(address: int) -> str:
        return f'%t = bir.tensor "t" at <0, {address}> : !nki.mem<psum 128x512xf32>'

    run(body(14336))
    for target, address, message in (
        (None, 14340, "address 14340 end at 16388, a partition of psum has 16384 bytes on trn3"),
        (parse_target("inf1"), 8192, "address 8192 end at 10240, a partition of psum has 8192 bytes on inf1"),
    ):
        with pytest.raises(NkiError) as caught:
            simulate(unverified(body(address)), {}, target=target)
        assert str(caught.value) == f"'bir.tensor' op \"t\": 2048 bytes a partition at {message}"


def test_meaningless_functions_are_refused_by_name() -> None:
    fails(
        lines(T, f'bir.activation lrelu "act" outs(%t{WHOLE}) ins(%t{WHOLE})'),
        "'bir.activation' op \"act\": activation function 'lrelu' has no published meaning, so it cannot be evaluated",
        3,
        {},
    )


def test_transpose_mode_without_an_identity() -> None:
    psum = '%p = bir.tensor "p" at <0, 0> : !nki.mem<psum 4x4xf32>'
    square = "[0 : 4 | 0 : 4] f32"
    error = fails(
        lines(T, psum, f"bir.memset outs(%t{WHOLE}) ins(1.0 : f32)",
              f'bir.matmult is_transpose "tr" outs(%p{square}) ins(%t{square}, %t{square})'),
        "'bir.matmult' op \"tr\": is_transpose moves data, so stationary or moving must be an identity matrix [BIR035]",
        5,
        {},
    )  # fmt: skip
    assert error.rule == "BIR035"


def test_programs_that_do_not_end() -> None:
    body = lines(
        '%r = bir.register "r"',
        "bir.register_move outs(%r) ins(1 : i32)",
        "bir.do_while %r { bir.register_alu add outs(%r) ins(%r, 1 : i32) }",
    )
    message = "'bir.do_while' op: the program takes more than 1000 iterations of loops and branches [max-iterations]"
    fails(body, message, 4, {}, most_iterations=1000)


def test_by_default_what_may_not_end_is_counted_by_its_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """From the second time on; a loop inside counts its iterations and their steps, each time that it begins."""
    monkeypatch.setattr("nki_mlir.simulator.program.MOST_REPEATED", 1000)
    message = "the program takes more than 1000 steps in loops and branches that may not end [max-iterations]"
    one = lines('%r = bir.register "r"', "bir.register_move outs(%r) ins({} : i32)", "bir.do_while %r {{ {} }}")
    down = "bir.register_alu subtract outs(%r) ins(%r, 1 : i32)"
    for inside, most, op in (
        # An iteration is a step, and so is each op in it.
        (down, 1 + 1000 // 2, "do_while"),
        (f"bir.loop %i = 0 to 0 affine {{ {down} }} {down}", 1 + 1000 // 3, "do_while"),
        (f'bir.loop %i = 0 to 7 affine {{ %q = bir.register "q" }} {down}', 1 + 1000 // (3 + 7 * 2), "loop"),
    ):
        run(one.format(most, inside))
        fails(one.format(most + 1, inside), f"'bir.{op}' op: {message}", 4, {})
        run(one.format(most + 1, inside), most_iterations=10_000)
    once = f'bir.loop %i = 0 to 5000 affine {{ %q = bir.register "q" }} {down}'
    run(one.format(1, once))
    blocks = lines(
        '%r = bir.register "r"',
        "bir.register_move outs(%r) ins(COUNT : i32)",
        "bir.unconditional_branch ^a",
        "^a:",
        down,
        "bir.compare_and_branch gt_imm ins(%r, 0 : i32) [^a, ^b]",
        "^b:",
        nested(5000),
        "bir.return",
    )
    # The jump to ^a and the first run of ^a are none; each further run is one iteration with one op.
    run(blocks.replace("COUNT", "501"))
    fails(blocks.replace("COUNT", "502"), f"'bir.compare_and_branch' op: {message}", 7, {})


def nested(*counts: int) -> str:
    """Loops in one another, all in one line."""
    head = " ".join(f"bir.loop %i{k} = 0 to {count} step 1 affine {{" for k, count in enumerate(counts))
    return head + "}" * len(counts)


def test_static_loops_are_counted_before_they_run() -> None:
    count = "the static loops of the program take {} iterations, at most {} are allowed [max-iterations]"
    for loops, line, taken, most in (
        (nested(9223372036854775807), 2, 9223372036854775807, 100_000_000),
        (nested(100_000_001), 2, 100_000_001, 100_000_000),
        # Each iteration of a loop counts, so 10 of the outer one come on top of those of the inner one.
        (nested(10, 10), 2, 110, 109),
        (lines(nested(3), nested(5, 4), nested(2)), 3, 3 + 25 + 2, 29),
        (lines('%r = bir.register "r"', f"bir.do_while %r {{ {nested(7)} }}"), 3, 7, 6),
        (nested(10, 10**12, 10**12, 0), 2, 10 + 10**13 + 10**25, 10**6),
    ):
        op = "do_while" if "do_while" in loops else "loop"
        fails(loops, f"'bir.{op}' op: " + count.format(taken, most), line, {}, most_iterations=most)
    run(nested(10, 10), most_iterations=110)


def test_what_branches_decide_is_counted_while_it_runs() -> None:
    """The loop behind the branch never runs; the second program takes it, and repeats one it cannot know about."""
    skipped = lines("bir.unconditional_branch ^end", "^loop:", nested(1000), "bir.return", "^end:", "bir.return")
    run(skipped, most_iterations=10)
    taken = skipped.replace("branch ^end", "branch ^loop")
    message = "'bir.loop' op: the program takes more than 10 iterations of loops and branches [max-iterations]"
    fails(taken, message, 4, {}, most_iterations=10)
    repeated = lines(
        '%r = bir.register "r"',
        "bir.register_move outs(%r) ins(6 : i32)",
        f"bir.dynamic_for_loop %j = 0 to %r step 1 {{ {nested(5)} }}",
    )
    run(repeated, most_iterations=36)
    fails(repeated, message.replace("10", "35"), 4, {}, most_iterations=35)


def test_other_dialects_are_refused_by_name() -> None:
    from xdsl.dialects.builtin import ModuleOp

    from nki_mlir.dialects.klr import Klr
    from nki_mlir.dialects.nki import NKI
    from nki_mlir.dialects.penguin import Penguin

    context = Context(allow_unregistered=True)
    for dialect in (Builtin, NKI, Penguin, Klr):
        context.load_dialect(dialect)
    for text, message in {
        "penguin.module @m { }": "'penguin.module' op: the simulator runs BIR, lower the penguin dialect with"
        " convert-penguin-to-bir first",
        '"foo.bar"() : () -> ()': "'builtin.unregistered' op: the operation 'foo.bar' is not registered, so it cannot"
        " be simulated",
    }.items():
        with pytest.raises(NkiError) as caught:
            simulate(Parser(context, text).parse_module(), {})
        assert str(caught.value) == message
    with pytest.raises(NkiError, match=r"^expected one bir.module, found 0$"):
        simulate(ModuleOp([]), {})
    with pytest.raises(NkiError, match=r"^expected one bir.module, found 2$"):
        simulate(parsed("bir.module @a { } bir.module @b { }"), {})


def test_no_numpy_warning_gets_out() -> None:
    """Warnings are errors in this test run: division by zero, overflow and NaN must stay quiet."""
    body = lines(A, Y, T, load(), f"bir.reciprocal outs(%t{WHOLE}) ins(%t{WHOLE})",
                 f"bir.activation exp outs(%t{WHOLE}) ins(%t{WHOLE}, scale = 1000.0 : f32)",
                 f"bir.tensor_tensor subtract outs(%t{WHOLE}) ins(%t{WHOLE}, %t{WHOLE})", save())  # fmt: skip
    assert np.isnan(run(body, inputs={"a": DATA}).outputs["y"][0, 0])


def test_several_functions_share_tensors_by_name() -> None:
    text = f"""bir.module @m {{
    bir.func @first {{ {A}
      %s = bir.tensor "s" : !nki.mem<shared_hbm 4x8xf32>
      {T}
      {load()}
      bir.save outs(%s{HBM}) ins(%t{WHOLE})
    }}
    bir.func @second {{
      %s = bir.tensor "s" : !nki.mem<shared_hbm 4x8xf32>
      {Y}
      {T}
      bir.load outs(%t{WHOLE}) ins(%s{HBM})
      {save()}
    }} }}"""
    assert np.array_equal(simulate(parsed(text), {"a": DATA}).outputs["y"], DATA)
    with pytest.raises(NkiError) as caught:
        simulate(parsed(text.replace("bir.save outs(%s", "bir.save outs(%a")), {"a": DATA})
    assert "elements of 's' that were never written" in str(caught.value)
    other = text.replace('"s" : !nki.mem<shared_hbm 4x8xf32>\n      %y', '"s" : !nki.mem<shared_hbm 8x4xf32>\n      %y')
    with pytest.raises(NkiError) as caught:
        simulate(parsed(other), {"a": DATA})
    assert str(caught.value) == "'s' is float32[8, 4] here and float32[4, 8] elsewhere, but it is one tensor"

"""KLR files: every sample is read and written to the same bytes, and no other bytes get more than an error."""

import json
import struct
import tracemalloc
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nki_mlir.diagnostics import ByteLocation, NkiError
from nki_mlir.interchange.klr import KlrFile, Layout, Record, make, read_klr, to_json, write_klr
from nki_mlir.interchange.klr.cbor import INTEGERS, MAX_ACCESS_DEPTH, MAX_STRING
from nki_mlir.interchange.klr.schema import NOT_LOWERED, SCALARS, TYPES

DATA = Path(__file__).parents[2] / "data" / "klr"
FOLDERS = {"head": Layout.HEAD, "nxcc224": Layout.NXCC_2_24}
SCHEMAS = {Layout.HEAD: "schema_head_7ccd18c.json", Layout.NXCC_2_24: "schema_nxcc224_1ca58cb.json"}
SAMPLES = {f"{path.parent.name}/{path.stem}": path for path in sorted(DATA.glob("*/*.klr"))}
GROWN = {"NcDmaCopy": (7, 8), "DmaTranspose": (6, 7), "TensorScalarReduce": (8, 10), "CollectiveOp": (8, 9)}

FRAME = bytes.fromhex("d9d9f78300000c d9eb0081634e4b49")
LNC = bytes.fromhex("d9ec0381 d96c0087")
EMPTY = FRAME + LNC + b"\x61k" + b"\x80" * 6


def bytes_of(name: str) -> bytes:
    return SAMPLES[name].read_bytes()


def read(data: bytes) -> KlrFile:
    return read_klr(data, "x.klr")


def failure(data: bytes) -> tuple[int, str]:
    """The offset and message of the error that reading raises."""
    with pytest.raises(NkiError) as caught:
        read(data)
    location = caught.value.location
    assert isinstance(location, ByteLocation)
    assert location.file == "x.klr"
    return location.offset, str(caught.value)


def with_constants(*constants: Record, metadata: str = "NKI") -> KlrFile:
    """A kernel without statements, which has constants: two texts each."""
    kernel = make(
        "LncKernel",
        name="k",
        inputs=(),
        outputs=(),
        bodies=(),
        sharedConstants=constants,
        sharedBuffers=(),
        edges=(),
    )
    return KlrFile((0, 0, 12), metadata, make("Contents", "lnc", kernel=kernel))


def with_operator(ctor: str, op: Record, layout: Layout = Layout.HEAD) -> KlrFile:
    position = make("Pos", line=1, column=0, lineEnd=None, columnEnd=None, filename=None)
    statement = make("Stmt", "oper", op=make("Operator", ctor, op=op), name=None, pos=position)
    block = make("Block", label="main.1", noReorder=False, body=(statement,))
    kernel = make("Kernel", name="k", inputs=(), outputs=(), body=(block,))
    return KlrFile((0, 0, 12), "NKI", make("Contents", "kernel", kernel=kernel), layout)


def operator_of(file: KlrFile) -> Record:
    return file.contents.kernel.body[0].body[0].op.op


def register_move(imm: int) -> KlrFile:
    return with_operator("registerMove", make("RegisterMove", dst="r", imm=imm))


def memset(value: Record) -> KlrFile:
    register = make("TensorRef", "register", reg=0)
    return with_operator("memSet", make("MemSet", dst=register, value=value, dtype="float32", engine="dve"))


def tensor(name: str = "a") -> Record:
    return make(
        "TensorName",
        name=name,
        dtype="float32",
        shape=make("Shape", parDim=128, freeDims=(512,)),
        address=make(
            "Address",
            name=name,
            memory="hbm",
            parSize=128,
            freeSize=2048,
            parOffset=None,
            freeOffset=None,
            isShared=False,
        ),
        freeElements=512,
        addressRotation=True,
    )


def nested_access(depth: int) -> Record:
    access = make("Access", "simple", tensor=tensor())
    for _ in range(depth - 1):
        pattern = make(
            "BirAccessPattern",
            tensor=tensor(),
            offset=0,
            pattern=(),
            scalarOffset=None,
            vectorOffset=access,
            indirectDim=0,
            dtypeOverride=None,
        )
        access = make("Access", "birPattern", access=pattern)
    return access


def load_of(access: Record) -> KlrFile:
    return with_operator("tensorLoad", make("TensorLoad", dst="r", src=make("TensorRef", "abstract", access=access)))


# The table


def published_type(text: str) -> str:
    """`Option (List Nat)` as `Nat[]?`."""
    text = text.removeprefix("(").removesuffix(")") if text.startswith("(") else text
    if text.startswith("Option "):
        return published_type(text.removeprefix("Option ")) + "?"
    if text.startswith("List "):
        return published_type(text.removeprefix("List ")) + "[]"
    return text


@pytest.mark.parametrize("layout", Layout)
def test_the_table_is_the_published_one(layout: Layout) -> None:
    published: dict[str, Any] = json.loads((DATA / "schemas" / SCHEMAS[layout]).read_text())
    assert set(TYPES) == set(published)
    for name, expected in published.items():
        entry = TYPES[name]
        assert entry.tag == expected["tag"]
        is_record = expected["kind"] == "struct"
        assert [c.name for c in entry.constructors] == ([""] if is_record else [c["name"] for c in expected["ctors"]])
        for constructor, ctor in zip(entry.constructors, expected["ctors"], strict=True):
            assert constructor.number == ctor["tag"]
            fields: list[tuple[str, str]] = []
            for field in constructor.fields:
                if field.since <= layout:
                    fields += [(field.name, str(field.type))] + [("", "proof")] * field.proofs
            assert constructor.count(layout) == len(ctor["fields"])
            for (field_name, type_name), (expected_name, lean, _) in zip(fields, ctor["fields"], strict=True):
                if type_name == "proof":
                    assert any(sign in lean for sign in "=≠")
                else:
                    assert (field_name, type_name) == (expected_name, published_type(lean))


def test_four_records_differ_between_the_layouts() -> None:
    counts = {entry.name: tuple(entry.constructors[0].count(layout) for layout in Layout) for entry in TYPES.values()}
    assert {name: both for name, both in counts.items() if both[0] != both[1]} == GROWN


def test_the_table_holds_together() -> None:
    numbers = Counter((c.tag, c.number) for entry in TYPES.values() for c in entry.constructors)
    assert max(numbers.values()) == 1
    for entry in TYPES.values():
        for constructor in entry.constructors:
            assert not {"type", "ctor", "constructor"} & {field.name for field in constructor.fields}
            for field in constructor.fields:
                is_syntax_tree = constructor.type == "Contents" and constructor.name in NOT_LOWERED
                assert field.type.name in SCALARS or field.type.name in TYPES or is_syntax_tree
                assert field.since is Layout.NXCC_2_24 or field.default is not None or field.type.optional


def test_only_accesses_can_hold_themselves() -> None:
    """The depth of everything else is bounded by the table, so a limit for accesses bounds the recursion."""
    below = {
        entry.name: {field.type.name for c in entry.constructors for field in c.fields} & set(TYPES) - {"Access"}
        for entry in TYPES.values()
    }
    while leaves := [name for name, types in below.items() if not types & set(below)]:
        for name in leaves:
            del below[name]
    assert not below


# Values


def test_a_record_is_its_fields() -> None:
    pair = make("APPair", step=-512, num=128, offset=0)
    assert (pair.step, pair.num, pair.offset) == (-512, 128, 0)
    assert (pair.type, pair.ctor) == ("APPair", "")
    assert repr(pair) == "APPair(step=-512, num=128, offset=0)"
    number = make("Immediate", "int", i=3)
    assert (number.type, number.ctor, number.i) == ("Immediate", "int", 3)
    assert repr(number) == "Immediate.int(i=3)"
    assert number == make("Immediate", "int", i=3)
    assert hash(number) == hash(make("Immediate", "int", i=3))
    assert number != make("Immediate", "register", reg=3)
    with pytest.raises(AttributeError, match=r"^Immediate.int has no field 'f'; its fields: i$"):
        _ = number.f
    with pytest.raises(AttributeError, match=r"^DmaBounds.skip has no field 'reg'; its fields: none$"):
        _ = make("DmaBounds", "skip").reg


def test_make_checks_the_names() -> None:
    with pytest.raises(TypeError, match=r"^KLR has no record Shap$"):
        make("Shap")
    with pytest.raises(TypeError, match=r"^KLR has no record Immediate.long$"):
        make("Immediate", "long", i=1)
    with pytest.raises(TypeError, match=r"^KLR has no record Dtype.float32$"):
        make("Dtype", "float32")
    with pytest.raises(TypeError, match=r"^Shape needs field 'freeDims'$"):
        make("Shape", parDim=1)
    with pytest.raises(TypeError, match=r"^Shape has no field 'rank'$"):
        make("Shape", parDim=1, freeDims=(), rank=1)


# The samples


def test_all_samples_are_here() -> None:
    assert Counter(name.split("/")[0] for name in SAMPLES) == {"head": 12, "nxcc224": 12}


@pytest.mark.parametrize("name", SAMPLES)
def test_sample(name: str) -> None:
    data = bytes_of(name)
    file = read(data)
    assert file.layout is FOLDERS[name.split("/")[0]]
    assert (file.version, file.metadata, file.proof_bytes) == ((0, 0, 12), "NKI", False)
    assert to_json(file) == json.loads(SAMPLES[name].with_suffix(".json").read_text())
    assert write_klr(file) == data


@pytest.mark.parametrize("kernel", sorted({path.stem for path in SAMPLES.values()} - {"allops", "gather"}))
def test_layouts_convert_into_each_other(kernel: str) -> None:
    old, new = bytes_of(f"nxcc224/{kernel}"), bytes_of(f"head/{kernel}")
    assert write_klr(read(old), Layout.HEAD) == new
    assert write_klr(read(new), Layout.NXCC_2_24) == old


def test_a_new_field_in_use_does_not_convert() -> None:
    with pytest.raises(
        NkiError,
        match=r"^cannot write KLR: expected None for NcDmaCopy.priority, which neuronx-cc 2.24 does not have, got 1$",
    ):
        write_klr(read(bytes_of("head/gather")), Layout.NXCC_2_24)


# Bytes


def test_tensor_name_bytes() -> None:
    """The worked example of the KLR reference, §3.5."""
    expected = bytes.fromhex(
        "d9720088 6161 d96f0580 d9700082 1880 81 190200"
        "d9710087 6161 d96e0080 1880 190800 d9ff0080 d9ff0080 f4 190200 f5"
    )
    file = load_of(make("Access", "simple", tensor=tensor()))
    data = write_klr(file)
    assert expected in data
    assert read(data) == file


def test_pair_and_statement_bytes() -> None:
    pattern = make(
        "DataPattern", offset=0, pattern=(make("APPair", step=-512, num=128, offset=0),), channelMultiplier=1
    )
    register = make("TensorRef", "register", reg=0)
    file = with_operator("iota", make("Iota", dst=register, pattern=pattern, dtype="int32"))
    data = write_klr(file)
    assert bytes.fromhex("d9670083 d9da0f81 d99f0083 d9800481 00 d9860083 00 81 d9770083 3901ff 1880 00 01") in data
    assert bytes.fromhex("d9ff0181 d96f0a80") in data
    assert read(data) == file


@pytest.mark.parametrize(
    ("value", "encoded"),
    [
        (0, "00"),
        (23, "17"),
        (24, "1818"),
        (255, "18ff"),
        (256, "190100"),
        (65535, "19ffff"),
        (65536, "1a00010000"),
        (2**31 - 1, "1a7fffffff"),
        (-1, "20"),
        (-24, "37"),
        (-25, "3818"),
        (-256, "38ff"),
        (-257, "390100"),
        (-(2**31), "3a7fffffff"),
    ],
)
def test_integers(value: int, encoded: str) -> None:
    data = write_klr(register_move(value))
    assert data.count(b"\x61r" + bytes.fromhex(encoded) + b"\xd9") == 1
    assert operator_of(read(data)).imm == value


@pytest.mark.parametrize(
    "bits",
    [0, 1, 0x3F800000, 0x7F7FFFFF, 0x7F800000, 0x7F800001, 0x7FC00000, 0x7FC12345, 0x7FFFFFFF, 0x80000000, 0xFF800000],
)
def test_floats_keep_their_bits(bits: int) -> None:
    template = write_klr(memset(make("Immediate", "float", f=1.0)))
    data = template.replace(b"\xfa\x3f\x80\x00\x00", b"\xfa" + bits.to_bytes(4, "big"))
    file = read(data)
    assert write_klr(file) == data
    value = operator_of(file).value.f
    (expected,) = struct.unpack(">f", bits.to_bytes(4, "big"))
    assert value == expected or (value != value and expected != expected)


def test_floats_are_rounded_when_written() -> None:
    data = write_klr(memset(make("Immediate", "float", f=0.1)))
    assert b"\xfa\x3d\xcc\xcc\xcd" in data
    # A NaN whose payload is only in the bits that Float32 does not have stays a NaN.
    tiny = struct.unpack(">d", bytes.fromhex("7ff0000000000001"))[0]
    assert b"\xfa\x7f\xc0\x00\x00" in write_klr(memset(make("Immediate", "float", f=tiny)))


def test_longest_text() -> None:
    constant = make("SharedConstantFile", name="é" * (MAX_STRING // 2), fileName="")
    data = write_klr(with_constants(constant))
    assert read(data).contents.kernel.sharedConstants == (constant,)
    with pytest.raises(NkiError, match=r"expected a text of at most 65536 bytes of UTF-8 for SharedConstantFile.name"):
        write_klr(with_constants(make("SharedConstantFile", name="x" * (MAX_STRING + 1), fileName="")))
    long = b"\xd9\x6a\x00\x82\x7a\x00\x01\x00\x01" + b"x" * (MAX_STRING + 1) + b"\x60"
    start = FRAME + LNC + b"\x61k\x80\x80\x80\x81"
    assert failure(start + long + b"\x80\x80") == (
        len(start) + 4,
        "expected a text of at most 65536 bytes for SharedConstantFile.name, found a text of length 65537",
    )


def test_other_metadata_and_kernels_without_cores() -> None:
    file = with_constants(metadata="KLR")
    assert read(write_klr(file)) == file
    assert write_klr(with_constants()) == EMPTY
    move = register_move(7)
    assert read(write_klr(move)) == move
    assert to_json(move)["contents"]["kernel"]["kernel"]["name"] == "k"


def test_a_file_without_the_four_records_has_the_newest_layout() -> None:
    assert read(EMPTY).layout is Layout.HEAD
    assert write_klr(read(EMPTY), Layout.NXCC_2_24) == EMPTY


def test_equal_tensors_are_one_object() -> None:
    file = read(bytes_of("head/add"))
    statements = file.contents.kernel.bodies[0][0].body
    assert statements[0].op.op.dst.access.access.tensor is statements[2].op.op.src0.access.access.tensor


def test_tensors_of_one_name_are_told_apart() -> None:
    first = tensor()
    second = make(
        "TensorName", **{f.name: v for f, v in zip(first.constructor.fields, first, strict=True)} | {"dtype": "int32"}
    )
    for name in ("a", "n" * 23, "n" * 24, "n" * 255, "n" * 256):
        both = (tensor(name), tensor(name[:-1] + "m"), first, second, first)
        kernel = make("Kernel", name="k", inputs=both, outputs=both, body=())
        file = KlrFile((0, 0, 12), "NKI", make("Contents", "kernel", kernel=kernel))
        assert read(write_klr(file)) == file


# The form of KLR's C++ writer


def cbor_item(data: bytes, pos: int) -> int:
    """Skips one CBOR item by the rules of CBOR alone, and returns where it ends."""
    major, short = data[pos] >> 5, data[pos] & 31
    size = {24: 1, 25: 2, 26: 4, 27: 8}.get(short, 0)
    number = int.from_bytes(data[pos + 1 : pos + 1 + size], "big") if size else short
    pos += 1 + size
    if major in (2, 3):
        return pos + number
    for _ in range(number if major == 4 else 1 if major == 6 else 0):
        pos = cbor_item(data, pos)
    return pos


@pytest.mark.parametrize("name", SAMPLES)
def test_proof_bytes_make_valid_cbor(name: str) -> None:
    file = replace(read(bytes_of(name)), proof_bytes=True)
    data = write_klr(file)
    pos = 0
    for _ in range(3):
        pos = cbor_item(data, pos)
    assert pos == len(data)
    assert read(data) == file
    assert write_klr(read(data)) == data


def test_proof_bytes_are_everywhere_or_nowhere() -> None:
    kernel = make("Kernel", name="k", inputs=(tensor("a"), tensor("b")), outputs=(), body=())
    file = KlrFile((0, 0, 12), "NKI", make("Contents", "kernel", kernel=kernel))
    without, with_proofs = write_klr(file), write_klr(replace(file, proof_bytes=True))
    a, b = with_proofs.split(b"\x80\x80\xf5\xd9\x72")
    assert failure(a + b"\x80\x80\xf5\xd9\x72" + b.replace(b"\x80\x80\xf5", b"\xf5")) == (
        with_proofs.rindex(b"\x80\x80\xf5"),
        "expected an empty list for a proof of TensorName, as earlier in the file, found the Boolean true",
    )
    a, b = without.split(b"\xf5\xd9\x72")
    assert failure(a + b"\xf5\xd9\x72" + b.replace(b"\xf5", b"\x80\x80\xf5")) == (
        without.rindex(b"\xf5"),
        "expected a Boolean for TensorName.addressRotation, found a list of length 0",
    )


# Layouts


def reduce_file(**new: Any) -> KlrFile:
    register = make("TensorRef", "register", reg=0)
    zero = make("Operand", "imm", i=make("Immediate", "float", f=0.0))
    op = make(
        "TensorScalarReduce",
        dst=register,
        src=register,
        operand0=zero,
        op0="add",
        reverse0=False,
        dtype=None,
        reduceOp="add",
        reduceRes=register,
        **new,
    )
    return with_operator("tensorScalarReduce", op)


def test_new_fields_have_the_meaning_of_their_absence() -> None:
    old = read(write_klr(reduce_file(), Layout.NXCC_2_24))
    assert old.layout is Layout.NXCC_2_24
    assert operator_of(old).reduceCmd == "ZeroAccumulate"
    assert operator_of(old).reduceInit is None
    assert list(to_json(operator_of(old), Layout.NXCC_2_24))[-1] == "reduceRes"
    assert list(to_json(operator_of(old)))[-2:] == ["reduceCmd", "reduceInit"]
    assert write_klr(old, Layout.HEAD) == write_klr(reduce_file())


def test_new_fields_with_another_meaning_do_not_fit_the_old_layout() -> None:
    with pytest.raises(
        NkiError,
        match=r"^cannot write KLR: expected ZeroAccumulate for TensorScalarReduce.reduceCmd, "
        r"which neuronx-cc 2.24 does not have, got 'Accumulate'$",
    ):
        write_klr(reduce_file(reduceCmd="Accumulate"), Layout.NXCC_2_24)


def test_one_file_has_one_layout() -> None:
    new, old = bytes_of("head/add"), bytes_of("nxcc224/add")
    header = bytes.fromhex("d9990088")
    second = new.index(header, new.index(header) + 4)
    old_header = bytes.fromhex("d9990087")
    old_second = old.index(old_header, old.index(old_header) + 4)
    assert failure(new[:second] + old[old_second:]) == (
        second,
        "NcDmaCopy has 7 fields as in neuronx-cc 2.24, but an earlier record of the file has the layout of "
        "KLR HEAD (March 2026)",
    )


# Bad input


@pytest.mark.parametrize(
    ("data", "offset", "message"),
    [
        (b"", 0, "expected a KLR file, which starts with d9 d9 f7 83, found an empty file"),
        (b"{}", 0, "expected a KLR file, which starts with d9 d9 f7 83, found 7b 7d"),
        (b"\xd9\xd9\xf7\x84", 0, "expected a KLR file, which starts with d9 d9 f7 83, found d9 d9 f7 84"),
        (b"\xd9\xd9\xf7\x83\0\0\x0d" + EMPTY[7:], 4, "expected KLR version 0.0.12, found 0.0.13"),
        (
            b"\xd9\xd9\xf7\x83\0\0\xf5",
            6,
            "expected an unsigned integer of at most 32 bits for KLRFile.patch, found the Boolean true",
        ),
        (FRAME, len(FRAME), "expected a constructor of Contents (tag 236), found the end of the file"),
        (
            FRAME + bytes.fromhex("d9ec0581"),
            len(FRAME),
            "expected a constructor of Contents (tag 236), found constructor 5 of tag 236 with 1 field",
        ),
        (
            FRAME + bytes.fromhex("d9ec0381d9690084"),
            len(FRAME) + 4,
            "expected LncKernel (tag 108) with 7 fields, found Kernel with 4 fields",
        ),
        (
            FRAME + bytes.fromhex("d9ec0381d96c0088"),
            len(FRAME) + 4,
            "expected LncKernel (tag 108) with 7 fields, found LncKernel with 8 fields",
        ),
        (EMPTY + b"\0\0", len(EMPTY), "expected the end of the file after the kernel, found 2 more bytes"),
        (
            EMPTY[:-1],
            len(EMPTY) - 1,
            "expected a list of Edges for LncKernel.edges, found the end of the file",
        ),
        (
            EMPTY[:-1] + b"\x60",
            len(EMPTY) - 1,
            "expected a list of Edges for LncKernel.edges, found a text of length 0",
        ),
        (
            EMPTY[:-1] + b"\x9f",
            len(EMPTY) - 1,
            "expected a list of Edges for LncKernel.edges, found the byte 9f",
        ),
        (
            EMPTY[:-1] + b"\x98\x05",
            len(EMPTY) - 1,
            "expected a list of Edges for LncKernel.edges in its shortest form, found 5 in 1 more bytes",
        ),
        (
            EMPTY[:-1] + b"\x9b\x10" + bytes(7),
            len(EMPTY) - 1,
            f"expected a list of Edges for LncKernel.edges, found one that claims {2**60} elements "
            "with 0 bytes left in the file",
        ),
        (
            EMPTY[:-1] + b"\x9b\x10",
            len(EMPTY) + 1,
            "expected a list of Edges for LncKernel.edges, found the end of the file",
        ),
        (
            FRAME + LNC + b"\x65abc",
            len(FRAME + LNC) + 4,
            "expected 5 bytes of text for LncKernel.name, found the end of the file",
        ),
        (
            FRAME + LNC + b"\x62a\xff" + b"\x80" * 6,
            len(FRAME + LNC) + 2,
            "expected UTF-8 text for LncKernel.name, found the byte ff (invalid start byte)",
        ),
        (
            FRAME + LNC + b"\x41k" + b"\x80" * 6,
            len(FRAME + LNC),
            "expected a text of at most 65536 bytes for LncKernel.name, found a byte string of length 1",
        ),
    ],
)
def test_bad_frame(data: bytes, offset: int, message: str) -> None:
    assert failure(data) == (offset, message)


@pytest.mark.parametrize(
    ("contents", "what"),
    [
        ("d9ec0081 d90e0086", "a Python syntax tree"),
        ("d9ec0181 d90c0084", "an NKI syntax tree"),
        ("d9ec0481 616e", "the name of a call site"),
        ("d9ec0281 616e", "the name of a call site"),
    ],
)
def test_files_that_are_not_lowered(contents: str, what: str) -> None:
    assert failure(FRAME + bytes.fromhex(contents)) == (
        len(FRAME),
        f"expected a lowered kernel (Contents.lnc or Contents.kernel), found {what}",
    )


MOVE = write_klr(register_move(0))
IMM = MOVE.index(b"\x61r\x00") + 2


@pytest.mark.parametrize(
    ("encoded", "message"),
    [
        ("1a80000000", "expected {}, found the integer 2147483648"),
        ("3a80000000", "expected {}, found the integer -2147483649"),
        ("1bffffffffffffffff", "expected {}, found the integer 18446744073709551615"),
        ("1817", "expected {} in its shortest form, found 23 in 1 more bytes"),
        ("1900ff", "expected {} in its shortest form, found 255 in 2 more bytes"),
        ("1a0000ffff", "expected {} in its shortest form, found 65535 in 4 more bytes"),
        ("1b00000000ffffffff", "expected {} in its shortest form, found 4294967295 in 8 more bytes"),
        ("1c", "expected {}, found the byte 1c"),
        ("fa3f800000", "expected {}, found a 32-bit float"),
        ("fb3ff0000000000000", "expected {}, found the byte fb"),
        ("a0", "expected {}, found a map of length 0"),
        ("c100", "expected {}, found the byte c1"),
        ("d9ff0080", "expected {}, found an option with constructor 0 with 0 fields"),
        ("d96f0580", "expected {}, found Dtype.float32 with 0 fields"),
        ("d96f0500", "expected {}, found Dtype.float32 without a field count"),
    ],
)
def test_bad_integers(encoded: str, message: str) -> None:
    wrong = MOVE[:IMM] + bytes.fromhex(encoded) + MOVE[IMM + 1 :]
    assert failure(wrong) == (IMM, message.format("a signed integer of at most 32 bits for RegisterMove.imm"))


def replaced(file: KlrFile, old: str, new: str) -> tuple[bytes, int]:
    """The bytes of a file with its last `old` replaced, and the place."""
    data = write_klr(file)
    at = data.rindex(bytes.fromhex(old))
    return data[:at] + bytes.fromhex(new) + data[at + len(old) // 2 :], at


@pytest.mark.parametrize(
    ("old", "new", "shift", "message"),
    [
        ("fa40000000", "fb4000000000000000", 0, "expected a 32-bit float for Immediate.float.f, found the byte fb"),
        (
            "d96f0580",
            "d96f1480",
            0,
            "expected a member of Dtype (tag 111), found constructor 20 of tag 111 with 0 fields",
        ),
        ("d96f0580", "d96f0581", 0, "expected a member of Dtype (tag 111), found Dtype.float32 with 1 field"),
        (
            "d9830381",
            "d9830481",
            0,
            "expected a constructor of Immediate (tag 131), found constructor 4 of tag 131 with 1 field",
        ),
        (
            "d9800481 00",
            "d9800481 20",
            4,
            "expected a register number of at most 32 bits for TensorRef.register.reg, found the integer -1",
        ),
        ("f4", "f6", 0, "expected a Boolean for Block.noReorder, found the byte f6"),
        (
            "d9ff0080",
            "d9ff0280",
            0,
            "expected an option of String for Pos.filename, found an option with constructor 2 with 0 fields",
        ),
    ],
)
def test_bad_values(old: str, new: str, shift: int, message: str) -> None:
    data, at = replaced(memset(make("Immediate", "float", f=2.0)), old.replace(" ", ""), new)
    assert failure(data) == (at + shift, message)


def test_record_of_another_length() -> None:
    file = read(bytes_of("head/add"))
    data, _ = replaced(file, "d9990088", "d9990089")
    assert failure(data)[1] == "expected NcDmaCopy (tag 153) with 7 or 8 fields, found NcDmaCopy with 9 fields"


def test_accesses_nest_to_a_limit() -> None:
    file = load_of(nested_access(MAX_ACCESS_DEPTH))
    assert read(write_klr(file)) == file
    with pytest.raises(
        NkiError, match=r"^cannot write KLR: accesses nest more than 32 deep in their run-time offsets$"
    ):
        write_klr(load_of(nested_access(MAX_ACCESS_DEPTH + 1)))
    two = write_klr(load_of(nested_access(2)))
    start = two.index(bytes.fromhex("d97d0381"))
    level = two[start : two.index(bytes.fromhex("d97d0081"))]
    assert failure(two[:start] + level * 100_000) == (
        start + MAX_ACCESS_DEPTH * len(level),
        "accesses nest more than 32 deep in their run-time offsets",
    )


def test_a_claimed_length_allocates_nothing() -> None:
    claims = [EMPTY[:-1] + b"\x9b\x0f" + b"\xff" * 7, FRAME + LNC + b"\x7b\x0f" + b"\xff" * 7]
    failure(claims[0])
    tracemalloc.start()
    try:
        for data in claims:
            failure(data)
        assert tracemalloc.get_traced_memory()[1] < 2**20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("name", SAMPLES)
def test_truncated(name: str) -> None:
    data = bytes_of(name)
    every_prefix = name in ("head/add", "nxcc224/transpose_dve")
    for length in range(0, len(data), 1 if every_prefix else 1 + len(data) // 100):
        offset, _ = failure(data[:length])
        assert offset <= length


def same_bytes_or_error(data: bytes) -> None:
    try:
        file = read(data)
    except NkiError:
        offset, message = failure(data)
        assert 0 <= offset <= len(data)
        assert message
    else:
        assert write_klr(file) == data


@pytest.mark.parametrize("name", ["head/transpose_dve", "nxcc224/gather"])
def test_every_byte_changed(name: str) -> None:
    data = bytes_of(name)
    for index, byte in enumerate(data):
        for changed in {byte ^ 1, byte ^ 0x80, 0xFF} - {byte}:
            same_bytes_or_error(data[:index] + bytes((changed,)) + data[index + 1 :])


@settings(deadline=None, max_examples=500)
@given(st.sampled_from(sorted(SAMPLES)), st.lists(st.tuples(st.floats(0, 1), st.integers(0, 255)), max_size=4))
def test_random_bytes_changed(name: str, changes: list[tuple[float, int]]) -> None:
    data = bytearray(bytes_of(name))
    for where, byte in changes:
        data[min(int(where * len(data)), len(data) - 1)] = byte
    same_bytes_or_error(bytes(data))


@settings(deadline=None, max_examples=300)
@given(st.sampled_from(sorted(SAMPLES)), st.floats(0, 1), st.floats(0, 1), st.binary(max_size=12))
def test_random_pieces_replaced(name: str, start: float, stop: float, piece: bytes) -> None:
    data = bytes_of(name)
    first, last = sorted((int(start * len(data)), int(stop * len(data))))
    same_bytes_or_error(data[:first] + piece + data[last:])


@settings(deadline=None, max_examples=300)
@given(st.binary(max_size=64))
def test_random_contents(tail: bytes) -> None:
    same_bytes_or_error(tail)
    same_bytes_or_error(FRAME + tail)
    same_bytes_or_error(FRAME + LNC + tail)


# Values that cannot be written


@pytest.mark.parametrize(
    ("file", "message"),
    [
        (register_move(2**31), "expected a signed integer of at most 32 bits for RegisterMove.imm, got 2147483648"),
        (register_move(True), "expected a signed integer of at most 32 bits for RegisterMove.imm, got True"),
        (
            memset(make("Immediate", "register", reg=-1)),
            "expected a register number of at most 32 bits for Immediate.register.reg, got -1",
        ),
        (
            memset(make("Immediate", "float", f=1e39)),
            "expected a float of at most 32 bits for Immediate.float.f, got 1e+39",
        ),
        (memset(make("Immediate", "float", f=1)), "expected a float of at most 32 bits for Immediate.float.f, got 1"),
        (memset(make("DmaBounds", "skip")), "expected a value of Immediate, got DmaBounds.skip"),
        (
            with_operator("rng", make("Rng", dst=make("TensorRef", "register", reg=0), engine="gpu")),
            "expected a member of Engine, got 'gpu'",
        ),
        (
            with_operator("ncDmaCopy", make("LoadMaskRegister", regNum=0)),
            "expected a value of NcDmaCopy, got LoadMaskRegister",
        ),
        (
            with_operator(
                "coreBarrier", make("CoreBarrier", data=make("TensorRef", "register", reg=0), cores=[0], engine="sp")
            ),
            "expected a tuple of Int for CoreBarrier.cores, got [0]",
        ),
        (
            with_operator(
                "loadStationary", make("LoadStationary", src=make("TensorRef", "register", reg=0), isTranspose=1)
            ),
            "expected a Boolean for LoadStationary.isTranspose, got 1",
        ),
        (
            with_constants(make("SharedConstantFile", name="\ud800", fileName="")),
            "expected a text of at most 65536 bytes of UTF-8 for SharedConstantFile.name, got '\\ud800'",
        ),
        (
            replace(with_constants(), contents=make("Contents", "hlo", name="n")),
            "expected a value of Contents, got Contents.hlo",
        ),
        (replace(with_constants(), version=(0, 0, 13)), "expected version 0.0.12, got (0, 0, 13)"),
    ],
)
def test_unfit_values(file: KlrFile, message: str) -> None:
    with pytest.raises(NkiError) as caught:
        write_klr(file)
    assert str(caught.value) == f"cannot write KLR: {message}"


def test_unsigned_limit() -> None:
    file = memset(make("Immediate", "register", reg=INTEGERS["Reg"][0].stop - 1))
    assert read(write_klr(file)) == file
    with pytest.raises(NkiError, match="got 4294967296"):
        write_klr(memset(make("Immediate", "register", reg=2**32)))

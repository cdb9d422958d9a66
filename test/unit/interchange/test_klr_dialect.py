"""KLR files and the klr dialect: what is read says the same in the IR, and is written to the same bytes."""

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, DictionaryAttr, FileLineColLoc, FusedLoc, ModuleOp, StringAttr, UnknownLoc
from xdsl.ir import Operation
from xdsl.printer import Printer

from nki_mlir.diagnostics import Location, NkiError
from nki_mlir.dialects import get_all_dialects
from nki_mlir.dialects.instruction import InstructionOp, operands_of
from nki_mlir.dialects.klr import CmpBranchOp, KernelOp, NcDmaCopyOp, NcMatMulOp, TensorOp
from nki_mlir.interchange.klr import KlrFile, Layout, Record, make, read_klr, write_klr
from nki_mlir.interchange.klr.cbor import float_from_bits
from nki_mlir.interchange.klr.schema import TYPES, Field, FieldType
from nki_mlir.interchange.klr_dialect import klr_to_module, module_to_klr
from nki_mlir.interchange.klr_dialect.fields import FixedField
from nki_mlir.interchange.klr_dialect.operators import ROWS, ROWS_ON_DISK, Row
from nki_mlir.tools.mlir_parser import parse_mlir

DATA = Path(__file__).parents[2] / "data" / "klr"
LAYOUTS = {"head": Layout.HEAD, "nxcc224": Layout.NXCC_2_24}
READABLE = [
    "add",
    "exp",
    "matmul",
    "reduce",
    "layernorm",
    "transpose_pe",
    "transpose_dve",
    "dynloop",
    "shared_constant",
]
SAMPLES = [f"{layout}/{kernel}" for layout in LAYOUTS for kernel in READABLE]


def load(name: str) -> bytes:
    return (DATA / f"{name}.klr").read_bytes()


def module_of(data: bytes) -> ModuleOp:
    return klr_to_module(read_klr(data, "x.klr"))


def text_of(module: ModuleOp) -> str:
    """The module as text, with locations: they are part of a file."""
    stream = StringIO()
    Printer(stream, print_debuginfo=True).print_op(module)
    return stream.getvalue()


def parsed(text: str) -> ModuleOp:
    context = Context()
    context.load_dialect(Builtin)
    for name, factory in get_all_dialects().items():
        context.register_dialect(name, factory)
    return parse_mlir(context, text, "x.mlir")


def written(module: ModuleOp) -> bytes:
    return write_klr(module_to_klr(module))


def only(module: ModuleOp, kind: type[Any]) -> Any:
    (found,) = [op for op in module.walk() if isinstance(op, kind)]
    return found


# Building files --------------------------------------------------------------------------------------------------


def tensor(
    name: str = "t", *sizes: int, memory: str = "sbuf", dtype: str = "float32", size: int = 4, **address: Any
) -> Record:
    """A tensor of 128 x 64 elements unless `sizes` says otherwise."""
    partitions, *free = sizes or (128, 64)
    elements = 1
    for number in free:
        elements *= number
    rest: dict[str, Any] = {
        "name": name,
        "parSize": partitions,
        "freeSize": elements * size,
        "parOffset": None,
        "freeOffset": None,
        "isShared": False,
    }
    return make(
        "TensorName",
        name=name,
        dtype=dtype,
        shape=make("Shape", parDim=partitions, freeDims=tuple(free)),
        address=make("Address", memory=memory, **(rest | address)),
        freeElements=elements,
        addressRotation=True,
    )


def pattern(on: Record, offset: int, *pairs: tuple[int, int, int], **rest: Any) -> Record:
    fields: dict[str, Any] = {"scalarOffset": None, "vectorOffset": None, "indirectDim": 0, "dtypeOverride": None}
    made = tuple(make("APPair", step=step, num=num, offset=start) for step, num, start in pairs)
    access = make("BirAccessPattern", tensor=on, offset=offset, pattern=made, **(fields | rest))
    return reference("birPattern", access=access)


def reference(form: str, **fields: Any) -> Record:
    return make("TensorRef", "abstract", access=make("Access", form, **fields))


def whole(on: Record) -> Record:
    partitions, (free,) = on.shape
    return pattern(on, 0, (free, partitions, 0), (1, free, 0))


def position(**fields: Any) -> Record:
    return make("Pos", **({"line": 3, "column": 4, "lineEnd": 3, "columnEnd": 9, "filename": "k.py"} | fields))


def statement(ctor: str, op: Record, name: str | None = "inst.1", pos: Record | None = None) -> Record:
    return make("Stmt", "oper", op=make("Operator", ctor, op=op), name=name, pos=pos or position())


def file_of(*statements: Record, **kernel: Any) -> KlrFile:
    block = make("Block", label="main.1", noReorder=False, body=statements)
    fields: dict[str, Any] = {
        "name": "k",
        "inputs": (),
        "outputs": (),
        "bodies": ((block,),),
        "sharedConstants": (),
        "sharedBuffers": (),
        "edges": (),
    }
    return KlrFile((0, 0, 12), "NKI", make("Contents", "lnc", kernel=make("LncKernel", **(fields | kernel))))


def copy(src: Record, dst: Record | None = None, **fields: Any) -> Record:
    """An ncCopy statement."""
    op = make("NcCopy", dst=dst or whole(tensor("d")), src=src, dtype=None, engine="unassigned")
    return statement("ncCopy", op, **fields)


def memset(value: Record, dtype: str = "float32") -> Record:
    return statement("memSet", make("MemSet", dst=whole(tensor()), value=value, dtype=dtype, engine="dve"))


def through(file: KlrFile) -> ModuleOp:
    """Reads a file, checks that it comes back directly and by way of text, and returns its module."""
    data = write_klr(file)
    module = module_of(data)
    assert written(module) == data
    assert written(parsed(text_of(module))) == data
    return module


def access_text(file: KlrFile, role: str = "src") -> str:
    """How the access in a role of the only copy reads, registers as d0, d1, …"""
    module = through(file)
    copies = [op for op in module.walk() if isinstance(op, InstructionOp)]
    (use,) = [use for use in operands_of(copies[-1]) if use.role.name == role]
    return str(use.pattern).removeprefix("#nki.access<").removesuffix(">")


def refusal(file: KlrFile) -> tuple[str, Location | None]:
    """The message and place of the error that reading raises."""
    with pytest.raises(NkiError) as caught:
        module_of(write_klr(file))
    place = caught.value.location
    assert place is None or isinstance(place, Location)
    return str(caught.value), place


# The sample files ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SAMPLES)
def test_samples_verify_and_come_back(name: str) -> None:
    data = load(name)
    module = module_of(data)
    module.verify()
    assert written(module) == data
    again = parsed(text_of(module))
    again.verify()
    assert again.is_structurally_equivalent(module)
    assert written(again) == data


@pytest.mark.parametrize("kernel", READABLE)
def test_both_layouts_of_a_sample_are_the_same_ir(kernel: str) -> None:
    newest, older = (module_of(load(f"{layout}/{kernel}")) for layout in LAYOUTS)
    assert only(older, KernelOp).attributes.pop("klr.disk") == DictionaryAttr({"layout": StringAttr("nxcc224")})
    assert older.is_structurally_equivalent(newest)
    assert write_klr(module_to_klr(newest, Layout.NXCC_2_24)) == load(f"nxcc224/{kernel}").replace(
        b"kernels_nxcc224", b"kernels_head"
    )


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(
    ("kernel", "line", "message"),
    [
        ("gather", 2, "statement 'inst.5': ncDmaCopy.src: a tensor as offset (vectorOffset) is not supported"),
        ("lnc2", 3, "statement 'inst.5': operator 'sendRecv' is not supported"),
        ("allops", 1, "statement 'inst.1': operator 'activate' is not supported"),
    ],
)
def test_what_is_not_supported_is_one_error(layout: str, kernel: str, line: int, message: str) -> None:
    with pytest.raises(NkiError) as caught:
        module_of(load(f"{layout}/{kernel}"))
    assert str(caught.value) == message
    assert caught.value.location == Location("kernels_head.py", line, 5)


def test_every_other_operator_is_refused_by_name() -> None:
    allops: Sequence[Record] = read_klr(load("head/allops"), "x").contents.kernel.bodies[0][0].body
    assert len(allops) == 76
    refused = [one for one in allops if one.op.ctor not in ROWS_ON_DISK]
    assert len(refused) == 76 - len(ROWS)
    for one in refused:
        expected = f"statement '{one.name}': operator '{one.op.ctor}' is not supported"
        assert refusal(file_of(one)) == (expected, Location("kernels_head.py", one.pos.line, 5))


def test_rows_have_the_numbers_of_their_operators() -> None:
    for op, row in ROWS.items():
        assert TYPES["Operator"].constructors[op.OPCODE or 0].name == row.ctor
        assert [field.name for field in row.fields] == [field.name for field in row.record.constructor.fields]


def test_a_loop_at_run_time() -> None:
    module = module_of(load("head/dynloop"))
    loads = [op for op in module.walk() if isinstance(op, NcDmaCopyOp)]
    source = list(operands_of(loads[1]))[1]
    assert str(source.pattern) == "#nki.access<[8192*d0 : 64*128, 64] f32>"
    always, *compared = [op for op in module.walk() if isinstance(op, CmpBranchOp)]
    assert (always.left, always.false_label, always.true_label.data) == (None, None, "label.4")
    assert [str(op.comp_op.data) for op in compared] == ["always", "lt_reg", "lt_reg"]


def test_a_shared_constant() -> None:
    constant = next(op for op in module_of(load("head/shared_constant")).walk() if getattr(op, "file", None))
    assert isinstance(constant, TensorOp)
    assert (constant.sym.data, str(constant.tensor_kind)) == ("tmp.1", "const")
    assert constant.file is not None
    assert (DATA / "head" / constant.file.data).exists()


# Accesses --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("on", "offset", "pairs", "rest", "text"),
    [
        (tensor(), 0, [(64, 128, 0), (1, 64, 0)], {}, "[0 : 128 | 0 : 64] f32"),
        (tensor(), 2085, [(64, 32, 32), (1, 8, 37)], {}, "[32 : 32 | 37 : 8] f32"),
        # offsets of pairs that do not repeat the offset of the access, as `.ap()` leaves them
        (tensor(), 2085, [(64, 32, 0), (1, 8, 0)], {}, "[32 : 32 | 37 : 8] f32"),
        (tensor(), 63, [(64, 128, 0), (-1, 64, 0)], {}, "[0 : 128 | 63 : -1*64] f32"),
        (tensor(), 127 * 64, [(-64, 128, 0), (1, 64, 0)], {}, "[127 : -1*128 | 0 : 64] f32"),
        (tensor(), 0, [(64, 128, 0), (0, 8, 0), (1, 64, 0)], {}, "[0 : 128 | 0 : 0*8, 64] f32"),
        (tensor(), 0, [(0, 128, 0), (1, 64, 0)], {}, "[0 : 0*128 | 0 : 64] f32"),
        # two pairs of partitions; one element whose step is no whole partition; no pair of columns at all
        (tensor(), 0, [(2048, 4, 0), (64, 32, 0), (1, 64, 0)], {}, "[0 : 32*4, 32 | 0 : 64] f32"),
        (tensor(), 64, [(3, 1, 21), (1, 64, 1)], {}, "[1 : 1 | 0 : 64] f32"),
        (tensor(), 0, [(64, 128, 0)], {}, "[0 : 128 | 0 : 1] f32"),
        (tensor("t", 128, 1), 0, [(1, 128, 0), (1, 1, 0)], {}, "[0 : 128 | 0 : 1] f32"),
        # other types: a partition has more, fewer or as many elements
        (tensor(), 133, [(128, 128, 1), (1, 4, 5)], {"dtypeOverride": "bfloat16"}, "[1 : 128 | 5 : 4] bf16"),
        (tensor(), 35, [(32, 128, 1), (1, 4, 3)], {"dtypeOverride": "int64"}, "[1 : 128 | 3 : 4] i64"),
        (tensor(), 0, [(64, 128, 0), (1, 64, 0)], {"dtypeOverride": "float32"}, "[0 : 128 | 0 : 64] f32"),
        (tensor(), 0, [(256, 128, 0), (1, 4, 0)], {"dtypeOverride": "float8_e4m3"}, "[0 : 128 | 0 : 4] f8e4"),
        (tensor(), 0, [(64, 128, 0), (1, 64, 0)], {"indirectDim": 1}, "[0 : 128 | 0 : 64] f32"),
        # HBM is one space
        (tensor("x", 4, 3, 2, memory="hbm"), 11, [(6, 2, 1), (2, 1, 2), (1, 1, 1)], {}, "[11 : 6*2, 2*1, 1] f32"),
        (tensor("x", 256, 64, memory="hbm"), 8192, [(64, 128, 128), (1, 64, 0)], {}, "[8192 : 64*128, 64] f32"),
    ],
)
def test_patterns(on: Record, offset: int, pairs: list[Any], rest: dict[str, Any], text: str) -> None:
    assert access_text(file_of(copy(pattern(on, offset, *pairs, **rest)))) == text


def test_what_a_pattern_needs_is_all_that_is_kept() -> None:
    plain, shifted = (
        through(file_of(copy(pattern(tensor(), 2085, (64, 32, first), (1, 8, second)))))
        for first, second in ((32, 37), (0, 0))
    )
    for module, kept in ((plain, ""), (shifted, "{src = {pattern = array<i64: 64, 32, 0, 1, 8, 0>}}")):
        op = next(op for op in module.walk() if isinstance(op, InstructionOp))
        assert str(op.attributes.get("klr.disk", "")) == kept


@pytest.mark.parametrize(
    ("on", "dim", "text"),
    [
        (tensor("x", 8, 128, 64, memory="hbm"), 0, "[8192*d0 + 64 : 64*2, 1] f32"),
        (tensor("x", 8, 128, 64, memory="hbm"), 1, "[64*d0 + 64 : 64*2, 1] f32"),
        (tensor("x", 8, 128, 64, memory="hbm"), 2, "[d0 + 64 : 64*2, 1] f32"),
        (tensor(), 0, "[d0 + 1 : 2 | 0 : 1] f32"),
        (tensor(), 1, "[1 : 2 | d0 : 1] f32"),
        # the element behind a dimension of one element is also one step along the dimension before it
        (tensor("x", 8, 1, 64, memory="hbm"), 1, "[64*d0 + 64 : 64*2, 1] f32"),
    ],
)
def test_a_register_as_offset(on: Record, dim: int, text: str) -> None:
    register = make("ScalarOffset", "reg", r="reg.1")
    moved = pattern(on, 64, (64, 2, 1), (1, 1, 0), scalarOffset=register, indirectDim=dim)
    assert access_text(file_of(copy(moved))) == text


@pytest.mark.parametrize(
    ("on", "access", "text"),
    [
        (tensor("x", 4, 3, 2), reference("simple", tensor=tensor("x", 4, 3, 2)), "[0 : 4 | 0 : 2*3, 2] f32"),
        (tensor("x", 4, 3, 2), [1, (0, 3, 1), (0, 2, 1)], "[1 : 1 | 0 : 2*3, 2] f32"),
        (tensor("x", 4, 3, 2), [(0, 4, 1), (1, 3, 1), 1], "[0 : 4 | 3 : 2*2, 1] f32"),
        (tensor("x", 4, 10), [(0, 4, 1), (1, 10, 4)], "[0 : 4 | 1 : 4*3] f32"),
        (tensor("x", 4, 10), [(0, 4, 1), (9, 1, -3)], "[0 : 4 | 9 : -3*3] f32"),
    ],
)
def test_other_forms_of_access(on: Record, access: Any, text: str) -> None:
    if isinstance(access, list):
        indexes = tuple(
            make("Index", "coord", e=index)
            if isinstance(index, int)
            else make("Index", "slice", slice=make("Slice", **dict(zip(("l", "u", "step"), index, strict=True))))
            for index in access
        )
        access = reference("basic", access=make("AccessBasic", tensor=on, indexes=indexes))
    assert access_text(file_of(copy(access))) == text


SRAM = make("TensorSram", name="s", dtype="int8", parNum=1, pattern=(), parOffset=0, freeOffset=0)
SOME = (1, 1, 0)


@pytest.mark.parametrize(
    ("ref", "message"),
    [
        (make("TensorRef", "sbuf", view=SRAM), "a tensor reference of the form 'sbuf' is not supported"),
        (make("TensorRef", "register", reg=1), "a tensor reference of the form 'register' is not supported"),
        (
            reference(
                "pattern",
                access=make(
                    "AccessPattern", tensor=tensor(), parNum=1, pattern=(), parOffset=0, freeOffset=0, fixedAxis=()
                ),
            ),
            "an access of the form 'pattern' is not supported",
        ),
        (
            reference("basic", access=make("AccessBasic", tensor=tensor(), indexes=())),
            "0 indexes for a tensor of 2 dimensions",
        ),
        (pattern(tensor(), 0), "the access has no pairs"),
        (pattern(tensor(), 0, (64, 0, 0), SOME), "the number of a pair must be positive, got 0"),
        (
            pattern(tensor(), 0, (96, 2, 0), SOME),
            "the first pair steps 96 elements of f32, which is no whole number of partitions of 64",
        ),
        (
            pattern(tensor("t", 128, 3, dtype="bfloat16", size=2), 0, SOME, SOME, dtypeOverride="float32"),
            "a partition of 6 bytes has no whole number of elements of type f32",
        ),
        (
            pattern(tensor(), 0, SOME, scalarOffset=make("ScalarOffset", "acc", a=whole(tensor()).access)),
            "a tensor as offset (scalarOffset) is not supported, only a register is",
        ),
        (
            pattern(tensor(), 0, SOME, scalarOffset=make("ScalarOffset", "reg", r="r"), indirectDim=2),
            "indirectDim is 2, the tensor has 2 dimensions",
        ),
        (
            pattern(tensor(), 0, SOME, scalarOffset=make("ScalarOffset", "reg", r="r"), dtypeOverride="int8"),
            "a register as offset of an access as i8 to storage of f32 is not supported",
        ),
        (pattern(tensor(), 0, SOME, scalarOffset=make("ScalarOffset", "reg", r="")), "a register has no name"),
    ],
)
def test_accesses_that_are_refused(ref: Record, message: str) -> None:
    expected = f"statement 'inst.1': ncCopy.src: {message}"
    assert refusal(file_of(copy(ref))) == (expected, Location("k.py", 3, 5))


# Tensors ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("on", "text"),
    [
        (tensor(), '"t" {address_rotation} : !nki.mem<sbuf 128x64xf32>'),
        (tensor(parOffset=0, freeOffset=256), '"t" at <0, 256> {address_rotation} : !nki.mem<sbuf 128x64xf32>'),
        (
            tensor(name="t", freeSize=512),
            '"t" {address_size = array<i64: 128, 512>, address_rotation} : !nki.mem<sbuf 128x64xf32>',
        ),
        (tensor("t", 4, memory="private_hbm"), '"t" {address_rotation} : !nki.mem<private_hbm 4xf32>'),
        (
            tensor(dtype="float8_e4m3", size=1),
            '"t" {address_rotation, klr.disk = {dtype = "float8_e4m3"}} : !nki.mem<sbuf 128x64xf8e4>',
        ),
        (
            tensor(isShared=True),
            '"t" {address_rotation, klr.disk = {isShared = "true"}} : !nki.mem<sbuf 128x64xf32>',
        ),
    ],
)
def test_tensors(on: Record, text: str) -> None:
    declared = next(
        op
        for op in through(file_of(copy(reference("simple", tensor=on)))).walk()
        if op.name == "klr.tensor" and op.properties["name"] == StringAttr("t")
    )
    assert str(declared).partition(" = klr.tensor ")[2] == text


def test_tensors_of_one_buffer() -> None:
    on = tensor()
    view = on.__class__(("v", *on[1:]))
    module = through(file_of(copy(whole(view), whole(on))))
    names = {op.sym.data: op.address_name and op.address_name.data for op in module.walk() if isinstance(op, TensorOp)}
    assert names == {"t": None, "v": "t"}


@pytest.mark.parametrize(
    ("on", "message"),
    [
        (tensor("t", 0, 64), "the sizes of a storage must be positive, got 0x64"),
        (tensor(memory="reg"), "a register is not storage that an access can name; its type is !nki.reg"),
        (tensor(parSize=64), "128 partitions of 256 bytes do not fit within its address of 64 partitions of 256 bytes"),
        (tensor(parOffset=0), "its address has only one of parOffset and freeOffset"),
        (tensor().__class__((*tensor()[:4], 63, True)), "freeElements is 63, the shape has 64 elements a partition"),
        (
            tensor().__class__((*tensor()[:2], make("Shape", parDim=1, freeDims=(2**32 - 1,) * 20_000), *tensor()[3:])),
            "it is larger than any memory",
        ),
    ],
)
def test_tensors_that_are_refused(on: Record, message: str) -> None:
    expected = f"statement 'inst.1': ncCopy.src: tensor 't': {message}"
    assert refusal(file_of(copy(reference("simple", tensor=on))))[0] == expected
    assert refusal(file_of(inputs=(on,))) == (f"kernel 'k': tensor 't': {message}", Location("x.klr"))


def test_a_name_stands_for_one_tensor() -> None:
    message, _ = refusal(file_of(copy(whole(tensor("d", 128, 32)))))
    assert (
        message
        == "statement 'inst.1': ncCopy.src: tensor 'd' is described in two ways; names of tensors must be unique"
    )


# Kernels ---------------------------------------------------------------------------------------------------------


def test_kernels() -> None:
    x, y = tensor("x", memory="hbm"), tensor("y", memory="hbm")
    file = file_of(
        copy(whole(x)),
        inputs=(x, y),
        outputs=(y,),
        sharedBuffers=(y, tensor("z", memory="hbm")),
        edges=(make("Edges", fromEdge="a", toEdges=("b", "c")), make("Edges", fromEdge="d", toEdges=())),
    )
    kernel = only(through(file), KernelOp)
    assert str(kernel.edges) == '[["a", "b", "c"], ["d"]]'
    kinds = {op.sym.data: str(op.tensor_kind) for op in kernel.walk() if isinstance(op, TensorOp)}
    assert kinds == {"x": "external_input", "y": "external_input", "z": "internal", "d": "internal"}


def test_a_body_for_each_core() -> None:
    x = tensor("x", memory="hbm")
    blocks = tuple(make("Block", label=f"main.{n}", noReorder=n == 2, body=(copy(whole(x)),)) for n in (1, 2))
    module = through(file_of(inputs=(x,), bodies=((blocks[0],), blocks, ())))
    assert [len(list(op.body.block.ops)) for op in module.walk() if op.name == "klr.body"] == [3, 4, 0]


def test_facts_of_a_file_that_are_kept() -> None:
    plain = file_of(copy(whole(tensor())))
    through(replace(plain, metadata="KLR", layout=Layout.NXCC_2_24, proof_bytes=True))
    block = plain.contents.kernel.bodies[0][0]
    kernel = make("Kernel", name="k", inputs=(), outputs=(), body=(block,))
    module = through(replace(plain, contents=make("Contents", "kernel", kernel=kernel)))
    assert str(only(module, KernelOp).attributes["klr.disk"]) == '{contents = "kernel"}'


def test_a_kernel_without_body_is_refused() -> None:
    assert refusal(file_of(bodies=())) == ("kernel 'k' has no body", Location("x.klr"))


@pytest.mark.parametrize(
    "constants", [[("t", "a.npy")], [("unused", "b.npy"), ("t", "a.npy")], [("t", "a.npy"), ("t", "a.npy")]]
)
def test_shared_constants(constants: list[tuple[str, str]]) -> None:
    listed = tuple(make("SharedConstantFile", name=name, fileName=file) for name, file in constants)
    on = tensor(memory="hbm", isShared=True)
    module = through(file_of(copy(whole(on)), sharedConstants=listed))
    assert [op.file.data for op in module.walk() if isinstance(op, TensorOp) and op.file] == ["a.npy"]
    assert ("klr.disk" in only(module, KernelOp).attributes) == (len(constants) > 1)


# Statements ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "pos",
    [
        {"line": 0, "column": 0, "lineEnd": None, "columnEnd": None, "filename": None},
        {"lineEnd": None, "columnEnd": None},
        {"lineEnd": None},
        {"columnEnd": None, "filename": None},
        {"filename": "<kernel>"},
        {"filename": ""},
        {"line": 2**32 - 1, "column": 2**32 - 1},
    ],
)
def test_positions(pos: dict[str, Any]) -> None:
    through(file_of(copy(whole(tensor()), pos=position(**pos))))


def test_positions_are_locations() -> None:
    module = through(file_of(copy(whole(tensor()))))
    op = next(op for op in module.walk() if isinstance(op, InstructionOp))
    assert isinstance(op.location, FusedLoc)
    start = op.location.locations.data[0]  # pyright: ignore[reportAttributeAccessIssue]
    assert isinstance(start, FileLineColLoc)
    assert (start.filename.data, start.line.data, start.column.data) == ("k.py", 3, 5)


def test_an_op_without_location_has_no_position() -> None:
    module = module_of(write_klr(file_of(copy(whole(tensor())))))
    op = next(op for op in module.walk() if isinstance(op, InstructionOp))
    op.location = UnknownLoc()
    unknown = position(line=0, column=0, lineEnd=None, columnEnd=None, filename=None)
    assert module_to_klr(module) == file_of(copy(whole(tensor()), pos=unknown))


@pytest.mark.parametrize("name", [None, "", "inst.1", 'a "b" \\ c', "a\nb\0"])
def test_names(name: str | None) -> None:
    through(file_of(copy(whole(tensor()), name=name)))


def test_a_statement_without_name_is_told_by_its_place() -> None:
    op = make("MatchValueLoad", src=whole(tensor()))
    message, _ = refusal(file_of(copy(whole(tensor())), statement("matchValueLoad", op, name=None)))
    assert message == "statement 1 of block 'main.1': operator 'matchValueLoad' is not supported"


@pytest.mark.parametrize("bits", ["7fc00000", "ffc00000", "7f800001", "7f800000", "80000000", "00000001", "3dcccccd"])
def test_floats(bits: str) -> None:
    value = make("Immediate", "float", f=float_from_bits(bytes.fromhex(bits)))
    through(file_of(memset(value)))
    through(file_of(memset(make("Immediate", "int", i=-(2**31)), dtype="float8_e4m3")))


@pytest.mark.parametrize("form", ["pointer", "register"])
def test_immediates_that_are_refused(form: str) -> None:
    fields = {"reg": 1} if form == "register" else {}
    message, _ = refusal(file_of(memset(make("Immediate", form, **fields))))
    assert message == f"statement 'inst.1': memSet.value: an immediate of the form '{form}' is not supported"


def branch(**fields: Any) -> Record:
    given = {"reg1": "a", "reg2": "", "imm": 0, "op": "lt_imm", "trueLabel": "main.1", "falseLabel": "main.1"} | fields
    return statement("cmpBranch", make("CmpBranch", **given))


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"imm": -5},
        {"imm": 3, "reg2": "b"},
        {"op": "ge_reg", "reg2": "b", "imm": 7},
        {"op": "always", "reg1": "", "falseLabel": ""},
        {"op": "always", "reg1": "a", "reg2": "b", "imm": 2},
    ],
)
def test_branches(fields: dict[str, Any]) -> None:
    through(file_of(branch(**fields)))


def test_a_fields_value_that_the_dialect_does_not_have_is_refused() -> None:
    dma: dict[str, Any] = {
        "dst": whole(tensor("d")),
        "src": whole(tensor()),
        "compute_op": "none",
        "oobMode": make("DmaBounds", "skip"),
        "dgeMode": 2,
        "uniqueIndices": True,
        "priority": 3,
        "engine": "act",
    }

    def file(**fields: Any) -> KlrFile:
        return file_of(statement("ncDmaCopy", make("NcDmaCopy", **(dma | fields))))

    through(file())
    for fields, message in (
        ({"compute_op": "add"}, "compute_op: add is not supported"),
        ({"oobMode": make("DmaBounds", "reg", reg=1)}, "oobMode: bounds of the form 'reg' are not supported"),
        ({"dgeMode": 4}, "dgeMode: unknown DMA descriptor generation of KLR number 4; known: 3, 1, 2, 0"),
    ):
        assert refusal(file(**fields))[0] == f"statement 'inst.1': ncDmaCopy.{message}"


def test_a_ramp() -> None:
    def file(*pairs: tuple[int, int, int]) -> KlrFile:
        made = tuple(make("APPair", step=step, num=num, offset=offset) for step, num, offset in pairs)
        ramp = make("DataPattern", offset=-3, pattern=made, channelMultiplier=64)
        return file_of(statement("iota", make("Iota", dst=whole(tensor()), pattern=ramp, dtype="int32")))

    through(file((8, 8, 0), (-1, 8, 0)))
    for pairs, message in (
        ((), "the pattern has no pairs"),
        (((1, 0, 0),), "the number of a pattern pair must be positive, got 0"),
        (((1, 64, 2),), "an offset in a pair of a pattern is not supported"),
    ):
        assert refusal(file(*pairs))[0] == f"statement 'inst.1': iota.pattern: {message}"


# Writing ---------------------------------------------------------------------------------------------------------

HEAD = """
klr.kernel @k attributes {inputs = ["a"]} {
  klr.body 0 {
    %a = klr.tensor "a" : !nki.mem<hbm 128x64xf32>
    %t = klr.tensor "t" : !nki.mem<sbuf 128x64xf32>
    %p = klr.tensor "p" : !nki.mem<psum 64x64xf32>
    %r = klr.register "r"
    %s = klr.register "s"
    klr.block "main.1" {
"""


def test_text_becomes_a_file() -> None:
    source = HEAD + '      klr.nc_dma_copy "i" outs(%t[0 : 128 | 0 : 64] f32) ins(%a[0 : 64*128, 64] f32)\n}}}'
    kernel = module_to_klr(parsed(source)).contents.kernel
    (inside,) = kernel.bodies[0][0].body
    assert inside.pos == position(filename="x.mlir", line=10, column=6, lineEnd=None, columnEnd=None)
    assert inside.op.op.src == whole(
        tensor("a", memory="hbm", parSize=128).__class__((*tensor("a", memory="hbm")[:5], False))
    )
    assert inside.op.op[2:] == ("none", make("DmaBounds", "error"), 0, False, None, "unassigned")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            "klr.tensor_tensor abs_max outs(%t[0 : 128 | 0 : 64] f32)"
            " ins(%t[0 : 128 | 0 : 64] f32, %t[0 : 128 | 0 : 64] f32)",
            "KLR has no op 'abs_max'",
        ),
        (
            "klr.nc_mat_mul outs(%p[0 : 64 | 0 : 64] f32) ins(%t[0 : 128 | 0 : 64] f32, %t[0 : 128 | 0 : 64] f32)"
            " params(accumulate = 1)",
            "ncMatMul has no field for accumulate",
        ),
        (
            "klr.reciprocal on pool outs(%t[0 : 128 | 0 : 64] f32) ins(%t[0 : 128 | 0 : 64] f32)",
            "reciprocal has no field for the engine and runs on dve, not on pool",
        ),
        ("klr.mem_set outs(%t[0 : 128 | 0 : 64] f32) ins(0.0 : f32)", "dtype is missing, KLR needs it"),
        ("klr.register_move outs(%r) ins(%s)", "src must be an integer"),
        (
            "klr.nc_copy outs(%t[0 : 128 | 0 : 64] f32) ins(%t[%r - 1 : 1 | %s : 64] f32)",
            "KLR adds one register to an access, times the size of a dimension",
        ),
        (
            "klr.nc_dma_copy outs(%t[0 : 1 | 0 : 64] f32) ins(%a[3*%r : 64] f32)",
            "KLR multiplies a register by the elements that one step along a dimension skips, not by 3",
        ),
        (
            "klr.nc_dma_copy outs(%t[0 : 1 | 0 : 64] f32) ins(%a[64*%r - 64 : 64] f32)",
            "the access begins 64 elements before its tensor",
        ),
        (
            "klr.nc_copy outs(%t[0 : min(128, 64*%r) | 0 : 64] f32) ins(%t[0 : 128 | 0 : 64] f32)",
            "KLR has no masked accesses",
        ),
        (
            "klr.nc_copy outs(%t[0 : 128 | 0 : 64] f32) ins(%t[0 : 128 | 0 : 64] f32) when(%r ge 0)",
            "ncCopy has no field for when",
        ),
        (
            "klr.mem_set outs(%t[0 : 128 | 0 : 64] f32) ins(1e300 : f32) {dtype = #nki.dtype<f32>}",
            "1e+300 is too large for a 32-bit float",
        ),
        (
            "klr.mem_set outs(%t[0 : 128 | 0 : 64] f32) ins(4294967295 : u32) {dtype = #nki.dtype<u32>}",
            "4294967295 does not fit 32 bits with sign",
        ),
    ],
)
def test_what_klr_cannot_express(line: str, message: str) -> None:
    with pytest.raises(NkiError) as caught:
        module_to_klr(parsed(HEAD + f"      {line}\n}}}}}}"))
    assert str(caught.value) == f"'{line.split()[0]}' op cannot be written as KLR: {message}"
    assert caught.value.location == Location("x.mlir", 10, 7)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "a KLR file holds one klr.kernel; the module has 0 (it holds nothing)"),
        (
            "klr.kernel @a {klr.body 0 {}}\nklr.kernel @b {klr.body 0 {}}",
            "a KLR file holds one klr.kernel; the module has 2 (it holds klr.kernel)",
        ),
        ("klr.kernel @a {}", "'klr.kernel' op has no body, a kernel needs at least one"),
        ("klr.kernel @a {klr.body 1 {}}", "'klr.body' op is the body of core 1, expected that of core 0"),
        (
            'klr.kernel @a attributes {inputs = ["x"]} {klr.body 0 {}}',
            "'klr.kernel' op names 'x' in inputs, its first body declares no such tensor",
        ),
        (
            'klr.kernel @a {klr.body 0 {%a = klr.tensor "a" : !nki.mem<hbm 1xf32>\n'
            '%b = klr.tensor "a" : !nki.mem<hbm 1xf32>}}',
            "'klr.tensor' op is a second tensor of the name 'a'",
        ),
        (
            'klr.kernel @a {klr.body 0 {klr.block "m" {\n%r = klr.register "r"\n}}}',
            "'klr.register' op is no operator of KLR",
        ),
        (
            'klr.kernel @a attributes {inputs = ["a"]} {klr.body 0 {\n'
            '%a = klr.tensor "a" : !nki.mem<hbm 1xf32, blocks 2>}}',
            "'klr.tensor' op cannot be written as KLR: KLR has no block tensors",
        ),
    ],
)
def test_modules_that_are_no_file(text: str, message: str) -> None:
    with pytest.raises(NkiError) as caught:
        module_to_klr(parsed(text))
    assert str(caught.value) == message


@pytest.mark.parametrize(
    "kept",
    [
        "1 : i64",
        "{src = 1 : i64}",
        '{src = {form = "basic", indexes = [1 : i64]}, dtype = "bfloat16", pos = {lineEnd = 3 : i64}}',
        '{src = {form = "basic", indexes = [array<i64: 0>, array<i64: 0, 0, 0>]}}',
        "{src = {pattern = array<i64: 64, 128, 0>}, engine = 3 : i64}",
        '{src = {pattern = array<f32: 1.0>, dtypeOverride = "float8e4", indirectDim = -1 : i64}}',
    ],
)
def test_what_is_kept_counts_only_while_it_means_the_same(kept: str) -> None:
    line = "klr.nc_copy outs(%t[0 : 128 | 0 : 64] f32) ins(%t[0 : 128 | 0 : 64] f32) "
    texts = [HEAD + f"      {line}{extra}\n}}}}}}" for extra in ("", f"{{klr.disk = {kept}}}")]
    plain, other = (module_to_klr(parsed(text)) for text in texts)
    assert plain.contents == other.contents or "indirectDim" in kept


def test_a_changed_access_is_not_written_as_it_was_read() -> None:
    module = module_of(write_klr(file_of(copy(pattern(tensor(), 2085, (64, 32, 0), (1, 8, 0))))))
    source = text_of(module)
    assert "[32 : 32 | 37 : 8] f32" in source
    (changed,) = module_to_klr(parsed(source.replace("37 : 8]", "37 : 4]"))).contents.kernel.bodies[0][0].body
    assert changed.op.op.src == pattern(tensor(), 2085, (64, 32, 32), (1, 4, 37))


# Hostile files ---------------------------------------------------------------------------------------------------

INTEGERS = (0, 1, 2, 3, 7, 32, 63, 64, 65, 128, 512, 513, 65536, 2**31 - 1)
TEXTS = ("", "a", "t.2", 'a "b"', "\\", "%1", "a\nb\0", "reg.4", "<kernel>", "a" * 200)
KEPT_WHOLE = ("TensorName", "TensorRef", "Access", "BirAccessPattern")
SKELETON = ("Contents", "LncKernel", "Block", "Stmt")


def made_value(rng: random.Random, kind: FieldType) -> Any:
    """A value of a type that the codec can write."""
    if kind.optional:
        return None if rng.random() < 0.4 else made_value(rng, kind.inner)
    if kind.lists:
        return tuple(made_value(rng, kind.inner) for _ in range(rng.choice((0, 1, 1, 2))))
    scalars: dict[str, Callable[[], Any]] = {
        "Bool": lambda: rng.random() < 0.5,
        "String": lambda: rng.choice(TEXTS),
        "Float32": lambda: float_from_bits(rng.randbytes(4)),
        "Nat": lambda: rng.choice(INTEGERS),
        "Reg": lambda: rng.choice(INTEGERS),
    }
    if kind.name in ("Int", "Int32"):
        return rng.choice((-1, 1)) * rng.choice(INTEGERS)
    if kind.name in scalars:
        return scalars[kind.name]()
    entry = TYPES[kind.name]
    if entry.is_enum:
        return rng.choice(entry.constructors).name
    record = rng.choice(entry.records)
    return record(made_value(rng, field.type) for field in record.constructor.fields)


def mutated(rng: random.Random, value: Any, chance: float) -> Any:
    """A value with some of the fields inside it replaced."""
    if isinstance(value, tuple) and not isinstance(value, Record):
        return tuple(mutated(rng, item, chance) for item in value)
    if not isinstance(value, Record) or value.type == "TensorName":
        return value
    fields: list[Any] = []
    for field, item in zip(value.constructor.fields, value, strict=True):
        free = field.type.name not in KEPT_WHOLE and (value.type not in SKELETON or field.name in ("name", "pos"))
        fields.append(made_value(rng, field.type) if free and rng.random() < chance else mutated(rng, item, chance))
    return value.__class__(fields)


@pytest.mark.parametrize("seed", range(60))
def test_a_changed_file_is_refused_or_comes_back(seed: int) -> None:
    rng = random.Random(seed)
    file = read_klr(load(rng.choice(SAMPLES)), "x")
    file = replace(file, contents=mutated(rng, file.contents, rng.choice((0.003, 0.01))))
    try:
        data = write_klr(file)
        module = module_of(data)
    except NkiError:
        return
    assert written(module) == data
    assert written(parsed(text_of(module))) == data


def supported(rng: random.Random, field: Field, row: Row) -> Any:
    """A value of a field that the dialect holds."""
    fixed = next((one.value for one in row.fields if isinstance(one, FixedField) and one.name == field.name), SAMPLES)
    if fixed is not SAMPLES:
        return fixed
    number = make("Immediate", "float", f=rng.uniform(-1, 1).as_integer_ratio()[0] / 2**40)
    given: dict[str, Callable[[], Any]] = {
        "TensorRef": lambda: whole(tensor(rng.choice("abc"))),
        "Operand": lambda: rng.choice((make("Operand", "tile", t=whole(tensor())), make("Operand", "imm", i=number))),
        "Immediate": lambda: number,
        "DataPattern": lambda: make(
            "DataPattern",
            offset=rng.choice((0, -5)),
            pattern=(make("APPair", step=-1, num=64, offset=0),),
            channelMultiplier=rng.choice((0, 64)),
        ),
        "DmaBounds": lambda: make("DmaBounds", rng.choice(("skip", "error"))),
        "Nat": lambda: rng.choice(INTEGERS if field.type.optional or field.type.lists else range(4)),
        "String": lambda: rng.choice(("r", "é·♥")),
    }
    made = given.get(field.type.name)
    if made is None or (field.type.optional and rng.random() < 0.5):
        return None if made else made_value(rng, field.type)
    return tuple(made() for _ in range(rng.choice((0, 2)))) if field.type.lists else made()


@pytest.mark.parametrize("ctor", ROWS_ON_DISK)
def test_every_field_of_every_operator(ctor: str) -> None:
    row, rng = ROWS_ON_DISK[ctor], random.Random(ctor)
    for _ in range(12):
        op = row.record([supported(rng, field, row) for field in row.record.constructor.fields])
        data = write_klr(file_of(statement(ctor, op)))
        assert written(module_of(data)) == data


def test_the_matmul_has_no_accumulation_on_disk() -> None:
    matmul = only(module_of(load("head/matmul")), NcMatMulOp)
    assert isinstance(matmul, Operation)
    assert matmul.accumulate is None

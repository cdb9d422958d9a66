"""From the klr dialect to a KLR file."""

from collections.abc import Mapping, Sequence
from typing import TypeVar, cast

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, StringAttr
from xdsl.ir import Attribute, Operation, SSAValue

from nki_mlir.diagnostics import NkiError
from nki_mlir.dialects.access import Access
from nki_mlir.dialects.instruction import InstructionOp, Use, operands_of
from nki_mlir.dialects.klr.structure import BlockOp, BodyOp, KernelOp, RegisterOp, TensorOp
from nki_mlir.dialects.locations import place_of
from nki_mlir.interchange.klr.codec import VERSION, KlrFile
from nki_mlir.interchange.klr.schema import Layout, Record, make
from nki_mlir.interchange.klr_dialect.accesses import encode
from nki_mlir.interchange.klr_dialect.fields import Said
from nki_mlir.interchange.klr_dialect.operators import ROWS, Row
from nki_mlir.interchange.klr_dialect.positions import position_of
from nki_mlir.interchange.klr_dialect.reader import LAYOUTS, USUAL_METADATA, constants_of
from nki_mlir.interchange.klr_dialect.tensors import kept_of, write_tensor

T = TypeVar("T", bound=Operation)


def module_to_klr(module: ModuleOp, layout: Layout | None = None) -> KlrFile:
    """Returns the KLR file of the one `klr.kernel` in a module, which has to verify.

    A kernel that was read from a file gives the same file again, where no pass has changed it. The layout is the one
    that was read, or the newest, unless `layout` says otherwise. A target (`arch`) has no place in a file.

    Raises NkiError, at the op's place, for what a KLR file cannot hold.
    """
    kernels = [op for op in module.ops if isinstance(op, KernelOp)]
    if len(kernels) != 1:
        found = ", ".join(sorted({op.name for op in module.ops})) or "nothing"
        raise NkiError(
            f"a KLR file holds one klr.kernel; the module has {len(kernels)} (it holds {found})",
            place_of(module.location),
        )
    return _kernel(kernels[0], layout)


def _fail(op: Operation, message: object) -> NkiError:
    return NkiError(f"'{op.name}' op {message}", place_of(op.location))


def _kernel(kernel: KernelOp, layout: Layout | None) -> KlrFile:
    kept = kept_of(kernel.attributes)
    bodies = _only(kernel, BodyOp)
    if not bodies:
        raise _fail(kernel, "has no body, a kernel needs at least one")
    for core, body in enumerate(bodies):
        if body.core.value.data != core:
            raise _fail(body, f"is the body of core {body.core.value.data}, expected that of core {core}")
    writers = [_BodyWriter(body) for body in bodies]
    names = writers[0].names

    def tensors(name: str) -> tuple[Record, ...]:
        found: list[Record] = []
        for text in _texts(kernel.properties.get(name)):
            if text not in names:
                raise _fail(kernel, f"names '{text}' in {name}, its first body declares no such tensor")
            found.append(writers[0].tensor(names[text]))
        return tuple(found)

    written = tuple(writer.blocks() for writer in writers)
    head = {"name": kernel.sym_name.data, "inputs": tensors("inputs"), "outputs": tensors("outputs")}
    constants = _constants(bodies, kept.get("sharedConstants"))
    buffers, edges = tensors("shared_buffers"), _edges(kernel)
    if kept.get("contents") == StringAttr("kernel") and len(written) == 1 and not (constants or buffers or edges):
        contents = make("Contents", "kernel", kernel=make("Kernel", **head, body=written[0]))
    else:
        lnc = make("LncKernel", **head, bodies=written, sharedConstants=constants, sharedBuffers=buffers, edges=edges)
        contents = make("Contents", "lnc", kernel=lnc)
    as_read, metadata = kept.get("layout"), kept.get("format")
    if layout is None:
        layout = LAYOUTS.get(as_read.data, Layout.HEAD) if isinstance(as_read, StringAttr) else Layout.HEAD
    text = metadata.data if isinstance(metadata, StringAttr) else USUAL_METADATA
    return KlrFile(VERSION, text, contents, layout, "proofs" in kept)


def _only(parent: Operation, kind: type[T]) -> list[T]:
    """Returns the ops inside `parent`, which all have to be of a kind."""
    found: list[T] = []
    for op in (op for block in parent.regions[0].blocks for op in block.ops):
        if not isinstance(op, kind):
            raise _fail(op, f"has no place in a KLR file, where {parent.name} holds {kind.name} only")
        found.append(op)
    return found


def _texts(attribute: Attribute | None) -> list[str]:
    members = cast("ArrayAttr[Attribute]", attribute).data if isinstance(attribute, ArrayAttr) else ()
    return [member.data for member in members if isinstance(member, StringAttr)]


def _edges(kernel: KernelOp) -> tuple[Record, ...]:
    made: list[Record] = []
    for edge in kernel.edges or ():
        names = _texts(edge)
        made.append(make("Edges", fromEdge=names[0], toEdges=tuple(names[1:])))
    return tuple(made)


def _constants(bodies: Sequence[BodyOp], kept: Attribute | None) -> tuple[Record, ...]:
    """Returns the shared constants, in the order in which they were read if these are the same."""
    used = constants_of(bodies)
    if isinstance(kept, ArrayAttr):
        as_read = [tuple(_texts(pair)) for pair in cast("ArrayAttr[Attribute]", kept)]
        if all(len(pair) == 2 for pair in as_read) and set(used) <= set(as_read):
            return tuple(make("SharedConstantFile", name=pair[0], fileName=pair[1]) for pair in as_read)
    return tuple(make("SharedConstantFile", name=name, fileName=file) for name, file in used)


class _BodyWriter:
    """One body; a tensor is written once, so that all its uses are one object."""

    def __init__(self, body: BodyOp) -> None:
        self.op = body
        self.names: dict[str, TensorOp] = {}
        self.records: dict[TensorOp, Record] = {}
        self.accesses: dict[tuple[object, ...], Record] = {}
        registers: set[str] = set()
        for op in body.body.block.ops:
            if isinstance(op, TensorOp):
                if op.sym.data in self.names:
                    raise _fail(op, f"is a second tensor of the name '{op.sym.data}'")
                self.names[op.sym.data] = op
            elif isinstance(op, RegisterOp):
                if op.sym.data in registers:
                    raise _fail(op, f"is a second register of the name '{op.sym.data}'")
                registers.add(op.sym.data)
            elif not isinstance(op, BlockOp):
                raise _fail(op, "has no place in a KLR file, where a body holds tensors, registers and blocks only")

    def blocks(self) -> tuple[Record, ...]:
        return tuple(self.block(op) for op in self.op.body.block.ops if isinstance(op, BlockOp))

    def block(self, op: BlockOp) -> Record:
        statements = tuple(self.statement(statement) for statement in op.body.block.ops)
        return make("Block", label=op.label.data, noReorder=op.no_reorder is not None, body=statements)

    def statement(self, op: Operation) -> Record:
        row = ROWS.get(cast("type[InstructionOp]", type(op)))
        if row is None or not isinstance(op, InstructionOp):
            raise _fail(op, "is no operator of KLR")
        kept = kept_of(op.attributes)
        try:
            operator = self.operator(op, row, kept)
        except NkiError as error:
            raise _fail(op, f"cannot be written as KLR: {error}") from error
        name = None if op.inst_name is None else op.inst_name.data
        return make("Stmt", "oper", op=operator, name=name, pos=position_of(op.location, kept.get("pos")))

    def operator(self, op: InstructionOp, row: Row, kept: Mapping[str, Attribute]) -> Record:
        for name in op.properties.keys() - row.covered:
            raise NkiError(f"{row.ctor} has no field for {name}")
        if row.engine is not None and op.engine is not None and op.engine.data is not row.engine:
            raise NkiError(f"{row.ctor} has no field for the engine and runs on {row.engine}, not on {op.engine.data}")
        said = Said({use.role.name: use for use in operands_of(op)}, op.properties, kept)
        return row.operator((row.record([field.write(said, self) for field in row.fields]),))

    def tensor(self, op: TensorOp) -> Record:
        record = self.records.get(op)
        if record is None:
            try:
                record = self.records[op] = write_tensor(op)
            except NkiError as error:
                raise _fail(op, f"cannot be written as KLR: {error}") from error
        return record

    def access(self, use: Use, kept: Attribute | None) -> Record:
        """Returns the tensor reference of an operand."""
        if not isinstance(use.pattern, Access) or use.storage is None:
            raise NkiError(f"{use.label} must be storage")
        owner = use.storage.owner
        if not isinstance(owner, TensorOp):
            raise NkiError(f"{use.label} is in storage that no klr.tensor declares")
        tensor = self.tensor(owner)
        registers = tuple(self.register(value) for value in use.indices)
        key = use.pattern, use.storage, registers, kept
        known = self.accesses.get(key)
        if known is None:
            details: Mapping[str, Attribute] = kept.data if isinstance(kept, DictionaryAttr) else {}
            access = encode(use.pattern, owner.mem, tensor, registers[0] if registers else None, details)
            known = self.accesses[key] = make("TensorRef", "abstract", access=access)
        return known

    def register(self, value: SSAValue) -> str:
        owner = value.owner
        if not isinstance(owner, RegisterOp):
            raise NkiError("an index value is no register; KLR has no loop variables")
        return owner.sym.data

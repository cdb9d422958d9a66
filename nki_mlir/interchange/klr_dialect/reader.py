"""From a KLR file to the klr dialect."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    IntegerAttr,
    LocationAttr,
    ModuleOp,
    StringAttr,
    UnitAttr,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.utils.exceptions import VerifyException

from nki_mlir.diagnostics import Location, NkiError
from nki_mlir.dialects.attributes import REG
from nki_mlir.dialects.blocks import block_of
from nki_mlir.dialects.instruction import Given, InstructionOp, build
from nki_mlir.dialects.klr.structure import BlockOp, BodyOp, KernelOp, RegisterOp, TensorOp
from nki_mlir.interchange.klr.codec import KlrFile
from nki_mlir.interchange.klr.schema import Layout, Record
from nki_mlir.interchange.klr_dialect.accesses import decode
from nki_mlir.interchange.klr_dialect.fields import Found
from nki_mlir.interchange.klr_dialect.operators import ROWS_ON_DISK
from nki_mlir.interchange.klr_dialect.positions import Locations, error_location
from nki_mlir.interchange.klr_dialect.tensors import DISK, name_hint, read_tensor
from nki_mlir.isa.enums import TensorKind

LAYOUTS = {"nxcc224": Layout.NXCC_2_24, "head": Layout.HEAD}
"""The layouts of the format by the names that text and tools use."""

USUAL_METADATA = "NKI"


def klr_to_module(file: KlrFile) -> ModuleOp:
    """Returns a module with one `klr.kernel`, which is not verified yet.

    Statements have their positions as locations; the layout and other facts of the file are kept on the kernel.
    Raises NkiError, at the statement's position in the kernel's source, for what the dialect cannot hold.
    """
    try:
        return ModuleOp([_KernelReader(file).kernel()])
    except NkiError as error:
        if error.location is None:
            error.location = Location(file.name)
        else:
            error.add_note(f"in the KLR file '{file.name}'")
        raise


class _KernelReader:
    """What the bodies of a kernel share."""

    def __init__(self, file: KlrFile) -> None:
        self.file = file
        self.record: Record = file.contents.kernel
        self.is_lnc = file.contents.ctor == "lnc"
        self.locations = Locations()
        self.files: dict[str, str] = {}
        self.kinds: dict[str, TensorKind] = {}
        # A tensor that is both is an input: the caller has to provide it.
        for tensors, kind in (
            (self.record.outputs, TensorKind.EXTERNAL_OUTPUT),
            (self.record.inputs, TensorKind.EXTERNAL_INPUT),
        ):
            self.kinds.update((tensor.name, kind) for tensor in tensors)

    def kernel(self) -> KernelOp:
        record = self.record
        bodies: Sequence[Sequence[Record]] = record.bodies if self.is_lnc else (record.body,)
        if not bodies:
            raise NkiError(f"kernel '{record.name}' has no body")
        properties: dict[str, Attribute] = {"sym_name": StringAttr(record.name)}
        lists: list[tuple[str, Sequence[Record]]] = [("inputs", record.inputs), ("outputs", record.outputs)]
        constants: tuple[Record, ...] = ()
        if self.is_lnc:
            constants = record.sharedConstants
            lists.append(("shared_buffers", record.sharedBuffers))
            for constant in constants:
                self.files.setdefault(constant.name, constant.fileName)
            if record.edges:
                properties["edges"] = ArrayAttr([_strings((edge.fromEdge, *edge.toEdges)) for edge in record.edges])
        for name, tensors in lists:
            if tensors:
                properties[name] = _strings(tensor.name for tensor in tensors)
        declared = [tensor for _, tensors in lists for tensor in tensors]
        ops = [
            _BodyReader(self).body(core, blocks, declared if core == 0 else ()) for core, blocks in enumerate(bodies)
        ]
        kept = self.facts()
        used = constants_of(ops)
        if [(constant.name, constant.fileName) for constant in constants] != used:
            kept["sharedConstants"] = ArrayAttr([_strings(constant) for constant in constants])
        return KernelOp.create(
            properties=properties,
            attributes={DISK: DictionaryAttr(kept)} if kept else {},
            regions=[Region(block_of(ops))],
        )

    def facts(self) -> dict[str, Attribute]:
        """Returns what is to be kept of the file beside its kernel."""
        file = self.file
        kept: dict[str, Attribute] = {}
        if file.layout is not Layout.HEAD:
            kept["layout"] = StringAttr(next(name for name, layout in LAYOUTS.items() if layout is file.layout))
        if file.metadata != USUAL_METADATA:
            kept["format"] = StringAttr(file.metadata)
        if file.proof_bytes:
            kept["proofs"] = UnitAttr()
        if not self.is_lnc:
            kept["contents"] = StringAttr("kernel")
        return kept


def _strings(texts: Iterable[str]) -> ArrayAttr[StringAttr]:
    return ArrayAttr([StringAttr(text) for text in texts])


def constants_of(bodies: Iterable[BodyOp]) -> list[tuple[str, str]]:
    """Returns name and file of the shared constants, in the order in which the bodies declare them."""
    found: dict[str, str] = {}
    for body in bodies:
        for op in body.body.block.ops:
            if isinstance(op, TensorOp) and op.file is not None:
                found.setdefault(op.sym.data, op.file.data)
    return list(found.items())


_PLAIN: Callable[[Record], tuple[Any, ...]] = tuple
"""Gives the fields of a record, whose hash and comparison are quicker than its own."""

Operand = tuple[Given, Attribute | None]
"""What a tensor reference becomes, and what is to be kept of it."""


class _Tensor:
    """A tensor that a body has declared, and the accesses to it so far."""

    __slots__ = ("accesses", "op", "record")

    def __init__(self, record: Record, op: TensorOp) -> None:
        self.record = record
        self.op = op
        self.accesses: dict[object, Operand] = {}


class _BodyReader:
    """One body: its tensors and registers are declared as statements name them."""

    def __init__(self, kernel: _KernelReader) -> None:
        self.kernel = kernel
        self.declarations: list[Operation] = []
        self.tensors: dict[int, _Tensor] = {}
        """By the identity of the record, which equal tensors of a file share."""
        self.by_name: dict[str, _Tensor] = {}
        self.registers: dict[str, SSAValue] = {}
        self.location: LocationAttr | None = None
        """Of the statement that is being read."""

    def body(self, core: int, blocks: Sequence[Record], declared: Iterable[Record]) -> BodyOp:
        for tensor in declared:
            try:
                self.tensor(tensor)
            except (NkiError, VerifyException) as error:
                raise NkiError(f"kernel '{self.kernel.record.name}': {error}") from error
        labelled = [self.block(block) for block in blocks]
        region = Region(Block([*self.declarations, *labelled]))
        return BodyOp.create(properties={"core": IntegerAttr(core, i64)}, regions=[region])

    def block(self, block: Record) -> BlockOp:
        label, no_reorder, statements = block
        properties: dict[str, Attribute] = {"label": StringAttr(label)}
        if no_reorder:
            properties["no_reorder"] = UnitAttr()
        ops = [self.statement(statement, label, number) for number, statement in enumerate(statements)]
        return BlockOp.create(properties=properties, regions=[Region(block_of(ops))])

    def statement(self, statement: Record, label: str, number: int) -> InstructionOp:
        operator, name, pos = statement
        found = Found()
        try:
            row = ROWS_ON_DISK.get(operator.ctor)
            if row is None:
                raise NkiError(f"operator '{operator.ctor}' is not supported")
            self.location, kept = self.kernel.locations.of(pos)
            if kept is not None:
                found.kept["pos"] = kept
            record = operator.op
            for field in row.fields:
                found.field = f"{operator.ctor}.{field.name}: "
                field.read(record, self, found)
        except (NkiError, VerifyException) as error:
            which = f"statement {number} of block '{label}'" if name is None else f"statement '{name}'"
            raise NkiError(f"{which}: {found.field}{error}", error_location(pos)) from error
        if name is not None:
            found.properties["name"] = StringAttr(name)
        attributes: dict[str, Attribute] = {DISK: DictionaryAttr(found.kept)} if found.kept else {}
        return build(row.op, found.roles, found.properties, attributes=attributes, location=self.location)

    def tensor(self, record: Record) -> "_Tensor":
        """Returns the declaration of a tensor."""
        known = self.tensors.get(id(record))
        if known is None:
            known = self.tensors[id(record)] = self.declare(record)
        return known

    def declare(self, record: Record) -> "_Tensor":
        name = record.name
        known = self.by_name.get(name)
        if known is not None:
            if known.record != record:
                raise NkiError(f"tensor '{name}' is described in two ways; names of tensors must be unique")
            return known
        file = self.kernel.files.get(name)
        kind = self.kernel.kinds.get(name)
        if kind is None and file is not None:
            kind = TensorKind.CONST
        try:
            op = read_tensor(record, kind, file)
        except (NkiError, VerifyException) as error:
            raise NkiError(f"tensor '{name}': {error}") from error
        if self.location is not None:
            op.location = self.location
        self.declarations.append(op)
        known = self.by_name[name] = _Tensor(record, op)
        return known

    def access(self, ref: Record) -> Operand:
        if ref.ctor != "abstract":
            raise NkiError(f"a tensor reference of the form '{ref.ctor}' is not supported")
        access: Record = ref.access
        match access.ctor:
            case "birPattern":
                record: Record = access.access
                tensor, offset, pattern, scalar, vector, dim, override = record
                # A kernel has few patterns a tensor and many statements.
                key: object = (offset, tuple(map(_PLAIN, pattern)), dim, override)
                if scalar is None and vector is None:
                    known = self.tensor(tensor).accesses.get(key)
                    if known is not None:
                        return known
            case "simple":
                tensor, key, scalar = access.tensor, "simple", None
            case _:
                tensor, key, scalar = access.access.tensor, access, None
        declared = self.tensor(tensor)
        decoded = decode(access, declared.op.mem)
        registers = () if scalar is None else (self.register(scalar.r),)
        given = Given(decoded.access, declared.op.results[0], registers)
        operand = given, DictionaryAttr(decoded.kept) if decoded.kept else None
        if scalar is None:
            declared.accesses[key] = operand
        return operand

    def register(self, name: str) -> SSAValue:
        known = self.registers.get(name)
        if known is None:
            if not name:
                raise NkiError("a register has no name")
            op = RegisterOp.create(result_types=[REG], properties={"name": StringAttr(name)})
            op.results[0].name_hint = name_hint(name)
            self.declarations.append(op)
            known = self.registers[name] = op.results[0]
        return known

"""Tensors: `TensorName` of a KLR file is a `klr.tensor`."""

from collections.abc import Mapping

from xdsl.dialects.builtin import DenseArrayBase, DictionaryAttr, StringAttr, UnitAttr, i64
from xdsl.ir import Attribute, SSAValue

from nki_mlir.diagnostics import NkiError
from nki_mlir.dialects.attributes import MAXIMUM_BYTES, MemFields, MemType, TensorKindAttr
from nki_mlir.dialects.klr.structure import TensorOp
from nki_mlir.interchange.klr.schema import TYPES, Record, make
from nki_mlir.interchange.klr_dialect.accesses import DTYPES, dtype_name, numbers_of
from nki_mlir.isa.enums import MemorySpace, TensorKind

DISK = "klr.disk"
"""The attribute of an op that keeps what was read and the op itself cannot give back, by the names of fields on disk.

The writer takes what is kept only where it still means what the op says.
"""

_SPACES = {member.name: MemorySpace.from_klr(number) for number, member in enumerate(TYPES["Memory"].constructors)}
_SPACE_NAMES = {space: name for name, space in _SPACES.items()}


def read_tensor(record: Record, kind: TensorKind | None, file: str | None) -> TensorOp:
    """Returns the op of a tensor; `file` is that of a shared constant.

    Raises NkiError or VerifyException for a tensor that cannot exist.
    """
    address, dtype = record.address, DTYPES[record.dtype]
    shape: tuple[int, ...] = (record.shape.parDim, *record.shape.freeDims)
    free = 1
    for size in shape[1:]:
        free *= size
        if free > MAXIMUM_BYTES:
            raise NkiError("it is larger than any memory")
    if free != record.freeElements:
        raise NkiError(f"freeElements is {record.freeElements}, the shape has {free} elements a partition")
    if shape[0] > address.parSize or free * dtype.size > address.freeSize:
        raise NkiError(
            f"{shape[0]} partitions of {free * dtype.size} bytes do not fit within its address of"
            f" {address.parSize} partitions of {address.freeSize} bytes"
        )
    mem = MemType(MemFields(_SPACES[address.memory], shape, dtype))
    properties: dict[str, Attribute] = {"name": StringAttr(record.name)}
    if kind is not None:
        properties["kind"] = TensorKindAttr(kind)
    if (address.parOffset is None) != (address.freeOffset is None):
        raise NkiError("its address has only one of parOffset and freeOffset")
    if address.parOffset is not None:
        properties["places"] = DenseArrayBase.from_list(i64, [address.parOffset, address.freeOffset])
    if address.name != record.name:
        properties["address_name"] = StringAttr(address.name)
    if (address.parSize, address.freeSize) != (shape[0], free * dtype.size):
        properties["address_size"] = DenseArrayBase.from_list(i64, [address.parSize, address.freeSize])
    if record.addressRotation:
        properties["address_rotation"] = UnitAttr()
    if file is not None:
        properties["file"] = StringAttr(file)
    kept: dict[str, Attribute] = {}
    if dtype_name(dtype) != record.dtype:
        kept["dtype"] = StringAttr(record.dtype)
    if address.isShared != (file is not None):
        kept["isShared"] = StringAttr(str(address.isShared).lower())
    op = TensorOp.create(
        result_types=[mem], properties=properties, attributes={DISK: DictionaryAttr(kept)} if kept else {}
    )
    op.results[0].name_hint = name_hint(record.name)
    return op


def name_hint(name: str) -> str | None:
    """Returns the name of a value in text for a name on disk; None if that has no letter to begin with."""
    hint = "".join(c if c.isascii() and (c.isalnum() or c in "_$.-") else "_" for c in name[:128])
    return hint if SSAValue.is_valid_name(hint) else None


def write_tensor(op: TensorOp) -> Record:
    """Returns the tensor of an op; raises NkiError for one that KLR cannot express."""
    mem = op.mem
    if mem.blocks != 1:
        raise NkiError("KLR has no block tensors")
    if not mem.shape:
        raise NkiError("a tensor of KLR needs a partition dimension")
    if not mem.on_chip and mem.space not in _SPACE_NAMES:
        raise NkiError(f"KLR has no memory {mem.space}")
    kept = kept_of(op.attributes)
    free = mem.row if mem.on_chip else mem.row // mem.shape[0]
    name = op.sym.data
    size = numbers_of(op.address_size)
    if op.address_size is not None and len(size) != 2:
        raise NkiError("address_size must be two numbers: partitions, and bytes of each")
    par_size, free_size = size or (mem.shape[0], free * mem.dtype.size)
    place = op.placement(0)
    shared = kept.get("isShared")
    address = make(
        "Address",
        name=name if op.address_name is None else op.address_name.data,
        memory=_SPACE_NAMES[mem.space],
        parSize=par_size,
        freeSize=free_size,
        parOffset=None if place is None else place[0],
        freeOffset=None if place is None else place[1],
        isShared=shared.data == "true" if isinstance(shared, StringAttr) else op.file is not None,
    )
    return make(
        "TensorName",
        name=name,
        dtype=kept_name(kept.get("dtype"), DTYPES, mem.dtype) or dtype_name(mem.dtype),
        shape=make("Shape", parDim=mem.shape[0], freeDims=mem.shape[1:]),
        address=address,
        freeElements=free,
        addressRotation=op.address_rotation is not None,
    )


def kept_name(kept: Attribute | None, names: Mapping[str, object], meant: object) -> str | None:
    """Returns a name on disk that was kept, if it still means what the op says."""
    if isinstance(kept, StringAttr) and kept.data in names and names[kept.data] == meant:
        return kept.data
    return None


def kept_of(attributes: Mapping[str, Attribute]) -> Mapping[str, Attribute]:
    """Returns what was kept of the form on disk of an op, by field."""
    found = attributes.get(DISK)
    return found.data if isinstance(found, DictionaryAttr) else {}

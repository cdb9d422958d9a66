"""Access patterns: those of a KLR file count in one row-major space, partitions included; ours keep partitions apart.

On disk an access has an offset and pairs (step, num, offset), the first of which is that of the partitions. The unit is
an element of the access's type. With R the elements of one partition of the tensor, offset = partition * R + column,
and a step of n partitions is n * R. The offsets of the pairs repeat the offset in mixed radix: offset = sum of step *
offset. HBM has no partitions and stays one space.

What the attribute cannot give back is kept under the names on disk (`kept`), and only where it is not what would be
written anyway: `form` (simple, basic), `indexes`, `pattern`, `dtypeOverride`, `indirectDim`.

Source: KLR reference, §1.3, §4 and §5.1.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, cast

from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, IntegerAttr, StringAttr, i64
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from nki_mlir.diagnostics import NkiError
from nki_mlir.dialects import affine
from nki_mlir.dialects.access import Access, AccessFields, Pair, row_major
from nki_mlir.dialects.affine import Expr
from nki_mlir.dialects.attributes import MemType
from nki_mlir.interchange.klr.schema import TYPES, Record, make
from nki_mlir.isa.dtypes import Dtype

DTYPES = {member.name: Dtype.from_klr(number) for number, member in enumerate(TYPES["Dtype"].constructors)}
"""Types by their name on disk; `float8_e4m3` is a second name of `float8e4`."""

Triple = tuple[int, int, int]
"""A pair as it is on disk: step, num, offset."""


class Decoded(NamedTuple):
    """An access of the IR, what it cannot give back, and whether it takes a register as index value."""

    access: Access
    kept: dict[str, Attribute]
    register: bool


def dtype_name(dtype: Dtype) -> str:
    """Returns the name of a type on disk."""
    if dtype.klr_name is None:
        raise NkiError(f"KLR has no type {dtype}")
    return dtype.klr_name


# Reading --------------------------------------------------------------------------------------------------------


def decode(access: Record, mem: MemType) -> Decoded:
    """Returns the access of the IR for an access on disk to storage of type `mem`.

    Raises NkiError for a form that the IR does not have, and VerifyException for a pair without elements.
    """
    match access.ctor:
        case "birPattern":
            return _decode_pattern(access.access, mem)
        case "simple":
            return Decoded(mem.whole(), {"form": StringAttr("simple")}, False)
        case "basic":
            return _decode_basic(access.access, mem)
        case form:
            raise NkiError(f"an access of the form '{form}' is not supported")


def _decode_pattern(record: Record, mem: MemType) -> Decoded:
    if record.vectorOffset is not None:
        raise NkiError("a tensor as offset (vectorOffset) is not supported")
    scalar = record.scalarOffset
    if scalar is not None and scalar.ctor != "reg":
        raise NkiError("a tensor as offset (scalarOffset) is not supported, only a register is")
    override = record.dtypeOverride
    dtype = mem.dtype if override is None else DTYPES[override]
    fields = _fields(mem, dtype, record.offset, [(step, num) for step, num, _ in record.pattern])
    if scalar is not None:
        fields = _with_register(fields, mem, record.indirectDim)
    access = Access(fields)
    kept: dict[str, Attribute] = {}
    written = _pattern_of(access, mem)
    pattern = [tuple(pair) for pair in record.pattern]
    if written.pattern != pattern:
        kept["pattern"] = DenseArrayBase.from_list(i64, [number for triple in pattern for number in triple])
    if written.override != override:
        kept["dtypeOverride"] = StringAttr(cast(str, override))
    if written.dim != record.indirectDim:
        kept["indirectDim"] = IntegerAttr(record.indirectDim, i64)
    return Decoded(access, kept, scalar is not None)


def _fields(mem: MemType, dtype: Dtype, offset: int, pairs: Sequence[tuple[int, int]]) -> AccessFields:
    if not pairs:
        raise NkiError("the access has no pairs")
    if not mem.on_chip:
        return AccessFields(0, None, None, offset, tuple(Pair(step, num) for step, num in pairs), dtype)
    row = _row(mem, dtype)
    partition, column = divmod(offset, row)
    partitions: list[Pair] = []
    for step, num in pairs:
        count, rest = divmod(step, row)
        if not partitions:
            if rest and num != 1:
                raise NkiError(
                    f"the first pair steps {step} elements of {dtype}, which is no whole number of partitions of {row}"
                )
            partitions.append(Pair(1 if rest else count, num))
        elif not rest and step and num != 1:
            partitions.append(Pair(count, num))
        else:
            break
    columns = tuple(Pair(step, num) for step, num in pairs[len(partitions) :])
    return AccessFields(0, partition, tuple(partitions), column, columns or (Pair(1, 1),), dtype)


def _row(mem: MemType, dtype: Dtype) -> int:
    row, rest = divmod(mem.row_bytes, dtype.size)
    if rest or not row:
        raise NkiError(f"a partition of {mem.row_bytes} bytes has no whole number of elements of type {dtype}")
    return row


def _with_register(fields: AccessFields, mem: MemType, dim: int) -> AccessFields:
    """Adds register d0, times the elements that one step along dimension `dim` of the tensor skips."""
    if not 0 <= dim < len(mem.shape):
        raise NkiError(f"indirectDim is {dim}, the tensor has {len(mem.shape)} dimensions")
    _same_size(mem, fields.dtype)
    factor = _units(mem)[dim]
    if fields.partition is None or factor % mem.row:
        return fields._replace(offset=affine.add(affine.multiply(factor, affine.index(0)), fields.offset))
    partition = affine.add(affine.multiply(factor // mem.row, affine.index(0)), fields.partition)
    return fields._replace(partition=partition)


def _units(mem: MemType) -> list[int]:
    """Returns how many elements one step along each dimension skips."""
    return [step for step, _, _ in row_major(mem.shape)]


def _same_size(mem: MemType, dtype: Dtype) -> None:
    if dtype.size != mem.dtype.size:
        raise NkiError(f"a register as offset of an access as {dtype} to storage of {mem.dtype} is not supported")


def _decode_basic(record: Record, mem: MemType) -> Decoded:
    indexes: Sequence[Record] = record.indexes
    if len(indexes) != len(mem.shape):
        raise NkiError(f"{len(indexes)} indexes for a tensor of {len(mem.shape)} dimensions")
    offset = 0
    pairs: list[tuple[int, int]] = []
    kept: list[Attribute] = []
    for axis, (index, unit) in enumerate(zip(indexes, _units(mem), strict=True)):
        if index.ctor == "coord":
            start, step, num = index.e, 1, 1
            kept.append(DenseArrayBase.from_list(i64, [start]))
        else:
            start, stop, step = index.slice
            if step == 0:
                raise NkiError(f"index {axis} is a slice with step 0")
            num = len(range(start, stop, step))
            kept.append(DenseArrayBase.from_list(i64, [start, stop, step]))
        offset += unit * start
        pairs.append((unit * step, num))
    access = Access(_fields(mem, mem.dtype, offset, pairs))
    return Decoded(access, {"form": StringAttr("basic"), "indexes": ArrayAttr(kept)}, False)


# Writing --------------------------------------------------------------------------------------------------------


class _Pattern(NamedTuple):
    """The numbers of a `birPattern` access."""

    offset: int
    pattern: list[Triple]
    dim: int
    override: str | None


def encode(access: Access, mem: MemType, tensor: Record, register: str | None, kept: Mapping[str, Attribute]) -> Record:
    """Returns the access on disk: a `birPattern`, or what `kept` says if that still means the same.

    Raises NkiError for an access that KLR cannot express.
    """
    found = _pattern_of(access, mem)
    if kept:
        as_read = _as_read(found, tensor, register, kept)
        if as_read is not None and _means(as_read, mem, access):
            return as_read
    return _bir_pattern(found, tensor, register)


def _bir_pattern(found: _Pattern, tensor: Record, register: str | None) -> Record:
    record = make(
        "BirAccessPattern",
        tensor=tensor,
        offset=found.offset,
        pattern=tuple(make("APPair", step=step, num=num, offset=offset) for step, num, offset in found.pattern),
        scalarOffset=None if register is None else make("ScalarOffset", "reg", r=register),
        vectorOffset=None,
        indirectDim=found.dim,
        dtypeOverride=found.override,
    )
    return make("Access", "birPattern", access=record)


def _pattern_of(access: Access, mem: MemType) -> _Pattern:
    """Returns how an access is written unless it was read otherwise."""
    block, partition, partition_pairs, offset, pairs, dtype, indirect = access.data
    if block != 0:
        raise NkiError("KLR has no block tensors")
    if access.masked:
        raise NkiError("KLR has no masked accesses")
    if indirect is not None:
        raise NkiError("an access that is indexed by a tensor is not supported")
    linear: Expr = offset
    all_pairs = [(step, number) for step, number, _ in pairs]
    if partition is not None and partition_pairs is not None:
        row = _row(mem, dtype)
        linear = affine.add(affine.multiply(row, partition), offset)
        all_pairs = [(step * row, number) for step, number, _ in partition_pairs] + all_pairs
    dim = 0
    if not isinstance(linear, int):
        dim = _dimension(linear.terms, mem, dtype)
        linear = linear.constant
    if linear < 0:
        raise NkiError(f"the access begins {-linear} elements before its tensor")
    rest = linear
    pattern: list[Triple] = []
    for step, number in all_pairs:
        steps = 0
        if step > 0:
            steps, rest = divmod(rest, step)
        pattern.append((step, number, steps))
    return _Pattern(linear, pattern, dim, None if dtype is mem.dtype else dtype_name(dtype))


def _dimension(terms: Sequence[tuple[int, Any]], mem: MemType, dtype: Dtype) -> int:
    """Returns the dimension of the tensor along which a register moves the access."""
    if len(terms) != 1 or not isinstance(terms[0][1], int):
        raise NkiError("KLR adds one register to an access, times the size of a dimension")
    _same_size(mem, dtype)
    factor = terms[0][0]
    units = _units(mem)
    if factor not in units:
        raise NkiError(
            f"KLR multiplies a register by the elements that one step along a dimension skips, not by {factor}"
        )
    return units.index(factor)


def _as_read(found: _Pattern, tensor: Record, register: str | None, kept: Mapping[str, Attribute]) -> Record | None:
    """Returns the access with what was kept of it; None if that is not well formed."""
    form, indexes = kept.get("form"), kept.get("indexes")
    if form == StringAttr("simple"):
        return make("Access", "simple", tensor=tensor)
    if form == StringAttr("basic") and isinstance(indexes, ArrayAttr):
        made = [_index(numbers_of(index)) for index in cast("ArrayAttr[Attribute]", indexes)]
        known = tuple(index for index in made if index is not None)
        if len(known) != len(made):
            return None
        return make("Access", "basic", access=make("AccessBasic", tensor=tensor, indexes=known))
    if (numbers := numbers_of(kept.get("pattern"))) and len(numbers) % 3 == 0:
        found = found._replace(pattern=list(zip(numbers[::3], numbers[1::3], numbers[2::3], strict=True)))
    if isinstance(dtype := kept.get("dtypeOverride"), StringAttr) and dtype.data in DTYPES:
        found = found._replace(override=dtype.data)
    if isinstance(dim := kept.get("indirectDim"), IntegerAttr):
        found = found._replace(dim=dim.value.data)
    return _bir_pattern(found, tensor, register)


def _index(numbers: Sequence[int]) -> Record | None:
    match numbers:
        case (coord,):
            return make("Index", "coord", e=coord)
        case (start, stop, step):
            return make("Index", "slice", slice=make("Slice", l=start, u=stop, step=step))
        case _:
            return None


def numbers_of(attribute: Attribute | None) -> tuple[int, ...]:
    """Returns the numbers of a dense array of integers; none for anything else."""
    if isinstance(attribute, DenseArrayBase):
        values = cast("tuple[Any, ...]", attribute.get_values())
        if all(isinstance(value, int) for value in values):
            return values
    return ()


def _means(record: Record, mem: MemType, access: Access) -> bool:
    """Whether an access on disk is read as `access`."""
    try:
        return decode(record, mem).access is access
    except (NkiError, VerifyException):
        return False

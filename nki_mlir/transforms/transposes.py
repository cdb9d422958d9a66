"""Transposes, which BIR has as two instructions: a matmul by the identity on the Tensor engine, and one of its own on
the Vector engine.

Where no engine is chosen the destination decides, as the documentation of the newest API has it: PSUM is written by the
Tensor engine, SBUF by the Vector engine. (The published KLR to BIR translation takes the Vector engine for every fp32
result and the Tensor engine for all others, which could not write SBUF. Either way the bits are the same, and one rule
gives both front ends the same instructions.)

Sources: Penguin reference, §5.5; KLR reference, §2 and §5.2; NKI ISA reference, §2.3, nc_transpose.
"""

from collections.abc import Sequence
from math import prod
from typing import cast

from xdsl.dialects.builtin import IntegerAttr, StringAttr, UnitAttr, i64
from xdsl.ir import Attribute, Operation, SSAValue

from nki_mlir.dialects import bir
from nki_mlir.dialects.access import Access, AccessFields, Pair, numbered
from nki_mlir.dialects.attributes import (
    AluOpAttr,
    EngineAttr,
    Immediate,
    MemFields,
    MemType,
    PatternAttr,
    PatternFields,
)
from nki_mlir.dialects.instruction import Given, InstructionOp, build, given_roles, guard_of
from nki_mlir.isa.dtypes import Dtype
from nki_mlir.isa.enums import AluOp, Engine, MemorySpace
from nki_mlir.isa.instructions.matmul import INPUTS
from nki_mlir.transforms.lowering import Conversion

SIZE = 128
"""Rows and columns of the array of the Tensor engine."""
VECTOR_LIMIT = 32
"""Partitions and elements a partition that the Vector engine transposes at most."""

_CARRIERS = {1: Dtype.U8, 2: Dtype.BF16, 4: Dtype.F32}
"""By size, the type as which the Tensor engine moves elements of a type that it cannot multiply."""


def check_transpose(op: InstructionOp) -> str | None:
    """Returns why no engine can run a transpose, or None."""
    return None if _engine(op) is not None else _reason(op)


def lower_transpose(op: InstructionOp, conversion: Conversion) -> Sequence[Operation]:
    """Returns the instruction that transposes on the engine of the op, or on the one that fits."""
    roles = cast("dict[str, Given]", given_roles(op))
    dst, data = roles["dst"], roles["data"]
    engine = _engine(op) or Engine.DVE
    properties: dict[str, Attribute] = {"engine": EngineAttr(engine)}
    if engine is not Engine.PE:
        new = build(bir.StreamTransposeOp, roles, properties, when=guard_of(op), attributes=op.attributes)
        return (new,)
    dtype = _carrier(_access(data).data.dtype)
    identity = conversion.at_head(op, dtype, lambda taken: _identity(dtype, taken))
    corner, order = _corner(_access(data), dtype)
    factors = {
        "dst": _viewed(dst, dtype),
        "stationary": _viewed(data, dtype),
        "moving": Given(corner, identity.results[0], [data.indices[k] for k in order]),
    }
    properties |= {"is_transpose": UnitAttr(), "is_moving_onezero": UnitAttr()}
    return (build(bir.MatmultOp, factors, properties, when=guard_of(op), attributes=op.attributes),)


def _engine(op: InstructionOp) -> Engine | None:
    """Returns the engine to run a transpose on, or None if there is none."""
    chosen = None if op.engine is None else op.engine.data
    if chosen in (Engine.PE, Engine.DVE):
        return chosen
    roles = cast("dict[str, Given]", given_roles(op))
    dst, data = roles["dst"], roles["data"]
    sides = _sides(_access(data))
    if _space(dst) is MemorySpace.PSUM and _space(data) is MemorySpace.SBUF and max(sides) <= SIZE:
        return Engine.PE
    return Engine.DVE if max(sides) <= VECTOR_LIMIT else None


def _reason(op: InstructionOp) -> str:
    roles = cast("dict[str, Given]", given_roles(op))
    rows, columns = _sides(_access(roles["data"]))
    return (
        f"transposes {rows} x {columns} elements from {_space(roles['data'])} to {_space(roles['dst'])}, but engine pe"
        f" transposes at most {SIZE} x {SIZE} from sbuf to psum, engine dve at most {VECTOR_LIMIT} x {VECTOR_LIMIT}"
    )


def _access(given: Given) -> Access:
    return cast(Access, given.pattern)


def _space(given: Given) -> MemorySpace:
    return cast(MemType, cast(SSAValue, given.storage).type).space


def _sides(access: Access) -> tuple[int, int]:
    """Returns the partitions and elements a partition of an access, masks left aside."""
    return prod(p.number for p in access.data.partition_pairs or ()), prod(p.number for p in access.data.pairs)


def _carrier(dtype: Dtype) -> Dtype:
    return dtype if dtype in INPUTS else _CARRIERS.get(dtype.size, dtype)


def _viewed(given: Given, dtype: Dtype) -> Given:
    return given._replace(pattern=Access(_access(given).data._replace(dtype=dtype)))


def _corner(data: Access, dtype: Dtype) -> tuple[Access, tuple[int, ...]]:
    """Returns the access to as many rows and columns of the identity as the data has partitions; a mask shrinks it."""
    pairs = data.data.partition_pairs or ()
    if data.partitions is not None:
        pairs = (Pair(1, data.partitions),)
    return numbered(AccessFields(0, 0, pairs, 0, pairs, dtype))


def _identity(dtype: Dtype, taken: set[str]) -> Sequence[Operation]:
    """Returns the identity matrix of an element type and the instructions that write it, those of the KLR tracer: all
    zeros, then 1 where partition and element are equal."""
    names, count = (f"identity_{dtype}", f"memset_id.{dtype}", f"affsel_id.{dtype}"), 0
    while not taken.isdisjoint(names):
        count += 1
        names = (f"identity_{dtype}.{count}", f"memset_id.{dtype}.{count}", f"affsel_id.{dtype}.{count}")
    name, memset_name, select_name = names
    kind = MemType(MemFields(MemorySpace.SBUF, (SIZE, SIZE), dtype))
    storage = bir.TensorOp.create(result_types=[kind], properties={"name": StringAttr(name)})
    storage.results[0].name_hint = name
    whole = Given(kind.whole(), storage.results[0])
    zeros = build(
        bir.MemsetOp,
        {"dst": whole, "value": Given(Immediate.of(0.0, Dtype.F32))},
        {"name": StringAttr(memset_name)},
    )
    diagonal = build(
        bir.TensorScalarAffineSelectOp,
        {"dst": whole, "on_true": whole, "on_false": Given(Immediate.of(1.0, Dtype.F32))},
        {
            "name": StringAttr(select_name),
            "cmp_op": AluOpAttr(AluOp.NOT_EQUAL),
            "pattern": PatternAttr(PatternFields(((1, SIZE),))),
            "channel_multiplier": IntegerAttr(-1, i64),
        },
    )
    return storage, zeros, diagonal

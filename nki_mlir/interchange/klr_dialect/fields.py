"""How each kind of field of an operator's record is read into an op and written from it.

A field knows its place in the record and what it becomes: a role, a property. What these cannot give back is kept under
the field's name.
"""

from collections.abc import Mapping
from functools import cache
from math import nan
from typing import Any, NamedTuple, Protocol, cast

from xdsl.dialects.builtin import IntegerAttr, StringAttr, UnitAttr, i64
from xdsl.ir import Attribute, SSAValue

from nki_mlir.diagnostics import NkiError
from nki_mlir.dialects import attributes as nki
from nki_mlir.dialects.attributes import (
    REGISTER,
    DtypeAttr,
    ExprAttr,
    ExprFields,
    Immediate,
    PatternAttr,
    PatternFields,
    RegisterAttr,
)
from nki_mlir.dialects.instruction import Given, Use
from nki_mlir.interchange.klr.cbor import INTEGERS, bits_from_float, float_from_bits
from nki_mlir.interchange.klr.schema import TYPES, FieldType, Record, make
from nki_mlir.interchange.klr_dialect.accesses import DTYPES
from nki_mlir.interchange.klr_dialect.tensors import kept_name
from nki_mlir.isa.dtypes import Dtype
from nki_mlir.isa.enums import DgeType, OobMode, TensorScalarReverse

ENUMS: dict[str, type[nki.EnumAttr[Any]]] = {
    "AccumCmd": nki.AccumulateCommandAttr,
    "ActivationFunc": nki.ActivationFunctionAttr,
    "AluOp": nki.AluOpAttr,
    "BrCmpOp": nki.BranchCompareOpAttr,
    "Engine": nki.EngineAttr,
    "MatmulPerfMode": nki.PerfModeAttr,
    "TensorSubDim": nki.AxisListAttr,
}
"""The attribute of each enum of the format; members are matched by their numbers."""

_INT32 = INTEGERS["Int32"][0]
_PLAIN_NAN = bits_from_float(nan)


class Found:
    """What has been read of a statement: operands by role, properties, what is kept by field; `field` is the current
    one."""

    __slots__ = ("field", "kept", "properties", "roles")

    def __init__(self) -> None:
        self.field = ""
        self.roles: dict[str, Given] = {}
        self.properties: dict[str, Attribute] = {}
        self.kept: dict[str, Attribute] = {}


class Said(NamedTuple):
    """What an op says: its operands by role, its properties, and what was kept of its form on disk by field."""

    uses: Mapping[str, Use]
    properties: Mapping[str, Attribute]
    kept: Mapping[str, Attribute]


class ReadBody(Protocol):
    """What reading a field needs of the body that the statement stands in."""

    def access(self, ref: Record) -> tuple[Given, Attribute | None]:
        """Returns the operand of a tensor reference, and what is to be kept of it."""
        ...

    def register(self, name: str) -> SSAValue: ...


class WrittenBody(Protocol):
    """What writing a field needs of the body that the op stands in."""

    def access(self, use: Use, kept: Attribute | None) -> Record: ...

    def register(self, value: SSAValue) -> str: ...


class Field:
    """A field at place `index` of its record. `target` is the role or property that it becomes."""

    def __init__(self, index: int, name: str, target: str) -> None:
        self.index = index
        self.name = name
        self.target = target

    @property
    def targets(self) -> tuple[str, ...]:
        """The roles and properties that the field stands for."""
        return (self.target,)

    def read(self, record: Record, body: ReadBody, found: Found) -> None:
        """Puts the field of a record into `found`; raises NkiError for what the dialect cannot hold."""
        raise NotImplementedError

    def write(self, op: Said, body: WrittenBody) -> Any:
        """Returns the field's value for an op; raises NkiError for what KLR cannot express."""
        raise NotImplementedError


# Operands -------------------------------------------------------------------------------------------------------


class AccessField(Field):
    """`TensorRef`, `TensorRef?`: storage in a role."""

    def read(self, record: Record, body: ReadBody, found: Found) -> None:
        if (ref := record[self.index]) is not None:
            self.read_ref(ref, body, found)

    def read_ref(self, ref: Record, body: ReadBody, found: Found) -> None:
        found.roles[self.target], kept = body.access(ref)
        if kept is not None:
            found.kept[self.name] = kept

    def write(self, op: Said, body: WrittenBody) -> Any:
        use = op.uses.get(self.target)
        return None if use is None else body.access(use, op.kept.get(self.name))


class NumberField(Field):
    """`Immediate`: a number in a role."""

    def read(self, record: Record, body: ReadBody, found: Found) -> None:
        found.roles[self.target] = Given(self.number(record[self.index], found))

    def number(self, immediate: Record, found: Found) -> Immediate:
        if immediate.ctor == "int":
            return Immediate.of(immediate.i, Dtype.I32)
        if immediate.ctor != "float":
            raise NkiError(f"an immediate of the form '{immediate.ctor}' is not supported")
        value: float = immediate.f
        if value == value:
            return Immediate.of(value, Dtype.F32)
        bits = bits_from_float(value)
        if bits is not None and bits != _PLAIN_NAN:
            found.kept[self.name] = IntegerAttr(int.from_bytes(bits, "big"), i64)
        return Immediate.of(nan, Dtype.F32)

    def write(self, op: Said, body: WrittenBody) -> Any:
        return self.immediate(cast(Immediate, op.uses[self.target].pattern), op)

    def immediate(self, number: Immediate, op: Said) -> Record:
        value, dtype = number.data
        if dtype.is_integer:
            return make("Immediate", "int", i=int32(int(value)))
        if bits_from_float(float(value)) is None:
            raise NkiError(f"{value} is too large for a 32-bit float")
        kept = op.kept.get(self.name)
        if value != value and isinstance(kept, IntegerAttr) and 0 <= kept.value.data < 1 << 32:
            as_read = float_from_bits(kept.value.data.to_bytes(4, "big"))
            value = value if as_read == as_read else as_read
        return make("Immediate", "float", f=float(value))


def int32(value: int) -> int:
    """Returns a number that fits; raises NkiError for another."""
    if value not in _INT32:
        raise NkiError(f"{value} does not fit 32 bits with sign")
    return value


class OperandField(AccessField, NumberField):
    """`Operand`, `Operand?`: storage or a number in a role; 1.0 stands for an absent one if `default` is set."""

    def __init__(self, index: int, name: str, target: str, default: float | None) -> None:
        super().__init__(index, name, target)
        self.default = default

    def read(self, record: Record, body: ReadBody, found: Found) -> None:
        operand = record[self.index]
        if operand is None:
            return
        if operand.ctor == "tile":
            self.read_ref(operand.t, body, found)
            return
        number = self.number(operand.i, found)
        if self.default is None or number is not Immediate.of(self.default, Dtype.F32):
            found.roles[self.target] = Given(number)

    def write(self, op: Said, body: WrittenBody) -> Any:
        use = op.uses.get(self.target)
        if use is None:
            if self.default is None:
                return None
            return make("Operand", "imm", i=make("Immediate", "float", f=self.default))
        if isinstance(use.pattern, Immediate):
            return make("Operand", "imm", i=self.immediate(use.pattern, op))
        return make("Operand", "tile", t=body.access(use, op.kept.get(self.name)))


class IntegerField(Field):
    """`Int32`: a number in a role."""

    def read(self, record: Record, body: ReadBody, found: Found) -> None:
        found.roles[self.target] = Given(Immediate.of(record[self.index], Dtype.I32))

    def write(self, op: Said, body: WrittenBody) -> Any:
        return integer_of(op.uses[self.target])


def integer_of(use: Use) -> int:
    """Returns the number in a role that KLR has as `Int32`."""
    if not isinstance(use.pattern, Immediate) or not use.pattern.data.dtype.is_integer:
        raise NkiError(f"{use.label} must be an integer")
    return int32(int(use.pattern.data.value))


class RegisterField(Field):
    """`String`: the name of a register in a role; `optional` ones are empty where there is none."""

    def __init__(self, index: int, name: str, target: str, optional: bool = False) -> None:
        super().__init__(index, name, target)
        self.optional = optional

    def read(self, record: Record, body: ReadBody, found: Found) -> None:
        name = record[self.index]
        if name or not self.optional:
            found.roles[self.target] = Given(REGISTER, body.register(name))

    def write(self, op: Said, body: WrittenBody) -> Any:
        use = op.uses.get(self.target)
        return "" if use is None else register_of(use, body)


def register_of(use: Use, body: WrittenBody) -> str:
    """Returns the name of the register in a role."""
    if not isinstance(use.pattern, RegisterAttr) or use.storage is None:
        raise NkiError(f"{use.label} must be a register")
    return body.register(use.storage)


# Parameters -----------------------------------------------------------------------------------------------------


class FlagField(Field):
    """`Bool`: a property that is there or not."""

    def read(self, record: Record, body: ReadBody, found: Found) -> None:
        if record[self.index]:
            found.properties[self.target] = UnitAttr()

    def write(self, op: Said, body: WrittenBody) -> Any:
        return self.target in op.properties


class NamedField(Field):
    """An enum or type of the format; `default` (of an option: None) is the value that an absent property stands for."""

    def __init__(self, index: int, name: str, target: str, kind: FieldType, default: str | None) -> None:
        super().__init__(index, name, target)
        self.kind = kind
        self.default = default
        self.members, self.names = _members(kind.name)

    def read(self, record: Record, body: ReadBody, found: Found) -> None:
        name = record[self.index]
        if name == self.default:
            return
        attribute = found.properties[self.target] = self.members[name]
        if self.names[attribute] != name:
            found.kept[self.name] = StringAttr(name)

    def write(self, op: Said, body: WrittenBody) -> Any:
        attribute = op.properties.get(self.target)
        if attribute is None:
            if self.default is None and not self.kind.optional:
                raise NkiError(f"{self.target} is missing, KLR needs it")
            return self.default
        if attribute not in self.names:
            raise NkiError(f"KLR has no {self.target} '{cast(Any, attribute).data}'")
        return kept_name(op.kept.get(self.name), self.members, attribute) or self.names[attribute]


@cache
def _members(enum: str) -> tuple[dict[str, Attribute], dict[Attribute, str]]:
    """Returns the attributes of an enum of the format by name on disk, and the name by attribute."""
    if enum == "Dtype":
        members: dict[str, Attribute] = {name: DtypeAttr(dtype) for name, dtype in DTYPES.items()}
        return members, {DtypeAttr(dtype): dtype.klr_name or name for name, dtype in DTYPES.items()}
    attribute = ENUMS[enum]
    members = {
        member.name: attribute.of(attribute.ENUM.from_klr(number))
        for number, member in enumerate(TYPES[enum].constructors)
    }
    return members, {attribute: name for name, attribute in members.items()}


class TextField(Field):
    """`String`: a property; the empty text stands for an absent one if `optional`."""

    def __init__(self, index: int, name: str, target: str, optional: bool) -> None:
        super().__init__(index, name, target)
        self.optional = optional

    def read(self, record: Record, body: ReadBody, found: Found) -> None:
        if (text := record[self.index]) or not self.optional:
            found.properties[self.target] = StringAttr(text)

    def write(self, op: Said, body: WrittenBody) -> Any:
        attribute = op.properties.get(self.target)
        return attribute.data if isinstance(attribute, StringAttr) else ""


class NaturalField(Field):
    """`Nat?`: an integer property."""

    def read(self, record: Record, body: ReadBody, found: Found) -> None:
        if (number := record[self.index]) is not None:
            found.properties[self.target] = IntegerAttr(number, i64)

    def write(self, op: Said, body: WrittenBody) -> Any:
        attribute = op.properties.get(self.target)
        return attribute.value.data if isinstance(attribute, IntegerAttr) else None


class NumbersField(Field):
    """`Nat[]`: a parameter that is a list; the empty list stands for an absent one."""

    def read(self, record: Record, body: ReadBody, found: Found) -> None:
        if numbers := record[self.index]:
            found.roles[self.target] = Given(ExprAttr(ExprFields(numbers, True)))

    def write(self, op: Said, body: WrittenBody) -> Any:
        use = op.uses.get(self.target)
        if use is None:
            return ()
        value = cast(ExprAttr, use.pattern).value()
        if not isinstance(value, tuple) or not all(isinstance(number, int) and number >= 0 for number in value):
            raise NkiError(f"{self.target} must be a list of numbers that are not negative")
        return value


class PatternField(Field):
    """`DataPattern`: the ramp of an iota or affine select."""

    @property
    def targets(self) -> tuple[str, ...]:
        return "pattern", "offset", "channel_multiplier"

    def read(self, record: Record, body: ReadBody, found: Found) -> None:
        offset, pattern, multiplier = record[self.index]
        if not pattern:
            raise NkiError("the pattern has no pairs")
        if any(pair.offset for pair in pattern):
            raise NkiError("an offset in a pair of a pattern is not supported")
        found.properties["pattern"] = PatternAttr(PatternFields(tuple((step, num) for step, num, _ in pattern)))
        if offset:
            found.properties["offset"] = IntegerAttr(offset, i64)
        if multiplier:
            found.properties["channel_multiplier"] = IntegerAttr(multiplier, i64)

    def write(self, op: Said, body: WrittenBody) -> Any:
        pairs = cast(PatternAttr, op.properties["pattern"]).data.pairs
        return make(
            "DataPattern",
            offset=_integer(op, "offset"),
            pattern=tuple(make("APPair", step=step, num=number, offset=0) for step, number in pairs),
            channelMultiplier=_integer(op, "channel_multiplier"),
        )


def _integer(op: Said, name: str) -> int:
    attribute = op.properties.get(name)
    return attribute.value.data if isinstance(attribute, IntegerAttr) else 0


class ReverseField(Field):
    """`TensorScalarReverseOps`: two flags."""

    @property
    def targets(self) -> tuple[str, ...]:
        return "reverse0", "reverse1"

    def read(self, record: Record, body: ReadBody, found: Found) -> None:
        for name, is_set in zip(self.targets, TensorScalarReverse.from_text(record[self.index]).flags, strict=True):
            if is_set:
                found.properties[name] = UnitAttr()

    def write(self, op: Said, body: WrittenBody) -> Any:
        first, second = self.targets
        return TensorScalarReverse.of(first in op.properties, second in op.properties).value


class DgeField(Field):
    """`dgeMode`, the number of a way to make DMA descriptors; 0 stands for an absent property."""

    def read(self, record: Record, body: ReadBody, found: Found) -> None:
        if mode := record[self.index]:
            found.properties[self.target] = nki.DgeTypeAttr(DgeType.from_klr(mode))

    def write(self, op: Said, body: WrittenBody) -> Any:
        attribute = op.properties.get(self.target)
        return attribute.data.klr if isinstance(attribute, nki.DgeTypeAttr) else 0


class BoundsField(Field):
    """`DmaBounds`: what a DMA does outside of its tensor; an error stands for an absent property."""

    def read(self, record: Record, body: ReadBody, found: Found) -> None:
        match record[self.index].ctor:
            case "error":
                return
            case "skip":
                found.properties[self.target] = nki.OobModeAttr(OobMode.SKIP)
            case form:
                raise NkiError(f"bounds of the form '{form}' are not supported")

    def write(self, op: Said, body: WrittenBody) -> Any:
        return make("DmaBounds", str(cast(Any, op.properties.get(self.target, _OOB_ERROR)).data))


_OOB_ERROR = nki.OobModeAttr(OobMode.ERROR)


class FixedField(Field):
    """A field of which the dialect has one value only."""

    def __init__(self, index: int, name: str, value: Any) -> None:
        super().__init__(index, name, "")
        self.value = value

    @property
    def targets(self) -> tuple[str, ...]:
        return ()

    def read(self, record: Record, body: ReadBody, found: Found) -> None:
        value = record[self.index]
        if value != self.value:
            shown = str(value).lower() if isinstance(value, str | bool) else "one that is given"
            raise NkiError(f"{shown} is not supported")

    def write(self, op: Said, body: WrittenBody) -> Any:
        return self.value


# Branches -------------------------------------------------------------------------------------------------------


class ComparedField(Field):
    """`reg2` and `imm` of a branch: one of them is compared with `reg1`, which its `op` says; the other is kept."""

    ENDING = {"reg2": "_reg", "imm": "_imm"}

    def read(self, record: Record, body: ReadBody, found: Found) -> None:
        value = record[self.index]
        if record.op.endswith(self.ENDING[self.name]):
            number = isinstance(value, int)
            found.roles[self.target] = (
                Given(Immediate.of(value, Dtype.I32)) if number else Given(REGISTER, body.register(value))
            )
        elif value:
            found.kept[self.name] = IntegerAttr(value, i64) if isinstance(value, int) else StringAttr(value)

    def write(self, op: Said, body: WrittenBody) -> Any:
        comparison = str(cast(Any, op.properties["comp_op"]).data)
        use, kept = op.uses.get(self.target), op.kept.get(self.name)
        if comparison.endswith(self.ENDING[self.name]) and use is not None:
            return register_of(use, body) if self.name == "reg2" else integer_of(use)
        if self.name == "reg2":
            return kept.data if isinstance(kept, StringAttr) else ""
        return kept.value.data if isinstance(kept, IntegerAttr) else 0

"""The attributes and types that all dialects share: storage types, immediates, index expressions, enums."""

import re
from collections.abc import Callable, Sequence
from math import inf, nan, prod
from typing import Any, ClassVar, Generic, NamedTuple, Self, TypeVar, cast

from xdsl.dialects.builtin import ArrayAttr, FloatAttr, IntegerAttr, StringAttr, UnitAttr
from xdsl.ir import Attribute, Data, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from nki_mlir.diagnostics import NkiError
from nki_mlir.dialects import affine
from nki_mlir.dialects.access import MAXIMUM_PAIRS, Access, AccessFields, Pair, row_major
from nki_mlir.dialects.affine import Expr, ExprSyntaxError
from nki_mlir.dialects.rawtext import raw_parameter
from nki_mlir.isa import enums
from nki_mlir.isa.dtypes import Dtype
from nki_mlir.isa.enums import MemorySpace, Published
from nki_mlir.isa.target import Target, parse_target

ON_CHIP = (MemorySpace.SBUF, MemorySpace.PSUM)
MAXIMUM_BLOCKS = 1 << 18
"""No storage has more blocks, each of which is placed on its own: a partition of SBUF has no more bytes."""
MAXIMUM_BYTES = 1 << 50
"""No storage is larger, so that sizes of a hostile file stay in the range of 64-bit arithmetic."""


class Interned:
    """Mixed into a `Data` attribute: equal data give one object, so that equality and hash are identity."""

    _pools: ClassVar[dict[type, dict[Any, Any]]] = {}

    def __new__(cls, data: Any) -> Self:
        pool = Interned._pools.get(cls)
        if pool is None:
            pool = Interned._pools.setdefault(cls, {})
        known = pool.get(data)
        if known is None:
            known = object.__new__(cls)
            object.__setattr__(known, "data", data)
            known.verify()
            known.derive()
            known = pool.setdefault(data, known)
        return known

    def __init__(self, data: Any) -> None:
        """Everything is done by `__new__`, which may return a known object."""

    def verify(self) -> None:
        """Raises `VerifyException` for data that make no sense."""

    def derive(self) -> None:
        """Computes the figures that follow from `data`, once."""

    __eq__ = object.__eq__
    __hash__ = object.__hash__

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (cast(Any, self).data,)


P = TypeVar("P", bound=Published)


def _member(kind: type[P], text: str, position: int) -> P:
    """Returns the member that `text` spells; raises `ExprSyntaxError` with close names at its position."""
    try:
        return kind.from_text(text)
    except NkiError as error:
        raise ExprSyntaxError(str(error), position) from None


class MemFields(NamedTuple):
    """Space, shape (on chip: partitions first), element type, and the number of separately placed blocks."""

    space: MemorySpace
    shape: tuple[int, ...]
    dtype: Dtype
    blocks: int = 1


class _MemFigures:
    """What follows from the fields of a storage type, computed once."""

    partitions: int
    row: int
    row_bytes: int


_MEM = re.compile(r"\s*(\w+)\s+((?:\d{1,18}x)*)([a-z]\w*)\s*(?:,\s*blocks\s+(\d{1,18})\s*)?")


def _no_storage(text: str) -> ExprSyntaxError:
    """Returns the error for a text that is no storage type, at what is wrong with it."""
    good = re.match(r"\s*\w+\s+(?:\d{1,18}x)*([a-z]\w*\s*)?", text)
    if good is None:
        return ExprSyntaxError("expected a storage type such as sbuf 128x512xbf16 or hbm 64x64xf32, blocks 2", 0)
    found = text[good.end() :].strip()
    got = f"'{found[:30]}'" if found else "nothing"
    wanted = "', blocks' and a number of" if good[1] else "an element type, or a size and 'x' with"
    message = f"expected {wanted} at most 18 digits, got {got}"
    return ExprSyntaxError(message, good.end())


@irdl_attr_definition
class MemType(_MemFigures, Interned, Data[MemFields], TypeAttribute):
    """The type of storage in every dialect: `!nki.mem<sbuf 128x512xbf16, blocks 4>`.

    Derived: `partitions` (1 in HBM), `row` (elements in one partition; in HBM in the whole block), `row_bytes`.
    """

    name = "nki.mem"

    def derive(self) -> None:
        put = object.__setattr__
        space, shape, dtype, _ = self.data
        on_chip = space in ON_CHIP
        put(self, "partitions", shape[0] if on_chip else 1)
        put(self, "row", prod(shape[1:] if on_chip else shape))
        put(self, "row_bytes", self.row * dtype.size)

    @property
    def space(self) -> MemorySpace:
        return self.data.space

    @property
    def shape(self) -> tuple[int, ...]:
        return self.data.shape

    @property
    def dtype(self) -> Dtype:
        return self.data.dtype

    @property
    def blocks(self) -> int:
        return self.data.blocks

    @property
    def on_chip(self) -> bool:
        return self.data.space in ON_CHIP

    def verify(self) -> None:
        space, shape, dtype, blocks = self.data
        if len(shape) > MAXIMUM_PAIRS:
            raise VerifyException(f"a storage has at most {MAXIMUM_PAIRS} dimensions, got {len(shape)}")
        if any(size < 1 for size in shape):
            raise VerifyException(f"the sizes of a storage must be positive, got {'x'.join(map(str, shape))}")
        if space in ON_CHIP and not shape:
            raise VerifyException(f"storage in {space} needs a partition dimension")
        if not 1 <= blocks <= MAXIMUM_BLOCKS:
            raise VerifyException(f"a storage has 1 to {MAXIMUM_BLOCKS} blocks, got {blocks}")
        if space is MemorySpace.REG:
            raise VerifyException("a register is not storage that an access can name; its type is !nki.reg")
        if prod(shape) * dtype.size * blocks > MAXIMUM_BYTES:
            raise VerifyException(f"a storage of {'x'.join(map(str, shape))}x{dtype} is larger than any memory")

    def whole(self) -> Access:
        """Returns the access to every element, one pair per dimension."""
        space, shape, dtype, _ = self.data
        if space in ON_CHIP:
            return Access(AccessFields(0, 0, (Pair(1, shape[0]),), 0, row_major(shape[1:]), dtype))
        return Access(AccessFields(0, None, None, 0, row_major(shape), dtype))

    @classmethod
    def read(cls, text: str) -> "MemType":
        match = _MEM.fullmatch(text)
        if match is None:
            raise _no_storage(text)
        space_text, sizes, dtype_text, blocks = match.groups()
        space = _member(MemorySpace, space_text, match.start(1))
        dtype = _member(Dtype, dtype_text, match.start(3))
        shape = tuple(int(size) for size in sizes.split("x")[:-1])
        return cls(MemFields(space, shape, dtype, int(blocks) if blocks else 1))

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> MemFields:
        return raw_parameter(parser, cls.read).data

    def print_parameter(self, printer: Printer) -> None:
        space, shape, dtype, blocks = self.data
        tail = f", blocks {blocks}" if blocks != 1 else ""
        printer.print_string(f"<{space} {''.join(f'{size}x' for size in shape)}{dtype}{tail}>")


@irdl_attr_definition
class IndexType(ParametrizedAttribute, TypeAttribute):
    """The type of a loop variable."""

    name = "nki.iv"


@irdl_attr_definition
class RegisterType(ParametrizedAttribute, TypeAttribute):
    """The type of a register: storage of one integer that instructions write."""

    name = "nki.reg"


@irdl_attr_definition
class RegisterAttr(ParametrizedAttribute):
    """The pattern of an operand that is a register."""

    name = "nki.register"


IV = IndexType()
REG = RegisterType()
REGISTER = RegisterAttr()


class ImmediateFields(NamedTuple):
    """A number and the type it is encoded in."""

    value: float | int
    dtype: Dtype


_IMMEDIATE = re.compile(r"\s*(-?(?:inf|nan|\d[\w.+-]*))\s*:\s*([a-z]\w*)\s*")


def read_number(text: str, dtype: Dtype) -> float | int:
    """Returns the number that `text` spells: an integer for integer types, else a float; raises `ExprSyntaxError`."""
    try:
        if "_" in text:  # which Python allows in numbers
            raise ValueError
        if dtype.is_integer:
            if len(text) > 20:
                raise ValueError
            return int(text)
        named = {"inf": inf, "-inf": -inf, "nan": nan, "-nan": -nan}
        return named[text] if text in named else float(text)
    except ValueError:
        shown = text if len(text) <= 40 else f"{text[:39]}…"
        raise ExprSyntaxError(f"'{shown}' is no number of type {dtype}", 0) from None


def number_text(value: float) -> str:
    """Returns the shortest text that reads back as the same number."""
    return repr(value)


@irdl_attr_definition
class Immediate(Data[ImmediateFields]):
    """A number as an operand: `#nki.imm<2.0 : f32>`."""

    name = "nki.imm"

    _pool: ClassVar[dict[tuple[str, Dtype], Any]] = {}
    _by_text: "ClassVar[dict[str, Immediate]]" = {}

    def __new__(cls, data: ImmediateFields) -> Self:
        key = repr(data.value), data.dtype
        known = cls._pool.get(key)
        if known is None:
            known = object.__new__(cls)
            object.__setattr__(known, "data", data)
            known.verify()
            known = cls._pool.setdefault(key, known)
        return known

    def __init__(self, data: ImmediateFields) -> None:
        """Everything is done by `__new__`, which may return a known object."""

    __eq__ = object.__eq__  # pyright: ignore[reportAssignmentType]
    __hash__ = object.__hash__

    def __reduce__(self) -> tuple[Any, ...]:
        return Immediate, (self.data,)

    def verify(self) -> None:
        value, dtype = self.data
        if dtype.is_integer and isinstance(value, int) and not dtype.min <= value <= dtype.max:
            raise VerifyException(f"{value} does not fit {dtype}")
        if dtype.is_integer and not isinstance(value, int):
            raise VerifyException(f"{value} is no integer, but its type is {dtype}")

    @classmethod
    def of(cls, value: float, dtype: Dtype) -> "Immediate":
        """Returns the immediate; an int becomes a float where the type is one."""
        return cls(ImmediateFields(value if dtype.is_integer else float(value), dtype))

    @classmethod
    def read(cls, text: str) -> "Immediate":
        match = _IMMEDIATE.fullmatch(text)
        if match is None:
            raise ExprSyntaxError("expected a number with its type, such as 2.0 : f32", 0)
        dtype = _member(Dtype, match[2], match.start(2))
        found = cls._by_text[text] = cls(ImmediateFields(read_number(match[1], dtype), dtype))
        return found

    @classmethod
    def known(cls, text: str) -> "Immediate | None":
        """Returns the number of a text that was read before, in the same spelling."""
        return cls._by_text.get(text)

    def text(self, _: Sequence[str] = ()) -> str:
        """Returns the number with its type; it names no index values."""
        return f"{number_text(self.data.value)} : {self.data.dtype}"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> ImmediateFields:
        return raw_parameter(parser, cls.read).data

    def print_parameter(self, printer: Printer) -> None:
        printer.print_string(f"<{self.text()}>")


# Expressions ----------------------------------------------------------------------------------------------------


class _Indexed:
    """What follows from expressions over index values, computed once."""

    indices: int


class ExprFields(NamedTuple):
    """One expression, or a list of them."""

    values: tuple[Expr, ...]
    is_list: bool = False


@irdl_attr_definition
class ExprAttr(_Indexed, Interned, Data[ExprFields]):
    """A parameter that may be affine in index values: `#nki.expr<4*d0 + 1>` or `#nki.expr<[0, 32*d0]>`."""

    name = "nki.expr"

    def derive(self) -> None:
        object.__setattr__(self, "indices", len(_order(self.data.values)))

    def verify(self) -> None:
        order = _order(self.data.values)
        if order != tuple(range(len(order))):
            raise VerifyException("index values of an expression must be numbered d0, d1, … by first appearance")

    def at(self, replacement: Callable[[int], Expr]) -> "tuple[ExprAttr, tuple[int, ...]]":
        """Returns the attribute with index value k replaced, renumbered, and the caller's numbers in the new order."""
        if not self.indices:
            return self, ()
        values, order = renumbered(tuple(affine.substitute(v, replacement) for v in self.data.values))
        return ExprAttr(ExprFields(values, self.data.is_list)), order

    def text(self, names: Sequence[str]) -> str:
        inner = ", ".join(affine.text(value, names) for value in self.data.values)
        return f"[{inner}]" if self.data.is_list else inner

    @classmethod
    def read(cls, text: str) -> "ExprAttr":
        return cls(cls._read(text))

    @classmethod
    def read_sparse(cls, text: str) -> "tuple[ExprAttr, tuple[int, ...]]":
        """Reads a text in which index values fold away or come in another order; returns their numbers in the text."""
        fields = cls._read(text)
        values, order = renumbered(fields.values)
        return cls(ExprFields(values, fields.is_list)), order

    @staticmethod
    def _read(text: str) -> ExprFields:
        index = affine.plain_index
        stripped = text.strip()
        if not stripped.startswith("[") or not stripped.endswith("]"):
            return ExprFields((affine.read(text, index),))
        inner, start = stripped[1:-1], text.index("[") + 1
        values: list[Expr] = []
        for part in inner.split(",") if inner.strip() else ():
            values.append(affine.read_at(part, start, index))
            start += len(part) + 1
        return ExprFields(tuple(values), True)

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> ExprFields:
        return raw_parameter(parser, cls.read).data

    def print_parameter(self, printer: Printer) -> None:
        printer.print_string(f"<{self.text([f'd{k}' for k in range(self.indices)])}>")

    def value(self) -> "Expr | tuple[Expr, ...]":
        """Returns the expression, or the tuple of them."""
        return self.data.values if self.data.is_list else self.data.values[0]


def _order(values: Sequence[Expr]) -> tuple[int, ...]:
    seen: dict[int, None] = {}
    for value in values:
        for number in affine.indices(value):
            seen.setdefault(number)
    return tuple(seen)


def renumbered(values: tuple[Expr, ...]) -> tuple[tuple[Expr, ...], tuple[int, ...]]:
    """Returns the expressions with index values numbered by first appearance, and the old numbers in that order."""
    order = _order(values)
    position = {number: k for k, number in enumerate(order)}
    return tuple(affine.substitute(v, lambda number: affine.index(position[number])) for v in values), order


class ConditionFields(NamedTuple):
    """expression >= 0 for every `True`, == 0 for every `False`; all must hold."""

    atoms: tuple[tuple[Expr, bool], ...]


@irdl_attr_definition
class ConditionAttr(_Indexed, Interned, Data[ConditionFields]):
    """A guard over index values: `#nki.when<d0 - 1 ge 0, d1 eq 0>`; all atoms must hold."""

    name = "nki.when"

    def derive(self) -> None:
        object.__setattr__(self, "indices", len(_order([e for e, _ in self.data.atoms])))

    def verify(self) -> None:
        if not self.data.atoms:
            raise VerifyException("a guard needs at least one condition")
        order = _order([e for e, _ in self.data.atoms])
        if order != tuple(range(len(order))):
            raise VerifyException("index values of a guard must be numbered d0, d1, … by first appearance")

    def at(self, replacement: Callable[[int], Expr]) -> "tuple[ConditionAttr | bool, tuple[int, ...]]":
        """Returns the guard with index values replaced: False where an atom fails, True where all hold for certain."""
        left: list[tuple[Expr, bool]] = []
        for expr, ge in self.data.atoms:
            value = affine.substitute(expr, replacement)
            if isinstance(value, int):
                if not (value >= 0 if ge else value == 0):
                    return False, ()
            else:
                left.append((value, ge))
        if not left:
            return True, ()
        values, order = renumbered(tuple(e for e, _ in left))
        return ConditionAttr(ConditionFields(tuple(zip(values, (ge for _, ge in left), strict=True)))), order

    def holds(self, values: Sequence[int]) -> bool:
        """Whether all atoms hold where index value k is `values[k]`."""
        for expr, ge in self.data.atoms:
            value = affine.evaluate(expr, values)
            if value < 0 if ge else value != 0:
                return False
        return True

    def text(self, names: Sequence[str]) -> str:
        return ", ".join(f"{affine.text(e, names)} {'ge' if ge else 'eq'} 0" for e, ge in self.data.atoms)

    @classmethod
    def read(cls, text: str) -> "ConditionAttr":
        return cls(cls._read(text))

    @classmethod
    def read_sparse(cls, text: str) -> "tuple[ConditionAttr, tuple[int, ...]]":
        """Reads a text in which index values fold away or come in another order; returns their numbers in the text."""
        atoms = cls._read(text).atoms
        values, order = renumbered(tuple(expr for expr, _ in atoms))
        return cls(ConditionFields(tuple(zip(values, (ge for _, ge in atoms), strict=True)))), order

    @staticmethod
    def _read(text: str) -> ConditionFields:
        atoms: list[tuple[Expr, bool]] = []
        start = 0
        for part in text.split(","):
            match = _CONDITION.fullmatch(part)
            if match is None:
                where = start + len(part) - len(part.lstrip())
                raise ExprSyntaxError("expected a condition 'expression ge 0' or 'expression eq 0'", where)
            atoms.append((affine.read_at(match[1], start, affine.plain_index), match[2] == "ge"))
            start += len(part) + 1
        return ConditionFields(tuple(atoms))

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> ConditionFields:
        return raw_parameter(parser, cls.read).data

    def print_parameter(self, printer: Printer) -> None:
        printer.print_string(f"<{self.text([f'd{k}' for k in range(self.indices)])}>")


_CONDITION = re.compile(r"(.*\S)\s+(ge|eq)\s+0\s*", re.DOTALL)


class PatternFields(NamedTuple):
    """(step, number) pairs, outermost first."""

    pairs: tuple[tuple[int, int], ...]


@irdl_attr_definition
class PatternAttr(Interned, Data[PatternFields]):
    """The ramp of an iota or affine select: `#nki.pattern<128*4, 1*128>`, step*number, outermost first."""

    name = "nki.pattern"

    def verify(self) -> None:
        if not self.data.pairs or len(self.data.pairs) > MAXIMUM_PAIRS:
            raise VerifyException(f"a pattern has 1 to {MAXIMUM_PAIRS} pairs, got {len(self.data.pairs)}")
        for _, number in self.data.pairs:
            if number < 1:
                raise VerifyException(f"the number of a pattern pair must be positive, got {number}")

    @classmethod
    def read(cls, text: str) -> "PatternAttr":
        pairs: list[tuple[int, int]] = []
        start = 0
        for part in text.split(","):
            match = re.fullmatch(r"\s*(-?\d{1,18})\s*\*\s*(\d{1,18})\s*", part)
            if match is None:
                where = start + len(part) - len(part.lstrip())
                raise ExprSyntaxError(f"expected a pair step*number, found '{part.strip()[:20]}'", where)
            pairs.append((int(match[1]), int(match[2])))
            start += len(part) + 1
        return cls(PatternFields(tuple(pairs)))

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> PatternFields:
        return raw_parameter(parser, cls.read).data

    def print_parameter(self, printer: Printer) -> None:
        printer.print_string("<" + ", ".join(f"{step}*{number}" for step, number in self.data.pairs) + ">")


# Enums ----------------------------------------------------------------------------------------------------------

E = TypeVar("E", bound=Published)


class EnumAttr(Interned, Data[E], Generic[E]):
    """Base of the enum attributes; the text of a member is its one lower-case spelling."""

    ENUM: ClassVar[type[Published]]
    _known: "ClassVar[dict[tuple[type, str], Any]]" = {}

    @classmethod
    def of(cls, member: Published) -> Any:
        """Returns the attribute of a member."""
        return cls(member)

    @classmethod
    def read(cls, text: str) -> Any:
        known = EnumAttr._known.get((cls, text))
        if known is None:
            known = EnumAttr._known[cls, text] = cls(_member(cls.ENUM, text.strip(), 0))
        return known

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> E:
        return raw_parameter(parser, cls.read).data

    def print_parameter(self, printer: Printer) -> None:
        printer.print_string(f"<{self.data}>")


@irdl_attr_definition
class AluOpAttr(EnumAttr[enums.AluOp]):
    name = "nki.alu"
    ENUM = enums.AluOp


@irdl_attr_definition
class ActivationFunctionAttr(EnumAttr[enums.ActivationFunction]):
    name = "nki.func"
    ENUM = enums.ActivationFunction


@irdl_attr_definition
class EngineAttr(EnumAttr[enums.Engine]):
    name = "nki.engine"
    ENUM = enums.Engine


@irdl_attr_definition
class AccumulateCommandAttr(EnumAttr[enums.AccumulateCommand]):
    name = "nki.accumulate"
    ENUM = enums.AccumulateCommand


@irdl_attr_definition
class PerfModeAttr(EnumAttr[enums.MatmultPerfMode]):
    name = "nki.perf_mode"
    ENUM = enums.MatmultPerfMode


@irdl_attr_definition
class AxisListAttr(EnumAttr[enums.AxisList]):
    name = "nki.axis"
    ENUM = enums.AxisList


@irdl_attr_definition
class DgeTypeAttr(EnumAttr[enums.DgeType]):
    name = "nki.dge"
    ENUM = enums.DgeType


@irdl_attr_definition
class OobModeAttr(EnumAttr[enums.OobMode]):
    name = "nki.oob"
    ENUM = enums.OobMode


@irdl_attr_definition
class TensorKindAttr(EnumAttr[enums.TensorKind]):
    name = "nki.kind"
    ENUM = enums.TensorKind


@irdl_attr_definition
class LoopKindAttr(EnumAttr[enums.LoopKind]):
    name = "nki.loop_kind"
    ENUM = enums.LoopKind


@irdl_attr_definition
class BranchCompareOpAttr(EnumAttr[enums.BranchCompareOp]):
    name = "nki.compare"
    ENUM = enums.BranchCompareOp


@irdl_attr_definition
class DtypeAttr(Interned, Data[Dtype]):
    """An element type as a parameter: `#nki.dtype<f32>`."""

    name = "nki.dtype"

    @classmethod
    def read(cls, text: str) -> "DtypeAttr":
        return cls(_member(Dtype, text.strip(), 0))

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Dtype:
        return raw_parameter(parser, cls.read).data

    def print_parameter(self, printer: Printer) -> None:
        printer.print_string(f"<{self.data}>")


@irdl_attr_definition
class ArchAttr(Interned, Data[Target]):
    """The generation that a module is for: `#nki.arch<gen3>`; every alias is accepted."""

    name = "nki.arch"

    @classmethod
    def read(cls, text: str) -> "ArchAttr":
        try:
            return cls(parse_target(text.strip()))
        except NkiError as error:
            raise ExprSyntaxError(str(error), 0) from None

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Target:
        return raw_parameter(parser, cls.read).data

    def print_parameter(self, printer: Printer) -> None:
        printer.print_string(f"<{self.data.generation}>")


def value_of(attribute: Attribute) -> Any:
    """Returns the Python value that rules and evaluations see for a parameter's attribute."""
    match attribute:
        case EnumAttr() | DtypeAttr():
            return cast(Any, attribute).data
        case UnitAttr():
            return True
        case ExprAttr():
            return attribute.value()
        case PatternAttr():
            return attribute.data.pairs
        case IntegerAttr() | FloatAttr():
            return cast(Any, attribute).value.data
        case StringAttr():
            return attribute.data
        case ArrayAttr():
            return tuple(value_of(member) for member in attribute)
        case _:
            return attribute

"""Rules on the element types of operands."""

from operator import attrgetter

from nki_mlir.isa.dtypes import Dtype
from nki_mlir.isa.enums import AluOp
from nki_mlir.isa.operands import Operand, Operands
from nki_mlir.isa.rules.base import PSUM, RoleRule, Rule, any_of, first_difference
from nki_mlir.isa.target import Target


class DtypeIn(Rule):
    """The element type is one of a set; `since_extra` adds types from a generation on."""

    ID = "X-DTYPE"
    roles: tuple[str, ...]
    dtypes: frozenset[Dtype]
    since_extra: tuple[tuple[Target, frozenset[Dtype]], ...] = ()

    @property
    def statement(self) -> str:
        return f"{any_of(self.roles)} must be of type {any_of(sorted(self.dtypes))}"

    def allowed(self, target: Target | None) -> frozenset[Dtype]:
        """Returns the types that the target allows."""
        found = self.dtypes
        for since, extra in self.since_extra:
            if target is None or target >= since:
                found = found | extra
        return found

    def check(self, operands: Operands, target: Target | None) -> str | None:
        allowed = self.allowed(target)
        for role in self.roles:
            for name, operand in operands.of(role):
                if operand.dtype not in allowed:
                    return f"{name} is of type {operand.dtype}, it must be {any_of(sorted(allowed))}"
        return None


class SameDtype(Rule):
    """Operands have the same element type; `when` names a parameter that must be set for the rule to hold."""

    ID = "X-SAMEDT"
    roles: tuple[str, ...]
    when: str = ""

    @property
    def statement(self) -> str:
        condition = f" with {self.when}" if self.when else ""
        return f"{', '.join(self.roles)} must have the same element type{condition}"

    def check(self, operands: Operands, target: Target | None) -> str | None:
        if self.when and not operands.parameters.get(self.when):
            return None
        found = first_difference(operands, self.roles, attrgetter("dtype"))
        if found is None:
            return None
        first, expected, name, got = found
        return f"{name} is of type {got}, {first} is of type {expected}"


class ElementSize(RoleRule):
    """Engines have no 64-bit elements; DMA moves them."""

    ID = "X-DT64"
    source: str = "NKI ISA reference, §3.1"

    @property
    def statement(self) -> str:
        return f"{any_of(self.roles)} must have elements of at most 4 bytes"

    def check_one(self, operand: Operand, target: Target | None) -> str | None:
        if operand.dtype.size <= 4:
            return None
        return f"is of type {operand.dtype}, engines take elements of at most 4 bytes"


class PsumDtype(RoleRule):
    """What an engine may write to PSUM: 4-byte types, and bf16 for the instructions that may."""

    ID = "BIR441"
    extra: frozenset[Dtype] = frozenset()

    @property
    def statement(self) -> str:
        also = f" or {any_of(sorted(self.extra))}" if self.extra else ""
        return f"{any_of(self.roles)} in PSUM must be of a 4-byte type{also}"

    def check_one(self, operand: Operand, target: Target | None) -> str | None:
        if operand.space is not PSUM or operand.dtype.size == 4 or operand.dtype in self.extra:
            return None
        also = f" or {any_of(sorted(self.extra))}" if self.extra else ""
        return f"is of type {operand.dtype} in PSUM, it must be of a 4-byte type{also}"


class Unpacked(RoleRule):
    """Computing needs numbers, and the packed x4 types have none: no cast of them exists."""

    ID = "X-PACKED"
    source: str = "NKI ISA reference, §3.1"

    @property
    def statement(self) -> str:
        return f"{any_of(self.roles)} must not be of a packed type"

    def check_one(self, operand: Operand, target: Target | None) -> str | None:
        if operand.dtype.lanes == 1:
            return None
        return f"is of the packed type {operand.dtype}, which this instruction cannot compute with"


class PackedCopy(Rule):
    """A packed type is copied as it is."""

    ID = "X-PACKED"
    source: str = "NKI ISA reference, §3.1"
    roles: tuple[str, ...]

    @property
    def statement(self) -> str:
        return f"{' and '.join(self.roles)} must have the same type if one is packed"

    def check(self, operands: Operands, target: Target | None) -> str | None:
        found = first_difference(operands, self.roles, attrgetter("dtype"))
        if found is None or (found[1].lanes == 1 and found[3].lanes == 1):
            return None
        first, a, second, b = found
        return f"{first} is of type {a} and {second} of type {b}, a packed type cannot be cast"


class DmaCast(Rule):
    """A DMA casts through fp32, except for the packed x4 types and with descriptors made by hardware."""

    ID = "X-DMACAST"
    roles: tuple[str, ...]

    @property
    def statement(self) -> str:
        return f"{' and '.join(self.roles)} must have the same type if one is packed or dge_type is hwdge"

    def check(self, operands: Operands, target: Target | None) -> str | None:
        found = [(name, o) for role in self.roles for name, o in operands.of(role)]
        if len({o.dtype for _, o in found}) < 2:
            return None
        (first, a), (second, b) = found[:2]
        what = f"{first} is of type {a.dtype} and {second} of type {b.dtype}"
        if a.dtype.lanes > 1 or b.dtype.lanes > 1:
            return f"{what}, a packed type cannot be cast"
        if operands.parameters.get("dge_type") == "hwdge":
            return f"{what}, dge_type hwdge cannot cast"
        return None


class VectorDtype(Rule):
    """Arithmetic takes its values a partition in fp32, or all operands as 32-bit integers."""

    ID = "X-VECDT"
    source: str = "NKI ISA reference, §2.5 (tensor_scalar)"
    parameters: tuple[str, ...]
    vectors: tuple[str, ...]
    others: tuple[str, ...]

    @property
    def statement(self) -> str:
        return f"{any_of(self.vectors)} in storage must be f32 for arithmetic, or all operands 32-bit integers"

    def check(self, operands: Operands, target: Target | None) -> str | None:
        ops = [op for name in self.parameters if isinstance(op := operands.parameters.get(name), AluOp)]
        if any(op.is_bitwise for op in ops):
            return None
        wrong = [
            (name, operand)
            for role in self.vectors
            for name, operand in operands.of(role)
            if operand.space is not None and operand.dtype is not Dtype.F32
        ]
        exact = (Dtype.I32, Dtype.U32)
        roles = (*self.vectors, *self.others)
        if not wrong or all(operand.dtype in exact for role in roles for _, operand in operands.of(role)):
            return None
        name, operand = wrong[0]
        return f"{name} is of type {operand.dtype}, arithmetic takes one f32 a partition"


class FloatScalar(Rule):
    """A number for a floating-point destination is a floating-point number."""

    ID = "X-SCALARDT"
    source: str = "Penguin reference, §9.6 (tensor_copy_predicated)"
    immediate: str
    role: str

    @property
    def statement(self) -> str:
        return f"{self.immediate} as a number must be of a floating-point type if {self.role} is"

    def check(self, operands: Operands, target: Target | None) -> str | None:
        constant, operand = operands.one(self.immediate), operands.one(self.role)
        if constant is None or operand is None or constant.immediate is None:
            return None
        if operand.dtype.is_integer or operand.dtype.lanes > 1 or not constant.dtype.is_integer:
            return None
        return f"{self.immediate} is a number of type {constant.dtype}, {operand.dtype} takes a floating-point number"


class ImmediateFits(Rule):
    """An integer destination takes an integer constant in its range; a packed one only 0."""

    ID = "X-MEMSET"
    immediate: str
    role: str

    @property
    def statement(self) -> str:
        return f"{self.immediate} must be a value of {self.role}'s type; a packed type takes only 0"

    def check(self, operands: Operands, target: Target | None) -> str | None:
        constant, operand = operands.one(self.immediate), operands.one(self.role)
        if constant is None or operand is None or constant.immediate is None:
            return None
        value, dtype = constant.immediate, operand.dtype
        if dtype.lanes > 1:
            return f"{self.immediate} is {value}, a packed type takes only 0" if value else None
        if not dtype.is_integer:
            return None
        if isinstance(value, float) and not value.is_integer():
            return f"{self.immediate} is {value}, {dtype} takes an integer"
        if not dtype.min <= value <= dtype.max:
            return f"{self.immediate} is {value}, {dtype} holds {dtype.min} to {dtype.max}"
        return None

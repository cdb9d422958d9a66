"""The verifier of instructions: their shape, their operands, the rules of the instruction set.

Ops of a class that are the same in all that this looks at are legal or not together. Their signature is what that is,
and an op with the signature of one that was found legal before is not looked at again.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, cast

from xdsl.dialects.builtin import ArrayAttr, StringAttr
from xdsl.ir import Attribute, OpResult, SSAValue
from xdsl.irdl import AnyAttr, AttrConstraint, BaseAttr, OptPropertyDef
from xdsl.traits import MemoryEffect
from xdsl.utils.exceptions import VerifyException

from nki_mlir.dialects import affine
from nki_mlir.dialects.access import Access
from nki_mlir.dialects.affine import Expr
from nki_mlir.dialects.attributes import ExprAttr, Immediate, IndexType, MemType, RegisterAttr, RegisterType
from nki_mlir.dialects.instruction import InstructionOp, Use, guard_indices, operands_of
from nki_mlir.dialects.operands import (
    Ranges,
    admission,
    index_range,
    operands_seen,
    placement_of,
    ranges_of,
    target_of,
)
from nki_mlir.dialects.places import verify_inside_function

Signature: TypeAlias = tuple[object, ...]
"""All that decides whether an op of a class is legal."""


class Legality:
    """Decides whether ops of one class are legal; `custom` is the `verify_` that the class was given."""

    def __init__(self, cls: type[InstructionOp], custom: Callable[[Any], None]) -> None:
        self._definition = cls.get_irdl_definition()
        properties = self._definition.properties
        self._custom = custom
        self._classes = {name: _class_of(part.constr) for name, part in properties.items()}
        self._required = [name for name, part in properties.items() if not isinstance(part, OptPropertyDef)]
        self._successors = len(self._definition.successors)
        self._traits = [trait for trait in self._definition.traits if not isinstance(trait, MemoryEffect)]
        self._roles = tuple(role.name for role in cls.ROLES)
        self._others = tuple(n for n in properties if n not in self._roles and n not in ("name", "when"))
        # What such a class looks at beside its operands, a signature does not tell.
        varies = custom is not InstructionOp.verify_ or any(role.variadic for role in cls.ROLES)
        self._admitted: set[Signature] | None = None if varies or self._traits or self._successors else set()

    def verify(self, op: InstructionOp) -> None:
        """Raises `VerifyException` if the op does not have the shape of its class, or is not legal.

        Asking xDSL's definition about the shape costs as much as all rules of the instruction. So properties of the
        classes that it names are looked up here; only where that is not certain, the definition judges, and words the
        error.
        """
        verify_inside_function(op)
        properties = op.properties
        certain = not op.results and not op.regions and len(op.successors) == self._successors
        for name, held in properties.items():
            expected = self._classes.get(name)
            if expected is not Attribute and type(held) is not expected:
                certain = False
        for name in self._required:
            if name not in properties:
                certain = False
        for name in op.attributes:
            if name in self._classes:
                raise VerifyException(f"has '{name}' among its attributes, where it is a property")
        if not certain:
            self._definition.verify(op)
        else:
            for trait in self._traits:
                trait.verify(op)
        self._custom(op)

    def unknown(self, op: InstructionOp) -> Signature | None:
        """Returns the signature of an op if none was found legal that has it; the empty one if it has none of its own,
        and None if it is legal.
        """
        admitted = self._admitted
        if admitted is None:
            return ()
        signature = self._signature(op)
        return None if signature in admitted else signature

    def admit(self, signature: Signature) -> None:
        """Notes that an op with this signature, as `unknown` returned it, is legal."""
        if signature and self._admitted is not None:
            self._admitted.add(signature)

    def _signature(self, op: InstructionOp) -> Signature:
        properties, values = op.properties, op._operands  # pyright: ignore[reportPrivateUsage]
        successors = op._successors  # pyright: ignore[reportPrivateUsage]
        block = op.parent
        region = None if block is None else block.parent
        holder = None if region is None else region.parent
        if holder is None or op.attributes or op.results or op.regions or successors or "when" in properties:
            return ()
        last = op.next_op is None
        if last and len(region.blocks) > 1:  # pyright: ignore[reportOptionalMemberAccess]
            return ()
        label = properties.get("name")
        known = 0 if label is None else 1
        if known and type(label) is not StringAttr:
            return ()
        found: list[object] = [target_of(holder), type(holder), last]
        position, end = 0, len(values)
        for name in self._roles:
            held: Any = properties.get(name)
            found.append(held)
            if held is None:
                continue
            known += 1
            if type(held) is Immediate:
                continue
            if type(held) is Access:
                if position == end:
                    return ()
                storage = values[position]
                position += 1
                mem = storage.type
                if type(mem) is not MemType or type(storage) is not OpResult or position + held.indices > end:
                    return ()
                ranges = _ranges(values[position : position + held.indices]) if held.indices else ()
                placement = placement_of(storage, held.data.block)
                form = None if ranges is None else admission(held, mem, placement, ranges)
                if form is None:
                    return ()
                found[-1] = form
                found += mem, placement, ranges
            elif type(held) is ExprAttr and (ranges := _ranges(values[position : position + held.indices])) is not None:
                found.append(ranges)
            else:
                return ()
            position += held.indices
        for name in self._others:
            held = properties.get(name)
            found.append(held)
            if held is not None:
                known += 1
        return tuple(found) if position == end and known == len(properties) else ()


def _ranges(values: Sequence[SSAValue]) -> tuple[range, ...] | None:
    """Returns the values of loop variables, None if one of them is something else or stands there twice."""
    found: list[range] = []
    for value in values:
        domain = index_range(value)
        if domain is None or type(value.type) is not IndexType:
            return None
        found.append(domain)
    return tuple(found) if len(found) < 2 or len(set(values)) == len(found) else None


def _class_of(constraint: AttrConstraint[Any]) -> type[Attribute] | None:
    """Returns the class whose attributes the constraint allows, `Attribute` for any, None if it is not that simple."""
    if isinstance(constraint, AnyAttr):
        return Attribute
    return cast("type[Attribute]", constraint.attr) if isinstance(constraint, BaseAttr) else None


def verify_instruction(op: InstructionOp) -> None:
    """Raises `VerifyException` if the op's operands are not what its patterns say, or break a rule of the ISA."""
    for role in op.ROLES:
        if role.variadic and not isinstance(op.properties[role.name], ArrayAttr):
            raise VerifyException(f"{role.name} must be an array of access patterns")
    uses = list(operands_of(op))
    ranges = ranges_of(op, uses)
    used = 0
    for use in uses:
        _verify_use(op, use, ranges)
        used += len(use.indices) if use.storage is None else 1 + len(use.indices)
    guards = 0 if op.when is None else op.when.indices
    values = len(op.operands)
    if used + guards != values:
        raise VerifyException(f"patterns name {used + guards} values, the op has {values}")
    if guards:
        _verify_indices("when", guard_indices(op))
    isa = op.descriptor()
    if isa is None:
        return
    found = isa.violation(operands_seen(op, uses, ranges), target_of(op))
    if found is not None:
        message, rule = found
        raise VerifyException(f"{message} [{rule.identifier}]")


def _verify_use(op: InstructionOp, use: Use, ranges: Ranges | None) -> None:
    pattern, role = use.pattern, use.role
    kind = _KINDS.get(type(pattern))
    if isinstance(pattern, ExprAttr) and pattern.data.is_list:
        kind = "list"
    if kind is None or kind not in role.kinds:
        found = f"the number {pattern.text()}" if isinstance(pattern, Immediate) else _PHRASES.get(kind or "", pattern)
        allowed = " or ".join(_PHRASES[kind] for kind in sorted(role.kinds))
        raise VerifyException(f"{use.label} is {found}, it must be {allowed}")
    if use.storage is not None:
        mem = use.storage.type
        if kind == "register":
            if not isinstance(mem, RegisterType):
                raise VerifyException(f"{use.label} must be a register, got a value of type {mem}")
            return
        if type(mem) is not MemType:
            raise VerifyException(f"{use.label} must access storage, got a value of type {mem}")
        access = cast(Access, pattern)
        fields = access.data
        if mem.on_chip is (fields.partition is None):
            place = "has a partition part" if access.on_chip else "has no partition part"
            raise VerifyException(f"{use.label} {place}, but its storage is in {mem.space}")
        if fields.indirect is not None and all(role.group != "indirection" for role in op.ROLES):
            raise VerifyException(f"{use.label} is indexed at run time, which this instruction has no operand for")
        if fields.block != 0 and ranges is not None:
            _verify_block(use, fields.block, mem.blocks, [ranges(value) for value in use.indices])
    if use.indices:
        _verify_indices(use.label, use.indices)


def _verify_block(use: Use, block: Expr, blocks: int, ranges: Sequence[affine.Domain | None]) -> None:
    bounds = affine.interval(block, ranges)
    if bounds is not None and not 0 <= bounds[0] <= bounds[1] < blocks:
        bounds = affine.exact_interval(block, ranges)
    if bounds is not None and not 0 <= bounds[0] <= bounds[1] < blocks:
        wrong = bounds[0] if bounds[0] < 0 else bounds[1]
        raise VerifyException(f"{use.label} accesses block {wrong}, its storage has {blocks} [X-FMAX]")


_PHRASES = {
    "storage": "storage",
    "number": "a number",
    "register": "a register",
    "expression": "an expression",
    "list": "a list of expressions",
}
_KINDS: dict[type, str] = {Access: "storage", Immediate: "number", RegisterAttr: "register", ExprAttr: "expression"}


def _verify_indices(label: str, indices: Sequence[SSAValue]) -> None:
    for value in indices:
        if type(value.type) is not IndexType and type(value.type) is not RegisterType:
            raise VerifyException(
                f"{label} is indexed by a value of type {value.type}, not a loop variable or register"
            )
    if len(set(indices)) < len(indices):
        raise VerifyException(f"{label} has the same value twice among its index values, where text has it once")

"""Semantic functions: what an API call means, checked at the kernel's own line and recorded.

Every function takes the destination first and mirrors one hardware instruction. Both API generations end here; the
rules that are checked are the objects that the dialects verify with.
"""

from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from math import prod
from typing import TYPE_CHECKING, Any

from nki_mlir.dialects.affine import LARGEST, Domain
from nki_mlir.dialects.domains import Condition, masks, narrowed
from nki_mlir.dialects.operands import figures
from nki_mlir.frontend.catalogue import NkiValidationError, breach
from nki_mlir.frontend.errors import (
    NKISyntaxError,
    NKITypeError,
    NKIValueError,
    err_local_variable_used_out_of_scope,
    shown,
)
from nki_mlir.frontend.locations import here
from nki_mlir.frontend.masks import AxisLimit, axis_limits, check_bounds, extent, guards, restrict
from nki_mlir.frontend.records import Likeness, Record, constant
from nki_mlir.frontend.storage import Encoded, Tile, expression
from nki_mlir.frontend.symbolic import EQ, NE, Atom, Pred, Sym, Var, concretise
from nki_mlir.isa.dtypes import Dtype
from nki_mlir.isa.enums import (
    AccumulateCommand,
    ActivationFunction,
    AluOp,
    AxisList,
    DgeType,
    Engine,
    MatmultPerfMode,
    MemorySpace,
    OobMode,
)
from nki_mlir.isa.instructions import INSTRUCTIONS
from nki_mlir.isa.instructions.base import Instruction
from nki_mlir.isa.instructions.memory import PRIORITY
from nki_mlir.isa.instructions.select import SELECT_REDUCE
from nki_mlir.isa.operands import Operand, Operands
from nki_mlir.isa.rules import Rule, check_all
from nki_mlir.transforms.unroll import MOST_INSTRUCTIONS

if TYPE_CHECKING:
    from nki_mlir.frontend.context import TraceContext

AXES = {1: AxisList.X, 2: AxisList.XY, 3: AxisList.XYZ, 4: AxisList.XYZW}


class Number:
    """An immediate: a Python number and the type it is encoded in."""

    __slots__ = ("dtype", "value")

    def __init__(self, value: float, dtype: Dtype) -> None:
        self.value = value
        self.dtype = dtype

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Number) and (repr(self.value), self.dtype) == (repr(other.value), other.dtype)

    def __hash__(self) -> int:
        return hash((self.value, self.dtype))

    def __repr__(self) -> str:
        return f"{self.value} : {self.dtype}"


def number(value: Any, dtype: Dtype | None = None) -> Number:
    """Returns an immediate. Without a type, an int is an i32, or a u32 where only that holds it, and a float an f32;
    numpy scalars keep their type, if it is not one of 64 bits, which Python's own numbers are too.

    Raises:
        NKITypeError: the value is no number that NKI has a type for.
        NKIValueError: it is too large for its type.
    """
    plain = getattr(value, "item", lambda: value)()
    own = getattr(value, "dtype", None)
    if not isinstance(plain, int | float) or isinstance(own, Dtype):
        raise NKITypeError(f"expected a number, got {value!r}", rule="immediate")
    if dtype is None:
        if own is None or own.itemsize == 8 or isinstance(plain, bool):
            dtype = _type_of_integer(plain) if isinstance(plain, int) else Dtype.F32
        else:
            dtype = Dtype.from_api(own)
    if dtype.is_integer:
        if not dtype.min <= int(plain) <= dtype.max:
            raise NKIValueError(f"the number {plain} does not fit {dtype}", rule="immediate")
        return Number(int(plain), dtype)
    try:
        return Number(float(plain), dtype)
    except OverflowError:
        raise NKIValueError(f"the number {plain} does not fit {dtype}", rule="immediate") from None


def _type_of_integer(value: int) -> Dtype:
    return Dtype.U32 if Dtype.I32.max < value <= Dtype.U32.max else Dtype.I32


def flag(value: Any) -> Any:
    """Returns True or None for a truth value of Python or numpy, or an integer; anything else that is true as it is."""
    if not value:
        return None
    return True if isinstance(getattr(value, "item", lambda: value)(), int) else value


Operandish = Tile | Number | None
OUTPUTS = {name: frozenset(i.role_names[: i.outs]) for name, i in INSTRUCTIONS.items()}


_HELD = (int, Enum, Sym, tuple)
"""What the parameters of instructions may be."""


_likes: dict[str, dict[tuple[Any, ...], Likeness]] = {}
"""What legal records that are alike have in common, by target and by all that rules see of them; for all traces."""


class Sema:
    """The semantic functions of one trace."""

    def __init__(self, context: "TraceContext") -> None:
        self.context = context
        self._likes = _likes.setdefault(context.target.name, {})

    # Recording ----------------------------------------------------------------------------------------------------

    def record(
        self,
        isa: str,
        roles: Mapping[str, Operandish],
        attributes: Mapping[str, Any],
        *,
        name: str | None = None,
        mask: Pred | bool = True,
        domain: str = "dst",
        depth: int = 3,
        check: bool = True,
    ) -> Record | None:
        """Checks an instruction against the hardware's rules and records it.

        `mask` shrinks the operands over the iteration domain of role `domain`, or guards the instruction; False
        records nothing. `depth` is how many frames above this one the user's code begins; `check` is False for what
        is legal only after the trace has been finished. Returns the record.

        Raises:
            NKISyntaxError: a tensor was made in a loop that has ended.
            NKITypeError: the name is none.
            NkiValidationError: a rule of the instruction set does not hold.
        """
        if mask is False:
            self._remember_part(isa, roles, (), False)
            return None
        predicates: tuple[Atom, ...] = ()
        if mask is not True:
            masked = self._masked(isa, {r: value for r, value in roles.items() if value is not None}, mask, domain)
            if masked is None:
                return None
            roles, predicates = masked
        held: dict[str, Tile | Number] = {}
        forms: list[Any] = []
        outside = False
        for role, value in roles.items():
            if value is None:
                continue
            if type(value) is Number:
                held[role] = value
                forms.append((value.dtype, value.value))
                continue
            tile: Any = value  # no cast: a call of it costs as much as the rest of a line
            if tile.grid is not None:
                check_bounds(tile, mask)
            encoded = tile.encoded
            if encoded is None or encoded.form is None:
                encoded = tile.encode_plain()
                if encoded is None:
                    tile = tile.settled()
                    encoded = tile.encode()
                if encoded.form is None:
                    outside = True
            held[role] = tile
            forms.append(encoded.form)
            scope = tile.storage.scope
            if scope is not None and not scope.instance.open:
                raise err_local_variable_used_out_of_scope(tile.label)
        descriptor = INSTRUCTIONS[isa]
        seen = (isa, *attributes, *attributes.values(), *held, *forms)
        like = None if outside else self._likes.get(seen)
        if like is not None:
            given = like.attributes
        else:
            given = {key: value for key, value in attributes.items() if value is not None}
            if check:
                self._check(descriptor, held, given, predicates)
                if not outside and all(map(constant, given.values())):
                    like = self._likes[seen] = Likeness(given)
        for role in OUTPUTS[isa]:
            written: Any = held.get(role)
            if written is not None:
                storage = written.storage
                if storage.part is not None and (storage.written or mask is True):
                    storage.part = None
                storage.written = True
        context = self.context
        if name is not None:
            if not isinstance(name, str):  # pyright: ignore[reportUnnecessaryIsInstance]
                raise NKITypeError(f"{isa}: its name must be a string, got {shown(name)}", rule="name")
            given = {**given, "name": context.names.unique(name, numbered=False)}
        record = Record(descriptor, held, given, predicates, here(depth), like)
        recorder = context.recorder
        recorder.body.append(record)
        recorder.count += 1
        if recorder.count > MOST_INSTRUCTIONS:
            raise NKIValueError(
                f"the kernel has more than {MOST_INSTRUCTIONS} instructions with its loops unrolled", rule="loop"
            )
        return record

    def _masked(
        self, isa: str, roles: Mapping[str, Operandish], mask: Pred, domain: str
    ) -> "tuple[dict[str, Operandish], tuple[Atom, ...]] | None":
        """Returns the operands that a mask leaves and the guards in it, or None if nothing is left."""
        shape = roles[domain]
        assert isinstance(shape, Tile)
        limits, _ = axis_limits(mask, shape)
        self._remember_part(isa, roles, limits, mask)
        left: dict[str, Operandish] = {}
        for role, value in roles.items():
            if isinstance(value, Tile):
                check_bounds(value, mask)
                cut = restrict(value, aligned(limits, value)) if len(value.shape) <= len(limits) else value
                if cut is None:
                    self._remember_part(isa, roles, (), False)
                    return None
                left[role] = cut
            else:
                left[role] = value
        return left, guards(mask)

    def _remember_part(
        self, isa: str, roles: Mapping[str, Operandish], limits: "Sequence[AxisLimit | None]", mask: Pred | bool
    ) -> None:
        """Notes at whole tensors that nothing has written yet which part a mask leaves of them."""
        for role in OUTPUTS[isa]:
            tile = roles.get(role)
            if isinstance(tile, Tile) and not tile.allocation.written and tile.shape == tile.storage.shape:
                tile.allocation.part = (aligned(limits, tile), mask)

    def _check(
        self,
        isa: Instruction,
        roles: "Mapping[str, Tile | Number]",
        attributes: Mapping[str, Any],
        predicates: Sequence[Atom],
    ) -> None:
        """Raises `NkiValidationError` if a rule of the instruction does not hold."""
        for key, value in attributes.items():
            if not isinstance(value, _HELD):
                raise NKITypeError(f"{isa.name}: {key} must be an integer, a flag or an enum, got {value!r}", rule=key)
            if isinstance(value, int) and not -LARGEST <= value < LARGEST:
                raise NKIValueError(f"{isa.name}: {key} must be an integer of 64 bits, got {value}", rule=key)
        error = self.violation(isa, roles, attributes, predicates)
        if error is not None:
            raise error

    def violation(
        self,
        isa: Instruction,
        roles: "Mapping[str, Tile | Number]",
        attributes: Mapping[str, Any],
        predicates: Sequence[Atom] = (),
    ) -> NkiValidationError | None:
        """Returns the error of the first rule of the instruction that does not hold, or None."""
        operands: dict[str, Operand] = {}
        accesses = {role: value.encode() for role, value in roles.items() if not isinstance(value, Number)}
        domains = _domains(accesses.values(), predicates)
        for role, value in roles.items():
            if isinstance(value, Number):
                operands[role] = Operand(dtype=value.dtype, immediate=value.value)
                continue
            access, variables, _ = accesses[role]
            ranges = None if domains is None else [domains[variable] for variable in variables]
            operands[role] = figures(access, value.allocation.mem, value.allocation.place, ranges)
        found = check_all(isa.rules, Operands(operands, attributes), self.context.target)
        if found is None:
            return None
        return breach(isa.name, *found)

    def require(
        self, api: str, rules: tuple[Rule, ...], roles: "Mapping[str, Tile | Number]", attributes: Mapping[str, Any]
    ) -> None:
        """Checks rules that an API function has besides those of its instruction; they see types and free sizes.

        Raises:
            NkiValidationError: one of them does not hold.
        """
        operands = {
            role: Operand(dtype=value.dtype, immediate=value.value)
            if isinstance(value, Number)
            else Operand(dtype=value.element, space=value.buffer, free=prod(value.shape[1:]))
            for role, value in roles.items()
        }
        found = check_all(rules, Operands(operands, attributes), self.context.target)
        if found is not None:
            raise breach(api, *found)

    # Instructions -------------------------------------------------------------------------------------------------

    def memset(self, dst: Tile, value: Any, engine: Engine | None, **how: Any) -> None:
        dtype = dst.element if dst.element.is_integer and isinstance(value, int) else Dtype.F32
        self.record("memset", {"dst": dst, "value": number(value, dtype)}, {"engine": engine}, **how)

    def dma_copy(
        self,
        dst: Tile,
        src: Tile,
        *,
        dge_type: DgeType | None = None,
        oob_mode: OobMode | None = None,
        engine: Engine | None = None,
        priority: int | None = None,
        **how: Any,
    ) -> None:
        attributes = {"dge_type": dge_type, "oob_mode": oob_mode, "engine": engine, "priority": priority}
        self.require("dma_copy", PRIORITY, {}, attributes)
        isa = "dma_copy"
        if not src.on_chip and dst.on_chip:
            isa = "dma_load"
        elif src.on_chip and not dst.on_chip:
            isa = "dma_save"
        self.record(isa, {"dst": dst, "src": src}, attributes, **how)

    def tensor_copy(self, dst: Tile, src: Tile, engine: Engine | None, **how: Any) -> None:
        self.record("tensor_copy", {"dst": dst, "src": src}, {"engine": engine}, **how)

    def tensor_tensor(self, dst: Tile, data1: Tile, data2: Tile, op: AluOp, engine: Engine | None, **how: Any) -> None:
        self.record("tensor_tensor", {"dst": dst, "data1": data1, "data2": data2}, {"op": op, "engine": engine}, **how)

    def tensor_scalar(
        self,
        dst: Tile,
        data: Tile,
        op0: AluOp,
        operand0: Operandish,
        op1: AluOp | None,
        operand1: Operandish,
        *,
        reverse0: bool = False,
        reverse1: bool = False,
        engine: Engine | None = None,
        **how: Any,
    ) -> None:
        roles = {"dst": dst, "data": data, "operand0": operand0, "operand1": operand1}
        attributes = {
            "op0": op0,
            "op1": op1,
            "reverse0": flag(reverse0),
            "reverse1": flag(reverse1),
            "engine": engine,
        }
        self.record("tensor_scalar", roles, attributes, **how)

    def scalar_tensor_tensor(
        self,
        dst: Tile,
        data: Tile,
        op0: AluOp,
        operand0: Operandish,
        op1: AluOp,
        operand1: Tile,
        *,
        reverse0: bool = False,
        reverse1: bool = False,
        engine: Engine | None = None,
        **how: Any,
    ) -> None:
        roles = {"dst": dst, "data": data, "operand0": operand0, "operand1": operand1}
        attributes = {
            "op0": op0,
            "op1": op1,
            "reverse0": flag(reverse0),
            "reverse1": flag(reverse1),
            "engine": engine,
        }
        self.record("scalar_tensor_tensor", roles, attributes, **how)

    def activation(
        self,
        dst: Tile,
        func: ActivationFunction,
        data: Tile,
        bias: Operandish,
        scale: Operandish,
        *,
        reduce_op: AluOp | None = None,
        reduce_res: Tile | None = None,
        accumulate: AccumulateCommand | None = None,
        **how: Any,
    ) -> None:
        if func is ActivationFunction.PRELU:
            message = "activation: op prelu has a slope, relu_param, which this instruction does not take"
            raise NKISyntaxError(message, rule="instruction_unsupported_op")
        roles = {"dst": dst, "reduce_res": reduce_res, "data": data, "bias": bias, "scale": scale}
        self.record("activation", roles, {"func": func, "accumulate": accumulate, "reduce_op": reduce_op}, **how)

    def reciprocal(self, dst: Tile, data: Tile, **how: Any) -> None:
        self.record("reciprocal", {"dst": dst, "data": data}, {}, **how)

    def tensor_reduce(self, dst: Tile, op: AluOp, data: Tile, axes: int, *, negate: bool = False, **how: Any) -> None:
        """Reduces the innermost `axes` dimensions of `data`."""
        attributes = {"op": op, "axis": AXES[axes], "negate": flag(negate)}
        self.record("tensor_reduce", {"dst": dst, "data": data}, attributes, **how)

    def partition_reduce(self, dst: Tile, op: AluOp, data: Tile, **how: Any) -> None:
        self.record("partition_reduce", {"dst": dst, "data": data}, {"op": op}, **how)

    def bn_stats(self, dst: Tile, data: Tile, **how: Any) -> None:
        self.record("bn_stats", {"dst": dst, "data": data}, {}, **how)

    def bn_aggr(self, dst: Tile, data: Tile, **how: Any) -> None:
        self.record("bn_aggr", {"dst": dst, "data": data}, {}, **how)

    def iota(
        self,
        dst: Tile,
        pattern: Sequence[tuple[int, int]],
        offset: int,
        channel_multiplier: int,
        *,
        mask: Pred | bool = True,
        **how: Any,
    ) -> None:
        attributes = _positions(dst, pattern, offset, channel_multiplier, mask)
        self.record("iota", {"dst": dst}, attributes, mask=mask, **how)

    def affine_select(
        self,
        dst: Tile,
        pattern: Sequence[tuple[int, int]],
        offset: int,
        channel_multiplier: int,
        on_true: Tile,
        on_false: float,
        cmp_op: AluOp,
        *,
        mask: Pred | bool = True,
        **how: Any,
    ) -> None:
        attributes = {**_positions(dst, pattern, offset, channel_multiplier, mask), "cmp_op": cmp_op}
        roles = {"dst": dst, "on_true": on_true, "on_false": number(on_false, Dtype.F32)}
        self.record("affine_select", roles, attributes, mask=mask, **how)

    def select(self, dst: Tile, predicate: Tile, on_true: Operandish, on_false: Operandish, **how: Any) -> None:
        roles = {"dst": dst, "predicate": predicate, "on_true": on_true, "on_false": on_false}
        self.record("select", roles, {}, **how)

    def select_reduce(
        self,
        dst: Tile,
        predicate: Tile,
        on_true: Tile,
        on_false: "Tile | Number",
        *,
        reduce_op: AluOp | None = None,
        reverse_pred: bool = False,
        **how: Any,
    ) -> None:
        """A select without reduction; with `reverse_pred` on_true is taken where the predicate is 0."""
        given = {"predicate": predicate, "on_true": on_true, "on_false": on_false}
        self.require("select_reduce", SELECT_REDUCE, given, {"reduce_op": reduce_op})
        if reverse_pred:
            self.select(dst, predicate, _repeated(on_false, on_true.shape), on_true, **how)
        else:
            self.select(dst, predicate, on_true, on_false, **how)

    def copy_predicated(
        self, dst: Tile, src: Operandish, predicate: Tile, *, reverse_pred: bool = False, **how: Any
    ) -> None:
        roles = {"dst": dst, "src": src, "predicate": predicate}
        self.record("copy_predicated", roles, {"reverse_pred": flag(reverse_pred)}, **how)

    def matmul(
        self,
        dst: Tile,
        stationary: Tile,
        moving: Tile,
        *,
        accumulate: Any = None,
        is_transpose: bool = False,
        is_stationary_onezero: bool = False,
        is_moving_onezero: bool = False,
        tile_position: tuple[Any, ...] | None = None,
        tile_size: tuple[Any, ...] | None = None,
        perf_mode: MatmultPerfMode | None = None,
        **how: Any,
    ) -> None:
        """`accumulate`: True adds, False overwrites, None overwrites what was not written yet and adds to the rest."""
        attributes = {
            "is_transpose": flag(is_transpose),
            "is_stationary_onezero": flag(is_stationary_onezero),
            "is_moving_onezero": flag(is_moving_onezero),
            "accumulate": None if accumulate is None else int(concretise(accumulate)),
            "tile_position": tile_position or None,
            "tile_size": tile_size or None,
            "perf_mode": None if perf_mode is MatmultPerfMode.NONE else perf_mode,
        }
        roles = {"dst": dst, "stationary": stationary, "moving": moving}
        self.record("matmul", roles, attributes, **how)

    def transpose(self, dst: Tile, data: Tile, engine: Engine | None, **how: Any) -> None:
        """Transposes on the Tensor engine when the destination is in PSUM, else on the Vector engine."""
        if engine in (None, Engine.UNASSIGNED):
            engine = Engine.PE if dst.buffer is MemorySpace.PSUM else Engine.DVE
        self.record("transpose", {"dst": dst, "data": data}, {"engine": engine}, **how)


def _repeated(value: "Tile | Number", shape: tuple[int, ...]) -> "Tile | Number":
    """Returns a number as it is, and one element a partition repeated along the free dimensions of a shape."""
    if not isinstance(value, Tile):
        return value
    partitions = value.shape[0]
    return value.reshape((partitions, *(1 for _ in shape[1:]))).broadcast_to((partitions, *shape[1:]))


def _positions(
    dst: Tile, pattern: Sequence[tuple[int, int]], offset: int, channel_multiplier: int, mask: Pred | bool
) -> dict[str, Any]:
    """Returns the parameters that give an element its affine value, for the part of `dst` that a mask leaves.

    With a mask, the pattern has one pair for each free dimension. The instruction has no room for loop variables there.
    """
    pairs = tuple(pattern)
    if isinstance(mask, Pred):
        limits, _ = axis_limits(mask, dst)
        left = list(map(extent, limits, dst.shape))
        steps = channel_multiplier, *(step for step, _ in pairs)
        offset += sum(step * first for step, (first, _) in zip(steps, left, strict=True))
        pairs = tuple((step, count) for (step, _), (_, count) in zip(pairs, left[1:], strict=True))
    return {"pattern": pairs, "offset": offset, "channel_multiplier": channel_multiplier}


def _domains(accesses: Iterable[Encoded], predicates: Sequence[Atom]) -> dict[Var, Domain | None] | None:
    """Returns the values of loop variables for which an instruction with these accesses and predicates runs; None if it
    never does.
    """
    conditions: list[tuple[Condition, Sequence[Var]]] = []
    domains: dict[Var, Domain | None] = {}
    for access, variables, _ in accesses:
        domains.update((variable, (variable.lo, variable.hi - 1)) for variable in variables)
        if access.masked:
            conditions += ((condition, variables) for condition in masks(access))
    for expr, kind in predicates:
        if kind == NE:
            continue
        found, variables = expression(expr)
        domains.update((variable, (variable.lo, variable.hi - 1)) for variable in variables)
        conditions.append((Condition(found, kind == EQ), variables))
    return narrowed(domains, conditions) if conditions else domains


def aligned(limits: "Sequence[AxisLimit | None]", view: Tile) -> "list[AxisLimit | None]":
    """Aligns the limits of the iteration domain with the trailing dimensions of another operand."""
    rank = len(view.shape)
    return list(limits[len(limits) - rank :] if rank < len(limits) else limits)

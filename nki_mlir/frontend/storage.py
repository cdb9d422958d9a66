"""Storage as a trace allocates it, and views that know their access pattern."""

from collections.abc import Sequence
from contextlib import suppress
from itertools import count
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from xdsl.utils.exceptions import VerifyException

from nki_mlir.dialects import affine
from nki_mlir.dialects.access import MAXIMUM_PAIRS, Access, AccessFields, Pair, merged, numbered
from nki_mlir.dialects.affine import Expr
from nki_mlir.dialects.attributes import MemFields, MemType
from nki_mlir.dialects.operands import admission
from nki_mlir.frontend.errors import (
    KernelError,
    NKITypeError,
    NKIValueError,
    err_ambiguous_tensor_truth_value,
    err_view_shape,
)
from nki_mlir.frontend.locations import Frames
from nki_mlir.frontend.subscripts import FREE, PARTITION
from nki_mlir.frontend.symbolic import Sym, Var
from nki_mlir.frontend.tensors import Storage, View
from nki_mlir.isa.dtypes import Dtype
from nki_mlir.isa.enums import MemorySpace, TensorKind

if TYPE_CHECKING:
    from nki_mlir.frontend.records import Loop

ON_CHIP_PAIRS = 4
"""Free pairs that fit in an instruction beside its partition pair (rule BIR049)."""


class Allocation(Storage):
    """Storage of one trace.

    mem      the storage's type in the IR
    kind     what the tensor is to the outside
    written  whether some instruction writes it
    place    (first partition, byte address) that the kernel chose, or None
    fresh    whether it is the result of a value-returning function
    part     (limits of the dimensions, mask) that the one masked instruction that wrote it has left, else None
    frames   where the kernel made it, () for an argument
    boolean  whether its u8 elements are truth values to the user
    in_loop  whether a loop of the kernel makes it
    plain    the patterns of views without index values of all storage of its type and place, by what tells them apart
    """

    __slots__ = ("boolean", "frames", "fresh", "in_loop", "kind", "mem", "part", "place", "plain", "written")

    def __init__(
        self,
        shape: Sequence[int],
        dtype: Dtype,
        space: MemorySpace,
        name: str,
        *,
        partition_dim: int = 0,
        scope: "Loop | None" = None,
        kind: TensorKind = TensorKind.INTERNAL,
        place: tuple[int, int] | None = None,
        frames: Frames = (),
    ) -> None:
        super().__init__(shape, dtype, space, name, partition_dim, scope)
        inner = self.shape[self.partition_dim :] if self.on_chip else self.shape
        try:
            self.mem = MemType(MemFields(space, inner, dtype, prod(self.shape[: self.partition_dim])))
        except VerifyException as error:
            raise NKIValueError(f"tensor {name}: {error}", rule="shape") from None
        self.frames = frames
        self.kind = kind
        self.written = False
        self.place = place
        self.fresh = False
        self.part: Any = None
        self.boolean = False
        self.in_loop = False
        self.plain = _plain.setdefault((self.mem, place), {})


class Encoded(NamedTuple):
    """The access pattern of a view, and the loop variables that are its d0, d1, ….

    Views of one `form` are legal in the same instructions (`operands.admission`); None if that must be looked up.
    """

    access: Access
    variables: tuple[Var, ...] = ()
    form: int | None = None


_forms: dict[object, int] = {}
_numbers = count()
_plain: "dict[tuple[MemType, tuple[int, int] | None], dict[tuple[Any, ...], Encoded]]" = {}
"""The patterns of views without index values, by the type and place of the storage."""
_parts: dict[Any, dict[tuple[Any, ...], Any]] = {}
"""The parts of whole tensors of one class, shape, type and place, in whatever trace."""


class Tile(View):
    """A view that computes its access pattern once."""

    __slots__ = ()

    __array_priority__ = 1000

    def __init__(self, storage: Allocation) -> None:
        super().__init__(storage)
        self.parts = _parts.setdefault((type(self), storage.mem, storage.place, self.shape, self.layout), {})

    # What Python or numpy would ask of a tensor's values, which do not exist while tracing.

    def __bool__(self) -> bool:
        raise err_ambiguous_tensor_truth_value()

    def __iter__(self) -> NoReturn:
        raise NKITypeError(f"cannot iterate over tensor {self.label}; use an index", rule="tensor_iteration")

    def __len__(self) -> int:
        return self.shape[0]

    def __contains__(self, item: object) -> NoReturn:
        raise NKITypeError(
            f"'in' needs the values of {self.label}, which do not exist while tracing", rule="tensor_value"
        )

    def __array__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise NKITypeError(f"tensor {self.label} has no values while tracing", rule="tensor_value")

    def __index__(self) -> NoReturn:
        raise NKITypeError(
            f"tensor {self.label} is no number; its values do not exist while tracing", rule="tensor_value"
        )

    def __float__(self) -> NoReturn:
        raise NKITypeError(
            f"tensor {self.label} is no number; its values do not exist while tracing", rule="tensor_value"
        )

    __int__ = __index__

    @property
    def allocation(self) -> Allocation:
        """The storage as this trace allocated it."""
        storage = self.storage
        assert isinstance(storage, Allocation)
        return storage

    @property
    def dtype(self) -> Any:
        """The element type as kernels see it; each API has its own kind of value for it."""
        return self.element

    @property
    def boolean(self) -> bool:
        """Whether the elements are truth values."""
        return self.element is Dtype.U8 and self.allocation.boolean

    @property
    def buffer(self) -> MemorySpace:
        """The memory space of the storage."""
        return MemorySpace(self.storage.space)

    def encode(self) -> Encoded:
        """Returns the access pattern of a settled view."""
        found: Encoded | None = self.encoded or self.encode_plain()
        if found is None:
            found = self.encoded = encoded(self)
        return found

    def _keep(self) -> None:
        with suppress(KernelError, VerifyException):  # which is for the instruction that takes the view
            self.encode_plain()

    def encode_plain(self) -> Encoded | None:
        """Returns the access pattern of a view without symbols, which nearly all are; None of any other.

        It is known by sizes, steps, offsets and type, for the same ones come in other storage, and in other traces.
        """
        offsets: Any = self.offsets
        free, partition, block = offsets[2], offsets[1], offsets[0]
        if self.limits is not None or type(free) is not int or type(partition) is not int or type(block) is not int:
            return None
        allocation: Any = self.storage
        key = self.shape, self.layout, offsets, self.element
        found: Encoded | None = allocation.plain.get(key)
        if found is None:
            access = encoded(self).access
            mem, place = allocation.mem, allocation.place
            admitted = admission(access, mem, place)
            form = None if admitted is None else _forms.setdefault((mem, place, admitted), next(_numbers))
            found = allocation.plain[key] = Encoded(access, (), form)
        self.encoded = found
        return found


def encoded(view: View) -> Encoded:
    """Returns the access pattern of a settled view.

    Raises:
        NKITypeError: the view spans several blocks.
        NKIValueError: on chip, a free dimension stands before the partition dimension.
    """
    pattern = view.pattern()
    variables: dict[Var, int] = {}
    on_chip = view.on_chip
    if on_chip and PARTITION in pattern.order[1:] and pattern.order[0] == FREE:
        raise err_view_shape("access", f"the partition dimension of {view.label} must come first")
    fields = AccessFields(
        _expr(pattern.block, variables),
        _expr(pattern.partition, variables) if on_chip else None,
        _pairs(pattern.partition_pairs, variables) or (Pair(1, 1),) if on_chip else None,
        _expr(pattern.free, variables),
        _few(_pairs(pattern.free_pairs, variables) or (Pair(1, 1),), on_chip),
        view.element,
    )
    if not variables:
        return Encoded(Access(fields))
    access, order = numbered(fields)
    names = list(variables)
    return Encoded(access, tuple(names[number] for number in order))


def _few(pairs: tuple[Pair, ...], on_chip: bool) -> tuple[Pair, ...]:
    return merged(pairs) if len(pairs) > (ON_CHIP_PAIRS if on_chip else MAXIMUM_PAIRS) else pairs


Pairs = tuple[tuple[int, "int | tuple[int, tuple[Sym, ...]]"], ...]
"""(step, number) pairs of a view; a masked number comes with its bounds."""


def _pairs(pairs: Pairs, variables: dict[Var, int]) -> tuple[Pair, ...]:
    out: list[Pair] = []
    for step, number in pairs:
        if isinstance(number, int):
            out.append(Pair(step, number))
        else:
            size, bounds = number
            out.append(Pair(step, size, tuple(_expr(bound, variables) for bound in bounds)))
    return tuple(out)


def _expr(value: "int | Sym", variables: dict[Var, int]) -> Expr:
    """Turns an index, affine in loop variables, into an expression over their numbers in `variables`."""
    if isinstance(value, int):
        return value
    terms: list[tuple[int, int]] = []
    for term, coefficient in value.terms.items():
        assert isinstance(term, Var), term
        terms.append((coefficient, variables.setdefault(term, len(variables))))
    return affine.make(value.const, terms)


def expression(value: "int | Sym") -> "tuple[Expr, tuple[Var, ...]]":
    """Returns an index as an expression, and the loop variables that are its d0, d1, …"""
    variables: dict[Var, int] = {}
    return _expr(value, variables), tuple(variables)

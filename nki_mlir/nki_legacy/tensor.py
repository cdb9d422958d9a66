"""The tensor of the older API: operators and numpy functions record instructions and return fresh tiles.

Source: NKI ISA reference, §3.4, §3.6; tracing notes, §4.3 and §6.
"""

from collections.abc import Sequence
from typing import Any

from nki_mlir.frontend import functions_elementwise as elementwise
from nki_mlir.frontend.conflicts import check_affine_loops
from nki_mlir.frontend.context import TraceContext, nki_ctx
from nki_mlir.frontend.create import element_type
from nki_mlir.frontend.errors import err_annotation_shape_mismatch
from nki_mlir.frontend.functions import assign
from nki_mlir.frontend.functions_folding import fold_assignments
from nki_mlir.frontend.kernel import Generation
from nki_mlir.frontend.storage import Tile
from nki_mlir.isa.dtypes import Dtype
from nki_mlir.isa.enums import AluOp
from nki_mlir.nki_legacy.dtypes import ElementType, type_of_tensor


def _binary(api: str, op: AluOp, *, comparison: bool = False, reverse: bool = False) -> Any:
    def method(self: Tile, other: Any) -> Any:
        if other is None or isinstance(other, str | list | tuple | dict):
            return NotImplemented
        x, y = (other, self) if reverse else (self, other)
        return elementwise.binary(api, op, x, y, Dtype.U8 if comparison else None, partitions=False)

    return method


def _in_place(api: str, op: AluOp) -> Any:
    def method(self: Tile, other: Any) -> Any:
        elementwise.in_place(api, op, self, other)
        nki_ctx().updated = self
        return self

    return method


class LegacyTile(Tile):
    """A tensor in HBM, SBUF or PSUM, or a part of one: shape, dtype, ndim, itemsize.

    Operators work element by element and do not broadcast over partitions; `+=` and its kin write the tensor itself,
    and so does an assignment to `tensor[...]`.
    """

    __slots__ = ()
    __hash__ = object.__hash__

    __add__, __radd__ = _binary("add", AluOp.ADD), _binary("add", AluOp.ADD, reverse=True)
    __sub__, __rsub__ = _binary("subtract", AluOp.SUBTRACT), _binary("subtract", AluOp.SUBTRACT, reverse=True)
    __mul__, __rmul__ = _binary("multiply", AluOp.MULT), _binary("multiply", AluOp.MULT, reverse=True)
    __truediv__, __rtruediv__ = _binary("divide", AluOp.DIVIDE), _binary("divide", AluOp.DIVIDE, reverse=True)
    __mod__, __rmod__ = _binary("mod", AluOp.MOD), _binary("mod", AluOp.MOD, reverse=True)
    __pow__, __rpow__ = _binary("power", AluOp.POW), _binary("power", AluOp.POW, reverse=True)
    __lshift__ = _binary("left_shift", AluOp.LOGICAL_SHIFT_LEFT)
    __rlshift__ = _binary("left_shift", AluOp.LOGICAL_SHIFT_LEFT, reverse=True)
    __rshift__ = _binary("right_shift", AluOp.LOGICAL_SHIFT_RIGHT)
    __rrshift__ = _binary("right_shift", AluOp.LOGICAL_SHIFT_RIGHT, reverse=True)
    __and__, __rand__ = (
        _binary("bitwise_and", AluOp.BITWISE_AND),
        _binary("bitwise_and", AluOp.BITWISE_AND, reverse=True),
    )
    __or__, __ror__ = _binary("bitwise_or", AluOp.BITWISE_OR), _binary("bitwise_or", AluOp.BITWISE_OR, reverse=True)
    __xor__, __rxor__ = (
        _binary("bitwise_xor", AluOp.BITWISE_XOR),
        _binary("bitwise_xor", AluOp.BITWISE_XOR, reverse=True),
    )
    __eq__ = _binary("equal", AluOp.IS_EQUAL, comparison=True)
    __ne__ = _binary("not_equal", AluOp.NOT_EQUAL, comparison=True)
    __lt__ = _binary("less", AluOp.IS_LT, comparison=True)
    __le__ = _binary("less_equal", AluOp.IS_LE, comparison=True)
    __gt__ = _binary("greater", AluOp.IS_GT, comparison=True)
    __ge__ = _binary("greater_equal", AluOp.IS_GE, comparison=True)

    __iadd__ = _in_place("add", AluOp.ADD)
    __isub__ = _in_place("subtract", AluOp.SUBTRACT)
    __imul__ = _in_place("multiply", AluOp.MULT)
    __itruediv__ = _in_place("divide", AluOp.DIVIDE)

    def __neg__(self) -> Tile:
        return elementwise.negative("negative", self)

    def __invert__(self) -> Tile:
        return elementwise.inverted("invert", self)

    def __setitem__(self, key: Any, value: Any) -> None:
        assign(self[key], value)

    # numpy

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, out: Any = None, **options: Any) -> Any:
        from nki_mlir.nki_legacy import numpy_protocol

        return numpy_protocol.ufunc(ufunc, method, inputs, out, options)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        from nki_mlir.nki_legacy import numpy_protocol

        return numpy_protocol.function(func, args, kwargs)

    # Methods

    @property
    def dtype(self) -> ElementType:
        """The element type: equal to numpy's and to the API's, and a key of dictionaries that have the API's."""
        return type_of_tensor(self.element, self.boolean)

    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
        return self.element.size

    def astype(self, dtype: Any) -> Tile:
        """Returns a copy of another type."""
        return elementwise.copied("astype", self, dtype)

    def view(self, dtype: Any) -> "LegacyTile":
        """The same bytes as another element type."""
        return super().view(element_type(dtype))

    def expand_dims(self, axis: int) -> "LegacyTile":
        """Adds a dimension of size 1 at `axis`, which is not 0 on chip."""
        return self.expand_dim(axis)

    def assert_shape(self, shape: Sequence[int]) -> "LegacyTile":
        """Returns the tensor itself.

        Raises:
            NKITypeError: it has another shape.
        """
        if self.shape != tuple(shape):
            raise err_annotation_shape_mismatch(self.label, self.shape, tuple(shape))
        return self

    def reshape(self, shape: Any, *more: Any) -> "LegacyTile":
        """The same elements in another shape, given as one sequence or as several numbers."""
        return super().reshape(_sizes(shape, more))

    def broadcast_to(self, shape: Any, *more: Any) -> "LegacyTile":
        """A view with dimensions of size 1 repeated, the shape given as one sequence or as several numbers."""
        return super().broadcast_to(_sizes(shape, more))


def _sizes(shape: Any, more: tuple[Any, ...]) -> Any:
    return shape if isinstance(shape, Sequence) else (shape, *more)  # pyright: ignore[reportUnknownVariableType]


def finish(context: TraceContext) -> None:
    """Finishes a trace of this API."""
    fold_assignments(context)
    check_affine_loops(context.recorder.root)


LEGACY = Generation("neuronxcc.nki", LegacyTile, rolls=True, any_grid=True, shared_outputs=False, finish=finish)

"""The tensor of the current API: a view of storage whose methods move no data."""

from typing import Any, NoReturn

from nki_mlir.diagnostics import NkiError
from nki_mlir.frontend.errors import NKINotImplementedError, NKITypeError
from nki_mlir.frontend.kernel import Generation
from nki_mlir.frontend.storage import Tile
from nki_mlir.isa.dtypes import Dtype


class NkiTensor(Tile):
    """A tensor in HBM, SBUF or PSUM, or a part of one: shape, dtype, buffer, offset, strides, name.

    Subscripts and `slice`, `select`, `permute`, `reshape`, `reshape_dim`, `flatten_dims`, `expand_dim`,
    `squeeze_dim`, `broadcast`, `rearrange`, `view`, `ap` give further views.
    """

    __slots__ = ()

    @property
    def dtype(self) -> str:
        """The element type: its name in `nki.language`."""
        return "bool_" if self.boolean else self.element.api[0]

    @property
    def name(self) -> str:
        """The name of the storage."""
        return self.label

    def ap(  # pyright: ignore[reportIncompatibleMethodOverride]  # the published order of parameters
        self,
        pattern: Any,
        offset: Any = None,
        scalar_offset: Any = None,
        vector_offset: Any = None,
        indirect_dim: int = 0,
        dtype: Any = None,
    ) -> "NkiTensor":
        """The view of explicit [[step, count], …] pairs over the whole storage, in elements, outermost first.

        Raises:
            NKIValueError: the pattern is not one of the storage.
            NKITypeError: a run-time offset, which this front end does not have yet.
        """
        if scalar_offset is not None or vector_offset is not None:
            raise NKITypeError("run-time offsets in .ap() are not supported by this front end", rule="ap")
        return super().ap(pattern, offset, None if dtype is None else _dtype(dtype))

    def view(self, dtype: Any) -> "NkiTensor":
        """The same bytes as another element type."""
        return super().view(_dtype(dtype))

    reinterpret_cast = view

    def is_indirect(self) -> bool:
        """Whether an index tensor chooses the elements, which no view of this front end lets it do."""
        return False

    def vector_select(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Refused: this front end does not have it."""
        raise NKINotImplementedError("NkiTensor.vector_select is not supported by this front end", rule="unsupported")

    def indirect(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Refused: this front end does not have it."""
        raise NKINotImplementedError("NkiTensor.indirect is not supported by this front end", rule="unsupported")

    def __setitem__(self, key: Any, value: Any) -> NoReturn:
        raise NKITypeError(
            f"tensors cannot be assigned to; write {self.label} with an nki.isa function", rule="tensor_assignment"
        )


def _dtype(dtype: Any) -> Dtype:
    try:
        return Dtype.from_api(dtype)
    except NkiError as error:
        raise NKITypeError(str(error), rule="dtype") from None


CURRENT = Generation("nki", NkiTensor, rolls=False, any_grid=False, shared_outputs=True)

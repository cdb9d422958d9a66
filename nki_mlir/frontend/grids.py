"""Index grids of the older API: `arange(n)[:, None]` and `mgrid[0:128, 0:512]`.

A grid is an index (`Sym`) over `Axis` variables that know their size and their dimension, so arithmetic, masks and
subscripts treat it as they treat a loop index.

Source: NKI ISA reference, §3.4 and §3.7.
"""

from collections.abc import Iterator
from typing import Any

from nki_mlir.frontend.errors import err_tensor_index_not_supported, shown
from nki_mlir.frontend.integers import index, integer
from nki_mlir.frontend.symbolic import Axis, Sym, concretise, settled

_PARTS = "pxyzw"


def arange(start: Any, stop: Any = None, step: Any = 1) -> Sym:
    """Returns the index that runs over `range(start, stop, step)`; it takes its dimension by `[:, None]`.

    The bounds may be symbolic if their difference is a number.

    Raises:
        NKISyntaxError: the range is empty, or its step is 0.
        NKITypeError: a bound is no integer.
    """
    if stop is None:
        start, stop = 0, start
    return _span("arange", start, stop, step, -1, 1, placed=False)


def _span(api: str, start: Any, stop: Any, step: Any, position: int, rank: int, *, placed: bool) -> Sym:
    start, stop, step = index(api, "start", start), index(api, "stop", stop), integer(api, "step", step)
    if step == 0:
        raise err_tensor_index_not_supported(f"({start!r}, {stop!r}, 0)", "the step of an index is 0")
    size = concretise(settled(-((start - stop) // step)))
    if size <= 0:
        raise err_tensor_index_not_supported(f"({start!r}, {stop!r}, {step!r})", "the range of an index is empty")
    return Sym(0, {Axis(size, position, rank, placed): step}) + start


class SingleGrid(Sym):
    """An mgrid of one axis: the grid and the list of its axes at once."""

    __slots__ = ()

    @property
    def p(self) -> Sym:
        return self

    def __iter__(self) -> Iterator[Sym]:
        yield self

    def __len__(self) -> int:
        return 1


class MultiGrid:
    """An mgrid of several axes: a tuple of indices, of which the first five have the names p, x, y, z, w."""

    __slots__ = ("axes",)

    def __init__(self, axes: tuple[Sym, ...]) -> None:
        self.axes = axes

    def __iter__(self) -> Iterator[Sym]:
        return iter(self.axes)

    def __len__(self) -> int:
        return len(self.axes)

    def __getitem__(self, index: int) -> Sym:
        return self.axes[index]

    def __getattr__(self, name: str) -> Sym:
        place = _PARTS.find(name) if len(name) == 1 else -1
        if not 0 <= place < len(self.axes):
            raise AttributeError(f"an mgrid of {len(self.axes)} axes has no part '{name}'")
        return self.axes[place]


class MgridBuilder:
    """The object behind the name `mgrid`."""

    __slots__ = ()

    def __getitem__(self, key: Any) -> SingleGrid | MultiGrid:
        """Returns one index for each slice.

        Raises:
            NKISyntaxError: an entry is no slice, has no end, or its step is a complex number.
        """
        given: Any = key
        keys: list[Any] = list(given) if isinstance(key, tuple) else [given]
        axes: list[Sym] = []
        for place, ends in enumerate(keys):
            if not isinstance(ends, slice) or keys[place].stop is None or isinstance(keys[place].step, complex):
                raise err_tensor_index_not_supported(
                    shown(keys[place]), "mgrid takes slices with an end and an integer step"
                )
            item = keys[place]
            start = 0 if item.start is None else item.start
            step = 1 if item.step is None else item.step
            axes.append(_span("mgrid", start, item.stop, step, place - len(keys), len(keys), placed=True))
        if len(axes) == 1:
            return SingleGrid(axes[0].const, axes[0].terms)
        return MultiGrid(tuple(axes))


mgrid = MgridBuilder()

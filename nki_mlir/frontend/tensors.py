"""Tensors of a kernel: storage, and views of it.

Storage is memory with a shape. A view says which of its elements are meant and in which order: a step and a size for
each dimension, and offsets. On chip, partitions and the free elements of a partition are kept apart (as in
`#nki.access`), and so are block dimensions, which stand before the partition dimension and number separate tiles. In
HBM there is one linear space of elements. No method moves data.

Source: NKI ISA reference, §3.3 and §3.4.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self

from nki_mlir.frontend.errors import (
    err_failed_to_infer_tile_from_local_tensor,
    err_param_shape_incompatible_with_numpy,
    err_tensor_access_out_of_bound,
    err_view_shape,
)
from nki_mlir.frontend.subscripts import (
    BLOCK,
    FREE,
    PARTITION,
    Grid,
    Index,
    Layout,
    Limit,
    Offsets,
    Shape,
    drop,
    extreme,
    integer,
    out_of_bound,
    subscript,
)
from nki_mlir.frontend.symbolic import GE, Sym, affine, bounds, concretise, decide, settled

if TYPE_CHECKING:
    from nki_mlir.frontend.records import Loop


class Dtype(Protocol):
    """An element type, as `nki_mlir.isa.dtypes.Dtype`."""

    @property
    def size(self) -> int:
        """Bytes of an element."""
        ...


def row_major(shape: Sequence[int]) -> list[int]:
    """The steps of a contiguous block of `shape`."""
    steps = [1] * len(shape)
    for at in range(len(shape) - 2, -1, -1):
        steps[at] = steps[at + 1] * shape[at + 1]
    return steps


class Storage:
    """Memory that a kernel names.

    shape          all dimensions: blocks, partitions, free ones; of HBM simply the shape
    dtype          the element type; `size` is its bytes
    space          `sbuf`, `psum`, `hbm`, `shared_hbm` or `private_hbm`
    partition_dim  how many block dimensions come first; 0 in HBM
    scope          the loop in whose body the storage is made, None at the top
    maker          the same; of scratch in HBM, which outlives the loop, the loop of the kernel that makes it
    row            elements in a partition, in HBM in all
    partitions     partitions of one block, 1 in HBM
    blocks         number of blocks
    """

    __slots__ = (
        "blocks",
        "dtype",
        "layout",
        "maker",
        "name",
        "on_chip",
        "partition_dim",
        "partitions",
        "row",
        "scope",
        "shape",
        "space",
    )

    def __init__(
        self,
        shape: Sequence[int],
        dtype: Dtype,
        space: str,
        name: str = "",
        partition_dim: int = 0,
        scope: "Loop | None" = None,
    ) -> None:
        self.shape = tuple(shape)
        self.dtype = dtype
        self.space = space
        self.name = name
        self.scope = self.maker = scope
        self.on_chip = space in ("sbuf", "psum")
        self.partition_dim = partition_dim if self.on_chip else 0
        if self.on_chip:
            blocks, free = self.shape[:partition_dim], self.shape[partition_dim + 1 :]
            self.partitions = self.shape[partition_dim]
            self.layout: Layout = (
                *((BLOCK, step) for step in row_major(blocks)),
                (PARTITION, 1),
                *((FREE, step) for step in row_major(free)),
            )
        else:
            blocks, free = (), self.shape
            self.partitions = 1
            self.layout = tuple((FREE, step) for step in row_major(free))
        self.blocks = math.prod(blocks)
        self.row = math.prod(free)

    @property
    def in_scope(self) -> bool:
        """Whether the loop that made this storage is still running."""
        return self.scope is None or self.scope.instance.open

    def __deepcopy__(self, memo: object) -> "Storage":
        return self

    def __repr__(self) -> str:
        return f"<{self.space} storage {self.name} {self.shape}>"


class Pattern(NamedTuple):
    """An access as an instruction holds it.

    Steps and offsets are in blocks, partitions, and elements of the view's dtype.
    A pair is (step, num); num is a number, or (number, bounds) where a mask cuts it to the least of all. In HBM
    `partition_pairs` is empty and `free` is the linear offset. `order` is the part of each dimension of the view:
    taking the next pair of that part each time gives the pairs in the order of the dimensions.
    """

    block: Index
    partition: Index
    partition_pairs: tuple[tuple[int, "int | tuple[int, tuple[Sym, ...]]"], ...]
    free: Index
    free_pairs: tuple[tuple[int, "int | tuple[int, tuple[Sym, ...]]"], ...]
    order: tuple[int, ...]


class View:
    """Elements of a storage, in an order.

    element  the element type; what a kernel sees as `dtype` is a matter of the API's tensor class
    shape    the sizes
    layout   (part, step) for each dimension; the part is BLOCK, PARTITION or FREE, the step is in elements
    offsets  (block, partition, free), each a number or symbolic
    grid     what a subscript by index grids left behind, else None
    limits   for each dimension the limit a mask sets or None; None without a mask
    encoded  a place where a class may keep what it computes of the view once
    parts    what its subscripts by slices and integers give, which come again and again: views without a storage, as
             views that differ in nothing but the storage may share them

    Views made from a view have its class, so that an API's tensor class can derive from this one. None is changed once
    a kernel has it.
    """

    __slots__ = ("element", "encoded", "grid", "layout", "limits", "offsets", "parts", "shape", "storage")

    storage: Storage
    element: Any
    shape: Shape
    layout: Layout
    offsets: Offsets
    grid: Grid | None
    limits: tuple[Limit | None, ...] | None
    encoded: Any
    parts: "dict[tuple[Any, ...], Self] | None"

    def __init__(self, storage: Storage) -> None:
        self.storage = storage
        self.element = storage.dtype
        self.shape = storage.shape
        self.layout = storage.layout
        self.offsets = (0, 0, 0)
        self.grid = None
        self.limits = None
        self.encoded = None
        self.parts = None

    def _view(self, shape: Shape, layout: Layout, offsets: Offsets) -> Self:
        made = self._again(self.storage)
        made.shape = shape
        made.layout = layout
        made.offsets = offsets
        made.encoded = None
        made.parts = None
        return made

    def _keep(self) -> None:
        """Computes what a class keeps of a view that may come again."""

    def _again(self, storage: Any) -> Self:
        """Another view of the same elements of a storage: kernels may tell views apart that they made apart."""
        made = object.__new__(type(self))
        made.storage = storage
        made.element = self.element
        made.shape = self.shape
        made.layout = self.layout
        made.offsets = self.offsets
        made.grid = None
        made.limits = None
        made.encoded = self.encoded
        made.parts = self.parts
        return made

    # Queries

    @property
    def on_chip(self) -> bool:
        return self.storage.on_chip

    @property
    def label(self) -> str:
        return self.storage.name or "tensor"

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    @property
    def row(self) -> int:
        """Elements of this view's dtype in a partition of the storage, in HBM in all of it.

        Raises:
            NKIValueError: the partition holds no whole number of them.
        """
        size = self.storage.row * self.storage.dtype.size
        if size % self.element.size:
            raise err_view_shape("view", f"a row of {size} bytes is no whole number of {self.element}")
        return size // self.element.size

    @property
    def strides(self) -> tuple[int, ...]:
        """Steps in the linear space of the storage, where a partition counts as a row and blocks follow each other."""
        return tuple(step * self._unit(part) for part, step in self.layout)

    @property
    def offset(self) -> Index:
        """The first element in that linear space."""
        block, partition, free = self.offsets
        if not self.on_chip:
            return free
        return block * self._unit(BLOCK) + partition * self._unit(PARTITION) + free

    def _unit(self, part: int) -> int:
        return 1 if part == FREE else self.row if part == PARTITION else self.row * self.storage.partitions

    def get_pattern(self) -> list[list[int]]:
        """[[stride, count], …] of the view, outermost first, in elements of its dtype."""
        return [[stride, count] for stride, count in zip(self.strides, self.shape, strict=True)]

    def is_contiguous(self) -> bool:
        """Whether the elements follow each other without gaps (on chip: those of a partition)."""
        free = [(size, step) for size, (part, step) in zip(self.shape, self.layout, strict=True) if part == FREE]
        free = [(size, step) for size, step in free if size != 1]
        return [step for _, step in free] == row_major([size for size, _ in free])

    def pattern(self) -> Pattern:
        """The access that an instruction holds.

        Raises:
            NKITypeError: the view spans several blocks (`tiles` gives them one by one).
        """
        block, partition, free = self.offsets
        limits = self.limits
        partitions: list[Any] = []
        elements: list[Any] = []
        order: list[int] = []
        for at, (size, (part, step)) in enumerate(zip(self.shape, self.layout, strict=True)):
            if part == BLOCK:
                if size != 1:
                    raise err_failed_to_infer_tile_from_local_tensor(self.label, self.shape)
                continue
            limit = None if limits is None else limits[at]
            pair = (step, size if limit is None or not limit.bounds else (size, limit.bounds))
            (partitions if part == PARTITION else elements).append(pair)
            order.append(part)
        return Pattern(block, partition, tuple(partitions), free, tuple(elements), tuple(order))

    def tiles(self) -> Iterator[Self]:
        """The tiles of a view with block dimensions, one block each, in order; else the view itself."""
        if not any(part == BLOCK for part, _ in self.layout):
            yield self
            return
        _, step = self.layout[0]
        block, partition, free = self.offsets
        for index in range(self.shape[0]):
            yield from self._view(self.shape[1:], self.layout[1:], (block + index * step, partition, free)).tiles()

    def settled(self) -> Self:
        """This view as an instruction may hold it: offsets are affine in the variables of open loops only.

        Indices of closed loops become numbers; quotients and remainders narrow their loops until they are sums.
        """
        block, partition, free = self.offsets
        if type(free) is int and type(partition) is int and type(block) is int:
            return self
        made = self._view(self.shape, self.layout, (affine(block), affine(partition), affine(free)))
        made.grid = self.grid
        made.limits = self.limits
        return made

    def with_limits(self, shape: Shape, offsets: Offsets, limits: tuple[Limit | None, ...]) -> Self:
        """This view cut down to `shape` at `offsets`, with the bounds of a mask; without any it is a plain view."""
        made = self._view(shape, self.layout, offsets)
        made.element = self.element
        made.limits = limits if any(limit is not None and limit.bounds for limit in limits) else None
        return made

    # Subscripts

    def __getitem__(self, key: Any) -> Self:
        """The view of a subscript by integers, slices, spans, `...`, None or index grids.

        On chip an integer keeps the partition dimension with size 1, and two dimensions always stay; in HBM one does.
        Ends of slices are clamped, those of `ds` are not.

        Raises:
            NKIIndexError: out of bounds, in the iterations that the message names.
            NKISyntaxError: not a subscript of NKI.
        """
        if key is Ellipsis:
            return self
        # Nearly all subscripts are plain slices and integers, and the same ones come again and again.
        keys: Any = key
        if type(key) is not tuple:
            keys = (key,)
        named: list[Any] = []
        item: Any
        for item in keys:
            if type(item) is slice:
                start, stop = item.start, item.stop
                if item.step is not None:
                    break
                if not (type(start) is int or start is None) or not (type(stop) is int or stop is None):
                    break
                named.append(start)
                named.append(stop)
            elif type(item) is int:
                named.append(item)
                named.append(Ellipsis)
            else:
                break
        else:
            parts = self.parts
            if parts is not None:
                known = parts.get(tuple(named))
                if known is not None:
                    return known._again(self.storage)
            elif self.grid is None:
                parts = self.parts = {}
            made = self._part(keys)
            if made is None:
                made = self._subscript(key)
            if parts is not None:
                made._keep()
                made.parts = {}
                parts[tuple(named)] = made._again(None)
            return made
        return self._subscript(key)

    def _part(self, keys: Sequence[Any]) -> Self | None:
        """The view of a subscript by integers and slices without steps; None if they are not plainly inside of it."""
        shape = self.shape
        if len(keys) > len(shape) or self.grid is not None:
            return None
        layout, sizes, offsets = self.layout, list(shape), list(self.offsets)
        dropped: list[int] = []
        item: Any
        for at, item in enumerate(keys):
            size = shape[at]
            if type(item) is slice:
                start, stop = item.start, item.stop
                if stop is None:
                    stop = size
                if start is None:
                    start = 0
                if not 0 <= start < stop <= size:
                    return None
                sizes[at] = stop - start
            elif 0 <= item < size:
                start = item
                sizes[at] = 1
                dropped.append(at)
            else:
                return None
            if start:
                part, step = layout[at]
                offsets[part] += start * step
        if dropped:
            kept = list(layout)
            drop(self.storage.on_chip, sizes, kept, dropped)
            layout = tuple(kept)
        return self._view(tuple(sizes), layout, (offsets[0], offsets[1], offsets[2]))

    def _subscript(self, key: Any) -> Self:
        """The view of any subscript."""
        if self.grid is not None:
            self.check_bounds()
        shape, layout, offsets, grid = subscript(self, key)
        made = self._view(shape, layout, offsets)
        made.grid = grid
        return made

    def check_bounds(self) -> None:
        """Checks what a subscript by grids left open, without the help of a mask (`masks.check_bounds` has one).

        Raises:
            NKIIndexError: some point of the grid is out of bounds.
        """
        for index, size, dimension in self.grid.pending if self.grid is not None else ():
            low, high = extreme(index, False), extreme(index, True)
            if not (decide(low, GE) and decide(size - 1 - high, GE)):
                raise out_of_bound(self, dimension, size, low, high)

    def slice(self, dim: int, start: Any, end: Any, step: int = 1) -> Self:
        """`start:end:step` of one dimension, 0 <= start < end <= size."""
        dim = self._dim("slice", dim)
        size, step = self.shape[dim], concretise(step)
        if step < 1:
            raise err_view_shape("slice", f"the step must be at least 1, got {step}")
        if not (decide(start, GE) and decide(end - start - 1, GE) and decide(size - end, GE)):
            raise out_of_bound(self, dim, size, start, end - 1)
        length = concretise(settled((end - start + (step - 1)) // step))
        part, stride = self.layout[dim]
        offsets = list(self.offsets)
        offsets[part] = offsets[part] + start * stride
        return self._view(
            self._replaced(self.shape, dim, (length,)),
            self._replaced(self.layout, dim, ((part, stride * step),)),
            (offsets[0], offsets[1], offsets[2]),
        )

    def select(self, dim: int, index: Any) -> Self:
        """One element of a dimension; the dimension goes as it does in a subscript."""
        dim = self._dim("select", dim)
        return self[(*(slice(None) for _ in range(dim)), index)]

    # Other shapes of the same elements

    @staticmethod
    def _replaced(items: tuple[Any, ...], at: int, by: Sequence[Any]) -> tuple[Any, ...]:
        return (*items[:at], *by, *items[at + 1 :])

    def _dim(self, method: str, dim: int, *, free: bool = False) -> int:
        """`dim` counted from the start; `free` refuses the leading dimension of on-chip tensors."""
        rank, dim = len(self.shape), concretise(dim)
        if not -rank <= dim < rank:
            raise err_view_shape(method, f"dimension {dim} of {self.label} with {rank} dimensions")
        dim %= rank
        if free and dim == 0 and self.on_chip:
            raise err_view_shape(method, f"the partition dimension of {self.label} stays as it is")
        return dim

    def reshape(self, shape: Sequence[int]) -> Self:
        """The same elements in another shape; one size may be -1. On chip the partition dimension stays.

        Raises:
            NKIValueError: the number of elements differs, or the layout has no steps for that shape.
        """
        sizes = self._complete("reshape", shape, self.size)
        before, after = self._around_partition(sizes)
        if before is None:
            dims = self._regrouped("reshape", 0, len(self.shape), sizes)
        else:
            at = self._partition_at()
            dims = [
                *self._regrouped("reshape", 0, at, sizes[:before]),
                self.layout[at],
                *self._regrouped("reshape", at + 1, len(self.shape), sizes[after:]),
            ]
        return self._view(tuple(sizes), tuple(dims), self.offsets)

    def _partition_at(self) -> int:
        return next(at for at, (part, _) in enumerate(self.layout) if part == PARTITION)

    def _around_partition(self, sizes: Sequence[int]) -> tuple[int | None, int]:
        """Where the partition dimension of an on-chip view is in the new `sizes`, and where the free ones begin."""
        if not self.on_chip:
            return None, 0
        at = self._partition_at()
        blocks = math.prod(self.shape[:at])
        for place, size in enumerate(sizes):
            if size == self.shape[at] and math.prod(sizes[:place]) == blocks:
                return place, place + 1
        raise err_view_shape("reshape", f"the partition dimension of {self.shape} must stay in {tuple(sizes)}")

    def _complete(self, method: str, shape: Sequence[int], count: int) -> list[int]:
        """`shape` with its -1 filled in, checked against the number of elements."""
        sizes = [concretise(size) for size in shape]
        if sizes.count(-1) == 1:
            known = -math.prod(sizes)
            if known > 0 and count % known == 0:
                sizes[sizes.index(-1)] = count // known
        if any(size < 1 for size in sizes) or math.prod(sizes) != count:
            raise err_view_shape(method, f"{count} elements do not fill shape {tuple(shape)}")
        return sizes

    def _regrouped(self, method: str, first: int, last: int, sizes: Sequence[int]) -> list[tuple[int, int]]:
        """(part, step) for `sizes` in place of the dimensions from `first` to `last`.

        Both are read in groups of equal products; a group of old dimensions that spans several must be contiguous.
        """
        old = [(n, d) for n, d in zip(self.shape[first:last], self.layout[first:last], strict=True) if n != 1]
        part = BLOCK if self.on_chip and last <= self._partition_at() else FREE
        dims: list[tuple[int, int]] = [(part, 1)] * len(sizes)
        new = [at for at, size in enumerate(sizes) if size != 1]
        while new:
            group, (size, (part, step)) = [new.pop(0)], old.pop(0)
            product = sizes[group[0]]
            while product != size:
                if product < size:
                    group.append(new.pop(0))
                    product *= sizes[group[-1]]
                    continue
                inner, (inner_part, inner_step) = old.pop(0)
                if inner_part != part or step != inner * inner_step:
                    raise err_view_shape(
                        method, f"{self.label} of shape {self.shape} and strides {self.strides} is not contiguous there"
                    )
                size, step = size * inner, inner_step
            for at in reversed(group):
                dims[at] = (part, step)
                step *= sizes[at]
        return dims

    def reshape_dim(self, dim: int, shape: Sequence[int]) -> Self:
        """Splits one dimension; one size may be -1."""
        return self._split("reshape_dim", dim, shape)

    def _split(self, method: str, dim: int, shape: Sequence[int]) -> Self:
        dim = self._dim(method, dim, free=True)
        sizes = self._complete(method, shape, self.shape[dim])
        part, step = self.layout[dim]
        split = [(part, step * inner) for inner in row_major(sizes)]
        return self._view(self._replaced(self.shape, dim, sizes), self._replaced(self.layout, dim, split), self.offsets)

    def flatten_dims(self, start: int, end: int) -> Self:
        """Joins the dimensions from `start` to `end`, both included."""
        return self._joined("flatten_dims", start, end)

    def _joined(self, method: str, start: int, end: int) -> Self:
        start, end = self._dim(method, start, free=True), self._dim(method, end)
        if start > end:
            raise err_view_shape(method, f"dimension {start} comes after {end}")
        size = math.prod(self.shape[start : end + 1])
        dims = self._regrouped(method, start, end + 1, [size])
        return self._view(
            (*self.shape[:start], size, *self.shape[end + 1 :]),
            (*self.layout[:start], *dims, *self.layout[end + 1 :]),
            self.offsets,
        )

    def permute(self, dims: Sequence[int]) -> Self:
        """The dimensions in another order; on chip the first one stays the first."""
        order = [self._dim("permute", dim) for dim in dims]
        if sorted(order) != list(range(len(self.shape))):
            raise err_view_shape("permute", f"{tuple(dims)} is no permutation of {len(self.shape)} dimensions")
        if self.on_chip and order[0] != 0:
            raise err_view_shape("permute", f"the partition dimension of {self.label} stays as it is")
        return self._view(tuple(self.shape[at] for at in order), tuple(self.layout[at] for at in order), self.offsets)

    def broadcast(self, dim: int, size: int) -> Self:
        """Repeats a dimension of size 1."""
        dim = self._dim("broadcast", dim, free=True)
        if self.shape[dim] != 1:
            raise err_view_shape(
                "broadcast", f"dimension {dim} has size {self.shape[dim]}, only size 1 can be repeated"
            )
        return self._repeated(dim, concretise(size))

    def _repeated(self, dim: int, size: int) -> Self:
        repeated = ((self.layout[dim][0], 0),) if size != 1 else (self.layout[dim],)
        return self._view(
            self._replaced(self.shape, dim, (size,)), self._replaced(self.layout, dim, repeated), self.offsets
        )

    def broadcast_to(self, shape: Sequence[int]) -> Self:
        """Repeats dimensions of size 1 and adds leading ones, by the rules of numpy; partitions may be repeated too."""
        sizes = [concretise(size) for size in shape]
        extra = len(sizes) - len(self.shape)
        pairs = list(zip(self.shape, sizes[extra:], strict=True)) if extra >= 0 else [(0, 1)]
        if any(own not in (1, size) for own, size in pairs):
            raise err_param_shape_incompatible_with_numpy("broadcast_to", self.shape, sizes)
        view = self
        for at, (own, size) in enumerate(pairs):
            if own != size:
                view = view._repeated(at, size)
        if extra:
            leading = tuple((BLOCK if self.on_chip else FREE, 0) for _ in range(extra))
            view = view._view((*sizes[:extra], *view.shape), leading + view.layout, view.offsets)
        return view

    def expand_dim(self, dim: int) -> Self:
        """Adds a dimension of size 1 at `dim`."""
        rank, dim = len(self.shape), concretise(dim)
        if not -rank - 1 <= dim <= rank:
            raise err_view_shape("expand_dim", f"dimension {dim} of {self.label} with {rank} dimensions")
        dim %= rank + 1
        if dim == 0 and self.on_chip:
            raise err_view_shape("expand_dim", f"the partition dimension of {self.label} stays as it is")
        return self._view(
            (*self.shape[:dim], 1, *self.shape[dim:]), (*self.layout[:dim], (FREE, 1), *self.layout[dim:]), self.offsets
        )

    def squeeze_dim(self, dim: int) -> Self:
        """Removes a dimension of size 1."""
        dim = self._dim("squeeze_dim", dim, free=True)
        if self.shape[dim] != 1:
            raise err_view_shape("squeeze_dim", f"dimension {dim} has size {self.shape[dim]}, not 1")
        return self._view(self._replaced(self.shape, dim, ()), self._replaced(self.layout, dim, ()), self.offsets)

    def rearrange(
        self, src_pattern: Sequence[Any], dst_pattern: Sequence[Any], fixed_sizes: Mapping[str, int] | None = None
    ) -> Self:
        """Splits, permutes and joins dimensions by name.

        A pattern has one entry for each dimension: a name, or a tuple of names for a dimension that is their product,
        as in `rearrange(("p", ("a", "b")), ("p", "b", "a"), {"a": 4})`. One name of a product may have no size.
        """
        if len(src_pattern) != len(self.shape):
            raise err_view_shape("rearrange", f"{len(src_pattern)} entries for {len(self.shape)} dimensions")
        sizes = dict(fixed_sizes or {})
        view, names = self, list[str]()
        for entry in src_pattern:
            if isinstance(entry, str):
                names.append(entry)
                continue
            parts = [str(name) for name in entry]
            view = view._split("rearrange", len(names), [sizes.get(name, -1) for name in parts])
            names += parts
        groups: list[list[str]] = [
            [entry] if isinstance(entry, str) else [str(n) for n in entry] for entry in dst_pattern
        ]
        wanted = [name for group in groups for name in group]
        if sorted(wanted) != sorted(names) or len(set(names)) != len(names):
            raise err_view_shape("rearrange", f"the names {names} and {wanted} are not the same")
        for name, size in zip(names, view.shape, strict=True):
            if sizes.get(name, size) != size:
                raise err_view_shape("rearrange", f"dimension {name} has size {size}, not {sizes[name]}")
        view = view.permute([names.index(name) for name in wanted])
        for at, group in enumerate(groups):
            if len(group) > 1:
                view = view._joined("rearrange", at, at + len(group) - 1)
        return view

    # Other readings of the memory

    def view(self, dtype: Dtype) -> Self:
        """The same bytes as elements of another type: the last dimension grows or shrinks by the ratio of the sizes.

        Raises:
            NKIValueError: the last dimension is not contiguous, or sizes, steps or offset are no whole elements.
        """
        old, new = self.element.size, dtype.size
        part, step = self.layout[-1]
        if old == new:
            made = self._view(self.shape, self.layout, self.offsets)
            made.element = dtype
            return made
        if part != FREE or (step != 1 and self.shape[-1] != 1):
            raise err_view_shape("view", f"the last dimension of {self.label} is not contiguous")
        block, partition, free = self.offsets

        def scaled(number: Index) -> Index:
            whole = number * old
            numbers = (whole.const, *whole.terms.values()) if isinstance(whole, Sym) else (whole,)
            if any(n % new for n in numbers):
                raise err_view_shape(
                    "view", f"{self.label} of {old}-byte elements has no whole {new}-byte elements there"
                )
            return settled(whole // new)

        made = self._view(
            (*self.shape[:-1], concretise(scaled(self.shape[-1]))),
            (*((p, concretise(scaled(s)) if p == FREE else s) for p, s in self.layout[:-1]), (FREE, 1)),
            (block, partition, scaled(free)),
        )
        made.element = dtype
        return made

    reinterpret_cast = view

    def ap(self, pattern: Sequence[Sequence[int]], offset: Any = None, dtype: Dtype | None = None) -> Self:
        """An access written by hand: [[stride, count], …], outermost first, over the storage and not over this view.

        Strides and `offset` are in elements of `dtype`. On chip the first stride is the number of elements in a
        partition, and `offset` counts partitions as rows.

        Raises:
            NKIValueError: the first stride on chip is another one, or a count is not positive.
            NKIIndexError: the pattern leaves a partition or the storage.
        """
        made = self._view((), (), (0, 0, 0))
        made.element = self.storage.dtype if dtype is None else dtype
        try:
            pairs = [(concretise(stride), concretise(count)) for stride, count in pattern]
        except (TypeError, ValueError):
            pairs = []
        if not pairs or any(count < 1 for _, count in pairs):
            raise err_view_shape("ap", f"{pattern!r} is no list of [stride, positive count]")
        row = made.row
        start = integer(0 if offset is None else offset)
        if start is None:
            raise err_view_shape("ap", f"the offset {offset!r} is no integer")
        partition: Index = 0
        if self.on_chip:
            stride, count = pairs[0]
            if stride != row and count != 1:
                raise err_view_shape(
                    "ap", f"the first stride on chip is the {row} elements of a partition, got {stride}"
                )
            partition, start = _divided(start, row)
            if not (decide(partition, GE) and decide(self.storage.partitions - count - partition, GE)):
                raise out_of_bound(self, 0, self.storage.partitions, partition, partition + (count - 1))
        free = pairs[1:] if self.on_chip else pairs
        below = sum(min(0, stride) * (count - 1) for stride, count in free)
        above = sum(max(0, stride) * (count - 1) for stride, count in free)
        if not (decide(start + below, GE) and decide(row - 1 - above - start, GE)):
            low, high = bounds(start + below)[0], bounds(start + above)[1]
            raise err_tensor_access_out_of_bound(
                self.label, len(self.shape) - 1 if self.on_chip else 0, row, low, high, "an access pattern"
            )
        made.shape = tuple(count for _, count in pairs)
        parts = (((PARTITION, 1),) if self.on_chip else ()) + tuple((FREE, stride) for stride, _ in free)
        made.layout = parts
        made.offsets = (0, partition, start)
        return made

    def __repr__(self) -> str:
        return f"<{self.storage.space} tensor {self.label} {self.shape} {self.element}>"


def _divided(offset: Index, row: int) -> tuple[Index, Index]:
    """(partition, element) of a linear offset; loops are narrowed where the two cannot be told apart."""
    partition = affine(offset // row)
    return partition, settled(offset - partition * row)

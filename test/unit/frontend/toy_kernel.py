"""A small kernel API over the tracing core, to run loop programs rolled and unrolled and compare what they mean."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Self

from nki_mlir.frontend.errors import err_local_variable_used_out_of_scope
from nki_mlir.frontend.loops import AFFINE, SEQUENTIAL, STATIC, KernelRange
from nki_mlir.frontend.masks import as_mask, axis_limits, check_bounds, guards, restrict
from nki_mlir.frontend.records import FlatRecord, Loop, Node, Record, Recorder, expand
from nki_mlir.frontend.subscripts import Span
from nki_mlir.frontend.symbolic import Sym, affine
from nki_mlir.frontend.tensors import Storage, View
from nki_mlir.isa.dtypes import Dtype


class Tile(View):
    """A tensor with the in-place operator of loops that accumulate."""

    __slots__ = ()

    def __iadd__(self, other: Any) -> Self:
        CURRENT[-1].op("add", self, self, other)
        return self

    def __setitem__(self, key: Any, value: Any) -> None:
        target = self[key]
        if not (isinstance(value, View) and value.storage is target.storage and value.offsets == target.offsets):
            CURRENT[-1].op("copy", target, value)


CURRENT: list["Toy"] = []


class Toy(Recorder):
    """`x` and `y` are inputs in HBM; `op` records an instruction and returns a fresh tile.

    A `lenient` one lets tiles be used after the loop that made them.
    """

    def __init__(self, rolling: bool, lenient: bool = False) -> None:
        super().__init__(rolling)
        self.lenient = lenient
        self.x = Tile(Storage((64, 128, 64), Dtype.F32, "hbm", "x"))
        self.y = Tile(Storage((4096,), Dtype.F32, "hbm", "y"))

    def affine(self, *bounds: Any) -> KernelRange:
        return KernelRange(self, AFFINE, *bounds)

    def sequential(self, *bounds: Any) -> KernelRange:
        return KernelRange(self, SEQUENTIAL, *bounds)

    def static(self, *bounds: Any) -> KernelRange:
        return KernelRange(self, STATIC, *bounds)

    def ds(self, start: Any, size: Any) -> Span:
        return Span(start, size)

    def tile(self, free: int = 64) -> Tile:
        return Tile(Storage((128, free), Dtype.F32, "sbuf", "t", scope=self.loop))

    def op(self, name: str, *operands: Any, mask: Any = None, **attributes: Any) -> Tile:
        """Records `name`. The first tensor has the iteration domain of the mask."""
        result = self.tile()
        condition = as_mask(mask)
        if condition is False:
            return result
        limits: Any = None
        roles: dict[str, Any] = {"dst": result}
        for number, operand in enumerate(operands):
            if isinstance(operand, View):
                if not (self.lenient or operand.storage.in_scope):
                    raise err_local_variable_used_out_of_scope(operand.label)
                check_bounds(operand, condition)
                if condition is not True:
                    if limits is None:
                        limits = axis_limits(condition, operand)[0]
                    operand = restrict(operand, limits)
                    if operand is None:
                        return result
                operand = operand.settled()
            roles[str(number)] = affine(operand) if isinstance(operand, Sym) else operand
        values = {key: affine(value) if isinstance(value, Sym) else value for key, value in attributes.items()}
        self.body.append(Record(name, roles, values, guards(condition)))
        return result


Program = Callable[[Toy], Any]


def run(program: Program, rolling: bool, lenient: bool = False) -> tuple[Toy, BaseException | None]:
    """Traces `program`; what it raises is returned, as the kernel's caller would see it."""
    toy = Toy(rolling, lenient)
    CURRENT.append(toy)
    try:
        program(toy)
    except Exception as error:
        return toy, error
    finally:
        CURRENT.pop()
    return toy, None


def flat(toy: Toy) -> list[FlatRecord]:
    return list(expand(toy.root))


def check(program: Program, lenient: bool = False) -> Toy:
    """Asserts that the rolled trace of `program` means what the unrolled one does, and returns it."""
    rolled, rolled_error = run(program, True, lenient)
    unrolled, error = run(program, False, lenient)
    assert type(rolled_error) is type(error), (rolled_error, error)
    assert flat(rolled) == flat(unrolled)
    assert not rolled.loops
    assert not unrolled.loops
    return rolled


def pieces(nodes: Sequence[Node]) -> list[Any]:
    """The (lo, hi) of the loops of a trace; a loop that holds loops is a pair of its own bounds and theirs."""
    return list(_pieces(nodes))


def _pieces(nodes: Sequence[Node]) -> Iterator[Any]:
    for node in nodes:
        if isinstance(node, Loop):
            inner = pieces(node.body)
            yield (node.bounds, inner) if inner else node.bounds

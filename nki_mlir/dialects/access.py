"""The access pattern attribute `#nki.access`: which elements of a storage an operand reads or writes.

On chip, partitions and columns are two parts; in HBM there is one element space:

    [32*d0 : 32 | 511 : -1*512] f32        partitions from 32*d0, 512 columns in reverse
    {d0}[0 : 64 | 4*d1 : 8, 0*4] u32       block d0 of a block tensor; the last pair is a broadcast
    [131072*d0 : 1024*128, 512] f32        rows of an HBM tensor
    [0 : min(128, -128*d0 + 1000) | 0 : 500] f32    a ragged last tile
    [0 : 64*128, 64] f32 at 0 max 7        pair 0 is indexed at run time, with indices up to 7

Offsets and steps count elements of the access's own dtype; a pair is `step*number`, a step of 1 is not written. The
innermost pair is last. d0, d1, … are the index values of the operand, by first appearance.
"""

import re
from collections.abc import Callable, Sequence
from itertools import count
from math import prod
from typing import Any, ClassVar, NamedTuple, Self

from xdsl.ir import Data
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from nki_mlir.diagnostics import NkiError
from nki_mlir.dialects import affine
from nki_mlir.dialects.affine import Expr, ExprSyntaxError
from nki_mlir.dialects.rawtext import raw_parameter
from nki_mlir.isa.dtypes import Dtype

MAXIMUM_PAIRS = 32
"""No part of an access has more pairs: numpy has arrays of at most 64 dimensions; instructions allow far fewer."""


class Pair(NamedTuple):
    """`number` elements, `step` apart; a mask may bound the number by expressions: min(number, bounds…)."""

    step: int
    number: int
    bounds: tuple[Expr, ...] = ()


class Indirection(NamedTuple):
    """Pair `dim` is indexed at run time by the next operand of `indirection(…)`, with indices from 0 to `maximum`."""

    dim: int
    maximum: int


class AccessFields(NamedTuple):
    """What an access says. `partition` and `partition_pairs` are None for storage in HBM."""

    block: Expr
    partition: Expr | None
    partition_pairs: tuple[Pair, ...] | None
    offset: Expr
    pairs: tuple[Pair, ...]
    dtype: Dtype
    indirect: Indirection | None = None


_numbers = count()
"""Of forms."""


@irdl_attr_definition
class Access(Data[AccessFields]):
    """An interned access pattern: equal patterns are one object, and derived figures are computed once.

    A mask bounds a pair by expressions over index values; a bound that is a number is the pair's number.

    Derived attributes: `partitions` and `free` (elements, None where a mask bounds them), `count` (their product),
    `low` and `high` (lowest and highest element that the pairs reach from the offset), `indices` (number of index
    values), `nums` (all pair numbers, partitions first), `form` (a number that patterns share if and only if they
    differ in block and column offset alone).
    """

    name = "nki.access"

    partitions: int | None
    free: int | None
    count: int | None
    low: int
    high: int
    indices: int
    nums: tuple[int, ...]
    form: int

    _pool: "ClassVar[dict[AccessFields, Any]]" = {}
    _forms: "ClassVar[dict[tuple[Any, ...], _Form]]" = {}
    _by_text: "ClassVar[dict[str, Access]]" = {}

    def __new__(cls, fields: AccessFields) -> Self:
        known = cls._pool.get(fields)
        if known is not None:
            return known
        block, partition, partition_pairs, offset, pairs, dtype, indirect = fields
        rest = partition, partition_pairs, pairs, dtype, indirect
        form = cls._forms.get(rest)
        if form is None:
            folded = _folded(fields)
            if folded is not None:
                return cls._pool.setdefault(fields, cls(folded))
            form = cls._forms.setdefault(rest, _form(next(_numbers), fields))
        self = object.__new__(cls)
        put = object.__setattr__
        put(self, "data", fields)
        put(self, "form", form.number)
        put(self, "nums", form.nums)
        put(self, "partitions", form.partitions)
        put(self, "free", form.free)
        put(self, "count", form.elements)
        put(self, "low", form.low)
        put(self, "high", form.high)
        plain = form.plain and type(block) is int and type(offset) is int
        put(self, "indices", 0 if plain else len(self._index_order()))
        return cls._pool.setdefault(fields, self)

    def __init__(self, fields: AccessFields) -> None:
        """Everything is done by `__new__`, which may return a known object."""

    __eq__ = object.__eq__  # pyright: ignore[reportAssignmentType]
    __hash__ = object.__hash__

    def __reduce__(self) -> tuple[Any, ...]:
        return Access, (self.data,)

    def _index_order(self) -> tuple[int, ...]:
        """Returns the numbers of the index values as the text mentions them; they must be 0, 1, …."""
        seen: dict[int, None] = {}
        for expr in self._expressions():
            if not isinstance(expr, int):
                for number in affine.indices(expr):
                    seen.setdefault(number)
        order = tuple(seen)
        if order != tuple(range(len(order))):
            raise VerifyException("index values of an access must be numbered d0, d1, … by first appearance")
        return order

    def _expressions(self) -> list[Expr]:
        """Returns the expressions in the order in which the text mentions them."""
        block, partition, partition_pairs, offset, pairs, _, _ = self.data
        found: list[Expr] = [block]
        if partition is not None:
            found.append(partition)
        for pair in partition_pairs or ():
            found.extend(pair.bounds)
        found.append(offset)
        for pair in pairs:
            found.extend(pair.bounds)
        return found

    @property
    def masked(self) -> bool:
        """Whether a mask bounds the number of some pair."""
        return self.count is None

    @property
    def on_chip(self) -> bool:
        """Whether the pattern has a partition part."""
        return self.data.partition is not None

    def at(self, replacement: Callable[[int], Expr]) -> "tuple[Access | None, tuple[int, ...]]":
        """Returns the access with index value k replaced by `replacement(k)`, and what became of the numbering.

        `replacement` may return an int, or an expression over index values of the caller's numbering. The second
        result lists the caller's numbers in the order of the new d0, d1, …. The access is None when a bound leaves
        no element.
        """
        if not self.indices:
            return self, ()
        block, partition, partition_pairs, offset, pairs, dtype, indirect = self.data
        new_partition_pairs: tuple[Pair, ...] | None = None
        new_block = affine.substitute(block, replacement)
        new_partition = None if partition is None else affine.substitute(partition, replacement)
        if partition_pairs is not None:
            resolved = _resolve(partition_pairs, replacement)
            if resolved is None:
                return None, ()
            new_partition_pairs = resolved
        new_offset = affine.substitute(offset, replacement)
        new_pairs = _resolve(pairs, replacement)
        if new_pairs is None:
            return None, ()
        return numbered(
            AccessFields(new_block, new_partition, new_partition_pairs, new_offset, new_pairs, dtype, indirect)
        )

    def text(self, names: Sequence[str]) -> str:
        """Returns the text, index value k written as `names[k]`; block 0 is not written."""
        if not self.indices:
            known = _TEXTS.get(self)
            if known is None:
                known = _TEXTS[self] = self._written(names)
            return known
        return self._written(names)

    def _written(self, names: Sequence[str]) -> str:
        block, partition, partition_pairs, offset, pairs, dtype, indirect = self.data
        braces = "" if block == 0 else "{" + affine.text(block, names) + "}"
        body = f"{affine.text(offset, names)} : {_pairs_text(pairs, names)}"
        if partition is not None and partition_pairs is not None:
            body = f"{affine.text(partition, names)} : {_pairs_text(partition_pairs, names)} | {body}"
        tail = "" if indirect is None else f" at {indirect.dim} max {indirect.maximum}"
        return f"{braces}[{body}] {dtype}{tail}"

    @classmethod
    def read(cls, source: str) -> "Access":
        """Reads the text of an access over the index values d0, d1, ….

        Raises `ExprSyntaxError` with the position in `source` where the text is not well formed, and
        `VerifyException` where it is but makes no sense.
        """
        known = cls._by_text.get(source)
        if known is None:
            known = cls._by_text[source] = Access(_read(source))
        return known

    @classmethod
    def known(cls, source: str) -> "Access | None":
        """Returns the access of a text that was read before, in the same spelling."""
        return cls._by_text.get(source)

    @classmethod
    def read_sparse(cls, source: str) -> "tuple[Access, tuple[int, ...]]":
        """Reads a text in which index values fold away or come in another order; returns their numbers in the text."""
        return numbered(_read(source))

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> AccessFields:
        return raw_parameter(parser, cls.read).data

    def print_parameter(self, printer: Printer) -> None:
        printer.print_string(f"<{self.text(self.plain_names())}>")

    def plain_names(self) -> list[str]:
        """Returns the names d0, d1, … of the index values."""
        return [f"d{k}" for k in range(self.indices)]


class _Form(NamedTuple):
    """What patterns have in common that differ in block and column offset alone.

    `plain` tells whether no expression but these two can hold an index value.
    """

    number: int
    nums: tuple[int, ...]
    partitions: int | None
    free: int | None
    elements: int | None
    low: int
    high: int
    plain: bool


def _form(number: int, fields: AccessFields) -> _Form:
    """Returns the form of a pattern; raises `VerifyException` for one that no storage could have."""
    _, partition, partition_pairs, _, pairs, _, indirect = fields
    if (partition is None) != (partition_pairs is None):
        raise VerifyException("an access has both a partition offset and partition pairs, or neither")
    for what, listed in (("partition", partition_pairs), ("element", pairs)):
        if listed is None:
            continue
        if not listed:
            raise VerifyException(f"an access needs at least one {what} pair")
        if len(listed) > MAXIMUM_PAIRS:
            raise VerifyException(f"an access has at most {MAXIMUM_PAIRS} {what} pairs, got {len(listed)}")
        for pair in listed:
            if pair.number < 1:
                raise VerifyException(f"the number of a pair must be positive, got {pair.number}")
    together = (partition_pairs or ()) + pairs
    if indirect is not None and not 0 <= indirect.dim < len(together):
        raise VerifyException(f"pair {indirect.dim} to be indexed does not exist")
    partitions = 1 if partition_pairs is None else _size(partition_pairs)
    free = _size(pairs)
    reach = [step * (number - 1) for step, number, _ in pairs]
    return _Form(
        number,
        tuple(pair.number for pair in together),
        partitions,
        free,
        None if partitions is None or free is None else partitions * free,
        sum(r for r in reach if r < 0),
        sum(r for r in reach if r > 0),
        isinstance(partition, int | None) and not any(pair.bounds for pair in together),
    )


_TEXTS: dict[Access, str] = {}
"""The texts of patterns without index values, which are printed again and again."""


def numbered(fields: AccessFields) -> tuple[Access, tuple[int, ...]]:
    """Returns the access with its index values renumbered d0, d1, … by first appearance, and their old numbers."""
    block, partition, partition_pairs, offset, pairs, dtype, indirect = fields
    seen: dict[int, int] = {}

    def renumber(number: int) -> Expr:
        return affine.index(seen.setdefault(number, len(seen)))

    def over(expr: Expr) -> Expr:
        return expr if isinstance(expr, int) else affine.substitute(expr, renumber)

    def over_pairs(old: tuple[Pair, ...]) -> tuple[Pair, ...]:
        if not any(pair.bounds for pair in old):
            return old
        return tuple(Pair(s, n, tuple(over(b) for b in bounds)) for s, n, bounds in old)

    new = AccessFields(
        over(block),
        None if partition is None else over(partition),
        None if partition_pairs is None else over_pairs(partition_pairs),
        over(offset),
        over_pairs(pairs),
        dtype,
        indirect,
    )
    return Access(new), tuple(seen)


def _size(pairs: tuple[Pair, ...]) -> int | None:
    return None if any(pair.bounds for pair in pairs) else prod(pair.number for pair in pairs)


def _resolve(pairs: tuple[Pair, ...], replacement: Callable[[int], Expr]) -> tuple[Pair, ...] | None:
    """Replaces index values in the bounds of masked pairs; None if a bound is known to leave nothing."""
    out: list[Pair] = []
    for pair in pairs:
        if not pair.bounds:
            out.append(pair)
            continue
        number, open_bounds = pair.number, list[Expr]()
        for bound in pair.bounds:
            value = affine.substitute(bound, replacement)
            if isinstance(value, int):
                number = min(number, value)
            else:
                open_bounds.append(value)
        if number <= 0:
            return None
        out.append(Pair(pair.step, number, tuple(open_bounds)))
    return tuple(out)


def _folded(fields: AccessFields) -> AccessFields | None:
    """Returns the pattern without those bounds that are numbers, None if it has none.

    Raises `VerifyException` if one of them leaves no element.
    """
    parts = fields.partition_pairs or (), fields.pairs
    if not any(isinstance(bound, int) for pairs in parts for pair in pairs for bound in pair.bounds):
        return None
    partition_pairs, pairs = (_resolve(part, affine.index) for part in parts)
    if partition_pairs is None or pairs is None:
        raise VerifyException("the mask of an access leaves no element")
    return fields._replace(partition_pairs=partition_pairs if fields.partition_pairs else None, pairs=pairs)


def merged(pairs: Sequence[Pair]) -> tuple[Pair, ...]:
    """Returns the same elements in the same order with as few pairs as possible (for masked pairs: unchanged).

    A pair joins the next inner one when its step is the extent of that one; pairs of one element vanish.
    """
    if any(pair.bounds for pair in pairs):
        return tuple(pairs)
    out: list[Pair] = []
    for pair in pairs:
        if pair.number == 1:
            continue
        if out and out[-1].step == pair.step * pair.number:
            out[-1] = Pair(pair.step, out[-1].number * pair.number)
        else:
            out.append(pair)
    return tuple(out) or (Pair(1, 1),)


def row_major(shape: Sequence[int]) -> tuple[Pair, ...]:
    """Returns one pair per dimension of a contiguous row-major tensor; a scalar has one pair of one element."""
    pairs: list[Pair] = []
    step = 1
    for size in reversed(shape):
        pairs.append(Pair(step, size))
        step *= size
    return tuple(reversed(pairs)) or (Pair(1, 1),)


# Text -----------------------------------------------------------------------------------------------------------


def _pairs_text(pairs: tuple[Pair, ...], names: Sequence[str]) -> str:
    out: list[str] = []
    for step, number, bounds in pairs:
        size = str(number)
        if bounds:
            size = f"min({size}, {', '.join(affine.text(b, names) for b in bounds)})"
        out.append(size if step == 1 else f"{step}*{size}")
    return ", ".join(out)


_SHAPE = re.compile(
    r"\s*(?:\{(?P<block>[^{}]*)\}\s*)?\[(?P<body>[^\[\]]*)\]\s*(?P<dtype>[a-z]\w*)"
    r"(?:\s+at\s+(?P<dim>\d{1,9})\s+max\s+(?P<max>\d{1,18}))?\s*"
)
_PAIR = re.compile(
    r"\s*(?:(?P<step>-?\d{1,18})\s*\*\s*)?(?:(?P<number>\d{1,18})|min\s*\((?P<bounds>.*)\))\s*", re.DOTALL
)


def _read(source: str) -> AccessFields:
    match = _SHAPE.fullmatch(source)
    if match is None:
        raise ExprSyntaxError("expected an access pattern such as [0 : 128 | 0 : 512] f32", 0)
    block = affine.read_at(match["block"], match.start("block"), affine.plain_index) if match["block"] else 0
    body, start = match["body"], match.start("body")
    partition: Expr | None = None
    partition_pairs: tuple[Pair, ...] | None = None
    bar = body.find("|")
    if bar >= 0:
        partition, partition_pairs = _read_part(body[:bar], start)
        start += bar + 1
        body = body[bar + 1 :]
    offset, pairs = _read_part(body, start)
    try:
        dtype = Dtype.from_text(match["dtype"])
    except NkiError as error:
        raise ExprSyntaxError(str(error), match.start("dtype")) from None
    indirect = Indirection(int(match["dim"]), int(match["max"])) if match["dim"] else None
    return AccessFields(block, partition, partition_pairs, offset, pairs, dtype, indirect)


def _read_part(part: str, start: int) -> tuple[Expr, tuple[Pair, ...]]:
    """Reads `offset : pair, pair, …`."""
    head, colon, tail = part.partition(":")
    if not colon:
        raise ExprSyntaxError("expected 'offset : number, …' in an access pattern", start)
    offset = affine.read_at(head, start, affine.plain_index)
    pairs: list[Pair] = []
    position = start + len(head) + 1
    for piece in _split(tail):
        where = position + len(piece) - len(piece.lstrip())
        match = _PAIR.fullmatch(piece)
        if match is None:
            found = f"'{piece.strip()[:20]}'" if piece.strip() else "nothing"
            raise ExprSyntaxError(f"expected a pair 'number' or 'step*number', found {found}", where)
        step = int(match["step"]) if match["step"] else 1
        if match["number"]:
            pairs.append(Pair(step, int(match["number"])))
        else:
            values: list[Expr] = []
            place = position + match.start("bounds")
            for text in _split(match["bounds"]):
                values.append(affine.read_at(text, place, affine.plain_index))
                place += len(text) + 1
            if len(values) < 2 or not isinstance(values[0], int):
                raise ExprSyntaxError("expected min(number, expression, …)", where)
            pairs.append(Pair(step, values[0], tuple(values[1:])))
        position += len(piece) + 1
    return offset, tuple(pairs)


def _split(text: str) -> list[str]:
    """Splits at commas outside parentheses."""
    if "(" not in text:
        return text.split(",")
    pieces: list[str] = []
    depth = start = 0
    for position, character in enumerate(text):
        if character == "(":
            depth += 1
        elif character == ")":
            depth -= 1
        elif character == "," and not depth:
            pieces.append(text[start:position])
            start = position + 1
    pieces.append(text[start:])
    return pieces

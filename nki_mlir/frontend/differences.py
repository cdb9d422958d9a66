"""What two traces of one kernel differ in, told for a message."""

from collections.abc import Sequence
from itertools import zip_longest
from typing import Any, NamedTuple

from nki_mlir.diagnostics import Location
from nki_mlir.frontend.errors import shown
from nki_mlir.frontend.locations import innermost
from nki_mlir.frontend.records import FlatRecord, FlatView, Node, expand_records


class Difference(NamedTuple):
    """`text` completes "the traces differ at"; `location` is that of the instruction in the kernel."""

    text: str
    location: Location | None


def difference(rolled: Sequence[Node], unrolled: Sequence[Node]) -> Difference | None:
    """Returns the first difference of a rolled trace, expanded, from the unrolled one; None if they mean the same."""
    pairs = zip_longest(expand_records(rolled), expand_records(unrolled))
    for number, (first, second) in enumerate(pairs):
        if first is None or second is None:
            which, only = ("unrolled", second) if first is None else ("rolled", first)
            assert only is not None
            text = f"instruction {number}, {_name(only[1])}, which only the {which} trace has"
            return Difference(text, innermost(only[0].location))
        if first[1] != second[1]:
            return Difference(f"instruction {number}, {_compared(first[1], second[1])}", innermost(first[0].location))
    return None


def _name(record: FlatRecord) -> str:
    return str(getattr(record[0], "name", record[0]))


def _compared(rolled: FlatRecord, unrolled: FlatRecord) -> str:
    first, second = _name(rolled), _name(unrolled)
    if rolled[0] != unrolled[0]:
        return f"the operation: {first} rolled, {second} unrolled"
    for ours, theirs in zip(rolled[1:], unrolled[1:], strict=True):
        a, b = dict(ours), dict(theirs)
        for key in (*a, *(key for key in b if key not in a)):
            if key not in a or key not in b or a[key] != b[key]:
                return f"{first}, {_values(key, a.get(key), b.get(key))}"
    return f"{first}, the order of its operands"


def _values(name: str, rolled: Any, unrolled: Any) -> str:
    """Names what differs in an operand or attribute; of tensors only the part of the access that does."""
    if isinstance(rolled, FlatView) and isinstance(unrolled, FlatView):
        for field, a, b in zip(FlatView._fields, rolled, unrolled, strict=True):
            if a != b:
                return _values(f"{field} of {name}", a, b)
    return f"{name}: {_short(rolled)} rolled, {_short(unrolled)} unrolled"


def _short(value: Any) -> str:
    if isinstance(value, FlatView):
        return f"a tensor in {value.space}"
    return shown(_Text(str(value)))


class _Text:
    """Shown as the text it holds, without quotes."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text

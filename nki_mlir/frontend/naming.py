"""Names of tensors and instructions: unique within a kernel, and after the user's variables where they can be seen."""

import dis
from collections.abc import Iterable
from types import CodeType

from nki_mlir.frontend.locations import Frames

_variables: dict[tuple[CodeType, int], str] = {}
_STORES = frozenset({"STORE_FAST", "STORE_NAME", "STORE_GLOBAL", "STORE_DEREF"})


class Names:
    """Hands out names that no one has yet."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._counts: dict[str, int] = {}
        self._taken = set(taken)

    def unique(self, base: str, *, numbered: bool = True) -> str:
        """Returns `base`, or `base.N`; names always come out numbered unless the user gave them."""
        name = base
        while numbered or name in self._taken:
            numbered = False
            count = self._counts.get(base, 0) + 1
            self._counts[base] = count
            name = f"{base}.{count}"
        self._taken.add(name)
        return name

    def number(self, base: str) -> str:
        """Returns `base.N` from a counter of its own, for names that nobody else can have."""
        count = self._counts.get(base, 0) + 1
        self._counts[base] = count
        return f"{base}.{count}"


def variable_name(frames: Frames) -> str:
    """Returns the variable that the call at the innermost frame is assigned to, or '' if it is none."""
    if not frames:
        return ""
    code, offset = frames[0]
    key = code, offset
    known = _variables.get(key)
    if known is None:
        # The offset of a call in progress lies behind its instruction, in the caches that follow it.
        after = next((i for i in dis.get_instructions(code) if i.offset > offset and i.opname != "CACHE"), None)
        known = str(after.argval) if after is not None and after.opname in _STORES else ""
        _variables[key] = known
    return known

"""What to say when a name is not known: the name, and the known ones that look like it."""

from collections.abc import Iterable

from nki_mlir.diagnostics import NkiError


def unknown(kind: str, name: object, known: Iterable[object]) -> NkiError:
    """Returns the error for `name`, which is no `kind`; it proposes close names, or lists all when none is close."""
    from difflib import get_close_matches

    spellings = [str(k) for k in known]
    by_lower = {s.lower(): s for s in reversed(spellings)}
    close = [] if isinstance(name, int) else get_close_matches(str(name).lower(), by_lower)
    if close:
        hint = "did you mean " + " or ".join(f"'{by_lower[c]}'" for c in close) + "?"
    else:
        hint = "known: " + ", ".join(spellings)
    return NkiError(f"unknown {kind} {name if isinstance(name, int) else repr(str(name))}; {hint}")

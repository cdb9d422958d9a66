"""The passes of nki-mlir, each imported when it is first used."""

import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xdsl.passes import ModulePass

_PASSES: dict[str, tuple[str, str]] = {
    "convert-penguin-to-bir": ("penguin_to_bir", "ConvertPenguinToBir"),
    "convert-klr-to-bir": ("klr_to_bir", "ConvertKlrToBir"),
    "unroll": ("unroll", "Unroll"),
    "allocate-first-fit": ("allocate_first_fit", "AllocateFirstFit"),
}
"""For each pass its module, below this package, and its class."""


def _importer(module: str, cls: str) -> "Callable[[], type[ModulePass]]":
    return lambda: getattr(importlib.import_module(f"{__name__}.{module}"), cls)


def get_all_passes() -> "dict[str, Callable[[], type[ModulePass]]]":
    """Returns, by name, a function that imports the pass."""
    return {name: _importer(module, cls) for name, (module, cls) in _PASSES.items()}

"""The dialects of nki-mlir, each imported when it is first used."""

import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xdsl.ir import Dialect

_DIALECTS = {"nki": "NKI", "penguin": "Penguin", "klr": "Klr", "bir": "Bir"}
"""For each dialect, which is also the name of its module, the object that the module exports."""


def _importer(module: str, dialect: str) -> "Callable[[], Dialect]":
    return lambda: getattr(importlib.import_module(f"{__name__}.{module}"), dialect)


def get_all_dialects() -> "dict[str, Callable[[], Dialect]]":
    """Returns, by name, a function that imports the dialect."""
    return {name: _importer(name, dialect) for name, dialect in _DIALECTS.items()}

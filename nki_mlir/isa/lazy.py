"""numpy and ml_dtypes, loaded on first use: a tool that only parses and prints IR starts without them."""

import importlib.util
import sys
from types import ModuleType
from typing import TYPE_CHECKING


def _lazy(name: str) -> ModuleType:
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.find_spec(name)
    if spec is None or spec.loader is None:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)
    spec.loader = importlib.util.LazyLoader(spec.loader)
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


if TYPE_CHECKING:
    import ml_dtypes
    import numpy
else:
    numpy = _lazy("numpy")
    ml_dtypes = _lazy("ml_dtypes")

__all__ = ["ml_dtypes", "numpy"]

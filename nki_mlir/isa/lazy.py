"""numpy and ml_dtypes, loaded on first use: a tool that only parses and prints IR starts without them."""

import importlib.util
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any


class _After(importlib.util.LazyLoader):
    """Loads a module on first use, and another one before it.

    An extension of ml_dtypes imports parts of numpy by their full names, which leaves numpy half loaded if it has not
    been loaded as a whole.
    """

    def exec_module(self, module: ModuleType) -> None:
        loader: Any = vars(self)["loader"]
        execute = loader.exec_module

        def after_numpy(module: ModuleType) -> None:
            assert numpy.__version__
            execute(module)

        loader.exec_module = after_numpy
        super().exec_module(module)


def _lazy(name: str, loader: type[importlib.util.LazyLoader] = importlib.util.LazyLoader) -> ModuleType:
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.find_spec(name)
    if spec is None or spec.loader is None:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)
    spec.loader = loader(spec.loader)
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


if TYPE_CHECKING:
    import ml_dtypes
    import numpy
else:
    numpy = _lazy("numpy")
    ml_dtypes = _lazy("ml_dtypes", _After)

__all__ = ["ml_dtypes", "numpy"]

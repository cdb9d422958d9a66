"""Makes the API importable under the vendor's names, `nki` and `neuronxcc.nki`, for the length of a process.

A package of the vendor's that is installed keeps its name: it is left alone, and `install` says so.
"""

import importlib
import importlib.util
import sys
import warnings
from types import ModuleType
from typing import Any

MODULES = {
    "nki": {
        "nki": "nki_mlir.nki",
        "nki.compiler": "nki_mlir.nki.compiler",
        "nki.dtype": "nki_mlir.nki.dtype",
        "nki.isa": "nki_mlir.nki.isa",
        "nki.isa.constants": "nki_mlir.nki.constants",
        "nki.language": "nki_mlir.nki.language",
    },
    "neuronxcc": {
        "neuronxcc": "",
        "neuronxcc.nki": "nki_mlir.nki_legacy",
        "neuronxcc.nki.compiler": "nki_mlir.nki_legacy.compiler",
        "neuronxcc.nki.isa": "nki_mlir.nki_legacy.isa",
        "neuronxcc.nki.isa.constants": "nki_mlir.nki_legacy.constants",
        "neuronxcc.nki.language": "nki_mlir.nki_legacy.language",
        "neuronxcc.nki.typing": "nki_mlir.nki_legacy.typing",
    },
}
"""Top-level name -> module -> the module of this package that it shows; the empty name is an empty package."""

_installed: dict[str, ModuleType] = {}


class VendorPackageWarning(UserWarning):
    """A package of the vendor's is installed under one of the names, and stays in use."""


def install() -> list[str]:
    """Makes `nki` and `neuronxcc.nki` importable, and returns the top-level names that are this package's.

    It may be called again. A vendor's package is left alone with a `VendorPackageWarning`.
    """
    own: list[str] = []
    for root, modules in MODULES.items():
        if _is_own(root):
            own.append(root)
            continue
        place = vendor_package(root)
        if place is not None:
            warnings.warn(
                f"the package '{root}' at {place} is in use; nki-mlir leaves it alone",
                VendorPackageWarning,
                stacklevel=2,
            )
            continue
        _add(modules)
        own.append(root)
    return own


def uninstall() -> None:
    """Takes back what `install` did; modules that were imported meanwhile keep what they have."""
    for name, module in _installed.items():
        if sys.modules.get(name) is module:
            del sys.modules[name]
    _installed.clear()


def _is_own(root: str) -> bool:
    return root in _installed and sys.modules.get(root) is _installed[root]


def vendor_package(root: str) -> str | None:
    """Returns where a package that is not ours is installed under a name, or None.

    A plain folder of that name on the path, without a module in it, does not count.
    """
    if _is_own(root):
        return None
    loaded = sys.modules.get(root)
    if loaded is not None:
        return getattr(loaded, "__file__", None) or "an unknown place"
    spec = importlib.util.find_spec(root)
    return None if spec is None or spec.origin is None else spec.origin


def _add(modules: dict[str, str]) -> None:
    """Puts modules under their names; each shows the contents of one of ours."""
    made = {name: _module(name, source) for name, source in modules.items()}
    for name, module in made.items():
        parent, _, child = name.rpartition(".")
        if parent:
            setattr(made[parent], child, module)
    sys.modules.update(made)
    _installed.update(made)


def _module(name: str, source: str) -> ModuleType:
    """Returns a module `name` with the public names of the module `source`; others are looked up there on use."""
    module: Any = ModuleType(name)
    module.__path__ = []  # a package without files of its own: what is not listed above cannot be imported
    if not source:
        return module
    own = importlib.import_module(source)
    module.__doc__, module.__file__ = own.__doc__, own.__file__
    for key, value in vars(own).items():
        if not key.startswith("_") and not isinstance(value, ModuleType):
            setattr(module, key, value)
    module.__version__ = getattr(own, "__version__", "")

    def missing(key: str) -> Any:
        try:
            if not key.startswith("_"):  # `__all__` above all: a star import brings every public name
                return getattr(own, key)
        except AttributeError:
            pass
        raise AttributeError(f"module '{name}' has no attribute '{key}'")

    module.__getattr__ = missing
    return module

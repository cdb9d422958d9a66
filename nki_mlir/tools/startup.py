"""What makes the tools start sooner.

A quarter of the time that a tool needs to start went into compiling the methods that `dataclass` writes for the some
two hundred data classes of xDSL. They are the same each time, so their code is kept beside the bytecode of this
package, under the same conditions as bytecode is: not where Python may not write any, and for one version of Python.
"""

import dataclasses
import marshal
import os
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from importlib.util import MAGIC_NUMBER, cache_from_source
from types import CodeType
from typing import Any

_PACKAGES = ("xdsl", "nki_mlir")
"""Whose data classes are looked after; those of a kernel's script are not."""


class KeptCode:
    """Executes text as `exec` does, with code that an earlier process compiled where the text is the same."""

    def __init__(self, path: str) -> None:
        """`path` names the file of the code: Python's magic number, then a marshalled dictionary from text to code."""
        self._path = path
        self._known: dict[str, CodeType] = {}
        self._new: dict[str, CodeType] = {}
        with suppress(OSError, EOFError, ValueError, TypeError):  # absent, cut off or broken: as if nothing was kept
            with open(path, "rb") as file:
                content = file.read()
            if content.startswith(MAGIC_NUMBER):
                self._known = dict(marshal.loads(memoryview(content)[len(MAGIC_NUMBER) :]))

    def execute(self, text: str, names: dict[str, Any], local_names: dict[str, Any]) -> None:
        """Executes `text` as `exec(text, names, local_names)` does."""
        if names.get("__name__", "").partition(".")[0] not in _PACKAGES:
            exec(text, names, local_names)
            return
        code = self._known.get(text)
        if code is None:
            code = self._new[text] = compile(text, "<string>", "exec", dont_inherit=True)
        exec(code, names, local_names)

    def keep(self) -> None:
        """Writes what was compiled since the file was read; whole, or where that cannot be, not at all."""
        if not self._new or sys.dont_write_bytecode:
            return
        temporary = f"{self._path}.{os.getpid()}"
        with suppress(OSError):
            os.makedirs(os.path.dirname(self._path), exist_ok=True)
            try:
                with open(temporary, "wb") as file:
                    file.write(MAGIC_NUMBER + marshal.dumps(self._known | self._new))
                os.replace(temporary, self._path)
            except OSError:  # a full disk, for one: each process to come would leave another file
                os.unlink(temporary)


@contextmanager
def kept_dataclass_code() -> Generator[None]:
    """Lets `dataclass` use and keep code as the module says while the block runs."""
    kept = KeptCode(cache_from_source(os.path.join(os.path.dirname(__file__), "dataclasses.py")) + ".code")
    names = dataclasses.__dict__
    names["exec"] = kept.execute  # found before the built-in function of the name
    try:
        yield
        kept.keep()
    finally:
        del names["exec"]

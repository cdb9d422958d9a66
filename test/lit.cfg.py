# ruff: noqa: F821  (lit defines `config`)
"""Configuration of lit: `lit test` runs every .mlir file of this folder by its RUN lines.

The tools are taken from the environment that lit runs in, and from this tree where they are not installed. pytest runs
the same files in one process: see in_process_lit.py.
"""

import os
import shutil
import sys

import lit.formats

here = os.path.dirname(os.path.abspath(__file__))
root = os.path.dirname(here)
binaries = os.path.dirname(os.path.abspath(sys.executable))

config.name = "nki-mlir"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir"]
config.excludes = ["Inputs"]
config.test_source_root = here
config.test_exec_root = os.path.join(root, "build", "lit")
config.environment["PATH"] = os.pathsep.join([binaries, os.environ.get("PATH", "")])
config.environment["PYTHONPATH"] = root

for tool in ("nki-opt", "nki-sim", "nki-compile", "nki-translate", "nki-run"):
    if shutil.which(tool, path=binaries) is None:
        module = f"nki_mlir.tools.{tool.replace('-', '_')}"
        config.substitutions.append((rf"(?<![\w/.-]){tool}(?![\w.-])", f"'{sys.executable}' -m {module}"))

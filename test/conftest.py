"""Collects the lit tests beside the pytest files."""

from pathlib import Path

import pytest
from in_process_lit import LitFile


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> LitFile | None:
    """Takes every .mlir file with a RUN line, outside of folders called Inputs."""
    if file_path.suffix != ".mlir" or "Inputs" in file_path.parts:
        return None
    if "RUN:" not in file_path.read_text(encoding="utf-8"):
        return None
    return LitFile.from_parent(parent, path=file_path)

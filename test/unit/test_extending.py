"""Replays docs/extending.md: a copy of the package, changed as the page says, passes the lit test of the page."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "extending.md"
BLOCK = re.compile(r"^```(\w+) file=(\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def apply_diff(path: Path, block: str) -> None:
    """Puts the lines with `+` behind the lines without, which must stand in the file once."""
    lines = block.splitlines()
    present = [line[1:] for line in lines if not line.startswith("+")]
    added = [line[1:] for line in lines if line.startswith("+")]
    text = path.read_text().splitlines()
    found = [k for k in range(len(text)) if text[k : k + len(present)] == present]
    assert len(found) == 1, f"{path.name}: {present} stands there {len(found)} times"
    end = found[0] + len(present)
    path.write_text("\n".join([*text[:end], *added, *text[end:]]) + "\n")


def test_the_page_works(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "nki_mlir", tmp_path / "nki_mlir", ignore=shutil.ignore_patterns("__pycache__"))
    test: Path | None = None
    blocks = BLOCK.findall(PAGE.read_text())
    assert len(blocks) >= 10
    for kind, name, body in blocks:
        path = tmp_path / name
        assert kind in ("python", "diff", "mlir")
        if kind == "diff":
            apply_diff(path, body)
            continue
        assert not path.exists(), f"{name} exists already: the page must add something new"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(body)
        if kind == "mlir":
            test = path
    assert test is not None
    for run in re.findall(r"// RUN: (.*)", test.read_text()):
        command = run.replace("%s", str(test)).replace("%t", str(tmp_path / "t.mlir"))
        command = re.sub(r"\bnot (nki-\w+[^|]*)\|", r"{ ! \1; } |", command)
        for tool in ("nki-opt", "nki-sim"):
            module = f"nki_mlir.tools.{tool.replace('-', '_')}"
            command = command.replace(f"{tool} ", f"'{sys.executable}' -c 'from {module} import main; main()' ")
        command = command.replace("| filecheck ", f"| '{Path(sys.executable).parent}/filecheck' ")
        done = subprocess.run(
            ["bash", "-o", "pipefail", "-c", command],
            cwd=tmp_path,
            env={"PYTHONPATH": str(tmp_path), "PATH": "/usr/bin:/bin"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{run}\n{done.stdout}\n{done.stderr}"

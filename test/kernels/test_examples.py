"""Every example against numpy, at fp32, bf16 and fp16, through both front ends, bit-equal to each other."""

import importlib
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from nki_mlir import compat

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
NAMES = ("add", "softmax", "matmul", "attention", "layernorm", "rmsnorm", "transpose", "average_pool")
MATMULS = ("matmul", "attention")
DTYPES = {"fp32": np.dtype(np.float32), "bf16": np.dtype(ml_dtypes.bfloat16), "fp16": np.dtype(np.float16)}


@pytest.fixture(scope="module", autouse=True)
def importable() -> Any:
    """Makes the examples and the API they import importable, and takes both away again."""
    compat.install()
    sys.path.insert(0, str(EXAMPLES))
    yield
    sys.path.remove(str(EXAMPLES))
    compat.uninstall()


def example(name: str) -> ModuleType:
    return importlib.import_module(name)


def steps(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Numbers 16-bit floats in order, so that neighbours differ by 1 and both zeros are 0."""
    bits = values.view(np.uint16).astype(np.int64)
    return np.where(bits < 0x8000, bits, 0x8000 - bits)


def run(name: str, dtype: np.dtype[Any], frontend: str) -> tuple[Any, tuple[Any, ...]]:
    module = example(name)
    arrays = module.inputs(np.random.default_rng(7), dtype)
    return module.KERNEL.simulate(arrays, frontend=frontend), arrays


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", NAMES)
def test_numbers(name: str, dtype: str) -> None:
    results = {frontend: run(name, DTYPES[dtype], frontend) for frontend in ("beta2", "beta3")}
    result, arrays = results["beta2"]
    assert result.tobytes() == results["beta3"][0].tobytes()
    expected = np.asarray(example(name).reference(*arrays), np.float64)
    assert result.shape == expected.shape
    if result.dtype == np.float32:
        tolerance = 1e-4 if name in MATMULS else 1e-5
        np.testing.assert_allclose(result, expected, rtol=tolerance, atol=tolerance)
        return
    # The examples compute in fp32 and round once, when they write: one step of the type from the exact result, rounded.
    # Where terms cancel, a step is smaller than the rounding of fp32, which then is the bound.
    assert result.dtype == DTYPES[dtype]
    rounded = expected.astype(np.float32).astype(result.dtype)
    one_step = np.abs(steps(result) - steps(rounded)) <= 1
    fp32_error = np.abs(result.astype(np.float64) - expected) <= 2**-20 * np.abs(expected).max()
    assert (one_step | fp32_error).all()
    np.testing.assert_allclose(result.astype(np.float64), expected, rtol=2e-2, atol=2e-2)


@pytest.mark.parametrize("name", NAMES)
def test_rolled_and_unrolled_traces_agree(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NKI_CHECK_TRACE", "1")
    module = example(name)
    arrays = module.inputs(np.random.default_rng(7))
    trace = module.KERNEL.trace(arrays, {}, frontend="beta3")
    trace.build("beta3").verify()


@pytest.mark.parametrize("target", ["trn1", "trn2", "trn3"])
def test_targets(target: str) -> None:
    module = example("add")
    arrays = module.inputs(np.random.default_rng(7))
    result = module.KERNEL.simulate(arrays, target=target)
    np.testing.assert_allclose(result, module.reference(*arrays), rtol=1e-6)


def test_demo_has_a_help(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.setattr(sys, "argv", ["demo.py", "--help"])
    with pytest.raises(SystemExit) as left:
        importlib.import_module("demo").main()
    assert left.value.code == 0
    assert capsys.readouterr().out.startswith("usage: demo.py [-h] [directory]")


def test_demo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    """What `make demo` runs: a row for each example and front end, and the IR of each in two files."""
    monkeypatch.setattr(sys, "argv", ["demo.py", str(tmp_path)])
    assert importlib.import_module("demo").main() == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2 * len(NAMES) + 2
    assert lines[-1] == "every kernel agrees with numpy"
    assert len(list(tmp_path.glob("*.mlir"))) == 4 * len(NAMES)

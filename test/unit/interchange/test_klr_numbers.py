"""The sample KLR files, read, lowered and simulated, against numpy."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from xdsl.context import Context

from nki_mlir.interchange.klr import read_klr
from nki_mlir.interchange.klr_dialect import klr_to_module
from nki_mlir.simulator import simulate
from nki_mlir.transforms.pipeline import lower_to_bir

DATA = Path(__file__).parents[2] / "data" / "klr"
LAYOUTS = ("head", "nxcc224")
Array = np.ndarray[Any, Any]


def run(path: Path, inputs: dict[str, Array]) -> dict[str, Array]:
    """Returns the outputs of a KLR file."""
    module = klr_to_module(read_klr(path.read_bytes(), str(path)))
    module.verify()
    lower_to_bir(Context(), module)
    module.verify()
    return simulate(module, inputs).outputs


def uniform(*shape: int, dtype: Any = np.float32) -> Array:
    return np.random.default_rng(sum(shape)).uniform(-2, 2, shape).astype(np.float32).astype(dtype)


def layernorm(x: Array, gamma: Array, beta: Array) -> Array:
    wide = x.astype(np.float64)
    centred = wide - wide.mean(axis=1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + 1e-5) * gamma + beta


BF16 = ml_dtypes.bfloat16
KERNELS: dict[str, tuple[dict[str, Array], float, Callable[..., dict[str, Array]]]] = {
    "add": (
        {"a": uniform(128, 512), "b": uniform(128, 512)},
        1e-5,
        lambda a, b: {"c.1": a + b},
    ),
    "exp": ({"x": uniform(128, 512)}, 1e-5, lambda x: {"o.1": np.exp(x.astype(np.float64))}),
    "matmul": (
        {"lhsT": uniform(128, 128, dtype=BF16), "rhs": uniform(128, 512, dtype=BF16)},
        1e-4,
        lambda **k: {"o.1": k["lhsT"].astype(np.float64).T @ k["rhs"].astype(np.float64)},
    ),
    "reduce": (
        {"x": uniform(128, 4, 64) + 3},
        1e-5,
        lambda x: {"o.1": x.sum(axis=2, dtype=np.float64), "o2.5": x.sum(axis=(0, 2), dtype=np.float64)[None]},
    ),
    "layernorm": (
        {"x": uniform(256, 512), "gamma": uniform(1, 512), "beta": uniform(1, 512)},
        1e-5,
        lambda x, gamma, beta: {"o.1": layernorm(x, gamma, beta)},
    ),
    "transpose_pe": ({"x": uniform(128, 128, dtype=BF16)}, 0, lambda x: {"o.1": x.T}),
    "transpose_dve": ({"x": uniform(32, 32)}, 0, lambda x: {"o.1": x.T}),
}


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_numbers(layout: str, kernel: str) -> None:
    inputs, tolerance, reference = KERNELS[kernel]
    outputs = run(DATA / layout / f"{kernel}.klr", inputs)
    expected = reference(**inputs)
    assert outputs.keys() == expected.keys()
    for name, want in expected.items():
        got = outputs[name]
        if tolerance:
            np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance * float(np.abs(want).max()))
        else:
            assert np.array_equal(got, want)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_loop_at_run_time(layout: str) -> None:
    x = uniform(8, 128, 64)
    outputs = run(DATA / layout / "dynloop.klr", {"x": x, "n": np.array([[8]], np.int32)})
    assert np.array_equal(outputs["o.1"], 2 * x)

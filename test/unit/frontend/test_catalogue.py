"""Rules of the hardware that a kernel breaks raise what NKI's catalogue of errors says."""

from typing import Any

import numpy as np
import pytest

from nki_mlir import nki, nki_legacy
from nki_mlir.frontend.catalogue import CATALOGUE, NkiValidationError, entry_of
from nki_mlir.frontend.errors import NKIRuntimeError, NKISyntaxError, NKITypeError, NKIValueError
from nki_mlir.isa.instructions import INSTRUCTIONS
from nki_mlir.isa.target import TARGETS
from nki_mlir.nki import isa as nisa
from nki_mlir.nki import language as nl
from nki_mlir.nki_legacy import language as legacy_nl
from nki_mlir.nki_legacy import typing as nt

X = np.zeros((128, 128), np.float32)
TRN1 = next(target for target in TARGETS if target.name == "sunda")

# The exception types of the Penguin reference, §9.1.
TYPES: dict[type[Exception], str] = {
    ValueError: """num_partition_exceed_arch_limit num_partition_mismatch size_of_dimension_exceed_arch_limit
        exceed_max_supported_dimension param_shape_mismatch param_shape_incompatible_with_matmul""",
    TypeError: """unsupported_memory activation_bias_invalid_type activation_scale_invalid_type
        supported_operand_dtype""",
    SyntaxError: """activation_scale_scalar_or_vector valid_size tile_shape_mismatch src_dst_same_dtype
        par_reduce_unsupported_op instruction_unsupported_op instruction_engine_unsupported_op_comb
        instruction_unsupported_dtypes par_reduce_bitvec_op_invalid_dtype reduce_bitvec_op_invalid_dtype
        bitvec_operand_must_be_integer reduce_unsupported_negate min_arch_support_for_hwdge
        min_arch_support_for_inst""",
}


def test_every_entry_is_that_of_a_rule_and_has_the_published_type() -> None:
    used = {
        entry for isa in INSTRUCTIONS.values() for rule in isa.rules if (entry := entry_of(isa.name, rule)) is not None
    }
    assert used == set(CATALOGUE)
    for entry in CATALOGUE:
        kind = next(kind for kind, names in TYPES.items() if entry.name in names.split())
        assert issubclass(entry.raised, kind)


def sbuf(*shape: int, dtype: Any = nl.float32) -> Any:
    return nl.ndarray(shape, dtype)


def psum(*shape: int, dtype: Any = nl.float32) -> Any:
    return nl.ndarray(shape, dtype, buffer=nl.psum)


def hbm(*shape: int, dtype: Any = nl.float32) -> Any:
    return nl.ndarray(shape, dtype, buffer=nl.private_hbm)


def copy(dst: Any, src: Any) -> None:
    nisa.tensor_copy(dst, src)


I32, BF16, F16 = nl.int32, nl.bfloat16, nl.float16

# name: (what a kernel does, the type published for it)
BROKEN: dict[str, tuple[Any, type[Exception]]] = {
    "num_partition_mismatch": (lambda: copy(sbuf(64, 8), sbuf(32, 8)), NkiValidationError),
    "size_of_dimension_exceed_arch_limit": (
        lambda: nisa.nc_matmul(psum(128, 8), sbuf(128, 256)[0:128, 0:129], sbuf(128, 8)),
        NkiValidationError,
    ),
    "exceed_max_supported_dimension": (
        lambda: copy(sbuf(4, 3, 3, 3, 3, 3)[:, 0:2, 0:2, 0:2, 0:2, 0:2], sbuf(4, 32)),
        NkiValidationError,
    ),
    "param_shape_mismatch": (lambda: copy(sbuf(64, 8), sbuf(64, 16)), NkiValidationError),
    "param_shape_incompatible_with_matmul": (
        lambda: nisa.nc_matmul(psum(128, 64), sbuf(64, 128), sbuf(128, 64)),
        NkiValidationError,
    ),
    "unsupported_memory": (lambda: copy(sbuf(64, 8), hbm(64, 8)), NKITypeError),
    "activation_scale_invalid_type": (
        lambda: nisa.activation(sbuf(64, 8), "exp", sbuf(64, 8), scale=sbuf(64, 1, dtype=BF16)),
        NKITypeError,
    ),
    "activation_scale_scalar_or_vector": (
        lambda: nisa.activation(sbuf(64, 8), "exp", sbuf(64, 8), scale=sbuf(64, 2)),
        NKISyntaxError,
    ),
    "valid_size": (
        lambda: nisa.nc_matmul(psum(32, 8), sbuf(32, 32), sbuf(32, 8), tile_position=(0, 0), tile_size=(32, 48)),
        NKISyntaxError,
    ),
    "tile_shape_mismatch": (lambda: nisa.nc_transpose(sbuf(8, 32), sbuf(16, 8)), NKISyntaxError),
    "src_dst_same_dtype": (lambda: nisa.nc_transpose(sbuf(8, 16), sbuf(16, 8, dtype=BF16)), NKISyntaxError),
    "instruction_unsupported_op": (
        lambda: nisa.activation(
            sbuf(64, 8),
            "exp",
            sbuf(64, 8),
            reduce_op="max",
            reduce_res=sbuf(64, 1),
            reduce_cmd=nisa.reduce_cmd.reset_reduce,
        ),
        NKISyntaxError,
    ),
    "par_reduce_unsupported_op": (
        lambda: nisa.tensor_partition_reduce(sbuf(1, 8), "subtract", sbuf(64, 8)),
        NKISyntaxError,
    ),
    "bitvec_operand_must_be_integer": (
        lambda: nisa.tensor_tensor(sbuf(64, 8), sbuf(64, 8), sbuf(64, 8), "bitwise_and"),
        NKISyntaxError,
    ),
    "reduce_bitvec_op_invalid_dtype": (
        lambda: nisa.tensor_reduce(sbuf(64, 1), "bitwise_and", sbuf(64, 8), axis=1),
        NKISyntaxError,
    ),
    "reduce_unsupported_negate": (
        lambda: nisa.tensor_reduce(sbuf(64, 1, dtype=I32), "bitwise_or", sbuf(64, 8, dtype=I32), axis=1, negate=True),
        NKISyntaxError,
    ),
}


@pytest.mark.parametrize("frontend", ["beta2", "beta3"])
@pytest.mark.parametrize("name", BROKEN)
def test_kernels_get_the_published_error(name: str, frontend: str) -> None:
    run, kind = BROKEN[name]

    @nki.jit
    def kernel(x: Any) -> Any:
        run()
        return x

    with pytest.raises(kind, match=rf", {name}\]$") as caught:
        kernel.simulate((X,), frontend=frontend)
    assert isinstance(caught.value, NkiValidationError)
    assert caught.value.location is not None
    assert caught.value.location.file == __file__


def test_sizes_are_listed_as_published() -> None:
    with pytest.raises(NKISyntaxError, match=r"column size must be in \[32, 64, 128\], got 48"):
        nki.jit(lambda x: BROKEN["valid_size"][0]()).simulate((X,))


def test_a_grid_of_cores_needs_cores() -> None:
    with pytest.raises(NKIRuntimeError, match="multi_cores_spmd_not_supported"):
        nki.jit(lambda x: x)[2].trace((X,), {}, frontend="beta2", target=TRN1)


def test_an_index_takes_integers_only() -> None:
    @nki_legacy.jit
    def kernel(x: Any, number: Any) -> Any:
        out = legacy_nl.ndarray(x.shape, dtype=x.dtype, buffer=legacy_nl.shared_hbm)
        rows = legacy_nl.arange(128)[:, None] + number
        legacy_nl.store(out[rows, legacy_nl.arange(128)[None, :]], legacy_nl.load(x))
        return out

    assert (kernel.simulate((X, np.int64(0))) == X).all()
    with pytest.raises(NKITypeError, match=r"only integers can be combined with an index, got 0.5 \[tile_index_add"):
        kernel.simulate((X, 0.5))


def test_mutable_parameters_are_returned() -> None:
    def kernel(x: nt.mutable_tensor, returned: bool) -> Any:
        legacy_nl.store(x, legacy_nl.add(legacy_nl.load(x), 1.0))
        return x if returned else None

    assert (nki_legacy.simulate_kernel(kernel, X.copy(), True) == 1).all()
    with pytest.raises(
        NKISyntaxError, match=r"mutable parameter x must be returned \[mutable_parameter_not_returned\]"
    ):
        nki_legacy.simulate_kernel(kernel, X.copy(), False)


def test_values_stay_value_errors() -> None:
    assert issubclass(NkiValidationError, ValueError)
    assert not issubclass(NkiValidationError, NKIValueError)


@pytest.mark.parametrize("api", [nki, nki_legacy])
def test_a_tensor_on_chip_of_one_dimension(api: Any) -> None:
    kernel = api.jit(lambda x: api.language.ndarray((128,), api.language.float32, buffer=api.language.sbuf))
    message = r"ndarray: Insufficient rank: .*, got \(128,\) \[leading_dimension_of_tensor_must_be_partition\]"
    with pytest.raises(NKISyntaxError, match=message):
        kernel.simulate((X,))

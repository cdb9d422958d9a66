"""The catalogue: every builder makes an exception of its published type that ends with its rule."""

import inspect
from pathlib import Path
from typing import Any

import pytest

from nki_mlir.diagnostics import Location, NkiError
from nki_mlir.frontend import errors
from nki_mlir.frontend.errors import KernelError, NKISyntaxError

BUILDERS = {name[4:]: build for name, build in vars(errors).items() if name.startswith("err_")}

# Penguin reference, §9.1: everything that is not listed is an NKISyntaxError.
TYPES: dict[type[Exception], str] = {
    ValueError: """num_partition_exceed_arch_limit num_partition_mismatch size_of_dimension_exceed_arch_limit
        exceed_max_supported_dimension param_shape_incompatible_with_numpy param_shape_incompatible_with_matmul
        store_dst_shape_smaller_than_other_shape unsupported_dtype_value operand_cannot_be_none
        logic_or_not_supported ambiguous_tensor_truth_value unsupported_expression_in_mask
        tensor_output_not_written_to view_shape""",
    TypeError: """annotation_shape_mismatch unsupported_args tile_index_add_non_integer_scalar
        unexpected_type_of_operand unsupported_memory cannot_assign_to_index cannot_update_immutable_parameter
        failed_to_infer_tile_from_local_tensor""",
    IndexError: """indices_shape_mismatch tensor_access_out_of_bound program_id_axis_out_of_bounds too_many_indices""",
    RuntimeError: """shared_hbm_must_in_kernel_level multi_cores_spmd_not_supported nki_api_outside_of_nki_kernel""",
}
OWN_RULES = {"view_shape": "tensor_view", "too_many_indices": "tensor_rank"}


def example(build: Any) -> KernelError:
    """Calls a builder with a value of the annotated kind for each parameter."""
    samples: dict[str, Any] = {"str": "name", "int": 3, "Names": ("a", "b")}
    arguments: list[Any] = []
    for parameter in inspect.signature(build).parameters.values():
        kind = getattr(parameter.annotation, "__name__", str(parameter.annotation))
        if parameter.annotation is inspect.signature(errors.err_indices_shape_mismatch).parameters["shapes"].annotation:
            arguments.append([(1, 2), (3,)])
        else:
            arguments.append(samples.get(kind, (128, 512) if kind in ("Sequence", "Iterable") else "a"))
    return build(*arguments)


@pytest.mark.parametrize("name", BUILDERS)
def test_builder(name: str) -> None:
    error = example(BUILDERS[name])
    kind = next((kind for kind, names in TYPES.items() if name in names.split()), SyntaxError)
    assert isinstance(error, kind)
    assert isinstance(error, KernelError)
    assert isinstance(error, NkiError)
    assert error.rule == OWN_RULES.get(name, name)
    assert str(error).endswith(f" [{error.rule}]")
    assert error.frames == ()
    error.location = Location("kernel.py", 3)
    error.frames = ((test_builder.__code__, 0),)
    with pytest.raises(kind):
        raise error


def test_every_builder_is_used() -> None:
    package = Path(errors.__file__).parents[1]
    used = "".join(path.read_text() for path in package.rglob("*.py") if path != Path(errors.__file__))
    assert [name for name in BUILDERS if f"err_{name}(" not in used] == []
    assert set(" ".join(TYPES.values()).split()) <= set(BUILDERS)


FRAGMENTS = {
    "num_partition_exceed_arch_limit": "number of partitions 3 exceed architecture limitation of 3",
    "mask_not_equal_not_supported": "'not equal' mask is not supported",
    "logic_or_not_supported": "'logical or' is not supported for the `name`",
}


@pytest.mark.parametrize("name, fragment", FRAGMENTS.items())
def test_published_fragments(name: str, fragment: str) -> None:
    assert fragment in str(example(BUILDERS[name]))


def test_syntax_errors_print_their_message() -> None:
    assert str(NKISyntaxError("text", rule="a")) == "text [a]"
    assert NKISyntaxError("text").msg == "text"

"""The catalogue: every builder makes an exception of its published type that ends with its rule."""

import inspect
import re
from pathlib import Path
from typing import Any

import pytest

from nki_mlir.diagnostics import Location, NkiError
from nki_mlir.frontend import errors
from nki_mlir.frontend.catalogue import CATALOGUE
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


# The published catalogue: all names of the Penguin reference, §9.1.
PUBLISHED = """
    num_partition_exceed_arch_limit num_partition_mismatch size_of_dimension_exceed_arch_limit
    exceed_max_supported_dimension stack_overflow_sbuf stack_overflow_psum valid_size tile_shape_mismatch
    annotation_shape_mismatch param_shape_mismatch param_shape_incompatible_with_numpy
    param_shape_incompatible_with_matmul store_dst_shape_smaller_than_other_shape indices_shape_mismatch
    leading_dimension_of_tensor_must_be_partition supported_operand_dtype unsupported_dtype_value unsupported_args
    activation_bias_invalid_type activation_scale_invalid_type activation_scale_scalar_or_vector src_dst_same_dtype
    tile_index_add_non_integer_scalar unexpected_type_of_operand operand_cannot_be_none incorrect_target_type
    unsupported_memory shared_hbm_must_in_kernel_level hbm_tensor_with_init_value_not_supported
    tensor_creation_on_scratchpad_with_init_value_not_supported bias_tensor_must_be_specified_in_allocation
    transpose_on_tensor_engine_not_allowed_in_allocated_kernel instruction_unsupported_op
    instruction_engine_unsupported_op_comb instruction_supported_dtypes instruction_unsupported_dtypes
    tensor_int32_add_multiply_supported_engine par_reduce_unsupported_op par_reduce_bitvec_op_invalid_dtype
    reduce_unsupported_negate reduce_bitvec_op_invalid_dtype bitvec_operand_must_be_integer
    mask_not_equal_not_supported logic_or_not_supported exact_arch_support_for_inst min_arch_support_for_inst
    min_arch_support_for_hwdge multi_cores_spmd_not_supported tensor_access_out_of_bound tensor_index_not_supported
    cannot_assign_to_index unsupported_mixing_basic_advanced_tensor_indexing indirect_indices_free_dim
    indirect_indices_sbuf indirect_indices_are_not_supported_with_nki_api
    copy_dynamic_indirect_indices_not_natively_supported atomic_rmw_add_only atomic_rmw_dynamic_index
    1d_arange_not_supported unexpected_output_dependencies dynamic_control_flow_not_supported
    control_flow_condition_depending_on_arange while_loop_requires_unconditional_entry ambiguous_tensor_truth_value
    unsupported_expression_in_mask nki_api_outside_of_nki_kernel nested_kernel_with_spmd_grid
    program_id_axis_out_of_bounds local_variable_used_out_of_scope tensor_output_not_written_to
    cannot_update_immutable_parameter mutable_parameter_not_returned failed_to_infer_tile_from_local_tensor
    tiled_offloaded_memcpy_same_shape tiled_offloaded_fma_same_length expected_constant_value nki_param_not_hashable
"""


def test_the_whole_catalogue_is_raised_or_listed_as_not_raised() -> None:
    page = (Path(errors.__file__).parents[2] / "docs/architecture.md").read_text()
    chapter = page.partition("## Published messages that nothing raises\n")[2]
    rows = [row.split("|")[1] for row in chapter.splitlines() if row.startswith("| `")]
    listed = [name for row in rows for name in re.findall(r"`(\w+)`", row)]
    raised = {name for name in BUILDERS if name not in OWN_RULES} | {entry.name for entry in CATALOGUE}
    assert sorted([*raised, *listed]) == sorted(PUBLISHED.split())


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

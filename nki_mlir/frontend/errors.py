"""The errors that tracing a kernel raises, one function each: it builds the exception and leaves raising to its caller.

Names, conditions and exception types are those of the published catalogues, and so are the short fixed fragments; the
rest of each sentence is ours. Every class derives from `KernelError`, which holds the user's frames until somebody
prints them. The name of the builder, without `err_`, is the rule that the message ends with.

Sources: Penguin reference, §6.3 and §9.1; NKI ISA reference, §7.1.
"""

from collections.abc import Iterable, Sequence

from nki_mlir.diagnostics import NkiError

Names = str | Iterable[str]
_LONGEST_VALUE = 80


class KernelError(NkiError):
    """An error in a kernel. `frames` is what `locations.here` returned where it happened, `()` while unknown."""

    frames: tuple[object, ...] = ()


class NKISyntaxError(KernelError, SyntaxError):
    """A construct that the kernel language does not have."""


class NKIValueError(KernelError, ValueError):
    """A value or a shape that does not fit."""


class NKITypeError(KernelError, TypeError):
    """An operand of the wrong kind."""


class NKIIndexError(KernelError, IndexError):
    """An index outside of its dimension."""


class NKIRuntimeError(KernelError, RuntimeError):
    """Something that is not possible at this point of the program or on this machine."""


class NKINotImplementedError(KernelError, NotImplementedError):
    """A documented feature that the tracer does not have."""


def _listed(names: Names) -> str:
    return names if isinstance(names, str) else ", ".join(str(name) for name in names)


def shown(value: object) -> str:
    """Returns how messages show a value that somebody passed: on one line, and no more of it than tells what it is."""
    try:
        text = " ".join(repr(value).split())
    except ValueError:  # an integer of more digits than Python prints
        return f"a large {type(value).__name__}"
    return text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]}…"


def _shape(shape: Sequence[int]) -> str:
    return "(" + ", ".join(str(size) for size in shape) + ")"


# Sizes and shapes


def err_num_partition_exceed_arch_limit(api: str, partitions: int, limit: int) -> NKIValueError:
    return NKIValueError(
        f"{api}: number of partitions {partitions} exceed architecture limitation of {limit}",
        rule="num_partition_exceed_arch_limit",
    )


def err_num_partition_mismatch(api: str, partitions: Sequence[int]) -> NKIValueError:
    return NKIValueError(
        f"{api}: operands have different numbers of partitions: {_listed(str(p) for p in partitions)}",
        rule="num_partition_mismatch",
    )


def err_size_of_dimension_exceed_arch_limit(api: str, dimension: str, size: int, limit: int) -> NKIValueError:
    return NKIValueError(
        f"{api}: {dimension} has {size} elements, at most {limit} allowed", rule="size_of_dimension_exceed_arch_limit"
    )


def err_exceed_max_supported_dimension(api: str, rank: int, limit: int) -> NKIValueError:
    return NKIValueError(
        f"{api}: operand has {rank} dimensions, at most {limit} allowed", rule="exceed_max_supported_dimension"
    )


def err_stack_overflow_sbuf(needed: int, available: int) -> NKIRuntimeError:
    return NKIRuntimeError(
        f"SBUF overflow: needs {needed} bytes a partition, {available} available", rule="stack_overflow_sbuf"
    )


def err_stack_overflow_psum(needed: int, available: int) -> NKIRuntimeError:
    return NKIRuntimeError(
        f"PSUM overflow: needs {needed} bytes a partition, {available} available", rule="stack_overflow_psum"
    )


def err_valid_size(name: str, size: int, allowed: Iterable[int]) -> NKISyntaxError:
    return NKISyntaxError(f"{name} size must be in [{_listed(str(a) for a in allowed)}], got {size}", rule="valid_size")


def err_tile_shape_mismatch(api: str, operand: str, shape: Sequence[int], expected: Sequence[int]) -> NKISyntaxError:
    return NKISyntaxError(
        f"{api}: {operand} has shape {_shape(shape)}, expected {_shape(expected)}", rule="tile_shape_mismatch"
    )


def err_annotation_shape_mismatch(name: str, shape: Sequence[int], annotated: Sequence[int]) -> NKITypeError:
    return NKITypeError(
        f"'{name}' is annotated with shape {_shape(annotated)} but has shape {_shape(shape)}",
        rule="annotation_shape_mismatch",
    )


def err_param_shape_mismatch(api: str, first: Sequence[int], second: Sequence[int]) -> NKIValueError:
    return NKIValueError(
        f"{api}: operands of shapes {_shape(first)} and {_shape(second)} need the same shape, nothing is broadcast",
        rule="param_shape_mismatch",
    )


def err_param_shape_incompatible_with_numpy(api: str, first: Sequence[int], second: Sequence[int]) -> NKIValueError:
    return NKIValueError(
        f"{api}: shapes {_shape(first)} and {_shape(second)} cannot be broadcast to one shape",
        rule="param_shape_incompatible_with_numpy",
    )


def err_param_shape_incompatible_with_matmul(api: str, first: Sequence[int], second: Sequence[int]) -> NKIValueError:
    return NKIValueError(
        f"{api}: contraction sizes of operands with shapes {_shape(first)} and {_shape(second)} differ",
        rule="param_shape_incompatible_with_matmul",
    )


def err_store_dst_shape_smaller_than_other_shape(dst: Sequence[int], other: Sequence[int]) -> NKIValueError:
    return NKIValueError(
        f"a value of shape {_shape(other)} does not fit into a destination of shape {_shape(dst)}",
        rule="store_dst_shape_smaller_than_other_shape",
    )


def err_view_shape(method: str, reason: str) -> NKIValueError:
    """For the methods of tensors that change a view; the catalogue has no entry of its own for them."""
    return NKIValueError(f"{method}: {reason}", rule="tensor_view")


def err_leading_dimension_of_tensor_must_be_partition(name: str, shape: Sequence[int]) -> NKISyntaxError:
    return NKISyntaxError(
        f"on-chip tensor {name} of shape {_shape(shape)} needs a partition dimension in front and a free one after it",
        rule="leading_dimension_of_tensor_must_be_partition",
    )


def err_failed_to_infer_tile_from_local_tensor(name: str, shape: Sequence[int]) -> NKITypeError:
    return NKITypeError(
        f"{name} of shape {_shape(shape)} spans several blocks where one tile is expected: index its block dimensions",
        rule="failed_to_infer_tile_from_local_tensor",
    )


# Kinds of operands


def err_supported_operand_dtype(api: str, operand: str, dtype: object, supported: Names) -> NKITypeError:
    return NKITypeError(
        f"{api}: {operand} has dtype {dtype}, supported: {_listed(supported)}", rule="supported_operand_dtype"
    )


def err_unsupported_dtype_value(dtype: object) -> NKIValueError:
    return NKIValueError(f"{shown(dtype)} is not a dtype of NKI", rule="unsupported_dtype_value")


def err_unsupported_args(api: str, names: Names) -> NKITypeError:
    return NKITypeError(f"{api}: unsupported arguments: {_listed(names)}", rule="unsupported_args")


def err_activation_bias_invalid_type(dtype: object) -> NKITypeError:
    return NKITypeError(
        f"activation: bias must be a vector of float32, float16 or bfloat16, got {dtype}",
        rule="activation_bias_invalid_type",
    )


def err_activation_scale_invalid_type(dtype: object) -> NKITypeError:
    return NKITypeError(f"activation: scale must be float32, got {dtype}", rule="activation_scale_invalid_type")


def err_activation_scale_scalar_or_vector(shape: Sequence[int]) -> NKISyntaxError:
    return NKISyntaxError(
        f"activation: scale must be a number or a tile with one element a partition, got shape {_shape(shape)}",
        rule="activation_scale_scalar_or_vector",
    )


def err_src_dst_same_dtype(api: str, src: object, dst: object) -> NKISyntaxError:
    return NKISyntaxError(
        f"{api}: source and destination need the same dtype, got {src} and {dst}", rule="src_dst_same_dtype"
    )


def err_tile_index_add_non_integer_scalar(value: object) -> NKITypeError:
    return NKITypeError(
        f"only integers can be combined with an index, got {value!r}", rule="tile_index_add_non_integer_scalar"
    )


def err_unexpected_type_of_operand(api: str, operand: str, value: object, expected: Names) -> NKITypeError:
    return NKITypeError(
        f"{api}: {operand} must be {_listed(expected)}, got {type(value).__name__}", rule="unexpected_type_of_operand"
    )


def err_operand_cannot_be_none(api: str, operand: str) -> NKIValueError:
    return NKIValueError(f"{api}: {operand} cannot be None", rule="operand_cannot_be_none")


def err_incorrect_target_type(value: object) -> NKISyntaxError:
    return NKISyntaxError(
        f"the target of an assignment must be a tensor, got {type(value).__name__}", rule="incorrect_target_type"
    )


def err_unsupported_memory(api: str, operand: str, space: object, expected: Names) -> NKITypeError:
    return NKITypeError(
        f"{api}: {operand} is in {space}, expected to be in {_listed(expected)}", rule="unsupported_memory"
    )


def err_expected_constant_value(api: str, name: str) -> NKISyntaxError:
    return NKISyntaxError(
        f"{api}: {name} must be a constant known while the kernel is traced", rule="expected_constant_value"
    )


def err_nki_param_not_hashable(name: str, value: object) -> NKIValueError:
    return NKIValueError(
        f"argument '{name}' of type {type(value).__name__} cannot be hashed", rule="nki_param_not_hashable"
    )


# Creating tensors


def err_shared_hbm_must_in_kernel_level(name: str) -> NKIRuntimeError:
    return NKIRuntimeError(
        f"shared_hbm tensor {name} must be created at the top level of the kernel, not in a loop or a callee",
        rule="shared_hbm_must_in_kernel_level",
    )


def err_hbm_tensor_with_init_value_not_supported(api: str) -> NKISyntaxError:
    return NKISyntaxError(
        f"{api}: a tensor in HBM cannot be created with a value", rule="hbm_tensor_with_init_value_not_supported"
    )


def err_tensor_creation_on_scratchpad_with_init_value_not_supported(api: str) -> NKISyntaxError:
    return NKISyntaxError(
        f"{api}: a kernel that allocates memory itself cannot create on-chip tensors with a value",
        rule="tensor_creation_on_scratchpad_with_init_value_not_supported",
    )


def err_bias_tensor_must_be_specified_in_allocation(api: str) -> NKISyntaxError:
    return NKISyntaxError(
        f"{api}: bias must be given in a kernel that allocates memory itself",
        rule="bias_tensor_must_be_specified_in_allocation",
    )


def err_transpose_on_tensor_engine_not_allowed_in_allocated_kernel() -> NKISyntaxError:
    return NKISyntaxError(
        "a transpose on the tensor engine needs memory that a kernel with its own allocation cannot give",
        rule="transpose_on_tensor_engine_not_allowed_in_allocated_kernel",
    )


# What an instruction supports


def err_instruction_unsupported_op(api: str, op: object, supported: Names) -> NKISyntaxError:
    return NKISyntaxError(
        f"{api}: operator {op} is not supported, use one of {_listed(supported)}", rule="instruction_unsupported_op"
    )


def err_instruction_engine_unsupported_op_comb(api: str, op0: object, op1: object, engine: object) -> NKISyntaxError:
    return NKISyntaxError(
        f"{api}: operators ({op0}, {op1}) cannot be combined on the {engine} engine",
        rule="instruction_engine_unsupported_op_comb",
    )


def err_instruction_supported_dtypes(api: str, operand: str, dtype: object, supported: Names) -> NKISyntaxError:
    return NKISyntaxError(
        f"{api}: {operand} has dtype {dtype}, this target supports {_listed(supported)}",
        rule="instruction_supported_dtypes",
    )


def err_instruction_unsupported_dtypes(api: str, operand: str, dtype: object, target: object) -> NKISyntaxError:
    return NKISyntaxError(
        f"{api}: dtype {dtype} of {operand} is not supported on {target}", rule="instruction_unsupported_dtypes"
    )


def err_tensor_int32_add_multiply_supported_engine(api: str, engine: object) -> NKISyntaxError:
    return NKISyntaxError(
        f"{api}: exact int32 addition and multiplication run on the gpsimd engine only, got {engine}",
        rule="tensor_int32_add_multiply_supported_engine",
    )


def err_par_reduce_unsupported_op(op: object, supported: Names) -> NKISyntaxError:
    return NKISyntaxError(
        f"a reduction over partitions does not support {op}, use one of {_listed(supported)}",
        rule="par_reduce_unsupported_op",
    )


def err_par_reduce_bitvec_op_invalid_dtype(op: object, dtype: object) -> NKISyntaxError:
    return NKISyntaxError(
        f"a reduction over partitions by the bitwise operator {op} needs integers, got {dtype}",
        rule="par_reduce_bitvec_op_invalid_dtype",
    )


def err_reduce_unsupported_negate(op: object) -> NKISyntaxError:
    return NKISyntaxError(
        f"a reduction by the bitwise operator {op} cannot be negated", rule="reduce_unsupported_negate"
    )


def err_reduce_bitvec_op_invalid_dtype(op: object, dtype: object) -> NKISyntaxError:
    return NKISyntaxError(
        f"a reduction by the bitwise operator {op} needs integers, got {dtype}", rule="reduce_bitvec_op_invalid_dtype"
    )


def err_bitvec_operand_must_be_integer(api: str, operand: str, dtype: object) -> NKISyntaxError:
    return NKISyntaxError(
        f"{api}: {operand} of a bitwise operator must have an integer dtype, got {dtype}",
        rule="bitvec_operand_must_be_integer",
    )


def err_exact_arch_support_for_inst(api: str, needed: object, target: object) -> NKISyntaxError:
    return NKISyntaxError(f"{api} exists on {needed} only, not on {target}", rule="exact_arch_support_for_inst")


def err_min_arch_support_for_inst(api: str, needed: object, target: object) -> NKISyntaxError:
    return NKISyntaxError(f"{api} needs {needed} or newer, got {target}", rule="min_arch_support_for_inst")


def err_min_arch_support_for_hwdge(needed: object, target: object) -> NKISyntaxError:
    return NKISyntaxError(
        f"hardware descriptor generation needs {needed} or newer, got {target}", rule="min_arch_support_for_hwdge"
    )


def err_multi_cores_spmd_not_supported(target: object) -> NKIRuntimeError:
    return NKIRuntimeError(
        f"{target} cannot spread a grid over several physical cores", rule="multi_cores_spmd_not_supported"
    )


def err_atomic_rmw_add_only(op: object) -> NKISyntaxError:
    return NKISyntaxError(f"atomic_rmw supports add only, got {op}", rule="atomic_rmw_add_only")


def err_atomic_rmw_dynamic_index() -> NKISyntaxError:
    return NKISyntaxError("atomic_rmw needs a destination indexed by a tile", rule="atomic_rmw_dynamic_index")


def err_tiled_offloaded_memcpy_same_shape(src: Sequence[int], dst: Sequence[int]) -> NKISyntaxError:
    return NKISyntaxError(
        f"tiled_offloaded_memcpy: source {_shape(src)} and destination {_shape(dst)} need the same shape",
        rule="tiled_offloaded_memcpy_same_shape",
    )


def err_tiled_offloaded_fma_same_length(lengths: Sequence[int]) -> NKISyntaxError:
    return NKISyntaxError(
        f"tiled_offloaded_fma: sources and scales need the same length, got {_listed(str(n) for n in lengths)}",
        rule="tiled_offloaded_fma_same_length",
    )


# Indices


def err_tensor_access_out_of_bound(
    name: str, dimension: int, size: int, lowest: int, highest: int, index: str = ""
) -> NKIIndexError:
    """`lowest` and `highest` are the first and last index reached, `index` the expression if it is not a number."""
    reached = f"index {lowest}" if lowest == highest else f"indices {lowest} to {highest}"
    return NKIIndexError(
        f"out-of-bound access of {name} in dimension {dimension} of size {size}: {reached}"
        + (f" from {index}" if index else ""),
        rule="tensor_access_out_of_bound",
    )


def err_indices_shape_mismatch(shapes: Iterable[Sequence[int]]) -> NKIIndexError:
    return NKIIndexError(
        f"index grids of shapes {_listed(_shape(s) for s in shapes)} cannot be broadcast to one shape",
        rule="indices_shape_mismatch",
    )


def err_too_many_indices(name: str, rank: int, given: int) -> NKIIndexError:
    return NKIIndexError(f"{name} has {rank} dimensions but {given} are indexed", rule="tensor_rank")


def err_tensor_index_not_supported(index: str, reason: str) -> NKISyntaxError:
    return NKISyntaxError(f"index {index} is not supported: {reason}", rule="tensor_index_not_supported")


def err_cannot_assign_to_index() -> NKITypeError:
    return NKITypeError(
        "an index grid holds no memory and cannot be assigned to, use iota for a tile of numbers",
        rule="cannot_assign_to_index",
    )


def err_unsupported_mixing_basic_advanced_tensor_indexing(name: str) -> NKISyntaxError:
    return NKISyntaxError(
        f"a subscript of {name} mixes slices with arange or mgrid indices",
        rule="unsupported_mixing_basic_advanced_tensor_indexing",
    )


def err_1d_arange_not_supported() -> NKISyntaxError:
    return NKISyntaxError(
        "a one-dimensional arange cannot be an index, give it its place with arange(...)[:, None] or [None, :]",
        rule="1d_arange_not_supported",
    )


def err_indirect_indices_free_dim(name: str) -> NKISyntaxError:
    return NKISyntaxError(
        f"{name} can be indexed by a tile in its partition or block dimension only", rule="indirect_indices_free_dim"
    )


def err_indirect_indices_sbuf(space: object) -> NKISyntaxError:
    return NKISyntaxError(f"a tile of indices must be in sbuf, got {space}", rule="indirect_indices_sbuf")


def err_indirect_indices_are_not_supported_with_nki_api(api: str) -> NKISyntaxError:
    return NKISyntaxError(
        f"{api} does not take tensors indexed by a tile", rule="indirect_indices_are_not_supported_with_nki_api"
    )


def err_copy_dynamic_indirect_indices_not_natively_supported() -> NKISyntaxError:
    return NKISyntaxError(
        "a copy cannot be indexed at run time, use tensor_copy_dynamic_src or tensor_copy_dynamic_dst",
        rule="copy_dynamic_indirect_indices_not_natively_supported",
    )


# Masks


def err_mask_not_equal_not_supported() -> NKISyntaxError:
    return NKISyntaxError(
        "'not equal' mask is not supported; run the instruction once with '<' and once with '>'",
        rule="mask_not_equal_not_supported",
    )


def err_logic_or_not_supported(kind: str) -> NKIValueError:
    return NKIValueError(
        f"'logical or' is not supported for the `{kind}`; run the instruction once for each of its parts",
        rule="logic_or_not_supported",
    )


def err_unsupported_expression_in_mask(expression: str, reason: str) -> NKIValueError:
    return NKIValueError(
        f"unsupported expression in mask: {expression} {reason}", rule="unsupported_expression_in_mask"
    )


# Control flow


def err_dynamic_control_flow_not_supported() -> NKISyntaxError:
    return NKISyntaxError(
        "a condition on values of a tensor is not known while the kernel is traced",
        rule="dynamic_control_flow_not_supported",
    )


def err_control_flow_condition_depending_on_arange(condition: str) -> NKISyntaxError:
    return NKISyntaxError(
        f"condition {condition} depends on arange or mgrid and has no single answer: pass it as a mask, "
        "and join comparisons with '&' instead of 'and'",
        rule="control_flow_condition_depending_on_arange",
    )


def err_while_loop_requires_unconditional_entry() -> NKIValueError:
    return NKIValueError(
        "a while loop on a value of the device must start with scalar(True)",
        rule="while_loop_requires_unconditional_entry",
    )


def err_ambiguous_tensor_truth_value() -> NKIValueError:
    return NKIValueError("a tensor has no single truth value", rule="ambiguous_tensor_truth_value")


def err_unexpected_output_dependencies(name: str) -> NKISyntaxError:
    return NKISyntaxError(
        f"several iterations of an affine_range write the same part of {name}, use sequential_range",
        rule="unexpected_output_dependencies",
    )


def err_local_variable_used_out_of_scope(name: str, loop: str = "loop") -> NKISyntaxError:
    return NKISyntaxError(
        f"{name} was created in a {loop} that has ended, create it before the loop",
        rule="local_variable_used_out_of_scope",
    )


# Kernels and grids


def err_nki_api_outside_of_nki_kernel(api: str = "this function") -> NKIRuntimeError:
    return NKIRuntimeError(f"{api} can be called inside of a kernel only", rule="nki_api_outside_of_nki_kernel")


def err_nested_kernel_with_spmd_grid(name: str) -> NKISyntaxError:
    return NKISyntaxError(
        f"kernel {name} cannot be launched with a grid from inside of a kernel", rule="nested_kernel_with_spmd_grid"
    )


def err_program_id_axis_out_of_bounds(axis: int, rank: int) -> NKIIndexError:
    return NKIIndexError(
        f"program axis {axis} is out of bounds for a grid of {rank} dimensions", rule="program_id_axis_out_of_bounds"
    )


def err_tensor_output_not_written_to(name: str) -> NKIValueError:
    return NKIValueError(f"output {name} is never written", rule="tensor_output_not_written_to")


def err_cannot_update_immutable_parameter(name: str) -> NKITypeError:
    return NKITypeError(
        f"parameter {name} cannot be written, annotate it as a mutable tensor", rule="cannot_update_immutable_parameter"
    )


def err_mutable_parameter_not_returned(name: str) -> NKISyntaxError:
    return NKISyntaxError(f"mutable parameter {name} must be returned", rule="mutable_parameter_not_returned")

"""The errors that tracing a kernel raises, one function each: it builds the exception and leaves raising to its caller.

Names, conditions and exception types are those of the published catalogues, and so are the short fixed fragments; the
rest of each sentence is ours. Every class derives from `KernelError`, which holds the user's frames until somebody
prints them. The name of the builder, without `err_`, is the rule that the message ends with.

The rules of the hardware that an instruction breaks are in `catalogue.py`.

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


class NKIAssertionError(KernelError, AssertionError):
    """Something that is no kernel where one is needed, which the published decorators assert."""


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


def err_annotation_shape_mismatch(name: str, shape: Sequence[int], annotated: Sequence[int]) -> NKITypeError:
    return NKITypeError(
        f"'{name}' is annotated with shape {_shape(annotated)} but has shape {_shape(shape)}",
        rule="annotation_shape_mismatch",
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


def err_unsupported_dtype_value(dtype: object) -> NKIValueError:
    return NKIValueError(f"{shown(dtype)} is not a dtype of NKI", rule="unsupported_dtype_value")


def err_unsupported_args(api: str, names: Names) -> NKITypeError:
    return NKITypeError(f"{api}: unsupported arguments: {_listed(names)}", rule="unsupported_args")


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


def err_unsupported_memory(api: str, operand: str, space: object, expected: Names) -> NKITypeError:
    return NKITypeError(
        f"{api}: {operand} is in {space}, expected to be in {_listed(expected)}", rule="unsupported_memory"
    )


def err_expected_constant_value(api: str, name: str) -> NKISyntaxError:
    return NKISyntaxError(
        f"{api}: {name} must be a constant known while the kernel is traced", rule="expected_constant_value"
    )


def err_atomic_rmw_add_only(op: object) -> NKISyntaxError:
    return NKISyntaxError(f"atomic_rmw supports add only, got {op}", rule="atomic_rmw_add_only")


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


def err_control_flow_condition_depending_on_arange(condition: str) -> NKISyntaxError:
    return NKISyntaxError(
        f"condition {condition} depends on arange or mgrid and has no single answer: pass it as a mask, "
        "and join comparisons with '&' instead of 'and'",
        rule="control_flow_condition_depending_on_arange",
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


def err_multi_cores_spmd_not_supported(grid: Sequence[int], target: object) -> NKIRuntimeError:
    return NKIRuntimeError(
        f"the launch grid is {list(grid)}; on {target} a kernel runs on one core",
        rule="multi_cores_spmd_not_supported",
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

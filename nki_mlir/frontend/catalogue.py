"""What NKI calls the rules of the hardware that a kernel breaks, and which exceptions it raises for them.

The rules are those that the dialects verify with. The published catalogue of errors in kernels has its own names for
some of their conditions, and an exception type for each.

Source: Penguin reference, §9.1; NKI ISA reference, §7.1.
"""

from typing import NamedTuple

from nki_mlir.frontend.errors import KernelError, NKISyntaxError, NKITypeError
from nki_mlir.isa.instructions.matmul import (
    InputDtype,
    MatmulShape,
    TileSize,
    TileSizes,
    TransposedShape,
    TransposeLimits,
)
from nki_mlir.isa.rules import (
    ArithmeticOnly,
    BitwiseOnIntegers,
    Dimensions,
    DtypeAvailable,
    DtypeIn,
    EngineSince,
    FreeLimit,
    FreeSize,
    InMemory,
    OpAvailable,
    OpIn,
    OpOnEngines,
    OpPairsOn,
    PartitionLimit,
    Rule,
    SameDtype,
    SameFree,
    SamePartitions,
    SinceTarget,
    SinceValue,
    VectorDtype,
)


class NkiValidationError(KernelError, ValueError):
    """A constraint of the hardware that an instruction of the kernel breaks."""


class NkiValidationSyntaxError(NKISyntaxError, NkiValidationError):
    """One that the catalogue counts among the errors of syntax."""


class NkiValidationTypeError(NKITypeError, NkiValidationError):
    """One that the catalogue counts among the errors of types."""


VALUE, SYNTAX, TYPE = NkiValidationError, NkiValidationSyntaxError, NkiValidationTypeError


class Entry(NamedTuple):
    """An entry of the catalogue: its name, the type raised, and the rules that it stands for.

    A rule is meant if it is of one of the classes, has the identifier, looks at the role and is one of the
    instruction, as far as these are given.
    """

    name: str
    raised: type[NkiValidationError]
    rules: tuple[type[Rule], ...]
    identifier: str = ""
    instruction: str = ""
    role: str = ""


CATALOGUE = (
    Entry("num_partition_exceed_arch_limit", VALUE, (PartitionLimit,)),
    Entry("num_partition_mismatch", VALUE, (SamePartitions,)),
    Entry("size_of_dimension_exceed_arch_limit", VALUE, (FreeLimit, TileSize, TransposeLimits)),
    Entry("size_of_dimension_exceed_arch_limit", VALUE, (FreeSize,), identifier="X-BNSTATS"),
    Entry("exceed_max_supported_dimension", VALUE, (Dimensions,)),
    Entry("param_shape_mismatch", VALUE, (SameFree,)),
    Entry("param_shape_incompatible_with_matmul", VALUE, (MatmulShape,)),
    Entry("unsupported_memory", TYPE, (InMemory,)),
    Entry("activation_bias_invalid_type", TYPE, (DtypeIn,), identifier="X-BIAS"),
    Entry("activation_scale_invalid_type", TYPE, (DtypeIn,), identifier="X-SCALE"),
    Entry("activation_scale_scalar_or_vector", SYNTAX, (FreeSize,), instruction="activation", role="scale"),
    Entry("supported_operand_dtype", TYPE, (InputDtype, VectorDtype)),
    Entry("supported_operand_dtype", TYPE, (DtypeIn,), identifier="X-DTYPE"),
    Entry("tile_shape_mismatch", SYNTAX, (TransposedShape,)),
    Entry("src_dst_same_dtype", SYNTAX, (SameDtype,), identifier="X-SAMEDT"),
    Entry("valid_size", SYNTAX, (TileSizes,)),
    Entry("par_reduce_unsupported_op", SYNTAX, (OpIn,), identifier="X-OP", instruction="partition_reduce"),
    Entry("instruction_unsupported_op", SYNTAX, (OpIn,), identifier="X-OP"),
    Entry("instruction_unsupported_op", SYNTAX, (OpAvailable,)),
    Entry("instruction_engine_unsupported_op_comb", SYNTAX, (OpPairsOn,)),
    Entry("instruction_engine_unsupported_op_comb", SYNTAX, (OpOnEngines,), identifier="X-OPENG"),
    Entry("instruction_unsupported_dtypes", SYNTAX, (DtypeAvailable,)),
    Entry("par_reduce_bitvec_op_invalid_dtype", SYNTAX, (BitwiseOnIntegers,), instruction="partition_reduce"),
    Entry("reduce_bitvec_op_invalid_dtype", SYNTAX, (BitwiseOnIntegers,), instruction="tensor_reduce"),
    Entry("bitvec_operand_must_be_integer", SYNTAX, (BitwiseOnIntegers,)),
    Entry("reduce_unsupported_negate", SYNTAX, (ArithmeticOnly,)),
    Entry("min_arch_support_for_hwdge", SYNTAX, (SinceValue,), identifier="X-HWDGE"),
    Entry("min_arch_support_for_inst", SYNTAX, (SinceTarget, EngineSince, SinceValue)),
)
"""The first entry that a rule fits counts."""


def entry_of(instruction: str, rule: Rule) -> Entry | None:
    """Returns the entry of a rule of an instruction, None if the catalogue has none."""
    for entry in CATALOGUE:
        if (
            isinstance(rule, entry.rules)
            and entry.identifier in ("", rule.identifier)
            and entry.instruction in ("", instruction)
            and (not entry.role or getattr(rule, "roles", ()) == (entry.role,))
        ):
            return entry
    return None


def breach(instruction: str, message: str, rule: Rule) -> NkiValidationError:
    """Returns the error of an instruction of a kernel that breaks a rule, which ends with both names of the rule."""
    entry = entry_of(instruction, rule)
    text = f"{instruction}: {message}"
    if entry is None:
        return NkiValidationError(text, rule=rule.identifier)
    return entry.raised(text, rule=f"{rule.identifier}, {entry.name}")

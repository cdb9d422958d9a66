"""The published enums: each member with its one spelling in our text, and the numbers and names others know it by.

Sources: BIR reference, §2 (numbers, BIR-JSON names); KLR reference, §1.2 and §5.1 (wire numbers); NKI ISA reference,
§2.1 and §6 (API names, classes of operators, valid ranges).
"""

import re
from enum import IntFlag, StrEnum
from functools import cache
from math import inf, pi
from typing import Any, Self

from nki_mlir.isa.names import unknown
from nki_mlir.isa.target import CORE_V4, TONGA, Target


class Published(StrEnum):
    """A published enum. The value of a member is its text in our IRs; a spelling or number it does not have is `None`.

    `number` is the ordinal in BIR, `bir` the BIR-JSON spelling, `klr` the number on the wire of a KLR file, and `api`
    the last components of the names by which kernels call it (`nl.multiply`, `numpy.multiply`: both `multiply`).
    The lookups raise `NkiError` with the close names on a miss.
    """

    def __new__(cls, text: str, *_: object) -> Self:
        member = str.__new__(cls, text)
        member._value_ = text
        return member

    def __init__(
        self,
        _text: str,
        number: int | None = None,
        bir: str | None = None,
        klr: int | None = None,
        api: tuple[str, ...] = (),
    ) -> None:
        self.number = number
        self.bir = bir
        self.klr = klr
        self.api = api

    @property
    def since(self) -> Target:
        """The oldest target that has the member."""
        return TONGA

    @classmethod
    def label(cls) -> str:
        """What error messages call a member: how the documentation of the class begins."""
        name = re.split(r" ?[.(:]", cls.__doc__ or cls.__name__, maxsplit=1)[0]
        return name if name[:2].isupper() else name[0].lower() + name[1:]

    @classmethod
    def from_text(cls, text: str) -> Self:
        return _find(cls, "value", text, cls.label())

    @classmethod
    def from_number(cls, number: int) -> Self:
        return _find(cls, "number", number, f"{cls.label()} of BIR number")

    @classmethod
    def from_bir(cls, name: str) -> Self:
        return _find(cls, "bir", name, f"{cls.label()} of BIR name")

    @classmethod
    def from_klr(cls, number: int) -> Self:
        return _find(cls, "klr", number, f"{cls.label()} of KLR number")

    @classmethod
    def from_api(cls, token: Any) -> Self:
        """Returns the member that an API token means: a name, or an object with a `__name__` such as a numpy ufunc."""
        name = token if isinstance(token, str) else getattr(token, "__name__", token)
        return _find(cls, "api", str(name).rpartition(".")[2], cls.label())


@cache
def _index(enum: type[Published], field: str) -> dict[object, Any]:
    """Maps every spelling of one kind to its member; of members that share a spelling the first has it."""
    index: dict[object, Any] = {}
    for member in enum:
        value = getattr(member, field)
        for key in value if field == "api" else (value,):
            if key is not None:
                index.setdefault(key, member)
    return index


def _find(enum: type[Published], field: str, key: object, label: str) -> Any:
    index = _index(enum, field)
    member = index.get(key)
    if member is None:
        raise unknown(label, key, index)
    return member


class AluOp(Published):
    """ALU operator.

    The first operand is the accumulator of a reduction; a unary operator ignores the second. Operators without a number
    exist in the API only. Sources: BIR reference, §2.5; NKI ISA reference, §6.1.
    """

    BYPASS = "bypass", 0, "bypass", 9, ("bypass",)
    BITWISE_NOT = "bitwise_not", 1, "bitwise_not", 6, ("invert", "bitwise_invert", "bitwise_not")
    ARITH_SHIFT_LEFT = "arith_shift_left", 2, "arith_shift_left", 2
    ARITH_SHIFT_RIGHT = "arith_shift_right", 3, "arith_shift_right", 3
    ADD = "add", 4, "add", 1, ("add",)
    SUBTRACT = "subtract", 5, "subtract", 28, ("subtract",)
    MULT = "mult", 6, "mult", 24, ("multiply",)
    DIVIDE = "divide", 7, "divide", 10, ("divide", "true_divide")
    MAX = "max", 8, "max", 21, ("maximum", "max")
    MIN = "min", 9, "min", 22, ("minimum", "min")
    BITWISE_AND = "bitwise_and", 10, "bitwise_and", 5, ("bitwise_and",)
    BITWISE_OR = "bitwise_or", 11, "bitwise_or", 7, ("bitwise_or",)
    BITWISE_XOR = "bitwise_xor", 12, "bitwise_xor", 8, ("bitwise_xor",)
    LOGICAL_AND = "logical_and", 13, "logical_and", 16, ("logical_and",)
    LOGICAL_OR = "logical_or", 14, "logical_or", 17, ("logical_or",)
    LOGICAL_XOR = "logical_xor", 15, "logical_xor", 20, ("logical_xor",)
    LOGICAL_SHIFT_LEFT = "logical_shift_left", 16, "logical_shift_left", 18, ("left_shift", "bitwise_left_shift")
    LOGICAL_SHIFT_RIGHT = "logical_shift_right", 17, "logical_shift_right", 19, ("right_shift", "bitwise_right_shift")
    IS_EQUAL = "is_equal", 18, "is_equal", 11, ("equal",)
    NOT_EQUAL = "not_equal", 19, "not_equal", 25, ("not_equal",)
    IS_GT = "is_gt", 20, "is_gt", 13, ("greater",)
    IS_GE = "is_ge", 21, "is_ge", 12, ("greater_equal",)
    IS_LT = "is_lt", 22, "is_lt", 15, ("less",)
    IS_LE = "is_le", 23, "is_le", 14, ("less_equal",)
    AVERAGE = "average", 24, "average", 4
    ELEMWISE_MUL = "elemwise_mul", 25, "elemwise_mul"
    POW = "pow", 26, "pow", 26, ("power", "pow")
    MOD = "mod", 27, "mod", 23, ("mod", "remainder")
    RSQRT = "rsqrt", 28, "rsqrt", 27, ("rsqrt",)
    ABS = "abs", 29, "abs", 0, ("abs", "absolute")
    ABS_MAX = "abs_max", 30, "abs_max", None, ("abs_max",)
    ABS_MIN = "abs_min", 31, "abs_min", None, ("abs_min",)
    MOD_INT = "mod_int", 32, "mod_int"
    LOGICAL_NOT = "logical_not", None, None, None, ("logical_not",)
    SQUARE = "square", None, None, None, ("square",)
    RELU = "relu", None, None, None, ("relu",)
    RECIPROCAL = "reciprocal", None, None, None, ("reciprocal",)

    @property
    def is_bitwise(self) -> bool:
        """Works on the raw bits of integers, on the Vector engine only; no instruction mixes it with arithmetic."""
        return self in _BITWISE

    @property
    def is_arithmetic(self) -> bool:
        """Works on fp32. `bypass` is neither arithmetic nor bitwise and goes with both."""
        return self not in _BITWISE and self is not AluOp.BYPASS

    @property
    def is_comparison(self) -> bool:
        return self in _COMPARISON

    @property
    def is_logical(self) -> bool:
        return self in _LOGICAL

    @property
    def is_unary(self) -> bool:
        """Ignores its second operand."""
        return self in _UNARY

    @property
    def is_commutative(self) -> bool:
        return self in _COMMUTATIVE

    @property
    def reduces(self) -> bool:
        """May be the operator of a reduction. Activate2 alone allows abs_max and abs_min too."""
        return self in _REDUCES

    @property
    def since(self) -> Target:
        return CORE_V4 if self in _CORE_V4_ALU else TONGA

    @property
    def has_meaning(self) -> bool:
        """Whether it is published what the operator computes; the others can be carried, but not simulated."""
        return self not in (AluOp.AVERAGE, AluOp.ELEMWISE_MUL, AluOp.MOD_INT)


_BITWISE = frozenset(
    {
        AluOp.BITWISE_NOT,
        AluOp.BITWISE_AND,
        AluOp.BITWISE_OR,
        AluOp.BITWISE_XOR,
        AluOp.ARITH_SHIFT_LEFT,
        AluOp.ARITH_SHIFT_RIGHT,
        AluOp.LOGICAL_SHIFT_LEFT,
        AluOp.LOGICAL_SHIFT_RIGHT,
    }
)
_COMPARISON = frozenset({AluOp.IS_EQUAL, AluOp.NOT_EQUAL, AluOp.IS_GT, AluOp.IS_GE, AluOp.IS_LT, AluOp.IS_LE})
_LOGICAL = frozenset({AluOp.LOGICAL_AND, AluOp.LOGICAL_OR, AluOp.LOGICAL_XOR, AluOp.LOGICAL_NOT})
_UNARY = frozenset(
    {
        AluOp.BYPASS,
        AluOp.BITWISE_NOT,
        AluOp.LOGICAL_NOT,
        AluOp.RSQRT,
        AluOp.ABS,
        AluOp.SQUARE,
        AluOp.RELU,
        AluOp.RECIPROCAL,
    }
)
_COMMUTATIVE = frozenset(
    {
        AluOp.ADD,
        AluOp.MULT,
        AluOp.MAX,
        AluOp.MIN,
        AluOp.IS_EQUAL,
        AluOp.NOT_EQUAL,
        AluOp.BITWISE_AND,
        AluOp.BITWISE_OR,
        AluOp.BITWISE_XOR,
        AluOp.LOGICAL_AND,
        AluOp.LOGICAL_OR,
        AluOp.LOGICAL_XOR,
        AluOp.ABS_MAX,
        AluOp.ABS_MIN,
        AluOp.AVERAGE,
        AluOp.ELEMWISE_MUL,
    }
)
_REDUCES = frozenset(
    {
        AluOp.ADD,
        AluOp.SUBTRACT,
        AluOp.MULT,
        AluOp.MAX,
        AluOp.MIN,
        AluOp.BITWISE_AND,
        AluOp.BITWISE_OR,
        AluOp.BITWISE_XOR,
        AluOp.LOGICAL_AND,
        AluOp.LOGICAL_OR,
        AluOp.LOGICAL_XOR,
    }
)
_CORE_V4_ALU = frozenset({AluOp.ABS_MAX, AluOp.ABS_MIN, AluOp.MOD_INT, AluOp.SQUARE, AluOp.RELU})


class ActivationFunction(Published):
    """Activation function.

    Sources: BIR reference, §2.6; NKI ISA reference, §6.2 and §6.3.
    """

    IDENTITY = "identity", 0, "Identity"
    SQUARE = "square", 1, "Square", 21, ("square",)
    RELU = "relu", 2, "Relu", 12, ("relu",)
    LRELU = "lrelu", 3, "Lrelu"
    PRELU = "prelu", 4, "Prelu", None, ("prelu",)
    SIGMOID = "sigmoid", 5, "Sigmoid", 14, ("sigmoid",)
    TANH = "tanh", 6, "Tanh", 22, ("tanh",)
    EXP = "exp", 7, "Exp", 5, ("exp",)
    SOFTPLUS = "softplus", 8, "Softplus", 19, ("softplus",)
    SQRT = "sqrt", 9, "Sqrt", 20, ("sqrt",)
    RSQRT = "rsqrt", 10, "Rsqrt", 13, ("rsqrt",)
    LOG = "log", 11, "Ln", 9, ("log",)
    ERF = "erf", 12, "Erf", 3, ("erf",)
    SIN = "sin", 13, "Sin", 18, ("sin",)
    ARCTAN = "arctan", 14, "Arctan", 1, ("arctan",)
    SIGN = "sign", 15, "Sign", 15, ("sign",)
    GELU = "gelu", 16, "Gelu", 6, ("gelu",)
    MISH = "mish", 17, "Mish", 10, ("mish",)
    GELU_APPRX_TANH = "gelu_apprx_tanh", 18, "Gelu_apprx_tanh", 7, ("gelu_apprx_tanh",)
    GELU_APPRX_SIGMOID = "gelu_apprx_sigmoid", 19, "Gelu_apprx_sigmoid", 23, ("gelu_apprx_sigmoid",)
    GELU_APPRX_SIGMOID_DX = (
        "gelu_apprx_sigmoid_dx",
        20,
        "Derivative_Gelu_apprx_sigmoid",
        24,
        ("gelu_apprx_sigmoid_dx",),
    )
    GELU_DX = "gelu_dx", 21, "Derivative_Gelu", 8, ("gelu_dx",)
    ERF_DX = "erf_dx", 22, "Derivative_Erf", 4, ("erf_dx",)
    # The documentation makes `identity` a second name of `copy`, and KLR only has `copy`.
    COPY = "copy", 23, "Copy", 2, ("copy", "identity")
    ABS = "abs", 24, "Abs", 0, ("abs", "absolute")
    RECIPROCAL = "reciprocal", 25, "Reciprocal", 11, ("reciprocal",)
    ABS_RECIPROCAL_SQRT = "abs_reciprocal_sqrt", 26, "Abs_reciprocal_sqrt"
    SILU = "silu", 27, "Silu", 16, ("silu",)
    SILU_DX = "silu_dx", 28, "Derivative_silu", 17, ("silu_dx",)
    IS_FINITE = "is_finite", 29, "Is_finite"
    UNKNOWN = "unknown", 30, "Unknown"

    @property
    def has_meaning(self) -> bool:
        """Whether it is published what the function computes; the others can be carried, but not simulated."""
        return self not in (
            ActivationFunction.LRELU,
            ActivationFunction.ABS_RECIPROCAL_SQRT,
            ActivationFunction.IS_FINITE,
            ActivationFunction.UNKNOWN,
        )

    @property
    def valid(self) -> tuple[tuple[float, float], ...]:
        """The intervals of inputs, bounds included, for which the hardware's approximation holds."""
        return _VALID.get(self, ((-inf, inf),))

    @property
    def is_hardwired(self) -> bool:
        """Needs no function table to be loaded first."""
        return self in _HARDWIRED


_VALID: dict[ActivationFunction, tuple[tuple[float, float], ...]] = {
    ActivationFunction.LOG: ((2.0**-64, 2.0**64),),
    ActivationFunction.SIN: ((-pi, pi),),
    ActivationFunction.ARCTAN: ((-pi / 2, pi / 2),),
    ActivationFunction.SQRT: ((2.0**-116, 2.0**118),),
    ActivationFunction.RSQRT: ((2.0**-87, 2.0**97),),
    ActivationFunction.RECIPROCAL: ((-(2.0**42), -(2.0**-42)), (2.0**-42, 2.0**42)),
}
_HARDWIRED = frozenset(
    {
        ActivationFunction.IDENTITY,
        ActivationFunction.SQUARE,
        ActivationFunction.RELU,
        ActivationFunction.LRELU,
        ActivationFunction.PRELU,
        ActivationFunction.SIGN,
        ActivationFunction.COPY,
        ActivationFunction.ABS,
        ActivationFunction.IS_FINITE,
    }
)


class Engine(Published):
    """Engine. The API names may also end in `_engine`."""

    UNASSIGNED = "unassigned", 0, "Unassigned", 0, ("unknown", "unknown_engine")
    POOL = "pool", 1, "Pool", 5, ("gpsimd", "gpsimd_engine")
    ACT = "act", 2, "Activation", 1, ("scalar", "scalar_engine")
    PE = "pe", 3, "PE", 4, ("tensor", "tensor_engine")
    DMA = "dma", 4, "DMA", 2, ("dma", "dma_engine")
    DVE = "dve", 5, "DVE", 3, ("vector", "vector_engine")
    SP = "sp", 6, "SP", 6, ("sync", "sync_engine")
    ALL = "all", 7, "ALL"


class AccumulateCommand(Published):
    """Accumulation command (EngineAccumulationType in BIR).

    KLR's Accumulate is BIR's AddAccumulate, so it is the member of that name. Source: BIR reference, §2.7.
    """

    IDLE = "idle", 0, "Idle", 0, ("idle",)
    ZERO = "zero", 1, "Zero", 1, ("reset",)
    ACCUMULATE = "accumulate", 2, "Accumulate"
    ZERO_ACCUMULATE = "zero_accumulate", 3, "ZeroAccumulate", 3, ("reset_reduce",)
    ADD_ACCUMULATE = "add_accumulate", 4, "AddAccumulate", 2, ("reduce",)
    LOAD_ACCUMULATE = "load_accumulate", 5, "LoadAccumulate", 4, ("load_reduce",)


class ReduceCommand(Published):
    """Reduce command (`nki.isa.reduce_cmd`, ReduceCmdType in BIR).

    No BIR instruction holds one; `accumulate` is the command that they hold instead.
    """

    IDLE = "idle", 0, "Idle", 0, ("idle",)
    RESET = "reset", 1, "Reset", 1, ("reset",)
    REDUCE = "reduce", 2, "Reduce", 2, ("reduce",)
    RESET_REDUCE = "reset_reduce", 3, "ResetReduce", 3, ("reset_reduce",)
    LOAD_REDUCE = "load_reduce", None, None, 4, ("load_reduce",)

    @property
    def accumulate(self) -> AccumulateCommand:
        return AccumulateCommand.from_api(self.value)


class AccumulationFlag(IntFlag):
    """What a matmul does to its PSUM destination: the bits of `accumulation_flag`; 0 continues an open group.

    Source: BIR reference, §2.7.
    """

    START = 1
    STOP = 2
    ACCUMULATE = 4


class MatmultPerfMode(Published):
    """Matmul performance mode."""

    NONE = "none", 0, "None", 0, ("none",)
    DOUBLE_ROW = "double_row", 1, "DoubleRow", 1, ("double_row", "double_row_gen3")
    DOUBLE_COLUMN = "double_column", 2, "DoubleColumn"
    DOUBLE_PIXEL = "double_pixel", 3, "DoublePixel"
    DOUBLE_ROW_SW_INTERLEAVE = "double_row_sw_interleave", 4, "DoubleRowSwInterleave", 2


class AxisList(Published):
    """Reduction axes (AxisListType in BIR, TensorSubDim in KLR): X is the innermost free dimension, C the partition."""

    X = "x", 0, "X", 0
    XY = "xy", 1, "XY", 1
    XYZ = "xyz", 2, "XYZ", 2
    XYZW = "xyzw", 3, "XYZW", 3
    XYZWC = "xyzwc", 4, "XYZWC"
    C = "c", 5, "C"

    @property
    def free_dims(self) -> int:
        """How many of the innermost free dimensions are reduced."""
        return 0 if self is AxisList.C else min(len(self.value), 4)

    @property
    def has_partition(self) -> bool:
        return self in (AxisList.XYZWC, AxisList.C)


class MemorySpace(Published):
    """Memory space (MemoryType in BIR, which has one for all HBM).

    Source: BIR reference, §2.3; KLR reference, §1.2.
    """

    HBM = "hbm", 8, "DRAM", 0, ("hbm",)
    SHARED_HBM = "shared_hbm", 8, "DRAM", 4, ("shared_hbm",)
    PRIVATE_HBM = "private_hbm", 8, "DRAM", 5, ("private_hbm",)
    SBUF = "sbuf", 16, "SB", 1, ("sbuf",)
    PSUM = "psum", 32, "PSUM", 2, ("psum",)
    REG = "reg", 128, "REG", 3

    @property
    def is_hbm(self) -> bool:
        return self.bir == "DRAM"

    @property
    def is_on_chip(self) -> bool:
        """Has partitions."""
        return self in (MemorySpace.SBUF, MemorySpace.PSUM)


class AddressSpace(Published):
    """Address space of a memory location (MemoryAddressSpace in BIR); it says something of HBM only."""

    LOCAL = "local", 0, "Local"
    SHARED = "shared", 1, "Shared"
    DEBUG = "debug", 2, "Debug"


class TensorKind(Published):
    """Tensor kind."""

    EXTERNAL_INPUT = "external_input", 0, "ExternalInput"
    EXTERNAL_INPUT_PARAMETER = "external_input_parameter", 1, "ExternalInputParameter"
    INPUT = "input", 2, "Input"
    EXTERNAL_OUTPUT = "external_output", 3, "ExternalOutput"
    EXTERNAL_OUTPUT_PARAMETER = "external_output_parameter", 4, "ExternalOutputParameter"
    OUTPUT = "output", 5, "Output"
    CONST = "const", 6, "Const"
    INTERNAL = "internal", 7, "Internal"
    POINTER = "pointer", 8, "Pointer"
    INTERNAL_INTERFACE = "internal_interface", 9, "InternalInterface"

    @property
    def is_input(self) -> bool:
        """The caller provides its contents."""
        return self in (TensorKind.EXTERNAL_INPUT, TensorKind.EXTERNAL_INPUT_PARAMETER, TensorKind.INPUT)

    @property
    def is_output(self) -> bool:
        """The caller reads its contents."""
        return self in (TensorKind.EXTERNAL_OUTPUT, TensorKind.EXTERNAL_OUTPUT_PARAMETER, TensorKind.OUTPUT)


class TensorClass(Published):
    """Tensor class.

    LoopTensor is known from an older schema that counts differently from there on: it has a name and no number.
    """

    TENSOR = "tensor", 0, "Tensor"
    SINGLE_VALUE_TENSOR = "single_value_tensor", 1, "SingleValueTensor"
    NEURON_TENSOR = "neuron_tensor", 2, "NeuronTensor"
    NEURON_WEIGHT_TENSOR = "neuron_weight_tensor", 3, "NeuronWeightTensor"
    IDENTITY_WEIGHT_TENSOR = "identity_weight_tensor", 4, "IdentityWeightTensor"
    NEURON_BLOCK_TENSOR = "neuron_block_tensor", 5, "NeuronBlockTensor"
    DRAM_2D_BLOCK_TENSOR = "dram_2d_block_tensor", 6, "DRAM2DBlockTensor"
    NEURON_3D_BLOCK_TENSOR = "neuron_3d_block_tensor", 7, "Neuron3DBlockTensor"
    DRAM_3D_BLOCK_TENSOR = "dram_3d_block_tensor", 8, "DRAM3DBlockTensor"
    NEURON_LOCAL_TENSOR = "neuron_local_tensor", 9, "NeuronLocalTensor"
    NEURON_SB_TENSOR = "neuron_sb_tensor", 10, "NeuronSBTensor"
    NEURON_PSUM_TENSOR = "neuron_psum_tensor", 11, "NeuronPSUMTensor"
    IMMUTABLE_PARAMETER = "immutable_parameter", 12, "ImmutableParameter"
    LOOP_TENSOR = "loop_tensor", None, "LoopTensor"


class EdgeKind(Published):
    """Dependency edge kind: anti is write after read, output write after write, flow read after write."""

    INVALID = "invalid", 0, "Invalid"
    ORDERED = "ordered", 1, "Ordered"
    ANTI = "anti", 2, "Anti"
    OUTPUT = "output", 3, "Output"
    FLOW = "flow", 4, "Flow"


class BranchCompareOp(Published):
    """Branch comparison: the first register with an immediate or with a second register.

    KLR writes an unconditional branch as the comparison `always`, which BIR does not have.
    """

    LT_IMM = "lt_imm", 0, "IS_LTIMM", 1
    LE_IMM = "le_imm", 1, "IS_LEIMM", 2
    EQ_IMM = "eq_imm", 2, "IS_EQIMM", 3
    NE_IMM = "ne_imm", 3, "IS_NEIMM", 4
    GE_IMM = "ge_imm", 4, "IS_GEIMM", 5
    GT_IMM = "gt_imm", 5, "IS_GTIMM", 6
    LT_REG = "lt_reg", 6, "IS_LTREG", 7
    LE_REG = "le_reg", 7, "IS_LEREG", 8
    EQ_REG = "eq_reg", 8, "IS_EQREG", 9
    NE_REG = "ne_reg", 9, "IS_NEREG", 10
    GE_REG = "ge_reg", 10, "IS_GEREG", 11
    GT_REG = "gt_reg", 11, "IS_GTREG", 12
    UNSUPPORTED = "unsupported", 12, "Unsupported"
    ALWAYS = "always", None, None, 0


class CopyMode(Published):
    """DMA copy mode."""

    COPY = "copy", 0, "Copy"
    TRANSPOSE = "transpose", 1, "Transpose"
    CCE = "cce", 2, "CCE"
    REPLICATE = "replicate", 3, "Replicate"


class MemsetMode(Published):
    """Memset mode."""

    CONST = "const", 0, "Const"
    RANDOM = "random", 1, "Random"


class DgeType(Published):
    """DMA descriptor generation (DGEType in BIR, `dge_mode` in the API, whose current numbers are KLR's)."""

    NONE = "none", 0, "None", 3, ("none",)
    SWDGE = "swdge", 1, "SWDGE", 1, ("swdge",)
    HWDGE = "hwdge", 2, "HWDGE", 2, ("hwdge",)
    UNASSIGNED = "unassigned", 3, "Unassigned", 0, ("unknown",)


class DgeComputeOp(Published):
    """DMA compute operator of KLR."""

    NONE = "none", None, None, 0
    ADD = "add", None, None, 1


class OobMode(Published):
    """Out-of-bounds mode (DmaBounds in KLR; BIR has the flag `oob_is_err`)."""

    ERROR = "error", None, None, 1, ("error",)
    SKIP = "skip", None, None, 0, ("skip",)


class TransposeOps(Published):
    """DMA transposition: the order of the destination's axes, the source's being W Z Y X."""

    NONE = "none", 0, "None", 0
    WZXY = "wzxy", 1, "WZXY", 1
    WXZY = "wxzy", 2, "WXZY", 2
    WYXZ = "wyxz", 3, "WYXZ", 3
    ZWYX = "zwyx", 4, "ZWYX", 4
    ZYWX = "zywx", 5, "ZYWX", 5
    ZYXW = "zyxw", 6, "ZYXW", 6
    YXWZ = "yxwz", 7, "YXWZ", 7
    YXZW = "yxzw", 8, "YXZW", 8
    YWZX = "ywzx", 9, "YWZX", 9
    XWZY = "xwzy", 10, "XWZY", 10
    XZYW = "xzyw", 11, "XZYW", 11
    XYZW = "xyzw", 12, "XYZW", 12
    XYWZ = "xywz", 13, "XYWZ", 13


class TensorScalarReverse(Published):
    """Operator of tensor_scalar whose operands are swapped (TensorScalarReverseOps in KLR)."""

    NONE = "none", None, None, 0
    FIRST = "first", None, None, 1
    SECOND = "second", None, None, 2
    BOTH = "both", None, None, 3

    @property
    def flags(self) -> tuple[bool, bool]:
        """Returns `reverse0` and `reverse1`, as BIR has them."""
        return self in ("first", "both"), self in ("second", "both")

    @classmethod
    def of(cls, reverse0: bool, reverse1: bool) -> Self:
        return cls.from_klr(reverse0 + 2 * reverse1)


class DropoutThreshold(Published):
    """Dropout threshold type (BIR has the flag `is_keep_threshold`)."""

    DROP_RATE = "drop_rate", None, None, 0
    KEEP_RATE = "keep_rate", None, None, 1


class LoopKind(Published):
    """Loop kind."""

    AFFINE = "affine"
    SEQUENTIAL = "sequential"
    PARALLEL = "parallel"
    SPMD = "spmd"
    DYNAMIC = "dynamic"

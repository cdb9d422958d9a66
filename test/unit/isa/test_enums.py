"""The published enums against tables typed from the references a second time, and against what must hold of them."""

import math
import subprocess
import sys
from collections.abc import Callable

import numpy as np
import pytest

from nki_mlir.diagnostics import NkiError
from nki_mlir.isa.dtypes import Dtype
from nki_mlir.isa.enums import (
    AccumulateCommand,
    AccumulationFlag,
    ActivationFunction,
    AddressSpace,
    AluOp,
    AxisList,
    BranchCompareOp,
    CopyMode,
    DgeComputeOp,
    DgeType,
    DropoutThreshold,
    EdgeKind,
    Engine,
    LoopKind,
    MatmultPerfMode,
    MemorySpace,
    MemsetMode,
    OobMode,
    Published,
    ReduceCommand,
    TensorClass,
    TensorKind,
    TensorScalarReverse,
    TransposeOps,
)
from nki_mlir.isa.target import CORE_V4, TONGA

ENUMS = Published.__subclasses__()

# BIR names in the order of their ordinals.
BIR = {
    AluOp: "bypass bitwise_not arith_shift_left arith_shift_right add subtract mult divide max min bitwise_and "
    "bitwise_or "
    "bitwise_xor logical_and logical_or logical_xor logical_shift_left logical_shift_right is_equal not_equal "
    "is_gt is_ge "
    "is_lt is_le average elemwise_mul pow mod rsqrt abs abs_max abs_min mod_int",
    ActivationFunction: "Identity Square Relu Lrelu Prelu Sigmoid Tanh Exp Softplus Sqrt Rsqrt Ln Erf Sin "
    "Arctan Sign Gelu "
    "Mish Gelu_apprx_tanh Gelu_apprx_sigmoid Derivative_Gelu_apprx_sigmoid Derivative_Gelu Derivative_Erf Copy Abs "
    "Reciprocal Abs_reciprocal_sqrt Silu Derivative_silu Is_finite Unknown",
    Engine: "Unassigned Pool Activation PE DMA DVE SP ALL",
    AccumulateCommand: "Idle Zero Accumulate ZeroAccumulate AddAccumulate LoadAccumulate",
    ReduceCommand: "Idle Reset Reduce ResetReduce",
    MatmultPerfMode: "None DoubleRow DoubleColumn DoublePixel DoubleRowSwInterleave",
    AxisList: "X XY XYZ XYZW XYZWC C",
    AddressSpace: "Local Shared Debug",
    TensorKind: "ExternalInput ExternalInputParameter Input ExternalOutput ExternalOutputParameter Output Const "
    "Internal "
    "Pointer InternalInterface",
    TensorClass: "Tensor SingleValueTensor NeuronTensor NeuronWeightTensor IdentityWeightTensor NeuronBlockTensor "
    "DRAM2DBlockTensor Neuron3DBlockTensor DRAM3DBlockTensor NeuronLocalTensor NeuronSBTensor NeuronPSUMTensor "
    "ImmutableParameter",
    EdgeKind: "Invalid Ordered Anti Output Flow",
    BranchCompareOp: "IS_LTIMM IS_LEIMM IS_EQIMM IS_NEIMM IS_GEIMM IS_GTIMM IS_LTREG IS_LEREG IS_EQREG IS_NEREG "
    "IS_GEREG "
    "IS_GTREG Unsupported",
    CopyMode: "Copy Transpose CCE Replicate",
    MemsetMode: "Const Random",
    DgeType: "None SWDGE HWDGE Unassigned",
    TransposeOps: "None WZXY WXZY WYXZ ZWYX ZYWX ZYXW YXWZ YXZW YWZX XWZY XZYW XYZW XYWZ",
    Dtype: "uint8 int8 float4_e2m1fn_x4 float8e3 float8e4 float8_e4m3fn float8_e8m0fnu float8e5 float8_e4m3fn_x4 "
    "float8_e5m2_x4 uint16 int16 bfloat16 float16 uint32 int32 float32 float32r uint64 int64",
}

# KLR names in the order of their wire numbers, spelled as our text does.
KLR = {
    AluOp: "abs add arith_shift_left arith_shift_right average bitwise_and bitwise_not bitwise_or bitwise_xor "
    "bypass divide "
    "is_equal is_ge is_gt is_le is_lt logical_and logical_or logical_shift_left logical_shift_right logical_xor "
    "max min "
    "mod mult not_equal pow rsqrt subtract",
    ActivationFunction: "abs arctan copy erf erf_dx exp gelu gelu_apprx_tanh gelu_dx log mish reciprocal relu "
    "rsqrt sigmoid "
    "sign silu silu_dx sin softplus sqrt square tanh gelu_apprx_sigmoid gelu_apprx_sigmoid_dx",
    Engine: "unassigned act dma dve pe pool sp",
    MatmultPerfMode: "none double_row double_row_sw_interleave",
    AxisList: "x xy xyz xyzw",
    MemorySpace: "hbm sbuf psum reg shared_hbm private_hbm",
    BranchCompareOp: "always lt_imm le_imm eq_imm ne_imm ge_imm gt_imm lt_reg le_reg eq_reg ne_reg ge_reg gt_reg",
    DgeType: "unassigned swdge hwdge none",
    DgeComputeOp: "none add",
    OobMode: "skip error",
    TransposeOps: "none wzxy wxzy wyxz zwyx zywx zyxw yxwz yxzw ywzx xwzy xzyw xyzw xywz",
    TensorScalarReverse: "none first second both",
    DropoutThreshold: "drop_rate keep_rate",
    AccumulateCommand: "idle zero add_accumulate zero_accumulate load_accumulate",
    ReduceCommand: "idle reset reduce reset_reduce load_reduce",
}

# The published map from KLR's wire numbers to BIR's ordinals, in the order of the wire.
KLR_TO_BIR = {
    AluOp: [29, 4, 2, 3, 24, 10, 1, 11, 12, 0, 7, 18, 21, 20, 23, 22, 13, 14, 16, 17, 15, 8, 9, 27, 6, 19, 26, 28, 5],
    ActivationFunction: [
        *(24, 14, 23, 12, 22, 7, 16, 18, 21, 11, 17, 25, 2, 10, 5, 15, 27, 28, 13, 8, 9, 1, 6, 19, 20)
    ],
    Engine: [0, 2, 4, 5, 3, 1, 6],
    AccumulateCommand: [0, 1, 4, 3, 5],
    AxisList: [0, 1, 2, 3],
    DgeType: [3, 1, 2, 0],
    BranchCompareOp: [None, *range(12)],
    Dtype: [12, 3, 4, 7, 13, 16, 17, 1, 11, 19, 15, 0, 10, 14, 18, 4, 5, 9, 8, 2],
}


@pytest.mark.parametrize("enum", BIR, ids=lambda e: e.__name__)
def test_bir_numbers_and_names(enum: type[Published]) -> None:
    names = BIR[enum].split()
    assert [enum.from_number(i).bir for i in range(len(names))] == names
    assert [enum.from_bir(name).number for name in names] == list(range(len(names)))
    assert sorted(m.number for m in enum if m.number is not None) == list(range(len(names)))


@pytest.mark.parametrize("enum", KLR, ids=lambda e: e.__name__)
def test_klr_numbers(enum: type[Published]) -> None:
    names = KLR[enum].split()
    assert [enum.from_klr(i).value for i in range(len(names))] == names
    assert sorted(m.klr for m in enum if m.klr is not None) == list(range(len(names)))


@pytest.mark.parametrize("enum", KLR_TO_BIR, ids=lambda e: e.__name__)
def test_klr_to_bir(enum: type[Published]) -> None:
    numbers = KLR_TO_BIR[enum]
    assert [enum.from_klr(i).number for i in range(len(numbers))] == numbers


def test_every_enum_with_numbers_has_a_table() -> None:
    assert {e for e in ENUMS if any(m.number is not None for m in e)} - {MemorySpace} == set(BIR)
    assert {e for e in ENUMS if any(m.klr is not None for m in e)} - {Dtype} == set(KLR)


@pytest.mark.parametrize("enum", ENUMS, ids=lambda e: e.__name__)
def test_spellings_are_unambiguous(enum: type[Published]) -> None:
    for member in enum:
        assert enum.from_text(member.value) is member
        assert member.value == member.value.lower() == str(member)
        assert member.name.replace("_", "") == member.value.upper().replace("_", "")
        assert all(enum.from_api(name) is member for name in member.api)
        assert member.klr is None or enum.from_klr(member.klr) is member
        assert (member.number is None) or (member.bir is not None)
        if enum is not MemorySpace:
            assert member.bir is None or enum.from_bir(member.bir) is member
    api = [name for member in enum for name in member.api]
    assert len(api) == len(set(api))


def test_memory_spaces() -> None:
    assert [MemorySpace.from_bir(n).value for n in ("DRAM", "SB", "PSUM", "REG")] == ["hbm", "sbuf", "psum", "reg"]
    assert [MemorySpace.from_number(n).value for n in (8, 16, 32, 128)] == ["hbm", "sbuf", "psum", "reg"]
    assert [m.value for m in MemorySpace if m.is_hbm] == ["hbm", "shared_hbm", "private_hbm"]
    assert {m.bir for m in MemorySpace if m.is_hbm} == {"DRAM"}
    assert [m.value for m in MemorySpace if m.is_on_chip] == ["sbuf", "psum"]


SAME_ACTIVATIONS = """
square sigmoid relu prelu gelu gelu_dx gelu_apprx_tanh gelu_apprx_sigmoid gelu_apprx_sigmoid_dx silu silu_dx tanh
softplus mish erf erf_dx exp log sin arctan sqrt rsqrt reciprocal sign abs copy
"""

API = {
    AluOp: "invert=bitwise_not left_shift=logical_shift_left right_shift=logical_shift_right multiply=mult maximum=max "
    "minimum=min equal=is_equal greater=is_gt greater_equal=is_ge less=is_lt less_equal=is_le power=pow add=add "
    "subtract=subtract abs=abs rsqrt=rsqrt not_equal=not_equal bitwise_and=bitwise_and bitwise_or=bitwise_or "
    "bitwise_xor=bitwise_xor logical_and=logical_and logical_or=logical_or logical_xor=logical_xor abs_max=abs_max "
    "abs_min=abs_min square=square relu=relu reciprocal=reciprocal logical_not=logical_not bypass=bypass",
    ActivationFunction: " ".join(f"{n}={n}" for n in SAME_ACTIVATIONS.split()) + " identity=copy",
    Engine: "unknown=unassigned tensor=pe vector=dve scalar=act gpsimd=pool sync=sp dma=dma tensor_engine=pe "
    "vector_engine=dve scalar_engine=act gpsimd_engine=pool unknown_engine=unassigned",
    AccumulateCommand: "idle=idle reset=zero reduce=add_accumulate reset_reduce=zero_accumulate "
    "load_reduce=load_accumulate",
    DgeType: "unknown=unassigned swdge=swdge hwdge=hwdge none=none",
    MatmultPerfMode: "none=none double_row=double_row double_row_gen3=double_row",
    OobMode: "error=error skip=skip",
}


@pytest.mark.parametrize("enum", API, ids=lambda e: e.__name__)
def test_api_names(enum: type[Published]) -> None:
    for pair in API[enum].split():
        name, text = pair.split("=")
        assert enum.from_api(name).value == enum.from_api(f"nki.language.{name}").value == text


def test_numpy_functions_are_tokens() -> None:
    ufuncs = {
        np.add: "add",
        np.multiply: "mult",
        np.maximum: "max",
        np.minimum: "min",
        np.divide: "divide",
        np.power: "pow",
        np.mod: "mod",
        np.abs: "abs",
        np.invert: "bitwise_not",
        np.left_shift: "logical_shift_left",
        np.right_shift: "logical_shift_right",
        np.greater_equal: "is_ge",
        np.logical_not: "logical_not",
        max: "max",
    }
    assert {f: AluOp.from_api(f).value for f in ufuncs} == ufuncs
    assert {f: ActivationFunction.from_api(f).value for f in (np.exp, np.tanh)} == {np.exp: "exp", np.tanh: "tanh"}


def names(*ops: str) -> set[AluOp]:
    return {AluOp.from_text(op) for text in ops for op in text.split()}


BITWISE = "bitwise_not bitwise_and bitwise_or bitwise_xor"
SHIFTS = "arith_shift_left arith_shift_right logical_shift_left logical_shift_right"


def test_classes_of_alu_operators() -> None:
    assert {op for op in AluOp if op.is_bitwise} == names(BITWISE, SHIFTS)
    assert {op for op in AluOp if not op.is_bitwise and not op.is_arithmetic} == {AluOp.BYPASS}
    assert not any(op.is_bitwise and op.is_arithmetic for op in AluOp)
    assert {op for op in AluOp if op.is_comparison} == names("is_equal not_equal is_gt is_ge is_lt is_le")
    assert {op for op in AluOp if op.is_logical} == names("logical_and logical_or logical_xor logical_not")
    assert {op for op in AluOp if op.is_unary} == names(
        "bypass bitwise_not rsqrt abs square relu reciprocal logical_not"
    )
    assert {op for op in AluOp if op.is_commutative} == names(
        "add mult max min is_equal not_equal bitwise_and bitwise_or bitwise_xor logical_and logical_or logical_xor",
        "abs_max abs_min average elemwise_mul",
    )
    assert {op for op in AluOp if op.reduces} == names(
        "bitwise_and bitwise_or bitwise_xor add mult subtract max min logical_and logical_or logical_xor"
    )
    assert {op for op in AluOp if op.since is CORE_V4} == names("abs_max abs_min mod_int square relu")
    assert {op for op in AluOp if op.since is not CORE_V4 and op.since is not TONGA} == set()
    assert {op for op in AluOp if not op.has_meaning} == names("average elemwise_mul mod_int")


def test_valid_ranges_of_activation_functions() -> None:
    ranges = {f.value: f.valid for f in ActivationFunction if f.valid != ((-math.inf, math.inf),)}
    assert ranges == {
        "log": ((5.421010862427522e-20, 1.8446744073709552e19),),
        "sin": ((-3.141592653589793, 3.141592653589793),),
        "arctan": ((-1.5707963267948966, 1.5707963267948966),),
        "sqrt": ((2 / 2**117, float(1 << 118)),),
        "rsqrt": ((2 / 2**88, float(1 << 97)),),
        "reciprocal": ((-4398046511104.0, -1 / 4398046511104), (1 / 4398046511104, 4398046511104.0)),
    }


def test_meanings_and_tables_of_activation_functions() -> None:
    without = {f.value for f in ActivationFunction if not f.has_meaning}
    assert without == {"lrelu", "abs_reciprocal_sqrt", "is_finite", "unknown"}
    assert {f.number for f in ActivationFunction if f.is_hardwired} == {0, 1, 2, 3, 4, 15, 23, 24, 29}
    assert {f.since for f in ActivationFunction} == {TONGA}


def test_small_facts() -> None:
    assert [a.free_dims for a in AxisList] == [1, 2, 3, 4, 4, 0]
    assert [a.value for a in AxisList if a.has_partition] == ["xyzwc", "c"]
    assert [r.accumulate.number for r in ReduceCommand] == [0, 1, 4, 3, 5]
    assert (AccumulationFlag.START, AccumulationFlag.STOP, AccumulationFlag.ACCUMULATE) == (1, 2, 4)
    assert [r.flags for r in TensorScalarReverse] == [(False, False), (True, False), (False, True), (True, True)]
    assert all(TensorScalarReverse.of(*r.flags) is r for r in TensorScalarReverse)
    assert [k.value for k in TensorKind if k.is_input] == ["external_input", "external_input_parameter", "input"]
    assert [k.value for k in TensorKind if k.is_output] == ["external_output", "external_output_parameter", "output"]
    assert [k.value for k in LoopKind] == ["affine", "sequential", "parallel", "spmd", "dynamic"]
    assert TensorClass.from_bir("LoopTensor").number is None


@pytest.mark.parametrize(
    "look_up, message",
    [
        (lambda: AluOp.from_api("nl.multply"), "unknown ALU operator 'multply'; did you mean 'multiply'?"),
        (lambda: AluOp.from_api(3), "unknown ALU operator '3'; known: "),
        (lambda: AluOp.from_text("Add"), "unknown ALU operator 'Add'; did you mean 'add'?"),
        (lambda: ActivationFunction.from_bir("ln"), "unknown activation function of BIR name 'ln'; did you mean 'Ln'?"),
        (lambda: MemsetMode.from_number(2), "unknown memset mode of BIR number 2; known: 0, 1"),
        (lambda: OobMode.from_klr(2), "unknown out-of-bounds mode of KLR number 2; known: 1, 0"),
    ],
)
def test_messages(look_up: Callable[[], object], message: str) -> None:
    with pytest.raises(NkiError) as caught:
        look_up()
    assert str(caught.value).startswith(message) if message.endswith("known: ") else str(caught.value) == message


def test_importing_the_tables_does_not_load_numpy() -> None:
    modules = "lazy names target enums dtypes numerics"
    code = (
        "import sys, importlib\n"
        f"for m in {modules.split()!r}: importlib.import_module('nki_mlir.isa.' + m)\n"
        "loaded = [m for m in sys.modules if m.startswith(('numpy.', 'ml_dtypes.', 'xdsl'))]\n"
        "assert not loaded, loaded\n"
        "from nki_mlir.isa.dtypes import Dtype\n"
        "assert str(Dtype.BF16.numpy) == 'bfloat16'\n"
        "import numpy\n"
        "assert numpy.arange(3).sum() == 3 and 'numpy._core' in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)

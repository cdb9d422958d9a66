"""The element types: sizes, names, limits and the numpy types that hold them. (Numbers: test_enums.)"""

import ml_dtypes
import numpy as np
import pytest

from nki_mlir.diagnostics import NkiError
from nki_mlir.isa.dtypes import Dtype
from nki_mlir.isa.target import CORE_V4, SUNDA, TONGA

SIZES = {
    1: "u8 i8 f8e3 f8e4 f8e4m3fn f8e5 f8e8m0fnu",
    2: "u16 i16 bf16 f16 f4e2m1fn_x4",
    4: "u32 i32 f32 f32r f8e5m2_x4 f8e4m3fn_x4",
    8: "u64 i64",
}
KLR_NAMES = (
    "bfloat16 float8e3 float8e4 float8e5 float16 float32 float32r int8 int16 int64 int32 uint8 uint16 uint32 uint64 "
    "float8_e4m3 float8_e4m3fn float8_e5m2_x4 float8_e4m3fn_x4 float4_e2m1fn_x4"
)


def test_sizes() -> None:
    assert {size: {d.value for d in Dtype if d.size == size} for size in SIZES} == {
        size: set(text.split()) for size, text in SIZES.items()
    }
    for dtype in Dtype:
        assert dtype.numpy.itemsize == dtype.size
        assert Dtype.from_text(dtype.value) is dtype


def test_numpy_types() -> None:
    scalars = {
        Dtype.F32: np.float32,
        Dtype.F32R: np.float32,
        Dtype.BF16: ml_dtypes.bfloat16,
        Dtype.F16: np.float16,
        Dtype.F8E3: ml_dtypes.float8_e3m4,
        Dtype.F8E4: ml_dtypes.float8_e4m3,
        Dtype.F8E4M3FN: ml_dtypes.float8_e4m3fn,
        Dtype.F8E5: ml_dtypes.float8_e5m2,
        Dtype.F8E8M0FNU: ml_dtypes.float8_e8m0fnu,
        Dtype.F8E4M3FN_X4: np.uint32,
        Dtype.F8E5M2_X4: np.uint32,
        Dtype.F4E2M1FN_X4: np.uint16,
    }
    for dtype in Dtype:
        expected = scalars.get(dtype) or {"u": "uint", "i": "int"}[dtype.value[0]] + dtype.value[1:]
        assert dtype.numpy == np.dtype(expected)


def test_klr_names() -> None:
    # Number 15 is a second number of the legacy e4m3; all others are the types' own.
    for number, name in enumerate(KLR_NAMES.split()):
        dtype = Dtype.from_klr(number)
        if number == 15:
            assert (dtype, dtype.klr, dtype.klr_name) == (Dtype.F8E4, 2, "float8e4")
        else:
            assert (dtype.klr, dtype.klr_name) == (number, name)
    assert (Dtype.F8E8M0FNU.klr, Dtype.F8E8M0FNU.klr_name) == (None, None)


def test_bir_alias_of_the_legacy_type() -> None:
    assert Dtype.from_bir("float8_e4m3") is Dtype.from_bir("float8e4") is Dtype.F8E4


def test_api_names_and_types() -> None:
    for token in ("tfloat32", "nl.tfloat32", "float32r", np.dtype("V4")):
        assert Dtype.from_api(token) is Dtype.F32R
    for token in ("bool_", np.bool_, np.dtype(bool), bool, np.uint8):
        assert Dtype.from_api(token) is Dtype.U8
    assert Dtype.from_api("float8_e4m3") is Dtype.F8E4
    assert Dtype.from_api("float8_e5m2") is Dtype.F8E5
    for dtype in Dtype:
        if dtype is not Dtype.F32R and not dtype.is_packed:
            held = dtype.numpy
            for token in (held, held.name, held.type, np.zeros(1, held)):
                assert Dtype.from_api(token) is dtype


def test_scalar_types_of_a_framework() -> None:
    class Meta(type):
        @property
        def dtype(cls) -> np.dtype:
            return np.dtype(ml_dtypes.bfloat16)

    class Bfloat16Scalar(metaclass=Meta):
        pass

    assert Dtype.from_api(Bfloat16Scalar) is Dtype.BF16


@pytest.mark.parametrize(
    "token, message",
    [
        ("float64", "unknown dtype 'float64'; did you mean 'float16' or 'bfloat16' or 'float32'?"),
        (np.float64, "unknown dtype 'float64'; did you mean 'float16' or 'bfloat16' or 'float32'?"),
        (float, "unknown dtype 'float'; did you mean 'float32' or 'float16' or 'tfloat32'?"),
        (np.dtype("complex64"), "unknown dtype 'complex64'; known: float32, "),
    ],
)
def test_messages(token: object, message: str) -> None:
    with pytest.raises(NkiError) as caught:
        Dtype.from_api(token)
    assert str(caught.value).startswith(message)


def test_classes() -> None:
    def texts(wanted: str) -> str:
        return " ".join(d.value for d in Dtype if getattr(d, wanted))

    assert texts("is_integer") == "u8 i8 u16 i16 u32 i32 u64 i64"
    assert texts("is_float") == "f32 f32r bf16 f16 f8e3 f8e4 f8e4m3fn f8e5 f8e8m0fnu"
    assert texts("is_fp8") == "f8e3 f8e4 f8e4m3fn f8e5 f8e8m0fnu"
    assert texts("is_packed") == "f8e4m3fn_x4 f8e5m2_x4 f4e2m1fn_x4"
    assert {d for d in Dtype if not d.is_signed} == {Dtype.U8, Dtype.U16, Dtype.U32, Dtype.U64, Dtype.F8E8M0FNU}
    assert {d.value: d.lanes for d in Dtype if d.lanes != 1} == dict.fromkeys(texts("is_packed").split(), 4)
    assert {d.number for d in Dtype if d.may_be_immediate} == {0, 1, *range(10, 17), 18, 19}


def test_generations() -> None:
    assert {d for d in Dtype if d.since is CORE_V4} == {d for d in Dtype if d.is_packed} | {Dtype.F8E8M0FNU}
    assert {d for d in Dtype if d.since is SUNDA} == {Dtype.F8E3}
    assert {d.since for d in Dtype} == {TONGA, SUNDA, CORE_V4}


def test_limits_of_integers() -> None:
    for dtype in Dtype:
        if dtype.is_integer:
            info = np.iinfo(dtype.numpy)
            assert (dtype.min, dtype.max) == (info.min, info.max)
    with pytest.raises(TypeError, match=r"^f32 is no integer type$"):
        _ = Dtype.F32.max

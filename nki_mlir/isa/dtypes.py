"""The element types of the hardware.

Sources: BIR reference, §2.4; KLR reference, §1.2; NKI ISA reference, §3.1; Penguin reference, §2.0 (generations).
"""

from functools import cached_property
from typing import TYPE_CHECKING, Any, Self, cast

from nki_mlir.isa.enums import Published
from nki_mlir.isa.lazy import ml_dtypes
from nki_mlir.isa.lazy import numpy as np
from nki_mlir.isa.target import CORE_V4, SUNDA, TONGA, Target

if TYPE_CHECKING:
    NumpyDtype = np.dtype[Any]


class Dtype(Published):
    """dtype.

    `size` is the bytes of one stored element. An element of an x4 type holds four values (`lanes`), and its numpy type
    is the unsigned integer of its size. `klr_name` is the name in KLR. The 64-bit integers exist in files only: no NKI
    API offers them, and the front ends refuse them by a rule of their own.
    """

    # text, BIR number and name, KLR number, API names; then bytes, numpy type (of numpy, else of ml_dtypes), KLR name
    F32 = "f32", 16, "float32", 5, ("float32",), 4, "float32"
    F32R = "f32r", 17, "float32r", 6, ("tfloat32", "float32r", "void32"), 4, "float32", "float32r"
    BF16 = "bf16", 12, "bfloat16", 0, ("bfloat16",), 2, "bfloat16"
    F16 = "f16", 13, "float16", 4, ("float16",), 2, "float16"
    F8E3 = "f8e3", 3, "float8e3", 1, ("float8_e3m4",), 1, "float8_e3m4", "float8e3"
    F8E4 = "f8e4", 4, "float8e4", 2, ("float8_e4m3",), 1, "float8_e4m3", "float8e4"
    F8E4M3FN = "f8e4m3fn", 5, "float8_e4m3fn", 16, ("float8_e4m3fn",), 1, "float8_e4m3fn"
    F8E5 = "f8e5", 7, "float8e5", 3, ("float8_e5m2",), 1, "float8_e5m2", "float8e5"
    F8E8M0FNU = "f8e8m0fnu", 6, "float8_e8m0fnu", None, ("float8_e8m0fnu",), 1, "float8_e8m0fnu", None
    F8E4M3FN_X4 = "f8e4m3fn_x4", 8, "float8_e4m3fn_x4", 18, ("float8_e4m3fn_x4",), 4, "uint32", "float8_e4m3fn_x4"
    F8E5M2_X4 = "f8e5m2_x4", 9, "float8_e5m2_x4", 17, ("float8_e5m2_x4",), 4, "uint32", "float8_e5m2_x4"
    F4E2M1FN_X4 = "f4e2m1fn_x4", 2, "float4_e2m1fn_x4", 19, ("float4_e2m1fn_x4",), 2, "uint16", "float4_e2m1fn_x4"
    U8 = "u8", 0, "uint8", 11, ("uint8", "bool_", "bool"), 1, "uint8"
    I8 = "i8", 1, "int8", 7, ("int8",), 1, "int8"
    U16 = "u16", 10, "uint16", 12, ("uint16",), 2, "uint16"
    I16 = "i16", 11, "int16", 8, ("int16",), 2, "int16"
    U32 = "u32", 14, "uint32", 13, ("uint32",), 4, "uint32"
    I32 = "i32", 15, "int32", 10, ("int32",), 4, "int32"
    U64 = "u64", 18, "uint64", 14, ("uint64",), 8, "uint64"
    I64 = "i64", 19, "int64", 9, ("int64",), 8, "int64"

    def __init__(
        self,
        text: str,
        number: int | None = None,
        bir: str | None = None,
        klr: int | None = None,
        api: tuple[str, ...] = (),
        size: int = 0,
        numpy: str = "",
        klr_name: str | None = "",
    ) -> None:
        super().__init__(text, number, bir, klr, api)
        self.size = size
        self.klr_name = numpy if klr_name == "" else klr_name
        self._numpy = numpy

    @cached_property
    def numpy(self) -> "NumpyDtype":
        """The numpy dtype in which arrays hold elements of this type."""
        return np.dtype(getattr(ml_dtypes if hasattr(ml_dtypes, self._numpy) else np, self._numpy))

    @property
    def lanes(self) -> int:
        """Values in one stored element."""
        return 4 if self.value.endswith("_x4") else 1

    @property
    def is_packed(self) -> bool:
        return self.lanes > 1

    @property
    def is_integer(self) -> bool:
        return self.value[0] in "ui"

    @property
    def is_float(self) -> bool:
        """A floating-point number a stored element; the x4 types are not."""
        return not self.is_integer and not self.is_packed

    @property
    def is_signed(self) -> bool:
        return self.value[0] != "u" and self is not Dtype.F8E8M0FNU

    @property
    def is_fp8(self) -> bool:
        return self.is_float and self.size == 1

    @property
    def since(self) -> Target:
        """The oldest target that has the type. What an instruction takes of it is the instruction's rule."""
        if self.is_packed or self is Dtype.F8E8M0FNU:
            return CORE_V4
        return SUNDA if self is Dtype.F8E3 else TONGA

    @property
    def may_be_immediate(self) -> bool:
        return not self.is_packed and not self.is_fp8 and self is not Dtype.F32R

    @property
    def min(self) -> int:
        """The least value of an integer type."""
        bits = self._integer_bits()
        return -(1 << bits - 1) if self.is_signed else 0

    @property
    def max(self) -> int:
        """The greatest value of an integer type."""
        bits = self._integer_bits()
        return (1 << bits - self.is_signed) - 1

    def _integer_bits(self) -> int:
        if not self.is_integer:
            raise TypeError(f"{self} is no integer type")
        return 8 * self.size

    @classmethod
    def from_bir(cls, name: str) -> Self:
        return super().from_bir("float8e4" if name == "float8_e4m3" else name)

    @classmethod
    def from_klr(cls, number: int) -> Self:
        """Returns the type of a KLR number; 15 (float8_e4m3) is a second number of 2 (float8e4)."""
        return super().from_klr(2 if number == 15 else number)

    @classmethod
    def from_api(cls, token: Any) -> Self:
        """Returns the type that an API value means.

        `token` is a name (`"bfloat16"`, with or without a module before it), a numpy or ml_dtypes dtype or scalar type,
        or an object with a `dtype`, such as the scalar types of JAX.
        """
        dtype = getattr(token, "dtype", token)
        if not isinstance(dtype, np.dtype):
            return super().from_api(token)
        known = cast(Any, dtype)
        return super().from_api(str(known) if known.names else known.name)  # one of fields has the name of its size

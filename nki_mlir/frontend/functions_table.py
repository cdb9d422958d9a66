"""What the functions of `nl` compute, by name: the operator or activation function behind each, and a phrase for it.

Sources: NKI ISA reference, §3.6, §6.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

from nki_mlir.frontend import functions_elementwise as elementwise
from nki_mlir.isa.enums import ActivationFunction, AluOp

Function = Callable[..., Any]

BINARY: dict[str, tuple[AluOp, str]] = {
    "add": (AluOp.ADD, "x + y"),
    "subtract": (AluOp.SUBTRACT, "x - y"),
    "multiply": (AluOp.MULT, "x * y"),
    "divide": (AluOp.DIVIDE, "x / y"),
    "power": (AluOp.POW, "x to the power of y"),
    "mod": (AluOp.MOD, "x - y * floor(x / y)"),
    "maximum": (AluOp.MAX, "the greater of x and y"),
    "minimum": (AluOp.MIN, "the smaller of x and y"),
    "abs_max": (AluOp.ABS_MAX, "the one of x and y that is farther from 0"),
    "abs_min": (AluOp.ABS_MIN, "the one of x and y that is nearer to 0"),
    "equal": (AluOp.IS_EQUAL, "x == y"),
    "not_equal": (AluOp.NOT_EQUAL, "x != y"),
    "greater": (AluOp.IS_GT, "x > y"),
    "greater_equal": (AluOp.IS_GE, "x >= y"),
    "less": (AluOp.IS_LT, "x < y"),
    "less_equal": (AluOp.IS_LE, "x <= y"),
    "logical_and": (AluOp.LOGICAL_AND, "whether x and y are not 0"),
    "logical_or": (AluOp.LOGICAL_OR, "whether x or y is not 0"),
    "logical_xor": (AluOp.LOGICAL_XOR, "whether exactly one of x and y is not 0"),
    "bitwise_and": (AluOp.BITWISE_AND, "the bits in both x and y"),
    "bitwise_or": (AluOp.BITWISE_OR, "the bits in x or y"),
    "bitwise_xor": (AluOp.BITWISE_XOR, "the bits in exactly one of x and y"),
    "left_shift": (AluOp.LOGICAL_SHIFT_LEFT, "the bits of x moved up by y"),
    "right_shift": (AluOp.LOGICAL_SHIFT_RIGHT, "the bits of x moved down by y, zeros moved in"),
}
ACTIVATIONS: dict[str, tuple[ActivationFunction, str]] = {
    "exp": (ActivationFunction.EXP, "e to the power of x"),
    "log": (ActivationFunction.LOG, "the natural logarithm of x"),
    "sqrt": (ActivationFunction.SQRT, "the square root of x"),
    "rsqrt": (ActivationFunction.RSQRT, "1 / sqrt(x)"),
    "tanh": (ActivationFunction.TANH, "the hyperbolic tangent of x"),
    "sigmoid": (ActivationFunction.SIGMOID, "1 / (1 + exp(-x))"),
    "relu": (ActivationFunction.RELU, "max(0, x)"),
    "erf": (ActivationFunction.ERF, "the error function of x"),
    "erf_dx": (ActivationFunction.ERF_DX, "the derivative of the error function at x"),
    "softplus": (ActivationFunction.SOFTPLUS, "log(1 + exp(x))"),
    "mish": (ActivationFunction.MISH, "x * tanh(softplus(x))"),
    "gelu": (ActivationFunction.GELU, "x times the normal distribution function of x"),
    "gelu_dx": (ActivationFunction.GELU_DX, "the derivative of gelu at x"),
    "gelu_apprx_tanh": (ActivationFunction.GELU_APPRX_TANH, "gelu(x), approximated with tanh"),
    "gelu_apprx_sigmoid": (ActivationFunction.GELU_APPRX_SIGMOID, "gelu(x), approximated as x * sigmoid(1.702 x)"),
    "gelu_apprx_sigmoid_dx": (ActivationFunction.GELU_APPRX_SIGMOID_DX, "the derivative of gelu_apprx_sigmoid at x"),
    "silu": (ActivationFunction.SILU, "x * sigmoid(x)"),
    "silu_dx": (ActivationFunction.SILU_DX, "the derivative of silu at x"),
    "arctan": (ActivationFunction.ARCTAN, "the angle in [-pi / 2, pi / 2] whose tangent is x"),
    "sign": (ActivationFunction.SIGN, "-1, 0 or 1"),
    "square": (ActivationFunction.SQUARE, "x * x"),
    "abs": (ActivationFunction.ABS, "x without its sign"),
}
OTHERS: dict[str, tuple[Function, str]] = {
    "reciprocal": (elementwise.reciprocal, "1 / x"),
    "negative": (elementwise.negative, "-x"),
    "sin": (elementwise.sin, "the sine of x"),
    "cos": (elementwise.cos, "the cosine of x"),
    "tan": (elementwise.tan, "the tangent of x"),
    "floor": (elementwise.floor, "the greatest integer not above x"),
    "ceil": (elementwise.ceil, "the least integer not below x"),
    "trunc": (elementwise.trunc, "x without its fraction"),
    "invert": (elementwise.inverted, "the bits of x inverted"),
    "logical_not": (elementwise.logical_not, "whether x is 0"),
}
REDUCTIONS: dict[str, tuple[AluOp, str]] = {
    "sum": (AluOp.ADD, "the sum"),
    "prod": (AluOp.MULT, "the product"),
    "max": (AluOp.MAX, "the maximum"),
    "min": (AluOp.MIN, "the minimum"),
    "all": (AluOp.LOGICAL_AND, "whether all elements are not 0"),
}
TRUTHS = frozenset(name for name, (op, _) in {**BINARY, **REDUCTIONS}.items() if op.is_comparison or op.is_logical) | {
    "logical_not"
}
"""Functions whose results are 1 or 0."""


def named(function: Function, name: str, summary: str, module: str) -> Function:
    """Gives a generated function the name by which it is called and by which it is an operator token."""
    function.__name__ = function.__qualname__ = name
    function.__doc__ = summary
    function.__module__ = module
    return function


def unary_function(name: str) -> tuple[Function, str]:
    """Returns f(x, dtype, mask) of a function of one operand, and the phrase for it."""
    if name not in ACTIVATIONS:
        made, summary = OTHERS[name]
        return partial(made, name), summary
    func, summary = ACTIVATIONS[name]
    return partial(elementwise.activated, name, func), summary

"""Parsing and printing in the tests of the dialects."""

import io

from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, ModuleOp
from xdsl.dialects.test import Test
from xdsl.ir import Operation
from xdsl.printer import Printer

from nki_mlir.dialects import get_all_dialects
from nki_mlir.dialects.instruction import InstructionOp
from nki_mlir.tools.mlir_parser import parse_mlir


def context() -> Context:
    """A context with our dialects and xDSL's `test`."""
    found = Context()
    for name, dialect in get_all_dialects().items():
        found.register_dialect(name, dialect)
    found.load_dialect(Builtin)
    found.load_dialect(Test)
    return found


CONTEXT = context()


def parse(text: str) -> ModuleOp:
    """Parses a module; errors are NkiErrors with their place."""
    return parse_mlir(CONTEXT, text, "t.mlir")


def printed(op: Operation, *, generic: bool = False, locations: bool = False) -> str:
    """The text of an op."""
    stream = io.StringIO()
    Printer(stream, print_generic_format=generic, print_debuginfo=locations).print_op(op)
    return stream.getvalue()


HEAD = """
%t = bir.tensor "t" : !nki.mem<sbuf 128x512xf32>
%u = bir.tensor "u" : !nki.mem<sbuf 128x512xf32, blocks 4>
%a = bir.tensor "a" kind external_input : !nki.mem<hbm 512x512xf32>
%r = bir.register "r"
%q = bir.register "q"
"""


def body(text: str) -> ModuleOp:
    """Parses ops behind the declarations of `HEAD`."""
    return parse(f"bir.module @m {{ bir.func @f {{ {HEAD} {text} }} }}")


def instructions(module: Operation) -> list[InstructionOp]:
    """The instructions of a module in order."""
    return [op for op in module.walk() if isinstance(op, InstructionOp)]


def instruction(text: str) -> InstructionOp:
    """The last instruction of a text behind the declarations of `HEAD`."""
    return instructions(body(text))[-1]

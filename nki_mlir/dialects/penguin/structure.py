"""Structure of Penguin: module, functions, tensors, loops, scopes, runtime loops."""

from xdsl.dialects.builtin import IntegerAttr, StringAttr, UnitAttr, i64
from xdsl.ir import Attribute
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    region_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import HasParent, NoTerminator, RecursiveMemoryEffect
from xdsl.utils.exceptions import VerifyException

from nki_mlir.dialects.attributes import IV, RegisterType
from nki_mlir.dialects.instruction import flag
from nki_mlir.dialects.places import HoldsInstructions, InsideFunction
from nki_mlir.dialects.structure import (
    FunctionOp,
    StorageOp,
    read_attributes,
    read_integer,
    verify_no_arguments,
    verify_variable,
)
from nki_mlir.dialects.structure import LoopOp as SharedLoopOp
from nki_mlir.dialects.structure import ModuleOp as SharedModuleOp
from nki_mlir.dialects.structure import RegisterOp as SharedRegisterOp
from nki_mlir.dialects.structure import WhileOp as SharedWhileOp


@irdl_op_definition
class ModuleOp(SharedModuleOp):
    """The functions of one kernel, one a core."""

    name = "penguin.module"


@irdl_op_definition
class FuncOp(FunctionOp):
    """A traced kernel on one core: tensors first, then instructions, loops and scopes."""

    name = "penguin.func"

    core = opt_prop_def(IntegerAttr.constr(i64))
    traits = traits_def(HasParent(ModuleOp), HoldsInstructions())


@irdl_op_definition
class TensorOp(StorageOp):
    """A logical tensor; block dimensions make it a block tensor."""

    name = "penguin.tensor"


@irdl_op_definition
class RegisterOp(SharedRegisterOp):
    """A runtime scalar."""

    name = "penguin.register"


@irdl_op_definition
class LoopOp(SharedLoopOp):
    """A loop axis: affine (independent iterations), sequential, or an axis of the SPMD grid."""

    name = "penguin.loop"


@irdl_op_definition
class DynamicLoopOp(IRDLOperation):
    """A loop with a runtime upper bound, from 0 in steps of 1: `penguin.dynamic_loop %i to %n { … }`."""

    name = "penguin.dynamic_loop"

    upper = operand_def(RegisterType)
    body = region_def("single_block")
    traits = traits_def(NoTerminator(), RecursiveMemoryEffect(), InsideFunction(), HoldsInstructions())

    def verify_(self) -> None:
        verify_variable(self.body)

    @classmethod
    def parse(cls, parser: Parser) -> "DynamicLoopOp":
        variable = parser.parse_argument(expect_type=False)
        parser.parse_keyword("to")
        upper = parser.resolve_operand(parser.parse_unresolved_operand(), RegisterType())
        attributes = read_attributes(parser, cls)
        return cls.create(
            operands=[upper], attributes=attributes, regions=[parser.parse_region([variable.resolve(IV)])]
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.body.block.args[0])
        printer.print_string(" to ")
        printer.print_ssa_value(self.upper)
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False, print_empty_block=False)


@irdl_op_definition
class WhileOp(SharedWhileOp):
    """A do-while loop: runs its body, then again while the register is not 0. `penguin.while %r { … }`"""

    name = "penguin.while"


@irdl_op_definition
class ScopeOp(IRDLOperation):
    """A labelled span: an allocation scope, or one in which instructions keep their order.

    penguin.scope "tile" no_reorder { … }
    """

    name = "penguin.scope"
    label = opt_prop_def(StringAttr)
    no_reorder = flag()
    multi_buffer = opt_prop_def(IntegerAttr.constr(i64))
    body = region_def("single_block")
    traits = traits_def(NoTerminator(), RecursiveMemoryEffect(), InsideFunction(), HoldsInstructions())

    def verify_(self) -> None:
        verify_no_arguments(self.body)
        if self.multi_buffer is not None and self.multi_buffer.value.data < 1:
            raise VerifyException(f"multi_buffer must be positive, got {self.multi_buffer.value.data}")

    @classmethod
    def parse(cls, parser: Parser) -> "ScopeOp":
        properties: dict[str, Attribute] = {}
        if (label := parser.parse_optional_str_literal()) is not None:
            properties["label"] = StringAttr(label)
        if parser.parse_optional_keyword("no_reorder"):
            properties["no_reorder"] = UnitAttr()
        if parser.parse_optional_keyword("multi_buffer"):
            properties["multi_buffer"] = IntegerAttr(read_integer(parser), i64)
        attributes = read_attributes(parser, cls)
        return cls.create(properties=properties, attributes=attributes, regions=[parser.parse_region([])])

    def print(self, printer: Printer) -> None:
        if self.label is not None:
            printer.print_string(" ")
            printer.print_string_literal(self.label.data)
        if self.no_reorder:
            printer.print_string(" no_reorder")
        if self.multi_buffer is not None:
            printer.print_string(f" multi_buffer {self.multi_buffer.value.data}")
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body, print_empty_block=False)

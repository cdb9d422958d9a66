"""Structure of BIR: module, functions, storage, registers, loops, blocks and their terminators."""

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import IntegerAttr, StringAttr, UnitAttr, i64
from xdsl.ir import Attribute, Block
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    region_def,
    successor_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import HasParent, IsTerminator, NoTerminator, RecursiveMemoryEffect
from xdsl.utils.exceptions import VerifyException

from nki_mlir.dialects.attributes import IV, RegisterType
from nki_mlir.dialects.forms import CompareForm
from nki_mlir.dialects.instruction import instruction
from nki_mlir.dialects.places import HoldsInstructions, InsideFunction
from nki_mlir.dialects.structure import (
    FunctionOp,
    StorageOp,
    read_attributes,
    read_integer,
    verify_step,
    verify_variable,
)
from nki_mlir.dialects.structure import LoopOp as SharedLoopOp
from nki_mlir.dialects.structure import ModuleOp as SharedModuleOp
from nki_mlir.dialects.structure import RegisterOp as SharedRegisterOp
from nki_mlir.dialects.structure import WhileOp as SharedWhileOp
from nki_mlir.isa.enums import MemorySpace, TensorKind
from nki_mlir.isa.instructions.registers import COMPARE_AND_BRANCH


@irdl_op_definition
class ModuleOp(SharedModuleOp):
    """A BIR module: the functions of one kernel, one a core, for one target.

    DRAM tensors with a name and a kind that is not internal are the same memory in all functions.
    """

    name = "bir.module"


@irdl_op_definition
class FuncOp(FunctionOp):
    """A BIR function: storage first, then instructions, loops and blocks. `core` is the core that runs it."""

    name = "bir.func"

    core = opt_prop_def(IntegerAttr.constr(i64))
    traits = traits_def(HasParent(ModuleOp), HoldsInstructions())


@irdl_op_definition
class TensorOp(StorageOp):
    """A memory location set: a named tensor and where its blocks are placed.

    The user chose the places of `user_allocated` storage: what else is at the same addresses may be read and written
    through it. Any other storage holds nothing before its first access, whatever stood at its addresses.
    """

    name = "bir.tensor"

    user_allocated = opt_prop_def(UnitAttr)

    def verify_(self) -> None:
        super().verify_()
        if self.user_allocated is not None and None in (placements := self.placements()):
            # An allocator would choose it, and what it put there before would count as the storage's contents.
            raise VerifyException(f"is user_allocated, but block {placements.index(None)} has no place")

    @property
    def is_shared(self) -> bool:
        """Whether all functions of the module see one memory under the tensor's name."""
        if self.mem.on_chip:
            return False
        return self.tensor_kind is not TensorKind.INTERNAL or self.mem.space is MemorySpace.SHARED_HBM


@irdl_op_definition
class RegisterOp(SharedRegisterOp):
    """A register of a function."""

    name = "bir.register"


@irdl_op_definition
class LoopOp(SharedLoopOp):
    """Loop (105): a static loop with one axis."""

    name = "bir.loop"
    OPCODE: ClassVar[int] = 105


@irdl_op_definition
class DynamicForLoopOp(IRDLOperation):
    """DynamicForLoop (106): a loop whose upper bound is in a register; lower bound and step are constants.

    bir.dynamic_for_loop %i = 0 to %n step 1 { … }
    """

    name = "bir.dynamic_for_loop"
    OPCODE: ClassVar[int] = 106

    upper = operand_def(RegisterType)
    lower = opt_prop_def(IntegerAttr.constr(i64))
    step = opt_prop_def(IntegerAttr.constr(i64))
    body = region_def("single_block")
    traits = traits_def(NoTerminator(), RecursiveMemoryEffect(), InsideFunction(), HoldsInstructions())

    def bound(self, name: str, default: int) -> int:
        """Returns a constant bound."""
        found = self.properties.get(name)
        return found.value.data if isinstance(found, IntegerAttr) else default

    def verify_(self) -> None:
        verify_step(self.bound("step", 1))
        verify_variable(self.body)

    @classmethod
    def parse(cls, parser: Parser) -> "DynamicForLoopOp":
        variable = parser.parse_argument(expect_type=False)
        parser.parse_punctuation("=")
        lower = read_integer(parser)
        parser.parse_keyword("to")
        upper = parser.resolve_operand(parser.parse_unresolved_operand(), RegisterType())
        step = read_integer(parser) if parser.parse_optional_keyword("step") else 1
        attributes = read_attributes(parser, cls)
        body = parser.parse_region([variable.resolve(IV)])
        properties: dict[str, Attribute] = {"lower": IntegerAttr(lower, i64), "step": IntegerAttr(step, i64)}
        return cls.create(operands=[upper], properties=properties, attributes=attributes, regions=[body])

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.body.block.args[0])
        printer.print_string(f" = {self.bound('lower', 0)} to ")
        printer.print_ssa_value(self.upper)
        printer.print_string(f" step {self.bound('step', 1)}")
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False, print_empty_block=False)


@irdl_op_definition
class DoWhileOp(SharedWhileOp):
    """DoWhile (108): runs its body, then again while the register is not 0. `bir.do_while %r { … }`."""

    name = "bir.do_while"
    OPCODE: ClassVar[int] = 108


@instruction(COMPARE_AND_BRANCH, opcode=78)
class CompareAndBranchOp(CompareForm):
    """CompareAndBranch: goes to `on_true` where the comparison holds, else to `on_false`."""

    name = "bir.compare_and_branch"

    on_true = successor_def()
    on_false = successor_def()
    traits = traits_def(IsTerminator(), HasParent(FuncOp))


@irdl_op_definition
class UnconditionalBranchOp(IRDLOperation):
    """UnconditionalBranch: goes to the target block."""

    name = "bir.unconditional_branch"
    OPCODE: ClassVar[int] = 79

    destination = successor_def()
    traits = traits_def(IsTerminator(), HasParent(FuncOp))

    # A declared format would be a twentieth of the start of every tool, which it makes import another parser.

    @classmethod
    def parse(cls, parser: Parser) -> "UnconditionalBranchOp":
        return cls.create(successors=[parser.parse_successor()], attributes=parser.parse_optional_attr_dict())

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_block_name(self.destination)
        printer.print_op_attributes(self.attributes)


@irdl_op_definition
class ReturnOp(IRDLOperation):
    """Return: ends the function."""

    name = "bir.return"
    OPCODE: ClassVar[int] = 81

    traits = traits_def(IsTerminator(), HasParent(FuncOp))

    @classmethod
    def parse(cls, parser: Parser) -> "ReturnOp":
        return cls.create(attributes=parser.parse_optional_attr_dict())

    def print(self, printer: Printer) -> None:
        printer.print_op_attributes(self.attributes)


def function(name: str, blocks: Sequence[Block], core: int | None = None) -> FuncOp:
    """Returns a function with the given blocks."""
    from xdsl.ir import Region

    properties: dict[str, Attribute] = {"sym_name": StringAttr(name)}
    if core is not None:
        properties["core"] = IntegerAttr(core, i64)
    return FuncOp.create(properties=properties, regions=[Region(list(blocks))])

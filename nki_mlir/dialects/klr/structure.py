"""Structure of KLR: kernels with one body a core, labelled blocks, tensors, registers, branches."""

from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, IntegerAttr, ModuleOp, StringAttr, UnitAttr, i64
from xdsl.ir import Attribute
from xdsl.irdl import IRDLOperation, base, irdl_op_definition, opt_prop_def, prop_def, region_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import HasParent, NoTerminator, RecursiveMemoryEffect
from xdsl.utils.exceptions import VerifyException

from nki_mlir.dialects.forms import CompareForm
from nki_mlir.dialects.instruction import REGISTER_ONLY, REGISTER_OR_NUMBER, flag, instruction, opt_in
from nki_mlir.dialects.places import HoldsInstructions, blame, verify_distinct, verify_names
from nki_mlir.dialects.structure import FunctionOp, StorageOp, read_attributes, read_integer, verify_no_arguments
from nki_mlir.dialects.structure import RegisterOp as SharedRegisterOp
from nki_mlir.isa.enums import BranchCompareOp
from nki_mlir.isa.instructions.registers import COMPARE_AND_BRANCH


@irdl_op_definition
class KernelOp(FunctionOp):
    """LncKernel: one body a core; `inputs` and `outputs` name tensors in order, outputs as the kernel returns them.

    `shared_buffers` names the HBM tensors that are the same memory on all cores. Each of `edges` names a statement and
    those that must come after it.
    """

    name = "klr.kernel"

    inputs = opt_prop_def(ArrayAttr[StringAttr])
    outputs = opt_prop_def(ArrayAttr[StringAttr])
    shared_buffers = opt_prop_def(ArrayAttr[StringAttr])
    edges = opt_prop_def(ArrayAttr[ArrayAttr[StringAttr]])
    traits = traits_def(HasParent(ModuleOp))

    def verify_(self) -> None:
        super().verify_()
        bodies = [op for op in self.body.ops if isinstance(op, BodyOp)]
        verify_distinct(bodies)
        declared = {op.sym.data for body in bodies for op in body.body.block.ops if isinstance(op, TensorOp)}
        listed: set[str] = set()
        lists = {"inputs": self.inputs, "outputs": self.outputs, "shared_buffers": self.shared_buffers}
        for what, held in lists.items():
            names = [name.data for name in held or ()]
            missing = [name for name in names if name not in declared]
            if bodies and missing:
                raise VerifyException(f"lists '{missing[0]}' among its {what}, but no body has a tensor of that name")
            listed.update(names)
        if any(not edge.data for edge in self.edges or ()):
            raise VerifyException("has an empty list among its edges, which begins with the name of a statement")
        verify_names(bodies, listed)


@irdl_op_definition
class BodyOp(IRDLOperation):
    """The body of a kernel on one core: its tensors and registers, then its blocks in order. `klr.body 0 { … }`"""

    name = "klr.body"

    core = prop_def(IntegerAttr.constr(i64))
    body = region_def("single_block")
    traits = traits_def(NoTerminator(), RecursiveMemoryEffect(), HasParent(KernelOp), HoldsInstructions())

    def verify_(self) -> None:
        verify_no_arguments(self.body)
        labels: set[str] = set()
        for op in self.body.block.ops:
            if isinstance(op, BlockOp):
                if op.label.data in labels:
                    blame(op, f"redefinition of block '{op.label.data}'")
                labels.add(op.label.data)
            elif not isinstance(op, StorageOp | SharedRegisterOp):
                blame(op, "stands outside of the blocks of its body")
            elif labels:
                blame(op, "must stand before the blocks of its body")
        for op in self.body.block.ops:
            branch = op.body.block.last_op if isinstance(op, BlockOp) else None
            if isinstance(branch, CmpBranchOp):
                unknown = [label for label in branch.targets() if label not in labels]
                if unknown:
                    blame(branch, f"goes to block '{unknown[0]}', which its body does not have")

    @classmethod
    def parse(cls, parser: Parser) -> "BodyOp":
        core = read_integer(parser, allow_negative=False)
        properties: dict[str, Attribute] = {"core": IntegerAttr(core, i64)}
        attributes = read_attributes(parser, cls)
        return cls.create(properties=properties, attributes=attributes, regions=[parser.parse_region([])])

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.core.value.data}")
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body, print_empty_block=False)


@irdl_op_definition
class BlockOp(IRDLOperation):
    """Block: a labelled straight line of statements, the last of which may branch. `klr.block "main.1" { … }`"""

    name = "klr.block"

    label = prop_def(StringAttr)
    no_reorder = flag()
    body = region_def("single_block")
    traits = traits_def(NoTerminator(), RecursiveMemoryEffect(), HasParent(BodyOp), HoldsInstructions())

    def verify_(self) -> None:
        verify_no_arguments(self.body)

    @classmethod
    def parse(cls, parser: Parser) -> "BlockOp":
        properties: dict[str, Attribute] = {"label": StringAttr(parser.parse_str_literal(" of a label"))}
        if parser.parse_optional_keyword("no_reorder"):
            properties["no_reorder"] = UnitAttr()
        attributes = read_attributes(parser, cls)
        return cls.create(properties=properties, attributes=attributes, regions=[parser.parse_region([])])

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_string_literal(self.label.data)
        if self.no_reorder:
            printer.print_string(" no_reorder")
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body, print_empty_block=False)


@irdl_op_definition
class TensorOp(StorageOp):
    """TensorName: a named tensor with an optional address.

    `address_name` names the buffer where it is not the tensor's own name: tensors of one buffer share memory.
    `address_size`, where the buffer is larger than the tensor, is its number of partitions and the bytes of each.
    `address_rotation` is the tensor's flag. `file` is the .npy file of a shared constant, relative to the kernel's.
    """

    name = "klr.tensor"

    address_name = opt_prop_def(StringAttr)
    address_size = opt_prop_def(base(DenseArrayBase))
    address_rotation = flag()
    file = opt_prop_def(StringAttr)

    def verify_(self) -> None:
        super().verify_()
        _verify_outside_blocks(self)


@irdl_op_definition
class RegisterOp(SharedRegisterOp):
    """A register, named as on disk."""

    name = "klr.register"

    def verify_(self) -> None:
        _verify_outside_blocks(self)


def _verify_outside_blocks(op: TensorOp | RegisterOp) -> None:
    if isinstance(op.parent_op(), BlockOp):
        raise VerifyException("stands in a block, it must stand before the blocks of its body")


@instruction(COMPARE_AND_BRANCH, opcode=46)
class CmpBranchOp(CompareForm):
    """cmpBranch: goes to the block `true_label` where the comparison holds, else to `false_label`."""

    name = "klr.cmp_branch"

    true_label = prop_def(StringAttr)
    false_label = opt_prop_def(StringAttr)
    left = opt_in(REGISTER_ONLY)
    right = opt_in(REGISTER_OR_NUMBER)

    @property
    def always(self) -> bool:
        """Whether nothing is compared and `true_label` the only target."""
        return self.comp_op.data is BranchCompareOp.ALWAYS

    def targets(self) -> list[str]:
        """Returns the labels that the branch may go to."""
        labels = [self.true_label] if self.always else [self.true_label, self.false_label]
        return [label.data for label in labels if label is not None]

    def verify_(self) -> None:
        if not self.always and (self.left is None or self.right is None or self.false_label is None):
            raise VerifyException(f"{self.comp_op.data} compares left with right and needs a false_label")
        # The blocks of a function are what those of a body become in a lowering.
        if self.next_op is not None or not isinstance(self.parent_op(), BlockOp | FunctionOp | None):
            raise VerifyException("must be the last statement of a block")
        super().verify_()

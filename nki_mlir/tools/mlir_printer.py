"""Prints modules as xDSL's printer does, instructions with less of what it does around an op."""

from io import StringIO

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.printer import Printer


class MlirPrinter(Printer):
    """xDSL's printer. An instruction has no results, no scope of its own and no unregistered form to look for."""

    def print_op(self, op: Operation) -> None:
        """Prints an op."""
        print_whole = getattr(op, "print_whole", None)
        if print_whole and not (
            self.print_generic_format or self.print_debuginfo or self.diagnostic.op_messages or op.results
        ):
            print_whole(self)
        else:
            super().print_op(op)


def mlir_text(
    module: ModuleOp, *, generic: bool = False, properties_as_attributes: bool = False, locations: bool = False
) -> str:
    """Returns the text of a module, with a line break at its end."""
    stream = StringIO()
    MlirPrinter(
        stream,
        print_generic_format=generic,
        print_properties_as_attributes=properties_as_attributes,
        print_debuginfo=locations,
    ).print_op(module)
    return stream.getvalue() + "\n"

"""The target that a pass works for."""

from xdsl.ir import Operation

from nki_mlir.dialects.operands import target_of
from nki_mlir.isa.target import Target, default_target, parse_target


def target_for(op: Operation, option: str | None) -> Target:
    """Returns the target that the option of a pass names, else that of the module around an op, else the default one.

    Raises NkiError for a name that no target has.
    """
    if option is not None:
        return parse_target(option)
    return target_of(op) or default_target()

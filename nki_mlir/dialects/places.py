"""Where ops stand: instructions, storage, registers and loops inside functions, and names that are theirs alone.

What may hold them does not depend on the dialect, for a lowering mixes dialects while it is under way.
"""

from collections.abc import Collection, Iterable
from functools import cache
from typing import TYPE_CHECKING, NoReturn, cast

from xdsl.ir import Operation
from xdsl.traits import OpTrait
from xdsl.utils.exceptions import VerifyException

if TYPE_CHECKING:
    from nki_mlir.dialects.attributes import MemType
    from nki_mlir.dialects.structure import StorageOp


class HoldsInstructions(OpTrait):
    """Marks functions, and what has a body inside of them."""


class InsideFunction(OpTrait):
    """The op stands in a function, directly or in a loop, scope or block."""

    def verify(self, op: Operation) -> None:
        verify_inside_function(op)


@cache
def _holds(cls: type[Operation]) -> bool:
    return cls.has_trait(HoldsInstructions)


def verify_inside_function(op: Operation) -> None:
    """Raises `VerifyException` if the op is attached to something that is neither a function nor inside of one."""
    block = op.parent
    region = None if block is None else block.parent
    holder = None if region is None else region.parent
    if holder is not None and not _holds(type(holder)):
        raise VerifyException(f"stands in '{holder.name}', it must be inside of a function")


def blame(op: Operation, message: str) -> NoReturn:
    """Raises `VerifyException` about another op than the one that is being verified."""
    error = VerifyException(f"Operation {op.name} {message}")
    setattr(error, "operation", op)  # noqa: B010
    raise error


# Names -----------------------------------------------------------------------------------------------------------


@cache
def _kind(cls: type[Operation]) -> str | None:
    """Returns what ops of a class are called that have a name, None if they have none."""
    from nki_mlir.dialects.instruction import InstructionOp
    from nki_mlir.dialects.structure import RegisterOp, StorageOp

    kinds = {InstructionOp: "instruction", StorageOp: "tensor", RegisterOp: "register"}
    return next((kind for base, kind in kinds.items() if issubclass(cls, base)), None)


def verify_names(functions: Iterable[Operation], external: Collection[str] = ()) -> None:
    """Raises `VerifyException` if a function has two instructions, two tensors or two registers of one name, or if the
    functions of a module, which share the memory of tensors that come from outside, disagree on the type of one.

    Tensors come from outside by their kind, or as their name is among `external`.
    Sources: BIR reference, §3.1; KLR reference, §1.3.
    """
    types: dict[str, MemType] = {}
    for function in functions:
        taken: dict[str | None, set[str]] = {kind: set() for kind in ("instruction", "tensor", "register")}
        waiting: list[Operation | None] = [function]
        while waiting:
            op = waiting.pop()
            # Every instruction of a module comes by here; what is called for each would cost more than the rest.
            while op is not None:
                named = op.properties.get("name")
                if named is not None and (names := taken.get(kind := _kind(type(op)))) is not None:
                    name: str = getattr(named, "data", "")
                    if name in names:
                        blame(op, f"redefinition of {kind} '{name}'")
                    names.add(name)
                    if kind == "tensor":
                        _verify_external(cast("StorageOp", op), types, external)
                if op.regions:
                    if op is not function:
                        waiting.append(op.next_op)
                    heads = [block.first_op for region in op.regions for block in region.blocks]
                    waiting += reversed(heads)
                    break
                op = op.next_op


def _verify_external(op: "StorageOp", types: "dict[str, MemType]", external: Collection[str]) -> None:
    name = op.sym.data
    if not (op.is_external or name in external):
        return
    # Which HBM it is in is said for each core.
    if types.setdefault(name, op.mem).data._replace(space=op.mem.space) != op.mem.data:
        blame(op, f"is of type {op.mem}, an external tensor '{name}' before it is of type {types[name]}")


def verify_distinct(functions: Iterable[Operation]) -> None:
    """Raises `VerifyException` if functions of a module share a name or a core, or a core is negative."""
    names: set[str] = set()
    cores: set[int] = set()
    for function in functions:
        name = getattr(function.properties.get("sym_name"), "data", None)
        if name in names:
            blame(function, f"redefinition of function '{name}'")
        if name is not None:
            names.add(name)
        core = getattr(getattr(function.properties.get("core"), "value", None), "data", None)
        if core is None:
            continue
        if core < 0:
            blame(function, f"a core has a number from 0 on, got {core}")
        if core in cores:
            blame(function, f"is a second one for core {core}")
        cores.add(core)

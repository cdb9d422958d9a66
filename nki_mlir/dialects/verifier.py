"""Verifies IR as xDSL does, but finds all errors and names the place of each, without printing the module."""

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import NoReturn

from xdsl.dialects.builtin import ArrayOfConstraint, DenseArrayBase, ModuleOp, StringAttr
from xdsl.ir import Attribute, IRNode, Operation
from xdsl.irdl import AttrConstraint, BaseAttr, IRDLOperation, RangeOf, VerificationContext
from xdsl.utils.diagnostic import Diagnostic
from xdsl.utils.exceptions import VerifyException

from nki_mlir.diagnostics import NkiError, internal_error, one_line
from nki_mlir.dialects.locations import place_of


def _raise_quietly(self: Diagnostic, ir: IRNode, underlying_error: Exception) -> NoReturn:
    if operation_of(underlying_error) is None:
        setattr(underlying_error, "operation", next(iter(self.op_messages), None))  # noqa: B010
    raise underlying_error


@contextmanager
def quiet_diagnostics() -> Generator[None]:
    """While this holds, an error of xDSL remembers its op in place of printing the whole module."""
    saved = Diagnostic.raise_exception
    Diagnostic.raise_exception = _raise_quietly
    try:
        yield
    finally:
        Diagnostic.raise_exception = saved


def operation_of(error: BaseException) -> Operation | None:
    """Returns the op at which an error was raised under `quiet_diagnostics`, if it is known."""
    return getattr(error, "operation", None)


def op_error(op: Operation, message: str) -> NkiError:
    """Returns the error `'dialect.op' op message` at the op's place."""
    text = one_line(message).removeprefix(f"Operation {op.name} ").removeprefix(f"'{op.name}' ")
    return NkiError(f"'{op.name}' op {text}", place_of(op.location))


def verify_module(module: ModuleOp) -> None:
    """Raises an ExceptionGroup of NkiErrors, in the order of the text, if anything in the module does not verify."""
    errors: dict[Operation, NkiError] = {}
    unforeseen: NkiError | None = None
    with quiet_diagnostics():
        for op in _inner_first(module):
            try:
                op.verify(verify_nested_ops=False)
                if op.attributes:
                    _verify_attributes(op)
                for region in op.regions:
                    for block in region.blocks:
                        if block.is_empty:
                            block.verify()
            except VerifyException as error:
                about = _redefinition(op, error) or operation_of(error) or op
                wrong = _wrong_property(op) if about is op else None
                errors.setdefault(about, op_error(about, wrong or str(error)))
            except NkiError as error:
                errors[op] = error if error.location else op_error(op, str(error))
            except Exception as error:
                if type(error) is Exception:  # some verifiers of xDSL's dialects raise nothing more specific
                    errors.setdefault(op, op_error(op, str(error)))
                    continue
                # A verifier may rely on the ops around and inside its own; when those are wrong, theirs is the error.
                if unforeseen is None:
                    unforeseen = internal_error(error, place_of(op.location), f"in the verifier of '{op.name}'")
                    unforeseen.__cause__ = error
    if errors:
        in_order = [errors[op] for op in module.walk() if op in errors]
        raise ExceptionGroup("the module does not verify", in_order)
    if unforeseen is not None:
        raise unforeseen


def _redefinition(op: Operation, error: VerifyException) -> Operation | None:
    """Returns the op inside of a symbol table that takes a name for the second time, of which xDSL blames the table."""
    if "Redefinition of symbol" not in str(error):
        return None
    seen: set[Attribute] = set()
    for inner in op.regions[0].block.ops:
        name = inner.get_attr_or_prop("sym_name")
        if isinstance(name, StringAttr):
            if name in seen:
                return inner
            seen.add(name)
    return None


def _verify_attributes(op: Operation) -> None:
    """Raises `VerifyException` for an attribute that has the name of a property: no text could show both as one."""
    if isinstance(op, IRDLOperation) and op.dialect_name() in _OWN:
        defined = op.get_irdl_definition().properties
        for name in op.attributes:
            if name in defined:
                raise VerifyException(f"has '{name}' among its attributes, where it is a property")


_OWN = ("penguin", "klr", "bir")


def _inner_first(module: ModuleOp) -> Iterator[Operation]:
    """Yields all ops of a module, those without regions first, then the others, each behind those inside of it."""
    outer_first: list[Operation] = [module]
    for holder in outer_first:
        for region in holder.regions:
            for block in region.blocks:
                op = block.first_op
                while op is not None:
                    if op.regions:
                        outer_first.append(op)
                    else:
                        yield op
                    op = op.next_op
    yield from reversed(outer_first)


def _wrong_property(op: Operation) -> str | None:
    """Returns what is wrong with a property that cannot be what it is; xDSL's own message does not tell its name."""
    if not isinstance(op, IRDLOperation):
        return None
    for name, definition in op.get_irdl_definition().properties.items():
        held = op.properties.get(name)
        if held is None:
            continue
        try:
            definition.constr.verify(held, VerificationContext())
        except VerifyException as error:
            expected = _expected(definition.constr)
            return f"property '{name}' " + (f"must be {expected}, got {held}" if expected else f"is wrong: {error}")
    return None


def _expected(constraint: AttrConstraint[Attribute]) -> str | None:
    """Returns how messages call the attributes that a constraint admits, where there is a word for them."""
    match constraint:
        case BaseAttr(attr) if "." in attr.name:
            return f"#{attr.name}<…>"
        case BaseAttr(attr):
            name = "dense array" if attr is DenseArrayBase else attr.name
            return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"
        case ArrayOfConstraint(RangeOf(constr)) if member := _expected(constr):
            return f"an array, each member {member}"
        case _:
            return None

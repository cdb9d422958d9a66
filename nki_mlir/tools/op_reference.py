"""Writes the op reference: what every dialect, instruction, enum and pass of the code says of itself.

python -m nki_mlir.tools.op_reference [DIR]
"""

import argparse
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from inspect import cleandoc
from pathlib import Path
from typing import Any

from xdsl.ir import Dialect, Operation
from xdsl.irdl import IRDLOperation, OptPropertyDef
from xdsl.passes import ModulePass

from nki_mlir.dialects import get_all_dialects
from nki_mlir.dialects.attributes import EnumAttr
from nki_mlir.dialects.instruction import COMMON_PROPERTIES, InstructionOp, Role
from nki_mlir.isa.dtypes import Dtype
from nki_mlir.isa.enums import ActivationFunction, AluOp, Published
from nki_mlir.isa.instructions import INSTRUCTIONS, Instruction
from nki_mlir.isa.rules import Rule
from nki_mlir.transforms import get_all_passes

NOTE = "<!-- Made by `python -m nki_mlir.tools.op_reference`; do not edit. -->\n"
DIALECTS = ("nki", "penguin", "klr", "bir")
ALTERNATIVES: Mapping[str, tuple[str, ...]] = {
    "penguin.tensor_scalar_ptr": ("tensor_scalar", "scalar_tensor_tensor"),
    "bir.tensor_scalar_ptr": ("tensor_scalar", "scalar_tensor_tensor"),
    "bir.tensor_reduce": ("tensor_reduce", "partition_reduce"),
}
"""Ops that stand for one or the other instruction, by their parameters."""


def main(argv: Sequence[str] | None = None) -> int:
    """Writes the pages, or compares them; returns the exit status."""
    parser = argparse.ArgumentParser(description="Writes the op reference.")
    parser.add_argument("directory", nargs="?", default="docs/reference", type=Path)
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a page is not current")
    arguments = parser.parse_args(argv)
    directory: Path = arguments.directory
    if arguments.check:
        stale = [name for name, text in pages().items() if not _is_current(directory / name, text)]
        for name in stale:
            print(f"{directory / name} is not current")
        return int(bool(stale))
    directory.mkdir(parents=True, exist_ok=True)
    for name, text in pages().items():
        (directory / name).write_text(text, encoding="utf-8")
    return 0


def _is_current(page: Path, text: str) -> bool:
    return page.is_file() and page.read_text(encoding="utf-8") == text


def pages() -> dict[str, str]:
    """Returns the text of each page by its file name."""
    dialects = {dialect.name: dialect for dialect in (load() for load in get_all_dialects().values())}
    made = {f"{name}.md": _page(_dialect(dialects[name])) for name in DIALECTS}
    return {
        "README.md": _page(_contents(dialects)),
        "instructions.md": _page(_instructions()),
        "enums.md": _page(_enums()),
        "passes.md": _page(_passes()),
        **made,
    }


def _page(parts: Iterable[str]) -> str:
    return "\n\n".join([NOTE + next(it := iter(parts)), *it]) + "\n"


def _table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(str(cell).replace("|", "\\|") for cell in line) + " |" for line in lines)


def _doc(of: object) -> str:
    return cleandoc(of.__doc__ or "")


def _code(names: Iterable[object]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _contents(dialects: Mapping[str, Dialect]) -> Iterator[str]:
    yield "# Reference"
    rows = [[f"[{n}]({n}.md)", len(list(dialects[n].operations)), len(list(dialects[n].attributes))] for n in DIALECTS]
    yield _table(["dialect", "ops", "types and attributes"], rows)
    yield (
        f"- [instructions.md](instructions.md): the {len(INSTRUCTIONS)} instructions of the hardware, with the rules"
        " that verifiers check\n"
        "- [enums.md](enums.md): types, operators, functions and all other words of the text\n"
        "- [passes.md](passes.md): passes and their options"
    )


# Dialects -------------------------------------------------------------------------------------------------------


def _dialect(dialect: Dialect) -> Iterator[str]:
    yield f"# The `{dialect.name}` dialect"
    for attribute in dialect.attributes:
        yield f"## `{attribute.name}`"
        if issubclass(attribute, EnumAttr):
            yield f"One of {_code(attribute.ENUM)}: see [enums](enums.md#{attribute.ENUM.__name__.lower()})."
        else:
            yield _doc(attribute)
    for op in dialect.operations:
        yield from _op(op)


def _op(op: type[Operation]) -> Iterator[str]:
    yield f"## `{op.name}`"
    if op.__doc__:
        yield _doc(op)
    assert issubclass(op, IRDLOperation)
    if issubclass(op, InstructionOp):
        yield from _instruction_op(op)
        return
    rows = [
        [f"`{name}`", "" if isinstance(part, OptPropertyDef) else "yes"]
        for name, part in op.get_irdl_definition().properties.items()
    ]
    if rows:
        yield _table(["property", "required"], rows)


def _instruction_op(op: type[InstructionOp]) -> Iterator[str]:
    names = ALTERNATIVES.get(op.name) or (() if op.ISA is None else (op.ISA.name,))
    facts = [] if op.OPCODE is None else [f"Number {op.OPCODE}."]
    if names:
        facts.append("Instruction " + " or ".join(f"[{name}](instructions.md#{name})" for name in names) + ".")
    if facts:
        yield " ".join(facts)
    if op.ROLES:
        yield _table(["operand", "group", "required", "may be"], map(_role, op.ROLES))
    words = {name: (attribute, optional) for name, attribute, optional in op.INLINE}
    roles = {role.name for role in op.ROLES}
    rows: list[list[str]] = []
    for name, part in op.get_irdl_definition().properties.items():
        if name in roles or name in COMMON_PROPERTIES:
            continue
        place = "after the op's name" if name in words or name in op.FLAGS else "in the dictionary"
        rows.append([f"`{name}`", "" if isinstance(part, OptPropertyDef) else "yes", place])
    if rows:
        yield _table(["parameter", "required", "where it stands"], rows)


def _role(role: Role) -> list[str]:
    name = f"`{role.name}`" + (" …" if role.variadic else "")
    return [name, f"`{role.group}`", "" if role.optional else "yes", " or ".join(sorted(role.kinds, reverse=True))]


# Instructions ---------------------------------------------------------------------------------------------------


def _instructions() -> Iterator[str]:
    yield "# Instructions"
    yield (
        "What the dialects' ops stand for. Every instruction op of every dialect checks the rules of its instruction;"
        " an error cites the rule in brackets. Without a target a rule holds if the newest generation has it."
    )
    users: dict[str, list[str]] = {}
    for load in get_all_dialects().values():
        for op in load().operations:
            if issubclass(op, InstructionOp) and op.ISA is not None:
                for name in ALTERNATIVES.get(op.name, (op.ISA.name,)):
                    users.setdefault(name, []).append(op.name)
    for instruction in INSTRUCTIONS.values():
        yield from _instruction(instruction, users.get(instruction.name, []))


def _instruction(instruction: Instruction, users: Sequence[str]) -> Iterator[str]:
    yield f"## {instruction.name}"
    yield f"`{instruction.summary}`"
    facts = [f"- engines: {_code(sorted(instruction.engines))}"]
    roles = instruction.roles.split()
    facts.append(
        f"- writes: {_code(roles[: instruction.outs])}; reads: {_code(roles[instruction.outs :]) or 'nothing'}"
    )
    if instruction.parameters:
        facts.append(f"- parameters: {_code(instruction.parameters)}")
    if instruction.since is not None:
        facts.append(f"- from {instruction.since} on")
    if users:
        facts.append(f"- ops: {_code(users)}")
    yield "\n".join(facts)
    yield _table(["rule", "statement", "targets", "source"], map(_rule, instruction.rules))


def _rule(rule: Rule) -> list[str]:
    targets = [f"from {rule.since}"] if rule.since is not None else []
    if rule.before is not None:
        targets.append(f"before {rule.before}")
    return [rule.identifier, rule.statement, " ".join(targets), rule.source]


# Enums ----------------------------------------------------------------------------------------------------------


def _enums() -> Iterator[str]:
    yield "# Enums"
    yield (
        "The text of each word in the IRs, its number in BIR and in a KLR file, its BIR-JSON name and the names of the"
        " API. An empty cell: nothing is published."
    )
    for enum in sorted(_subclasses(Published), key=lambda enum: enum.__name__):
        yield f"## {enum.__name__}"
        yield _doc(enum)
        yield _table(["text", *_COLUMNS, *_more(enum)], map(_member, enum))


_COLUMNS = ("number", "bir", "klr", "api")


def _subclasses(enum: type[Published]) -> Iterator[type[Published]]:
    for found in enum.__subclasses__():
        yield found
        yield from _subclasses(found)


def _more(enum: type[Published]) -> tuple[str, ...]:
    if enum is Dtype:
        return ("bytes", "since")
    return ("since", "can be computed") if enum in (AluOp, ActivationFunction) else ()


def _member(member: Published) -> Sequence[object]:
    common = [getattr(member, column) for column in _COLUMNS[:3]]
    cells = [f"`{member}`", *("" if cell is None else cell for cell in common), _code(member.api)]
    if isinstance(member, Dtype):
        return [*cells, member.size, member.since]
    if isinstance(member, AluOp | ActivationFunction):
        return [*cells, member.since, "yes" if member.has_meaning else "no"]
    return cells


# Passes ---------------------------------------------------------------------------------------------------------


def _passes() -> Iterator[str]:
    yield "# Passes"
    yield "Those that nki-mlir adds; `nki-opt --list-passes` lists xDSL's too."
    for name, load in sorted(get_all_passes().items()):
        pass_class: Any = load()
        assert issubclass(pass_class, ModulePass)
        yield f"## `{name}`"
        yield _doc(pass_class)
        rows = [[f"`{field.name.replace('_', '-')}`", f"`{field.default!r}`"] for field in fields(pass_class)]
        if rows:
            yield _table(["option", "default"], rows)


if __name__ == "__main__":
    sys.exit(main())

"""The `for` statement that a range is iterated by, found in the source of the code that runs.

The source is only read: it tells whether a loop may be rolled at all, and which names its body reads from the iteration
before.
"""

import ast
import functools
import itertools
import linecache
import opcode
from collections.abc import Callable, Iterable
from types import CodeType, FrameType
from typing import Any, NamedTuple


class ForStatement(NamedTuple):
    """A `for` statement of the user's: where it is, the name of its variable if there is one, and the live-in names."""

    code: CodeType
    lines: range
    target: str
    live_in: tuple[str, ...]


def for_statement(frame: FrameType) -> ForStatement | None:
    """The `for` statement for which `frame` is about to take an iterator; None if it does anything else.

    The instruction at work must be GET_ITER, which comprehensions share, and its source range that of a `for` statement
    (Python 3.11) or of what one iterates over (later). Built-in functions that iterate, unpacking and `iter()` show
    another instruction.
    """
    code = frame.f_code
    key = (id(code), frame.f_lasti)
    found = _statements.get(key)
    if found is None:
        found = (_find(code, frame.f_lasti, frame.f_globals), code)
        _statements[key] = found
    return found[0]


# By id of the code object and offset of the instruction; each entry keeps its code object alive.
_statements: dict[tuple[int, int], tuple[ForStatement | None, CodeType]] = {}
_GET_ITER: int = opcode.opmap["GET_ITER"]
_GENERATORS = 0x20 | 0x80 | 0x200  # CO_GENERATOR, CO_COROUTINE, CO_ASYNC_GENERATOR


def _find(code: CodeType, offset: int, namespace: dict[str, Any]) -> ForStatement | None:
    # A generator's state is in a frame that the code running the loop does not see.
    if code.co_flags & _GENERATORS or code.co_code[offset] != _GET_ITER:
        return None
    position = next(itertools.islice(code.co_positions(), offset // 2, None), None)
    if position is None or None in position:
        return None
    lines = linecache.getlines(code.co_filename, namespace)
    statement = _loops_of(tuple(lines)).get(position)
    if statement is None:
        return None
    target = statement.target.id if isinstance(statement.target, ast.Name) else ""
    lines = range(statement.lineno, (statement.end_lineno or statement.lineno) + 1)
    live = _live_in(statement)
    if _looks_up(statement):
        live.update(code.co_varnames, code.co_cellvars, code.co_freevars)
        live.discard(target)
    return ForStatement(code, lines, target, tuple(sorted(live)))


_LOOKUPS = {"locals", "vars", "dir", "eval", "exec", "_getframe", "currentframe", "f_locals", "f_back"}


def _looks_up(statement: ast.For) -> bool:
    """Whether the body may read names that are not written in it: through `locals()`, `eval` or its frame."""
    return any(
        getattr(node, "id" if isinstance(node, ast.Name) else "attr", None) in _LOOKUPS
        for node in ast.walk(statement)
        if isinstance(node, ast.Name | ast.Attribute)
    )


@functools.lru_cache(64)
def _loops_of(lines: tuple[str, ...]) -> dict[tuple[int | None, ...], ast.For]:
    """The `for` statements of a source text, by their own range and by that of what they iterate over."""
    try:
        tree = ast.parse("".join(lines))
    except SyntaxError:  # the text is not that of the code that runs
        return {}
    found: dict[tuple[int | None, ...], ast.For] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.For):
            found[_range(node)] = node
            if not isinstance(node.iter, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
                found[_range(node.iter)] = node
    return found


def _range(node: ast.stmt | ast.expr) -> tuple[int | None, ...]:
    return node.lineno, node.end_lineno, node.col_offset, node.end_col_offset


# Names that are live into the body


def _live_in(statement: ast.For) -> set[str]:
    names = _Names()
    names.assign(statement.target)
    names.block(statement.body)
    return names.live


class _Names(ast.NodeVisitor):
    """Walks statements in the order of execution: `assigned` are the names surely assigned so far.

    After a statement that leaves the block (`continue`, `return` …), nothing more is read: `assigned` is None.
    Functions defined in the body count as reading their names where they are defined.
    """

    def __init__(self) -> None:
        self.assigned: set[str] | None = set()
        self.live: set[str] = set()

    def block(self, statements: Iterable[ast.stmt]) -> None:
        for statement in statements:
            if self.assigned is None:
                return
            self.visit(statement)

    def read(self, name: str) -> None:
        if self.assigned is not None and name not in self.assigned:
            self.live.add(name)

    def assign(self, target: ast.expr) -> None:
        for node in ast.walk(target):
            if isinstance(node, ast.Name):
                if isinstance(node.ctx, ast.Store):
                    self.bind(node.id)
                else:
                    self.read(node.id)

    def bind(self, name: str | None) -> None:
        if self.assigned is not None and name is not None:
            self.assigned.add(name)

    def branches(self, *branches: Callable[[], None]) -> None:
        """Runs alternatives: surely assigned is what all of them assign that go on."""
        before = self.assigned
        ends: list[set[str] | None] = []
        for branch in branches:
            self.assigned = None if before is None else set(before)
            branch()
            ends.append(self.assigned)
        going = [end for end in ends if end is not None]
        self.assigned = set[str].intersection(*going) if going else None

    def aside(self, branch: Callable[[], None]) -> None:
        """Runs what may not happen: it reads, but assigns nothing surely."""
        before = self.assigned
        self.assigned = None if before is None else set(before)
        branch()
        self.assigned = before

    # Expressions

    def visit_Name(self, node: ast.Name) -> None:
        self.read(node.id)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        self.visit(node.value)
        self.assign(node.target)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        self.visit(node.values[0])

        def rest() -> None:
            for value in node.values[1:]:
                self.visit(value)

        self.aside(rest)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self.visit(node.test)
        self.aside(lambda: self.visit(node.body))
        self.aside(lambda: self.visit(node.orelse))

    def _comprehension(self, node: Any) -> None:
        def inside() -> None:
            for generator in node.generators:
                self.visit(generator.iter)
                self.assign(generator.target)
                for condition in generator.ifs:
                    self.visit(condition)
            for part in ("key", "value", "elt"):
                if hasattr(node, part):
                    self.visit(getattr(node, part))

        self.aside(inside)

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension

    def _function(self, node: Any) -> None:
        for default in (*node.args.defaults, *node.args.kw_defaults, *getattr(node, "decorator_list", ())):
            if default is not None:
                self.visit(default)

        def inside() -> None:
            arguments = node.args
            for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
                self.bind(argument.arg)
            for argument in (arguments.vararg, arguments.kwarg):
                self.bind(argument.arg if argument is not None else None)
            if isinstance(node, ast.Lambda):
                self.visit(node.body)
            else:
                self.block(node.body)

        self.aside(inside)
        self.bind(getattr(node, "name", None))

    visit_Lambda = visit_FunctionDef = visit_AsyncFunctionDef = _function

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        for expression in (*node.decorator_list, *node.bases, *(keyword.value for keyword in node.keywords)):
            self.visit(expression)
        self.aside(lambda: self.block(node.body))
        self.bind(node.name)

    # Statements

    def visit_Assign(self, node: ast.Assign) -> None:
        self.visit(node.value)
        for target in node.targets:
            self.assign(target)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)
            self.assign(node.target)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        for part in ast.walk(node.target):
            if isinstance(part, ast.Name):
                self.read(part.id)
        self.visit(node.value)
        self.assign(node.target)

    def visit_Delete(self, node: ast.Delete) -> None:
        for target in node.targets:
            if isinstance(target, ast.Name):
                self.read(target.id)
                if self.assigned is not None:
                    self.assigned.discard(target.id)
            else:
                self.visit(target)

    def visit_Import(self, node: ast.Import | ast.ImportFrom) -> None:
        for alias in node.names:
            self.bind(alias.asname or alias.name.partition(".")[0])

    visit_ImportFrom = visit_Import

    def visit_If(self, node: ast.If) -> None:
        self.visit(node.test)
        self.branches(lambda: self.block(node.body), lambda: self.block(node.orelse))

    def visit_For(self, node: ast.For) -> None:
        self.visit(node.iter)

        def body() -> None:
            self.assign(node.target)
            self.block(node.body)

        self.aside(body)
        self.aside(lambda: self.block(node.orelse))

    def visit_While(self, node: ast.While) -> None:
        self.visit(node.test)
        self.aside(lambda: self.block(node.body))
        self.aside(lambda: self.block(node.orelse))

    def visit_Try(self, node: Any) -> None:
        def passes() -> None:
            self.block(node.body)
            self.block(node.orelse)

        def handler(each: Any) -> None:
            if each.type is not None:
                self.visit(each.type)
            self.bind(each.name)
            self.block(each.body)

        # A handler and the final block may start anywhere in the body, so they know what was assigned before it.
        self.aside(lambda: self.block(node.finalbody))
        self.branches(passes, *(functools.partial(handler, each) for each in node.handlers))
        self.block(node.finalbody)

    visit_TryStar = visit_Try

    def visit_With(self, node: ast.With) -> None:
        for item in node.items:
            self.visit(item.context_expr)
            if item.optional_vars is not None:
                self.assign(item.optional_vars)
        # A manager that swallows an exception makes later names uncertain. Very few do, and the names of a block that
        # is left early keep their objects, so the block counts as run to its end.
        self.block(node.body)

    def visit_Match(self, node: ast.Match) -> None:
        self.visit(node.subject)

        def case(each: ast.match_case) -> None:
            for part in ast.walk(each.pattern):
                if isinstance(part, ast.MatchAs | ast.MatchStar):
                    self.bind(part.name)
                elif isinstance(part, ast.MatchMapping):
                    self.bind(part.rest)
                elif isinstance(part, ast.Name):
                    self.read(part.id)
            if each.guard is not None:
                self.visit(each.guard)
            self.block(each.body)

        self.branches(*(functools.partial(case, each) for each in node.cases), lambda: None)

    def _leave(self, node: ast.stmt) -> None:
        self.generic_visit(node)
        self.assigned = None

    visit_Return = visit_Raise = visit_Break = visit_Continue = _leave

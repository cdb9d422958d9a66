"""Pass pipelines as nki-opt's command line spells them: `-p`, `--pass-pipeline`, or a flag a pass."""

import re
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from shutil import which
from typing import TypeVar, get_type_hints

from xdsl.passes import ModulePass, get_pass_option_infos
from xdsl.utils.arg_spec import ArgSpec, ArgSpecConvertible, SpecTokenKind, parse_pipeline, parse_spec
from xdsl.utils.exceptions import ArgSpecParseError
from xdsl.utils.hints import isa, type_repr
from xdsl.utils.lexer import Input, Span, Token

from nki_mlir.diagnostics import NkiError
from nki_mlir.tools.common import closest

AvailablePasses = Mapping[str, Callable[[], type[ModulePass]]]
_TOO_LONG = re.compile(r"[0-9]{4301,}")  # Python's limit for conversion from text
OptionedT = TypeVar("OptionedT", bound=ArgSpecConvertible)


def take_pass_flags(argv: Sequence[str], passes: AvailablePasses) -> tuple[list[str], str]:
    """Returns the arguments without those that name a pass, and the pipeline that these make in their order.

    `--unroll --allocate='base=64 reverse=true'` is `unroll,allocate{base=64 reverse=true}`; one dash will do.
    """
    others: list[str] = []
    pipeline: list[str] = []
    for number, argument in enumerate(argv):
        if argument == "--":
            return [*others, *argv[number:]], ",".join(pipeline)
        name, equals, options = argument.removeprefix("-").removeprefix("-").partition("=")
        if argument.startswith("-") and name in passes:
            pipeline.append(f"{name}{{{options}}}" if equals and options else name)
        else:
            others.append(argument)
    return others, ",".join(pipeline)


def pipeline_of_mlir(text: str) -> str:
    """Translates `builtin.module(a,b{x=1})`, as mlir-opt spells pipelines; NkiError for any other nesting."""
    match = re.fullmatch(r"\s*(?:builtin\.module|any)\s*\((.*)\)\s*", text, re.DOTALL)
    if match is None:
        raise NkiError(f"--pass-pipeline expects 'builtin.module(…)', got '{text}'")
    outside = re.split(r"(\{[^{}]*\}|\[[^\[\]]*\])", match[1])
    for part in outside[::2]:
        if nested := re.search(r"([\w.-]+)\s*\(", part):
            raise NkiError(f"--pass-pipeline expects passes on builtin.module only, got '{nested[1]}(…)' in '{text}'")
    outside[::2] = [re.sub(r"\s+", "", part) for part in outside[::2]]
    outside[1::2] = [f"{part[0]}{part[1:-1].strip()}{part[-1]}" for part in outside[1::2]]
    return "".join(outside)


def reproducer_line(pipeline: str) -> str:
    """Returns the line of a reproducer that names the passes to run."""
    return f"// configuration: --pass-pipeline='builtin.module({pipeline})'"


def pipeline_of_reproducer(text: str) -> str:
    """Returns the pipeline that the first line of a reproducer names; NkiError if there is none."""
    match = re.match(r"// configuration: --pass-pipeline='(.*)'\s*$", text, re.MULTILINE)
    if match is None:
        expected = reproducer_line("…")
        raise NkiError(f"--run-reproducer expects a file that begins with the line `{expected}`")
    return pipeline_of_mlir(match[1])


def make_passes(text: str, passes: AvailablePasses) -> tuple[ModulePass, ...]:
    """Returns the passes of a pipeline; NkiError for wrong syntax, an unknown pass, and a wrong option."""
    with _spelling(text):
        specs = list(parse_pipeline(text))
        if text.endswith(","):
            end = Token(SpecTokenKind.EOF, Span(len(text), len(text) + 1, Input(text, "")))
            raise ArgSpecParseError(end, "Expected pass name here")
    return tuple(_available(made("pass", spec, passes[known_pass(spec.name, passes)])) for spec in specs)


def _available(one: ModulePass) -> ModulePass:
    """Returns a pass; NkiError if it calls a program that is not there."""
    executable: str | None = getattr(one, "executable", None)
    if executable is not None and which(executable) is None:
        raise NkiError(f"pass '{one.name}' is not available: there is no program '{executable}'")
    return one


def checked_spec(text: str) -> str:
    """Returns the spelling of a target or frontend; NkiError if it is none."""
    with _spelling(text):
        parse_spec(text)
    return text


@contextmanager
def _spelling(text: str) -> Generator[None]:
    """Turns what xDSL says about the spelling of passes, targets and frontends into an NkiError."""
    try:
        yield
    except ArgSpecParseError as error:
        raise _spec_error(error) from error
    except ValueError as error:
        number = _TOO_LONG.search(text)
        if number is None:
            raise
        raise NkiError(f"an integer of {len(number[0])} digits is too large") from error


def _spec_error(error: ArgSpecParseError) -> NkiError:
    # Its text is a headline, the place, the spelling, carets, and what is wrong.
    _, _, spelling, carets, message = str(error).rstrip("\n").split("\n")
    wrong = message.strip().removesuffix(" here")
    rest = spelling[len(carets) - len(carets.lstrip()) :]
    found = f"'{rest[0]}'" if rest else "the end"
    return NkiError(f"{wrong[0].lower()}{wrong[1:]}, got {found}\n  {spelling}\n  {carets.rstrip()}")


def known_pass(name: str, passes: AvailablePasses) -> str:
    """Returns the name; NkiError with a close name if there is no such pass."""
    if name not in passes:
        raise NkiError(f"unknown pass '{name}'{closest(name, passes)}")
    return name


def made(kind: str, spec: ArgSpec, factory: Callable[[], type[OptionedT]]) -> OptionedT:
    """Returns the pass, target or frontend that a spelling asks for; NkiError for a wrong option."""
    one = f"{kind} '{spec.name}'"
    try:
        cls = factory()
    except ImportError as error:
        raise NkiError(f"{one} is not available: {error}") from error
    options = [field.name for field in fields(cls) if field.name != "name"]
    types = get_type_hints(cls)
    given = spec.normalize_parameter_names().parameters
    for key, value in given.items():
        shown = key.replace("_", "-")
        if key not in options:
            near = closest(shown, (name.replace("_", "-") for name in options))
            raise NkiError(f"{one} has no option '{shown}'{near}")
        # A single value may stand for itself; an option without a value is None, or not complete.
        single = len(value) == 1 and isa(value[0], types[key])
        expected = type_repr(types[key])
        truth = any(isinstance(part, bool) for part in value)  # which Python takes for an integer
        fits = single or isa(value, types[key]) or (not value and isa(None, types[key]))
        if not fits or (truth and "bool" not in expected):
            got = ",".join(str(part).lower() if isinstance(part, bool) else str(part) for part in value) or "nothing"
            raise NkiError(f"option '{shown}' of {one} expects {expected}, got {got}")
    for key in sorted(cls.required_fields() - given.keys() - {"name"}):
        raise NkiError(f"{one} needs the option '{key.replace('_', '-')}' ({type_repr(types[key])})")
    try:
        return cls.from_spec(spec)
    except ValueError as error:
        raise NkiError(f"{one}: {error}") from error


def describe_passes(passes: AvailablePasses) -> str:
    """Returns a listing of passes, each with the first line of its docstring and its options."""
    lines: list[str] = []
    for name in sorted(passes):
        lines.append(name)
        try:
            cls = passes[name]()
        except ImportError as error:
            lines.append(f"    (not available: {error})")
            continue
        summary = (cls.__doc__ or "").strip().partition("\n")[0]
        if summary and not summary.startswith(f"{cls.__name__}("):  # a dataclass's own
            lines.append(f"    {summary}")
        for option in get_pass_option_infos(cls):
            default = "" if option.default_value is None else f" = {option.default_value}"
            lines.append(f"    {option.name.replace('_', '-')}: {option.expected_type}{default}")
    return "".join(f"{line}\n" for line in lines)

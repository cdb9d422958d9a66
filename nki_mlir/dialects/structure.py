"""What the three dialects share of structure: storage, registers, loops, functions, modules."""

from collections.abc import Container, Mapping
from typing import Any, cast

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, StringAttr, i64
from xdsl.dialects.builtin import ModuleOp as BuiltinModuleOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.irdl import IRDLOperation, base, operand_def, opt_prop_def, prop_def, region_def, result_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import (
    EffectInstance,
    HasParent,
    MemoryEffect,
    MemoryEffectKind,
    NoTerminator,
    RecursiveMemoryEffect,
)
from xdsl.utils.exceptions import VerifyException

from nki_mlir.dialects import rawtext
from nki_mlir.dialects.affine import ExprSyntaxError
from nki_mlir.dialects.attributes import (
    IV,
    REG,
    ArchAttr,
    LoopKindAttr,
    MemType,
    RegisterType,
    TensorKindAttr,
)
from nki_mlir.dialects.dominance import IsolatedFunction, verify_dominance
from nki_mlir.dialects.places import HoldsInstructions, InsideFunction, blame, verify_distinct, verify_names
from nki_mlir.isa.enums import LoopKind, MemorySpace, TensorKind
from nki_mlir.isa.target import TARGETS, Target

PARTITIONS = 128
LARGEST_TENSOR = 1 << 32
LARGEST_INTEGER = 1 << 63
"""Signed integers of 64 bits are below this."""
UNPLACED = -1
"""In a list of placements: this block has no place yet."""


class AllocateEffect(MemoryEffect):
    """The op allocates its result. What a caller sees of it counts as written, so that nothing removes it unused."""

    @classmethod
    def get_effects(cls, op: Operation) -> set[EffectInstance]:
        found = {EffectInstance(MemoryEffectKind.ALLOC, op.results[0])}
        if isinstance(op, StorageOp) and op.is_external:
            found.add(EffectInstance(MemoryEffectKind.WRITE, op.results[0]))
        return found


def read_string(parser: Parser, what: str) -> str:
    """Reads a string literal."""
    return parser.parse_str_literal(f" of {what}")


def read_dictionary(
    parser: Parser, op: type[IRDLOperation], inline: Container[str], *, keyword: bool = False
) -> tuple[dict[str, Attribute], dict[str, Attribute]]:
    """Reads `{…}`, or `attributes {…}`, if it is there; returns what of it are properties of the op, and the rest.

    The properties `inline` have their place before the dictionary and must not stand in it as well.
    """
    properties: dict[str, Attribute] = {}
    attributes: dict[str, Attribute] = {}
    if keyword and not parser.parse_optional_keyword("attributes"):
        return properties, attributes
    start = rawtext.position(parser)
    if keyword and rawtext.next_character(parser) != "{":
        parser.raise_error("Expected attribute dictionary after 'attributes'")
    defined = op.get_irdl_definition().properties
    for key, value in parser.parse_optional_attr_dict().items():
        if key in defined and key in inline:
            rawtext.fail_at_entry(parser, start, key, op.name)
        (properties if key in defined else attributes)[key] = value
    return properties, attributes


def read_attributes(parser: Parser, op: type[IRDLOperation]) -> Mapping[str, Attribute]:
    """Reads `attributes {…}`, if it is there, of an op whose properties all have their place before it."""
    return read_dictionary(parser, op, op.get_irdl_definition().properties, keyword=True)[1]


def read_integer(parser: Parser, *, allow_negative: bool = True) -> int:
    """Reads an integer of 64 bits."""
    start = parser.pos
    value = parser.parse_integer(allow_boolean=False, allow_negative=allow_negative)
    if not -LARGEST_INTEGER <= value < LARGEST_INTEGER:
        parser.raise_error(f"expected an integer of 64 bits, got {value}", start)
    return value


def read_word(parser: Parser, attribute: type[Any]) -> Any:
    """Reads one word that names a member of an enum attribute."""
    start = parser.pos
    word = parser.parse_identifier()
    try:
        return attribute.read(word)
    except ExprSyntaxError as error:
        parser.raise_error(str(error), start, start + len(word))


class StorageOp(IRDLOperation):
    """A named storage: a logical tensor in Penguin, a tensor with an optional address in KLR, a memory location set in
    BIR. Blocks of a block tensor are placed one by one.

        %a = bir.tensor "a" kind external_input : !nki.mem<hbm 512x512xf32>
        %t = bir.tensor "t" at <0, 0>, <0, 2048> : !nki.mem<sbuf 128x512xf32, blocks 2>

    A place is <first partition, byte address inside a partition> on chip, <0, byte address> in HBM, and <> for a block
    that has none yet. What comes from outside, or goes there, is in HBM.
    """

    storage = result_def(MemType)
    sym = prop_def(StringAttr, prop_name="name")
    kind = opt_prop_def(base(TensorKindAttr))
    places = opt_prop_def(DenseArrayBase.constr(i64))

    traits = traits_def(AllocateEffect(), InsideFunction())

    @property
    def mem(self) -> MemType:
        """The storage's type."""
        return cast(MemType, self.results[0].type)

    @property
    def tensor_kind(self) -> TensorKind:
        """What the tensor is to the outside; internal unless said otherwise."""
        return TensorKind.INTERNAL if self.kind is None else self.kind.data

    @property
    def is_external(self) -> bool:
        """Whether the caller provides the tensor's contents, or reads them."""
        kind = self.tensor_kind
        return kind.is_input or kind.is_output

    def placements(self) -> list[tuple[int, int] | None]:
        """Returns (first partition, byte address) of each block, None where it has no place."""
        if self.places is None:
            return [None] * self.mem.blocks
        flat = self.places.get_values()
        pairs = zip(flat[::2], flat[1::2], strict=False)
        return [None if partition == UNPLACED else (partition, address) for partition, address in pairs]

    def placement(self, block: int) -> tuple[int, int] | None:
        """Returns the place of a block, or None."""
        places = self.properties.get("places")
        if places is None:
            return None
        known: Any = vars(self).get("_known")
        if known is None or known[0] is not places:
            of_integers = getattr(places, "elt_type", None) == i64
            known = vars(self)["_known"] = places, self.placements() if of_integers else []
        placements = known[1]
        return placements[block] if 0 <= block < len(placements) else None

    def place(self, placements: list[tuple[int, int] | None]) -> None:
        """Sets the places of all blocks."""
        flat = [figure for place in placements for figure in (place or (UNPLACED, 0))]
        self.properties["places"] = DenseArrayBase.from_list(i64, flat)

    def verify_(self) -> None:
        mem = self.mem
        if self.places is not None and len(self.places) != 2 * mem.blocks:
            raise VerifyException(f"expected a place for each block ({mem.blocks}), got {len(self.places) // 2}")
        if not mem.on_chip and mem.row_bytes >= LARGEST_TENSOR:
            raise VerifyException(f"a tensor has {mem.row_bytes} bytes, it must have less than 4 GiB [BIR156]")
        if mem.on_chip and mem.partitions > PARTITIONS:
            name = self.sym.data
            raise VerifyException(f"'{name}' has {mem.partitions} partitions, {mem.space} has {PARTITIONS} [X-PMAX]")
        if mem.on_chip and self.is_external:
            raise VerifyException(f"'{self.sym.data}' is {self.tensor_kind} and in {mem.space}, it must be in hbm")
        limit = self._partition_bytes() if mem.on_chip else None
        places = [(0, 0)] if self.places is None else [place for place in self.placements() if place is not None]
        for partition, address in places:
            if partition < 0 or address < 0:
                raise VerifyException(f"a place cannot be negative, got <{partition}, {address}>")
            if limit is None:
                if partition:
                    raise VerifyException(f"a place in {mem.space} has no partition, got <{partition}, {address}>")
                continue
            if partition + mem.partitions > PARTITIONS:
                what = f"{mem.partitions} partitions from partition {partition}"
                raise VerifyException(f"{what} do not fit in {PARTITIONS} partitions [X-PMAX]")
            if address + mem.row_bytes > limit:
                where = f" from byte {address}" if address else ""
                raise VerifyException(
                    f"{mem.row_bytes} bytes a partition{where} do not fit in the {limit} of {mem.space} [X-FMAX]"
                )

    def _partition_bytes(self) -> int:
        """Returns the bytes of a partition of the storage's memory on the target, else on the largest one."""
        from nki_mlir.dialects.operands import target_of

        target = target_of(self) or max(TARGETS)
        return target.psum_partition_bytes if self.mem.space is MemorySpace.PSUM else target.sbuf_partition_bytes

    @classmethod
    def parse(cls, parser: Parser) -> "StorageOp":
        properties: dict[str, Attribute] = {"name": StringAttr(read_string(parser, "the storage's name"))}
        if parser.parse_optional_keyword("kind"):
            properties["kind"] = read_word(parser, TensorKindAttr)
        if parser.parse_optional_keyword("at"):
            flat = parser.parse_comma_separated_list(parser.Delimiter.NONE, lambda: _parse_place(parser))
            properties["places"] = DenseArrayBase.from_list(i64, [figure for place in flat for figure in place])
        others, attributes = read_dictionary(parser, cls, _INLINE_OF_STORAGE)
        properties |= others
        parser.parse_punctuation(":")
        type_position = parser.pos
        mem = parser.parse_type()
        if not isinstance(mem, MemType):
            parser.raise_error("the type of a storage must be !nki.mem<…>", type_position)
        return cls.create(result_types=[mem], properties=properties, attributes=attributes)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_string_literal(self.sym.data)
        if self.kind is not None:
            printer.print_string(f" kind {self.kind.data}")
        if self.places is not None:
            shown = ("<>" if place is None else f"<{place[0]}, {place[1]}>" for place in self.placements())
            printer.print_string(" at " + ", ".join(shown))
        shown = {k: v for k, v in self.properties.items() if k not in _INLINE_OF_STORAGE} | self.attributes
        if shown:
            printer.print_string(" ")
            printer.print_attr_dict(shown)
        printer.print_string(" : ")
        printer.print_attribute(self.mem)


_INLINE_OF_STORAGE = frozenset({"name", "kind", "places"})
"""The properties of storage that its text has outside of the dictionary."""


def _parse_place(parser: Parser) -> tuple[int, int]:
    parser.parse_punctuation("<")
    if parser.parse_optional_punctuation(">"):
        return UNPLACED, 0
    partition = read_integer(parser, allow_negative=False)
    parser.parse_punctuation(",")
    address = read_integer(parser, allow_negative=False)
    parser.parse_punctuation(">")
    return partition, address


class RegisterOp(IRDLOperation):
    """A named register: storage of one integer. `%r = bir.register "reg.1"`."""

    register = result_def(RegisterType)
    sym = prop_def(StringAttr, prop_name="name")

    traits = traits_def(AllocateEffect(), InsideFunction())

    @classmethod
    def parse(cls, parser: Parser) -> "RegisterOp":
        name = StringAttr(read_string(parser, "the register's name"))
        _, attributes = read_dictionary(parser, cls, ("name",))
        return cls.create(result_types=[REG], properties={"name": name}, attributes=attributes)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_string_literal(self.sym.data)
        if self.attributes:
            printer.print_string(" ")
            printer.print_attr_dict(self.attributes)


def verify_step(step: int) -> None:
    """Raises `VerifyException` for a step that gets nowhere."""
    if step <= 0:
        raise VerifyException(f"the step of a loop must be positive, got {step}")


def verify_variable(body: Region) -> None:
    """Raises `VerifyException` if the body of a loop does not begin with the loop variable."""
    if [argument.type for argument in body.block.args] != [IV]:
        raise VerifyException("the body of a loop has one argument, the loop variable of type !nki.iv")


def verify_no_arguments(body: Region) -> None:
    """Raises `VerifyException` if a block has arguments: only loops give values to what is inside them."""
    for block in body.blocks:
        if block.args:
            raise VerifyException(f"its blocks have no arguments, got one of type {block.args[0].type}")


class WhileOp(IRDLOperation):
    """Runs its body, then again while the register is not 0: `bir.do_while %r { … }`."""

    condition = operand_def(RegisterType)
    body = region_def("single_block")

    traits = traits_def(NoTerminator(), RecursiveMemoryEffect(), InsideFunction(), HoldsInstructions())

    def verify_(self) -> None:
        verify_no_arguments(self.body)

    @classmethod
    def parse(cls, parser: Parser) -> "WhileOp":
        condition = parser.resolve_operand(parser.parse_unresolved_operand(), RegisterType())
        attributes = read_attributes(parser, cls)
        return cls.create(operands=[condition], attributes=attributes, regions=[parser.parse_region([])])

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.condition)
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body, print_empty_block=False)


Bounds = range
"""The values of a loop variable; `LoopOp.range` hides the built-in name inside the class."""


class LoopOp(IRDLOperation):
    """A counted loop whose region's argument is the loop variable: `bir.loop %i = 0 to 4 step 1 affine { … }`.

    The kind says what iterations may assume of each other; all kinds run in ascending order when simulated.
    """

    lower = prop_def(IntegerAttr.constr(i64))
    upper = prop_def(IntegerAttr.constr(i64))
    step = prop_def(IntegerAttr.constr(i64))
    kind = prop_def(base(LoopKindAttr))
    body = region_def("single_block")

    traits = traits_def(NoTerminator(), RecursiveMemoryEffect(), InsideFunction(), HoldsInstructions())

    @property
    def variable(self) -> SSAValue:
        """The loop variable."""
        return self.body.block.args[0]

    def range(self) -> "Bounds":
        """Returns the values of the loop variable in order: none of a loop that does not verify, for the instructions
        inside it are verified before it.
        """
        get = self.properties.get
        bounds = get("lower"), get("upper"), get("step")
        known: Any = vars(self).get("_known")
        if known is None or known[0] is not bounds[0] or known[1] is not bounds[1] or known[2] is not bounds[2]:
            lower, upper, step = (_integer(bound) if isinstance(bound, IntegerAttr) else 0 for bound in bounds)
            known = vars(self)["_known"] = (*bounds, range(lower, upper, step) if step else range(0))
        return known[3]

    @property
    def trip_count(self) -> int:
        """The number of iterations, which `len` of a range does not give beyond 63 bits."""
        values = self.range()
        return max(0, -((values.start - values.stop) // values.step))

    def interval(self) -> tuple[int, int] | None:
        """Returns the lowest and highest value of the loop variable, or None for a loop that never runs."""
        values = self.range()
        return (values[0], values[-1]) if values else None

    def verify_(self) -> None:
        verify_step(_integer(self.step))
        verify_variable(self.body)

    @classmethod
    def build_loop(cls, bounds: "Bounds", kind: LoopKind, body: Block, location: Any = None) -> "LoopOp":
        """Returns the loop over `bounds` whose body block has the loop variable as its one argument."""
        properties: dict[str, Attribute] = {
            "lower": IntegerAttr(bounds.start, i64),
            "upper": IntegerAttr(bounds.stop, i64),
            "step": IntegerAttr(bounds.step, i64),
            "kind": LoopKindAttr(kind),
        }
        return cls.create(properties=properties, regions=[Region(body)], location=location)

    @classmethod
    def parse(cls, parser: Parser) -> "LoopOp":
        variable = parser.parse_argument(expect_type=False)
        parser.parse_punctuation("=")
        lower = read_integer(parser)
        parser.parse_keyword("to")
        upper = read_integer(parser)
        step = read_integer(parser) if parser.parse_optional_keyword("step") else 1
        kind = read_word(parser, LoopKindAttr)
        attributes = read_attributes(parser, cls)
        body = parser.parse_region([variable.resolve(IV)])
        properties: dict[str, Attribute] = {
            "lower": IntegerAttr(lower, i64),
            "upper": IntegerAttr(upper, i64),
            "step": IntegerAttr(step, i64),
            "kind": kind,
        }
        return cls.create(properties=properties, attributes=attributes, regions=[body])

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.variable)
        lower, upper, step = (_integer(bound) for bound in (self.lower, self.upper, self.step))
        printer.print_string(f" = {lower} to {upper} step {step} {self.kind.data}")
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False, print_empty_block=False)


def _integer(attribute: Any) -> int:
    return attribute.value.data


class NoTerminatorIfSingleBlock(NoTerminator):
    """A region of one block needs no terminator; several blocks need one each, which xDSL checks for all ops."""

    def verify(self, op: Operation) -> None:
        """Allows regions of several blocks, unlike `NoTerminator`."""


class SymbolRegionOp(IRDLOperation):
    """Base of ops that are a name, an attribute dictionary and a body: modules, functions, kernels.

    bir.func @sg0000 attributes {core = 0 : i64} { … }
    """

    sym_name = prop_def(StringAttr)
    arch = opt_prop_def(base(ArchAttr))
    body = region_def()

    traits = traits_def(NoTerminatorIfSingleBlock(), RecursiveMemoryEffect())

    def verify_(self) -> None:
        verify_no_arguments(self.body)

    @property
    def target(self) -> Target | None:
        """The target the op names itself."""
        return None if self.arch is None else self.arch.data

    @classmethod
    def parse(cls, parser: Parser) -> "SymbolRegionOp":
        name = parser.parse_symbol_name()
        properties, attributes = read_dictionary(parser, cls, ("sym_name",), keyword=True)
        properties["sym_name"] = name
        body = parser.parse_region()
        if not body.blocks:
            body.add_block(Block())
        return cls.create(properties=properties, attributes=attributes, regions=[body])

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name)
        shown = {k: v for k, v in self.properties.items() if k != "sym_name"} | dict(self.attributes)
        if shown:
            printer.print_string(" attributes ")
            printer.print_attr_dict(shown)
        printer.print_string(" ")
        printer.print_region(self.body, print_empty_block=False)


class ModuleOp(SymbolRegionOp):
    """Base of modules: the functions of one kernel, one a core."""

    traits = traits_def(HasParent(BuiltinModuleOp))

    def verify_(self) -> None:
        super().verify_()
        functions = [op for op in self.body.ops if isinstance(op, FunctionOp)]
        verify_distinct(functions)
        verify_names(functions)


class FunctionOp(SymbolRegionOp):
    """Base of functions and kernels, which see no value from outside of them."""

    traits = traits_def(IsolatedFunction())

    def verify_(self) -> None:
        super().verify_()
        entry = self.body.blocks.first
        for block in self.body.blocks:
            if block.last_op is not None and entry in block.last_op.successors:
                blame(block.last_op, f"goes to the first block of the '{self.name}' op, which no branch may do")
        verify_dominance(self)

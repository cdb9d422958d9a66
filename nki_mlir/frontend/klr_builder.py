"""KlrBuilder: the builder of the beta2 front end; flat, with the names and expansions of the KLR tracer.

A kernel is one block, but for its `no_reorder` regions, each of which is a block of its own. Source: KLR reference,
§1.3.
"""

from collections.abc import Mapping, Sequence
from typing import ClassVar, cast

from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, ModuleOp, StringAttr, i64
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from nki_mlir.dialects.access import Access, AccessFields, Pair
from nki_mlir.dialects.attributes import (
    AluOpAttr,
    ArchAttr,
    BranchCompareOpAttr,
    DtypeAttr,
    EngineAttr,
    Immediate,
    MemFields,
    MemType,
    PatternAttr,
    PatternFields,
)
from nki_mlir.dialects.blocks import block_of
from nki_mlir.dialects.instruction import Given, build
from nki_mlir.dialects.klr import operators, structure
from nki_mlir.frontend.builder import UNIT, Builder, Program, hint, location_of
from nki_mlir.frontend.naming import Names
from nki_mlir.frontend.records import Loop, Record, Scope
from nki_mlir.frontend.storage import Encoded
from nki_mlir.frontend.tensors import Storage
from nki_mlir.isa.dtypes import Dtype
from nki_mlir.isa.enums import AluOp, BranchCompareOp, Engine, MemorySpace
from nki_mlir.isa.target import Target

WITHOUT_DTYPE = frozenset({"matmul", "dma_load", "dma_save", "dma_copy", "tensor_copy"})
"""Operators whose record has no dtype, or for which the tracer leaves it out."""


class KlrBuilder(Builder):
    """Creates KLR ops; every loop is unrolled already."""

    TENSOR = structure.TensorOp
    OPS: ClassVar = {
        "memset": operators.MemSetOp,
        "dma_load": operators.NcDmaCopyOp,
        "dma_save": operators.NcDmaCopyOp,
        "dma_copy": operators.NcDmaCopyOp,
        "tensor_copy": operators.NcCopyOp,
        "tensor_tensor": operators.TensorTensorOp,
        "tensor_scalar": operators.TensorScalarOp,
        "scalar_tensor_tensor": operators.NcScalarTensorTensorOp,
        "reciprocal": operators.ReciprocalOp,
        "activation": operators.NcActivateOp,
        "activation_reduce": operators.ActivationReduceOp,
        "tensor_reduce": operators.TensorReduceOp,
        "partition_reduce": operators.TensorPartitionReduceOp,
        "bn_stats": operators.BatchNormStatsOp,
        "bn_aggr": operators.BatchNormAggregateOp,
        "iota": operators.IotaOp,
        "affine_select": operators.NcAffineSelectOp,
        "select": operators.SelectReduceOp,
        "copy_predicated": operators.CopyPredicatedOp,
        "matmul": operators.NcMatMulOp,
        "transpose": operators.TransposeOp,
    }

    def __init__(self, program: Program) -> None:
        super().__init__(program)
        self.blocks: dict[tuple[Storage, int], SSAValue] = {}
        self.identities: dict[Dtype, SSAValue] = {}
        self.declared: list[Operation] = []
        self.ended: list[tuple[bool, list[Operation]]] = []
        """Blocks that have ended: whether they keep the order of their statements, and these."""
        self.in_order = False
        """Whether the statements that come now are to keep their order."""

    # KLR has no block tensors: each block is a tensor of its own.

    def allocate(self, loop: Loop | None) -> None:
        for allocation in self.scoped.get(loop, ()):
            mem = allocation.mem
            single = MemType(mem.data._replace(blocks=1))
            for block in range(mem.blocks):
                op = self.tensor(allocation)
                if mem.blocks > 1:
                    op.properties["name"] = StringAttr(f"{allocation.name}.b{block}")
                    op = self.TENSOR.create(result_types=[single], properties=op.properties)
                op.results[0].name_hint = hint(allocation.name if mem.blocks == 1 else f"{allocation.name}.b{block}")
                self.blocks[allocation, block] = op.results[0]
                if block == 0:
                    self.storages[allocation] = op.results[0]
                self.ops.append(op)

    def access(self, storage: Storage, encoded: Encoded) -> Given | None:
        access, variables, _ = encoded
        if variables:
            numbers = [self.values[variable] for variable in variables]
            resolved, _ = access.at(lambda k: cast(int, numbers[k]))
            assert resolved is not None, "a record whose mask leaves nothing is not recorded"
            access = resolved
        block = cast(int, access.data.block)
        if block == 0:
            return Given(access, self.storages[storage])
        return Given(Access(access.data._replace(block=0)), self.blocks[storage, block])

    def loop_op(self, loop: Loop, body: Block) -> Operation:
        raise AssertionError("the KLR path traces with loops unrolled")

    # Blocks: the last statement of each but the last one goes on to the next, as whoever reads the file expects of
    # regions that keep their order. Those are one level deep: a region inside of another is part of it.

    def scope(self, scope: Scope) -> None:
        if scope.kind != "no_reorder" or self.in_order:
            self.nodes(scope.body)
            return
        self.end_block()
        self.in_order = True
        self.nodes(scope.body)
        self.end_block()
        self.in_order = False

    def end_block(self) -> None:
        """Ends the block of the statements so far, if there are any; it goes on after a region without statements."""
        self.declared += [op for op in self.ops if type(op) is structure.TensorOp]
        statements = [op for op in self.ops if type(op) is not structure.TensorOp]
        if self.ended and not (self.in_order or self.ended[-1][0]):
            self.ended[-1][1].extend(statements)
        elif statements:
            self.ended.append((self.in_order, statements))
        self.ops = []

    def body(self, core: int) -> structure.BodyOp:
        """Returns the body with all of the program: its tensors, then its blocks.

        Labels and branches have numbers of one counter, as the tracer's.
        """
        self.run()
        self.end_block()
        if not self.ended or self.ended[-1][0]:  # a region that keeps its order has to go on somewhere
            self.ended.append((False, []))
        made: list[Operation] = []
        label = "main.1"
        for number, (in_order, statements) in enumerate(self.ended, 1):
            properties: dict[str, Attribute] = {"label": StringAttr(label)}
            if in_order:
                properties["no_reorder"] = UNIT
            if number < len(self.ended):
                label = f"label.{2 * number}"
                statements.append(self.jump(f"jmp.{2 * number + 1}", label, statements[-1]))
            made.append(structure.BlockOp.create(properties=properties, regions=[Region(block_of(statements))]))
        region = Region(Block([*self.declared, *made]))
        return structure.BodyOp.create(properties={"core": IntegerAttr(core, i64)}, regions=[region])

    def jump(self, name: str, label: str, after: Operation) -> Operation:
        """Returns the branch to a block, which stands where the statement before it does."""
        properties: dict[str, Attribute] = {
            "name": self.unique(name),
            "comp_op": BranchCompareOpAttr(BranchCompareOp.ALWAYS),
            "true_label": StringAttr(label),
        }
        return structure.CmpBranchOp.create(properties=properties, location=after.location)

    def emit(
        self,
        isa: str,
        roles: Mapping[str, Given | None],
        properties: dict[str, Attribute],
        record: Record,
        when: Given | None = None,
    ) -> None:
        if isa == "transpose" and properties.get("engine") == EngineAttr(Engine.PE):
            self.transpose(roles, record)
            return
        if isa == "activation" and "accumulate" in properties and "reduce_res" in record.roles:
            isa = "activation_reduce"
        if isa not in WITHOUT_DTYPE:
            properties["dtype"] = DtypeAttr(record.roles["dst"].element)
        super().emit(isa, roles, properties, record, when)

    def transpose(self, roles: Mapping[str, Given | None], record: Record) -> None:
        """Expands a transpose on the Tensor engine into a matmul against an identity, as the KLR tracer does.

        The data is the stationary operand and one identity a type serves the whole kernel, where KLR's tracer makes a
        new one each time and gives it as the stationary operand.
        """
        data = cast(Given, roles["data"])
        access = cast(Access, data.pattern)
        dtype = access.data.dtype
        partitions = cast(int, access.partitions)
        identity = self.identities.get(dtype)
        if identity is None:
            identity = self.identities[dtype] = self.identity(dtype, record)
        square = Access(AccessFields(0, 0, (Pair(1, partitions),), 0, (Pair(1, partitions),), dtype))
        moved = {"dst": roles["dst"], "stationary": data, "moving": Given(square, identity)}
        super().emit("matmul", moved, {"is_transpose": UNIT, "is_moving_onezero": UNIT}, record)

    def identity(self, dtype: Dtype, record: Record) -> SSAValue:
        """Creates a 128 x 128 identity: zeros, then 1 where partition and element are equal."""
        mem = MemType(MemFields(MemorySpace.SBUF, (128, 128), dtype))
        names = Names({allocation.name for allocation in self.program.allocations})
        name = names.unique(f"identity_{dtype}", numbered=False)
        op = self.TENSOR.create(result_types=[mem], properties={"name": StringAttr(name)})
        op.results[0].name_hint = name
        tile = Given(mem.whole(), op.results[0])
        location = location_of(record.location)
        held: dict[str, Attribute] = {"dtype": DtypeAttr(dtype)}
        zero = Given(Immediate.of(0.0, Dtype.F32))
        memset = build(
            self.OPS["memset"],
            {"dst": tile, "value": zero},
            {**held, "name": self.unique(f"memset_id.{dtype}")},
            location=location,
        )
        select = build(
            self.OPS["affine_select"],
            {"dst": tile, "on_true": tile, "on_false": Given(Immediate.of(1.0, Dtype.F32))},
            {
                **held,
                "name": self.unique(f"affsel_id.{dtype}"),
                "pattern": PatternAttr(PatternFields(((1, 128),))),
                "channel_multiplier": IntegerAttr(-1, i64),
                "cmp_op": AluOpAttr(AluOp.NOT_EQUAL),
            },
            location=location,
        )
        self.ops += [op, memset, select]
        return op.results[0]


def build_klr(name: str, programs: Sequence[Program], target: Target) -> ModuleOp:
    """Returns a builtin module with the KLR kernel of a trace, one body a program."""
    bodies = [KlrBuilder(program).body(core) for core, program in enumerate(programs)]
    first = programs[0]
    properties: dict[str, Attribute] = {
        "sym_name": StringAttr(name),
        "arch": ArchAttr(target),
        "inputs": ArrayAttr([StringAttr(a.name) for a in first.inputs]),
        "outputs": ArrayAttr([StringAttr(a.name) for a in first.outputs]),
    }
    return ModuleOp([structure.KernelOp.create(properties=properties, regions=[Region(Block(bodies))])])

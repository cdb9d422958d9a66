"""PenguinBuilder: the forward builder of the beta3 front end (the seeds' NeuronCodegen)."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from xdsl.dialects.builtin import IntegerAttr, ModuleOp, StringAttr, UnitAttr, i64
from xdsl.ir import Attribute, Block, Operation, Region

from nki_mlir.dialects.attributes import ArchAttr
from nki_mlir.dialects.blocks import block_of
from nki_mlir.dialects.instruction import Given
from nki_mlir.dialects.penguin import compute, memory, structure, tensor_engine
from nki_mlir.frontend.builder import LOOP_KINDS, Builder, Program
from nki_mlir.frontend.records import Loop, Record, Scope
from nki_mlir.isa.target import Target


class PenguinBuilder(Builder):
    """Creates Penguin ops; loops stay loops."""

    TENSOR = structure.TensorOp
    OPS: ClassVar = {
        "memset": memory.MemsetOp,
        "dma_load": memory.SBAtomLoad,
        "dma_save": memory.SBAtomStore,
        "dma_copy": memory.DMACopyOp,
        "tensor_copy": memory.TensorCopyOp,
        "tensor_tensor": compute.TensorTensorOp,
        "tensor_scalar": compute.TensorScalarPtrOp,
        "scalar_tensor_tensor": compute.TensorScalarPtrOp,
        "reciprocal": compute.ReciprocalOp,
        "activation": compute.ActivationOp,
        "activation_accumulation": compute.ActivationAccumulationOp,
        "tensor_reduce": compute.TensorReduceOp,
        "partition_reduce": compute.PartitionReduceOp,
        "bn_stats": compute.SundaBNStats,
        "bn_aggr": compute.SundaBNAggr,
        "iota": compute.IndexValueInst,
        "affine_select": compute.AffSelTensorScalarOp,
        "select": compute.TensorSelect,
        "copy_predicated": compute.TensorCopyPredicated,
        "matmul": tensor_engine.MatMulOp,
        "transpose": tensor_engine.TransposeOp,
    }

    def loop_op(self, loop: Loop, body: Block) -> Operation:
        return structure.LoopOp.build_loop(range(*loop.bounds), LOOP_KINDS[loop.kind], body)

    def scope(self, scope: Scope) -> None:
        outer, self.ops = self.ops, []
        self.nodes(scope.body)
        body = block_of(self.ops)
        self.ops = outer
        properties: dict[str, Attribute] = {"label": StringAttr(scope.kind)}
        if scope.kind == "no_reorder":
            properties["no_reorder"] = UnitAttr()
        if "multi_buffer" in scope.attributes:
            properties["multi_buffer"] = IntegerAttr(scope.attributes["multi_buffer"], i64)
        self.ops.append(structure.ScopeOp.create(properties=properties, regions=[Region(body)]))

    def emit(
        self,
        isa: str,
        roles: Mapping[str, Given | None],
        properties: dict[str, Attribute],
        record: Record,
        when: Given | None = None,
    ) -> None:
        properties.pop("priority", None)  # Penguin's transfers have none
        if isa != "dma_copy":
            properties.pop("oob_mode", None)  # those from HBM to the chip and back have none either
        if isa == "scalar_tensor_tensor":
            properties["is_scalar_tensor_tensor"] = UnitAttr()
        elif isa == "activation" and "accumulate" in properties:
            isa = "activation_accumulation"
        super().emit(isa, roles, properties, record, when)


def build_penguin(name: str, programs: Sequence[Program], target: Target) -> ModuleOp:
    """Returns a builtin module with the Penguin module of a kernel, one function a program."""
    functions: list[Operation] = []
    for core, program in enumerate(programs):
        properties: dict[str, Attribute] = {"sym_name": StringAttr(name if len(programs) == 1 else f"{name}_{core}")}
        if len(programs) > 1:
            properties["core"] = IntegerAttr(core, i64)
        block = block_of(PenguinBuilder(program).run())
        functions.append(structure.FuncOp.create(properties=properties, regions=[Region(block)]))
    properties = {"sym_name": StringAttr(name), "arch": ArchAttr(target)}
    return ModuleOp([structure.ModuleOp.create(properties=properties, regions=[Region(Block(functions))])])

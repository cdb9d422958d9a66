"""Moving and filling memory: memset, DMA copies, copies on chip."""

from typing import Any

from nki_mlir.isa.dtypes import Dtype
from nki_mlir.isa.enums import DgeType, Engine, MemorySpace
from nki_mlir.isa.instructions.base import (
    MINIMUM_CYCLES,
    Array,
    Evaluation,
    Instruction,
    Run,
    by_element,
    elements,
    fp32,
    free_of,
    half,
    like,
)
from nki_mlir.isa.numerics import constant, writer
from nki_mlir.isa.operands import Operands
from nki_mlir.isa.rules import (
    HBM,
    Aligned,
    DistinctDestination,
    DmaCast,
    EngineSince,
    ImmediateFits,
    InMemory,
    InsideStorage,
    NotInPsumOn,
    OpOnEngines,
    PackedCopy,
    PartitionLimit,
    Rule,
    SameCount,
    SameFree,
    SamePartitions,
    SinceValue,
    ValueIn,
    destinations,
    on_chip,
)
from nki_mlir.isa.target import CAYMAN, CORE_V4, Target

HWDGE_ENGINES = frozenset({Engine.DMA, Engine.SP, Engine.ACT})
SWDGE_ENGINES = frozenset({Engine.DMA, Engine.POOL})
SMALL = frozenset(d for d in Dtype if d.size < 4)


def _memset(e: Evaluation) -> Run:
    dtype = e.dtypes["dst"]

    def run(dst: Array, value: Any) -> None:
        dst[...] = constant(dtype, value)

    return run


def _memset_cycles(operands: Operands, target: Target) -> int:
    free, dst, value = free_of(operands, "dst"), operands.one("dst"), operands.one("value")
    zero = value is not None and value.immediate == 0
    fast = dst is not None and dst.dtype in (Dtype.BF16, Dtype.F16) and zero
    return max(MINIMUM_CYCLES, half(free) if fast else free)


MEMSET = Instruction(
    "memset",
    "dst = value in every element",
    engines=frozenset({Engine.DVE, Engine.POOL}),
    roles="dst value",
    outs=1,
    parameters=("engine",),
    rules=(
        *on_chip("dst"),
        *destinations("dst", psum=SMALL),
        NotInPsumOn(engine=Engine.POOL, roles=("dst",)),
        ImmediateFits(immediate="value", role="dst"),
    ),
    evaluate=_memset,
    cycles=_memset_cycles,
)


def copy_or_cast(e: Evaluation, source: str, *, exact: bool = True) -> Run:
    """Returns the copy of `source` to dst in element order: bit by bit for equal types, through fp32 otherwise.

    Without `exact` equal types go through fp32 too.
    """
    if exact and e.dtypes["dst"] is e.dtypes[source]:

        def copy(dst: Array, src: Array) -> None:
            dst[...] = like(dst, src)

        return copy
    write = writer(e.dtypes["dst"])

    def cast(dst: Array, src: Array) -> None:
        write(dst, fp32(like(dst, src)))

    return cast


def _tensor_copy(e: Evaluation) -> Run:
    """The Scalar engine of trn1 copies through fp32 (nki-isa.md §2.5)."""
    return copy_or_cast(e, "src", exact=e.engine is not Engine.ACT or e.target >= CAYMAN)


SCALAR_COPY = (EngineSince(engine=Engine.ACT, first=CAYMAN, source="NKI ISA reference, §2.15"),)
"""What holds in the current API; the older one has copies on the Scalar engine of trn1."""
TENSOR_COPY = Instruction(
    "tensor_copy",
    "dst = src, cast through fp32 when the types differ",
    engines=frozenset({Engine.DVE, Engine.ACT, Engine.POOL}),
    roles="dst src",
    outs=1,
    parameters=("engine",),
    rules=(
        *on_chip("dst", "src"),
        *destinations("dst", psum=SMALL),
        SamePartitions(roles=("dst", "src")),
        SameFree(roles=("dst", "src")),
        PackedCopy(roles=("dst", "src")),
        NotInPsumOn(engine=Engine.POOL, roles=("dst", "src")),
    ),
    evaluate=_tensor_copy,
    cycles=elements("src"),
    spread=by_element,
)


def _dma_rules(dst: tuple[MemorySpace, ...], src: tuple[MemorySpace, ...]) -> tuple[Rule, ...]:
    return (
        InMemory(roles=("dst",), spaces=dst, id="X-DMAMEM"),
        InMemory(roles=("src",), spaces=src, id="X-DMAMEM"),
        PartitionLimit(roles=("dst", "src")),
        InsideStorage(roles=("dst", "src")),
        Aligned(roles=("dst", "src")),
        DistinctDestination(roles=("dst",)),
        SameCount(roles=("dst", "src")),
        DmaCast(roles=("dst", "src")),
        SinceValue(parameter="dge_type", value=DgeType.HWDGE, first=CAYMAN, id="X-HWDGE"),
        OpOnEngines(parameter="dge_type", ops=frozenset({DgeType.HWDGE}), engines=HWDGE_ENGINES, id="X-HWDGE"),
        OpOnEngines(parameter="dge_type", ops=frozenset({DgeType.SWDGE}), engines=SWDGE_ENGINES, id="X-SWDGE"),
    )


def _dma_cycles(operands: Operands, target: Target) -> int:
    """Returns DMA time in cycles of 1 ns: fixed latency plus bytes over the rate of all engines (nki-isa.md §1.8)."""
    dst = operands.one("dst")
    size = 0 if dst is None or dst.count is None else dst.count * dst.dtype.size
    return round(target.dma_fixed_ns + size / (target.dma_bytes_per_ns * target.dma_engines))


def _dma(
    name: str, summary: str, dst: tuple[MemorySpace, ...], src: tuple[MemorySpace, ...], *more: Rule
) -> Instruction:
    return Instruction(
        name,
        summary,
        engines=frozenset({Engine.DMA, Engine.SP, Engine.ACT, Engine.POOL}),
        roles="dst src",
        outs=1,
        parameters=("dge_type", "priority", "engine"),
        rules=(*_dma_rules(dst, src), *more),
        evaluate=lambda e: copy_or_cast(e, "src"),
        cycles=_dma_cycles,
        spread=by_element,
    )


ON_CHIP = (MemorySpace.SBUF, MemorySpace.PSUM)
DMA_LOAD = _dma("dma_load", "DMA from HBM to the chip: dst = src", ON_CHIP, HBM)
DMA_SAVE = _dma("dma_save", "DMA from the chip to HBM: dst = src", HBM, ON_CHIP)
PRIORITY = (
    ValueIn(parameter="priority", values=(0, 1, 2, 3), id="X-PRIORITY"),
    SinceValue(parameter="priority", value=None, first=CORE_V4, id="X-PRIORITY"),
)
"""What holds for the priority of a transfer's queue, which only the op for any two memories has."""
DMA_COPY = _dma("dma_copy", "DMA between any two memories: dst = src", (*HBM, *ON_CHIP), (*HBM, *ON_CHIP), *PRIORITY)

"""The Tensor engine's matmul, and transposes on the Tensor and Vector engines."""

from collections.abc import Mapping
from typing import Any, cast

from nki_mlir.diagnostics import NkiError
from nki_mlir.isa.dtypes import Dtype
from nki_mlir.isa.enums import Engine, MatmultPerfMode, MemorySpace
from nki_mlir.isa.instructions.base import MINIMUM_CYCLES, Array, Evaluation, Instruction, Run, Spread, fp32, free_of
from nki_mlir.isa.lazy import numpy as np
from nki_mlir.isa.numerics import writer
from nki_mlir.isa.operands import Operand, Operands
from nki_mlir.isa.rules import (
    InOnePsumBank,
    Limit,
    Rule,
    SameDtype,
    SinceValue,
    Together,
    destinations,
    limit_at,
    on_chip,
)
from nki_mlir.isa.rules.base import any_of
from nki_mlir.isa.target import CAYMAN, CORE_V4, SUNDA, Target

FP8 = frozenset({Dtype.F8E4, Dtype.F8E5, Dtype.F8E3})
INPUTS = FP8 | {Dtype.BF16, Dtype.F16, Dtype.F32, Dtype.F32R, Dtype.I8, Dtype.U8}
WIDE = frozenset({Dtype.F32, Dtype.F32R})
SMALL = frozenset(d for d in Dtype if d.size < 4)
FP32_PASSES = 4
"""A matmul of fp32 inputs takes four passes (nki-isa.md §1.6)."""


class MatmulShape(Rule):
    """stationary [K, M], moving [K, N], dst [M, N]; in transpose mode one operand is the identity."""

    ID = "BIR041"

    @property
    def statement(self) -> str:
        return "stationary [K, M] and moving [K, N] give dst [M, N]; with is_transpose one of them is an identity"

    def check(self, operands: Operands, target: Target | None) -> str | None:
        dst, stationary, moving = (operands.one(role) for role in ("dst", "stationary", "moving"))
        if dst is None or stationary is None or moving is None:
            return None
        rows = 2 if operands.parameters.get("perf_mode") is MatmultPerfMode.DOUBLE_ROW else 1
        m, n, k0, m0, k1, n1 = (size or 0 for operand in (dst, stationary, moving) for size in _shape(operand))
        if 0 in (m, n, k0, m0, k1, n1):  # a size that a mask leaves open
            return None
        if k0 == k1 and (m, n) == (m0 // rows, n1 // rows):
            return None
        if operands.parameters.get("is_transpose") and k0 == m0 and (m, n) == (n1, k1):
            return None
        if k0 != k1:
            return f"stationary accesses {k0} partitions, moving accesses {k1}"
        return (
            f"dst is [{m}, {n}], but stationary [{k0}, {m0}] and moving [{k1}, {n1}] give [{m0 // rows}, {n1 // rows}]"
        )


def _shape(operand: Operand) -> tuple[int | None, int | None]:
    return operand.partitions, operand.free


TILE_SIZES = (32, 64, 128)


class TileSize(Rule):
    """Columns of an input; in double-row mode its free size is twice that. A bf16 result may allow more."""

    ID = "BIR039"
    role: str
    at_most: int | Limit
    bf16: int | Limit | None = None

    @property
    def statement(self) -> str:
        return f"{self.role} may have at most {limit_at(self.at_most, None)} columns"

    def check(self, operands: Operands, target: Target | None) -> str | None:
        operand, dst = operands.one(self.role), operands.one("dst")
        if operand is None or operand.free is None:
            return None
        rows = 2 if operands.parameters.get("perf_mode") is MatmultPerfMode.DOUBLE_ROW else 1
        wide = self.bf16 is not None and dst is not None and dst.dtype is Dtype.BF16
        limit = rows * limit_at(self.bf16 if wide and self.bf16 is not None else self.at_most, target)
        if operand.free <= limit:
            return None
        return f"{self.role} has {operand.free} elements a partition, at most {limit} allowed"


class InputDtype(Rule):
    """What the Tensor engine multiplies. Transpose mode only moves data, of any type; before gen3 it multiplies too."""

    ID = "X-MMDT"
    source: str = "NKI ISA reference, §2.3 (nc_matmul, nc_transpose)"

    @property
    def statement(self) -> str:
        return (
            f"stationary and moving must be of type {any_of(sorted(INPUTS))}, from gen4 on also f8e4m3fn; with "
            "is_transpose from gen3 on any type"
        )

    def check(self, operands: Operands, target: Target | None) -> str | None:
        if operands.parameters.get("is_transpose") and (target is None or target >= CAYMAN):
            return None
        allowed = INPUTS | {Dtype.F8E4M3FN} if target is None or target >= CORE_V4 else INPUTS
        for role in ("stationary", "moving"):
            operand = operands.one(role)
            if operand is not None and operand.dtype not in allowed:
                return f"{role} is of type {operand.dtype}, it must be {any_of(sorted(allowed))}"
        return None


class EqualWidths(Rule):
    """32-bit inputs pair only with 32-bit inputs, and the two e4m3 formats never meet."""

    ID = "BIR034"

    @property
    def statement(self) -> str:
        return "stationary and moving must both be 32-bit types or both narrower; f8e4 does not pair with f8e4m3fn"

    def check(self, operands: Operands, target: Target | None) -> str | None:
        stationary, moving = operands.one("stationary"), operands.one("moving")
        if stationary is None or moving is None:
            return None
        a, b = stationary.dtype, moving.dtype
        if (a in WIDE) != (b in WIDE):
            return f"stationary is of type {a} and moving of type {b}, 32-bit types pair only with each other"
        if {a, b} == {Dtype.F8E4, Dtype.F8E4M3FN}:
            return f"stationary is of type {a} and moving of type {b}, the two e4m3 formats do not mix"
        return None


class ResultDtype(Rule):
    """PSUM gets fp32 (from gen4 on also bf16); in transpose mode, which gen2 does not have, the type of the data."""

    ID = "BIR032"
    transpose: bool

    @property
    def statement(self) -> str:
        if self.transpose:
            return "dst must have the type of the inputs with is_transpose (fp8: a 2-byte type)"
        return "dst must be f32, from gen4 on also bf16; on gen2 with is_transpose too"

    def check(self, operands: Operands, target: Target | None) -> str | None:
        dst, stationary = operands.one("dst"), operands.one("stationary")
        moves = bool(operands.parameters.get("is_transpose")) and (target is None or target >= CAYMAN)
        if dst is None or stationary is None or moves != self.transpose:
            return None
        if self.transpose:
            fine = dst.dtype is stationary.dtype or (stationary.dtype.is_fp8 and dst.dtype.size == 2)
            return None if fine else f"dst is of type {dst.dtype}, transposing {stationary.dtype} needs the same type"
        bf16 = target is None or target >= CORE_V4
        if dst.dtype is Dtype.F32 or (bf16 and dst.dtype is Dtype.BF16):
            return None
        return f"dst is of type {dst.dtype}, a matmul writes {'f32 or bf16' if bf16 else 'f32'}"


class TransposeStart(Rule):
    """In transpose mode the result starts at partition 0."""

    ID = "BIR151"
    source: str = "BIR reference, §7.3"

    @property
    def statement(self) -> str:
        return "dst must start at partition 0 with is_transpose"

    def check(self, operands: Operands, target: Target | None) -> str | None:
        dst = operands.one("dst")
        if not operands.parameters.get("is_transpose") or dst is None or not dst.start:
            return None
        return f"dst starts at partition {dst.start}, transposing needs 0"


class DoubleRow(Rule):
    """perf_mode double_row contracts two rows of fp8 at once: the first free dimension of both inputs is 2."""

    ID = "X-DROW"

    @property
    def statement(self) -> str:
        return "perf_mode double_row needs fp8 inputs with first free dimension 2, no is_transpose, no column tiles"

    def check(self, operands: Operands, target: Target | None) -> str | None:
        if operands.parameters.get("perf_mode") is not MatmultPerfMode.DOUBLE_ROW:
            return None
        if operands.parameters.get("is_transpose"):
            return "perf_mode double_row cannot transpose"
        size = operands.parameters.get("tile_size")
        if isinstance(size, tuple) and size[1:] not in ((), (128,)):
            return f"tile_size has column size {size[1]}, perf_mode double_row needs all 128 columns"
        for role in ("stationary", "moving"):
            operand = operands.one(role)
            if operand is None:
                continue
            if not operand.dtype.is_fp8:
                return f"{role} is of type {operand.dtype}, perf_mode double_row needs fp8"
            if len(operand.nums) < 2 or operand.nums[0] != 2:
                return (
                    f"{role} has the free dimensions {list(operand.nums)}, perf_mode double_row needs the first to be 2"
                )
        return None


class TileSizes(Rule):
    """The sizes (rows, columns) of the PE tile."""

    ID = "BIR052"

    @property
    def statement(self) -> str:
        return f"tile_size must be of {any_of(TILE_SIZES)} rows and columns"

    def check(self, operands: Operands, target: Target | None) -> str | None:
        size: Any = operands.parameters.get("tile_size")
        if not isinstance(size, tuple):
            return None
        for axis, extent in zip(("row", "column"), cast("tuple[Any, ...]", size), strict=False):
            for length in _members(extent):
                if length not in TILE_SIZES:
                    return f"tile_size: {axis} size must be in {list(TILE_SIZES)}, got {length}"
        return None


class TilePosition(Rule):
    """The PE tile (row, column): positions are multiples of its size, the operands are inside."""

    ID = "BIR052"

    @property
    def statement(self) -> str:
        return (
            "tile_position must be a multiple of tile_size, the tile inside 128 x 128, the operands inside it; "
            "gen2 has no 32 x 32 tile and no column position 96"
        )

    def check(self, operands: Operands, target: Target | None) -> str | None:
        size: Any = operands.parameters.get("tile_size")
        place: Any = operands.parameters.get("tile_position")
        if size is None or place is None:
            return None
        pairs: tuple[Any, Any] = size, place
        if not all(isinstance(pair, tuple) and len(cast(tuple[Any, ...], pair)) == 2 for pair in pairs):
            return "tile_position and tile_size must be pairs (row, column)"
        if target is not None and target <= SUNDA:
            if tuple(size) == (32, 32):
                return f"tile_size is 32 x 32, which {target} does not have"
            if 96 in _members(place[1]):
                return f"tile_position has column 96, which {target} does not have"
        used = {"row": operands.one("stationary"), "column": operands.one("dst")}
        for (axis, operand), extent, start in zip(used.items(), size, place, strict=True):
            for length in _members(extent):
                for at in _members(start):
                    if at % length or at < 0 or at + length > 128:
                        return (
                            f"tile_position has {axis} {at}, it must be a multiple of {length} with the tile inside 128"
                        )
                if operand is not None and operand.partitions is not None and operand.partitions > length:
                    return f"tile_size has {axis} size {length}, the operands need {operand.partitions}"
            if operand is None or operand.start is None or operand.start_step or not isinstance(start, int):
                continue
            if operand.start > start:
                return f"tile_position has {axis} {start}, the operands start at partition {operand.start}"
        return None


def _members(value: Any) -> list[int]:
    """Returns all values of a parameter, in order; none where they are not known."""
    if isinstance(value, frozenset):
        return sorted(cast("frozenset[int]", value))
    return [value] if isinstance(value, int) else []


def _matmul(e: Evaluation) -> Run:
    # Before Cayman is_transpose only labels an ordinary product (nki-isa.md §2.1, nc_matmul).
    if e.is_transpose and e.target >= CAYMAN:
        return _transpose_mode(e)
    exact = e.dtypes["dst"] is Dtype.F32
    write = writer(e.dtypes["dst"])
    rows = 2 if e.perf_mode is MatmultPerfMode.DOUBLE_ROW else 1
    scratch: dict[tuple[int, int], Any] = {}

    def factors(stationary: Array, moving: Array) -> tuple[Array, Array]:
        a, b = fp32(stationary), fp32(moving)
        if rows == 2:
            a, b = np.concatenate(a.swapaxes(0, 1), axis=0), np.concatenate(b.swapaxes(0, 1), axis=0)
        return a.reshape(a.shape[0], -1).T, b.reshape(b.shape[0], -1)

    def run(dst: Array, stationary: Array, moving: Array, written: Any) -> None:
        """`written`: False overwrites, True adds; else `state` tells where to add and `mark` that all is written."""
        a, b = factors(stationary, moving)
        add = written if type(written) is bool else written.state()
        if add is False and exact and dst.ndim == 2:
            np.matmul(a, b, out=dst)
        else:
            shape = (a.shape[0], b.shape[1])
            product = scratch.get(shape)
            if product is None:
                product = scratch[shape] = np.empty(shape, np.float32)
            np.matmul(a, b, out=product)
            _accumulate(dst, product.reshape(dst.shape), add, exact, write)
        if type(written) is not bool:
            written.mark()

    return run


def _accumulate(dst: Array, product: Array, add: Any, exact: bool, write: Any) -> None:
    if add is True and exact:
        np.add(dst, product, out=dst)
    elif add is False:
        write(dst, product)
    else:
        total = fp32(dst) + product
        write(dst, total if add is True else np.where(add, total, product))


def _transpose_mode(e: Evaluation) -> Run:
    """Moves data instead of multiplying: one operand must be an identity matrix, the result is the other, transposed.

    A stationary identity whose result has the shape of `moving` passes that through, as the product would.
    """
    widen = e.dtypes["stationary"].size < e.dtypes["dst"].size

    def is_identity(x: Array) -> bool:
        return x.shape[0] == x.shape[1] and bool((fp32(x) == np.eye(x.shape[0], dtype=np.float32)).all())

    def run(dst: Array, stationary: Array, moving: Array, written: Any) -> None:
        a, b = stationary.reshape(stationary.shape[0], -1), moving.reshape(moving.shape[0], -1)
        if is_identity(b):
            moved = a.T
        elif is_identity(a):
            moved = b.T if dst.shape[0] == b.shape[1] else b
        else:
            raise NkiError("is_transpose moves data, so stationary or moving must be an identity matrix", rule="BIR035")
        moved = moved.reshape(dst.shape)
        if widen:
            dst.view(np.uint16)[...] = moved.view(np.uint8)
        else:
            dst[...] = moved
        if type(written) is not bool:
            written.mark()

    return run


def _matmul_spread(e: Evaluation) -> Spread:
    """A row of the product depends on a column of stationary, a column on one of moving; what is moved stays apart."""
    moves = bool(e.is_transpose) and e.target >= CAYMAN

    def spread(states: Mapping[str, Array], out: Array) -> Array | None:
        rows, columns = out.shape[0], out.size // out.shape[0]
        found = out.reshape(rows, columns)
        for role, state in states.items():
            flat = state.reshape(state.shape[0], -1)
            if role == "dst":
                found = np.minimum(found, state.reshape(found.shape))
            elif moves and len(states) == 1:
                found = flat.T if role == "stationary" or rows == flat.shape[1] else flat
            elif flat.shape[1] != (rows if role == "stationary" else columns):
                return None
            elif role == "stationary":
                found = np.minimum(found, flat.min(axis=0)[:, None])
            else:
                found = np.minimum(found, flat.min(axis=0))
        return found.reshape(out.shape)

    return spread


def _matmul_cycles(operands: Operands, target: Target) -> int:
    rows = 2 if operands.parameters.get("perf_mode") is MatmultPerfMode.DOUBLE_ROW else 1
    loaded, streamed = (free_of(operands, role) // rows for role in ("stationary", "moving"))
    return _passes(operands, target) * max(min(MINIMUM_CYCLES, loaded), streamed)


def _passes(operands: Operands, target: Target) -> int:
    """Returns how often inputs pass: four times for fp32, twice if that holds 0 and 1 only or is moved (§1.6)."""
    wide = [role for role in ("stationary", "moving") for _, o in operands.of(role) if o.dtype is Dtype.F32]
    if not wide:
        return 1
    moves = bool(operands.parameters.get("is_transpose")) and target >= CAYMAN
    easy = moves or any(operands.parameters.get(f"is_{role}_onezero") for role in wide)
    return FP32_PASSES // 2 if easy else FP32_PASSES


MATMUL = Instruction(
    "matmul",
    "dst (+)= transpose(stationary) @ moving in fp32; a data transpose with is_transpose",
    engines=frozenset({Engine.PE}),
    roles="dst stationary moving",
    outs=1,
    parameters=(
        "is_stationary_onezero",
        "is_moving_onezero",
        "is_transpose",
        "accumulate",
        "tile_position",
        "tile_size",
        "perf_mode",
        "engine",
    ),
    rules=(
        *on_chip("stationary", "moving", spaces=(MemorySpace.SBUF,)),
        *on_chip("dst", spaces=(MemorySpace.PSUM,), psum=8192),
        *destinations("dst", psum=SMALL),
        InputDtype(),
        EqualWidths(),
        SameDtype(roles=("stationary", "moving"), when="is_transpose", since=CAYMAN, id="BIR035"),
        ResultDtype(transpose=False),
        ResultDtype(transpose=True, since=CAYMAN),
        TransposeStart(),
        TileSize(role="stationary", at_most=128, id="BIR040"),
        TileSize(
            role="moving", at_most=Limit(512, ((CORE_V4, 4096),)), bf16=Limit(512, ((CORE_V4, 8192),)), id="BIR039"
        ),
        MatmulShape(),
        InOnePsumBank(roles=("dst",), before=CORE_V4),
        SinceValue(parameter="perf_mode", value=MatmultPerfMode.DOUBLE_ROW, first=CAYMAN, id="X-DROWGEN"),
        DoubleRow(),
        Together(names=("tile_position", "tile_size"), id="BIR050"),
        TileSizes(),
        TilePosition(),
    ),
    evaluate=_matmul,
    cycles=_matmul_cycles,
    accumulates=True,
    spread=_matmul_spread,
)


class TransposeLimits(Rule):
    """The Vector engine transposes up to 32 x 32; the Tensor engine up to 128 x 128, from SBUF to PSUM.

    `engine` is the one that runs the instruction if it does not say so itself.
    """

    ID = "X-TRANSPOSE"
    engine: Engine | None = None

    @property
    def statement(self) -> str:
        if self.engine is not None:
            return "data is at most 32 x 32"
        return "data is at most 32 x 32 on dve; on pe at most 128 x 128, from sbuf to psum"

    def check(self, operands: Operands, target: Target | None) -> str | None:
        engine, data, dst = operands.parameters.get("engine"), operands.one("data"), operands.one("dst")
        if engine in (None, Engine.UNASSIGNED):
            engine = self.engine
        if data is None or dst is None:
            return None
        limit = 32 if engine is Engine.DVE else 128
        if data.free is not None and data.free > limit:
            return f"data has {data.free} elements a partition, at most {limit} allowed"
        if data.partitions is not None and data.partitions > limit:
            return f"data accesses {data.partitions} partitions, at most {limit} allowed"
        if engine is Engine.PE:
            if data.space is not MemorySpace.SBUF:
                return f"data is in {data.space}, engine pe transposes from sbuf"
            if dst.space is not MemorySpace.PSUM:
                return f"dst is in {dst.space}, engine pe transposes to psum"
        return None


class TransposedShape(Rule):
    """data [P, F] gives dst [F, P]."""

    ID = "X-TRSHAPE"

    @property
    def statement(self) -> str:
        return "data [P, F] gives dst [F, P]"

    def check(self, operands: Operands, target: Target | None) -> str | None:
        data, dst = operands.one("data"), operands.one("dst")
        if data is None or dst is None or None in (*_shape(data), *_shape(dst)):
            return None
        if _shape(dst) == _shape(data)[::-1]:
            return None
        return f"dst is [{dst.partitions}, {dst.free}], the transpose of data is [{data.free}, {data.partitions}]"


def _transpose(e: Evaluation) -> Run:
    def run(dst: Array, data: Array) -> None:
        dst[...] = data.reshape(data.shape[0], -1).T.reshape(dst.shape)

    return run


def _transpose_spread(e: Evaluation) -> Spread:
    return lambda states, out: states["data"].reshape(states["data"].shape[0], -1).T.reshape(out.shape)


def _transpose_cycles(operands: Operands, target: Target) -> int:
    data, free = operands.one("data"), free_of(operands, "data")
    if operands.parameters.get("engine") is Engine.PE and data is not None:
        return max(data.partitions or 1, min(MINIMUM_CYCLES, free))
    return max(MINIMUM_CYCLES, free)


def _transpose_on(name: str, engines: frozenset[Engine], limits: TransposeLimits) -> Instruction:
    return Instruction(
        name,
        "dst = data with partitions and elements swapped, moved bit by bit",
        engines=engines,
        roles="dst data",
        outs=1,
        parameters=("engine",),
        rules=(
            *on_chip("dst", "data"),
            *destinations("dst", psum=SMALL),
            SameDtype(roles=("dst", "data")),
            limits,
            TransposedShape(),
        ),
        evaluate=_transpose,
        cycles=_transpose_cycles,
        spread=_transpose_spread,
    )


TRANSPOSE = _transpose_on("transpose", frozenset({Engine.PE, Engine.DVE}), TransposeLimits())
STREAM_TRANSPOSE = _transpose_on("stream_transpose", frozenset({Engine.DVE}), TransposeLimits(engine=Engine.DVE))

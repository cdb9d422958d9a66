"""The KLR format as one table: every record, union and enum of a file, with its numbers and its fields in file order.

Two layouts of the format are in use under the same version number. They differ in four records, which grew in
March 2026; the fields that came later say so, and give the value that their absence stands for.

Source: KLR reference, §1 (types), §2 (operators) and §3.2 (how each is written).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from operator import itemgetter
from typing import Any, ClassVar, cast


class Layout(IntEnum):
    """A generation of the record table; a later one holds every field of an earlier one."""

    NXCC_2_24 = 1
    HEAD = 2

    @property
    def title(self) -> str:
        return {Layout.NXCC_2_24: "neuronx-cc 2.24", Layout.HEAD: "KLR HEAD (March 2026)"}[self]


SCALARS = frozenset({"Nat", "Reg", "Int", "Int32", "Bool", "Float32", "String"})
"""The types that have no tag; `Reg` is a `Nat`."""

NOT_LOWERED = {"python": "a Python syntax tree", "nki": "an NKI syntax tree", "hlo": "the name of a call site"}
"""The constructors of `Contents` that hold no lowered kernel, and what they hold. The table leaves out the records of
the two syntax trees."""


@dataclass(frozen=True, slots=True)
class FieldType:
    """A type as a field has it: a scalar or a type of the table, in `lists` lists, which may be absent altogether."""

    name: str
    lists: int
    optional: bool

    @classmethod
    def parse(cls, text: str) -> "FieldType":
        """Reads `Int`, `Int?`, `Int[]`, `Int[][]?`."""
        base = text.removesuffix("?")
        name = base.rstrip("[]")
        return cls(name, base.count("[]"), base != text)

    def __str__(self) -> str:
        return self.name + "[]" * self.lists + "?" * self.optional

    @property
    def inner(self) -> "FieldType":
        """The type under the outermost option or list."""
        return FieldType(self.name, self.lists if self.optional else self.lists - 1, False)


@dataclass(frozen=True, slots=True)
class Field:
    """A field on disk. `default` is what the field means in a layout older than `since`, which does not have it."""

    name: str
    type: FieldType
    since: Layout
    default: Any
    proofs: int
    """How many proofs follow the value: they count as fields in the header, and KLR leaves their bytes out."""


class Record(tuple[Any, ...]):
    """A value of one constructor: an immutable tuple of its fields, which are attributes too.

    Options are None or the value, lists are tuples, enum members are their names. Each constructor of the table has
    its own subclass; `make` gives new values. Records are equal if constructor and fields are.
    """

    __slots__ = ()

    constructor: ClassVar["Constructor"]
    type: ClassVar[str]
    """The record's or union's name: `TensorName`, `Operator`."""
    ctor: ClassVar[str]
    """The constructor's name in its union, such as `ncMatMul`; empty for a record."""

    def __eq__(self, other: object) -> bool:
        return self.__class__ is other.__class__ and super().__eq__(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((self.__class__, super().__hash__()))

    def __getattr__(self, name: str) -> Any:
        known = ", ".join(field.name for field in self.constructor.fields) or "none"
        raise AttributeError(f"{self.constructor} has no field '{name}'; its fields: {known}")

    def __repr__(self) -> str:
        fields = zip(self.constructor.fields, self, strict=True)
        return f"{self.constructor}({', '.join(f'{field.name}={value!r}' for field, value in fields)})"


@dataclass(frozen=True, slots=True)
class Constructor:
    """One way to make a value of a type, with the fields of the newest layout."""

    type: str
    name: str
    tag: int
    number: int
    fields: tuple[Field, ...]

    def __str__(self) -> str:
        return f"{self.type}.{self.name}" if self.name else self.type

    @property
    def is_readable(self) -> bool:
        return self.type != "Contents" or self.name not in NOT_LOWERED

    def count(self, layout: Layout) -> int:
        """The number of fields the header announces."""
        return sum(1 + field.proofs for field in self.fields if field.since <= layout)

    def header(self, layout: Layout) -> bytes:
        """The four bytes that every value of this constructor starts with."""
        return bytes((0xD9, self.tag, self.number, 0x80 | self.count(layout)))


@dataclass(frozen=True, slots=True)
class Type:
    """A record (one constructor without a name), a union, or an enum (a union of constructors without fields)."""

    name: str
    tag: int
    constructors: tuple[Constructor, ...]
    records: tuple[type[Record], ...]
    """The class of each constructor's values; empty for an enum, whose values are names."""

    @property
    def is_enum(self) -> bool:
        return not self.records


# `TAG NAME(fields)` is a record, `TAG NAME = constructors` a union, whose constructors are numbered from 0 in order.
# `x y: T` are two fields of type T, `T?` is an option, `T[]` a list; `proof` marks what §3.2 calls a proof field.
# The one record whose constructor has a number other than 0 has it after its tag.
_TABLE = """
100 Pos(line column: Nat, lineEnd columnEnd: Nat?, filename: String?)
103 Stmt = oper(op: Operator, name: String?, pos: Pos)
104 Block(label: String, noReorder: Bool, body: Stmt[])
105 Kernel(name: String, inputs outputs: TensorName[], body: Block[])
106 SharedConstantFile(name fileName: String)
107 Edges(fromEdge: String, toEdges: String[])
108 LncKernel(name: String, inputs outputs: TensorName[], bodies: Block[][], sharedConstants: SharedConstantFile[],
    sharedBuffers: TensorName[], edges: Edges[])
110 Memory = hbm sbuf psum reg shared_hbm private_hbm
111 Dtype = bfloat16 float8e3 float8e4 float8e5 float16 float32 float32r int8 int16 int64 int32 uint8 uint16 uint32
    uint64 float8_e4m3 float8_e4m3fn float8_e5m2_x4 float8_e4m3fn_x4 float4_e2m1fn_x4
112 Shape(parDim: Nat, freeDims: Nat[])
113 Address(name: String, memory: Memory, parSize freeSize: Nat, parOffset freeOffset: Nat?, isShared: Bool)
114 TensorName(name: String, dtype: Dtype, shape: Shape, address: Address, freeElements: Nat, parWF freeWF: proof,
    addressRotation: Bool)
115 Slice(l u: Nat, step: Int, wf: proof)
117 Index = coord(e: Nat) | slice(slice: Slice)
118 AccessBasic(tensor: TensorName, indexes: Index[], lenWF: proof)
119 APPair(step: Int, num offset: Nat)
120 AccessPattern(tensor: TensorName, parNum: Nat, pattern: APPair[], parOffset freeOffset: Nat, fixedAxis: Nat[])
123 ScalarOffset = reg(r: String) | acc(a: Access)
124 BirAccessPattern(tensor: TensorName, offset: Nat, pattern: APPair[], scalarOffset: ScalarOffset?,
    vectorOffset: Access?, indirectDim: Int, dtypeOverride: Dtype?)
125 Access = simple(tensor: TensorName) | basic(access: AccessBasic) | pattern(access: AccessPattern) |
    birPattern(access: BirAccessPattern)
126 TensorHbm(name: String, dtype: Dtype, address: Nat, dims: APPair[])
127 TensorSram(name: String, dtype: Dtype, parNum: Nat, pattern: APPair[], parOffset freeOffset: Nat)
128 TensorRef = abstract(access: Access) | sbuf(view: TensorSram) | psum(view: TensorSram) | hbm(view: TensorHbm) |
    register(reg: Reg)
129 MatmulPerfMode = None DoubleRow DoubleRowSwInterleave
130 Engine = unassigned act dma dve pe pool sp
131 Immediate = register(reg: Reg) | pointer | int(i: Int32) | float(f: Float32)
132 ActivationImm = register(reg: Reg) | pointer | float(f: Float32)
133 Operand = imm(i: Immediate) | tile(t: TensorRef)
134 DataPattern(offset: Int, pattern: APPair[], channelMultiplier: Int)
135 AluOp = abs add arith_shift_left arith_shift_right average bitwise_and bitwise_not bitwise_or bitwise_xor bypass
    divide is_equal is_ge is_gt is_le is_lt logical_and logical_or logical_shift_left logical_shift_right
    logical_xor max min mod mult not_equal pow rsqrt subtract
136 DropoutThresholdType = DropRate KeepRate
137 AccumCmd = Idle Zero Accumulate ZeroAccumulate LoadAccumulate
138 ActivationFunc = abs arctan copy erf erf_dx exp gelu gelu_apprx_tanh gelu_dx log mish reciprocal relu rsqrt
    sigmoid sign silu silu_dx sin softplus sqrt square tanh gelu_apprx_sigmoid gelu_apprx_sigmoid_dx
139 AffineSelectCmp = GreaterThan GreaterThanEq Eq NotEq
140 DgeComputeOp = none add
141 DmaBounds = skip | error | reg(reg: Reg)
142 MatmulGroupElement = first middle last whole
143 IndexMissBehavior = imm(value: Immediate) | skip
144 TensorScalarReverseOps = none first second both
145 TensorSubDim = X XY XYZ XYZW
146 TransposeOps = None WZXY WXZY WYXZ ZWYX ZYWX ZYXW YXWZ YXZW YWZX XWZY XZYW XYZW XYWZ
147 Dropout(dst src: TensorRef, thresholdType: DropoutThresholdType, threshold: Operand, dtype: Dtype?)
148 Activate(dst src: TensorRef, accumulatorCmd: AccumCmd, activationFunc: ActivationFunc,
    scale bias imm: Immediate)
149 NcActivate(dst src: TensorRef, accumulatorCmd: AccumCmd, activationFunc: ActivationFunc, scale: Operand,
    bias: TensorRef?, reduceOp: AluOp?, reduceRes: TensorRef?, dtype: Dtype?)
150 AffineSelect(dst src: TensorRef, fillMode: AffineSelectCmp, fillReg: Reg, maskPattern: DataPattern)
151 NcAffineSelect(dst: TensorRef, pred: DataPattern, onTrueTile: TensorRef, onFalseValue: Immediate, dtype: Dtype?,
    cmpOp: AluOp)
152 DmaCopy(dst src: TensorRef, compute_op: DgeComputeOp, dstBoundsCheck srcBoundsCheck: DmaBounds)
153 NcDmaCopy(dst src: TensorRef, compute_op: DgeComputeOp, oobMode: DmaBounds, dgeMode: Nat, uniqueIndices: Bool,
    priority: Nat? since HEAD, engine: Engine)
154 DmaTranspose(dst src: TensorRef, axes: TransposeOps, dtype: Dtype?, dgeMode: Nat, oobMode: DmaBounds,
    priority: Nat? since HEAD)
155 Transpose(dst src: TensorRef, dtype: Dtype?, engine: Engine)
156 LoadMaskRegister(regNum: Reg)
157 Shuffle(dst src: TensorRef, shuffleMask: Immediate[], dtype: Dtype?)
158 MemSet(dst: TensorRef, value: Immediate, dtype: Dtype, engine: Engine)
159 Iota(dst: TensorRef, pattern: DataPattern, dtype: Dtype?)
160 LoadStationary(src: TensorRef, isTranspose: Bool)
161 MatMul(dst moving: TensorRef)
162 LocalGather(dst src: TensorRef, indexMissBehavior: IndexMissBehavior, freePoolBuffer: Bool)
163 NcLocalGather(dst src index: TensorRef, numElemPerIdx: Immediate, numValidIndicies: Immediate?)
164 RangeSelect(dst src: TensorRef, reduceCommand: AccumCmd, reduceOp: AluOp, base fillValue: Float32,
    compOp0 compOp1: AluOp, bound0 bound1: Immediate)
165 NcRangeSelect(dst: TensorRef, reduceCommand: AccumCmd, reduceRes: TensorRef?, reduceOp: AluOp?,
    compOp0 compOp1: AluOp, bound0 bound1: TensorRef, rangeStart: Immediate, onTrueTile: TensorRef,
    onFalseValue: Immediate, dtype: Dtype?)
166 ScalarTensorTensor(dst src0 src1: TensorRef, op0 op1: AluOp, reverseOperands: TensorScalarReverseOps,
    imm0: Immediate, accumulatorCmd: AccumCmd)
167 NcScalarTensorTensor(dst data: TensorRef, src0 src1: Operand, op0 op1: AluOp,
    reverseOperands: TensorScalarReverseOps, dtype: Dtype?)
168 CopyPredicated(dst src predicate: TensorRef, dtype: Dtype?, reversePred: Bool)
169 TensorTensorScan(dst src0 src1: TensorRef, op0 op1: AluOp, reverseOperands: TensorScalarReverseOps,
    imm0: Operand, accumulatorCmd: AccumCmd, dtype: Dtype?)
170 MatchValueLoad(src: TensorRef)
171 FindIndex8(dst src vals: TensorRef, dtype: Dtype?)
172 MatchReplace8(dst src vals: TensorRef, replaceValue: Immediate, dstIdx: TensorRef?, dtype: Dtype?)
173 Max8(dst src: TensorRef, dtype: Dtype?)
174 BatchNormAggregate(dst src: TensorRef, dtype: Dtype?)
175 BatchNormStats(dst src: TensorRef, dtype: Dtype?)
176 Reciprocal(dst src: TensorRef, dtype: Dtype?)
177 Copy(dst src: TensorRef, opDim: TensorSubDim?)
178 NcCopy(dst src: TensorRef, dtype: Dtype?, engine: Engine)
179 TensorReduce(dst src: TensorRef, op: AluOp, opDim: TensorSubDim, negated: Bool, dtype: Dtype?, keepdims: Bool)
180 TensorScalar(dst src: TensorRef, imm0: Operand, op0: AluOp, imm1: Operand?, op1: AluOp?,
    reverse: TensorScalarReverseOps, engine: Engine, dtype: Dtype?)
181 TensorScalarReduce(dst src: TensorRef, operand0: Operand, op0: AluOp, reverse0: Bool, dtype: Dtype?,
    reduceOp: AluOp?, reduceRes: TensorRef, reduceCmd: AccumCmd = ZeroAccumulate since HEAD,
    reduceInit: Immediate? since HEAD)
182 TensorTensor(dst src0 src1: TensorRef, op: AluOp, dtype: Dtype?, engine: Engine)
183 NcMatMul(dst stationary moving: TensorRef, isStationaryOneZero isMovingZero isTranspose: Bool,
    tilePosition tileSize: Nat[], perfMode: MatmulPerfMode)
184 TensorPartitionReduce(dst: TensorRef, op: AluOp, data: TensorRef, dtype: Dtype?)
185 SelectReduce(dst predicate onTrue: TensorRef, onFalse: Operand, reduceRes: TensorRef?, reduceCmd: AccumCmd,
    reduceOp: AluOp, reversePred: Bool, dtype: Dtype?)
186 SequenceBounds(dst segmentIds: TensorRef, dtype: Dtype?)
187 SendRecv(dst src: TensorRef, sendToRank recvFromRank pipeId: Immediate, useGpsimdDma: Bool)
188 SendRecvCompute(dsts srcs: TensorRef[], sendToRanks recvFromRanks: Immediate[], pipeId: Immediate, op: AluOp)
189 BrCmpOp = always lt_imm le_imm eq_imm ne_imm ge_imm gt_imm lt_reg le_reg eq_reg ne_reg ge_reg gt_reg
190 TensorLoad(dst: String, src: TensorRef)
191 TensorStore(dst: TensorRef, src: String)
192 RegisterMove(dst: String, imm: Int32)
193 CmpBranch(reg1 reg2: String, imm: Int32, op: BrCmpOp, trueLabel falseLabel: String)
194 RegisterAluOp(dst src: String, imm: Int32, op: AluOp)
195 QuantizeMX(dst src dstScale: TensorRef)
196 MatMulMX(dst stationary moving stationaryScale movingScale: TensorRef, tilePosition tileSize: Nat[]?)
197 DmaCompute(dst: TensorRef, srcs: TensorRef[], scales: Immediate[], reduceOp: AluOp)
198 ReplicaGroup = unspecified | named(name: String) | literal(groups: Int[][])
199 CollectiveOp(dsts srcs: TensorRef[], op: AluOp?, replicaGroup: ReplicaGroup, concatDim: Int?,
    sourceTargetPairs: Int[][]?, channel_id num_channels: Int?, priority: Nat? since HEAD)
200 RankId(dst: String)
201 CurrentProcessingRankId(dst: String, iterationId channelId numChannels: Int, replicaGroup: Int[][])
202 Send(op: AluOp, srcs: TensorRef[], peerId: Int)
203 Recv(op: AluOp, dsts: TensorRef[], replicaGroups: Int[], peerId: Int)
204 CoreBarrier(data: TensorRef, cores: Int[], engine: Engine)
205 Rng(dst: TensorRef, engine: Engine)
206 Rand2(dst: TensorRef, min max: Operand)
207 RandGetState(dst: TensorRef, engine: Engine)
208 SetRngSeed(src: TensorRef)
209 RandSetState(src: TensorRef, engine: Engine)
210 ExtendedInst(opcode: Nat, hasRead hasWrite: Bool, ports: Nat, data0 data1: Nat[])
211 TensorScalarCumulative(dst src: TensorRef, op0 op1: AluOp, imm0: Operand, imm1: Operand?, reduceCmd: AccumCmd,
    reverse: TensorScalarReverseOps, dtype: Dtype?)
212 NcNGather(dst data indices: TensorRef, dtype: Dtype?)
213 NonzeroWithCount(dst src: TensorRef, indexOffset paddingVal: Immediate)
214 PrintOutputBuffer = stdout stderr
215 DevicePrint(src: TensorRef, printPrefix: String, buffer: PrintOutputBuffer)
216 Exponential(dst src: TensorRef, maxValue: Operand, reduceRes: TensorRef?, reducecmd: AccumCmd,
    reduceInit: Operand)
217 Activate2(dst src: TensorRef, op0 op1: AluOp, imm0 imm1: Operand, activationFunc: ActivationFunc,
    reluParam: Operand, reduceOp: AluOp, reduceRes: TensorRef?, reduceCmd: AccumCmd, reverse0 reverse1: Bool,
    dtype: Dtype?)
217/247 KLRFile(major minor patch: Nat)
218 Operator = activate(op: Activate) ncActivate(op: NcActivate) activationReduce(op: NcActivate)
    affineSelect(op: AffineSelect) ncAffineSelect(op: NcAffineSelect) batchNormAggregate(op: BatchNormAggregate)
    batchNormStats(op: BatchNormStats) copy(op: Copy) ncCopy(op: NcCopy) copyPredicated(op: CopyPredicated)
    dmaCopy(op: DmaCopy) ncDmaCopy(op: NcDmaCopy) dmaTranspose(op: DmaTranspose) dropout(op: Dropout)
    findIndex8(op: FindIndex8) iota(op: Iota) loadMaskRegister(op: LoadMaskRegister)
    loadStationary(op: LoadStationary) localGather(op: LocalGather) ncLocalGather(op: NcLocalGather)
    matMul(op: MatMul) ncMatMul(op: NcMatMul) matchReplace8(op: MatchReplace8) matchValueLoad(op: MatchValueLoad)
    max8(op: Max8) memSet(op: MemSet) rangeSelect(op: RangeSelect) ncRangeSelect(op: NcRangeSelect)
    reciprocal(op: Reciprocal) scalarTensorTensor(op: ScalarTensorTensor)
    ncScalarTensorTensor(op: NcScalarTensorTensor) shuffle(op: Shuffle) tensorReduce(op: TensorReduce)
    tensorScalar(op: TensorScalar) tensorTensor(op: TensorTensor) tensorTensorScan(op: TensorTensorScan)
    tensorPartitionReduce(op: TensorPartitionReduce) tensorScalarReduce(op: TensorScalarReduce)
    transpose(op: Transpose) selectReduce(op: SelectReduce) sequenceBounds(op: SequenceBounds)
    sendRecv(op: SendRecv) sendRecvCompute(op: SendRecvCompute) tensorLoad(op: TensorLoad)
    tensorStore(op: TensorStore) registerMove(op: RegisterMove) cmpBranch(op: CmpBranch)
    registerAluOp(op: RegisterAluOp) quantizeMX(op: QuantizeMX) ncMatMulMX(op: MatMulMX) dmaCompute(op: DmaCompute)
    allReduce(op: CollectiveOp) allGather(op: CollectiveOp) reduceScatter(op: CollectiveOp)
    collectivePermute(op: CollectiveOp) collectivePermuteImplicit(op: CollectiveOp)
    collectivePermuteImplicitReduce(op: CollectiveOp) broadcast(op: CollectiveOp) allToAll(op: CollectiveOp)
    rankId(op: RankId) currentProcessingRankId(op: CurrentProcessingRankId) send(op: Send) recv(op: Recv)
    coreBarrier(op: CoreBarrier) rng(op: Rng) rand2(op: Rand2) randGetState(op: RandGetState)
    setRngSeed(op: SetRngSeed) randSetState(op: RandSetState) extendedInst(op: ExtendedInst)
    tensorScalarCumulative(op: TensorScalarCumulative) ncNGather(op: NcNGather)
    nonzeroWithCount(op: NonzeroWithCount) devicePrint(op: DevicePrint) exponential(op: Exponential)
    activate2(op: Activate2)
219 TGROperator = activate(op: Activate) affineSelect(op: AffineSelect) batchNormAggregate(op: BatchNormAggregate)
    batchNormStats(op: BatchNormStats) copy(op: Copy) copyPredicated(op: CopyPredicated) dmaCopy(op: DmaCopy)
    dmaTranspose(op: DmaTranspose) dropout(op: Dropout) findIndex8(op: FindIndex8) iota(op: Iota)
    loadMaskRegister(op: LoadMaskRegister) loadStationary(op: LoadStationary) localGather(op: LocalGather)
    matMul(op: MatMul) matchReplace8(op: MatchReplace8) matchValueLoad(op: MatchValueLoad) max8(op: Max8)
    memSet(op: MemSet) rangeSelect(op: RangeSelect) reciprocal(op: Reciprocal)
    scalarTensorTensor(op: ScalarTensorTensor) shuffle(op: Shuffle) tensorReduce(op: TensorReduce)
    tensorScalar(op: TensorScalar) tensorTensor(op: TensorTensor) tensorTensorScan(op: TensorTensorScan)
    transpose(op: Transpose)
235 KLRMetaData(format: String)
236 Contents = python(kernel: Python.Kernel) | nki(kernel: NKI.Kernel) | kernel(kernel: Kernel) |
    lnc(kernel: LncKernel) | hlo(name: String)
"""

_ENTRY = re.compile(r"(\d+)(?:/(\d+))? (\w+)(?:\((.*)\)| = (.*))", re.DOTALL)
_CONSTRUCTOR = re.compile(r"(\w+)(?:\(([^)]*)\))?")
_FIELD = re.compile(r"([\w ]+): ([\w.\[\]]+\??)(?: = (\w+))?( since HEAD)?")


def _fields(text: str) -> tuple[Field, ...]:
    fields: list[Field] = []
    for names, type_name, default, new in _FIELD.findall(text):
        for name in names.split():
            if type_name == "proof":
                before = fields.pop()
                fields.append(Field(before.name, before.type, before.since, before.default, before.proofs + 1))
            else:
                since = Layout.HEAD if new else Layout.NXCC_2_24
                fields.append(Field(name, FieldType.parse(type_name), since, default or None, 0))
    return tuple(fields)


def _record_class(constructor: Constructor) -> type[Record]:
    attributes: dict[str, Any] = {
        "__slots__": (),
        "__module__": __name__,
        "constructor": constructor,
        "type": constructor.type,
        "ctor": constructor.name,
    }
    for index, field in enumerate(constructor.fields):
        attributes[field.name] = property(itemgetter(index))
    return cast("type[Record]", type(constructor.name or constructor.type, (Record,), attributes))


def _types() -> Iterator[Type]:
    for entry in re.split(r"\n(?=\d)", _TABLE.strip()):
        match = _ENTRY.fullmatch(entry)
        assert match, entry
        tag, number, name, record, union = match.groups()
        if union is None:
            constructors = (Constructor(name, "", int(tag), int(number or 0), _fields(record)),)
        else:
            constructors = tuple(
                Constructor(name, ctor, int(tag), index, _fields(fields))
                for index, (ctor, fields) in enumerate(_CONSTRUCTOR.findall(union))
            )
        is_enum = not any(constructor.fields for constructor in constructors)
        records = () if is_enum else tuple(_record_class(constructor) for constructor in constructors)
        yield Type(name, int(tag), constructors, records)


TYPES = {entry.name: entry for entry in _types()}


def make(type_name: str, ctor: str = "", /, **fields: Any) -> Record:
    """Returns a value of a record, or of constructor `ctor` of a union.

    Every field has to be given, except those that only the newest layout has. The values are checked when they are
    written. Raises TypeError for a name that the table does not have or a field that is missing.
    """
    candidates = TYPES[type_name].records if type_name in TYPES else ()
    record = next((record for record in candidates if record.ctor == ctor), None)
    if record is None:
        raise TypeError(f"KLR has no record {type_name}{'.' * bool(ctor)}{ctor}")
    values: list[Any] = []
    for field in record.constructor.fields:
        if field.name not in fields and field.since is not Layout.HEAD:
            raise TypeError(f"{record.constructor} needs field '{field.name}'")
        values.append(fields.pop(field.name, field.default))
    if fields:
        raise TypeError(f"{record.constructor} has no field '{next(iter(fields))}'")
    return record(values)

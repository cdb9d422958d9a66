"""The table of operators: for each op, what every field of its record on disk becomes.

`field` becomes the role or property of the same name, `field:target` that of another name; `field(value)` says what
value an absent property stands for; `field=value` is a field of which the dialect has this value only. What kind of
field it is follows from its type in the format's schema. `engine` names the engine of an operator whose record has no
field for it.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

from xdsl.irdl import OptPropertyDef

from nki_mlir.dialects.instruction import InstructionOp
from nki_mlir.dialects.klr import operators as ops
from nki_mlir.dialects.klr.structure import CmpBranchOp
from nki_mlir.interchange.klr import schema
from nki_mlir.interchange.klr.schema import TYPES
from nki_mlir.interchange.klr_dialect import fields
from nki_mlir.interchange.klr_dialect.fields import Field
from nki_mlir.isa.enums import Engine

_TABLE: Mapping[type[InstructionOp], tuple[str, Engine | None]] = {
    ops.NcActivateOp: (
        "dst src:data accumulatorCmd:accumulate(Idle) activationFunc:func scale(1.0) bias reduceOp:reduce_op"
        " reduceRes:reduce_res dtype",
        Engine.ACT,
    ),
    ops.ActivationReduceOp: (
        "dst src:data accumulatorCmd:accumulate(Idle) activationFunc:func scale(1.0) bias reduceOp:reduce_op"
        " reduceRes:reduce_res dtype",
        Engine.ACT,
    ),
    ops.NcAffineSelectOp: ("dst pred onTrueTile:on_true onFalseValue:on_false dtype cmpOp:cmp_op", Engine.POOL),
    ops.BatchNormAggregateOp: ("dst src:data dtype", Engine.DVE),
    ops.BatchNormStatsOp: ("dst src:data dtype", Engine.DVE),
    ops.NcCopyOp: ("dst src dtype engine(unassigned)", None),
    ops.CopyPredicatedOp: ("dst src predicate dtype reversePred:reverse_pred", Engine.DVE),
    ops.NcDmaCopyOp: (
        "dst src compute_op=none oobMode:oob_mode dgeMode:dge_type uniqueIndices:unique_indices priority"
        " engine(unassigned)",
        None,
    ),
    ops.IotaOp: ("dst pattern dtype", Engine.POOL),
    ops.NcMatMulOp: (
        "dst stationary moving isStationaryOneZero:is_stationary_onezero isMovingZero:is_moving_onezero"
        " isTranspose:is_transpose tilePosition:tile_position tileSize:tile_size perfMode:perf_mode(None)",
        Engine.PE,
    ),
    ops.MemSetOp: ("dst value dtype engine(unassigned)", None),
    ops.ReciprocalOp: ("dst src:data dtype", Engine.DVE),
    ops.NcScalarTensorTensorOp: (
        "dst data src0:operand0 src1:operand1 op0 op1 reverseOperands dtype",
        Engine.DVE,
    ),
    ops.TensorReduceOp: ("dst src:data op opDim:axis negated:negate dtype keepdims", Engine.DVE),
    ops.TensorScalarOp: (
        "dst src:data imm0:operand0 op0 imm1:operand1 op1 reverse engine(unassigned) dtype",
        None,
    ),
    ops.TensorTensorOp: ("dst src0:data1 src1:data2 op dtype engine(unassigned)", None),
    ops.TensorPartitionReduceOp: ("dst op data dtype", Engine.POOL),
    ops.TransposeOp: ("dst src:data dtype engine(unassigned)", None),
    ops.SelectReduceOp: (
        "dst predicate onTrue:on_true onFalse:on_false reduceRes=None reduceCmd=Idle reduceOp:reduce_op(max)"
        " reversePred=False dtype",
        Engine.DVE,
    ),
    ops.TensorLoadOp: ("dst src", None),
    ops.TensorStoreOp: ("dst src", None),
    ops.RegisterMoveOp: ("dst imm:src", None),
    CmpBranchOp: ("reg1:left reg2:right imm:right op:comp_op trueLabel:true_label falseLabel:false_label", None),
    ops.RegisterAluOp: ("dst src imm:operand op", None),
}

_LITERALS = {"None": None, "False": False}
_SPEC = re.compile(r"(?P<field>\w+)(?::(?P<target>\w+))?(?:\((?P<default>[\w.]+)\)|=(?P<fixed>\w+))?")


class Row(NamedTuple):
    """An operator: its op, its constructor and record on disk, the fields of the record in order.

    `covered` are the properties of the op that its record has a place for; `engine` is where an operator without a
    field for it runs.
    """

    op: type[InstructionOp]
    ctor: str
    record: type[schema.Record]
    operator: type[schema.Record]
    fields: tuple[Field, ...]
    covered: frozenset[str]
    engine: Engine | None


def _row(op: type[InstructionOp], specs: str, engine: Engine | None) -> Row:
    assert op.OPCODE is not None
    operator = TYPES["Operator"].records[op.OPCODE]
    (record,) = TYPES[operator.constructor.fields[0].type.name].records
    on_disk = record.constructor.fields
    made: list[Field] = []
    for index, (field, spec) in enumerate(zip(on_disk, specs.split(), strict=True)):
        match = _SPEC.fullmatch(spec)
        if match is None or match["field"] != field.name:
            raise TypeError(f"field {index} of {record.type} is '{field.name}', the table of operators has '{spec}'")
        made.append(_field(op, record.type, index, field, match))
    covered = {target for field in made for target in field.targets} | {"name"}
    if engine is not None:
        covered.add("engine")
    return Row(op, operator.ctor, record, operator, tuple(made), frozenset(covered), engine)


def _field(op: type[InstructionOp], record: str, index: int, field: schema.Field, spec: re.Match[str]) -> Field:
    """Returns the field of a row, which its type on disk and its target's kind determine."""
    name, kind, default = field.name, field.type, spec["default"]
    target = spec["target"] or name
    if spec["fixed"]:
        return fields.FixedField(index, name, _LITERALS.get(spec["fixed"], spec["fixed"]))
    role = next((role for role in op.ROLES if role.name == target), None)
    match str(kind).removesuffix("?"):
        case _ if record == "CmpBranch" and name in fields.ComparedField.ENDING:
            return fields.ComparedField(index, name, target)
        case "TensorRef":
            return fields.AccessField(index, name, target)
        case "Operand":
            return fields.OperandField(index, name, target, float(default) if default else None)
        case "Immediate":
            return fields.NumberField(index, name, target)
        case "Int32":
            return fields.IntegerField(index, name, target)
        case "String" if role is not None:
            return fields.RegisterField(index, name, target, role.optional)
        case "String":
            definition = op.get_irdl_definition().properties[target]
            return fields.TextField(index, name, target, isinstance(definition, OptPropertyDef))
        case "Bool":
            return fields.FlagField(index, name, target)
        case "Nat" if kind.optional:
            return fields.NaturalField(index, name, target)
        case "Nat":
            return fields.DgeField(index, name, target)
        case "Nat[]":
            return fields.NumbersField(index, name, target)
        case "DmaBounds":
            return fields.BoundsField(index, name, target)
        case "DataPattern":
            return fields.PatternField(index, name, target)
        case "TensorScalarReverseOps":
            return fields.ReverseField(index, name, target)
        case _:
            return fields.NamedField(index, name, target, kind, default)


ROWS = {op: _row(op, *row) for op, row in _TABLE.items()}
"""The rows by op class."""

ROWS_ON_DISK = {row.ctor: row for row in ROWS.values()}
"""The rows by constructor on disk."""

"""The vocabulary of constraints that the instruction set puts on operands and parameters, one module a subject.

A rule is a small frozen object. The same object is a dialect's verifier, a row of the op reference, what an error
cites, and what the front end asks before an op exists. Identifiers are those of the public references: HW-… and X-…
(ISA documentation), BIR… (error catalogue of the backend). Where the documentation and the analysis of the backend
differ, what either calls legal is accepted; the rule's `source` says so.

A rule holds for the generations from `since` up to, not including, `before`. Without a target the most permissive
generation holds: a rule with `before` is skipped, and a limit that differs takes its largest value.
"""

from nki_mlir.isa.rules.base import HBM, Limit, RoleRule, Rule, by_identifier, check_all, limit_at
from nki_mlir.isa.rules.counts import (
    FreeLimit,
    FreeSize,
    PartitionCount,
    PatternCovers,
    ReducedShape,
    SameCount,
    SameFree,
    SamePartitions,
    VectorOrTile,
)
from nki_mlir.isa.rules.dtypes import (
    DmaCast,
    DtypeIn,
    ElementSize,
    FloatScalar,
    ImmediateFits,
    PackedCopy,
    PsumDtype,
    SameDtype,
    Unpacked,
    VectorDtype,
)
from nki_mlir.isa.rules.engines import NotInPsumOn, OnEngine, OpNotInPsum, OpOnEngines, OpPairsOn
from nki_mlir.isa.rules.generations import DtypeAvailable, EngineSince, OpAvailable, SinceTarget, SinceValue
from nki_mlir.isa.rules.groups import destinations, on_chip
from nki_mlir.isa.rules.memory import Aligned, InMemory, InOnePsumBank, NotBothPsum, PsumAlignment
from nki_mlir.isa.rules.operators import ArithmeticOnly, BitwiseOnIntegers, OperandOfOp, OpIn, SameOpClass
from nki_mlir.isa.rules.parameters import NeedsTile, Requires, Together, ValueIn
from nki_mlir.isa.rules.patterns import (
    ContiguousPartitions,
    Dimensions,
    DistinctDestination,
    InsideStorage,
    PartitionLimit,
    StartPartition,
    StepRange,
)
from nki_mlir.isa.rules.registers import ComparisonForm, OneElement, RegisterNumber

__all__ = [
    "HBM",
    "Aligned",
    "ArithmeticOnly",
    "BitwiseOnIntegers",
    "ComparisonForm",
    "ContiguousPartitions",
    "Dimensions",
    "DistinctDestination",
    "DmaCast",
    "DtypeAvailable",
    "DtypeIn",
    "ElementSize",
    "EngineSince",
    "FloatScalar",
    "FreeLimit",
    "FreeSize",
    "ImmediateFits",
    "InMemory",
    "InOnePsumBank",
    "InsideStorage",
    "Limit",
    "NeedsTile",
    "NotBothPsum",
    "NotInPsumOn",
    "OnEngine",
    "OneElement",
    "OpAvailable",
    "OpIn",
    "OpNotInPsum",
    "OpOnEngines",
    "OpPairsOn",
    "OperandOfOp",
    "PackedCopy",
    "PartitionCount",
    "PartitionLimit",
    "PatternCovers",
    "PsumAlignment",
    "PsumDtype",
    "ReducedShape",
    "RegisterNumber",
    "Requires",
    "RoleRule",
    "Rule",
    "SameCount",
    "SameDtype",
    "SameFree",
    "SameOpClass",
    "SamePartitions",
    "SinceTarget",
    "SinceValue",
    "StartPartition",
    "StepRange",
    "Together",
    "Unpacked",
    "ValueIn",
    "VectorDtype",
    "VectorOrTile",
    "by_identifier",
    "check_all",
    "destinations",
    "limit_at",
    "on_chip",
]

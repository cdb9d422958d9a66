"""The shared dialect `nki`: types and attributes that Penguin, KLR and BIR use alike."""

from xdsl.ir import Dialect

from nki_mlir.dialects import attributes
from nki_mlir.dialects.access import Access

NKI = Dialect(
    "nki",
    [],
    [
        Access,
        attributes.MemType,
        attributes.IndexType,
        attributes.RegisterType,
        attributes.RegisterAttr,
        attributes.Immediate,
        attributes.ExprAttr,
        attributes.ConditionAttr,
        attributes.PatternAttr,
        attributes.AluOpAttr,
        attributes.ActivationFunctionAttr,
        attributes.EngineAttr,
        attributes.AccumulateCommandAttr,
        attributes.PerfModeAttr,
        attributes.AxisListAttr,
        attributes.DgeTypeAttr,
        attributes.OobModeAttr,
        attributes.TensorKindAttr,
        attributes.LoopKindAttr,
        attributes.BranchCompareOpAttr,
        attributes.DtypeAttr,
        attributes.ArchAttr,
    ],
)

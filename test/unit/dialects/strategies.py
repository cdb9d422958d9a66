"""Hypothesis strategies for expressions, patterns and numbers."""

from hypothesis import settings
from hypothesis import strategies as st

from nki_mlir.dialects import affine
from nki_mlir.dialects.access import Access, AccessFields, Indirection, Pair, numbered
from nki_mlir.dialects.affine import Expr
from nki_mlir.isa.dtypes import Dtype

relaxed = settings(deadline=None)
"""For properties: the machine may be busy."""
INDICES = 3
integers = st.integers(-200, 200)


def _combined(inner: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
    return st.one_of(
        st.builds(affine.add, inner, inner),
        st.builds(affine.multiply, st.integers(-9, 9), inner),
        st.builds(affine.quotient, st.sampled_from(["floordiv", "mod"]), inner, st.integers(1, 9)),
    )


expressions: st.SearchStrategy[Expr] = st.recursive(
    st.one_of(integers, st.integers(0, INDICES - 1).map(affine.index)), _combined, max_leaves=6
)
points = st.lists(st.integers(-20, 20), min_size=INDICES, max_size=INDICES)

_pairs = st.lists(
    st.builds(
        Pair,
        st.integers(-8, 8),
        st.integers(1, 5),
        st.lists(expressions.filter(lambda e: not isinstance(e, int)), max_size=2).map(tuple),
    ),
    min_size=1,
    max_size=3,
).map(tuple)


@st.composite
def accesses(draw: st.DrawFn) -> Access:
    """Any access pattern, on chip or in HBM."""
    on_chip = draw(st.booleans())
    partition_pairs = draw(_pairs) if on_chip else None
    pairs = draw(_pairs)
    count = len(pairs) + len(partition_pairs or ())
    indirect = draw(st.none() | st.builds(Indirection, st.integers(0, count - 1), st.integers(0, 99)))
    fields = AccessFields(
        draw(expressions),
        draw(expressions) if on_chip else None,
        partition_pairs,
        draw(expressions),
        pairs,
        draw(st.sampled_from(list(Dtype))),
        indirect,
    )
    return numbered(fields)[0]

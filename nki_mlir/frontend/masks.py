"""Masks: conditions on indices that shrink or drop an instruction.

A mask is a conjunction of comparisons (`symbolic.Pred`), or a plain bool when everything in it is known. A comparison
over an index grid shrinks one dimension of the instruction's operands; one over loops and programs alone is a guard, a
predicate of the instruction.

Source: NKI ISA reference, §3.7; Penguin reference, §6.7.
"""

import itertools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeVar

from nki_mlir.frontend.errors import err_mask_not_equal_not_supported, err_unsupported_expression_in_mask
from nki_mlir.frontend.subscripts import Index, Limit, Pending, out_of_bound
from nki_mlir.frontend.symbolic import (
    EQ,
    GE,
    NE,
    Atom,
    Axis,
    Lowest,
    Opaque,
    Pred,
    Sym,
    Term,
    Var,
    affine,
    axes_of,
    bounds,
    concretise,
    decide,
    evaluate,
    fix,
    loop_vars,
    settled,
)
from nki_mlir.frontend.tensors import View

AnyView = TypeVar("AnyView", bound=View)

_SEARCH = 4096
"""How many points are tried to find one that a mask lets out of bounds; beyond that the simulator has to tell."""


class AxisLimit(NamedTuple):
    """What a mask leaves of a dimension of `size`: indices from `lower`, below each of `uppers`."""

    size: int
    lower: Index
    uppers: tuple[Index, ...]


def as_mask(value: Any) -> "Pred | bool":
    """Returns what `mask=value` means: True for no mask, False for nothing to do, else a conjunction.

    Quotients in conditions without a grid narrow their loops until they are sums.

    Raises:
        NKISyntaxError: `!=` over an index grid.
        NKIValueError: `value` is no comparison of indices.
    """
    if value is None or value is True:
        return True
    if not isinstance(value, Pred):
        return _known(value)
    atoms: list[Atom] = []
    for expr, kind in value.atoms:
        grid = any(axes_of(expr))
        if kind == NE:
            if grid:
                raise err_mask_not_equal_not_supported()
            if decide(expr, EQ):
                return False
            continue
        number = expr if grid else affine(expr)
        lo, hi = bounds(number)
        if hi < 0 or (kind == EQ and lo > 0):
            return False
        if isinstance(number, Sym) and (lo < 0 or (kind == EQ and hi > 0)):
            atoms.append(Atom(number, kind))
    return Pred(tuple(atoms)) if atoms else True


def _known(value: Any) -> bool:
    """A mask that Python has already worked out: a bool, one of numpy, or `~` of a bool, which is -1 or -2."""
    if type(value) is int and value in (-2, -1, 0, 1):
        return value in (-1, 1)
    shape: tuple[int, ...] = getattr(value, "shape", ())
    if isinstance(value, bool) or (not shape and getattr(getattr(value, "dtype", None), "kind", "") == "b"):
        return bool(value)
    raise err_unsupported_expression_in_mask(
        f"array of shape {shape}" if shape else repr(value), "is no comparison of indices"
    )


def guards(mask: "Pred | bool") -> tuple[Atom, ...]:
    """The conditions of a mask from `as_mask` that no index grid takes part in: predicates of the instruction."""
    atoms = mask.atoms if isinstance(mask, Pred) else ()
    return tuple(atom for atom in atoms if not any(axes_of(atom.expr)))


def axis_limits(mask: "Pred | bool", view: View) -> tuple[list[AxisLimit | None], list[Atom]]:
    """Returns what a mask leaves of each dimension of `view`, and the conditions over grids that concern none of them.

    `view` is the operand with the instruction's iteration domain. A condition belongs to the dimension that was made
    with its axis, else to the one at the axis's position with its size.

    Raises:
        NKIValueError: a condition is over several axes, or over a quotient of one.
    """
    lowers: list[list[Index]] = [[] for _ in view.shape]
    uppers: list[list[Index]] = [[] for _ in view.shape]
    strangers: list[Atom] = []
    for atom in mask.atoms if isinstance(mask, Pred) else ():
        axis = _axis(atom)
        if axis is None:
            continue
        dimension = _dimension(view, axis)
        if dimension is None:
            strangers.append(atom)
            continue
        lower, upper = _interval(atom, axis)
        if lower is not None:
            lowers[dimension].append(lower)
        if upper is not None:
            uppers[dimension].append(upper)
    limits: list[AxisLimit | None] = []
    for size, low, high in zip(view.shape, lowers, uppers, strict=True):
        limits.append(AxisLimit(size, max(low, default=0), tuple(high)) if low or high else None)
    return limits, strangers


def _axis(atom: Atom) -> Axis | None:
    """The one axis that a condition is about; None if it is a guard."""
    axes = [term for term, coefficient in atom.expr.terms.items() if isinstance(term, Axis) and coefficient]
    quotients = [term for term in atom.expr.terms if isinstance(term, Opaque) and any(axes_of(term.expr))]
    if len(axes) > 1 or quotients:
        reason = "takes '//' or '%' of an index grid" if quotients else "compares several axes, each restricts one"
        raise err_unsupported_expression_in_mask(f"{atom.expr!r} {atom.kind} 0", reason)
    return axes[0] if axes else None


def _dimension(view: View, axis: Axis) -> int | None:
    if view.grid is not None and any(own is axis for own in view.grid.axes):
        return next(at for at, own in enumerate(view.grid.axes) if own is axis)
    at = len(view.shape) + axis.position
    return at if at >= 0 and view.shape[at] == axis.hi else None


def _interval(atom: Atom, axis: Axis) -> tuple[Index | None, Index | None]:
    """(lowest, end) of the values of `axis` that satisfy the condition; None where it sets no bound."""
    step = atom.expr.terms[axis]
    rest: Index = atom.expr.const
    for term, coefficient in atom.expr.terms.items():
        if not isinstance(term, Axis):
            rest = Sym(0, {term: coefficient}) + rest
    if atom.kind == EQ:
        root = affine(-rest // step)
        return (root, root + 1) if decide(root * step + rest, EQ) else (0, 0)
    if step > 0:
        return affine(-(rest // step)), None
    return None, affine(rest // -step + 1)


def restrict(view: AnyView, limits: "Sequence[AxisLimit | None]") -> AnyView | None:
    """Returns what `limits`, one for each dimension, leave of `view`; None if that is nothing.

    A dimension whose size is not that of its limit is a broadcast one and stays. What limited the view before, does so
    still.
    """
    shape, offsets = list(view.shape), list(view.offsets)
    cuts: list[Limit | None] = [None] * len(shape) if view.limits is None else list(view.limits)
    for at, (limit, (part, step)) in enumerate(zip(limits, view.layout, strict=True)):
        if limit is None or limit.size != shape[at]:
            continue
        lower = limit.lower if decide(limit.lower, GE) else 0
        size = shape[at]
        pending: list[Sym] = []
        before = cuts[at]
        for end in (size, *limit.uppers, *(() if before is None else before.bounds)):
            number = settled(end - lower)
            low, high = bounds(number)
            if high <= 0:
                return None
            if isinstance(number, Sym) and low < size:
                pending.append(number)
            else:
                size = min(size, low)
        offsets[part] = settled(offsets[part] + settled(lower) * step)
        shape[at] = size
        cuts[at] = Limit(size, tuple(number for number in pending if bounds(number)[0] < size))
    made = view.with_limits(tuple(shape), (offsets[0], offsets[1], offsets[2]), tuple(cuts))
    return made


def nonempty(mask: Pred, limits: "Sequence[AxisLimit | None]") -> Pred:
    """Returns a mask with guards that limits leave something, where that is not certain.

    They stand for dimensions that a result does not have, so that nothing else tells when it is not written.
    """
    found: list[Atom] = []
    for limit in limits:
        if limit is None:
            continue
        lower = limit.lower if decide(limit.lower, GE) else 0
        for end in (limit.size, *limit.uppers):
            number = settled(end - lower)
            if isinstance(number, Sym) and bounds(number)[0] <= 0:
                found.append(Atom(number - 1, GE))
    return Pred((*mask.atoms, *found)) if found else mask


def extent(limit: AxisLimit | None, size: int) -> tuple[int, int]:
    """Returns (first index, number of elements) that a limit leaves of a dimension of `size`.

    Loop variables in it are narrowed until both are numbers: the loop stays as it is where all is left, and takes one
    value at a time where that differs.
    """
    if limit is None or limit.size != size:
        return 0, size
    first = concretise(limit.lower) if decide(limit.lower - 1, GE) else 0
    ends = [size if decide(end - size, GE) else concretise(end) for end in limit.uppers]
    return first, max(0, min([size, *ends]) - first)


def check_bounds(view: View, mask: "Pred | bool" = True) -> None:
    """Checks what the subscript of `view` left open, now that the mask of the instruction is known.

    An index is inside if a condition of the mask implies it. Otherwise a point is looked for that passes the mask and
    is outside; without one the access is left to the simulator.

    Raises:
        NKIIndexError: there is such a point.
    """
    if view.grid is None or not view.grid.pending:
        return
    if not isinstance(mask, Pred):
        if mask:
            view.check_bounds()
        return
    mask = Pred(tuple(Atom(_over_own_axes(view, atom.expr), atom.kind) for atom in mask.atoms))
    for pending in view.grid.pending:
        for inside in (pending.expr, pending.size - 1 - pending.expr):
            _check_inside(view, pending, inside, mask)


def _over_own_axes(view: View, expr: Sym) -> Sym:
    """Returns an expression over the axes that a view was made with, where it is over others of the same dimensions."""
    own = view.grid.axes if view.grid is not None else ()
    terms: dict[Term, int] = {}
    for term, coefficient in expr.terms.items():
        at = _dimension(view, term) if isinstance(term, Axis) else None
        known = term if at is None or at >= len(own) else own[at] or term
        terms[known] = terms.get(known, 0) + coefficient
    return Sym(expr.const, terms)


def _check_inside(view: View, pending: Pending, inside: Sym, mask: Pred) -> None:
    atoms = [atom.expr for atom in mask.atoms] + [-atom.expr for atom in mask.atoms if atom.kind == EQ]
    if bounds(inside)[0] >= 0 or any(bounds(inside - expr)[0] >= 0 for expr in atoms):
        return
    subject: Index = inside
    while True:
        witness = _witness(subject, mask)
        if witness is None:
            return
        if not loop_vars(subject) and not any(loop_vars(atom.expr) for atom in mask.atoms):
            break
        # The point may belong to a later iteration: the loops go one by one, and each asks again.
        if loop_vars(subject):
            subject = fix(subject)
        else:
            fix(next(atom.expr for atom in mask.atoms if loop_vars(atom.expr)))
    number = evaluate(pending.expr, witness)
    raise out_of_bound(view, pending.dimension, pending.size, number)


def _witness(inside: Index, mask: Pred) -> Lowest | None:
    """A point where the mask holds and `inside` is negative."""
    found: dict[Var | Axis, None] = {}
    for expr in (inside, *(atom.expr for atom in mask.atoms)):
        found.update(dict.fromkeys(axes_of(expr)))
        found.update(dict.fromkeys(loop_vars(expr)))
    variables = list(found)

    def outside(point: Lowest) -> bool:
        return evaluate(inside, point) < 0 and all(
            evaluate(expr, point) >= 0 if kind == GE else evaluate(expr, point) == 0 for expr, kind in mask.atoms
        )

    terms = inside.terms if isinstance(inside, Sym) else {}
    corner = Lowest({v: v.hi - 1 if terms.get(v, 0) < 0 else v.lo for v in variables})
    if outside(corner):
        return corner
    if math.prod(v.hi - v.lo for v in variables) > _SEARCH:
        return None
    for values in itertools.product(*(range(v.lo, v.hi) for v in variables)):
        point = Lowest(zip(variables, values, strict=True))
        if outside(point):
            return point
    return None

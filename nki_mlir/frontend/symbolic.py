"""Integers that stand for all iterations of a loop at once.

A rolled loop runs its body once with a `Sym`: a constant plus a sum of coefficients times variables. A variable has a
domain `[lo, hi)`. Sums, products with constants, `//`, `%` and comparisons stay symbolic. Everything else that Python
wants to know about such a number *narrows* the domain of a loop variable from above until the answer is certain, and
the loop runs its body again for the rest (`loops.py`). What was recorded before the narrowing held for the old domain,
so it holds for the smaller one.

Variables are loop indices and program ids (`Var`), the axes of index grids (`Axis`, never narrowed), and quotients and
remainders that are no sums (`Opaque`). Numbers that are known stay plain ints: no function here returns a `Sym` without
a variable.
"""

import math
import operator
from collections.abc import Callable, Iterator, Mapping
from numbers import Integral, Number, Real
from typing import Any, NamedTuple, NoReturn

from nki_mlir.frontend.errors import (
    KernelError,
    NKITypeError,
    err_cannot_assign_to_index,
    err_control_flow_condition_depending_on_arange,
    err_logic_or_not_supported,
    err_tensor_index_not_supported,
    err_tile_index_add_non_integer_scalar,
)

GE, EQ, NE = ">=", "==", "!="

Operator = Callable[[Any, Any], Any]
_operators: Any = operator


class Var:
    """A loop index or a program id, counted in iterations. `depth` orders them, 0 is outermost.

    After its loop has closed, the domain is the last iteration alone, which is what the name means then.
    """

    __slots__ = ("depth", "hi", "lo", "loop", "name")

    def __init__(self, lo: int, hi: int, depth: int = 0, name: str = "", loop: object = None) -> None:
        self.lo = lo
        self.hi = hi
        self.depth = depth
        self.name = name
        self.loop = loop

    @property
    def fixed(self) -> bool:
        return self.hi - self.lo == 1

    def __repr__(self) -> str:
        return self.name or "index"

    def __deepcopy__(self, memo: object) -> "Var":
        return self


class Axis:
    """One axis of an index grid, with values 0 to `hi` - 1.

    `position` counts from the right (-1 is the last dimension of the grid), as broadcasting does; `rank` is the number
    of dimensions of the grid. An arange that has not been given its place by `[:, None]` is not `placed`.
    """

    __slots__ = ("hi", "placed", "position", "rank")
    lo = 0

    def __init__(self, size: int, position: int = -1, rank: int = 1, placed: bool = True) -> None:
        self.hi = size
        self.position = position
        self.rank = rank
        self.placed = placed

    def __repr__(self) -> str:
        return f"axis[{self.rank + self.position}]"

    def __deepcopy__(self, memo: object) -> "Axis":
        return self


class Opaque:
    """`expr // divisor` or `expr % divisor` where that is no sum. Equal ones are equal by value."""

    __slots__ = ("divisor", "expr", "hash", "remainder")

    def __init__(self, expr: "Sym", divisor: int, remainder: bool) -> None:
        self.expr = expr
        self.divisor = divisor
        self.remainder = remainder
        self.hash = hash((frozenset(expr.terms.items()), expr.const, divisor, remainder))

    @property
    def lo(self) -> int:
        return self._range()[0]

    @property
    def hi(self) -> int:
        return self._range()[1] + 1

    def _range(self) -> tuple[int, int]:
        lo, hi = bounds(self.expr)
        first, last = lo // self.divisor, hi // self.divisor
        if not self.remainder:
            return first, last
        if first != last:
            return 0, self.divisor - 1
        return lo - first * self.divisor, hi - first * self.divisor

    def __hash__(self) -> int:
        return self.hash

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Opaque)
            and self.hash == other.hash
            and self.divisor == other.divisor
            and self.remainder == other.remainder
            and same(self.expr, other.expr)
        )

    def __repr__(self) -> str:
        return f"({self.expr!r}) {'%' if self.remainder else '//'} {self.divisor}"


Term = Var | Axis | Opaque


def _observed(op: Operator) -> Callable[["Sym", Any], Any]:
    """An operator that needs the number itself."""

    def method(self: "Sym", other: Any) -> Any:
        return op(concretise(self), other)

    return method


def _observed_right(op: Operator) -> Callable[["Sym", Any], Any]:
    def method(self: "Sym", other: Any) -> Any:
        return op(other, concretise(self))

    return method


def _mixed(op: Operator, number: "Sym", other: Any) -> Any:
    """`op(number, other)` where `other` is neither an int nor symbolic."""
    if isinstance(other, Integral | Pred):
        return op(number, int(other))
    if isinstance(other, Number):
        if grid_rank(number):
            raise err_tile_index_add_non_integer_scalar(other)
        return op(concretise(number), other)
    return NotImplemented


def _limit(other: Any, rounding: Callable[[Any], int]) -> Any:
    """What to compare an integer with instead of `other`: an int, a Sym, a float that is no number, or None.

    `i < 2.5` is `i < 3`: `rounding` gives the integer.
    """
    if type(other) is int or isinstance(other, Sym):
        return other
    if isinstance(other, Integral | Pred):
        return int(other)
    if isinstance(other, Real):
        return rounding(other) if math.isfinite(other) else float(other)
    return None


def _ordering(compare: Operator, rounding: Callable[[Any], int], difference: Operator) -> Callable[["Sym", Any], Any]:
    """A comparison of order; `difference` of the two numbers is >= 0 where it holds."""

    def method(self: "Sym", other: Any) -> Any:
        limit = _limit(other, rounding)
        if limit is None:
            return compare(concretise(self), other) if isinstance(other, Number) else NotImplemented
        if isinstance(limit, float):
            return compare(0, limit)
        result = difference(self, limit)
        return Pred((Atom(result, GE),)) if isinstance(result, Sym) else result >= 0

    return method


class Sym:
    """const + the sum of coefficient * variable. Immutable."""

    __slots__ = ("const", "terms")
    __iter__ = None

    def __array_ufunc__(self, function: Any, method: str, *inputs: Any, **options: Any) -> Any:
        """Arithmetic with numbers of numpy is that of this class; numpy's other functions see a number."""
        from nki_mlir.frontend.index_ufuncs import ufunc

        return ufunc(function, method, inputs, options)

    def __init__(self, const: int, terms: dict[Term, int]) -> None:
        self.const = const
        self.terms = terms

    # What stays symbolic

    def __add__(self, other: Any) -> Any:
        if type(other) is int:
            return Sym(self.const + other, self.terms)
        if isinstance(other, Sym):
            return _combine(self, other, 1)
        return _mixed(operator.add, self, other)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        if type(other) is int:
            return Sym(self.const - other, self.terms)
        if isinstance(other, Sym):
            return _combine(self, other, -1)
        return _mixed(operator.sub, self, other)

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __neg__(self) -> Any:
        return self * -1

    def __pos__(self) -> "Sym":
        return self

    def __invert__(self) -> Any:
        return -self - 1

    def __mul__(self, other: Any) -> Any:
        if type(other) is int:
            if other == 0:
                zeros: dict[Term, int] = dict.fromkeys(axes_of(self), 0)
                return Sym(0, zeros) if zeros else 0
            return Sym(self.const * other, {t: c * other for t, c in self.terms.items()})
        if isinstance(other, Sym):
            return _product(self, other)
        return _mixed(operator.mul, self, other)

    __rmul__ = __mul__

    def __floordiv__(self, other: Any) -> Any:
        if type(other) is int:
            if other > 0:
                return _quotient(self, other)
            return -self // -other if other else concretise(self) // 0
        if isinstance(other, Sym):
            return self // concretise(other)
        return _mixed(_operators.floordiv, self, other)

    def __mod__(self, other: Any) -> Any:
        if type(other) is int:
            if other > 0:
                return _remainder(self, other)
            return -(-self % -other) if other else concretise(self) % 0
        if isinstance(other, Sym):
            return self % concretise(other)
        return _mixed(operator.mod, self, other)

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    def __lshift__(self, other: Any) -> Any:
        if not isinstance(other, Integral | Sym):
            return NotImplemented
        return self * (1 << operator.index(other))

    def __rshift__(self, other: Any) -> Any:
        if not isinstance(other, Integral | Sym):
            return NotImplemented
        return self // (1 << operator.index(other))

    def __round__(self, digits: int | None = None) -> Any:
        return self if digits is None or digits >= 0 else round(concretise(self), digits)

    def __floor__(self) -> "Sym":
        return self

    __ceil__ = __trunc__ = __floor__

    def __abs__(self) -> Any:
        return self if self >= 0 else -self

    # Comparisons

    __lt__ = _ordering(operator.lt, math.ceil, lambda number, limit: limit - number - 1)
    __le__ = _ordering(operator.le, math.floor, lambda number, limit: limit - number)
    __gt__ = _ordering(operator.gt, math.floor, lambda number, limit: number - limit - 1)
    __ge__ = _ordering(operator.ge, math.ceil, lambda number, limit: number - limit)

    def __eq__(self, other: object) -> Any:
        limit = _limit(other, math.floor)
        if limit is None:
            return operator.eq(concretise(self), other) if isinstance(other, Number) else NotImplemented
        if isinstance(limit, float) or (not isinstance(limit, Sym) and limit != other):
            return False
        difference = self - limit
        return Pred((Atom(difference, EQ),)) if isinstance(difference, Sym) else difference == 0

    def __ne__(self, other: object) -> Any:
        equal = Sym.__eq__(self, other)
        return equal if equal is NotImplemented else ~equal if isinstance(equal, Pred) else not equal

    # What needs the number

    def __bool__(self) -> bool:
        return not decide(self, EQ)

    def __hash__(self) -> int:
        return hash(concretise(self))

    def __index__(self) -> int:
        return concretise(self)

    def __int__(self) -> int:
        return concretise(self)

    def __float__(self) -> float:
        return float(concretise(self))

    def __complex__(self) -> complex:
        return complex(concretise(self))

    def __str__(self) -> str:
        return str(concretise(self))

    def __format__(self, spec: str) -> str:
        return format(concretise(self), spec)

    __truediv__ = _observed(_operators.truediv)
    __rtruediv__ = _observed_right(_operators.truediv)
    __rfloordiv__ = _observed_right(_operators.floordiv)
    __rmod__ = _observed_right(_operators.mod)
    __rdivmod__ = _observed_right(divmod)
    __pow__ = _observed(_operators.pow)
    __rpow__ = _observed_right(_operators.pow)
    __and__ = _observed(_operators.and_)
    __rand__ = _observed_right(_operators.and_)
    __or__ = _observed(_operators.or_)
    __ror__ = _observed_right(_operators.or_)
    __xor__ = _observed(_operators.xor)
    __rxor__ = _observed_right(_operators.xor)
    __rlshift__ = _observed_right(_operators.lshift)
    __rrshift__ = _observed_right(_operators.rshift)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or not hasattr(int, name):
            raise AttributeError(f"an index has no attribute '{name}'")
        return getattr(concretise(self), name)

    # Index grids

    def __getitem__(self, key: Any) -> "Sym":
        """Gives the axes of a grid another place, as `[:, None]` does. Only whole slices, None and Ellipsis."""
        rank = grid_rank(self)
        if not rank:
            raise TypeError("an index is a number and cannot be indexed")
        given: Any = key
        items: list[Any] = list(given) if isinstance(key, tuple) else [given]
        whole = slice(None)
        filled = [whole] * (rank - sum(item is not None and item is not Ellipsis for item in items))
        if Ellipsis in items:
            at = items.index(Ellipsis)
            items[at : at + 1] = filled
        else:
            items += filled
        kept = [place for place, item in enumerate(items) if item is not None]
        if len(kept) != rank or any(items[place] != whole for place in kept):
            raise err_tensor_index_not_supported(repr(self), "a grid takes ':', None and '...' only")
        places: dict[Axis, Term] = {
            axis: Axis(axis.hi, kept[rank + axis.position] - len(items), len(items)) for axis in axes_of(self)
        }
        return _placed(self, places)

    def __setitem__(self, key: Any, value: Any) -> NoReturn:
        raise err_cannot_assign_to_index()

    def __copy__(self) -> "Sym":
        return self

    def __deepcopy__(self, memo: object) -> "Sym":
        return self

    def __repr__(self) -> str:
        text = ""
        for term, coefficient in self.terms.items():
            name = repr(term)
            sign, size = ("-" if coefficient < 0 else "+"), abs(coefficient)
            factor = name if size == 1 else f"{size}*({name})" if isinstance(term, Opaque) else f"{size}*{name}"
            text += (f" {sign} " if text else "-" if coefficient < 0 else "") + factor
        if self.const or not text:
            text += f" {'-' if self.const < 0 else '+'} {abs(self.const)}" if text else str(self.const)
        return text


def _combine(left: Sym, right: Sym, factor: int) -> "int | Sym":
    terms = dict(left.terms)
    for term, coefficient in right.terms.items():
        total = terms.get(term, 0) + factor * coefficient
        if total or isinstance(term, Axis):  # an axis that cancels out still gives the grid its shape
            terms[term] = total
        else:
            del terms[term]
    const = left.const + factor * right.const
    return Sym(const, terms) if terms else const


def _product(left: Sym, right: Sym) -> Any:
    """The product of two symbolic numbers: the outermost loops take one value until a factor is known."""
    a, b = settled(left), settled(right)
    while isinstance(a, Sym) and isinstance(b, Sym):
        free = sorted(loop_vars(a) | loop_vars(b), key=lambda var: var.depth)
        if not free:
            raise err_tensor_index_not_supported(f"({left!r}) * ({right!r})", "an index is a sum of multiples of axes")
        free[0].hi = free[0].lo + 1
        a, b = settled(a), settled(b)
    return a * b


def _split(value: Sym, divisor: int) -> tuple[dict[Term, int], dict[Term, int]]:
    """The coefficients of `value` as (quotients by `divisor`, remainders), rounded towards zero."""
    quotients: dict[Term, int] = {}
    rests: dict[Term, int] = {}
    for term, coefficient in value.terms.items():
        rest = abs(coefficient) % divisor * (-1 if coefficient < 0 else 1)
        if rest:
            rests[term] = rest
        if coefficient != rest:
            quotients[term] = (coefficient - rest) // divisor
    return quotients, rests


def _quotient(value: Sym, divisor: int) -> "int | Sym":
    terms, rests = _split(value, divisor)
    const, inner = divmod(value.const, divisor)
    if rests:
        common = math.gcd(divisor, *rests.values())
        part = Sym(inner // common, {term: coefficient // common for term, coefficient in rests.items()})
        reduced = divisor // common
        lo, hi = bounds(part)
        if lo // reduced == hi // reduced:
            const += lo // reduced
            for axis in axes_of(part):
                terms.setdefault(axis, 0)
        else:
            terms[Opaque(part, reduced, False)] = 1
    return Sym(const, terms) if terms else const


def _remainder(value: Sym, divisor: int) -> "int | Sym":
    _, rests = _split(value, divisor)
    const = value.const % divisor
    terms: dict[Term, int] = {term: 0 for term in value.terms if isinstance(term, Axis) and term not in rests}
    if rests:
        lo, hi = bounds(Sym(const, rests))
        if lo // divisor == hi // divisor:
            const -= lo // divisor * divisor
            terms |= rests
        else:
            common = math.gcd(divisor, *rests.values())
            quotient, const = divmod(const, common)
            part = Sym(quotient, {term: coefficient // common for term, coefficient in rests.items()})
            terms[Opaque(part, divisor // common, True)] = common
    return Sym(const, terms) if terms else const


def _placed(value: Sym, places: Mapping[Axis, Term]) -> Sym:
    terms: dict[Term, int] = {}
    for term, coefficient in value.terms.items():
        if isinstance(term, Axis):
            term = places[term]
        elif isinstance(term, Opaque):
            term = Opaque(_placed(term.expr, places), term.divisor, term.remainder)
        terms[term] = coefficient
    return Sym(value.const, terms)


# Queries


def same(left: object, right: object) -> bool:
    """Whether two numbers are the same expression; decides nothing."""
    if isinstance(left, Sym):
        return isinstance(right, Sym) and left.const == right.const and left.terms == right.terms
    return not isinstance(right, Sym) and left == right


def bounds(value: "int | Sym") -> tuple[int, int]:
    """The lowest and highest value over the current domains (exact for sums, a safe interval otherwise)."""
    if not isinstance(value, Sym):
        return value, value
    lo = hi = value.const
    for term, coefficient in value.terms.items():
        if coefficient > 0:
            lo += coefficient * term.lo
            hi += coefficient * (term.hi - 1)
        else:
            lo += coefficient * (term.hi - 1)
            hi += coefficient * term.lo
    return lo, hi


def loop_vars(value: "int | Sym") -> set[Var]:
    """The loop variables of `value`, also within quotients, that still have several values."""
    found: set[Var] = set()
    if isinstance(value, Sym):
        for term in value.terms:
            if isinstance(term, Var):
                if term.hi - term.lo > 1:
                    found.add(term)
            elif isinstance(term, Opaque):
                found |= loop_vars(term.expr)
    return found


def axes_of(value: "int | Sym") -> Iterator[Axis]:
    """The grid axes of `value`, also within quotients."""
    if isinstance(value, Sym):
        for term in value.terms:
            if isinstance(term, Axis):
                yield term
            elif isinstance(term, Opaque):
                yield from axes_of(term.expr)


def grid_rank(value: "int | Sym") -> int:
    """The number of dimensions of an index grid, 0 for a plain index."""
    return max((axis.rank for axis in axes_of(value)), default=0)


def evaluate(value: "int | Sym", values: Mapping[Var | Axis, int]) -> int:
    """The number that `value` is for `values`, which has all of its variables."""
    if not isinstance(value, Sym):
        return value
    result = value.const
    for term, coefficient in value.terms.items():
        if isinstance(term, Opaque):
            number = evaluate(term.expr, values)
            number = number % term.divisor if term.remainder else number // term.divisor
        else:
            number = values[term]
        result += coefficient * number
    return result


class Lowest(dict[Var | Axis, int]):
    """Values of variables; those not listed have the lowest one of their domain."""

    def __missing__(self, variable: Var | Axis) -> int:
        return variable.lo


def settled(value: "int | Sym") -> "int | Sym":
    """`value` with everything that is certain by now replaced by its number: fixed variables, folded quotients."""
    if not isinstance(value, Sym):
        return value
    for term in value.terms:
        if isinstance(term, Opaque) or (isinstance(term, Var) and term.fixed):
            break
    else:
        return value
    result: int | Sym = value.const
    for term, coefficient in value.terms.items():
        if isinstance(term, Opaque):
            inner = settled(term.expr)
            number = inner % term.divisor if term.remainder else inner // term.divisor
            result = number * coefficient + result
        elif isinstance(term, Var) and term.fixed:
            result += coefficient * term.lo
        else:
            result = Sym(0, {term: coefficient}) + result
    return result


# Decisions: each of these may narrow domains


def fix(value: "int | Sym") -> "int | Sym":
    """Fixes the outermost loop variable of `value` that has several values, to the lowest."""
    free = loop_vars(value)
    if free:
        var = min(free, key=lambda var: var.depth)
        var.hi = var.lo + 1
    return settled(value)


def concretise(value: "int | Sym") -> int:
    """The number itself: every loop variable takes its lowest value, and its loop goes on with the rest later.

    Raises:
        NKITypeError: the value is no integer.
        NKISyntaxError: an index grid has no single value.
    """
    if type(value) is int:
        return value
    if not isinstance(value, Sym):
        try:
            return operator.index(value)
        except KernelError:
            raise
        except TypeError:
            raise NKITypeError(f"expected an integer, got {value!r}", rule="integer") from None
    for var in loop_vars(value):
        var.hi = var.lo + 1
    number = settled(value)
    if isinstance(number, Sym):
        raise err_tensor_index_not_supported(repr(value), "an arange or mgrid index has no single value")
    return number


def plain(value: Any) -> Any:
    """`value`, but a loop index or a comparison of such as the number that it is (see `concretise`)."""
    return int(value) if isinstance(value, Sym | Pred) else value


def affine(value: "int | Sym") -> "int | Sym":
    """`value` without quotients and remainders: domains are narrowed until each quotient has one value.

    Raises:
        NKISyntaxError: a quotient or remainder of an index grid is left.
    """
    value = settled(value)
    while isinstance(value, Sym):
        opaque = next((term for term in value.terms if isinstance(term, Opaque)), None)
        if opaque is None:
            break
        if any(axes_of(opaque.expr)):
            raise err_tensor_index_not_supported(
                repr(value), "'//' and '%' of an arange or mgrid index are no multiples"
            )
        # Both hold at the lowest point of the domain, so deciding them keeps the part around it.
        block = evaluate(opaque.expr, Lowest()) // opaque.divisor * opaque.divisor
        decide(opaque.expr - block, GE)
        decide(block + opaque.divisor - 1 - opaque.expr, GE)
        value = settled(value)
    return value


def decide(value: "int | Sym", kind: str) -> bool:
    """Whether `value` is >= 0 (`GE`) or == 0 (`EQ`), now certain on what is left of the domains.

    Variables are fixed from the outside in until one is left; that one keeps the lower part of its domain, up to the
    first value with the other answer.

    Raises:
        NKISyntaxError: the answer differs within an index grid.
    """
    subject = value
    while True:
        lo, hi = bounds(subject)
        if kind == GE:
            if lo >= 0 or hi < 0:
                return lo >= 0
        elif lo > 0 or hi < 0 or lo == hi:
            return lo == hi == 0
        assert isinstance(subject, Sym)
        if any(axes_of(subject)):
            raise err_control_flow_condition_depending_on_arange(f"{value!r} {kind} 0")
        if len(loop_vars(subject)) > 1:
            subject = fix(subject)
            continue
        subject = affine(subject)
        if isinstance(subject, Sym):
            return _decide_one(subject, kind)


def _decide_one(value: Sym, kind: str) -> bool:
    """Decides a sum with a single free variable."""
    ((var, step),) = value.terms.items()
    assert isinstance(var, Var)
    const = value.const
    if kind == GE:
        answer = step * var.lo + const >= 0
        change = const // -step + 1 if step < 0 else -(const // step)
    else:
        root, left = divmod(-const, step)
        answer = left == 0 and root == var.lo
        change = var.lo + 1 if answer else root if left == 0 else var.hi
    if var.lo < change < var.hi:
        var.hi = change
    return answer


# Conditions


class Atom(NamedTuple):
    """One comparison of `expr` with 0; `kind` is GE, EQ or NE."""

    expr: Sym
    kind: str


def _is_bool(value: Any) -> bool:
    return isinstance(value, bool) or getattr(getattr(value, "dtype", None), "kind", "") == "b"


class Pred:
    """A conjunction of comparisons. It is a condition to Python (`bool` decides it), and a mask to an instruction."""

    __slots__ = ("atoms",)
    __array_ufunc__ = None

    def __init__(self, atoms: tuple[Atom, ...]) -> None:
        self.atoms = atoms

    def __bool__(self) -> bool:
        return all(decide(expr, EQ if kind == NE else kind) is not (kind == NE) for expr, kind in self.atoms)

    def __and__(self, other: Any) -> Any:
        if isinstance(other, Pred):
            return Pred(self.atoms + other.atoms)
        if _is_bool(other):
            return self if other else False
        return int(self) & other

    def __rand__(self, other: Any) -> Any:
        return self & other

    def __mul__(self, other: Any) -> Any:
        return self & other if isinstance(other, Pred) or _is_bool(other) else int(self) * other

    def __rmul__(self, other: Any) -> Any:
        return self * other

    def __invert__(self) -> "Pred":
        (expr, kind), *others = self.atoms
        if others:
            raise err_logic_or_not_supported("mask")
        return Pred((Atom(-expr - 1, GE) if kind == GE else Atom(expr, EQ if kind == NE else NE),))

    def __or__(self, other: Any) -> Any:
        """Decides both sides, which gives the plain meaning for loops; masks over grids have no alternatives."""
        conditions = (self, other) if isinstance(other, Pred) else (self,)
        if any(any(axes_of(atom.expr)) for pred in conditions for atom in pred.atoms):
            raise err_logic_or_not_supported("mask")
        return bool(self) | other if not isinstance(other, Pred) else bool(self) | bool(other)

    __ror__ = __or__

    def __xor__(self, other: Any) -> Any:
        return bool(self) ^ (bool(other) if isinstance(other, Pred) else other)

    __rxor__ = __xor__

    def __eq__(self, other: object) -> bool:
        return bool(self) == (bool(other) if isinstance(other, Pred) else other)

    def __hash__(self) -> int:
        return hash(bool(self))

    def __int__(self) -> int:
        return int(bool(self))

    __index__ = __int__

    def __float__(self) -> float:
        return float(bool(self))

    def __add__(self, other: Any) -> Any:
        return int(self) + other

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return int(self) - other

    def __rsub__(self, other: Any) -> Any:
        return other - int(self)

    def __str__(self) -> str:
        return str(bool(self))

    def __format__(self, spec: str) -> str:
        return format(bool(self), spec)

    def __copy__(self) -> "Pred":
        return self

    def __deepcopy__(self, memo: object) -> "Pred":
        return self

    def __repr__(self) -> str:
        return " & ".join(f"({expr!r} {kind} 0)" for expr, kind in self.atoms)

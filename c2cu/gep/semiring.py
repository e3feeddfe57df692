"""Why the row k and the column k of an update keep their bits, where that depends on the data but is cheap to test.

At step k an element x of row k becomes f(x, w, x), one of column k f(x, x, w), with w = X[k][k]. For these f that is x
itself, or something that every read takes for it:

* *min-plus*, ``t = u + v; t < x ? t : x``. With floats ``w + x < x`` is false unless w < 0: rounding is monotone, what
  is compared with NaN is false, and infinities stay or make NaN. Elements only fall, so w < 0 at step k leaves
  X[k][k] < 0 at the end: it is enough to test the diagonal then. With integers ``w + x`` may also wrap. If no element
  of the diagonal is above 0 at first, all w are at most 0, and being at least 0 they are 0. Else it is enough that no
  element is above half of the largest number at first. Unsigned types that are added as int never wrap: no test.
* *max-plus*, ``t > x``: the same upside down; unsigned sums that wrap are smaller than x.
* *max-min* and *min-max*, ``t = min(u, v); t > x ? t : x``: t is w or x. Where it is w, the choice of w over x says
  that w > x is false. No test.
* *max-times*, ``t = u * v; t > x ? t : x``: elements only rise, so they stay at least 0, or NaN, if they are so at
  first. Then w * x > x is false unless w > 1, and this shows in the diagonal at the end. Floats only.
* *or-and*, of truth values or of bits: x | (w & x) = x. Where elements are read as truth values alone, it is enough
  that those stay. No test.

Guards before the choice make fewer stores, never others. Arrays stored under the same strict choice stay where it is
false. Where t may be chosen though it equals x, 0.0 may take the place of -0.0, or NaN of x: floats want the strict
choice, or `fmin` and its kin; integers do not.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from ..base.ctype import BOOL
from ..ir.canonical import extremum, unwidened
from ..ir.evaluate import evaluate
from ..ir.fold import MIRRORED
from ..ir.nodes import Binary, Cast, Const, Expr, Region, Select, Unary, Var, Variable
from ..ir.walk import operands, subexpressions
from .choice import Choice, choices, extremum_choice, guarded
from .form import Gep
from .nonnegative import nonnegative


@dataclass(frozen=True)
class Test:
    """``element op value``."""

    op: str
    value: Const


@dataclass(frozen=True)
class Proof:
    """Row k and column k stay unless an element of ``region``'s diagonal is ``diagonal`` after its step k, or any
    element is ``elements`` at first, or both of ``both`` are met at first: by some of the diagonal, and by any."""

    region: Region
    diagonal: Test | None = None
    elements: Test | None = None
    both: tuple[Test, Test] | None = None


def proof(g: Gep) -> Proof | None:
    """What to test instead of comparing row k and column k at every step; None where nothing is known of f."""
    values = dict(g.update.values)
    read = {p.region for p in g.update.places if p.where != "ij" and p.region in values}
    if len(values) == 1:
        r = next(iter(values))
        if _absorbs(g, r):
            return Proof(r)
        called = extremum_choice(values[r], _place(g, r, "ij"))
        result = _by_choice(g, r, called)
        if called is not None and result is not None and (r.type.is_integer or _is_sum(called.t)):
            return result
    for r in values:
        for choice in choices(values[r], _place(g, r, "ij")):
            rest = (choices(values[q], _place(g, q, "ij")) for q in read)
            if choice.is_strict and all(choice in c for c in rest):
                result = _by_choice(g, r, choice)
                if result is not None:
                    return result
    return None


def never_met(g: Gep, p: Proof) -> bool:
    """Whether none of the tests of ``p`` finds anything where all elements of the matrices that `nonnegative` names are
    at least 0, and no NaN, at first: they stay so, and what is tested is whether one is below 0."""
    below = Test("<", Const(0.0, p.region.type))
    return p.region in nonnegative(g) and p.both is None and {p.diagonal, p.elements} <= {None, below}


def _is_sum(t: Expr) -> bool:
    """With `fmin` and its kin, NaN gives way to another t."""
    return isinstance(t, Binary) and t.op == "+"


def _place(g: Gep, r: Region, where: str) -> Variable | None:
    return next((p.variable for p in g.update.places if (p.region, p.where) == (r, where)), None)


def _by_choice(g: Gep, r: Region, choice: Choice | None) -> Proof | None:
    """The rule for ``t op x``, if there is one."""
    if choice is None or unwidened(choice.x) != Var(_place(g, r, "ij") or Variable("", r.type)):
        return None
    rule = _rule(g, r, choice.op, choice.t)
    tested = rule is not None and rule != Proof(r)
    return None if tested and not _goes_one_way(g, r, choice.t) else rule


def _goes_one_way(g: Gep, r: Region, t: Expr) -> bool:
    """Whether elements only fall, or only rise: what is chosen is ``t`` itself, and nothing else is stored."""
    if any(r in dict(part.values) for part in g.scale):
        return False
    value, old = dict(g.update.values)[r], _place(g, r, "ij")
    called = extremum_choice(value, old)
    return guarded(value, old)[1] == t or (called is not None and called.t == t)


def _rule(g: Gep, r: Region, op: str, t: Expr) -> Proof | None:
    across = {_place(g, r, "ik"), _place(g, r, "kj")}
    if None in across:
        return None
    match t:
        case Binary(op="+" | "*", left=a, right=b) if _both(a, b, across):
            return _sum(r, op, t) if t.op == "+" else _product(r, op, t)
    least = _extremum(t, across)
    return Proof(r) if least is not None and least == (op == ">") else None


def _both(a: Expr, b: Expr, across: set[Variable | None]) -> bool:
    a, b = unwidened(a), unwidened(b)
    return isinstance(a, Var) and isinstance(b, Var) and {a.var, b.var} == across


def _sum(r: Region, op: str, t: Binary) -> Proof | None:
    zero, least = Const(0, r.type), op == "<"
    if t.type != r.type:  # narrow integers are added as int
        return Proof(r) if r.type.kind == "u" and r.type.size < t.type.size and least else None
    if r.type.is_float:
        return Proof(r, Test(op, Const(0.0, r.type)))
    if r.type.kind == "u":
        half = Const(2 ** (r.type.bits - 1) - 1, r.type)
        return Proof(r, both=(Test(">", zero), Test(">", half))) if least else Proof(r, Test(">", zero))
    if r.type.kind != "i":
        return None
    half = 2 ** (r.type.bits - 2) - 1
    away = Test(">", Const(half, r.type)) if least else Test("<", Const(-half, r.type))
    return Proof(r, Test(op, zero), both=(Test(MIRRORED[op], zero), away))


def _product(r: Region, op: str, t: Binary) -> Proof | None:
    if op == "<" or t.type != r.type or not r.type.is_float:
        return None
    return Proof(r, Test(">", Const(1.0, r.type)), Test("<", Const(0.0, r.type)))


def _extremum(t: Expr, across: set[Variable | None]) -> bool | None:
    """Whether ``t`` is the lesser of the two, or the greater; None for something else."""
    least = extremum(t)
    if least is not None and _both(least.left, least.right, across):
        return least.op == "min"
    return None


# or-and


def _absorbs(g: Gep, r: Region) -> bool:
    """Whether x | (w & x) = x, or the like, holds for all that is read of the elements: their truth, or their bits."""
    value = dict(g.update.values)[r]
    if any(p.region != r for p in g.update.places) or not r.type.is_integer:
        return False
    names = {p.variable: p.where for p in g.update.places}
    if {x.var for x in subexpressions(value) if isinstance(x, Var)} - set(names):
        return False  # of counters
    if _is_bitwise(value, r.type.size):
        return all(_computed(value, b) & 15 == 3 for b in _at_k(names, 3, 5))
    if not _is_boolean(value, _place(g, r, "ij")):
        return False
    for x, w in product((0, 1), repeat=2):
        if any(bool(_computed(value, b)) != bool(x) for b in _at_k(names, x, w)):
            return False
    return True


def _at_k(names: dict[Variable, str], x: int, w: int) -> Iterator[dict[Variable, int]]:
    """What places hold for an element x of row k, and for one of column k."""
    for row in (True, False):
        of = {"ij": x, "ik": w if row else x, "kj": x if row else w, "kk": w}
        yield {v: of[where] for v, where in names.items()}


def _is_bitwise(e: Expr, size: int) -> bool:
    """Whether each bit depends on those beside it in places of ``size`` bytes, all of which are kept."""
    match e:
        case Var():
            return e.type != BOOL
        case Binary(op="&" | "|" | "^"):
            return _is_bitwise(e.left, size) and _is_bitwise(e.right, size)
        case Cast(type=t):
            return t.is_integer and t != BOOL and t.size >= size and _is_bitwise(e.operand, size)
    return False


def _is_boolean(e: Expr, old: Variable | None = None) -> bool:
    """Whether ``e`` depends on the truth of places alone; where it is the value stored it may also be the element
    ``old`` as it is. Another place would bring its bits, which may change though its truth stays."""
    match e:
        case Const():
            return e.type.is_integer
        case Var():
            return e.var == old or e.type == BOOL
        case Binary(op="&&" | "||") | Unary(op="!"):
            return all(_is_truth(x) for x in operands(e))
        case Binary(op="!=" | "==", left=x, right=Const(value=0)):
            return _is_truth(x)
        case Binary(op="|", left=a, right=b) if old is not None:
            return _is_boolean(a, old) and _is_boolean(b, old)
        case Binary(op="&" | "|" | "^" | "==" | "!=", left=a, right=b):
            return _is_boolean(a) and _is_boolean(b) and not isinstance(a, Const)
        case Cast(type=t) if t == BOOL:
            return _is_truth(e.operand)
        case Cast(type=t) if t.is_integer:
            whole = all(x.type.size <= t.size for x in subexpressions(e.operand) if isinstance(x, Var))
            return _is_boolean(e.operand, old if whole else None)
        case Select():
            return _is_truth(e.cond) and _is_boolean(e.yes, old) and _is_boolean(e.no, old)
    return False


def _is_truth(e: Expr) -> bool:
    """Whether the truth of ``e`` depends on that of places alone."""
    while isinstance(e, Cast) and e.type.is_integer and (e.type == BOOL or e.type.size >= e.operand.type.size):
        e = e.operand
    return isinstance(e, Var) and e.type.is_integer or _is_boolean(e)


def _computed(e: Expr, held: dict[Variable, int]) -> int:
    """``e``, where variables hold these."""
    return evaluate(e, lambda x: held[x.var] if isinstance(x, Var) else x.value if isinstance(x, Const) else None)

"""Shortest paths of narrow integers: two elements in a word.

``min(x, u + v)`` of elements 0 <= x < 2^15 is the same in 16 bits without a sign: a sum is below 2^16, and elements
only fall. Thesis, 3.2.4, packs 4 bits so, with sums that saturate.
"""

from __future__ import annotations

from ..ctype import BOOL
from ..ir import Binary, Call, Cast, Expr, Region, Var, Variable
from ..minmax import minima, unwidened
from .choice import guarded
from .form import Gep

LIMIT = 1 << 15  # of elements


def least_sum(g: Gep) -> Region | None:
    """The one matrix of integers of which every step is ``X[i][j] = min(X[i][j], X[i][k] + X[k][j])``, for all i, j and
    k, with sums of at least 16 bits."""
    if g.scale or len(g.regions) != 1:
        return None
    r, value = g.update.values[0]
    spans = (g.k, g.update.rows, g.update.columns)
    if any(s.after or s.low > 0 for s in spans) or len({s.high for s in spans}) > 1:
        return None
    places = {p.where: p.variable for p in g.update.places}
    if set(places) != {"ij", "ik", "kj"} or not r.type.is_integer or r.type == BOOL:
        return None
    t = _lesser(value, places["ij"])
    if t is None or t.type.size < 2:
        return None
    match t:
        case Binary(op="+", left=a, right=b) if {_of(a), _of(b)} == {places["ik"], places["kj"]}:
            return r
    return None


def _lesser(value: Expr, old: Variable) -> Expr | None:
    """``t``, if ``value`` is the lesser of ``old`` and t. What is stored may be cast to the element's type, which holds
    it, but not what is compared: that would be another number."""
    value = _uncast(minima(value), old)
    if isinstance(value, Call) and value.name == "min":
        others = [unwidened(a) for a in value.args if _of(a) != old]
        return others[0] if len(others) == 1 else None
    guards, chosen = guarded(value, old)
    if len(guards) != 1:
        return None
    guard, wanted = guards[0]
    match guard:
        case Binary(op="<" | "<=" | ">" | ">=" as op, left=a, right=b):
            less, more = (a, b) if (op in ("<", "<=")) == wanted else (b, a)
            if _of(more) == old and _uncast(chosen, old) == unwidened(less):
                return unwidened(less)
    return None


def _uncast(e: Expr, old: Variable) -> Expr:
    while isinstance(e, Cast) and e.type.is_integer and e.type != BOOL and e.type.size >= old.type.size:
        e = e.operand
    return e


def _of(e: Expr) -> Variable | None:
    e = unwidened(e)
    return e.var if isinstance(e, Var) else None

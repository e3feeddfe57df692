"""Shortest paths of narrow integers: two elements in a word.

``min(x, u + v)`` of elements 0 <= x < 2^15 is the same in 16 bits without a sign: a sum is below 2^16, and elements
only fall. Thesis, 3.2.4, packs 4 bits so, with sums that saturate.
"""

from __future__ import annotations

from ..base.ctype import BOOL
from ..ir.canonical import unwidened
from ..ir.nodes import Binary, Cast, Expr, Extremum, Region, Var, Variable
from .choice import choices, extremum_choice, guarded
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
    value = _uncast(value, old)
    if isinstance(value, Extremum):
        least = extremum_choice(value, old) if value.op == "min" else None
        return unwidened(least.t) if least is not None else None
    match guarded(value, old):
        case ([(Binary(op="<" | "<=" | ">" | ">="), _)], chosen):  # and no condition besides
            less = (unwidened(c.t) for c in choices(value, old) if c.op in ("<", "<=") and _of(c.x) == old)
            return next((t for t in less if t == _uncast(chosen, old)), None)
    return None


def _uncast(e: Expr, old: Variable) -> Expr:
    while isinstance(e, Cast) and e.type.is_integer and e.type != BOOL and e.type.size >= old.type.size:
        e = e.operand
    return e


def _of(e: Expr) -> Variable | None:
    e = unwidened(e)
    return e.var if isinstance(e, Var) else None

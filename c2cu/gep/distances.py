"""Which matrices of a loop of Gaussian-elimination type hold the distances of a shortest-path program."""

from __future__ import annotations

from ..ir.nodes import Binary, Cast, Expr, Region, Var, Variable
from ..ir.walk import rewrite
from .choice import choices, extremum_choice, guarded
from .form import Gep


def distances(g: Gep) -> tuple[Region, ...]:
    """The matrices of signed numbers that each step updates as ``X[i][j] = min(X[i][j], X[i][k] + X[k][j])``."""
    return tuple(r for r, _ in g.strides if r.type.kind in ("i", "f") and _is_distance(g, r))


def _is_distance(g: Gep, r: Region) -> bool:
    value = dict(g.update.values).get(r)
    places = {p.where: p.variable for p in g.update.places if p.region == r}
    if g.scale or value is None or not {"ij", "ik", "kj"} <= places.keys():
        return False
    return _is_shorter(value, places["ij"], {places["ik"], places["kj"]})


def _is_shorter(value: Expr, old: Variable, via: set[Variable]) -> bool:
    """Whether ``value`` is the lesser of an element and a sum, or, under some condition, the element as it is."""
    value = rewrite(value, lambda x: x.operand if isinstance(x, Cast) else x)
    called = extremum_choice(value, old)
    if called is not None:
        return called.op == "<" and _is_sum(called.t, via)
    less = (c.t for c in choices(value, old) if c.op in ("<", "<=") and c.x == Var(old))
    return _is_sum(guarded(value, old)[1], via) and any(_is_sum(t, via) for t in less)


def _is_sum(e: Expr, via: set[Variable]) -> bool:
    return isinstance(e, Binary) and e.op == "+" and {x.var for x in (e.left, e.right) if isinstance(x, Var)} == via

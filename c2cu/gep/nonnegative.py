"""Floats that are never below zero: where a minimum is the choice that the C makes.

``t < x ? t : x`` is not `fminf(x, t)` where x is NaN, or where one is 0.0 and the other -0.0. Sums and choices of
numbers without a sign bit, infinity among them, are such numbers too, and of these the minimum has the bits of the
choice. So it is enough to look at the elements that come in.
"""

from __future__ import annotations

import math

from ..ir.nodes import Binary, Const, Expr, Extremum, Region, Select, Var, Variable
from ..ir.walk import subexpressions
from ..transform.minmax import minima
from .form import Gep

LARGEST_BITS = 0x7F800000  # of a float that is at least 0, and no NaN, as an unsigned integer: infinity's


def nonnegative(g: Gep) -> tuple[Region, ...]:
    """The matrices of float of which no element may have bits above `LARGEST_BITS`, so that the update's choices are
    minima and maxima, of bits too; () where that does not hold."""
    values = tuple(v for _, v in g.update.values)
    if g.scale:
        return ()
    places = {p.variable: p.region for p in g.update.places}
    floats = [e for v in values for e in subexpressions(v) if e.type.is_float]
    if not all(_stays(e, places) for e in floats):
        return ()
    read = [places[e.var] for e in floats if isinstance(e, Var)]
    stored = [r for r, v in g.update.values if r.type.is_float]
    return tuple(dict.fromkeys((*read, *stored)))


def chooses(g: Gep) -> bool:
    """Whether there is a choice that an exact program can only then make as a minimum."""
    return any(minima(v, True) != v for _, v in g.update.values)


def reduction(g: Gep) -> tuple[str, Expr] | None:
    """("min" or "max", t), if the update of matrices of float is the lesser or the greater of the element and ``t``,
    which is of no other element (i, j): of two steps' t and the element it may then be found at once."""
    if len(g.update.values) != 1 or any((p.region.type.kind, p.region.type.size) != ("f", 4) for p in g.update.places):
        return None
    region, value = g.update.values[0]
    value = minima(value, True)
    updated = [p for p in g.update.places if p.where == "ij"]
    if not isinstance(value, Extremum) or value.type != region.type or [p.region for p in updated] != [region]:
        return None
    old = Var(updated[0].variable)
    others = [x for x in (value.left, value.right) if x != old]
    if len(others) != 1 or old in subexpressions(others[0]):
        return None
    return value.op, others[0]


def _stays(e: Expr, places: dict[Variable, Region]) -> bool:
    """Whether ``e`` is at least 0, if what it is made of is."""
    if e.type.size != 4:
        return False
    match e:
        case Var(var=v):
            return v in places
        case Const(value=x):
            return x >= 0 and math.copysign(1, x) > 0
        case Binary(op=op):
            return op == "+"
    return isinstance(e, (Select, Extremum))

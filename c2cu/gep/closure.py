"""Transitive closure: the loop of Gaussian-elimination type whose result, of zeros and ones, is what can be reached.

With x | (u & v) for an update, row k and column k of zeros and ones keep their values in step k (x | (w & x) = x).
So every read of the C program sees what it would see in any other order, and after all steps X[i][j] is 1 where a path
leads from i to j: whatever computes that (Warshall 1962) computes the same bits.
"""

from __future__ import annotations

from itertools import product

from ..analysis.effects import fold_known
from ..ir.nodes import Binary, Cast, Const, Expr, Region, Select, Unary, Var
from ..ir.walk import subexpressions
from .form import Gep, NotGep, Range

_LOGICAL = ("&&", "||", "&", "|", "^", "==", "!=", "!")


def closure(g: Gep) -> Region | NotGep:
    """The matrix, if the program is the transitive closure of one whole square matrix whose elements are zeros and
    ones; else what stands in the way. Other values of elements, the program may take in any way."""
    if g.scale:
        return NotGep(f"it first computes {g.element(g.scale[0].values[0][0], g.scale[0].where)} anew", g.scale[0].loc)
    if len(g.strides) > 1:
        return NotGep(f"it takes {len(g.strides)} arrays, not one", g.update.loc)
    (r, value), whole = g.update.values[0], Range(0, g.k.high)
    if not r.type.is_integer:
        return NotGep(f"'{r.name}' has elements of type {r.type}, not of an integer type", g.update.loc)
    if (g.k, g.update.rows, g.update.columns) != (whole, whole, whole):
        return NotGep(f"not all of its loops go from 0 to {g.k.high - 1}", g.update.loc)
    if not _is_or_and(g, value):
        x, u, v = (g.element(r, where) for where in ("ij", "ik", "kj"))
        return NotGep(f"by logical operators alone, {x} does not become {x} | ({u} & {v})", value.loc)
    return r


def _is_or_and(g: Gep, value: Expr) -> bool:
    """Comparisons of sizes and sums are left out: who takes minima may well mean other numbers than 0 and 1."""
    if not all(map(_is_logical, subexpressions(value))):
        return False
    for bits in product((0, 1), repeat=4):
        held: dict[str, int] = dict(zip(("ij", "ik", "kj", "kk"), bits))
        known = {p.variable: Const(held[p.where], p.variable.type) for p in g.update.places}
        new = fold_known(value, known)
        if not isinstance(new, Const) or new.value != (held["ij"] | (held["ik"] & held["kj"])):
            return False  # a counter, or something else
    return True


def _is_logical(e: Expr) -> bool:
    match e:
        case Binary(op=op) | Unary(op=op):
            return op in _LOGICAL
    return isinstance(e, (Const, Var, Cast, Select))

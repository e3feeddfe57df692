"""Which operands of a run of divisions by constants are looked at.

A dividend is fit for products unless it is tiny and not 0. In most formulas it is a constant times a variable, which
others divide too: one look at the variable is enough for all.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from ..codegen.division import EXPONENTS, is_by_constant
from ..ir.nodes import Assign, Binary, Const, Expr, Select, Store, Unary, Var, Variable
from ..ir.walk import expressions, operands


def looks(run: Sequence[Assign | Store]) -> Mapping[int, Expr | None]:
    """By the id of each division: the variable that is to be looked at, or the dividend; None where that is done."""
    known: set[Variable] = set()
    out: dict[int, Expr | None] = {}
    for s in run:
        for e in expressions(s):
            for division, always in _divisions(e):
                base = _variable(division.left)
                if base is not None and base.var in known:
                    out.setdefault(id(division), None)
                    continue
                out[id(division)] = division.left if base is None else base
                if base is not None and always:
                    known.add(base.var)
        if isinstance(s, Assign):
            known.discard(s.var)
    return out


def _divisions(e: Expr) -> Iterator[tuple[Binary, bool]]:
    """Divisions by constants, and whether they are certain to be evaluated."""
    pending = [(e, True)]
    while pending:
        x, always = pending.pop()
        if isinstance(x, Binary) and is_by_constant(x):
            yield x, always
        chooses = isinstance(x, Select) or isinstance(x, Binary) and x.op in ("&&", "||")
        pending += [(y, always and not (chooses and k)) for k, y in enumerate(operands(x))]


def _variable(e: Expr) -> Var | None:
    """The variable of which a dividend is a multiple, by a constant that is neither too large nor too small."""
    match e:
        case Var():
            return e
        case Unary(op="-", operand=x):
            return _variable(x)
        case Binary(op="*", left=Const(value=c), right=x) | Binary(op="*", left=x, right=Const(value=c)):
            factor = float(c)
            if math.isfinite(factor) and factor and abs(math.frexp(factor)[1]) < EXPONENTS:
                return x if isinstance(x, Var) else None
    return None

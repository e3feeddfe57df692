"""Long doubles that are doubles, as in `double y = fabsl(x);`: widened, not computed with. A `Cast` to long double is
exact of every number; what is made of it is made of its operand."""

from __future__ import annotations

from collections.abc import Iterable

from ..base import catalogue
from ..base.ctype import DOUBLE, LDOUBLE
from ..base.diagnostics import Loc
from ..ir.fold import cast
from ..ir.nodes import Cast, Const, Expr, Stmt
from ..ir.walk import expressions, subexpressions


def as_double(e: Expr, loc: Loc) -> Expr:
    """The double whose value ``e`` has."""
    match e:
        case Cast(operand=x, type=t) if t == LDOUBLE and _is_double(x):
            return cast(x, DOUBLE)
        case Const(type=t) if t == LDOUBLE:  # others were refused
            return cast(e, DOUBLE)
        case _ if e.type != LDOUBLE and _is_double(e):
            return cast(e, DOUBLE)
    raise catalogue.LONG_DOUBLE.error(loc, what="a value")


def _is_double(e: Expr) -> bool:
    if isinstance(e, Const) and e.type.is_integer:
        return abs(e.value) <= 1 << 53
    return e.type.is_float or e.type.size <= 4


def refuse_long_doubles(body: Iterable[Stmt]) -> None:
    """Raises UnsupportedError where a value is left that no schedule has."""
    for s in body:
        for e in (x for top in expressions(s) for x in subexpressions(top)):
            if e.type == LDOUBLE:
                raise catalogue.LONG_DOUBLE.error(e.loc if e.loc.line else s.loc, what="a value")

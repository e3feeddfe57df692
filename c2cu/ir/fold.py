"""Smart constructors of IR expressions: they fold constants as C would compute them."""

from __future__ import annotations

import math
from collections.abc import Callable

from ..base.ctype import BOOL, INT, LDOUBLE, LONG, Number, Scalar
from ..base.diagnostics import Loc
from .evaluate import COMPARISONS, binary_value, converted, unary_value
from .nodes import NOWHERE, Binary, Bitcast, Cast, Const, Expr, Load, Select, Unary
from .ranges import Range
from .walk import subexpressions

MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}  # with the operands the other way round
INVERSE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}  # of what is not NaN


def cast(e: Expr, t: Scalar, loc: Loc | None = None) -> Expr:
    """``e`` converted to ``t``."""
    if e.type == t:
        return e
    if t == LDOUBLE:  # which holds every number exactly
        return Cast(e, t, loc or e.loc)
    if isinstance(e, Cast) and e.type == LDOUBLE:
        return cast(e.operand, t, loc)
    if isinstance(e, Const) and (t.is_float or e.type.is_integer or not math.isnan(e.value)):
        value = e.value if t.is_float or e.type.is_integer or t == BOOL else nearest_integer(e.value, t)
        return Const(converted(value, t), t, e.loc)
    if isinstance(e, Select) and e.type.is_float and t.is_integer and any(isinstance(x, Const) for x in (e.yes, e.no)):
        return Select(e.cond, cast(e.yes, t, loc), cast(e.no, t, loc), t, e.loc)
    return Cast(e, t, loc or e.loc)


def nearest_integer(value: Number, t: Scalar) -> int:
    """What GCC makes of a constant that an integer type does not hold: the type's nearest number."""
    bits = 8 * t.size - (t.kind == "i")
    least, most = -(1 << bits) if t.kind == "i" else 0, (1 << bits) - 1
    if isinstance(value, float) and not math.isfinite(value):
        return {math.inf: most, -math.inf: least}.get(value, 0)
    return min(max(int(value), least), most)


def bitcast(e: Expr, t: Scalar, loc: Loc) -> Expr:
    """The bits of ``e`` as ``t``, which has the same size."""
    if e.type == t:
        return e
    return Cast(e, t, loc) if e.type.is_integer and t.is_integer else Bitcast(e, t, loc)


def unary(op: str, x: Expr, t: Scalar, loc: Loc) -> Expr:
    if isinstance(x, Const):
        return Const(unary_value(op, x.value, t), t, loc)
    return Unary(op, x, t, loc)


def binary(op: str, a: Expr, b: Expr, t: Scalar, loc: Loc = NOWHERE) -> Expr:
    """``a op b``; operands converted already. Operations on constants are computed."""
    if isinstance(a, Const) and isinstance(b, Const) and a.type.is_integer and b.type.is_integer:
        if op not in ("/", "%") or b.value != 0:
            return Const(binary_value(op, a.value, b.value, t), t, loc)
    if isinstance(a, Const) and isinstance(b, Const) and a.type.is_float and b.type.is_float:
        value = float_value(op, a.value, b.value, t)
        if value is not None:
            return Const(value, t, loc)
    if t.is_integer and op in ("+", "-") and isinstance(b, Const) and b.value == 0:
        return a
    if t.is_integer and op == "+" and isinstance(a, Const) and a.value == 0:
        return b
    if t.is_integer and op == "*" and isinstance(b, Const) and b.value == 1:
        return a
    if t.is_integer and op == "*" and isinstance(a, Const) and a.value == 1:
        return b
    return Binary(op, a, b, t, loc)


def float_value(op: str, a: float, b: float, t: Scalar) -> float | None:
    """An operation on two constants; None where the program is to find out that it has no finite value."""
    if not math.isfinite(a) or not math.isfinite(b) or (op == "/" and b == 0):
        return None
    value = binary_value(op, a, b, t)
    return value if math.isfinite(value) else None


def truth(e: Expr, loc: Loc | None = None) -> Expr:
    """``e`` as a condition of type int or _Bool: 0 or 1."""
    if (
        e.type == BOOL
        or (isinstance(e, Binary) and e.op in (*COMPARISONS, "&&", "||"))
        or (isinstance(e, Unary) and e.op == "!")
    ):
        return e
    return binary("!=", e, Const(0, e.type, e.loc), INT, loc or e.loc)


def add(a: Expr, b: Expr) -> Expr:
    """Sum of two indices, in int or long; it has no place, its terms have theirs."""
    t = LONG if LONG in (a.type, b.type) else INT
    return binary("+", cast(a, t), cast(b, t), t)


def multiply(a: Expr, n: int) -> Expr:
    return binary("*", a, Const(n, a.type), a.type)


def is_constant(e: Expr, value: int) -> bool:
    return isinstance(e, Const) and e.value == value


def is_safe(e: Expr, known: frozenset[Expr] = frozenset(), range_of: Callable[[Expr], Range] | None = None) -> bool:
    """Whether ``e`` may be evaluated although C would not: no subscript that could be out of bounds (those in
    ``known`` are evaluated anyway), no division by what could be zero. ``range_of``: what is known of subscripts."""
    for x in subexpressions(e):
        if isinstance(x, Load) and x not in known and not _in_bounds(x, range_of):
            return False
        if (
            isinstance(x, Binary)
            and x.op in ("/", "%")
            and x.type.is_integer
            and not (isinstance(x.right, Const) and x.right.value not in (0, -1))
        ):
            return False
    return True


def _in_bounds(x: Load, range_of: Callable[[Expr], Range] | None) -> bool:
    if isinstance(x.index, Const):
        return 0 <= x.index.value < x.region.count
    low, high = range_of(x.index) if range_of is not None else (-1, -1)
    return 0 <= low and high < x.region.count


def loads(e: Expr) -> frozenset[Expr]:
    """The loads that evaluating ``e`` is certain to do."""
    if isinstance(e, Binary) and e.op in ("&&", "||"):
        return loads(e.left)
    return (
        frozenset(x for x in subexpressions(e) if isinstance(x, Load)) if not isinstance(e, Select) else loads(e.cond)
    )

"""Signs that commute with arithmetic: ``-x * 0.5`` is ``-(x * 0.5)`` to the last bit, where results are rounded to the
nearest."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

from .nodes import Binary, Cast, Const, Expr, Unary, Var, Variable


def signed(e: Expr, values: Mapping[Variable, Expr]) -> tuple[bool, Expr]:
    """A floating-point expression as one without a sign, and whether that is to be negated. Of a NaN the sign
    may be another than that of the expression. ``values``: of variables."""
    match e:
        case Var(v) if v in values and e.type.is_float:
            return signed(values[v], values)
        case Unary("-", operand) if e.type.is_float:
            negative, inner = signed(operand, values)
            return not negative, inner
        case Const(value) if e.type.is_float and value < 0:
            return True, replace(e, value=-value)
        case Binary("*" | "/" as op, left, right) if e.type.is_float and (
            _scales(right) or op == "*" and _scales(left)
        ):
            (first, left), (second, right) = signed(left, values), signed(right, values)
            return first != second, replace(e, left=left, right=right)
        case Cast(operand) if e.type.is_float and operand.type.is_float:
            negative, inner = signed(operand, values)
            return negative, replace(e, operand=inner)
    return False, e


def _scales(e: Expr) -> bool:
    return isinstance(e, Const) and math.isfinite(e.value) and e.value != 0

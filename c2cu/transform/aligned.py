"""Integer arithmetic on a variable that is a multiple of a power of two: its low bits are known, so that
``((b + 3) ^ 8) > b + 3`` is a constant if b is a multiple of 16, and ``(b ^ 32) > b`` is not taken apart."""

from __future__ import annotations

from ..base.ctype import INT
from ..ir.fold import COMPARISONS, binary
from ..ir.nodes import Binary, Const, Expr, Var, Variable
from ..ir.walk import rewrite

Parts = tuple[Expr | None, int]  # a multiple of the unit, None for 0; and what is added, below the unit


def fold_aligned(e: Expr, base: Variable, unit: int) -> Expr:
    """``e`` with what the low bits of ``base`` decide. ``base`` is not negative, and a multiple of ``unit``; neither
    ``base + unit - 1`` nor any other value of ``e`` overflows."""

    def parts(x: Expr) -> Parts | None:
        match x:
            case Const(value=int() as c) if x.type.is_integer and c >= 0:
                high = c - c % unit
                return (Const(high, x.type, x.loc) if high else None, c % unit)
            case Var(var=v) if v == base:
                return x, 0
            case Binary(op="^" | "&", left=Var(var=v), right=Const(value=c)) if v == base and c >= 0 and not c % unit:
                return x, 0
            case Binary(op="+", left=left, right=Const(value=c)) if 0 < c < unit:
                inner = parts(left)
                return (inner[0], int(c)) if inner is not None and inner[1] == 0 else None
        return None

    def step(x: Expr) -> Expr:
        if not isinstance(x, Binary) or not x.left.type.is_integer:
            return x
        a, b = parts(x.left), parts(x.right)
        if a is None or b is None:
            return x
        if x.op in COMPARISONS:
            return compared(x, a, b)
        if x.op in ("^", "&") and isinstance(x.left, Const) and not isinstance(x.right, Const):
            return step(Binary(x.op, x.right, x.left, x.type, x.loc))
        if not isinstance(x.right, Const):
            return x
        if x.op == "+" and a[1] + b[1] < unit and b[0] is None:
            return joined(a[0], a[1] + b[1], x)
        if x.op == "^" and (b[0] is None or isinstance(a[0], Var)):
            high = a[0] if b[0] is None or a[0] is None else Binary("^", a[0], b[0], x.type, x.loc)
            return joined(high, a[1] ^ b[1], x)
        if x.op == "&" and (b[0] is None or isinstance(a[0], Var)):
            high = None if b[0] is None or a[0] is None else Binary("&", a[0], b[0], x.type, x.loc)
            return joined(high, a[1] & b[1], x)
        return x

    def joined(high: Expr | None, low: int, x: Expr) -> Expr:
        least = Const(low, x.type, x.loc)
        return least if high is None else binary("+", high, least, x.type, x.loc)

    def compared(x: Binary, a: Parts, b: Parts) -> Expr:
        if a[0] == b[0]:
            return binary(x.op, Const(a[1], INT), Const(b[1], INT), x.type, x.loc)
        if a[1] != b[1]:
            return Const(int(x.op == "!="), x.type, x.loc) if x.op in ("==", "!=") else x
        zero = Const(0, x.left.type, x.loc)
        return Binary(x.op, zero if a[0] is None else a[0], zero if b[0] is None else b[0], x.type, x.loc)

    return rewrite(e, step)

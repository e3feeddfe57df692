"""Integers of 128 bits as two unsigned words, and the statements that compute with them.

The words of a result are constants or variables, so that each may be read several times.
"""

from __future__ import annotations

from ..base.ctype import BOOL, INT, LONG, UINT, ULONG, Scalar
from ..base.diagnostics import Loc
from ..ir.fold import binary, cast, is_constant, truth, unary
from ..ir.nodes import Const, Expr, Select
from .context import Context
from .objects import Wide
from .pairs import atom, unsupported

ZERO = Const(0, ULONG)
HALF = Const(0xFFFFFFFF, ULONG)


def made(cx: Context, low: Expr, high: Expr, t: Scalar, loc: Loc) -> Wide:
    return Wide(cx.saved(low, loc, "low"), cx.saved(high, loc, "high"), t)


def word(op: str, a: Expr, b: Expr | int, loc: Loc) -> Expr:
    if is_constant(a, 0) and op in ("&", "*", "<<", ">>"):
        return ZERO
    b = Const(b, INT if op in ("<<", ">>") else ULONG) if isinstance(b, int) else b
    if is_constant(b, 0) and op in ("&", "*"):
        return ZERO
    if is_constant(b, 0) and op in ("|", "^", "<<", ">>"):
        return a
    return b if is_constant(a, 0) and op in ("|", "^") else binary(op, a, b, ULONG, loc)


def widened(cx: Context, e: Expr, t: Scalar, loc: Loc) -> Wide:
    """An integer of at most 64 bits, converted."""
    if e.type.is_float:
        raise unsupported("conversion of a float to an integer", t, loc)
    if e.type.kind != "i":
        return Wide(atom(cx, cast(e, ULONG), loc), ZERO, t)
    signed = atom(cx, cast(e, LONG), loc)
    high = binary(">>", signed, Const(63, INT), LONG, loc)
    return made(cx, cast(signed, ULONG), cast(high, ULONG), t, loc)


def narrowed(w: Wide, t: Scalar, loc: Loc) -> Expr:
    """Converted to a type of at most 64 bits."""
    if t.is_float:
        raise unsupported("conversion to a float of an integer", w.type, loc)
    return cast(is_true(w, loc), BOOL) if t == BOOL else cast(w.low, t)


def is_true(w: Wide, loc: Loc) -> Expr:
    return truth(word("|", w.low, w.high, loc), loc)


def arithmetic(cx: Context, op: str, a: Wide, b: Wide, loc: Loc) -> Wide:
    """``a op b`` of operands of one type."""
    match op:
        case "+":
            low = cx.saved(word("+", a.low, b.low, loc), loc, "low")
            carry = carried(a.low, b.low, low, loc)
            return made(cx, low, word("+", word("+", a.high, b.high, loc), carry, loc), a.type, loc)
        case "-":
            low = cx.saved(word("-", a.low, b.low, loc), loc, "low")
            borrow = carried(unary("~", a.low, ULONG, loc), b.low, unary("~", low, ULONG, loc), loc)
            return made(cx, low, word("-", word("-", a.high, b.high, loc), borrow, loc), a.type, loc)
        case "*":
            low, high = product(cx, a.low, b.low, loc)
            high = word("+", high, word("*", a.low, b.high, loc), loc)
            return made(cx, low, word("+", high, word("*", a.high, b.low, loc), loc), a.type, loc)
        case "&" | "|" | "^":
            return made(cx, word(op, a.low, b.low, loc), word(op, a.high, b.high, loc), a.type, loc)
    raise unsupported("division of integers", a.type, loc)


def carried(a: Expr, b: Expr, total: Expr, loc: Loc) -> Expr:
    """The carry of ``total = a + b``: where both have their highest bit, or one of them and the sum has not. Without a
    comparison, which in SIMD lanes takes more."""
    both, one = word("&", a, b, loc), word("|", a, b, loc)
    lost = word("&", one, unary("~", total, ULONG, loc), loc)
    return ZERO if is_constant(both, 0) else word(">>", word("|", both, lost, loc), 63, loc)


def product(cx: Context, a: Expr, b: Expr, loc: Loc) -> tuple[Expr, Expr]:
    """The 128 bits of ``a * b``, by four products of 32 bits; no sum here has more than 64."""
    if is_constant(a, 0) or is_constant(b, 0):
        return ZERO, ZERO

    def saved(e: Expr, name: str) -> Expr:
        return cx.saved(e, loc, name)

    a0, a1 = saved(word("&", a, HALF, loc), "a0"), saved(word(">>", a, 32, loc), "a1")
    b0, b1 = saved(word("&", b, HALF, loc), "b0"), saved(word(">>", b, 32, loc), "b1")
    lowest, first = saved(word("*", a0, b0, loc), "product"), saved(word("*", a0, b1, loc), "product")
    carried = word("+", word(">>", lowest, 32, loc), word("&", first, HALF, loc), loc)
    middle = saved(word("+", word("*", a1, b0, loc), carried, loc), "middle")
    low = word("|", word("<<", middle, 32, loc), word("&", lowest, HALF, loc), loc)
    carried = word("+", word(">>", first, 32, loc), word(">>", middle, 32, loc), loc)
    return low, word("+", word("*", a1, b1, loc), carried, loc)


def shifted(cx: Context, op: str, a: Wide, count: Expr, loc: Loc) -> Wide:
    """``a << count`` or ``a >> count``; a count of 128 or more counts modulo 128."""

    def by(op: str, x: Expr, n: Expr, signed: bool = False) -> Expr:
        return cast(binary(op, cast(x, LONG), n, LONG, loc), ULONG) if signed else word(op, x, n, loc)

    signed = op == ">>" and a.type.kind == "i"
    n = cx.saved(binary("&", cast(count, UINT), Const(63, UINT), UINT, loc), loc, "count")
    far = binary("&", cast(count, UINT), Const(64, UINT), UINT, loc)

    def across(op: str, x: Expr) -> Expr:
        """What goes from one word to the other: by 64 - n, which for n = 0 is no shift of C's."""
        if isinstance(n, Const):
            return by(op, x, Const(64 - int(n.value), UINT)) if n.value else ZERO
        return by(op, by(op, x, Const(1, UINT)), binary("^", n, Const(63, UINT), UINT, loc))

    beyond = by(">>", a.high, Const(63, UINT), True) if signed else ZERO
    if op == "<<":
        moved, other, near = by("<<", a.low, n), ZERO, by("|", by("<<", a.high, n), across(">>", a.low))
        low, high = chosen(far, other, moved, loc), chosen(far, moved, near, loc)
    else:
        moved, other, near = by(">>", a.high, n, signed), beyond, by("|", by(">>", a.low, n), across("<<", a.high))
        low, high = chosen(far, moved, near, loc), chosen(far, other, moved, loc)
    return made(cx, low, high, a.type, loc)


def chosen(cond: Expr, yes: Expr, no: Expr, loc: Loc) -> Expr:
    if isinstance(cond, Const):
        return yes if cond.value else no
    return Select(truth(cond), yes, no, ULONG, loc)


def complement(cx: Context, a: Wide, loc: Loc) -> Wide:
    return made(cx, unary("~", a.low, ULONG, loc), unary("~", a.high, ULONG, loc), a.type, loc)


def negative(cx: Context, a: Wide, loc: Loc) -> Wide:
    return arithmetic(cx, "-", Wide(ZERO, ZERO, a.type), a, loc)


def compared(op: str, a: Wide, b: Wide, loc: Loc) -> Expr:
    """``a op b`` of operands of one type."""
    if op in ("==", "!="):
        differ = word("|", word("^", a.low, b.low, loc), word("^", a.high, b.high, loc), loc)
        return binary(op, differ, ZERO, INT, loc)
    if op in (">", "<="):
        a, b = b, a
    t = LONG if a.type.kind == "i" else ULONG
    above = binary("<", cast(a.high, t), cast(b.high, t), INT, loc)
    equal = binary("==", a.high, b.high, INT, loc)
    below = binary("&&", equal, binary("<", a.low, b.low, INT, loc), INT, loc)
    less = binary("||", above, below, INT, loc)
    return unary("!", less, INT, loc) if op in ("<=", ">=") else less

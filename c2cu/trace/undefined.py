"""What the tracer must not compute: where C leaves a value open, one machine's result proves nothing."""

from __future__ import annotations

from enum import IntEnum

from ..base.ctype import DOUBLE, INT, ULONG
from ..ir.nodes import Binary, Bitcast, Call, Cast, Const, Expr, Unary


class Why(IntEnum):
    """Why a trace ends, or an access is a fault."""

    WHOLE = 0
    BUDGET_SPENT = 1
    DIVIDED = 2
    SHIFTED = 3
    OUTSIDE = 4
    UNSET = 5
    CONVERTED = 6
    NAN_BITS = 7
    AHEAD = 8  # outside of its array, were it done ahead of a branch that no data takes then
    DATA = 9  # what follows depends on a loop whose turns depend on data


Ends = tuple[Expr, Why]  # the trace ends where the condition is true


def undefined(e: Binary | Cast | Bitcast | Call) -> list[Ends]:
    """Where C does not say what ``e`` gives."""
    match e:
        case Binary():
            return _undivided(e)
        case Cast():
            return _unheld(e)
        case Bitcast(operand=x):
            return [_nan(x if x.type.is_float else e)]
        case Call(name="signbit" | "copysign" | "copysignf", args=(*_, x)):
            return [_nan(x)]
    return []


def _nan(x: Expr) -> Ends:
    """The bits of NaN are the machine's own: an operation may quiet it, or set its sign."""
    return (Binary("!=", x, x, INT), Why.NAN_BITS)


def _undivided(e: Binary) -> list[Ends]:
    """The same for what integers are not divided or shifted by."""
    a, b, t = e.left, e.right, e.type
    if not t.is_integer or isinstance(b, Const) and b.value not in (0, -1) and e.op in ("/", "%"):
        return []
    ends: list[Ends] = []
    if e.op in ("/", "%"):
        ends.append((Unary("!", b, INT), Why.DIVIDED))
        if t.kind == "i":
            least = Binary("==", a, Const(-(2 ** (t.bits - 1)), t), INT)
            ends.append((Binary("&&", Binary("==", b, Const(-1, t), INT), least, INT), Why.DIVIDED))
    if e.op in ("<<", ">>") and not (isinstance(b, Const) and 0 <= b.value < t.bits):
        ends.append((Binary(">=", Cast(b, ULONG), Const(t.bits, ULONG), INT), Why.SHIFTED))
    return ends


def _unheld(e: Cast) -> list[Ends]:
    """The same for a floating number that the integer type does not hold."""
    t = e.type
    if not e.operand.type.is_float or t.kind not in "iu":
        return []
    x = Cast(e.operand, DOUBLE) if e.operand.type != DOUBLE else e.operand
    low, high = (-(2 ** (t.bits - 1)), 2 ** (t.bits - 1)) if t.kind == "i" else (0, 2**t.bits)
    above = Binary(">", x, Const(float(low - 1), DOUBLE), INT)
    if float(low - 1) == low:  # no double lies between
        above = Binary(">=", x, Const(float(low), DOUBLE), INT)
    held = Binary("&&", above, Binary("<", x, Const(float(high), DOUBLE), INT), INT)
    return [(Unary("!", held, INT), Why.CONVERTED)]

"""C's arithmetic, said once: what an operator yields for values of a type.

A value is a Python number, or a NumPy array with the dtype of its C type (`Scalar.numpy`), which holds the values of
many iterations and is computed as a whole; call these functions under ``np.errstate(all="ignore")`` then. Operands have
been promoted and converted as the nodes of the IR say. Signed overflow wraps, as with ``-fwrapv``; shift counts are
taken modulo the width; floats are IEEE's, rounded to nearest. A float32 result is computed in double and rounded to
float32: for ``+ - * /`` that is the correctly rounded one, because 53 bits are more than twice 24 plus one.
"""

from __future__ import annotations

import math
import operator
import struct
from collections.abc import Callable
from typing import Any

from ..base.ctype import INT, Scalar
from .nodes import Binary, Bitcast, Call, Cast, Const, Expr, Extremum, Load, Select, Unary, Var

Value = Any  # int, float or np.ndarray
Leaf = Const | Var | Load | Call

COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")
_OPERATORS: dict[str, Callable[[Value, Value], Value]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
    "&&": lambda a, b: (a != 0) & (b != 0),
    "||": lambda a, b: (a != 0) | (b != 0),
}
_FORMATS = {"i": "bhiq", "u": "BHIQ", "b": "?", "f": "  fd"}  # struct's letters, by the logarithm of the size


def evaluate(e: Expr, leaf: Callable[[Leaf], Value]) -> Value:
    """The value of ``e``. ``leaf`` gives those of constants, variables, loads and calls. Raises ZeroDivisionError
    for an integer division of Python numbers by zero."""
    match e:
        case Const() | Var() | Load() | Call():
            return leaf(e)
        case Unary():
            return unary_value(e.op, evaluate(e.operand, leaf), e.type)
        case Binary():
            return binary_value(e.op, evaluate(e.left, leaf), evaluate(e.right, leaf), e.type)
        case Cast():
            return converted(evaluate(e.operand, leaf), e.type)
        case Bitcast():
            return reinterpreted(evaluate(e.operand, leaf), e.operand.type, e.type)
        case Select():
            cond = evaluate(e.cond, leaf)
            if not _is_array(cond):
                return evaluate(e.yes if cond else e.no, leaf)
            import numpy as np

            return np.where(cond != 0, evaluate(e.yes, leaf), evaluate(e.no, leaf))
        case Extremum():
            return extremum_value(e, evaluate(e.left, leaf), evaluate(e.right, leaf))
    raise AssertionError(e)


def extremum_value(e: Extremum, a: Value, b: Value) -> Value:
    """The minimum or maximum ``e`` of ``a`` and ``b``, one each for its operands; by rule "number" any zero is as good
    as the other."""
    chosen = _OPERATORS[e.comparison.op](a, b)
    if e.rule == "number":
        chosen = chosen | (b != b)
    if _is_array(chosen):
        import numpy as np

        return np.where(chosen, a, b)
    return a if chosen else b


def converted(a: Value, t: Scalar) -> Value:
    """``a`` as C converts it to ``t``. C does not define it for NaN and for floats out of an integer type's range; of a
    Python float that is infinite or NaN it raises ValueError or OverflowError then."""
    if _is_array(a):
        return (a != 0 if t.kind == "b" else a).astype(t.numpy)
    return t.wrap(a)


def reinterpreted(a: Value, source: Scalar, t: Scalar) -> Value:
    """The bits of ``a``, of type ``source``, as ``t``, which has the same size."""
    if _is_array(a):
        return a.view(t.numpy)
    return struct.unpack(_format(t), struct.pack(_format(source), a))[0]


def unary_value(op: str, a: Value, t: Scalar) -> Value:
    """``op a`` of type ``t``; op is one of ``+ - ~ !``."""
    if op == "!":
        return converted(a == 0, INT)
    a = _counted(a)
    return converted(a if op == "+" else -a if op == "-" else ~a, t)


def binary_value(op: str, a: Value, b: Value, t: Scalar) -> Value:
    """``a op b`` of type ``t``. Raises ZeroDivisionError where Python integers are divided by zero; elements of arrays
    give any value there."""
    a, b = _counted(a), _counted(b)
    if op in ("/", "%"):
        return converted(_quotient(op, a, b, t), t)
    if op in ("<<", ">>"):
        count = b & (8 * t.size - 1)
        if _is_array(a):
            count = count.astype(a.dtype)
        return converted(a << count if op == "<<" else a >> count, t)
    return converted(_OPERATORS[op](a, b), t)


def _quotient(op: str, a: Value, b: Value, t: Scalar) -> Value:
    """``/`` or ``%``: towards zero for integers."""
    if t.is_float:
        return a / b if _is_array(b) or b else _over_zero(a, b)
    if _is_array(b):
        b = b + (b == 0)  # only where the iteration does not happen
    quotient = a // b  # rounds down
    quotient = quotient + ((quotient * b != a) & ((a < 0) != (b < 0)))
    return quotient if op == "/" else a - quotient * b


def _over_zero(a: float, zero: float) -> float:
    if a == 0 or math.isnan(a):
        return math.nan
    return math.copysign(math.inf, a) * math.copysign(1, zero)


def _is_array(a: Value) -> bool:
    return hasattr(a, "dtype")


def _counted(a: Value) -> Value:
    """A _Bool as the int that C promotes it to: NumPy would compute with truth values."""
    return a.astype(INT.numpy) if _is_array(a) and a.dtype.kind == "b" else a


def _format(t: Scalar) -> str:
    return "<" + _FORMATS[t.kind][t.size.bit_length() - 1]

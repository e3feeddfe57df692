"""The integers that GCC sees an expression to have from the expression alone, whatever is known of its variables.

It reasons in three ways, and no further (tests/test_faults.py asks it): a comparison is 0 or 1, and an operation with a
constant is done for both; a comparison with a constant is decided by the range of the other side's type; and ``&``,
``<<`` and their kind by the bits that may be set.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterable

from pycparser import c_ast as C

from ..base.ctype import INT, Scalar
from ..frontend.tree import children
from ..ir.evaluate import COMPARISONS, binary_value, unary_value
from .context import Context

Numbers = frozenset[int]
Range = tuple[int, int]  # the lowest and the highest
MOST = 4  # numbers that are followed
ALL_BITS = -1
_TRUTHS = frozenset((0, 1))


def numbers(cx: Context, node: C.Node) -> Numbers | None:
    """The few integers that an expression may be; None where they are many, or not known."""
    if id(node) not in cx.folded:
        cx.folded[id(node)] = _numbers(cx, node)
    return cx.folded[id(node)]


def _numbers(cx: Context, node: C.Node) -> Numbers | None:
    t = _integer(cx, node)
    match node:
        case C.ExprList():
            return numbers(cx, node.exprs[-1])
        case C.UnaryOp(op="!"):
            truth = _truth(cx, node.expr)
            if truth is None:  # it is a comparison with 0, but GCC looks for one in what it negates
                return None if isinstance(node.expr, C.TernaryOp) or _is_truth(node.expr) else _TRUTHS
            return frozenset((int(not truth),))
        case C.BinaryOp(op="&&" | "||"):
            truth = _logical(node.op, _truth(cx, node.left), _truth(cx, node.right))
            return None if truth is None else frozenset((int(truth),))
        case C.BinaryOp() if node.op in COMPARISONS:
            truth = _compared(cx, node)
            return _TRUTHS if truth is None else frozenset((int(truth),))
        case _ if t is None:
            return None
        case C.Cast() if _integer(cx, node.expr) is not None:
            return _each(numbers(cx, node.expr), t.wrap)
        case C.UnaryOp(op="-" | "+" | "~" as op):
            return _each(numbers(cx, node.expr), lambda a: unary_value(op, t.wrap(a), t))
        case C.TernaryOp():
            return _chosen(cx, node, t)
        case C.BinaryOp():
            return _computed(cx, node, t)
    constant = cx.unit.constant(node)
    return frozenset((constant,)) if isinstance(constant, int) else None


def is_same(a: C.Node, b: C.Node) -> bool:
    """Whether two expressions are written alike, and evaluating them changes nothing."""
    if type(a) is not type(b) or isinstance(a, (C.FuncCall, C.Assignment)):
        return False
    if isinstance(a, C.UnaryOp) and a.op in ("++", "--", "p++", "p--"):
        return False
    if any(getattr(a, name) != getattr(b, name) for name in a.attr_names):
        return False
    mine, theirs = map(children, (a, b))
    return len(mine) == len(theirs) and all(map(is_same, mine, theirs))


def _each(some: Numbers | None, f: Callable[[int], int | float]) -> Numbers | None:
    return None if some is None else frozenset(int(f(a)) for a in some)


def _chosen(cx: Context, node: C.TernaryOp, t: Scalar) -> Numbers | None:
    truth = _truth(cx, node.cond)
    arms = [x for x, taken in ((node.iftrue, truth is not False), (node.iffalse, truth is not True)) if taken]
    return _few(t, (numbers(cx, x) for x in arms))


def _few(t: Scalar, parts: Iterable[Numbers | None]) -> Numbers | None:
    out: set[int] = set()
    for part in parts:
        if part is None:
            return None
        out |= {int(t.wrap(a)) for a in part}
    return frozenset(out) if len(out) <= MOST else None


def _computed(cx: Context, node: C.BinaryOp, t: Scalar) -> Numbers | None:
    """An operation, one of whose sides is a constant."""
    op, a, b = node.op, numbers(cx, node.left), numbers(cx, node.right)
    vanishes = (
        (op in ("-", "^") and is_same(node.left, node.right))
        or (op in ("*", "&") and {0} in (a, b))
        or (op in ("<<", ">>", "/", "%") and a == {0})
        or (op == "%" and _one(cx, node.right) in (1, -1))
    )
    if vanishes:
        return frozenset((0,))
    ones = int(t.wrap(-1))
    if op == "|" and ones in (c if c is None else t.wrap(c) for c in (_one(cx, node.left), _one(cx, node.right))):
        return frozenset((ones,))
    if a is not None and b is not None and 1 in (len(a), len(b)) and not (op in ("/", "%") and 0 in b):
        is_shift = op in ("<<", ">>")
        return frozenset(int(binary_value(op, t.wrap(x), y if is_shift else t.wrap(y), t)) for x in a for y in b)
    return frozenset((0,)) if bits(cx, node) == 0 else None


def _one(cx: Context, node: C.Node) -> int | None:
    """The value of a constant."""
    some = numbers(cx, node)
    return next(iter(some)) if some is not None and len(some) == 1 else None


def bits(cx: Context, node: C.Node) -> int:
    """The bits that may be set; of a variable, all those of the type that it is computed with."""
    if id(node) not in cx.bits:
        cx.bits[id(node)] = _bits(cx, node)
    return cx.bits[id(node)]


def _bits(cx: Context, node: C.Node) -> int:
    t = _integer(cx, node)
    if t is not None and isinstance(node, C.BinaryOp):
        count = _one(cx, node.right)
        match node.op:
            case "&":
                return bits(cx, node.left) & bits(cx, node.right)
            case "|" | "^":
                return bits(cx, node.left) | bits(cx, node.right)
            case "<<" if count is not None and 0 <= count < t.bits:
                return int(t.wrap(bits(cx, node.left) << count))
            case ">>" if count is not None and _is_masked(node.left):
                return bits(cx, node.left) >> count
            case "*" if count is not None and count > 0 and count & (count - 1) == 0:
                return int(t.wrap(bits(cx, node.left) * count))
            case "+" | "-" | "*" | "/" | "%" | "<<" | ">>":
                return ALL_BITS
    some = _TRUTHS if _is_truth(node) else numbers(cx, node)
    return ALL_BITS if some is None else functools.reduce(operator.or_, some)


def _is_masked(node: C.Node) -> bool:
    return isinstance(node, C.BinaryOp) and node.op == "&"


def _is_truth(node: C.Node) -> bool:
    """Whether an operator gives 0 or 1."""
    return isinstance(node, (C.BinaryOp, C.UnaryOp)) and node.op in (*COMPARISONS, "&&", "||", "!")


def _truth(cx: Context, node: C.Node) -> bool | None:
    """Whether a condition holds, where that is known."""
    some = numbers(cx, node)
    if some is not None:
        return None if 0 in some and len(some) > 1 else 0 not in some
    t = _integer(cx, node)
    if t is None:
        return None
    low, high = _range(cx, node, t)
    if low > 0 or high < 0:
        return True
    has_bit = isinstance(node, C.BinaryOp) and node.op == "|" and (_one(cx, node.left) or _one(cx, node.right))
    return True if has_bit else None


def _logical(op: str, a: bool | None, b: bool | None) -> bool | None:
    decides = op == "||"
    if decides in (a, b):
        return decides
    return None if a is None or b is None else not decides


def _compared(cx: Context, node: C.BinaryOp) -> bool | None:
    """A comparison of integers, decided by where the sides may lie."""
    a, b = _integer(cx, node.left), _integer(cx, node.right)
    if a is None or b is None:
        constant = cx.unit.constant(node)
        return None if constant is None else constant != 0
    if is_same(node.left, node.right):
        return node.op in ("==", "<=", ">=")
    if _one(cx, node.left) is None and _one(cx, node.right) is None:
        return None
    (low, high), (least, most) = _range(cx, node.left, a), _range(cx, node.right, b)
    if min(low, least) < 0 and any(t.kind == "u" and t.size >= INT.size for t in (a, b)):
        return None  # one side may be converted to another number
    match node.op:
        case "<" | "<=" | ">" | ">=":
            if node.op in (">", ">="):
                low, high, least, most = least, most, low, high
            is_strict = node.op in ("<", ">")
            if high < least or (high == least and not is_strict):
                return True
            return False if low > most or (low == most and is_strict) else None
    return node.op == "!=" if high < least or most < low else None


def _range(cx: Context, node: C.Node, t: Scalar) -> Range:
    """Where the values of an expression of type ``t`` lie."""
    some = numbers(cx, node)
    if some is not None:
        return min(some), max(some)
    of_type = (0, 1) if _is_truth(node) else _range_of(t)
    match node:
        case C.Cast() if (inner := _integer(cx, node.expr)) is not None:
            return _within(_range(cx, node.expr, inner), of_type)
        case C.BinaryOp(op="&"):
            masks = [c for x in (node.left, node.right) if (c := _one(cx, x)) is not None and c >= 0]
            return (0, min(masks)) if masks else of_type
        case C.BinaryOp(op="+" | "-" as op):
            a, b = _integer(cx, node.left), _integer(cx, node.right)
            has_constant = _one(cx, node.left) is not None or _one(cx, node.right) is not None
            if a is None or b is None or not has_constant:
                return of_type
            (low, high), (least, most) = _range(cx, node.left, a), _range(cx, node.right, b)
            return _within((low + least, high + most) if op == "+" else (low - most, high - least), of_type)
    return of_type


def _within(r: Range, of_type: Range) -> Range:
    return r if of_type[0] <= r[0] and r[1] <= of_type[1] else of_type


def _range_of(t: Scalar) -> Range:
    if t.kind == "b":
        return 0, 1
    return (-(1 << (t.bits - 1)), (1 << (t.bits - 1)) - 1) if t.kind == "i" else (0, (1 << t.bits) - 1)


def _integer(cx: Context, node: C.Node) -> Scalar | None:
    t = cx.unit.value_type(node)
    return t if isinstance(t, Scalar) and t.is_integer else None

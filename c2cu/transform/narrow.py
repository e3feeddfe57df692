"""Subscripts in as few bits as they need: lanes of 32 bits where those of 64 hold nothing but subscripts.

An element of an array has a number below 2^31, and the lower bits of a sum, a difference, a product or a logical
operation depend on the lower bits of the operands alone: a subscript that is in bounds is the same computed in 32 bits.
"""

from __future__ import annotations

from dataclasses import replace

from ..base.ctype import INT, UINT
from ..ir.fold import cast
from ..ir.nodes import Binary, Cast, Const, Expr, Kernel, Load, Region, Select, Unary
from ..ir.ranges import Ranges
from ..ir.walk import rewritten, with_body

MOST = 1 << 31  # elements of a region


def narrow(kernel: Kernel) -> Kernel:
    """``kernel`` with subscripts of type int."""
    ranges = Ranges()

    def subscript(e: Expr, region: Region) -> Expr:
        small = e.type.size == 8 and 0 < region.count <= MOST
        return _low(e, ranges) if small else e

    def shorter(e: Expr) -> Expr:
        if not isinstance(e, Load):
            return e
        index = subscript(e.index, e.region)
        return e if index is e.index else replace(e, index=index)

    return with_body(kernel, rewritten(kernel.body, shorter, index=subscript))


def _low(e: Expr, ranges: Ranges) -> Expr:
    """The lower 32 bits of an integer, as an int."""
    if not e.type.is_integer or e.type.size < 8:
        return cast(e, INT)
    match e:
        case Const(value=v):
            return Const(INT.wrap(v), INT, e.loc)
        case Cast(operand=x) if x.type.is_integer:
            return _low(x, ranges)
        case Unary(op="-" | "~"):
            return Unary(e.op, _low(e.operand, ranges), INT, e.loc)
        case Binary(op="+" | "-" | "*" | "&" | "|" | "^"):
            return Binary(e.op, _low(e.left, ranges), _low(e.right, ranges), INT, e.loc)
        case Binary(op="<<", right=Const(value=n)) if 0 <= n < 32:
            return Binary("<<", _low(e.left, ranges), e.right, INT, e.loc)
        case Binary(op=">>" | "/" | "%") if _is_small(e.left, ranges) and _is_small(e.right, ranges):
            left, right = (cast(_low(x, ranges), UINT) for x in (e.left, e.right))
            return cast(Binary(e.op, left, right, UINT, e.loc), INT)
        case Select():
            return Select(e.cond, _low(e.yes, ranges), _low(e.no, ranges), INT, e.loc)
    return cast(e, INT)


def _is_small(e: Expr, ranges: Ranges) -> bool:
    low, high = ranges(e)
    return 0 <= low and high < 1 << 32

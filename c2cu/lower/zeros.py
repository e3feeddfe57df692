"""Differences from zero: GCC makes ``-x`` of ``0.0 - x`` where it sees that x is not -0.0; for 0.0 that is -0.0.

It decides from the expression alone, whatever is known of the variables' values, and so do these.
"""

from __future__ import annotations

import math

from pycparser import c_ast as C

from ..ir.evaluate import COMPARISONS
from ..ir.nodes import Binary, Call, Cast, Const, Expr, Select, Unary
from .context import Context
from .folded import numbers

KEEP_ZERO = frozenset(
    "sqrt fabs floor ceil trunc round sin tan asin atan sinh tanh asinh atanh expm1 log1p cbrt erf".split()
)


def is_zero(cx: Context, node: C.Node, e: Expr) -> bool:
    """Whether GCC takes an expression, whose value is ``e``, for a constant zero: a const variable is one too where it
    optimises, and a product of zero with an integer that is not negative."""
    symbol = cx.unit.symbols.get(id(node))
    if isinstance(node, C.ID) and symbol is not None and symbol.const and symbol.decl is not None:
        return symbol.decl.init is not None and cx.unit.constant(symbol.decl.init) == 0
    if isinstance(node, C.BinaryOp) and node.op == "*" and isinstance(e, Binary) and e.type.is_float:
        pairs = ((node.left, e.left, e.right), (node.right, e.right, e.left))
        return any(is_zero(cx, zero, z) and not_negative(x) for zero, z, x in pairs)
    return is_integer_zero(cx, node) or cx.unit.constant(node) == 0 or is_zero_of_zero(cx, node)


def is_zero_of_zero(cx: Context, node: C.Node) -> bool:
    """Whether an expression is a function of math.h, or a cast of one, of a constant zero, which it keeps."""
    if isinstance(node, C.Cast):
        return is_zero_of_zero(cx, node.expr)
    if not isinstance(node, C.FuncCall) or not isinstance(node.name, C.ID) or node.args is None:
        return False
    name = node.name.name.removeprefix("__builtin_")
    if name in cx.unit.functions or not {name, name.removesuffix("f")} & KEEP_ZERO:
        return False
    argument = node.args.exprs[0]
    return is_integer_zero(cx, argument) or cx.unit.constant(argument) == 0 or is_zero_of_zero(cx, argument)


def is_integer_zero(cx: Context, node: C.Node) -> bool:
    """Whether an expression, or the integer of which a cast makes it, is zero whatever its variables are."""
    while isinstance(node, C.Cast):
        node = node.expr
    return numbers(cx, node) == {0}


def not_negative(e: Expr) -> bool:
    """Whether GCC knows from the expression alone that a value made of an integer is >= 0."""
    match e:
        case Const(value=v):
            return v >= 0
        case Cast(operand=x) if x.type.is_integer:
            wider = e.type.is_float or e.type.size > x.type.size
            return (wider and x.type.kind != "i") or ((wider or e.type.size == x.type.size) and not_negative(x))
        case Binary(op="&"):
            return not_negative(e.left) or not_negative(e.right)
        case Binary(op=op):
            return op in (*COMPARISONS, "&&", "||")
        case Unary(op="!"):
            return True
    return e.type.kind in "bu"


def never_minus_zero(e: Expr) -> bool:
    """Of a floating value: whether GCC knows from the expression alone that it is not -0.0. It makes -x of 0.0 - x
    then, which is -0.0 for x = 0.0."""
    match e:
        case Const(value=v):
            return e.type.is_float and (v != 0 or math.copysign(1, v) > 0)
        case Cast():
            return e.type.is_float and e.operand.type.is_integer
        case Call():
            return e.name in ("fabs", "fabsf")
        case Select():
            return never_minus_zero(e.yes) and never_minus_zero(e.no)
        case Binary(op="+" | "-" | "*" | "/", right=Const(value=v)) if v == (e.op in "*/"):
            return never_minus_zero(e.left)
        case Binary(op="+" | "*", left=Const(value=v)) if v == (e.op == "*"):
            return never_minus_zero(e.right)
    return False

"""Expressions that give an integer of 128 bits, and what happens to it."""

from __future__ import annotations

from dataclasses import replace

from pycparser import c_ast as C

from ..base import catalogue
from ..base.ctype import UINT, ULONG, Pointer, Scalar
from ..base.diagnostics import Loc
from ..frontend.parse import loc_of
from ..ir.nodes import Const
from .context import Context
from .expressions import number, parts_first
from .lvalues import last_of, lvalue
from .memory import load_pair, store_pair
from .objects import LValue, OneOf, Ref, View, Wide
from .pairs import chosen, is_wide, unsupported
from .wide import arithmetic, complement, made, negative, shifted, widened


def wide(cx: Context, node: C.Node, t: Scalar | None = None) -> Wide:
    """The value of an expression, converted to ``t``; without one, it has the expression's own type."""
    loc, value_type = loc_of(node), cx.unit.value_type(node)
    if isinstance(value_type, Pointer):
        raise catalogue.POINTER_AS_NUMBER.error(loc)
    if not is_wide(value_type):
        assert t is not None
        return widened(cx, cx.value(node), t, loc)
    assert isinstance(value_type, Scalar)
    value = _value(cx, node, value_type, loc)
    return value if t is None else replace(value, type=t)


def _value(cx: Context, node: C.Node, t: Scalar, loc: Loc) -> Wide:
    match node:
        case C.UnaryOp(op="++" | "--" | "p++" | "p--"):
            return _step(cx, node, t, loc)
        case C.UnaryOp(op="+" | "-" | "~" as op):
            x = wide(cx, node.expr, t)
            return x if op == "+" else negative(cx, x, loc) if op == "-" else complement(cx, x, loc)
        case C.BinaryOp() if id(node) in cx.begun:
            return _operation(cx, node, t, loc)
        case C.BinaryOp():
            return parts_first(cx, node, lambda: _operation(cx, node, t, loc))
        case C.Assignment():
            return _assignment(cx, node, t, loc)
        case C.TernaryOp():
            return _chosen(cx, node, t, loc)
        case C.Cast():
            return wide(cx, node.expr, t)
        case C.FuncCall():
            result = cx.call(node)
            if not isinstance(result, (Ref, View, OneOf)):
                raise unsupported("this function", t, loc)
            return loaded(cx, result, loc)
        case C.ExprList() | C.Compound():
            return wide(cx, last_of(cx, node))
    return loaded(cx, lvalue(cx, node), loc)


def loaded(cx: Context, ref: LValue, loc: Loc) -> Wide:
    value = load_pair(cx, ref, loc)
    assert isinstance(value, Wide)
    return value


def _operation(cx: Context, node: C.BinaryOp, t: Scalar, loc: Loc) -> Wide:
    if id(node) in cx.begun:  # it is zero, and its effects are lowered
        return widened(cx, Const(0, UINT), t, loc)
    if node.op in ("<<", ">>"):
        return shifted(cx, node.op, wide(cx, node.left, t), number(cx, node.right, UINT, loc), loc)
    return arithmetic(cx, node.op, wide(cx, node.left, t), wide(cx, node.right, t), loc)


def _step(cx: Context, node: C.UnaryOp, t: Scalar, loc: Loc) -> Wide:
    ref = cx.pinned(lvalue(cx, node.expr), loc)
    old = loaded(cx, ref, loc)
    old = made(cx, old.low, old.high, t, loc)
    new = arithmetic(cx, node.op[-1], old, widened(cx, Const(1, UINT), t, loc), loc)
    store_pair(cx, ref, new, loc)
    return old if node.op.startswith("p") else new


def _assignment(cx: Context, node: C.Assignment, t: Scalar, loc: Loc) -> Wide:
    ref = cx.pinned(lvalue(cx, node.lvalue), loc)
    op = node.op[:-1]
    if not op:
        value = wide(cx, node.rvalue, t)
    elif op in ("<<", ">>"):
        count = number(cx, node.rvalue, UINT, loc)
        value = shifted(cx, op, loaded(cx, ref, loc), count, loc)
    else:
        right = wide(cx, node.rvalue, t)
        value = arithmetic(cx, op, loaded(cx, ref, loc), right, loc)
    store_pair(cx, ref, value, loc)
    return value


def _chosen(cx: Context, node: C.TernaryOp, t: Scalar, loc: Loc) -> Wide:
    return Wide(*chosen(cx, node, ULONG, ("low", "high"), lambda arm: wide(cx, arm, t), loc), t)

"""Float constants that an expression chooses, or ends with: GCC converts them to integers before the program runs."""

from __future__ import annotations

from pycparser import c_ast as C

from ..base.ctype import Scalar
from .typed import Unit


def chooses_constant(unit: Unit, node: C.Node) -> bool:
    """Whether a float that is not constant itself has a part that may be its value, and is."""
    return is_float(unit, node) and unit.constant(node) is None and _any(unit, node)


def _any(unit: Unit, node: C.Node) -> bool:
    match node:
        case _ if not is_float(unit, node):
            return unit.constant(node) is not None
        case C.ExprList():
            return _any(unit, node.exprs[-1])
        case C.TernaryOp():
            return _any(unit, node.iftrue) or _any(unit, node.iffalse)
        case C.Cast() | C.UnaryOp(op="+" | "-"):
            return _any(unit, node.expr) or unit.constant(node) is not None
        case C.BinaryOp(left=left, right=right) if unit.constant(right) is not None:
            return _any(unit, left)
        case C.BinaryOp(left=left, right=right) if unit.constant(left) is not None:
            return _any(unit, right)
        case C.Assignment(op="="):
            return _any(unit, node.rvalue)
    return unit.constant(node) is not None


def is_float(unit: Unit, node: C.Node) -> bool:
    """Whether an expression's value is a float."""
    t = unit.types.get(id(node))
    return isinstance(t, Scalar) and t.is_float

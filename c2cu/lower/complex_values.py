"""Expressions that give a complex number, and what happens to it."""

from __future__ import annotations

from pycparser import c_ast as C

from ..base import catalogue
from ..base.ctype import Pointer, Scalar, common
from ..base.diagnostics import Loc
from ..frontend.parse import loc_of
from ..ir.fold import binary
from ..ir.nodes import Const
from .complex import (
    Operand,
    arithmetic,
    conjugate,
    constant_of,
    converted,
    made,
    negative,
    of_constant,
    of_real,
    ordered,
    part_of_type,
)
from .complex_constants import complex_constant
from .context import Context
from .expressions import number
from .lvalues import last_of, lvalue
from .memory import load_pair, store_pair
from .objects import Complex, OneOf, Ref, View
from .order import has_effects, value_first
from .pairs import chosen, is_complex, unsupported


def complex_value(cx: Context, node: C.Node, t: Scalar | None = None) -> Complex:
    """The value of an expression, converted to ``t``; without one, it has the expression's own type."""
    loc, value_type = loc_of(node), cx.unit.value_type(node)
    if isinstance(value_type, Pointer):
        raise catalogue.POINTER_AS_NUMBER.error(loc)
    if not is_complex(value_type):
        assert t is not None
        return of_real(cx, number(cx, node, part_of_type(t, loc), loc), t, loc)
    assert isinstance(value_type, Scalar)
    constant = complex_constant(cx, node)
    if constant is not None:
        value = of_constant(constant, value_type, loc)
    else:
        value = _value(cx, node, value_type, loc)
    return value if t is None else converted(cx, value, t, loc)


def _value(cx: Context, node: C.Node, t: Scalar, loc: Loc) -> Complex:
    match node:
        case C.UnaryOp(op="++" | "--" | "p++" | "p--"):
            return _step(cx, node, loc)
        case C.UnaryOp(op="+" | "-" | "~" as op):
            z = complex_value(cx, node.expr, t)
            return z if op == "+" else negative(cx, z, loc) if op == "-" else conjugate(cx, z, loc)
        case C.BinaryOp(op="/", right=divisor) if is_complex(cx.unit.value_type(divisor)):
            return _quotient(cx, node, t, loc)
        case C.BinaryOp():
            a, b = operands(cx, node, t)
            return arithmetic(cx, node.op, a, b, t, loc)
        case C.Assignment():
            return _assignment(cx, node, t, loc)
        case C.TernaryOp():
            return _chosen(cx, node, t, loc)
        case C.Cast():
            return complex_value(cx, node.expr, t)
        case C.FuncCall():
            result = cx.call(node)
            if isinstance(result, (Ref, View, OneOf)):
                result = load_pair(cx, result, loc)
            if not isinstance(result, Complex):
                raise unsupported("this function", t, loc)
            return result
        case C.ExprList() | C.Compound():
            return complex_value(cx, last_of(cx, node))
    value = load_pair(cx, lvalue(cx, node), loc)
    assert isinstance(value, Complex)
    return value


def operand(cx: Context, node: C.Node, t: Scalar) -> Operand:
    """An operand of an operation of complex type ``t``: a real one stays so, and has the type of the parts."""
    if is_complex(cx.unit.value_type(node)):
        return complex_value(cx, node)
    loc = loc_of(node)
    return number(cx, node, part_of_type(t, loc), loc)


def operands(cx: Context, node: C.BinaryOp, t: Scalar) -> tuple[Operand, Operand]:
    left, right = (is_complex(cx.unit.value_type(x)) for x in (node.left, node.right))
    apart = not right or (not left and node.op != "+")
    return ordered(cx, node, lambda x: operand(cx, x, t), apart)


def _quotient(cx: Context, node: C.BinaryOp, t: Scalar, loc: Loc) -> Complex:
    """A quotient as gcc has it: by 1 or -1 it is the dividend, and ``x / -y`` is ``-x / y``, which may have other signs
    of zeros."""
    a, b = operands(cx, node, t)
    divisor = constant_of(b)
    if divisor in ((1, 0), (-1, 0)):
        z = converted(cx, a, t, loc) if isinstance(a, Complex) else of_real(cx, a, t, loc)
        return z if divisor == (1, 0) else negative(cx, z, loc)
    if isinstance(node.right, C.UnaryOp) and node.right.op == "-":
        assert isinstance(b, Complex)
        a, b = (negative(cx, x if isinstance(x, Complex) else of_real(cx, x, t, loc), loc) for x in (a, b))
    return arithmetic(cx, "/", a, b, t, loc)


def _step(cx: Context, node: C.UnaryOp, loc: Loc) -> Complex:
    ref = cx.pinned(lvalue(cx, node.expr), loc)
    z = load_pair(cx, ref, loc)
    assert isinstance(z, Complex)
    old = Complex(cx.saved(z.real, loc), cx.saved(z.imag, loc), z.type)
    part = old.real.type
    new = made(cx, binary(node.op[-1], old.real, Const(1.0, part), part, loc), old.imag, old.type, loc)
    store_pair(cx, ref, new, loc)
    return old if node.op.startswith("p") else new


def _assignment(cx: Context, node: C.Assignment, t: Scalar, loc: Loc) -> Complex:
    op, source = node.op[:-1], node.rvalue
    while isinstance(source, C.ExprList):
        source = last_of(cx, source)
    other = cx.unit.value_type(source)
    assert isinstance(other, Scalar)
    of = common(t, other)

    def right_side() -> Operand:
        return operand(cx, source, of) if op else complex_value(cx, source, t)

    first = None  # the right side, where it goes before the left
    if has_effects(cx, source) and (op or value_first(cx, source, t)):
        first = saved(cx, right_side(), loc)
    ref = cx.pinned(lvalue(cx, node.lvalue), loc)
    right = right_side() if first is None else first
    if not op:
        assert isinstance(right, Complex)
        store_pair(cx, ref, right, loc)
        return right
    old = load_pair(cx, ref, loc)
    assert isinstance(old, Complex)
    value = converted(cx, arithmetic(cx, op, old, right, of, loc), t, loc)
    store_pair(cx, ref, value, loc)
    return value


def saved(cx: Context, x: Operand, loc: Loc) -> Operand:
    """A value, computed here and now."""
    return Complex(cx.saved(x.real, loc), cx.saved(x.imag, loc), x.type) if isinstance(x, Complex) else cx.saved(x, loc)


def _chosen(cx: Context, node: C.TernaryOp, t: Scalar, loc: Loc) -> Complex:
    part = part_of_type(t, loc)
    return Complex(*chosen(cx, node, part, ("real", "imag"), lambda arm: complex_value(cx, arm, t), loc), t)

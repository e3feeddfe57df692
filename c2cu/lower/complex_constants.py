"""Complex expressions that are constant to GCC: their products and quotients it computes exactly, and rounds once."""

from __future__ import annotations

import math
from fractions import Fraction

from pycparser import c_ast as C

from ..base import literals
from ..base.ctype import FLOAT, Scalar, nearest_float
from ..ir.evaluate import binary_value
from .context import Context
from .pairs import is_complex

Parts = tuple[float, float]


def complex_constant(cx: Context, node: C.Node) -> Parts | None:
    """The parts of a complex expression; None where it is not constant."""
    if id(node) not in cx.complex_constants:
        t = cx.unit.value_type(node)
        value = _value(cx, node, t.part) if isinstance(t, Scalar) and t.part.size < 16 else None
        cx.complex_constants[id(node)] = value
    return cx.complex_constants[id(node)]


def _value(cx: Context, node: C.Node, part: Scalar) -> Parts | None:
    match node:
        case C.Constant():
            value = literals.imaginary(node.value)
            return None if value is None else (0.0, value[0])
        case C.ID():
            symbol = cx.unit.symbol(node)
            init = symbol.decl.init if symbol.decl is not None and symbol.const and not symbol.volatile else None
            return None if init is None or isinstance(init, C.InitList) else _converted(cx, init, part)
        case C.UnaryOp(op="+" | "-" | "~" as op):
            z = complex_constant(cx, node.expr)
            return z and (-z[0] if op == "-" else z[0], z[1] if op == "+" else -z[1])
        case C.BinaryOp(op="+" | "-" | "*" | "/" as op):
            a, b = (_operand(cx, x, part) for x in (node.left, node.right))
            return None if a is None or b is None else constant_arithmetic(op, a, b, part)
        case C.Cast():
            return _converted(cx, node.expr, part)
        case C.FuncCall(name=C.ID(name="__builtin_complex")):
            real, imag = (cx.unit.constant(x) for x in node.args.exprs)
            return None if real is None or imag is None else (_rounded(real, part), _rounded(imag, part))
        case C.FuncCall(name=C.ID(name=name), args=C.ExprList(exprs=[argument])) if _is_conjugate(cx, name):
            z = _converted(cx, argument, part)
            return z and (z[0], -z[1])
    return None


def _is_conjugate(cx: Context, name: str) -> bool:
    return name.removeprefix("__builtin_") in ("conj", "conjf") and name not in cx.unit.functions


def converted_constant(cx: Context, node: C.Node, t: Scalar) -> Parts | None:
    """The parts of a constant of any kind, converted to the complex type ``t``; None where it is not constant."""
    return _converted(cx, node, t.part) if t.part.size < 16 else None


def _converted(cx: Context, node: C.Node, part: Scalar) -> Parts | None:
    z = _operand(cx, node, part)
    return z if isinstance(z, tuple) or z is None else (z, 0.0)


def _operand(cx: Context, node: C.Node, part: Scalar) -> Parts | float | None:
    """A constant of either kind; a real one stays so."""
    if is_complex(cx.unit.value_type(node)):
        z = complex_constant(cx, node)
        return z and (_rounded(z[0], part), _rounded(z[1], part))
    x = cx.unit.constant(node)
    return None if x is None else _rounded(x, part)


def _rounded(x: int | float | Fraction, part: Scalar) -> float:
    return nearest_float(x) if part == FLOAT else float(x)


def constant_arithmetic(op: str, a: Parts | float, b: Parts | float, part: Scalar) -> Parts | None:
    """``a op b``; None where GCC leaves it to the program: a part that no normal number is."""

    def real(op: str, x: float, y: float) -> float:
        return binary_value(op, x, y, part)

    if op == "/" and isinstance(a, float):
        a = (a, 0.0)
    match op, a, b:
        case "+" | "-", (x, y), (u, v):
            return real(op, x, u), real(op, y, v)
        case _, (x, y), (u, v):
            return _exact(op, (x, y), (u, v), part)
        case "+" | "-", (x, y), float():
            return real(op, x, b), y
        case _, (x, y), float():
            return real(op, x, b), real(op, y, b)
        case "*", float(), (u, v):
            return real("*", a, u), real("*", a, v)
        case _, float(), (u, v):
            return real(op, a, u), v if op == "+" else -v
    return None


def _exact(op: str, a: Parts, b: Parts, part: Scalar) -> Parts | None:
    """A product or a quotient, rounded once."""
    if not all(map(math.isfinite, (*a, *b))) or (op == "/" and b == (0, 0)):
        return None
    (x, y), (u, v) = a, b
    p, q, r, s = map(Fraction, (x, y, u, v))
    least = 2.0**-126 if part == FLOAT else 2.0**-1022
    if op == "*":
        exact, signs = (p * r - q * s, p * s + q * r), (x * u - y * v, x * v + y * u)
    else:
        size = r * r + s * s
        exact, signs = ((p * r + q * s) / size, (q * r - p * s) / size), (x * u + y * v, y * u - x * v)
    parts: list[float] = []
    for number, sign in zip(exact, signs):
        try:
            value = _rounded(number, part) if number else math.copysign(0.0, sign)
        except OverflowError:
            return None
        if number and not least <= abs(value) < math.inf:
            return None
        parts.append(value)
    return parts[0], parts[1]

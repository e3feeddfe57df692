"""Complex numbers as pairs, and the statements that compute with them: annex G's arithmetic, as GCC has it.

A real operand is converted to a complex number only where GCC does so: as a dividend, and in a comparison. That keeps
infinities and the signs of zeros. The parts of a result are constants or variables.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from pycparser import c_ast as C

from ..base import catalogue
from ..base.ctype import BOOL, FLOAT, INT, Scalar
from ..base.diagnostics import Loc
from ..frontend.parse import loc_of
from ..ir.fold import binary, cast, truth, unary
from ..ir.nodes import Const, Expr
from .complex_constants import constant_arithmetic
from .context import Context
from .memory import load_pair
from .objects import Complex
from .order import before, read_last
from .pairs import atom, unsupported

Operand = Complex | Expr  # a complex number or a real one
ROUTINES = {("*", True): "__mulsc3", ("*", False): "__muldc3", ("/", True): "__divsc3", ("/", False): "__divdc3"}


def made(cx: Context, real: Expr, imag: Expr, t: Scalar, loc: Loc) -> Complex:
    return Complex(atom(cx, real, loc), atom(cx, imag, loc), t)


def part_of_type(t: Scalar, loc: Loc) -> Scalar:
    """The type of a complex type's parts, which the flat IR has."""
    if t.part.size == 16:
        raise catalogue.LONG_DOUBLE.error(loc, what="a value")
    return t.part


def converted(cx: Context, z: Complex, t: Scalar, loc: Loc) -> Complex:
    part = part_of_type(t, loc)
    return z if z.type == t else made(cx, cast(z.real, part), cast(z.imag, part), t, loc)


def of_real(cx: Context, x: Expr, t: Scalar, loc: Loc) -> Complex:
    """A real number, converted."""
    part = part_of_type(t, loc)
    return made(cx, cast(x, part), Const(0.0, part), t, loc)


def real(z: Complex, t: Scalar, loc: Loc) -> Expr:
    """Converted to a real type."""
    if t.size == 16:
        raise unsupported("the conversion of a number", z.type, loc)
    return cast(is_true(z, loc), BOOL) if t == BOOL else cast(z.real, t)


def is_true(z: Complex, loc: Loc) -> Expr:
    return binary("||", truth(z.real, loc), truth(z.imag, loc), INT, loc)


def compared(op: str, a: Complex, b: Complex, loc: Loc) -> Expr:
    """``a == b`` or ``a != b`` of operands of one type."""
    real, imag = (binary(op, x, y, INT, loc) for x, y in zip(a.parts, b.parts))
    return binary("&&" if op == "==" else "||", real, imag, INT, loc)


def negative(cx: Context, z: Complex, loc: Loc) -> Complex:
    real, imag = (unary("-", x, x.type, loc) for x in z.parts)
    return made(cx, real, imag, z.type, loc)


def conjugate(cx: Context, z: Complex, loc: Loc) -> Complex:
    return made(cx, z.real, unary("-", z.imag, z.imag.type, loc), z.type, loc)


def arithmetic(cx: Context, op: str, a: Operand, b: Operand, t: Scalar, loc: Loc) -> Complex:
    """``a op b``, where one operand is complex, of type ``t``."""
    part = part_of_type(t, loc)

    def number(op: str, x: Expr, y: Expr) -> Expr:
        return binary(op, x, y, part, loc)

    x, y = (converted(cx, z, t, loc) if isinstance(z, Complex) else atom(cx, cast(z, part), loc) for z in (a, b))
    c, d = constant_of(x), constant_of(y)
    constant = constant_arithmetic(op, c, d, part) if c is not None and d is not None else None
    if constant is not None:
        return of_constant(constant, t, loc)
    if op == "/" and not isinstance(x, Complex):
        x = of_real(cx, x, t, loc)
    if isinstance(x, Complex) and isinstance(y, Complex):
        if op in ("*", "/"):
            return routine(cx, ROUTINES[op, part == FLOAT], x, y, loc)
        return made(cx, number(op, x.real, y.real), number(op, x.imag, y.imag), t, loc)
    if isinstance(x, Complex):
        assert not isinstance(y, Complex)
        imag = number(op, x.imag, y) if op in ("*", "/") else x.imag
        return made(cx, number(op, x.real, y), imag, t, loc)
    assert isinstance(y, Complex)
    imag = number("*", x, y.imag) if op == "*" else unary("-", y.imag, part, loc) if op == "-" else y.imag
    return made(cx, number(op, x, y.real), imag, t, loc)


def constant_of(x: Operand) -> tuple[float, float] | float | None:
    """The value of an operand that is a constant."""
    if not isinstance(x, Complex):
        return float(x.value) if isinstance(x, Const) else None
    real, imag = x.parts
    return (float(real.value), float(imag.value)) if isinstance(real, Const) and isinstance(imag, Const) else None


def of_constant(parts: tuple[float, float], t: Scalar, loc: Loc) -> Complex:
    real, imag = (Const(x, part_of_type(t, loc), loc) for x in parts)
    return Complex(real, imag, t)


def routine(cx: Context, name: str, a: Complex, b: Complex, loc: Loc) -> Complex:
    """What a routine of GCC's library gives for the parts of both."""
    result = load_pair(cx, cx.inline(name, (*a.parts, *b.parts), loc), loc)
    assert isinstance(result, Complex)
    return result


def ordered(cx: Context, node: C.BinaryOp, read: Callable[[C.Node], Operand], apart: bool) -> tuple[Operand, Operand]:
    """The operands' values, read in gcc's order. ``apart``: it reads the left one by itself before the right one."""
    a = read(node.left)
    mark = len(cx.out)
    b = read(node.right)
    if len(cx.out) == mark:
        return a, b
    if not apart and read_last(cx, node.op, node.left):
        return read(node.left), b
    return as_before(cx, a, mark, loc_of(node)), b


def as_before(cx: Context, x: Operand, mark: int, loc: Loc) -> Operand:
    """A value as it was before the statements from ``mark`` on."""
    if not isinstance(x, Complex):
        return before(cx, x, mark, loc)
    return replace(x, real=before(cx, x.real, mark, loc), imag=before(cx, x.imag, mark, loc))

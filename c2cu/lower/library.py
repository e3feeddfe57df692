"""The library functions that lowering knows by name: libm, abs, and those of string.h that move memory."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from pycparser import c_ast as C

from ..base import catalogue, libc, libm
from ..base.ctype import BOOL, DOUBLE, FLOAT, INT, LDOUBLE, LONG, ULONG, CType, Pointer, Scalar
from ..base.diagnostics import Loc
from ..frontend.parse import loc_of
from ..ir.evaluate import converted
from ..ir.fold import binary, cast, unary
from ..ir.nodes import Call, Const, Expr, Select
from .allocation import allocated, free
from .context import Context
from .copies import memory_function
from .long_double import as_double
from .lvalues import pointee, pointer_value
from .memory import store
from .objects import Complex, Target
from .order import before, has_effects


@dataclass(frozen=True)
class OfNumbers:
    """A function of the library's that takes numbers and gives one."""

    name: str
    returns: Scalar
    params: tuple[Scalar, ...]


def numbers_function(name: str) -> OfNumbers | None:
    """The one of that name, if it can be called by its arguments' values alone."""
    if (t := _ABSOLUTE.get(name)) is not None:
        return OfNumbers(name, t, (t,))
    return OfNumbers(name, *libm.FUNCTIONS[name]) if name in libm.FUNCTIONS else None


def of_numbers(f: OfNumbers, values: Sequence[Expr], loc: Loc) -> Expr:
    """What ``f`` gives for arguments."""
    if (t := _ABSOLUTE.get(f.name)) is not None:
        return absolute(values[0], t, loc)
    return Call(f.name, tuple(cast(v, t) for v, t in zip(values, f.params)), f.returns, loc)


_ABSOLUTE = {"abs": INT, "labs": LONG, "llabs": LONG}


def library_call(cx: Context, name: str, node: C.FuncCall) -> Expr | Target | Complex | None:
    """A call of a C library function or one of GCC's, but those that `substitutes` has."""
    loc = loc_of(node)
    args = node.args.exprs if node.args else []
    name = name.removeprefix("__builtin_")
    if name in libc.ENDERS or name == "trap":  # at which native, doing the input again, ends the process
        cx.end(loc)
        return None
    if name in ("memcpy", "memmove", "memset"):
        return memory_function(cx, name, args, loc)
    if name in libc.ALLOCATES:
        return allocated(cx, name, args, loc)
    if name == "free":
        free(cx, args, loc)
        return None
    if name in libc.HEAP:
        raise catalogue.ALLOCATION.error(loc, name=name)
    if name in libm.CONSTANTS:
        return Const(*libm.CONSTANTS[name], loc)
    if name == "fpclassify":
        return classified([cx.saved(cx.value(a), loc) for a in args], loc)
    if name == "isnormal":
        return is_normal(cx.value(args[0]), loc)
    if name in _ABSOLUTE:
        return absolute(cx.value(args[0]), _ABSOLUTE[name], loc)
    if name in ("expect", "expect_with_probability"):
        value = cast(cx.value(args[0]), LONG)
        for a in args[1:]:
            cx.effect(a)
        return value
    if name == "constant_p":  # which evaluates nothing
        return Const(int(not has_effects(cx, args[0]) and isinstance(cx.value(args[0]), Const)), INT, loc)
    if name == "unreachable":
        cx.part_ways()
        return None
    if name == "prefetch":
        for a in args:
            if has_effects(cx, a):
                cx.effect(a)
        return None
    if name == "assume_aligned":
        return pointer_value(cx, args[0])
    if name in ("add_overflow", "sub_overflow", "mul_overflow"):
        return overflow(cx, {"a": "+", "s": "-", "m": "*"}[name[0]], args, loc)
    if name == "complex":
        return made_complex(cx, args, cx.unit.type(node), loc)
    if name in libm.COMPLEX:
        return complex_call(cx, name, args, loc)
    is_long = name in libm.WIDENED
    name = name[:-1] if is_long else name
    if name not in libm.FUNCTIONS:
        raise catalogue.LIBRARY_FUNCTION.error(loc, name=name)
    returns, params = libm.FUNCTIONS[name]
    values: list[Expr] = []
    for a, t in reversed(list(zip(args, params, strict=True))):
        mark = len(cx.out)
        value = as_double(cx.value(a), loc) if is_long else cast(cx.value(a), t)
        values = [value, *(before(cx, v, mark, loc) for v in values)]
    match name, values:
        # IEEE 754 defines it to the last bit. Of 0 it stays a call: that a constant is 0 decides about others' signs.
        case "sqrt" | "sqrtf", [Const(value=x)] if 0 < x < math.inf:
            return Const(converted(math.sqrt(x), returns), returns, loc)
    result = Call(name, tuple(values), returns, loc)
    return cast(result, LDOUBLE) if is_long and returns == DOUBLE else result


def made_complex(cx: Context, args: list[C.Node], t: CType, loc: Loc) -> Complex:
    """``__builtin_complex(x, y)``."""
    assert isinstance(t, Scalar)
    imag = cx.saved(cx.value(args[1]), loc)
    return Complex(cx.saved(cx.value(args[0]), loc), imag, t)


def complex_call(cx: Context, name: str, args: list[C.Node], loc: Loc) -> Complex:
    """A function of complex.h that the C library computes: each part is a call of it. Of a constant GCC has the value
    itself, which the library's need not be."""
    returns, params = libm.COMPLEX[name]
    values: list[Expr] = []
    for a, t in reversed(list(zip(args, params, strict=True))):
        values = [*(cx.saved(x, loc) for x in cx.complex(a, t).parts), *values]
    if all(isinstance(x, Const) for x in values):
        raise catalogue.UNSUPPORTED_CONSTRUCT.error(loc, construct=f"'{name}' of a constant")
    real, imag = (cx.saved(Call(f"{name}_{p}", tuple(values), t, loc), loc, p) for p, t in returns.parts)
    return Complex(real, imag, returns)


def is_normal(x: Expr, loc: Loc) -> Expr:
    """In the argument's own type: a float that is not normal may be so as a double."""
    if x.type == LDOUBLE:  # more numbers are normal in it
        raise catalogue.LONG_DOUBLE.error(loc, what="a value")
    t, smallest = (FLOAT, 2.0**-126) if x.type == FLOAT else (DOUBLE, 2.0**-1022)
    size = Call("fabsf" if t == FLOAT else "fabs", (cast(x, t),), t, loc)
    large = binary(">=", size, Const(smallest, t), INT, loc)
    return binary("&&", large, binary("<", size, Const(math.inf, t), INT, loc), INT, loc)


def classified(values: list[Expr], loc: Loc) -> Expr:
    """``__builtin_fpclassify(nan, infinite, normal, subnormal, zero, x)``, in the argument's own type."""
    *classes, x = values
    if x.type == LDOUBLE:
        raise catalogue.LONG_DOUBLE.error(loc, what="a value")
    nan, infinite, normal, subnormal, zero = (cast(c, INT) for c in classes)
    t = FLOAT if x.type == FLOAT else DOUBLE
    x = cast(x, t)
    size = Call("fabsf" if t == FLOAT else "fabs", (x,), t, loc)
    small = Select(binary("==", x, Const(0, t), INT, loc), zero, subnormal, INT, loc)
    finite = Select(is_normal(x, loc), normal, small, INT, loc)
    number = Select(binary("==", size, Const(math.inf, t), INT, loc), infinite, finite, INT, loc)
    return Select(binary("!=", x, x, INT, loc), nan, number, INT, loc)


def absolute(x: Expr, t: Scalar, loc: Loc) -> Expr:
    x = cast(x, t)
    return Select(binary("<", x, Const(0, t), INT, loc), unary("-", x, t, loc), x, t, loc)


def overflow(cx: Context, op: str, args: list[C.Node], loc: Loc) -> Expr:
    """``__builtin_add_overflow`` and its kind: stores the result, converted; whether that changes it."""
    a, b = cx.saved(cx.value(args[0]), loc), cx.saved(cx.value(args[1]), loc)
    pointer = cx.unit.value_type(args[2])
    assert isinstance(pointer, Pointer)
    t = pointer.to
    if not isinstance(t, Scalar) or not (a.type.is_integer and b.type.is_integer and t.is_integer):
        raise catalogue.LIBRARY_FUNCTION.error(loc, name="__builtin_..._overflow")
    to = cx.pinned(pointee(pointer_value(cx, args[2]), t, loc), loc)
    if max(a.type.size, b.type.size) <= 4:
        wide = ULONG if op == "*" and a.type.kind in "ub" and b.type.kind in "ub" else LONG
        exact = cx.saved(binary(op, cast(a, wide), cast(b, wide), wide, loc), loc)
        result = cx.saved(cast(exact, t), loc)
        if t.size < 8:
            wrong = binary("!=", cast(result, wide), exact, INT, loc)
        elif (t.kind == "u") == (wide == ULONG):
            wrong = Const(0, INT)
        else:  # all bits are there, but as a negative number of the one type and a positive one of the other
            wrong = binary("<", cast(exact, LONG), Const(0, LONG), INT, loc)
    else:
        if t.size < 8 or not (_holds(t, a.type) and _holds(t, b.type)):
            raise catalogue.LIBRARY_FUNCTION.error(loc, name="__builtin_..._overflow")
        result = cx.saved(binary(op, cast(a, t), cast(b, t), t, loc), loc)
        wrong = cx.saved(wrapped(op, cast(a, t), cast(b, t), result, t, loc), loc)
    wrong = cx.saved(cast(wrong, BOOL), loc)
    store(cx, to, result, loc)
    return wrong


def _holds(t: Scalar, of: Scalar) -> bool:
    """Whether a type of 64 bits has every value of another."""
    return of.kind in "ub" if t.kind == "u" else of.kind == "i" or of.size < 8


def wrapped(op: str, a: Expr, b: Expr, result: Expr, t: Scalar, loc: Loc) -> Expr:
    """Whether ``result`` of ``a op b`` is not what it would be in more bits; all of one type of 64 bits."""

    def bits(op: str, x: Expr, y: Expr) -> Expr:
        return binary(op, x, y, t, loc)

    zero = Const(0, t)
    if op == "*":  # by a factor of 0 there is no division, and the product is right; of -1 one product alone is wrong
        nothing = binary("==", a, zero, INT, loc)
        minus = binary("==", a, Const(-1, t), INT, loc)
        apart = nothing if t.kind == "u" else binary("||", minus, nothing, INT, loc)
        differs = binary("!=", bits("/", result, Select(apart, Const(1, t), a, t, loc)), b, INT, loc)
        differs = binary("&&", binary("!=", a, zero, INT, loc), differs, INT, loc)
        if t.kind == "u":
            return differs
        return Select(minus, binary("==", b, Const(-(1 << 63), t), INT, loc), differs, INT, loc)
    if t.kind == "u":
        return binary("<", result, a, INT, loc) if op == "+" else binary("<", a, b, INT, loc)
    signs = bits("&", bits("^", a, result), bits("^", b, result) if op == "+" else bits("^", a, b))
    return binary("<", signs, zero, INT, loc)

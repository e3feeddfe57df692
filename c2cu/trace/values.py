"""Uniform expressions as Python functions that give what C gives."""

from __future__ import annotations

import ctypes
import functools
import math
import struct
from array import array
from collections.abc import Callable
from dataclasses import dataclass, field

from ..base.ctype import DOUBLE, FLOAT, INT, LONG, Scalar, divide
from ..base.libm import FUNCTIONS
from ..ir.fold import COMPARISONS, OPERATORS
from ..ir.nodes import Binary, Bitcast, Call, Cast, Const, Expr, Load, Region, Select, Unary, Var, Variable

Number = int | float
Value = Callable[[], Number]
_NATIVE = {DOUBLE: ctypes.c_double, FLOAT: ctypes.c_float, INT: ctypes.c_int, LONG: ctypes.c_long}
_CLASSES: dict[str, Callable[[float], int]] = {
    "isnan": math.isnan,
    "isfinite": math.isfinite,
    "isinf": lambda x: math.isinf(x) * (1 if x > 0 else -1),
    "signbit": lambda x: math.copysign(1, x) < 0,
}


class NotAtHand(Exception):
    """This machine's libm lacks a function. ``name``: its name."""

    def __init__(self, name: str):
        self.name = name


@dataclass
class Memory:
    """Uniform variables and arrays, all zero at first where nothing else is said."""

    variables: list[Number] = field(default_factory=list)
    places: dict[Variable, int] = field(default_factory=dict)  # where among them
    arrays: dict[Region, array] = field(default_factory=dict)

    def place(self, v: Variable) -> int:
        if v not in self.places:
            self.places[v] = len(self.variables)
            self.variables.append(v.type.wrap(0))
        return self.places[v]

    def elements(self, r: Region) -> array:
        """A region's, each of the size that C gives it."""
        if r not in self.arrays:
            code = _format(r.type)[1:]
            self.arrays[r] = array(code, r.init) if r.init is not None else array(code, [0]) * r.count
        return self.arrays[r]


def value(e: Expr, memory: Memory) -> Value:
    """A function that computes ``e`` from what ``memory`` holds when it is called."""
    match e:
        case Const(value=v):
            return lambda: v
        case Var(var=v):
            variables, place = memory.variables, memory.place(v)
            return lambda: variables[place]
        case Load(region=r, index=i):
            array, index = memory.elements(r), value(i, memory)
            return lambda: array[int(index())]
        case Unary(op="!", operand=x):
            a = value(x, memory)
            return lambda: int(not a())
        case Unary(op=op, operand=x):
            a = value(x, memory)
            return _held((lambda: -a()) if op == "-" else (lambda: ~int(a())), e.type)
        case Binary():
            return _binary(e, value(e.left, memory), value(e.right, memory))
        case Cast(operand=x):
            return _cast(value(x, memory), x.type, e.type)
        case Bitcast(operand=x):
            a, there, back = value(x, memory), _format(x.type), _format(e.type)
            return lambda: struct.unpack(back, struct.pack(there, a()))[0]
        case Select(cond=c, yes=x, no=y):
            cond, a, b = value(c, memory), value(x, memory), value(y, memory)
            return lambda: a() if cond() else b()
        case Call(name=name, args=args):
            f, given = function(name), [value(x, memory) for x in args]
            return lambda: f(*(a() for a in given))
    raise AssertionError(e)


def _binary(e: Binary, a: Value, b: Value) -> Value:
    t = e.type
    match e.op:
        case "&&":
            return lambda: int(bool(a()) and bool(b()))
        case "||":
            return lambda: int(bool(a()) or bool(b()))
        case "<<":
            return _held(lambda: int(a()) << int(b()), t)
        case ">>":
            return lambda: int(a()) >> int(b())
        case "/" | "%":
            return _held(lambda: divide(e.op, a(), b(), t), t)
    f = OPERATORS[e.op]
    if e.op in COMPARISONS:
        return lambda: int(f(a(), b()))
    return _held(lambda: f(a(), b()), t)


def _held(f: Value, t: Scalar) -> Value:
    """What ``f`` gives, wrapped or rounded as type ``t`` does."""
    if not t.is_integer:
        return f if t == DOUBLE else lambda: t.wrap(f())
    low, high = _range(t)

    def run() -> Number:
        n = f()
        return n if low <= n <= high else t.wrap(n)

    return run


def _range(t: Scalar) -> tuple[int, int]:
    if t.kind == "i":
        return -(1 << (t.bits - 1)), (1 << (t.bits - 1)) - 1
    return 0, (1 << t.bits) - 1


def _cast(a: Value, source: Scalar, target: Scalar) -> Value:
    if source.is_integer and target.is_integer:
        return _held(a, target)
    return a if source == target else lambda: target.wrap(a())


def _format(t: Scalar) -> str:
    if t.is_float:
        return "<f" if t.size == 4 else "<d"
    code = {1: "b", 2: "h", 4: "i", 8: "q"}[t.size]
    return "<" + (code if t.kind == "i" else code.upper())


@functools.cache
def function(name: str) -> Callable[..., Number]:
    """A function of this machine's libm, which a C program would call too. Raises NotAtHand."""
    if name in _CLASSES:
        test = _CLASSES[name]
        return lambda x: int(test(x))
    returns, params = FUNCTIONS[name]
    try:
        found = ctypes.CDLL(None)[name]
    except (OSError, AttributeError):
        raise NotAtHand(name) from None
    found.restype = _NATIVE.get(returns, ctypes.c_long)
    found.argtypes = [_NATIVE[t] for t in params]
    return found

"""Uniform values of many iterations at once: NumPy arrays that hold what C would compute."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...base.ctype import Scalar
from ...ir.fold import COMPARISONS
from ...ir.nodes import Binary, Bitcast, Call, Cast, Const, Expr, Load, Region, Select, Unary, Var, Variable

Values = np.ndarray  # of the C type's dtype, one for each iteration, or of shape ()
Environment = Mapping[Variable, Values]
Memory = Mapping[Region, np.ndarray]  # uniform regions

_COMPARE = {
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
    "==": np.equal,
    "!=": np.not_equal,
}
_ARITHMETIC = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "&": np.bitwise_and,
    "|": np.bitwise_or,
    "^": np.bitwise_xor,
}


class NotKnown(Exception):
    """A value that cannot be computed before the run."""


def evaluate(e: Expr, env: Environment, memory: Memory) -> Values:
    """The value of a uniform expression. Raises NotKnown."""
    with np.errstate(all="ignore"):
        return _evaluate(e, env, memory)


def _evaluate(e: Expr, env: Environment, memory: Memory) -> Values:
    match e:
        case Const(value=v, type=t):
            return np.asarray(v, t.numpy)
        case Var(var=v):
            if v not in env:
                raise NotKnown(v.name)
            return env[v]
        case Load(region=r, index=i):
            if r not in memory:
                raise NotKnown(r.name)
            index = np.clip(_evaluate(i, env, memory), 0, r.count - 1)  # a masked iteration may be outside
            return memory[r][index]
        case Unary(op=op, operand=x, type=t):
            a = _evaluate(x, env, memory)
            return converted(~a if op == "~" else -a if op == "-" else a == 0, t)
        case Binary():
            return _binary(e, _evaluate(e.left, env, memory), _evaluate(e.right, env, memory))
        case Cast(operand=x, type=t):
            return converted(_evaluate(x, env, memory), t)
        case Bitcast(operand=x, type=t):
            a = np.asarray(_evaluate(x, env, memory))
            return np.ascontiguousarray(a).view(t.numpy).reshape(a.shape)
        case Select(cond=c, yes=a, no=b):
            return np.where(_evaluate(c, env, memory) != 0, _evaluate(a, env, memory), _evaluate(b, env, memory))
        case Call(name=name):
            raise NotKnown(name)
    raise AssertionError(e)


def _binary(e: Binary, a: Values, b: Values) -> Values:
    op, t = e.op, e.type
    if op in COMPARISONS:
        return converted(_COMPARE[op](a, b), t)
    if op in ("&&", "||"):
        return converted((a != 0) & (b != 0) if op == "&&" else (a != 0) | (b != 0), t)
    if op in ("<<", ">>"):
        count = (b.astype(np.int64) & (t.bits - 1)).astype(a.dtype)
        return converted(np.left_shift(a, count) if op == "<<" else np.right_shift(a, count), t)
    if op in ("/", "%"):
        return _divided(op, t, a, b)
    return converted(_ARITHMETIC[op](a, b), t)


def _divided(op: str, t: Scalar, a: Values, b: Values) -> Values:
    if t.is_float:
        return converted(a / b, t)
    b = np.where(b == 0, 1, b).astype(b.dtype)  # only where the iteration is masked
    quotient = np.floor_divide(a, b)  # rounds down; C rounds towards zero
    if t.kind == "i":
        quotient = quotient + ((quotient * b != a) & ((a < 0) != (b < 0)))
    return converted(quotient if op == "/" else a - quotient * b, t)


def converted(a: Values, t: Scalar) -> Values:
    """``a`` as C converts it to ``t``."""
    a = np.asarray(a)
    if t.kind == "b":
        return (a != 0).astype(t.numpy)
    return a.astype(t.numpy)


def as_const(a: Values, t: Scalar, e: Expr) -> Const:
    """One value as a constant of the IR."""
    return Const(t.wrap(np.asarray(a).reshape(-1)[0].item()), t, e.loc)

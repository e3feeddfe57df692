"""Uniform values of many iterations at once: NumPy arrays that hold what C would compute."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from ...base.ctype import Scalar
from ...ir import evaluate as arithmetic
from ...ir.nodes import Call, Const, Expr, Load, Region, Var, Variable

Values = np.ndarray  # of the C type's dtype, one for each iteration, or of shape ()
Environment = Mapping[Variable, Values]
Memory = Mapping[Region, np.ndarray]  # uniform regions


#: Functions whose value is the same everywhere.
_EXACT: dict[str, Callable[..., Values]] = {
    "fabs": np.abs, "fabsf": np.abs, "copysign": np.copysign, "copysignf": np.copysign
}  # fmt: skip


class NotKnown(Exception):
    """A value that cannot be computed before the run."""


def evaluate(e: Expr, env: Environment, memory: Memory) -> Values:
    """The value of a uniform expression. Raises NotKnown."""

    def leaf(x: arithmetic.Leaf) -> Values:
        match x:
            case Const(value=v, type=t):
                return np.asarray(v, t.numpy)
            case Var(var=v) if v in env:
                return env[v]
            case Var(var=v):
                raise NotKnown(v.name)
            case Load(region=r, index=i) if r in memory:
                index = np.clip(arithmetic.evaluate(i, leaf), 0, r.count - 1)  # a masked iteration may be outside
                return memory[r][index]
            case Load(region=r):
                raise NotKnown(r.name)
            case Call(name=name, args=args) if name in _EXACT:
                return _EXACT[name](*(arithmetic.evaluate(a, leaf) for a in args))
            case Call(name=name):
                raise NotKnown(name)

    with np.errstate(all="ignore"):
        return arithmetic.evaluate(e, leaf)


def as_const(a: Values, t: Scalar, e: Expr) -> Const:
    """One value as a constant of the IR."""
    return Const(t.wrap(np.asarray(a).reshape(-1)[0].item()), t, e.loc)

"""Subscripts as sums of counters: c0 + a*k + b*i + c*j."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .nodes import Binary, Cast, Const, Expr, Unary, Var, Variable


@dataclass(frozen=True)
class Affine:
    """``terms``: coefficients that are not 0, by counter."""

    constant: int
    terms: Mapping[Variable, int]

    def of(self, v: Variable) -> int:
        return self.terms.get(v, 0)


def affine(e: Expr) -> Affine | None:
    """``e`` as a sum, None if it is none. What is in bounds does not wrap, nor does what it is computed from at 32 bits
    or more differ modulo 2^32."""
    match e:
        case Const(value=int() as n):
            return Affine(n, {})
        case Var(var=v) if v.type.is_integer and v.type.size >= 4:
            return Affine(0, {v: 1})
        case Cast(operand=x, type=t) if t.is_integer and t.size >= 4 and x.type.is_integer:
            return affine(x)
        case Unary(op="-", operand=x):
            return _scaled(affine(x), -1)
        case Binary(op="+" | "-", left=x, right=y):
            return _sum(affine(x), _scaled(affine(y), 1 if e.op == "+" else -1))
        case Binary(op="*", left=x, right=y):
            a, b = affine(x), affine(y)
            if a is not None and not a.terms:
                return _scaled(b, a.constant)
            return _scaled(a, b.constant) if b is not None and not b.terms else None
        case Binary(op="<<", left=x, right=Const(value=int() as n)) if 0 <= n < 31:
            return _scaled(affine(x), 1 << n)
    return None


def _scaled(a: Affine | None, n: int) -> Affine | None:
    return None if a is None else Affine(a.constant * n, {v: c * n for v, c in a.terms.items() if c * n})


def _sum(a: Affine | None, b: Affine | None) -> Affine | None:
    if a is None or b is None:
        return None
    terms = {v: a.of(v) + b.of(v) for v in (*a.terms, *b.terms)}
    return Affine(a.constant + b.constant, {v: c for v, c in terms.items() if c})

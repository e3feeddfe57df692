"""Subscripts as sums of counters: c0 + a*k + b*i + c*j."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from .nodes import Binary, Cast, Const, Expr, Unary, Var, Variable

Term = TypeVar("Term", Variable, Expr)


@dataclass(frozen=True)
class Linear(Generic[Term]):
    """``terms``: coefficients that are not 0, by what they multiply."""

    constant: int
    terms: Mapping[Term, int]

    def of(self, term: Term) -> int:
        return self.terms.get(term, 0)

    def plus(self, other: Linear[Term], times: int = 1) -> Linear[Term]:
        terms = {x: self.of(x) + times * other.of(x) for x in (*self.terms, *other.terms)}
        return Linear(self.constant + times * other.constant, {x: c for x, c in terms.items() if c})

    def times(self, n: int) -> Linear[Term]:
        return Linear(self.constant * n, {x: c * n for x, c in self.terms.items() if c * n})

    def divided(self, n: int) -> tuple[Linear[Term], Linear[Term]]:
        """(a, b), of which a * n + b is this sum: row and column in a matrix with rows of n elements. The coefficients
        of b are 0 .. n - 1; so is its constant where it has no terms, else that is the nearest one to 0."""
        a = {x: c // n for x, c in self.terms.items() if c // n}
        b = {x: c % n for x, c in self.terms.items() if c % n}
        constant = (self.constant + n // 2) // n if b else self.constant // n
        return Linear(constant, a), Linear(self.constant - constant * n, b)


Affine = Linear[Variable]


def affine(e: Expr) -> Affine | None:
    """``e`` as a sum of variables, None if it is none. What is in bounds does not wrap, nor does what it is computed
    from at 32 bits or more differ modulo 2^32."""
    sum = linear(e)
    terms: dict[Variable, int] = {}
    for x, c in sum.terms.items():
        if not isinstance(x, Var) or not x.type.is_integer or x.type.size < 4:
            return None
        terms[x.var] = c
    return Linear(sum.constant, terms)


def linear(e: Expr) -> Linear[Expr]:
    """``e``, an integer expression that does not wrap, as a sum of what is no sum itself."""
    match e:
        case Const(value=int() as n):
            return Linear(n, {})
        case Cast(operand=x, type=t) if t.is_integer and t.size >= 4 and x.type.is_integer:
            return linear(x)
        case Unary(op="-", operand=x) if e.type.is_integer:
            return linear(x).times(-1)
        case Binary(op="+" | "-", left=x, right=y) if e.type.is_integer:
            return linear(x).plus(linear(y), 1 if e.op == "+" else -1)
        case Binary(op="*", left=x, right=y) if e.type.is_integer:
            a, b = linear(x), linear(y)
            if not a.terms or not b.terms:
                return b.times(a.constant) if not a.terms else a.times(b.constant)
        case Binary(op="<<", left=x, right=Const(value=int() as n)) if 0 <= n < 31:
            return linear(x).times(1 << n)
    return Linear(0, {e: 1})

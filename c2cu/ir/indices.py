"""Index expressions made short: ``(tid & 1) * -1 + (tid >> 1) * 2 + 1`` is ``tid ^ 1``.

An integer expression is taken as a *sum*: a constant, and coefficients of single bits of variables that are known to be
small and not negative, and of whatever else there is as a whole. Sums are equal modulo 2^w to what they come from, w
being the width of the type; where the range of a sum lies within the type, they are equal.

Why each step is exact. Let b[k] be bit k of x, with 0 <= x < 2^n, so that x = b[0] + 2 b[1] + ... + 2^(n-1) b[n-1].

* Of a sum whose coefficients are different powers of two and whose constant is made of others (no carry can arise),
  ``& m`` keeps the terms 2^k with bit k of m, and ``>> s`` divides those with k >= s by 2^s and drops the others.
  ``/`` and ``%`` by powers of two are these, since the sum is not negative.
* Bits with coefficients p * 2^(k-m) are together p * ((x >> m) & M), M being those bits shifted by m.
* Those of them with the opposite sign, N, are complements: -c b = c (1 - b) - c. So they are p * (((x >> m) & M) ^ N),
  and p * N less in the constant.
* Comparisons of sums that do not wrap are those of their difference with 0, and terms may change sides if the sides do
  not wrap then either. A sum of bits with no negative coefficient is 0 if and only if each of the bits is, whatever the
  coefficients: for ``== 0`` and ``!= 0`` they may be 2^k.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import product
from typing import TypeVar

from ..base.ctype import INT, Scalar, promote
from .evaluate import COMPARISONS, converted
from .fold import binary, cast
from .nodes import Assign, Binary, Block, Cast, Const, Expr, If, Load, Loop, Stmt, Store, Unary, Var, Variable
from .ranges import Range, RangeOf, Ranges, fits, range_of_type, range_of_variable
from .walk import mapped, operands, subexpressions

WIDEST = 24  # bits of a variable that are looked at one by one
GROUPS = 6  # of bits whose signs are tried both ways

Bit = tuple[Variable, int]
Term = TypeVar("Term", Bit, Expr)


@dataclass(frozen=True)
class Sum:
    """``constant``, bits of variables and other expressions, each times its coefficient, none of which is 0."""

    constant: int = 0
    bits: dict[Bit, int] = field(default_factory=dict)
    others: dict[Expr, int] = field(default_factory=dict)

    def plus(self, other: Sum, times: int = 1) -> Sum:
        bits, others = _plus(self.bits, other.bits, times), _plus(self.others, other.others, times)
        return Sum(self.constant + other.constant * times, bits, others)

    def times(self, n: int) -> Sum:
        return Sum().plus(self, n)

    def modulo(self, t: Scalar) -> Sum:
        """With all numbers brought into ``t``'s range."""

        def short(n: int) -> int:
            low = -(1 << (8 * t.size - 1))
            return (n - low) % (1 << 8 * t.size) + low

        return Sum(
            short(self.constant),
            {b: short(c) for b, c in self.bits.items() if short(c)},
            {e: short(c) for e, c in self.others.items() if short(c)},
        )

    def range(self, ranges: Ranges) -> Range:
        """Before it wraps around."""
        low = high = self.constant
        terms = [(c, (0, 1)) for c in self.bits.values()] + [(c, ranges(e)) for e, c in self.others.items()]
        for c, (least, greatest) in terms:
            low += min(c * least, c * greatest)
            high += max(c * least, c * greatest)
        return low, high

    def string(self) -> bool:
        """Whether no two terms can share a bit, so that there are no carries."""
        used = self.constant
        for c in self.bits.values():
            if c <= 0 or c & (c - 1) or used & c:
                return False
            used |= c
        return self.constant >= 0 and not self.others

    def shifted(self, n: int) -> Sum:
        """A string ``>> n``."""
        return Sum(self.constant >> n, {b: c >> n for b, c in self.bits.items() if c >> n})

    def masked(self, mask: int) -> Sum:
        """A string ``& mask``."""
        return Sum(self.constant & mask, {b: c for b, c in self.bits.items() if c & mask})


def simplified(e: Expr, of_variable: RangeOf = range_of_variable) -> Expr:
    """``e``, an integer expression, with fewer operations where that can be had. ``of_variable``: what variables hold;
    a range that is not its type's whole one says that the variable is there for indices."""
    return _Simplifier(of_variable).simplified(e)


def simplified_indices(block: Block, of_variable: RangeOf) -> Block:
    """``block`` with shorter subscripts, and shorter expressions of variables that are there for indices."""
    return _Simplifier(of_variable).block(block)


def operations(e: Expr) -> int:
    """How many operations ``e`` is; conversions do not count."""
    return sum(isinstance(x, (Binary, Unary)) for x in subexpressions(e))


class _Simplifier:
    def __init__(self, of_variable: RangeOf):
        self.ranges = Ranges(of_variable)

    # where index expressions are

    def block(self, block: Block) -> Block:
        return tuple(map(self.statement, block))

    def statement(self, s: Stmt) -> Stmt:
        match s:
            case Assign(value=e):
                return replace(s, value=self.inside(e))
            case Store():
                return replace(s, index=self.simplified(s.index), value=self.inside(s.value))
            case If():
                return replace(s, cond=self.inside(s.cond), then=self.block(s.then), other=self.block(s.other))
            case Loop():
                parts = {name: self.block(getattr(s, name)) for name in ("head", "body", "step")}
                return replace(s, cond=self.inside(s.cond), **parts)
        raise AssertionError(s)

    def inside(self, e: Expr) -> Expr:
        """``e`` with what is an index expression in it simplified."""
        if isinstance(e, Load):
            return replace(e, index=self.simplified(e.index))
        if isinstance(e, Binary) and e.type.is_integer and self.is_for_indices(e):
            return self.simplified(e)
        return mapped(e, self.inside)

    def is_for_indices(self, e: Expr) -> bool:
        """Whether ``e`` is computed of constants and of variables that are there for indices."""
        leaves = [x for x in subexpressions(e) if not operands(x)]
        return all(
            x.type.is_integer
            and (isinstance(x, Const) or isinstance(x, Var) and self.ranges(x) != range_of_type(x.type))
            for x in leaves
        ) and not any(isinstance(x, Load) for x in subexpressions(e))

    # simplification

    def simplified(self, e: Expr) -> Expr:
        if isinstance(e, Cast) and e.type.is_integer and e.operand.type.is_integer:
            return cast(self.simplified(e.operand), e.type, e.loc)
        if isinstance(e, Binary) and e.op in COMPARISONS and e.left.type.is_integer:
            return self.compared(e)
        if not isinstance(e, (Binary, Unary)) or not e.type.is_integer or e.op in ("!", "&&", "||", *COMPARISONS):
            return mapped(e, self.simplified) if not isinstance(e, Load) else self.inside(e)
        return self.shorter(e, self.written(self.sum(e).modulo(e.type), e.type))

    def shorter(self, e: Expr, other: Expr) -> Expr:
        """``other``, if it is shorter than ``e`` with shorter operands."""
        e = mapped(e, self.simplified)
        return other if operations(other) < operations(e) else e

    def compared(self, e: Binary) -> Expr:
        t = e.left.type
        left, right = self.sum(e.left), self.sum(e.right)
        if not (fits(left.range(self.ranges), t) and fits(right.range(self.ranges), t)):
            return mapped(e, self.simplified)
        both = left.plus(right, -1)
        if e.op in ("==", "!=") and not both.constant and not both.others and min(both.bits.values(), default=0) > 0:
            both = replace(both, bits={(v, k): 1 << k for v, k in both.bits})
        more = Sum(0, _positive(both.bits), _positive(both.others))
        less = more.plus(both, -1)  # more - less is what is compared with 0
        if not (fits(more.range(self.ranges), t) and fits(less.range(self.ranges), t)):
            return mapped(e, self.simplified)
        return self.shorter(e, Binary(e.op, self.written(more, t), self.written(less, t), e.type, e.loc))

    # from expressions to sums

    def sum(self, e: Expr) -> Sum:
        """Equal to ``e`` modulo 2^w; equal, if its range lies within the type."""
        match e:
            case Const(value=v):
                return Sum(int(v))
            case Var(var=v):
                low, high = self.ranges(e)
                if low >= 0 and high.bit_length() <= min(WIDEST, 8 * e.type.size - 1):
                    return Sum(0, {(v, k): 1 << k for k in range(high.bit_length())})
            case Binary(op="+" | "-"):
                return self.sum(e.left).plus(self.sum(e.right), 1 if e.op == "+" else -1)
            case Binary(op="*", left=x, right=Const(value=n)) | Binary(op="*", left=Const(value=n), right=x):
                return self.sum(x).times(int(n))
            case Binary(op="<<", left=x, right=Const(value=n)) if 0 <= n < 8 * e.type.size:
                return self.sum(x).times(1 << int(n))
            case Unary(op="-", operand=x):
                return self.sum(x).times(-1)
            case Cast(operand=x) if x.type.is_integer and x.type.size >= e.type.size and e.type.kind != "b":
                return self.sum(x)
            case Cast(operand=x) if x.type.is_integer and e.type.kind != "b":
                if fits((inner := self.sum(x)).range(self.ranges), x.type) and fits(inner.range(self.ranges), e.type):
                    return inner
            case Binary(op=op, left=x, right=Const(value=n)) if (string := self.string(x)) is not None:
                if (out := _of_string(op, string, int(n))) is not None:
                    return out
        return Sum(0, {}, {mapped(e, self.simplified) if not isinstance(e, Load) else self.inside(e): 1})

    def string(self, e: Expr) -> Sum | None:
        """``e`` as bits beside each other, exactly."""
        sum = self.sum(e)
        return sum if sum.string() and fits(sum.range(self.ranges), e.type) else None

    # from sums to expressions

    def written(self, s: Sum, t: Scalar) -> Expr:
        """``s`` in as few operations as can be had."""
        by_ratio: dict[tuple[Variable, Fraction], dict[int, int]] = {}
        for (v, k), c in s.bits.items():
            by_ratio.setdefault((v, Fraction(abs(c), 1 << k)), {})[k] = c
        groups = list(by_ratio.items())
        few = len(groups) <= GROUPS
        tried = product(*(_signs(g) if few else (False,) for _, g in groups))
        return min((self.joined(s, groups, whether, t) for whether in tried), key=operations)

    def joined(self, s: Sum, groups: list, whether: tuple[bool, ...], t: Scalar) -> Expr:
        """``whether``: of each group, whether bits with a negative coefficient are complements of others."""
        terms: list[tuple[int, Expr]] = []
        constant = s.constant
        for ((v, ratio), bits), complements in zip(groups, whether):
            negative = sum(1 << k for k, c in bits.items() if c < 0)
            positive = sum(1 << k for k, c in bits.items() if c > 0)
            if complements:
                terms.append(self.field(v, ratio, positive | negative, negative, t))
                constant -= int(negative * ratio)
                continue
            for mask, sign in ((positive, 1), (negative, -1)):
                if mask:
                    c, e = self.field(v, ratio, mask, 0, t)
                    terms.append((sign * c, e))
        terms += [(c, cast(e, t)) for e, c in s.others.items()]
        return sum_of(terms, constant, t)

    def field(self, v: Variable, ratio: Fraction, mask: int, flipped: int, t: Scalar) -> tuple[int, Expr]:
        """(coefficient, expression) of ratio * ((v & mask) ^ flipped)."""
        every = (1 << self.ranges(Var(v))[1].bit_length()) - 1
        lowest = (mask & -mask).bit_length() - 1
        candidates = []
        for shift in dict.fromkeys((lowest, ratio.denominator.bit_length() - 1)):
            e, u = cast(Var(v), promote(v.type)), promote(v.type)
            if shift:
                e = Binary(">>", e, Const(shift, INT), u)
            if mask >> shift != every >> shift:
                e = Binary("&", e, Const(mask >> shift, u), u)
            if flipped:
                e = Binary("^", e, Const(flipped >> shift, u), u)
            c = int(ratio * (1 << shift))
            candidates.append((operations(e) + (c != 1), (c, cast(e, t))))
        return min(candidates, key=lambda x: x[0])[1]


def _plus(a: dict[Term, int], b: dict[Term, int], times: int) -> dict[Term, int]:
    """The coefficients of a + times * b."""
    out = dict(a)
    for x, c in b.items():
        out[x] = out.get(x, 0) + c * times
    return {x: c for x, c in out.items() if c}


def _positive(terms: dict[Term, int]) -> dict[Term, int]:
    return {x: c for x, c in terms.items() if c > 0}


def _signs(bits: dict[int, int]) -> tuple[bool, ...]:
    """Whether bits with a negative coefficient may be complements of others: first what reads better."""
    if min(bits.values()) > 0:
        return (False,)
    return (True, False) if max(bits.values()) > 0 else (False, True)


def _of_string(op: str, s: Sum, n: int) -> Sum | None:
    """A string of bits ``op n``."""
    power = n > 0 and not n & (n - 1)
    match op:
        case "&" if n >= 0:
            return s.masked(n)
        case ">>" if 0 <= n < 64:
            return s.shifted(n)
        case "/" if power:
            return s.shifted(n.bit_length() - 1)
        case "%" if power:
            return s.masked(n - 1)
        case "^" if n >= 0:
            return s.plus(s.masked(n), -2).plus(Sum(n))  # c b becomes c - c b
        case "|" if n >= 0 and not n & (s.constant | sum(s.bits.values())):
            return s.plus(Sum(n))
    return None


def sum_of(terms: list[tuple[int, Expr]], constant: int, t: Scalar) -> Expr:
    """The sum of coefficients times expressions, what is subtracted after what is added, the constant last."""
    terms = sorted(terms, key=lambda x: x[0] < 0)
    out: Expr | None = None
    if constant > 0 and terms and terms[0][0] < 0:
        out, constant = _constant(constant, t), 0
    for c, e in terms:
        if out is None:
            out = binary("*", e, _constant(c, t), t)
        else:
            out = binary("+" if c > 0 else "-", out, binary("*", e, _constant(abs(c), t), t), t)
    if out is None:
        return _constant(constant, t)
    wrapped = int(_constant(constant, t).value)
    return binary("-" if wrapped < 0 else "+", out, _constant(abs(wrapped), t), t)


def _constant(n: int, t: Scalar) -> Const:
    return Const(converted(n, t), t)

"""Known values, one for each thread, as expressions of its number: a constant, a sum of its digits, a table."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from ...base.ctype import INT, Scalar
from ...ir.fold import binary, cast
from ...ir.nodes import Binary, Bitcast, Block, Cast, Const, Expr, Load, Loop, Region, Select, Unary, Var, Variable
from ...ir.ranges import RangeOf, range_of_variable
from ...ir.walk import statements
from .vectors import Values, as_const

TID = Variable("c2cu_tid", INT, 0)  # the thread's number within its input
ROUND = Variable("c2cu_round", INT, 0)  # the turn of a loop over phases of one shape


def thread_ranges(threads: int, body: Block) -> RangeOf:
    """What `TID` and `ROUND` hold in ``body``; of other variables, what their types say."""
    rounds = 0
    for s in statements(body):
        match s:
            case Loop(cond=Binary(op="<", left=Var(var=v), right=Const(value=n))) if v.name == ROUND.name:
                rounds = max(rounds, int(n))
    return known_ranges(threads, rounds)


def known_ranges(threads: int, rounds: int) -> RangeOf:
    known = {TID.name: (0, threads - 1), ROUND.name: (0, rounds)}  # whatever their webs are
    return lambda v: known.get(v.name) or range_of_variable(v)


@dataclass
class Basis:
    """Threads are numbered in mixed radix: ``radices``, the lowest digit first. Known values have the shape
    (rounds, threads). ``tables``: what no sum of digits gives."""

    radices: tuple[int, ...]
    rounds: int = 1
    tables: list[Region] = field(default_factory=list)

    @functools.cached_property
    def threads(self) -> int:
        return int(np.prod(self.radices, dtype=np.int64))

    def spread(self, values: Values) -> Values:
        return np.broadcast_to(values, (self.rounds, self.threads))

    def linear(self, values: Values) -> tuple[int, int, list[int]] | None:
        """(value at 0, weight of the round, weights of the digits), where that is all there is to the values."""
        values = self.spread(values).astype(np.int64)
        base = int(values[0, 0])
        per_round = int(values[1, 0]) - base if self.rounds > 1 else 0
        weights, stride = [], 1
        total = base + per_round * np.arange(self.rounds)[:, None] + np.zeros((1, self.threads), np.int64)
        thread = np.arange(self.threads)
        for radix in self.radices:
            w = int(values[0, stride]) - base
            weights.append(w)
            total = total + w * (thread // stride % radix)
            stride *= radix
        return (base, per_round, weights) if np.array_equal(total, values) else None

    def sum(self, base: int, per_round: int, weights: list[int], t: Scalar) -> Expr:
        e: Expr = Const(0, INT)
        if not per_round and (base, sum(weights)) in ((0, 1), (1, -1)) and weights.count(0) == len(weights) - 1:
            k = next(k for k, w in enumerate(weights) if w)
            if self.radices[k] == 2:  # a truth value, and to be known as one
                bit = self.digit(int(np.prod(self.radices[:k], dtype=np.int64)), 2)
                return cast(Binary("==" if base else "!=", bit, Const(0, INT), INT), t)
        k, stride = 0, 1
        while k < len(weights):
            radix, w, start = self.radices[k], weights[k], stride
            k, stride = k + 1, stride * self.radices[k]
            while k < len(weights) and w and weights[k] == w * radix:  # neighbours that count on
                radix, stride = radix * self.radices[k], stride * self.radices[k]
                k += 1
            if w:
                e = _plus(e, binary("*", self.digit(start, radix), _int(w), INT))
        if per_round:
            e = _plus(e, binary("*", Var(ROUND), _int(per_round), INT))
        return cast(_plus(e, _int(base)), t)

    def digit(self, stride: int, radix: int) -> Expr:
        e: Expr = Var(TID)
        if stride & (stride - 1) or radix & (radix - 1):
            e = Binary("/", e, Const(stride, INT), INT)
            return e if stride * radix == self.threads else Binary("%", e, Const(radix, INT), INT)
        if stride > 1:
            e = Binary(">>", e, Const(stride.bit_length() - 1, INT), INT)
        return e if stride * radix == self.threads else Binary("&", e, Const(radix - 1, INT), INT)

    def constant(self, values: Values) -> bool:
        flat = np.asarray(values).reshape(-1)
        return flat.size > 0 and bool((flat.view(f"u{flat.itemsize}") == flat[:1].view(f"u{flat.itemsize}")).all())

    def plain(self, values: Values, t: Scalar, at: Expr) -> Expr | None:
        """A constant or a sum, or None."""
        if self.constant(values):
            return as_const(values, t, at)
        if not t.is_integer or t.size == 8 and np.abs(values.astype(np.float64)).max() >= 1 << 31:
            return None
        if t.kind == "u" and t.size == 4 and values.max() >= 1 << 31:
            return None
        parts = self.linear(values)
        return self.sum(*parts, t) if parts is not None else None

    def table(self, values: Values, t: Scalar) -> Expr:
        values = self.spread(values)
        flat = tuple(t.wrap(x) for x in values.reshape(-1).tolist())
        known = next((r for r in self.tables if r.type == t and _same(r.init, flat, t)), None)
        if known is None:
            known = Region(f"c2cu_table{len(self.tables)}", t, (len(flat),), "shared", flat)
            self.tables.append(known)
        index: Expr = Var(TID)
        if self.rounds > 1:
            index = _plus(binary("*", Var(ROUND), Const(self.threads, INT), INT), index)
        return Load(known, index)

    def fit(self, e: Expr, value: Callable[[Expr], Values]) -> Expr:
        """A known expression for all threads. ``value``: what it is, for each."""
        plain = self.plain(value(e), e.type, e)
        if plain is not None:
            return plain
        match e:
            case Unary() | Cast() | Bitcast():
                return replace(e, operand=self.fit(e.operand, value))
            case Binary():
                return replace(e, left=self.fit(e.left, value), right=self.fit(e.right, value))
            case Select():
                cond, yes, no = (self.fit(x, value) for x in (e.cond, e.yes, e.no))
                return Select(cond, yes, no, e.type, e.loc)
            case Load(region=r) if r.storage == "shared":
                return replace(e, index=self.fit(e.index, value))
        return self.table(value(e), e.type)


def _same(a: tuple[int | float, ...] | None, b: tuple[int | float, ...], t: Scalar) -> bool:
    return a == b and (t.is_integer or repr(a) == repr(b))  # 0.0 is not -0.0


def _int(n: int) -> Const:
    """Modulo 2^32: the sum is exact, whatever the terms."""
    return Const(INT.wrap(n), INT)


def _plus(a: Expr, b: Expr) -> Expr:
    return binary("+", a, b, INT)

"""A phase's body for one iteration of every thread: uniform values become expressions of the thread's number."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np

from ...analysis.uniform import Uniform
from ...base import catalogue
from ...base.ctype import INT
from ...base.diagnostics import Loc
from ...ir.nodes import Assign, Block, Const, Expr, If, Load, Loop, Region, Stmt, Store, Var, Variable
from ...ir.walk import mapped
from .fit import Basis
from .touches import TURNS
from .vectors import NotKnown, Values, evaluate

LONGEST = 30000  # statements of a kernel


class ElementAccess(Protocol):
    """Where elements live. ``address``: of shape (rounds, threads); ``mask``: where the access happens at all."""

    def load(self, r: Region, address: np.ndarray, mask: np.ndarray, loc: Loc) -> Expr: ...

    def store(self, r: Region, address: np.ndarray, mask: np.ndarray, value: Expr, loc: Loc) -> list[Stmt]: ...


@dataclass
class Special:
    """``env``: values of uniform variables, of shape (rounds, threads) or (). ``fresh``: makes a variable that no
    other iteration has."""

    u: Uniform
    basis: Basis
    env: dict[Variable, Values]
    memory: dict[Region, np.ndarray]
    places: ElementAccess
    fresh: Callable[[Variable], Variable]
    inside: frozenset[Variable]  # what the body assigns; the rest comes from outside
    whole: np.ndarray  # the threads that have an iteration
    names: dict[Variable, Variable] = field(default_factory=dict)
    known: list[tuple[Variable, Values, np.ndarray]] = field(default_factory=list)  # assigned, and where
    tests: list[tuple[Expr, np.ndarray, np.ndarray]] = field(default_factory=list)  # conditions that threads differ in
    size: int = 0

    def value(self, e: Expr) -> Values:
        return self.basis.spread(evaluate(e, self.env, self.memory))

    def block(self, block: Block, mask: np.ndarray) -> list[Stmt]:
        out: list[Stmt] = []
        for s in block if mask.any() else ():
            out += self.statement(s, mask)
        self.size += len(out)
        if self.size > LONGEST:
            raise catalogue.BLOCK_TOO_LONG.error(block[0].loc)
        return out

    def statement(self, s: Stmt, mask: np.ndarray) -> list[Stmt]:
        match s:
            case Assign(var=v, value=e) if v not in self.u.varying and self.assign(v, e, mask):
                return []
            case Assign(var=v, value=e):
                new = self.expr(e, mask)
                return [Assign(self.name(v), new, s.loc)]
            case Store(region=r, index=i, value=e):
                new = self.expr(e, mask)
                return self.places.store(r, self.value(i).astype(np.int64), mask, new, s.loc)
            case If():
                return self.branch(s, mask)
            case Loop():
                return self.loop(s, mask)
        raise AssertionError(s)

    def name(self, v: Variable) -> Variable:
        if v not in self.inside:
            return v
        if v not in self.names:
            self.names[v] = self.fresh(v)
        return self.names[v]

    def assign(self, v: Variable, e: Expr, mask: np.ndarray) -> bool:
        """Keep a uniform variable's new value; False where only the run brings it."""
        try:
            new = self.value(e)
        except NotKnown:
            self.brought(v, e, mask, v in self.env)
            self.env.pop(v, None)
            return False
        self.brought(v, e, mask, v in self.names)
        self.names.pop(v, None)
        self.known.append((v, new, mask))
        self.env[v] = new if mask.all() else np.where(mask, new, self.env.get(v, new))
        return True

    def brought(self, v: Variable, e: Expr, mask: np.ndarray, otherwise: bool) -> None:
        """Refuse a variable that some threads know and others get from the run."""
        if otherwise and not (mask | ~self.whole).all():
            raise catalogue.BLOCK_SOME_ITERATIONS.error(e.loc, name=v.name)

    def branch(self, s: If, mask: np.ndarray) -> list[Stmt]:
        if not self.u.is_varying(s.cond):
            cond = self.value(s.cond) != 0
            return self.guarded(s.cond, cond, mask, lambda m: self.block(s.then, m), lambda m: self.block(s.other, m))
        cond = self.expr(s.cond, mask)
        then, other = self.block(s.then, mask), self.block(s.other, mask)
        return [replace(s, cond=cond, then=tuple(then), other=tuple(other))] if then or other else []

    def guarded(
        self,
        e: Expr,
        cond: np.ndarray,
        mask: np.ndarray,
        yes: Callable[[np.ndarray], list[Stmt]],
        no: Callable[[np.ndarray], list[Stmt]] = lambda m: [],
    ) -> list[Stmt]:
        """A branch on what is known: decided here where all threads agree."""
        if (cond | ~mask).all():
            return yes(mask)
        if not (cond & mask).any():
            return no(mask)
        test = self.basis.fit(e, self.value)
        self.tests.append((e, cond, mask))
        then, other = yes(mask & cond), no(mask & ~cond)
        return [If(test, tuple(then), tuple(other), False, e.loc)] if then or other else []

    def loop(self, s: Loop, mask: np.ndarray) -> list[Stmt]:
        """Every turn written out; where lengths differ, later turns stand under a guard."""
        out: list[Stmt] = []
        for _ in range(TURNS):
            mask = self.staying(s, mask)
            out += self.under(mask, s.head)
            mask = mask & (self.value(s.cond) != 0)
            if not mask.any():
                return out
            out += self.under(mask, s.body)
            mask = self.staying(s, mask)
            out += self.under(mask, s.step)
        raise catalogue.BLOCK_TOO_LONG.error(s.loc)

    def under(self, mask: np.ndarray, block: Block) -> list[Stmt]:
        inner = self.block(block, mask)
        if not inner or (mask | ~self.whole).all():
            return inner
        known = mask.astype(np.int32)
        test = self.basis.plain(known, INT, Const(0, INT)) or self.basis.table(known, INT)
        return [If(test, tuple(inner), (), False)]

    def staying(self, s: Loop, mask: np.ndarray) -> np.ndarray:
        for f in s.flags:
            mask = mask & (self.basis.spread(self.env.get(f, np.zeros((), bool))) == 0)
        return mask

    def expr(self, e: Expr, mask: np.ndarray) -> Expr:
        if not self.u.is_varying(e):
            try:
                return self.basis.fit(e, self.value)
            except NotKnown:
                pass

        match e:
            case Var():
                return replace(e, var=self.name(e.var))
            case Load(region=r, index=i):
                return self.places.load(r, self.value(i).astype(np.int64), mask, e.loc)
        return mapped(e, lambda x: self.expr(x, mask))

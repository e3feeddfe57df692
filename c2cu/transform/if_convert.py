"""If-conversion: a small `If` becomes assignments of a `Select`, so that threads or lanes need not part.

Each statement of an arm is executed in its place, under the condition's value from before: ``v = cond ? e : v``.
A variable that only one arm uses is assigned outright, and one that both arms assign last, ``v = cond ? a : b``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Set
from dataclasses import replace
from typing import TypeVar

from ..base.ctype import BOOL
from ..ir.canonical import counted
from ..ir.fold import cast, is_safe, loads, truth
from ..ir.nodes import (
    Assign,
    Binary,
    Block,
    Call,
    Const,
    Expr,
    If,
    Kernel,
    Load,
    Loop,
    Select,
    Stmt,
    Store,
    Var,
    Variable,
)
from ..ir.ranges import Range, Ranges, range_of_variable
from ..ir.walk import expressions, statements, subexpressions, used

LONGEST = 12  # statements of both arms together
WEIGHT = 48  # operations of both arms together
Stored = TypeVar("Stored", bound=Assign | Store)
_CHEAP = frozenset("fabs fabsf fmin fminf fmax fmaxf copysign copysignf min max".split())


def if_convert(kernel: Kernel) -> Kernel:
    """``kernel`` with `Select` for every `If` that is small and whose arms are safe to evaluate always."""
    return replace(kernel, body=_Conversion(kernel).block(kernel.body))


class _Conversion:
    def __init__(self, kernel: Kernel):
        self.occurrences = _occurrences(kernel.body)
        self.top = max((v.uid for v in self.occurrences), default=0)
        self.counters: dict[Variable, Range] = {}  # of the loops around

    def block(self, block: Block) -> Block:
        out: list[Stmt] = []
        first: dict[Variable, int] = {}  # constants that were assigned last
        for s in block:
            if isinstance(s, Assign) and isinstance(s.value, Const) and s.var.type.is_integer:
                first[s.var] = int(s.value.value)
                out.append(s)
                continue
            out += self.loop(s, first) if isinstance(s, Loop) else self.statement(s)
            for x in statements((s,)):
                if isinstance(x, Assign):
                    first.pop(x.var, None)
        return tuple(out)

    def statement(self, s: Stmt) -> Block:
        if not isinstance(s, If):
            return (s,)
        new = replace(s, then=self.block(s.then), other=self.block(s.other))
        return self.converted(new, s) if _is_small(new, Ranges(self.range_of)) else (new,)

    def loop(self, s: Loop, first: Mapping[Variable, int]) -> Block:
        """A loop; ``first``: with what counters start."""
        head, step = self.block(s.head), self.block(s.step)
        c = counted(s)
        around = self.counters
        if c is not None and c.counter in first and c.by > 0 and c.op in ("<", "<=") and isinstance(c.limit, Const):
            last = int(c.limit.value) - (c.op == "<")
            if first[c.counter] <= last:
                self.counters = {**around, c.counter: (first[c.counter], last)}
        body = self.block(s.body)
        self.counters = around
        return (replace(s, head=head, body=body, step=step),)

    def range_of(self, v: Variable) -> Range:
        return self.counters.get(v) or range_of_variable(v)

    def converted(self, s: If, original: If) -> Block:
        """``s``, whose arms are converted, as assignments; ``original`` is what it was before. What an arm alone loads
        is loaded before the choice: a compiler does not know that it may, and would jump."""
        cond, known = truth(s.cond), loads(s.cond)
        out: list[Stmt] = []
        if len(s.then) + len(s.other) > 1 and not _is_fixed(cond, (*s.then, *s.other)):
            self.top += 1
            saved = Variable("taken", BOOL, self.top, s.loc)
            out.append(Assign(saved, cast(cond, BOOL), s.loc))
            cond = Var(saved, s.loc)
        last = _both(s)
        for arm, before, taken in ((s.then, original.then, True), (s.other, original.other, False)):
            private = self.private(arm, before)
            for inner in arm[:-1] if last else arm:
                assert isinstance(inner, (Assign, Store))
                if isinstance(inner, Assign) and inner.var in private:
                    out.append(inner)
                    continue
                out.append(_under(cond, taken, self.loaded(inner, known, out)))
        if last:
            yes, no = (self.loaded(x, known, out) for x in last)
            out.append(replace(yes, value=Select(cond, yes.value, no.value, yes.value.type, s.loc)))
        return tuple(out)

    def loaded(self, s: Stored, known: Set[Expr], out: list[Stmt]) -> Stored:
        """``s``; what it loads that is not ``known`` comes before, at the end of ``out``."""
        if not loads(s.value) - known:
            return s
        self.top += 1
        value = Variable("loaded", s.value.type, self.top, s.loc, role="temporary")
        out.append(Assign(value, s.value, s.loc))
        return replace(s, value=Var(value, s.loc))

    def private(self, arm: Block, before: Block) -> frozenset[Variable]:
        """Variables that occur nowhere else, and that the arm assigns before it reads them. ``before``: the arm as it
        was when all occurrences were counted."""
        assigned: set[Variable] = set()
        early: set[Variable] = set()
        for s in arm:
            early |= {x.var for e in expressions(s) for x in subexpressions(e) if isinstance(x, Var)} - assigned
            if isinstance(s, Assign):
                assigned.add(s.var)
        inside = _occurrences(before)
        return frozenset(v for v in assigned - early if inside[v] == self.occurrences[v])


def _both(s: If) -> tuple[Assign, Assign] | None:
    """The last statements of both arms, where they are all that assigns one variable."""
    if not (s.then and s.other):
        return None
    yes, no = s.then[-1], s.other[-1]
    if not (isinstance(yes, Assign) and isinstance(no, Assign) and yes.var == no.var):
        return None
    before = (*s.then[:-1], *s.other[:-1])
    return None if any(isinstance(x, Assign) and x.var == yes.var for x in before) else (yes, no)


def _under(cond: Expr, taken: bool, s: Assign | Store) -> Stmt:
    old: Expr = Var(s.var, s.loc) if isinstance(s, Assign) else Load(s.region, s.index, s.loc)
    yes, no = (s.value, old) if taken else (old, s.value)
    return replace(s, value=Select(cond, yes, no, s.value.type, s.loc))


def _is_small(s: If, range_of: Ranges) -> bool:
    """Both arms are cheap, safe, and store only where the condition has loaded."""
    arms = (*s.then, *s.other)
    if len(arms) > LONGEST or not all(isinstance(x, (Assign, Store)) for x in arms):
        return False
    known = loads(s.cond)
    weight = 0
    assigned: set[Variable] = set()
    for x in arms:
        if isinstance(x, Store) and (len(arms) > 1 or Load(x.region, x.index) not in known):
            return False
        for e in expressions(x):
            if not is_safe(e, frozenset(k for k in known if not _reads(k, assigned)), range_of):
                return False
            nodes = list(subexpressions(e))
            if any(isinstance(n, Call) and n.name not in _CHEAP for n in nodes):
                return False
            weight += sum(1 for n in nodes if not isinstance(n, (Var, Const)))
        if isinstance(x, Assign):
            assigned.add(x.var)
    return weight <= WEIGHT and not any(_is_slow(n) for x in arms for e in expressions(x) for n in subexpressions(e))


def _is_slow(e: Expr) -> bool:
    """Takes so long that a jump around it is worth it."""
    return isinstance(e, Binary) and e.op in ("/", "%") and e.type.is_float


def _is_fixed(cond: Expr, block: Block) -> bool:
    """Whether the condition is a variable or constant that ``block`` does not change."""
    changed = {s.var for s in block if isinstance(s, Assign)}
    return isinstance(cond, Const) or (isinstance(cond, Var) and cond.var not in changed)


def _reads(e: Expr, changed: set[Variable]) -> bool:
    return any(isinstance(x, Var) and x.var in changed for x in subexpressions(e))


def _occurrences(block: Block) -> Counter[Variable]:
    """How often each variable is named: read or assigned."""
    return used(block) + Counter(s.var for s in statements(block) if isinstance(s, Assign))

"""Minimum and maximum: ``a > b ? b : a``, ``fminf(a, b)`` and their kin become `Extremum`.

Of integers also behind variables and negations, and a swap under a direction, ``(a > b) == d ? b : a``, becomes
``d ? min(a, b) : max(a, b)``. Of floats so where the user allows it (``fp="fast"``), by rule "number": `fminf`
treats NaN and the sign of zero in its own way. Else a choice stays what C says, and where a variable holds its
condition it stays a `Select`: others may be by the same.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from ..analysis.webs import webs
from ..base.ctype import BOOL, INT, Scalar
from ..ir.canonical import chosen_extremum, extremum
from ..ir.fold import COMPARISONS, INVERSE
from ..ir.nodes import (
    Assign,
    Binary,
    Block,
    Call,
    Cast,
    Const,
    Expr,
    Extremum,
    If,
    Kernel,
    Load,
    Loop,
    Select,
    Stmt,
    Store,
    Unary,
    Var,
    Variable,
)
from ..ir.walk import rewrite, statements, subexpressions

LARGEST = 24  # nodes of a condition that is remembered


def minmax(kernel: Kernel, fast: bool = False) -> Kernel:
    """``kernel`` with `Extremum` for its minima and maxima; those of floats by rule "number" if ``fast``.

    Variables are split into webs: straight-line code is then in single assignment, and a condition or a copy holds
    for as long as it is in use.
    """
    kernel = webs(kernel).kernel
    return replace(kernel, body=_Search(fast).block(kernel.body))


def minima(e: Expr, fast: bool = False) -> Expr:
    """``e`` alone, likewise."""
    return _Search(fast).expression(e)


@dataclass
class _Search:
    """``known``: what variables hold that are conditions or copies; ``users``: of each variable, those whose entry in
    ``known`` reads it."""

    fast: bool
    known: dict[Variable, Expr] = field(default_factory=dict)
    users: dict[Variable, list[Variable]] = field(default_factory=dict)

    def block(self, block: Block) -> Block:
        return tuple(self.statement(s) for s in block)

    def statement(self, s: Stmt) -> Stmt:
        match s:
            case Assign():
                new = replace(s, value=self.expression(s.value))
                self.forget(s.var)
                self.remember(s.var, new.value)
                return new
            case Store():
                return replace(s, index=self.expression(s.index), value=self.expression(s.value))
            case If():
                cond = self.expression(s.cond)
                then = self.apart(s.then)
                other = self.apart(s.other)
                self.forget_all((s,))
                return replace(s, cond=cond, then=then, other=other)
            case Loop():
                self.forget_all((s,))
                head = self.block(s.head)
                cond = self.expression(s.cond)
                body, step = self.block(s.body), self.block(s.step)
                self.forget_all((s,))
                return replace(s, head=head, cond=cond, body=body, step=step)
        raise AssertionError(s)

    def apart(self, block: Block) -> Block:
        """An arm of an If: what it finds out holds in it alone."""
        known = dict(self.known)
        out = self.block(block)
        self.known = known
        return out

    def remember(self, v: Variable, value: Expr) -> None:
        nodes = list(subexpressions(value))
        if not (isinstance(value, (Var, Const)) or self.is_boolean(value)) or len(nodes) > LARGEST:
            return
        read = {x.var for x in nodes if isinstance(x, Var)}
        if v in read or any(isinstance(x, Load) for x in nodes):
            return
        self.known[v] = value
        for r in read:
            self.users.setdefault(r, []).append(v)

    def forget(self, v: Variable) -> None:
        self.known.pop(v, None)
        for user in self.users.get(v, ()):
            self.known.pop(user, None)

    def forget_all(self, block: Block) -> None:
        for s in statements(block):
            if isinstance(s, Assign):
                self.forget(s.var)

    # expressions

    def expression(self, e: Expr) -> Expr:
        return rewrite(e, self.step)

    def step(self, e: Expr) -> Expr:
        match e:
            case Var():
                return self.original(e)
            case Select():
                return self.select(e)
            case Call() | Extremum():
                return self.freed(extremum(e)) or e
            case Binary(op="==" | "!=") | Unary(op="!"):
                return self.simple(e)
        return e

    def original(self, e: Var) -> Expr:
        """What a variable is a copy of."""
        value = self.known.get(e.var)
        return replace(value, loc=e.loc) if isinstance(value, (Var, Const)) else e

    def condition(self, e: Expr) -> Expr:
        """What a condition tests, behind variables, casts and negations."""
        while True:
            match e:
                case Var(var=v) if v in self.known:
                    e = self.known[v]
                case Cast(operand=x) if e.type.is_integer and self.is_boolean(x):
                    e = x
                case _:
                    new = self.simple(e)
                    if new == e:
                        return e
                    e = new

    def behind(self, e: Expr) -> Expr:
        """What a variable holds, as far as it is known."""
        while isinstance(e, Var) and e.var in self.known:
            e = self.known[e.var]
        return e

    def is_boolean(self, e: Expr) -> bool:
        """Whether a value is certainly 0 or 1."""
        match self.behind(e):
            case Binary(op=op) if op in COMPARISONS or op in ("&&", "||"):
                return True
            case Binary(op="&" | "|" | "^", left=a, right=b):
                return self.is_boolean(a) and self.is_boolean(b)
            case Unary(op="!"):
                return True
            case Cast(operand=x, type=t) if t.is_integer and t != BOOL:
                return self.is_boolean(x)
            case Const(value=v, type=t):
                return t.is_integer and v in (0, 1)
        return e.type == BOOL

    def simple(self, e: Expr) -> Expr:
        """A comparison of a truth value with a constant, or its negation, without the detour."""
        match e:
            case Binary(op="==" | "!=", left=x, right=Const(value=0 | 1 as n)) if self.is_boolean(x):
                same = bool(n) == (e.op == "==")
                return x if same and x.type == INT else self.negated(x, e, same)
            case Unary(op="!", operand=x):
                return self.negated(x, e, False)
        return e

    def negated(self, x: Expr, e: Expr, same: bool) -> Expr:
        """``e``, which is the truth of ``x`` (if ``same``) or its opposite."""
        inner = self.behind(x)
        if same:
            return inner if inner.type == INT and self.is_boolean(inner) else e
        match inner:
            case Binary(op=op) if op in ("==", "!=") or (op in COMPARISONS and self.may_invert(inner.left.type)):
                return replace(inner, op=INVERSE[op], loc=e.loc)
            case Unary(op="!", operand=y) if y.type == INT and self.is_boolean(y):
                return y
        return e

    def may_invert(self, t: Scalar) -> bool:
        return self.fast or not t.is_float

    def select(self, e: Select) -> Expr:
        cond = self.condition(e.cond)
        if e.yes == e.no:
            return e.yes  # 0.0 is not equal to -0.0 here
        least = self.extremum(cond, e) or (extremum(e) if e.type != BOOL else None)
        if least is not None:
            return least
        match cond:
            case Unary(op="!", operand=x):
                return self.select(replace(e, cond=x, yes=e.no, no=e.yes))
            case Binary(op="==" | "!=" | "^", left=a, right=b):
                same = cond.op == "=="
                return self.directed(a, b, same, e) or self.directed(b, a, same, e) or e
        return e

    def directed(self, comparison: Expr, direction: Expr, same: bool, e: Select) -> Expr | None:
        """``comparison == direction ? yes : no`` as the choice between a minimum and a maximum."""
        if not self.is_boolean(direction):
            return None
        comparison = self.condition(comparison)
        a = self.extremum(comparison, e)
        b = self.extremum(comparison, replace(e, yes=e.no, no=e.yes))
        if a is None or b is None:
            return None
        return replace(e, cond=direction, yes=a if same else b, no=b if same else a)

    def extremum(self, cond: Expr, e: Select) -> Extremum | None:
        """``cond ? yes : no`` where ``cond`` compares just these two."""
        if e.type == BOOL or not self.may_invert(e.type):
            return None
        return self.freed(chosen_extremum(cond, e.yes, e.no, e.loc))

    def freed(self, e: Extremum | None) -> Extremum | None:
        """A minimum of floats by the rule that the user allows."""
        return replace(e, rule="number") if e is not None and self.fast and e.type.is_float else e

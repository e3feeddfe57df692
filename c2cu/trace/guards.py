"""When an arm of a branch on data can be taken at all: that of ``i > 0 && x[i] > 0`` cannot where i is 0.

A condition's *chance* are two uniform conditions: of when it can be true, and of when it can be false; None: always.
They are Kleene's logic with the data as what is not known.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import islice

from ..ctype import INT
from ..ir import (
    Assign,
    Binary,
    Bitcast,
    Block,
    Call,
    Cast,
    Const,
    Expr,
    If,
    Load,
    Loop,
    Select,
    Stmt,
    Unary,
    Var,
    Variable,
)
from ..uniform import Uniform
from ..walk import statements, subexpressions
from .undefined import undefined

LARGEST = 64  # nodes of a condition that is worth it
Chance = tuple[Expr | None, Expr | None]
Chances = Mapping[Variable, Chance]  # of variables as truths
OPEN: Chance = (None, None)
_NEVER = Const(0, INT)


@dataclass(frozen=True)
class Guards:
    """``at_hand``: of uniform variables, whether the tracer knows their values."""

    u: Uniform
    at_hand: Callable[[Variable], bool]

    def chance(self, e: Expr, known: Chances) -> Chance:
        """Of ``e`` as a truth. ``known``: of the variables in it."""
        if isinstance(e, Const):
            return (None, _NEVER) if e.value else (_NEVER, None)
        if not self.u.is_varying(e) and self._plain(e):
            return e, _not(e)
        match e:
            case Var(var=v):
                return known.get(v, OPEN)
            case Unary(op="!", operand=x) | Binary(op="==", left=x, right=Const(value=0)):
                return _inverse(self.chance(x, known))
            case Binary(op="!=", left=x, right=Const(value=0)):
                return self.chance(x, known)
            case Binary(op="&&", left=a, right=b):
                return _both(self.chance(a, known), self.chance(b, known))
            case Binary(op="||", left=a, right=b):
                return _inverse(_both(_inverse(self.chance(a, known)), _inverse(self.chance(b, known))))
            case Select(cond=c, yes=a, no=b):
                return _either(self.chance(c, known), self.chance(a, known), self.chance(b, known))
            case Cast(operand=x, type=t) if t.is_integer and x.type.is_integer and t.size >= x.type.size:
                return self.chance(x, known)
        return OPEN

    def after(self, s: Stmt, known: Chances) -> Chances:
        """What is known after a statement."""
        match s:
            case Assign(var=v, value=e):
                chance = self.chance(e, known) if v.type.is_integer else OPEN
                return _without(known, {v}) | ({v: chance} if chance != OPEN else {})
            case If(cond=c, then=a, other=b):
                cond, yes, no = self.chance(c, known), self._through(a, known), self._through(b, known)
                changed = _assigned((s,))
                joined = {v: _either(cond, yes.get(v, OPEN), no.get(v, OPEN)) for v in changed}
                # Only what still holds of the uniform ones, after both arms, may be asked of them.
                joined = {v: x for v, x in joined.items() if x != OPEN and not _reads(x) & changed}
                return _without(known, changed) | joined
            case Loop():
                return self.inside(s, known)
        return known

    def inside(self, s: Loop, known: Chances) -> Chances:
        """What is known in every turn of a loop, and after it."""
        return _without(known, _assigned((s,)))

    def _through(self, block: Block, known: Chances) -> Chances:
        for s in block:
            known = self.after(s, known)
        return known

    def _plain(self, e: Expr) -> bool:
        """Whether the tracer may compute a uniform value wherever the program goes."""
        for x in subexpressions(e):
            if isinstance(x, Load) or (isinstance(x, Var) and not self.at_hand(x.var)):
                return False
            if isinstance(x, (Binary, Cast, Bitcast, Call)) and undefined(x):
                return False
        return True


def _inverse(a: Chance) -> Chance:
    return a[1], a[0]


def _both(a: Chance, b: Chance) -> Chance:
    return _and(a[0], b[0]), _or(a[1], b[1])


def _either(cond: Chance, yes: Chance, no: Chance) -> Chance:
    true, false = ((_and(cond[0], y), _and(cond[1], n)) for y, n in zip(yes, no))
    return _or(*true), _or(*false)


def _and(a: Expr | None, b: Expr | None) -> Expr | None:
    if a is None or b is None:
        return b if a is None else a
    return _NEVER if _NEVER in (a, b) else _small(Binary("&&", a, b, INT))


def _or(a: Expr | None, b: Expr | None) -> Expr | None:
    if a is None or b is None:
        return None
    if _NEVER in (a, b):
        return b if a == _NEVER else a
    return _small(Binary("||", a, b, INT))


def _not(e: Expr) -> Expr:
    return e.operand if isinstance(e, Unary) and e.op == "!" else Unary("!", e, INT)


def _small(e: Expr) -> Expr | None:
    """``e``, or None, which is always right, where it is large."""
    return None if next(islice(subexpressions(e), LARGEST, None), None) is not None else e


def _assigned(block: Block) -> set[Variable]:
    return {s.var for s in statements(block) if isinstance(s, Assign)}


def _reads(chance: Chance) -> set[Variable]:
    return {x.var for e in chance if e is not None for x in subexpressions(e) if isinstance(x, Var)}


def _without(known: Chances, changed: set[Variable]) -> dict[Variable, Chance]:
    return {v: x for v, x in known.items() if v not in changed and not _reads(x) & changed}

"""When an arm of a branch on data can be taken at all: that of ``i > 0 && x[i] > 0`` cannot where i is 0.

A condition's *chance* are two uniform conditions: of when it can be true, and of when it can be false; None: always.
They are Kleene's logic with the data as what is not known.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass, field
from itertools import islice

from ..analysis.uniform import Uniform
from ..base.ctype import INT
from ..ir.nodes import Assign, Binary, Bitcast, Call, Cast, Const, Expr, If, Load, Select, Stmt, Unary, Var, Variable
from ..ir.walk import blocks, subexpressions
from .undefined import undefined

LARGEST = 64  # nodes of a condition that is worth it
Chance = tuple[Expr | None, Expr | None]
Chances = Mapping[Variable, Chance]  # of variables as truths
OPEN: Chance = (None, None)
_NEVER = Const(0, INT)


@dataclass
class Guards:
    """``at_hand``: of uniform variables, whether the tracer knows their values."""

    u: Uniform
    at_hand: Callable[[Variable], bool]
    known: dict[int, frozenset[Variable]] = field(default_factory=dict)  # `assigned`, by the statement's id
    last: tuple[Chances, dict[int, tuple[Expr, Chance]]] = field(default_factory=lambda: ({}, {}))  # by the node's id

    def chance(self, e: Expr, known: Chances) -> Chance:
        """Of ``e`` as a truth. ``known``: of the variables in it."""
        if known is not self.last[0]:
            self.last = known, {}
        found = self.last[1]
        if id(e) not in found:  # of a && b && c, and then of a && b
            found[id(e)] = e, self._chance(e, known)
        return found[id(e)][1]

    def _chance(self, e: Expr, known: Chances) -> Chance:
        match e:
            case Const():
                return (None, _NEVER) if e.value else (_NEVER, None)
            case Var(var=v) if v in known:
                return known[v]
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
        return (e, _not(e)) if not self.u.is_varying(e) and self._plain(e) else OPEN

    def assigned(self, s: Stmt) -> frozenset[Variable]:
        """The variables that a statement assigns, and those inside it."""
        if id(s) not in self.known:
            below = (self.assigned(x) for block in blocks(s) for x in block)
            self.known[id(s)] = frozenset({s.var}) if isinstance(s, Assign) else frozenset().union(*below)
        return self.known[id(s)]

    def after(self, s: Assign, known: Chances) -> Chances:
        """What is known after an assignment."""
        chance = self.chance(s.value, known) if s.var.type.is_integer else OPEN
        return without(known, {s.var}) | ({s.var: chance} if chance != OPEN else {})

    def joined(self, s: If, known: Chances, yes: Chances, no: Chances) -> Chances:
        """What is known after a branch. ``yes``, ``no``: at the ends of its arms."""
        cond, changed = self.chance(s.cond, known), self.assigned(s)
        found = {v: _either(cond, yes.get(v, OPEN), no.get(v, OPEN)) for v in changed if v in yes or v in no}
        # Only what still holds of the uniform ones, after both arms, may be asked of them.
        return without(known, changed) | {v: x for v, x in found.items() if x != OPEN and not reads(x) & changed}

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


def reads(chance: Chance) -> set[Variable]:
    """The variables that a chance is asked of."""
    return {x.var for e in chance if e is not None for x in subexpressions(e) if isinstance(x, Var)}


def without(known: Chances, changed: Set[Variable]) -> dict[Variable, Chance]:
    """What is still known when these variables have changed."""
    return {v: x for v, x in known.items() if v not in changed and not reads(x) & changed}

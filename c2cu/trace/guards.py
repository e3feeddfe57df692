"""When an arm of a branch on data can be taken at all: that of ``i > 0 && x[i] > 0`` cannot where i is 0.

Of a condition on data `Outcomes` says, as uniform conditions, when it can be true and when it can be false, whatever
the data. That is Kleene's logic with the data as what is not known.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple

from ..analysis.uniform import Uniform
from ..base.ctype import INT
from ..ir.nodes import Assign, Binary, Bitcast, Call, Cast, Const, Expr, If, Load, Select, Stmt, Unary, Var, Variable
from ..ir.walk import blocks, subexpressions
from .undefined import undefined

LARGEST = 64  # nodes of a condition that is worth it
_NEVER = Const(0, INT)


class Outcomes(NamedTuple):
    """Uniform conditions of when a condition can be true and can be false; None: always."""

    can_be_true: Expr | None
    can_be_false: Expr | None


KnownOutcomes = Mapping[Variable, Outcomes]  # of variables as truths
OPEN = Outcomes(None, None)


@dataclass
class Guards:
    """``at_hand``: of uniform variables, whether the tracer knows their values."""

    u: Uniform
    at_hand: Callable[[Variable], bool]
    known: dict[int, frozenset[Variable]] = field(default_factory=dict)  # `assigned`, by the statement's id
    #: What the variables had when outcomes were computed last, and these, by the id of the expression.
    last: tuple[KnownOutcomes, dict[int, tuple[Expr, Outcomes]]] = field(default_factory=lambda: ({}, {}))

    def outcomes(self, e: Expr, known: KnownOutcomes) -> Outcomes:
        """Of ``e`` as a truth. ``known``: of the variables in it."""
        if known is not self.last[0]:
            self.last = known, {}
        computed = self.last[1]
        if id(e) not in computed:  # of a && b && c, and then of a && b
            computed[id(e)] = e, self._outcomes(e, known)
        return computed[id(e)][1]

    def _outcomes(self, e: Expr, known: KnownOutcomes) -> Outcomes:
        match e:
            case Const():
                return Outcomes(None, _NEVER) if e.value else Outcomes(_NEVER, None)
            case Var(var=v) if v in known:
                return known[v]
            case Unary(op="!", operand=x) | Binary(op="==", left=x, right=Const(value=0)):
                return _inverse(self.outcomes(x, known))
            case Binary(op="!=", left=x, right=Const(value=0)):
                return self.outcomes(x, known)
            case Binary(op="&&", left=a, right=b):
                return _both(self.outcomes(a, known), self.outcomes(b, known))
            case Binary(op="||", left=a, right=b):
                return _inverse(_both(_inverse(self.outcomes(a, known)), _inverse(self.outcomes(b, known))))
            case Select(cond=c, yes=a, no=b):
                return _either(self.outcomes(c, known), self.outcomes(a, known), self.outcomes(b, known))
            case Cast(operand=x, type=t) if t.is_integer and x.type.is_integer and t.size >= x.type.size:
                return self.outcomes(x, known)
        return Outcomes(e, _not(e)) if not self.u.is_varying(e) and self._plain(e) else OPEN

    def assigned(self, s: Stmt) -> frozenset[Variable]:
        """The variables that a statement assigns, and those inside it."""
        if id(s) not in self.known:
            below = (self.assigned(x) for block in blocks(s) for x in block)
            self.known[id(s)] = frozenset({s.var}) if isinstance(s, Assign) else frozenset().union(*below)
        return self.known[id(s)]

    def after(self, s: Assign, known: KnownOutcomes) -> KnownOutcomes:
        """What is known after an assignment."""
        outcomes = self.outcomes(s.value, known) if s.var.type.is_integer else OPEN
        return without(known, {s.var}) | ({s.var: outcomes} if outcomes != OPEN else {})

    def joined(self, s: If, known: KnownOutcomes, yes: KnownOutcomes, no: KnownOutcomes) -> KnownOutcomes:
        """What is known after a branch. ``yes``, ``no``: at the ends of its arms."""
        cond, changed = self.outcomes(s.cond, known), self.assigned(s)
        either = {v: _either(cond, yes.get(v, OPEN), no.get(v, OPEN)) for v in changed if v in yes or v in no}
        # Only what still holds of the uniform ones, after both arms, may be asked of them.
        return without(known, changed) | {v: x for v, x in either.items() if x != OPEN and not reads(x) & changed}

    def _plain(self, e: Expr) -> bool:
        """Whether the tracer may compute a uniform value wherever the program goes."""
        for x in subexpressions(e):
            if isinstance(x, Load) or (isinstance(x, Var) and not self.at_hand(x.var)):
                return False
            if isinstance(x, (Binary, Cast, Bitcast, Call)) and undefined(x):
                return False
        return True


def _inverse(a: Outcomes) -> Outcomes:
    return Outcomes(a.can_be_false, a.can_be_true)


def _both(a: Outcomes, b: Outcomes) -> Outcomes:
    return Outcomes(_and(a.can_be_true, b.can_be_true), _or(a.can_be_false, b.can_be_false))


def _either(cond: Outcomes, yes: Outcomes, no: Outcomes) -> Outcomes:
    true, false = ((_and(cond.can_be_true, y), _and(cond.can_be_false, n)) for y, n in zip(yes, no))
    return Outcomes(_or(*true), _or(*false))


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


def reads(outcomes: Outcomes) -> set[Variable]:
    """The variables that the conditions of ``outcomes`` read."""
    return {x.var for e in outcomes if e is not None for x in subexpressions(e) if isinstance(x, Var)}


def without(known: KnownOutcomes, changed: Set[Variable]) -> dict[Variable, Outcomes]:
    """What is still known when these variables have changed."""
    return {v: x for v, x in known.items() if v not in changed and not reads(x) & changed}

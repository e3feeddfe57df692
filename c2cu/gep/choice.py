"""When ``t`` replaces ``x``: ``t < x`` and its kin, as a condition or as a minimum."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..ir.canonical import unwidened
from ..ir.fold import INVERSE, MIRRORED
from ..ir.nodes import Binary, Cast, Expr, Extremum, Select, Unary, Var, Variable


@dataclass(frozen=True)
class Choice:
    """``x`` stays unless ``t op x``, or one of them is NaN where it is ``unordered``."""

    op: str
    t: Expr
    x: Expr
    unordered: bool = False

    @property
    def is_strict(self) -> bool:
        """Whether neither what equals x nor NaN may be chosen."""
        return self.op in ("<", ">") and not self.unordered


def guarded(value: Expr, old: Variable | None) -> tuple[list[tuple[Expr, bool]], Expr]:
    """Conditions without which ``value`` is ``old``, and whether they must be true; what it is otherwise. A minimum of
    floats that is a comparison and a choice is such a condition too."""
    conditions: list[tuple[Expr, bool]] = []
    while old is not None:
        if isinstance(value, Extremum) and value.type.is_float and value.rule != "number":
            value = value.choice
        match value:
            case Select(no=Var(var=v)) if v == old:
                conditions.append((value.cond, True))
                value = value.yes
            case Select(yes=Var(var=v)) if v == old:
                conditions.append((value.cond, False))
                value = value.no
            case _:
                break
    return conditions, value


def choices(value: Expr, old: Variable | None) -> Iterator[Choice]:
    """Comparisons without which ``value`` is ``old``, each read in both directions."""
    for guard, holds in guarded(value, old)[0]:
        for e, true in _conjuncts(guard, holds):
            match e:
                case Binary(op="<" | "<=" | ">" | ">=", left=a, right=b):
                    op = e.op if true else INVERSE[e.op]
                    unordered = not true and not a.type.is_integer
                    yield Choice(op, a, b, unordered)
                    yield Choice(MIRRORED[op], b, a, unordered)
    least = extremum_choice(value, old)
    if least is not None and least.x.type.is_integer:
        yield least


def _conjuncts(e: Expr, holds: bool) -> Iterator[tuple[Expr, bool]]:
    match e:
        case Unary(op="!", operand=x):
            yield from _conjuncts(x, not holds)
        case Binary(op="&&", left=a, right=b) if holds:
            yield from _conjuncts(a, True)
            yield from _conjuncts(b, True)
        case Binary(op="||", left=a, right=b) if not holds:
            yield from _conjuncts(a, False)
            yield from _conjuncts(b, False)
        case _:
            yield e, holds


def extremum_choice(value: Expr, old: Variable | None) -> Choice | None:
    """The choice of a minimum or maximum of ``old`` and something else under guards: of integers, or by rule "number",
    which may return either of two zeros."""
    value = guarded(value, old)[1]
    while isinstance(value, Cast) and value.type.is_integer:
        value = value.operand
    if isinstance(value, Extremum) and old is not None:
        others = [x for x in (value.left, value.right) if unwidened(x) != Var(old)]
        if len(others) == 1:
            return Choice(value.comparison.op, others[0], Var(old))
    return None

"""When ``t`` replaces ``x``: ``t < x`` and its kin, as a condition or as a minimum."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..ir.canonical import unwidened
from ..ir.fold import INVERSE, MIRRORED
from ..ir.nodes import Binary, Call, Cast, Expr, Select, Unary, Var, Variable

LEAST = {"min": True, "fmin": True, "fminf": True, "max": False, "fmax": False, "fmaxf": False}


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
    """Conditions without which ``value`` is ``old``, and whether they must be true; what it is otherwise."""
    found: list[tuple[Expr, bool]] = []
    while isinstance(value, Select) and old is not None:
        if value.no == Var(old):
            found.append((value.cond, True))
            value = value.yes
        elif value.yes == Var(old):
            found.append((value.cond, False))
            value = value.no
        else:
            break
    return found, value


def choices(value: Expr, old: Variable | None) -> Iterator[Choice]:
    """Comparisons without which ``value`` is ``old``, each read in both directions."""
    for guard, wanted in guarded(value, old)[0]:
        for e, true in _conjuncts(guard, wanted):
            match e:
                case Binary(op="<" | "<=" | ">" | ">=", left=a, right=b):
                    op = e.op if true else INVERSE[e.op]
                    unordered = not true and not a.type.is_integer
                    yield Choice(op, a, b, unordered)
                    yield Choice(MIRRORED[op], b, a, unordered)


def _conjuncts(e: Expr, wanted: bool) -> Iterator[tuple[Expr, bool]]:
    match e:
        case Unary(op="!", operand=x):
            yield from _conjuncts(x, not wanted)
        case Binary(op="&&", left=a, right=b) if wanted:
            yield from _conjuncts(a, True)
            yield from _conjuncts(b, True)
        case Binary(op="||", left=a, right=b) if not wanted:
            yield from _conjuncts(a, False)
            yield from _conjuncts(b, False)
        case _:
            yield e, wanted


def extremum(value: Expr, old: Variable | None) -> Choice | None:
    """The choice of ``min(x, t)`` or ``max(x, t)`` under guards. Equal integers have equal bits; of equal floats these
    calls return one or the other zero, as they like."""
    value = guarded(value, old)[1]
    while isinstance(value, Cast) and value.type.is_integer:
        value = value.operand
    if isinstance(value, Call) and value.name in LEAST and old is not None:
        args = [a for a in value.args if unwidened(a) != Var(old)]
        if len(args) == 1:
            return Choice("<" if LEAST[value.name] else ">", args[0], Var(old))
    return None

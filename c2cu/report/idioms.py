"""Minima and maxima of floating-point numbers that are written as a comparison and a choice.

As C defines them they are a compare and a select: ``fminf`` differs on NaN and on the sign of zero.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..base.diagnostics import Loc
from ..ir.canonical import extremum
from ..ir.nodes import Assign, Block, Expr, If, Kernel, Load, Select, Stmt, Store, Var
from ..ir.walk import expressions, statements, subexpressions


@dataclass(frozen=True)
class Idiom:
    """``name``: fmin or fmax, with an f where the type is float."""

    name: str
    loc: Loc


def idioms(kernel: Kernel) -> tuple[Idiom, ...]:
    """All of a flat kernel, in textual order, one for each place and kind."""
    every = dict.fromkeys(i for s in statements(kernel.body) for i in _of(s))
    return tuple(sorted(every, key=lambda i: (i.loc.file, i.loc.line, i.loc.column, i.name)))


def _of(s: Stmt) -> Iterator[Idiom]:
    for e in expressions(s):
        for x in subexpressions(e):
            if isinstance(x, Select):
                yield from _choice(x)
    if isinstance(s, If):
        then, other = _written(s.then), _written(s.other)
        if then is not None and other is not None and then[0] == other[0]:
            yield from _choice(Select(s.cond, then[1], other[1], then[1].type, s.loc))
        elif then is not None and not s.other:
            yield from _choice(Select(s.cond, then[1], then[0], then[1].type, s.loc))


def _written(block: Block) -> tuple[Expr, Expr] | None:
    """(place, value) of a block that is one assignment."""
    match block:
        case (Assign(var=v, value=value),):
            return Var(v), value
        case (Store(region=r, index=i, value=value),):
            return Load(r, i), value
    return None


def _choice(e: Select) -> Iterator[Idiom]:
    least = extremum(e)
    if least is not None and least.type.is_float:
        yield Idiom(least.function, e.cond.loc if e.cond.loc.line else e.loc)

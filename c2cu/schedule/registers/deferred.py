"""Divisions in a row: done by products, and all done again where one of them has an odd operand.

Each division alone would be a branch, and branches keep the compiler from overlapping what goes between them. A run of
assignments can be done twice if it does not change what it reads; a variable for which that does not hold gets its
value behind the run.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from ...codegen.division import is_slow
from ...ir.nodes import Assign, Block, Const, Load, Stmt, Var, Variable
from ...ir.walk import rewrite, subexpressions

LONGEST = 48  # statements: what goes in keeps registers until it is known that nothing is done again


@dataclass(frozen=True)
class Run:
    """``length`` statements of a block as ``assignments``, and then ``copies`` from a variable of its own to one."""

    length: int
    assignments: tuple[Assign, ...]
    copies: tuple[tuple[Variable, Variable], ...]


def run(block: Block, start: int, uids: Iterator[int]) -> Run | None:
    """The run that begins with the statement of this number, if that divides doubles. ``uids``: of variables
    that there are not yet."""
    if not _divides(block[start]):
        return None
    end = last = start
    while end < min(len(block), start + LONGEST) and _is_safe(block[end]):
        last = end if _divides(block[end]) else last
        end += 1
    own: dict[Variable, Variable] = {}
    read: set[Variable] = set()
    assignments = []
    for s in block[start : last + 1]:
        assert isinstance(s, Assign)
        value = rewrite(s.value, lambda e: Var(own[e.var], e.loc) if isinstance(e, Var) and e.var in own else e)
        read |= {x.var for x in subexpressions(value) if isinstance(x, Var)}
        if s.var in read or s.var in own:
            own[s.var] = replace(s.var, uid=next(uids))
        assignments.append(replace(s, var=own.get(s.var, s.var), value=value))
    return Run(last + 1 - start, tuple(assignments), tuple((new, old) for old, new in own.items()))


def _divides(s: Stmt) -> bool:
    return isinstance(s, Assign) and _is_safe(s) and any(map(is_slow, subexpressions(s.value)))


def _is_safe(s: Stmt) -> bool:
    """Whether a statement may be executed with any values, and no other way to print it is better."""
    if not isinstance(s, Assign) or s.var.type.kind == "u":
        return False
    return not any(isinstance(x, Load) and not isinstance(x.index, Const) for x in subexpressions(s.value))

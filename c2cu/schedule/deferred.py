"""Divisions in a row: done by products, and all done again where one of them has an odd operand.

Each division alone would be a branch, and branches keep the compiler from overlapping what goes between them. A run of
assignments and stores can be done twice if it does not change what it has read; a variable for which that does not hold
gets its value behind the run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Set
from dataclasses import dataclass, replace
from itertools import count

from ..codegen.division import is_slow
from ..ir.nodes import (
    ENDED,
    Assign,
    Binary,
    Block,
    Expr,
    If,
    Kernel,
    Load,
    Loop,
    Region,
    Stmt,
    Store,
    Var,
    Variable,
)
from ..ir.walk import expressions, places, rewritten, statements, subexpressions, with_body
from ..transform.common import library_calls

LONGEST = 48  # statements: what goes in keeps registers until it is known that nothing is done again


@dataclass(frozen=True)
class Run:
    """``length`` statements of a block as ``statements``, and then ``copies`` from a variable of its own to one."""

    length: int
    statements: tuple[Assign | Store, ...]
    copies: tuple[tuple[Variable, Variable], ...]


def run(
    block: Block,
    start: int,
    uids: Iterator[int] | None,
    sought: Callable[[Expr], bool] = is_slow,
    least: int = 1,
    calls: bool = True,
) -> Run | None:
    """The run that begins with the statement of this number, if that divides and ``least`` divisions are in it.
    ``uids``: of variables that there are not yet; None: what needs one ends the run. ``sought``: which divisions.
    ``calls``: whether functions may be called in it, whose text would be there twice."""
    if not _divides(block[start], sought):
        return None
    last = start
    own: dict[Variable, Variable] = {}
    read: set[Variable | Region] = set()
    assigned: set[Variable | Region] = set()
    out: list[Assign | Store] = []
    copies: list[tuple[Variable, Variable] | None] = []  # of each statement of ``out``

    def renamed(e: Expr) -> Expr:
        return Var(own[e.var], e.loc) if isinstance(e, Var) and e.var in own else e

    for k in range(start, min(len(block), start + LONGEST)):
        s = block[k]
        if not isinstance(s, (Assign, Store)) or not _is_safe(s, assigned, sought) or (not calls and library_calls(s)):
            break
        (again,) = rewritten((s,), renamed)
        assert isinstance(again, (Assign, Store))
        read |= {x for e in expressions(again) for x in places(e)}
        if isinstance(again, Store):
            if again.region in read:
                break
            assigned.add(again.region)
        if isinstance(s, Assign) and isinstance(again, Assign):
            assigned.add(s.var)
            if s.var in read or s.var in own:
                if uids is None:
                    break
                own[s.var] = replace(s.var, uid=next(uids))
            again = replace(again, var=own.get(s.var, s.var))
        copies.append((own[s.var], s.var) if isinstance(s, Assign) and s.var in own else None)
        out.append(again)
        last = k if _divides(s, sought) else last
    out = out[: last + 1 - start]
    if sum(sought(x) for s in out for e in expressions(s) for x in subexpressions(e)) < least:
        return None
    latest = {old: new for new, old in filter(None, copies[: len(out)])}
    return Run(last + 1 - start, tuple(out), tuple((new, old) for old, new in latest.items()))


def repeatable(kernel: Kernel, sought: Callable[[Expr], bool], least: int, calls: bool) -> Kernel:
    """``kernel`` with the runs there are as assignments that can be done twice, and copies."""
    uids = count(1 + max((s.var.uid for s in statements(kernel.body) if isinstance(s, Assign)), default=0))

    def block(b: Block) -> Block:
        out: list[Stmt] = []
        k = 0
        while k < len(b):
            r = run(b, k, uids, sought, least, calls)
            if r is None:
                out.append(inner(b[k]))
                k += 1
                continue
            out += r.statements
            out += (Assign(old, Var(new)) for new, old in r.copies)
            k += r.length
        return tuple(out)

    def inner(s: Stmt) -> Stmt:
        match s:
            case If():
                return replace(s, then=block(s.then), other=block(s.other))
            case Loop():
                return replace(s, head=block(s.head), body=block(s.body), step=block(s.step))
        return s

    if not any(sought(x) for s in statements(kernel.body) for e in expressions(s) for x in subexpressions(e)):
        return kernel
    return with_body(kernel, block(kernel.body))


def _divides(s: Stmt, sought: Callable[[Expr], bool]) -> bool:
    if not isinstance(s, (Assign, Store)) or not _is_safe(s, frozenset(), sought):
        return False
    return any(sought(x) for e in expressions(s) for x in subexpressions(e))


def _is_safe(s: Assign | Store, assigned: Set[Variable | Region], sought: Callable[[Expr], bool]) -> bool:
    """Whether a statement may be executed while what was ``assigned`` and what is ``sought`` have wrong values, which
    must not decide on an address nor on whether a division of whole numbers traps. What is unsigned is left to what
    prints sums and products of long numbers."""
    if s.var.type.kind == "u" if isinstance(s, Assign) else s.region == ENDED:
        return False
    inside = [x for e in expressions(s) for x in subexpressions(e)]
    addresses = [x.index for x in inside if isinstance(x, Load)] + ([s.index] if isinstance(s, Store) else [])
    exact = [*addresses, *(x for x in inside if isinstance(x, Binary) and x.op in ("/", "%") and x.type.is_integer)]
    if any(not assigned.isdisjoint(places(e)) or any(map(sought, subexpressions(e))) for e in exact):
        return False
    return not any(isinstance(x, Load) for e in addresses for x in subexpressions(e))

"""Clean-up of freshly lowered code: what is never read is not computed."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from .ir import Assign, Block, If, Loop, Stmt, Var, Variable
from .walk import expressions, statements, subexpressions


def simplify(block: Block) -> Block:
    """``block`` without assignments to variables that nothing reads, and without empty `If`."""
    while True:
        used = _used(block)
        new = _pruned(block, used)
        if sum(1 for _ in statements(new)) == sum(1 for _ in statements(block)):
            return new
        block = new


def _used(block: Block) -> Counter[Variable]:
    used: Counter[Variable] = Counter()
    for s in statements(block):
        if isinstance(s, Loop):
            used.update(s.flags)
        for e in expressions(s):
            used.update(x.var for x in subexpressions(e) if isinstance(x, Var))
    return used


def _pruned(block: Block, used: Counter[Variable]) -> Block:
    out: list[Stmt] = []
    for s in block:
        match s:
            case Assign(var=v) if not used[v]:
                continue
            case If():
                s = replace(s, then=_pruned(s.then, used), other=_pruned(s.other, used))
                if not s.then and not s.other:
                    continue
            case Loop():
                s = replace(s, head=_pruned(s.head, used), body=_pruned(s.body, used), step=_pruned(s.step, used))
        out.append(s)
    return tuple(out)

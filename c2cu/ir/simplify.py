"""Clean-up of freshly lowered code: what is never read is not computed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

from .nodes import Assign, Block, If, Kernel, Loop, Stmt, Variable
from .walk import statements, used


def pruned(kernel: Kernel) -> Kernel:
    """``kernel`` with its body simplified."""
    return replace(kernel, body=simplify(kernel.body))


def simplify(block: Block) -> Block:
    """``block`` without assignments to variables that nothing reads, and without empty `If`."""
    while True:
        reads = used(block)
        new = _pruned(block, reads)
        if sum(1 for _ in statements(new)) == sum(1 for _ in statements(block)):
            return new
        block = new


def join(block: Block, keeps: Callable[[If], bool]) -> Block:
    """``block`` with one `If` for neighbours on one condition. ``keeps``: whether a branch leaves its condition so."""
    out: list[Stmt] = []
    for s in block:
        last = out[-1] if out else None
        if isinstance(s, If) and isinstance(last, If) and s.cond == last.cond and keeps(last):
            out[-1] = replace(last, then=last.then + s.then, other=last.other + s.other)
        else:
            out.append(s)
    return tuple(
        replace(s, then=join(s.then, keeps), other=join(s.other, keeps)) if isinstance(s, If) else s for s in out
    )


def _pruned(block: Block, reads: Counter[Variable]) -> Block:
    out: list[Stmt] = []
    for s in block:
        match s:
            case Assign(var=v) if not reads[v]:
                continue
            case If():
                s = replace(s, then=_pruned(s.then, reads), other=_pruned(s.other, reads))
                if not s.then and not s.other:
                    continue
            case Loop():
                s = replace(s, head=_pruned(s.head, reads), body=_pruned(s.body, reads), step=_pruned(s.step, reads))
        out.append(s)
    return tuple(out)

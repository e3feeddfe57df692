"""Clean-up of freshly lowered code: what is never read is not computed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace

from .nodes import Assign, Block, Expr, If, Kernel, Loop, Stmt, Var, Variable
from .walk import subexpressions, unless_same, used, with_body


def pruned(kernel: Kernel) -> Kernel:
    """``kernel`` with its body simplified."""
    return with_body(kernel, simplify(kernel.body))


def simplify(block: Block, kept: Iterable[Variable] = ()) -> Block:
    """``block`` without assignments to variables that nothing reads, but for ``kept``, and without empty `If`."""
    reads = used(block)
    reads.update(kept)
    while True:
        before = len(reads)
        block = _pruned(block, reads)
        if len(reads) == before:
            return block


def join(block: Block, keeps: Callable[[If], bool]) -> Block:
    """``block`` with one `If` for neighbours on one condition. ``keeps``: whether a branch leaves its condition so."""
    out: list[Stmt] = []
    for s in block:
        last = out[-1] if out else None
        if isinstance(s, If) and isinstance(last, If) and s.cond == last.cond and keeps(last):
            out[-1] = replace(last, then=last.then + s.then, other=last.other + s.other)
        else:
            out.append(s)
    inner = (replace(s, then=join(s.then, keeps), other=join(s.other, keeps)) if isinstance(s, If) else s for s in out)
    return unless_same(block, inner)


def _pruned(block: Block, reads: Counter[Variable]) -> Block:
    """``block``, from its end, so that what only an assignment reads that goes is seen to be read no more. ``reads``
    loses those reads."""
    out: list[Stmt] = []
    for s in reversed(block):
        match s:
            case Assign(var=v, value=value) if v not in reads:
                _unread(value, reads)
                continue
            case If():
                other = _pruned(s.other, reads)
                then = _pruned(s.then, reads)
                if not then and not other:
                    _unread(s.cond, reads)
                    continue
                if then is not s.then or other is not s.other:
                    s = replace(s, then=then, other=other)
            case Loop():
                step, body = _pruned(s.step, reads), _pruned(s.body, reads)
                head = _pruned(s.head, reads)
                if head is not s.head or body is not s.body or step is not s.step:
                    s = replace(s, head=head, body=body, step=step)
        out.append(s)
    out.reverse()
    return unless_same(block, out)


def _unread(e: Expr, reads: Counter[Variable]) -> None:
    """Take the reads of an expression that goes out of ``reads``."""
    for x in subexpressions(e):
        if isinstance(x, Var):
            reads[x.var] -= 1
            if not reads[x.var]:
                del reads[x.var]

"""Clean-up of freshly lowered code: what is never read is not computed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace

from .nodes import Assign, Block, Expr, If, Kernel, Loop, Region, Stmt, Store, Var, Variable
from .walk import expressions, loads_in, statements, subexpressions, unless_same, used, with_body


def pruned(kernel: Kernel) -> Kernel:
    """``kernel`` with its body simplified."""
    return with_body(kernel, simplify(kernel.body))


def unread(kernel: Kernel) -> Kernel:
    """``kernel`` without local regions that nothing reads, such as those that stand for the bounds of variables."""
    return with_body(kernel, without_unread(kernel.body))


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
                _not_read(value, reads)
                continue
            case If():
                other = _pruned(s.other, reads)
                then = _pruned(s.then, reads)
                if not then and not other:
                    _not_read(s.cond, reads)
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


def _not_read(e: Expr, reads: Counter[Variable]) -> None:
    """Take the reads of an expression that goes out of ``reads``."""
    for x in subexpressions(e):
        if isinstance(x, Var):
            reads[x.var] -= 1
            if not reads[x.var]:
                del reads[x.var]


def without_unread(block: Block, kept: frozenset[Region] = frozenset()) -> Block:
    """Without what goes into local regions that nothing reads, such as tags and indices of pointers that are known, but
    for those ``kept``."""
    every = list(statements(block))
    read = kept | {x.region for s in every for e in expressions(s) for x in loads_in(e)}
    dropped = {s.region for s in every if isinstance(s, Store) and s.region.storage == "local"} - read
    return without_stores(block, dropped.__contains__) if dropped else block


def without_stores(block: Block, dropped: Callable[[Region], bool]) -> Block:
    def filtered(b: Block) -> Block:
        out: list[Stmt] = []
        for s in b:
            match s:
                case Store(region=r) if dropped(r):
                    continue
                case If():
                    s = replace(s, then=filtered(s.then), other=filtered(s.other))
                case Loop():
                    s = replace(s, head=filtered(s.head), body=filtered(s.body), step=filtered(s.step))
            out.append(s)
        return tuple(out)

    return filtered(block)

"""Both arms of a branch on data run in turn: the second starts with the uniform values from before the branch."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from functools import cache

from ..ir.nodes import Assign, Block, Expr, If, Kernel, Loop, Stmt, Var, Variable
from ..ir.walk import Order, statements, unless_same, with_body


def separate(kernel: Kernel, varying: Collection[Variable], varies: Callable[[Expr], bool]) -> Kernel:
    """``kernel`` with every uniform variable that the first arm of a branch on data assigns and the second reads
    brought back between them. ``varies(e)``: whether an expression depends on data.

    No use after the branch sees what an arm assigned to a uniform variable: then it would vary.
    """
    order = cache(lambda: Order(kernel.body))
    uids = max((s.var.uid for s in statements(kernel.body) if isinstance(s, Assign)), default=0)

    def restored(s: If) -> list[Variable]:
        if not varies(s.cond):
            return []
        return [v for v in _assigned(s.then) if v not in varying and order().times_read(v, s.other)]

    def block(b: Block) -> Block:
        return unless_same(b, (x for s in b for x in statement(s)))

    def statement(s: Stmt) -> tuple[Stmt, ...]:
        nonlocal uids
        match s:
            case If():
                before, back = [], []
                for v in restored(s):
                    uids += 1
                    copy = replace(v, uid=uids)
                    before.append(Assign(copy, Var(v, s.loc), s.loc))
                    back.append(Assign(v, Var(copy, s.loc), s.loc))
                return (*before, replace(s, then=block(s.then), other=(*back, *block(s.other))))
            case Loop():
                return (replace(s, head=block(s.head), body=block(s.body), step=block(s.step)),)
        return (s,)

    return with_body(kernel, block(kernel.body))


def _assigned(b: Block) -> dict[Variable, None]:
    return {s.var: None for s in statements(b) if isinstance(s, Assign)}

"""Copy propagation: where a variable holds what another one holds, or a constant, that stands in its place.

``i_4 = i_2; D[i_4]`` becomes ``D[i_2]``; the assignment, which nothing reads then, goes.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from ..ir.nodes import Assign, Block, Const, Expr, If, Kernel, Loop, Stmt, Store, Var, Variable
from ..ir.simplify import pruned
from ..ir.walk import rewrite, statements


def propagate(kernel: Kernel) -> Kernel:
    """``kernel`` without copies of variables and of constants. In a branch the second arm is taken to follow the first
    one: lanes that part execute both, with one copy of what is uniform."""
    return pruned(replace(kernel, body=_Copies().block(kernel.body)))


@dataclass
class _Copies:
    """``held``: what a variable is a copy of. ``copies``: those that have been copies of a variable."""

    held: dict[Variable, Var | Const] = field(default_factory=dict)
    copies: dict[Variable, list[Variable]] = field(default_factory=dict)

    def block(self, block: Block) -> Block:
        return tuple(map(self.statement, block))

    def statement(self, s: Stmt) -> Stmt:
        match s:
            case Assign(var=v):
                value = self.expression(s.value)
                self.forget(v)
                if isinstance(value, Const) or (isinstance(value, Var) and value.var != v):
                    self.held[v] = value
                    if isinstance(value, Var):
                        self.copies.setdefault(value.var, []).append(v)
                return replace(s, value=value)
            case Store():
                rows = tuple((self.expression(k), n) for k, n in s.rows)
                return replace(s, index=self.expression(s.index), value=self.expression(s.value), rows=rows)
            case If():
                cond, before = self.expression(s.cond), dict(self.held)
                then = self.block(s.then)
                self.held = before
                self.forget_all(s.then)
                other = self.block(s.other)
                self.forget_all(s.other)
                return replace(s, cond=cond, then=then, other=other)
            case Loop():
                self.forget_all((s,))
                head, cond = self.block(s.head), self.expression(s.cond)
                body, step = self.block(s.body), self.block(s.step)
                self.forget_all((s,))
                return replace(s, head=head, cond=cond, body=body, step=step)
        raise AssertionError(s)

    def expression(self, e: Expr) -> Expr:
        return rewrite(e, lambda x: replace(self.held.get(x.var, x), loc=x.loc) if isinstance(x, Var) else x)

    def forget(self, v: Variable) -> None:
        """``v`` gets another value."""
        self.held.pop(v, None)
        for copy in self.copies.get(v, ()):
            if self.held.get(copy) == Var(v):
                del self.held[copy]

    def forget_all(self, block: Block) -> None:
        for s in statements(block):
            if isinstance(s, Assign):
                self.forget(s.var)

"""Liveness: how many words of variables are in use at once, at most."""

from __future__ import annotations

from ..ir.nodes import Assign, Block, Expr, If, Loop, Stmt, Var, Variable
from ..ir.walk import expressions, subexpressions
from .live import Live
from .live import live as live_around


def pressure(block: Block) -> int:
    """32-bit words of the variables that are live at the fullest point of ``block``."""
    peak = _Peak(live_around(block))
    peak.block(block, set())
    return peak.words


class _Peak:
    def __init__(self, lives: Live) -> None:
        self.words, self.lives = 0, lives

    def block(self, block: Block, live: set[Variable]) -> set[Variable]:
        """The variables that are live before ``block``, of those after it, which is changed."""
        for s in reversed(block):
            live = self.statement(s, live)
            self.words = max(self.words, len(live) + sum(1 for v in live if v.type.size == 8))
        return live

    def statement(self, s: Stmt, live: set[Variable]) -> set[Variable]:
        match s:
            case If():
                live = self.block(s.then, set(live)) | self.block(s.other, set(live))
            case Loop():
                return self.loop(s, live)
            case Assign():
                live.discard(s.var)
        for e in expressions(s):
            live.update(_read(e))
        return live

    def loop(self, s: Loop, live: set[Variable]) -> set[Variable]:
        """What is live before a loop, of what is after it."""
        flags = {*s.flags, *(live if s.flags else ())}
        end = self.block(s.step, {*self.lives.head[id(s)], *flags})
        tested = self.block(s.body, end | flags) | live | _read(s.cond)
        return self.block(s.head, tested) | flags


def _read(e: Expr) -> set[Variable]:
    return {x.var for x in subexpressions(e) if isinstance(x, Var)}

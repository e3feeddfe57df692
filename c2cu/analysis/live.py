"""Live variables around loops: what their lanes, once done, still need."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from ..ir.nodes import Assign, Block, Expr, If, Loop, Stmt, Store, Var, Variable
from ..ir.walk import subexpressions

Variables = frozenset[Variable]


@dataclass
class Live:
    """``after``: what is live behind an `If` or a `Loop`, by its ``id``; ``head``: at the start of a loop's turns;
    ``other``: at the start of the second arm of an `If`."""

    after: dict[int, Variables] = field(default_factory=dict)
    head: dict[int, Variables] = field(default_factory=dict)
    other: dict[int, Variables] = field(default_factory=dict)

    def block(self, block: Block, live: Variables) -> Variables:
        """What is live before ``block``, of what is after it."""
        for s in reversed(block):
            live = self.statement(s, live)
        return live

    def statement(self, s: Stmt, live: Variables) -> Variables:
        match s:
            case Assign():
                return (live - {s.var}) | _read((s.value,))
            case Store():
                return live | _read((s.index, s.value))
            case If():
                self.after[id(s)] = live
                other = self.other[id(s)] = self.block(s.other, live)
                return self.block(s.then, live) | other | _read((s.cond,))
            case Loop():
                return self.loop(s, live)

    def loop(self, s: Loop, live: Variables) -> Variables:
        self.after[id(s)] = live
        flags = frozenset(s.flags) | (live if s.flags else frozenset())
        head = flags | self.head.get(id(s), frozenset())
        while True:
            self.head[id(s)] = head
            end = self.block(s.step, head) | flags
            tested = self.block(s.body, end) | live | _read((s.cond,))
            start = self.block(s.head, tested) | flags
            if start <= head:
                return start
            head |= start


def live(block: Block) -> Live:
    """Of a kernel's body."""
    out = Live()
    out.block(block, frozenset())
    return out


def _read(expressions: Iterable[Expr]) -> Variables:
    return frozenset(x.var for e in expressions for x in subexpressions(e) if isinstance(x, Var))

"""How much a block does, about."""

from __future__ import annotations

from ..ir.nodes import Block, Const, Loop, Var
from ..ir.walk import blocks, expressions, subexpressions

TURNS = 8  # of a loop inside, for an estimate


def work(block: Block) -> int:
    """Operations of a block, about."""
    total = 0
    for s in block:
        total += sum(not isinstance(x, (Var, Const)) for e in expressions(s) for x in subexpressions(e))
        total += sum(map(work, blocks(s))) * (TURNS if isinstance(s, Loop) else 1)
    return total

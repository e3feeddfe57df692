"""How deeply a program may be nested: stages recurse, and some take longer for each level."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pycparser import c_ast as C

from .tree import children

LEVELS = 10_000  # that the parser takes in any case
LOOPS = (C.For, C.While, C.DoWhile)


@dataclass(frozen=True)
class Budget:
    """``most``: how deep the nodes that ``counts`` (node, the node around it) may be nested; ``what`` they are."""

    what: str
    most: int
    counts: Callable[[C.Node, C.Node], bool]


def _branches(n: C.Node, around: C.Node) -> bool:
    """An ``else if`` is no deeper than its ``if``."""
    if isinstance(n, C.If):
        return not (isinstance(around, C.If) and around.iffalse is n)
    return isinstance(n, (*LOOPS, C.Switch))


#: What every stage, and compilers, take.
POSSIBLE = (
    Budget("loops and branches", 1_000, _branches),
    Budget("expressions, declarations or statements", 25_000, lambda n, around: True),
)
#: What the analyses take: they go through a loop several times for each loop around it.
ANALYSED = (
    Budget("loops", 50, lambda n, around: isinstance(n, LOOPS)),
    Budget(
        "'?:', '&&' and '||'",
        1_000,
        lambda n, around: isinstance(n, C.TernaryOp) or (isinstance(n, C.BinaryOp) and n.op in ("&&", "||")),
    ),
)


def too_deep(root: C.Node, budgets: tuple[Budget, ...]) -> tuple[Budget, C.Node] | None:
    """The first budget that is exceeded in ``root``, and where."""
    if _levels(root) <= min(b.most for b in budgets):
        return None
    pending = [(root, (0,) * len(budgets))]
    while pending:
        node, depths = pending.pop()
        for child in children(node):
            below = tuple([d + b.counts(child, node) for d, b in zip(depths, budgets)])
            for budget, depth in zip(budgets, below):
                if depth > budget.most:
                    return budget, child
            pending.append((child, below))
    return None


def _levels(root: C.Node) -> int:
    """How deep the tree is."""
    levels, level = 0, [root]
    while level:
        levels, level = levels + 1, [child for n in level for child in children(n)]
    return levels

"""Inputs that are alike go side by side: where numbers among the inputs say how often loops turn, lanes would wait for
the input with the most turns. So some thousands of inputs are sorted by these numbers before lanes take them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

from ...analysis.uniform import Uniform
from ...analysis.work import work
from ...base.ctype import Leaf
from ...ir.nodes import Assign, Block, Expr, Load, Loop, Region, Var, Variable
from ...ir.walk import blocks, statements, subexpressions
from ..slots import Slot

BLOCK = 4096  # inputs that are sorted together
MOST = 2  # numbers to sort by: those of the outermost loops
DEEP = 4  # assignments between a number and a loop's condition
WORTH = 150  # operations of an input, about, that are worth sorting it


def numbers(u: Uniform, coming: list[Region]) -> tuple[Region, ...]:
    """The whole numbers among the inputs that decide how often loops turn, of the outermost loops first. None where
    anything else decides when an outermost loop ends: lanes that refill wait less then."""
    possible = {r for r in coming if r.count == 1 and r.type.is_integer}
    if not possible or work(u.kernel.body) < WORTH:
        return ()
    values: dict[Variable, list[Expr]] = defaultdict(list)
    for s in statements(u.kernel.body):
        if isinstance(s, Assign):
            values[s.var].append(s.value)

    def of(e: Expr, deep: int = 0) -> set[Region] | None:
        """The numbers that a value comes from; None where it varies by anything else."""
        found: set[Region] = set()
        for x in subexpressions(e):
            if not u.is_leaf(x):
                continue
            if isinstance(x, Load) and x.region in possible:
                found.add(x.region)
                continue
            known = values[x.var] if isinstance(x, Var) and deep < DEEP else []
            more = of(known[0], deep + 1) if len(known) == 1 else None
            if more is None:
                return None
            found |= more
        return found

    found: dict[Region, None] = {}
    for outer in _ended(u, u.kernel.body):
        for s in (outer, *statements((*outer.head, *outer.body))):
            if isinstance(s, Loop) and u.is_ended_by_data(s):
                known = None if any(f in u.varying for f in s.flags) else of(s.cond)
                if known is None and s is outer:
                    return ()
                found.update(dict.fromkeys(sorted(known or (), key=lambda r: r.name)))
    return tuple(found)[:MOST]


def _ended(u: Uniform, block: Block) -> Iterator[Loop]:
    """The loops that data ends and that are in no other such loop."""
    for s in block:
        if isinstance(s, Loop) and u.is_ended_by_data(s):
            yield s
        else:
            for inner in blocks(s):
                yield from _ended(u, inner)


def levels(regions: tuple[Region, ...], slots: tuple[Slot, ...], layout: Mapping[str, tuple[int, Leaf]]) -> list[dict]:
    """What the template sorts by, in the order in which it does: the last to be sorted by counts most."""
    out = []
    for k, r in enumerate(regions):
        slot, leaf = layout[r.name]
        coarse = 5 if k < len(regions) - 1 else 8  # bits: what is alike in the first number is sorted by the second
        out.append({"slot": slot, "offset": leaf.offset, "type": r.type.name, "bits": coarse, "name": slots[slot].name})
    return out[::-1]

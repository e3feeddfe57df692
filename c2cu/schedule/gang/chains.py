"""Whether a kernel waits for itself: a turn of its loops needs what the turn before it has computed.

A gang of lanes then leaves most of the processor idle. Another gang beside it may use that: `Schedule` "gang:two".
"""

from __future__ import annotations

from ...ir.nodes import Call, Loop
from ...ir.walk import expressions, statements, subexpressions
from ..understood import Understood
from .functions import names

SHARE = 0.3  # of all turns of innermost loops


def has_chains(understood: Understood) -> bool:
    """Whether many turns of innermost loops depend on the turns before them; False where that is not known."""
    u, trace = understood.analysed(), understood.trace
    if trace is None or not trace.complete or u.ends_on_data:
        return False
    loops = [s for s in statements(u.kernel.body) if isinstance(s, Loop)]
    inner = [f for s, f in zip(loops, trace.loops) if sum(isinstance(x, Loop) for x in statements((s,))) == 1]
    turns = sum(f.turns for f in inner)
    return turns > 0 and sum(f.turns for f in inner if not f.independent) > SHARE * turns


def is_chain(understood: Understood) -> bool:
    """Whether it has no loops, and calls functions of math.h: each is a chain of operations."""
    body = understood.analysed().kernel.body
    if any(isinstance(s, Loop) for s in statements(body)):
        return False
    parts = (x for s in statements(body) for e in expressions(s) for x in subexpressions(e))
    return any(isinstance(x, Call) and x.name in names() for x in parts)

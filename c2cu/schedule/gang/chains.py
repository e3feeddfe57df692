"""Whether a kernel waits for itself: a turn of its loops needs what the turn before it has computed.

A gang of lanes then leaves most of the processor idle. Another gang beside it may use that: `Schedule` "gang:two".
"""

from __future__ import annotations

from ...analysis.uniform import Uniform
from ...ir.nodes import Assign, Call, Load, Loop, Var, Variable
from ...ir.walk import expressions, statements, subexpressions
from ..understood import Understood
from .functions import names

SHARE = 0.3  # of all turns of innermost loops


def has_chains(understood: Understood) -> bool:
    """Whether many turns of innermost loops depend on the turns before them. Where the trace does not tell, as data
    chooses addresses: whether some loop looks up what it goes on with."""
    u, trace = understood.analysed(), understood.trace
    if trace is None or u.ends_on_data:
        return False
    if not trace.complete:
        return any(isinstance(s, Loop) and _looks_up_the_next(s, u) for s in statements(u.kernel.body))
    loops = [s for s in statements(u.kernel.body) if isinstance(s, Loop)]
    inner = [f for s, f in zip(loops, trace.loops) if sum(isinstance(x, Loop) for x in statements((s,))) == 1]
    turns = sum(f.turns for f in inner)
    return turns > 0 and sum(f.turns for f in inner if not f.independent) > SHARE * turns


def _looks_up_the_next(loop: Loop, u: Uniform) -> bool:
    """Whether an innermost loop has a variable that its turns hand on, and loads where data says: as a checksum by a
    table does."""
    inside = [s for s in statements((loop,)) if s is not loop]
    if any(isinstance(s, Loop) for s in inside):
        return False
    assigned: set[Variable] = set()
    handed_on: set[Variable] = set()
    looks_up = False
    for s in inside:
        for x in (x for e in expressions(s) for x in subexpressions(e)):
            if isinstance(x, Var) and x.var in u.varying and x.var not in assigned:
                handed_on.add(x.var)
            looks_up |= isinstance(x, Load) and u.is_varying(x.index)
        if isinstance(s, Assign):
            assigned.add(s.var)
    return looks_up and bool(handed_on & assigned)


def is_chain(understood: Understood) -> bool:
    """Whether it has no loops, and calls functions of math.h: each is a chain of operations."""
    body = understood.analysed().kernel.body
    if any(isinstance(s, Loop) for s in statements(body)):
        return False
    parts = (x for s in statements(body) for e in expressions(s) for x in subexpressions(e))
    return any(isinstance(x, Call) and x.name in names() for x in parts)

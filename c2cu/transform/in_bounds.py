"""What the arms of branches touch within bounds, whichever way they go, by the ranges of counters and of what is
computed from them: ``if (a[i] > m) at = b[i + 1];`` in a loop of which i + 1 is below the length of b.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, islice

from ..base.ctype import Scalar
from ..ir.canonical import CountedLoop, counted
from ..ir.nodes import Assign, Block, Cast, Expr, If, Load, Loop, Region, Stmt, Store, Var, Variable
from ..ir.ranges import Range, Ranges, fits, range_of_type
from ..ir.walk import expressions, statements, subexpressions

Place = tuple[Region, Expr]


MOST = 12  # statements of an arm that is looked at


def in_bounds(body: Block) -> dict[int, frozenset[Place]]:
    """For each branch, by its ``id``: the places in its condition and its small arms whose index is in bounds when it
    begins."""
    out: dict[int, frozenset[Place]] = {}
    _walk(body, {}, out)
    return out


def _walk(block: Block, known: dict[Variable, Range], out: dict[int, frozenset[Place]]) -> set[Variable]:
    """``known``: ranges of variables at the beginning of the block. Returns the variables that it assigns."""
    known = dict(known)
    assigned: set[Variable] = set()
    for s in block:
        match s:
            case Assign(var=v):
                if v.type.is_integer:
                    known[v] = _ranges(known)(s.value)
                assigned.add(v)
                continue
            case If():
                arms = [list(islice(statements(arm), MOST + 1)) for arm in (s.then, s.other)]
                ranges = _ranges(known)
                places = {p for x in chain((s,), *(arm for arm in arms if len(arm) <= MOST)) for p in touched_by(x)}
                places = {(r, i) for r, i in places if 0 <= ranges(i)[0] and ranges(i)[1] < r.count}
                out[id(s)] = out.get(id(s), frozenset(places)) & places  # a pass may have left one at two places
                changed = _walk(s.then, known, out) | _walk(s.other, known, out)
            case Loop():
                changed = {x.var for x in statements((s,)) if isinstance(x, Assign)}
                inside = {v: r for v, r in known.items() if v not in changed}
                c = counted(s)
                counter = {} if c is None else _counter(c, known.get(c.counter), _ranges(inside))
                _walk(s.head, inside, out)
                _walk(s.body, inside | counter, out)
                _walk(s.step, inside, out)
            case _:
                continue
        assigned |= changed
        for v in changed:
            known.pop(v, None)
    return assigned


def _ranges(known: dict[Variable, Range]) -> Ranges:
    return Ranges(lambda v: known.get(v) or range_of_type(v.type))


def _counter(c: CountedLoop, first: Range | None, ranges: Ranges) -> dict[Variable, Range]:
    """The counter's values in the body; nothing where it may wrap around, or its comparison see another number."""
    low, high = first or range_of_type(c.counter.type)
    if c.limit is None:
        return {}
    least, most = ranges(c.limit)
    if c.by > 0 and c.op in ("<", "<="):
        last = most - (c.op == "<")
        inside, every = (low, last), (low, max(high, last + c.by))
    elif c.by < 0 and c.op in (">", ">="):
        last = least + (c.op == ">")
        inside, every = (last, high), (min(low, last + c.by), high)
    else:
        return {}
    seen = all(fits(every, t) for t in (c.counter.type, *_casts(c.loop.cond, c.counter)))
    return {c.counter: inside} if seen and inside[0] <= inside[1] else {}


def _casts(cond: Expr, v: Variable) -> Iterator[Scalar]:
    """What a condition converts the counter to."""
    return (x.type for x in subexpressions(cond) if isinstance(x, Cast) and Var(v) in subexpressions(x))


def touched_by(s: Stmt) -> Iterator[Place]:
    """The places that a statement itself reads and writes."""
    for e in expressions(s):
        yield from ((x.region, x.index) for x in subexpressions(e) if isinstance(x, Load))
    if isinstance(s, Store):
        yield s.region, s.index

"""Lanes that refill: a lane whose input has ended its loop takes the next input, and several gangs are at work in turn.

The canonical form is a kernel of three parts: what comes before one outermost loop that data ends, the loop, and what
comes after it. The lanes of a gang are at different turns of their inputs' loops, so what a turn hands to the next one
varies, counters included; a loop in which that decides a subscript has no such form.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass

from ...analysis.live import live
from ...analysis.uniform import Uniform, staggered
from ...analysis.work import work
from ...ir.nodes import Assign, Block, Const, Load, Loop, Region, Stmt, Store, Variable
from ...ir.walk import expressions, statements, subexpressions, touched, used

SHORT, MEDIUM = 40, 160  # operations of a turn of which three, or two, gangs go in turn
REGISTERS = 32
NARROWEST = 32  # bytes of a vector; there are two doubles in those of 16
MOST_MOVED = 8  # elements that a lane brings and takes, for each operation of a turn


@dataclass(frozen=True)
class Refill:
    """A kernel in canonical form. ``coming``: variables that an input brings to the loop; ``at_start``: those with one
    value for all inputs; ``going``: those that it takes along. ``common``: uniform variables and regions that several
    parts name. ``bring``, ``take``: varying regions. ``gangs``: how many go in turn; ``due``: lanes of one that are
    done when it is refilled."""

    u: Uniform
    before: Block
    loop: Loop
    after: Block
    coming: tuple[Variable, ...]
    at_start: tuple[tuple[Variable, Const], ...]
    going: tuple[Variable, ...]
    common: frozenset[Variable | Region]
    bring: tuple[Region, ...]
    take: tuple[Region, ...]
    gangs: int
    due: int


def refill(u: Uniform, native_bytes: int, packed: Collection[Region], unpacked: Collection[Region]) -> Refill | None:
    """The canonical form of ``u.kernel``, if it has one in which lanes are worth refilling. ``native_bytes``: of a
    vector; ``packed``, ``unpacked``: regions that come in and go out."""
    loops = [s for s in u.kernel.body if isinstance(s, Loop)]
    ended = [k for k, s in enumerate(loops) if u.is_ended_by_data(s)]
    if not ended or native_bytes < NARROWEST:
        return None
    number = max(ended, key=lambda k: work((loops[k],)))
    u = staggered(u, number)
    body = u.kernel.body
    at = [k for k, s in enumerate(body) if isinstance(s, Loop)][number]
    before, loop, after = body[:at], body[at], body[at + 1 :]
    assert isinstance(loop, Loop)
    turn = (*loop.head, *loop.body, *loop.step)
    if _has_varying_subscript(u, (loop,)) or not u.varying.issuperset(loop.flags):
        return None
    lives = live(body)
    head, behind = lives.head[id(loop)], lives.after[id(loop)]
    common = _common(u, before, loop, after, head | behind)
    if common is None:
        return None
    at_start = dict(_constants(before, [v for v in _ordered(head) if v in u.varying]))
    coming = tuple(v for v in _ordered(head) if v in u.varying and v not in at_start)
    going = tuple(v for v in _ordered(behind) if v in u.varying)
    bring, take = _regions(u, before, loop, after, packed, unpacked)
    operations = work(turn)
    if sum(r.count for r in (*bring, *take)) > MOST_MOVED * max(operations, 8):
        return None
    carried = len(coming) + len(at_start)
    gangs = 3 if operations <= SHORT and 3 * carried <= REGISTERS else 2 if operations <= MEDIUM else 1
    moved = 10 + 3 * (len(coming) + len(going)) + sum(r.count for r in (*bring, *take))
    due = 1 if moved <= operations else max(1, native_bytes // 32)
    return Refill(u, before, loop, after, coming, tuple(at_start.items()), going, common, bring, take, gangs, due)


def _ordered(variables: Collection[Variable]) -> list[Variable]:
    return sorted(variables, key=lambda v: (v.uid, v.name))


def _has_varying_subscript(u: Uniform, block: Block) -> bool:
    for s in statements(block):
        if isinstance(s, Store) and u.is_varying(s.index):
            return True
        if any(isinstance(x, Load) and u.is_varying(x.index) for e in expressions(s) for x in subexpressions(e)):
            return True
    return False


def _common(
    u: Uniform, before: Block, loop: Loop, after: Block, alive: Collection[Variable]
) -> frozenset[Variable | Region] | None:
    """Uniform variables and regions that several parts name; None where another part than the first changes one."""
    parts = (before, (loop,), after)
    variables = {v for v in alive if v not in u.varying}
    later = {s.var for part in parts[1:] for s in statements(part) if isinstance(s, Assign)}
    if variables & later:
        return None
    local = [r for r in u.kernel.regions if r.storage == "local" and r not in u.varying_regions]
    named = [touched(part) for part in parts]
    regions = {r for r in local if sum(r in part for part in named) > 1}
    stored = {s.region for part in parts[1:] for s in statements(part) if isinstance(s, Store)}
    return None if regions & stored else frozenset(variables) | frozenset(regions)


def _constants(before: Block, variables: Collection[Variable]) -> list[tuple[Variable, Const]]:
    """Of variables those that a constant is assigned to before the loop, and nothing else."""
    assigned: Counter[Variable] = Counter(s.var for s in statements(before) if isinstance(s, Assign))
    values = {s.var: s.value for s in before if isinstance(s, Assign) and isinstance(s.value, Const)}
    read = used(before)
    return [(v, values[v]) for v in variables if assigned[v] == 1 and v in values and not read[v]]


def _regions(
    u: Uniform,
    before: Block,
    loop: Loop,
    after: Block,
    packed: Collection[Region],
    unpacked: Collection[Region],
) -> tuple[tuple[Region, ...], tuple[Region, ...]]:
    """The varying regions that a lane brings into the loop and takes out of it."""
    filled = set(packed) | {s.region for s in statements(before) if isinstance(s, Store)}
    changed = {s.region for s in statements((loop,)) if isinstance(s, Store)}
    loaded = {x.region for x in _loads((loop,))}
    needed = {r for r in u.varying_regions if _is_needed(after, r, r in unpacked)}
    bring = [r for r in u.kernel.regions if r in u.varying_regions and r in filled and r in loaded | needed]
    take = [r for r in u.kernel.regions if r in needed and (r in bring or r in changed)]
    return tuple(bring), tuple(take)


def _is_needed(after: Block, r: Region, goes_out: bool) -> bool:
    """Whether what a region holds behind the loop may be read, or goes out."""
    written: set[int] = set()
    for s in after:
        if any(x.region == r for x in _loads((s,))):
            return True
        if isinstance(s, Store) and s.region == r and isinstance(s.index, Const):
            written.add(int(s.index.value))
            if len(written) == r.count:
                return False
    return goes_out


def _loads(block: tuple[Stmt, ...]) -> list[Load]:
    every = (x for s in statements(block) for e in expressions(s) for x in subexpressions(e))
    return [x for x in every if isinstance(x, Load)]

"""What the text says beside its code: which loop a phase is, who does what, where elements are, why a barrier stands.

A note is a call in the flat IR, as a barrier is, and no more than its words: `text.py` prints it as a comment. Whatever
it says is read off the plan, for all threads, rounds and iterations, or left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...base.ctype import INT
from ...base.diagnostics import Loc
from ...codegen.cuda import CudaText
from ...codegen.places import place_in
from ...ir.canonical import counted
from ...ir.indices import simplified
from ...ir.nodes import Assign, Block, Call, Const, Expr, If, Loop, Region, Stmt, Store, Var, Variable
from ...ir.ranges import RangeOf
from ...ir.walk import blocks, statements, subexpressions
from .fit import ROUND, TID, Basis, known_ranges
from .mapping import Mapping

if TYPE_CHECKING:
    from .phases import Item
    from .special import Special
    from .touches import Phase
    from .vectors import Environment, Values

NOTE, SYNC = "c2cu_note: ", "c2cu_sync: "  # of calls: what follows are the words, or why the barrier stands
NOTED, SYNCED = Variable("c2cu_noted", INT, 0), Variable("c2cu_synced", INT, 0)
_LISTED = 8  # values that are all written out
_LONGEST = 40  # characters of a condition that is quoted


def note(words: str) -> Stmt:
    return Assign(NOTED, Call(NOTE + words, (), INT))


def barrier(why: str) -> Stmt:
    """A barrier for the threads of an input."""
    return Assign(SYNCED, Call(SYNC + why, (), INT))


def is_note(s: Stmt) -> bool:
    return isinstance(s, Assign) and isinstance(s.value, Call) and s.value.name.startswith(NOTE)


def is_barrier(s: Stmt) -> bool:
    return isinstance(s, Assign) and isinstance(s.value, Call) and s.value.name.startswith(SYNC)


def words(s: Stmt) -> str:
    """Those of a note or of a barrier, as a comment may have them."""
    assert isinstance(s, Assign) and isinstance(s.value, Call)
    return s.value.name.partition(": ")[2].replace("*/", "* /")


def places_in(locs: Iterable[Loc]) -> str:
    """``fw.c:19 and 20``: files and lines."""
    files: dict[str, list[Loc]] = {}
    for loc in locs:
        files.setdefault(loc.file, []).append(loc)
    return joined(joined([place_in(here[0]), *(str(x.line) for x in here[1:])]) for here in files.values())


def joined(names: Iterable[str]) -> str:
    """``a, b and c``, each once."""
    every = list(dict.fromkeys(names))
    if not every:
        return ""
    *most, last = every
    return f"{', '.join(most)} and {last}" if most else last


# values


class ThreadText(CudaText):
    """Expressions of a thread's number and of a round's."""

    def variable(self, v: Variable) -> str:
        return {TID.name: "tid", ROUND.name: "round"}.get(v.name) or super().variable(v)


class ProgramText(CudaText):
    """Expressions with the program's own names."""

    def variable(self, v: Variable) -> str:
        return v.spelling or v.name


def spelled(basis: Basis, values: Values, where: np.ndarray | None = None) -> str:
    """Known values as an expression of ``tid`` and ``round`` that holds ``where`` they are needed, or ""."""
    values = basis.spread(values)
    where = np.ones(values.shape, bool) if where is None else np.broadcast_to(where, values.shape)
    needed = values[where]
    if not needed.size:
        return ""
    if basis.constant(needed):
        return _number(needed[0])
    if needed.dtype.kind == "f":
        return ""
    whole = _completed(basis, values.astype(np.int64), where)
    if whole is None or np.abs(whole).max() >= 1 << 31:
        return ""
    e = basis.plain(whole.astype(np.int32), INT, Const(0, INT))
    ranges: RangeOf = known_ranges(basis.threads, basis.rounds)
    return ThreadText(ranges).text(simplified(e, ranges)) if e is not None else ""


def _number(value: np.generic) -> str:
    return str(int(value)) if value.dtype.kind in "iub" else repr(float(value))


def _completed(basis: Basis, values: np.ndarray, where: np.ndarray) -> np.ndarray | None:
    """``values``, with such others where they are not needed that they all are one sum of digits."""
    if basis.linear(values) is not None:
        return values
    thread, stride, rows = np.arange(basis.threads), 1, []
    for radix in basis.radices:
        rows.append(np.broadcast_to(thread // stride % radix, values.shape))
        stride *= radix
    rows.append(np.broadcast_to(np.arange(basis.rounds)[:, None], values.shape))
    rows.append(np.ones(values.shape, np.int64))
    digits = np.stack(rows, axis=-1)
    weights = np.rint(np.linalg.lstsq(digits[where], values[where], rcond=None)[0]).astype(np.int64)
    whole = digits @ weights
    return whole if np.array_equal(whole[where], values[where]) else None


def range_of_values(values: np.ndarray) -> str:
    """``5``, ``0 to 7``, ``0, 2, .., 62``, or ``3 to 31 with gaps``."""
    every = np.unique(values)
    if len(every) == 1:
        return _number(every[0])
    steps = np.unique(np.diff(every))
    if len(steps) == 1 and steps[0] == 1 and len(every) > 2:
        return f"{_number(every[0])} to {_number(every[-1])}"
    if len(every) <= _LISTED:
        return ", ".join(map(_number, every))
    if len(steps) == 1:
        return f"{_number(every[0])}, {_number(every[1])}, .., {_number(every[-1])}"
    return f"{_number(every[0])} to {_number(every[-1])} with gaps"


def named_values(basis: Basis, known: Sequence[tuple[Variable, Values, np.ndarray | None]]) -> list[str]:
    """``i = tid``, ``l = tid ^ 1``: what the program's own variables hold, of those that can be said. Two of one name
    are told apart by their lines."""
    lines: dict[str, set[int]] = {}
    texts: dict[tuple[str, str], int] = {}
    for v, values, where in known:
        text = spelled(basis, values, where) if v.role == "" else ""
        if text and (v.spelling or v.name, text) not in texts:
            texts[v.spelling or v.name, text] = v.loc.line
            lines.setdefault(v.spelling or v.name, set()).add(v.loc.line)
    parts = []
    for (name, text), line in texts.items():
        parts.append(f"{name} of line {line} = {text}" if len(lines[name]) > 1 else f"{name} = {text}")
    return parts


def condition(basis: Basis, e: Expr, values: Values, where: np.ndarray) -> str:
    """``l > i where (tid & 1) == 0``: in which threads a condition of the program holds, or ""."""
    test, words = spelled(basis, values.astype(np.int32), where), ProgramText().text(e)
    return f"{words} where {test}" if test and len(words) <= _LONGEST else ""


def threads_of(present: np.ndarray) -> str:
    """Which threads, where that is short to say; else ""."""
    who = np.flatnonzero(present)
    text = range_of_values(who)
    if text.endswith("gaps") or len(who) == len(present):
        return ""
    return f"{'thread' if len(who) == 1 else 'threads'} {text}"


# loops


def counter_of(s: Loop) -> Variable | None:
    """The variable that tells a loop's turns apart: that of a counted loop, else one that the condition reads and a
    turn assigns."""
    c = counted(s)
    if c is not None:
        return c.counter
    assigned = {x.var for x in statements((s,)) if isinstance(x, Assign)}
    return next((x.var for x in subexpressions(s.cond) if isinstance(x, Var) and x.var in assigned), None)


def loops_around(body: Block) -> dict[int, tuple[Loop, ...]]:
    """The loops around each loop, outermost first, by its ``id``."""
    out: dict[int, tuple[Loop, ...]] = {}

    def inner(block: Block, around: tuple[Loop, ...]) -> None:
        for s in block:
            if isinstance(s, Loop):
                out[id(s)] = around
            for b in blocks(s):
                inner(b, (*around, s) if isinstance(s, Loop) else around)

    inner(body, ())
    return out


def stage(phases: Sequence[Phase], around: Sequence[Loop]) -> list[str]:
    """In which turns of the loops ``around`` they are: ``k = 4``, ``j = 1``; of several phases by ``round``."""
    basis = Basis((), len(phases))
    known = []
    for s in around:
        v = counter_of(s)
        rows = [p.env.get(v) for p in phases] if v is not None else [None]
        if v is not None and all(r is not None and np.asarray(r).ndim == 0 for r in rows):
            known.append((v, np.array([np.asarray(r) for r in rows])[:, None], None))
    return named_values(basis, known)


def iterations(phase: Phase) -> str:
    """Of which loops, and for which values of their counters."""
    loops = (phase.loop, *phase.nested)
    counters = [v for s in loops if (v := counter_of(s)) is not None]
    values = [(v, np.asarray(phase.env[v])) for v in counters if v in phase.env]
    ranges = [f"{v.spelling or v.name} = {range_of_values(a)}" for v, a in values if a.size]
    over = f" over {joined(v.spelling or v.name for v in counters)}" if counters else ""
    which = "the loop" if len(loops) == 1 else "the loops"
    text = f"{which}{over} at {places_in(s.loc for s in loops)}"
    return f"{text}, {'; '.join(ranges)}" if ranges else text


# who holds what


def held(mapping: Mapping, regions: Iterable[Region]) -> str:
    """The elements that each thread holds."""
    elements = mapping.elements()
    first = spelled(Basis(mapping.threads), elements[0])
    offsets = range_of_values(elements[:, 0])
    names = joined(r.name for r in sorted(regions, key=lambda r: r.name))
    if mapping.slots == 1:
        return f"element {first} of {names}"
    text = f"{mapping.slots} elements of {names}"
    if set(mapping.radices) == {2}:
        bits = range_of_values(np.array(sorted(mapping.local)))
        text += f", whose numbers differ in {'bit' if len(mapping.local) == 1 else 'bits'} {bits}"
        if offsets.endswith("gaps"):
            offsets = f"any sum of {joined(str(1 << k) for k in sorted(mapping.local))}"
    return f"{text}: number {first} + n, n = {offsets}" if first else text


@dataclass(frozen=True)
class Uses:
    """Where a phase's elements are. ``mapping``: whose registers hold which, None where shared memory has all;
    ``is_new``: the phase before had another. ``held``: regions of which threads use their own elements, ``changed``:
    and keep them to themselves; ``first``: of which shared memory is read before all else, ``later``: or where it is
    needed; ``stores``: of which it is written; ``private``: arrays that each iteration has for itself. ``redo``: it may
    turn out that the iterations depended on each other."""

    mapping: Mapping | None
    is_new: bool
    held: frozenset[Region]
    changed: frozenset[Region]
    first: frozenset[Region]
    later: frozenset[Region]
    stores: frozenset[Region]
    private: frozenset[Region]
    redo: bool

    def sentences(self) -> list[str]:
        out = []
        if self.mapping is not None and self.held:
            holds = held(self.mapping, self.held)
            out.append(f"A thread holds {holds}." if self.is_new else "The threads hold the same elements as before.")
        if self.first:
            out.append(f"Elements of {names_of(self.first)} are read from shared memory first (read_...).")
        there = self.stores - self.held
        if both := self.later & there:
            out.append(f"{names_of(both)}: read and written in shared memory.")
        if later := self.later - there:
            out.append(f"{names_of(later)}: read in shared memory.")
        if only := there - self.later:
            out.append(f"{names_of(only)}: written in shared memory.")
        if seen := self.held & self.stores:
            out.append(f"Changed elements of {names_of(seen)} go to registers and, for others, to shared memory.")
        if self.changed:
            out.append(f"Changed elements of {names_of(self.changed)} stay in registers.")
        if self.private:
            out.append(f"{names_of(self.private)}: an iteration has its own, in registers.")
        if self.redo:
            out.append("A store to what another iteration reads sets redo.")
        return out


class Remarks:
    """The words on phases and on the statements between them. ``body``: of the kernel; ``phases``: all, in order."""

    def __init__(self, body: Block, phases: Sequence[Phase], threads: int):
        self.around = loops_around(body)
        self.number = {id(p): k for k, p in enumerate(phases, 1)}
        self.threads = threads

    def phase(self, phases: Sequence[Phase], groups: int, uses: Uses) -> str:
        """On one phase, or on several that are the rounds of a loop; ``groups``: iterations of a thread, one after the
        other."""
        first, last = self.number[id(phases[0])], self.number[id(phases[-1])]
        which = f"Phase {first}" if first == last else f"Phases {first} to {last}"
        text = f"{which} of {len(self.number)}: {iterations(phases[0])}"
        at = ", ".join(stage(phases, self.around[id(phases[0].loop)]))
        text += f", at {at}." if at else "."
        if first != last:
            text += " Each is a round of the loop below."
        return " ".join([text, self.who(phases[0].count, groups, uses.mapping), *uses.sentences()])

    def iteration(self, phases: Sequence[Phase], present: np.ndarray, special: Special, before: Environment) -> str:
        """What the program's variables hold in an iteration of each thread, as far as that is known. ``before``: what
        they held when it began."""
        phase = phases[0]
        counters = [v for s in (phase.loop, *phase.nested) if (v := counter_of(s)) is not None]
        each = dict.fromkeys([*counters, *(v for v, a in phase.env.items() if np.asarray(a).ndim)])
        assigned = Counter(s.var for s in statements(phase.body) if isinstance(s, Assign))
        loops = [s for s in statements(phase.body) if isinstance(s, Loop)]
        again = {x.var for s in loops for x in statements((s,)) if isinstance(x, Assign)}
        known = [(v, before[v], special.whole) for v in each if v in before and v not in assigned]
        known += [(v, a, mask) for v, a, mask in special.known if assigned[v] == 1 and v not in again]
        said = stage(phases, self.around[id(phase.loop)])
        parts = [x for x in named_values(special.basis, known) if x not in said]
        parts += filter(None, dict.fromkeys(condition(special.basis, *test) for test in special.tests))
        who = threads_of(present)
        return ", ".join(parts) + (f" ({who})" if parts and who else "")

    def who(self, count: int, groups: int, mapping: Mapping | None) -> str:
        """Which iterations a thread does."""
        if mapping is not None:
            return f"A thread does the iterations that store to its elements, at most {groups} of the {count}."
        if groups <= 1:
            return "Thread tid does iteration tid, counted from 0."
        those = f"iterations tid, tid + {self.threads} and so on"
        return f"Counted from 0, thread tid does {those}, at most {groups} of the {count}."

    @staticmethod
    def steps(items: Sequence[Item]) -> str:
        """On statements that are no phase, up to the next phase."""
        between: list[Stmt] = []
        for x in items:
            if not isinstance(x, (Assign, Store, If, Loop)):
                break
            between.append(x)
        lines = sorted({(x.loc.file, x.loc.line) for x in between if x.loc.line})
        where = places_in(Loc(*line) for line in lines[:_LISTED]) or "what the kernel begins or ends with"
        more = " and more" if len(lines) > _LISTED else ""
        stored = " Thread 0 alone stores." if any(isinstance(x, Store) for x in statements(tuple(between))) else ""
        return f"No phase, {where}{more}: every thread does it.{stored}"


def names_of(regions: Iterable[Region]) -> str:
    return joined(sorted(r.name for r in regions)) or "shared memory"

"""The tracer where there is no C compiler: its steps, executed in Python.

Each step becomes a function once, so that what is done again and again is only called.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from ..analysis.facts import LOADED, STORED
from ..base.ctype import LONG
from ..frontend.parse import deep
from ..ir.nodes import Assign, Store
from .recorder import Notes, Recorder, Stopped
from .steps import Access, Began, Count, Guarded, Repeat, Step, Steps, Stop, Test, Tracer
from .undefined import Why
from .values import Memory, Value, value

Run = Callable[[], None]


def interpret(t: Tracer, budget: int, seconds: float) -> bytes:
    """The report, as the compiled tracer writes it; b"" where it takes longer than that. Raises NotAtHand."""
    notes = Notes(t, budget, time.monotonic() + seconds)
    try:
        return notes.report(_ended(t, notes))
    except TimeoutError:
        return b""


def recorded(t: Tracer, budget: int) -> list[tuple[int, int]]:
    """The first accesses: (site, cell). ``budget``: of accesses and turns. Raises NotAtHand."""
    notes = Recorder(t, budget, 0)
    _ended(t, notes)
    return notes.events


def _ended(t: Tracer, notes: Notes) -> Why:
    run = deep(lambda: _Machine(t, notes).block(t.steps))
    try:
        deep(run)
    except Stopped as e:
        return e.why
    return Why.WHOLE


@dataclass
class _Machine:
    """Makes functions of steps."""

    t: Tracer
    notes: Notes
    memory: Memory = field(default_factory=Memory)

    def value(self, e) -> Value:
        return value(e, self.memory)

    def block(self, steps: Steps) -> Run:
        runs = [self.step(s) for s in steps]
        if len(runs) == 1:
            return runs[0]

        def run() -> None:
            for r in runs:
                r()

        return run

    def step(self, s: Step) -> Run:
        match s:
            case Assign():
                return self.assign(s)
            case Store():
                return self.put(s)
            case Count():
                return self.count(s)
            case Test():
                return self.test(s)
            case Guarded():
                return self.guarded(s)
            case Stop():
                return self.stop(s)
            case Began(pair=pair, turned=turned):
                return lambda: self.notes.arm(pair, turned)
            case Repeat():
                return self.repeat(s)
            case Access():
                return self.access(s)

    def assign(self, s: Assign) -> Run:
        variables, place, new = self.memory.variables, self.memory.place(s.var), self.value(s.value)

        def run() -> None:
            variables[place] = new()

        return run

    def put(self, s: Store) -> Run:
        array, index, new = self.memory.elements(s.region), self.value(s.index), self.value(s.value)

        def run() -> None:
            array[int(index())] = new()

        return run

    def count(self, s: Count) -> Run:
        blocks, n = self.notes.blocks, s.block

        def run() -> None:
            blocks[n] += 1

        return run

    def test(self, s: Test) -> Run:
        cond, then, other = self.value(s.cond), self.block(s.then), self.block(s.other)

        def run() -> None:
            if cond():
                then()
            else:
                other()

        return run

    def guarded(self, s: Guarded) -> Run:
        notes, cond, steps = self.notes, self.value(s.cond), self.block(s.steps)

        def run() -> None:
            never = not cond()
            notes.beside += never
            steps()
            notes.beside -= never

        return run

    def stop(self, s: Stop) -> Run:
        cond, why = self.value(s.cond), s.why

        def run() -> None:
            if cond():
                raise Stopped(why)

        return run

    def repeat(self, s: Repeat) -> Run:
        notes, n, loop, variables = self.notes, s.nest.number, s.nest.loop, self.memory.variables
        flags = [self.memory.place(f) for f in loop.flags]
        cond, head, body, step = self.value(loop.cond), self.block(s.head), self.block(s.body), self.block(s.step)

        def left() -> bool:
            return any(variables[f] for f in flags)

        def run() -> None:
            notes.enter(n)
            while not (flags and left()):
                notes.turn(n)
                head()
                if not cond():
                    break
                notes.count(n)
                body()
                if flags and left():
                    break
                step()
            notes.leave(n)

        return run

    def access(self, s: Access) -> Run:
        note = self.note(s)
        if not s.checks:
            return lambda: note(s.cell)
        notes = self.notes
        checks = [(self.value(c.index), c.extent, c.site, c.stops, self.counters(c.site)) for c in s.checks]

        def run() -> None:
            k = 0
            for index, extent, site, stops, counters in checks:
                k = int(index())
                if not 0 <= k < extent:
                    notes.fault(site, Why.OUTSIDE, int(LONG.wrap(k)), counters())
                    if stops:
                        raise Stopped(Why.OUTSIDE)
                    return
            note(s.cell + k)

        return run

    def counters(self, site: int) -> Callable[[], tuple[int, ...]]:
        variables, places = self.memory.variables, [self.memory.place(v) for v in self.t.counters[site]]
        return lambda: tuple(int(LONG.wrap(variables[p])) for p in places)

    def note(self, s: Access) -> Callable[[int], None]:
        """What is noted of a cell."""
        plain = self.known(s) if s.known else self.stored(s) if s.store else self.loaded(s)
        if not s.local:
            return plain
        notes, counters = self.notes, self.counters(s.site)

        def run(e: int) -> None:
            if not notes.state[e] & STORED:
                notes.fault(s.site, Why.UNSET, 0, counters())
            plain(e)

        return run

    def known(self, s: Access) -> Callable[[int], None]:
        state, bit = self.notes.state, STORED if s.store else LOADED

        def run(e: int) -> None:
            state[e] |= bit

        return run

    def loaded(self, s: Access) -> Callable[[int], None]:
        load, site, own, loops = self.notes.load, s.site, s.own, s.loops
        return lambda e: load(e, site, own, loops)

    def stored(self, s: Access) -> Callable[[int], None]:
        notes, site, ordered, loops, certain = self.notes, s.site, s.ordered, s.loops, s.certain
        if not s.once:
            return lambda e: notes.store(e, site, ordered, loops, certain)

        def run(e: int) -> None:
            notes.store(e, site, ordered, loops, s.pair >= 0 and notes.both(s.pair, e))
            notes.in_one_arm(e)

        return run

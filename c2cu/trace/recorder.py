"""The notes that an interpreted tracer takes: templates/cpu/tracer_notes.h.j2 and tracer_report.h.j2 in Python."""

from __future__ import annotations

import struct
import time
from array import array

from ..analysis.facts import CERTAIN, INPUT, LOADED, STORED
from .steps import COUNTERS, Tracer
from .undefined import Why

FAULTS, CONFLICTS, TRIES = 32, 8, 256  # of the compiled tracer too: the reports are the same
FLOW, ANTI, OUTPUT = range(3)


class Stopped(Exception):
    """The trace ends."""

    def __init__(self, why: Why):
        self.why = why


class Notes:
    """Time counts accesses and turns. ``until``: when to give up, by time.monotonic()."""

    def __init__(self, t: Tracer, budget: int, until: float):
        self.budget, self.until, self.now = budget, until, 0
        n = max(1, len(t.nests))
        self.blocks = [0] * len(t.blocks)
        self.state = bytearray(max(1, t.cells))
        self.faults: dict[tuple[int, Why], tuple[int, ...]] = {}
        self.beside = 0  # arms around here that no data leads into
        self.entries, self.turns, self.longest, self.taken = [0] * n, [0] * n, [0] * n, [0] * n
        self.entered, self.began_turn, self.left = [0] * n, [0] * n, [0] * n
        self.follow: list[tuple[int, int, int] | None] = [None] * n
        self.conflicts: list[dict[tuple[int, int, int], int]] = [{} for _ in range(n)]
        self.tries, self.settled = [0] * n, [False] * n
        self.began, self.turned = [0] * t.pairs, [0] * t.pairs
        self.sure, self.once = _numbers(t), _numbers(t)
        self.loaded, self.stored = [_numbers(t) for _ in range(t.depths)], [_numbers(t) for _ in range(t.depths)]
        self.loaded_at, self.stored_at = [_numbers(t) for _ in range(t.depths)], [_numbers(t) for _ in range(t.depths)]

    def fault(self, site: int, why: Why, index: int, counters: tuple[int, ...]) -> None:
        if self.beside:
            if any(known is Why.AHEAD for _, known in self.faults):
                return
            why = Why.AHEAD
        if len(self.faults) < FAULTS:
            self.faults.setdefault((site, why), (index, *counters))

    def conflict(self, loop: int, kind: int, e: int, first: int, second: int) -> None:
        found = self.conflicts[loop]
        self.tries[loop] += 1
        if not self.settled[loop]:
            found.setdefault((kind, first, second), e)
        self.settled[loop] = self.settled[loop] or self.tries[loop] == TRIES or len(found) == CONFLICTS

    def follows(self, loop: int, at: int, start: int, before: int, after: int, e: int) -> None:
        """A loop's turns touch what those of an earlier one touched: between the two all must be done."""
        if self.follow[loop] is None and start < at < self.entered[loop]:
            self.follow[loop] = (before + 1, after, e)

    # loops

    def enter(self, loop: int) -> None:
        self.entries[loop] += 1
        self.taken[loop] = 0
        self.now += 1
        self.entered[loop] = self.now

    def turn(self, loop: int) -> None:
        self.now += 1
        self.began_turn[loop] = self.now
        if self.now > self.budget:
            raise Stopped(Why.BUDGET_SPENT)
        if time.monotonic() > self.until:
            raise TimeoutError

    def count(self, loop: int) -> None:
        self.turns[loop] += 1
        self.taken[loop] += 1

    def leave(self, loop: int) -> None:
        self.now += 1
        self.left[loop] = self.now
        self.longest[loop] = max(self.longest[loop], self.taken[loop])

    # branches on data

    def arm(self, pair: int, turned: bool) -> None:
        (self.turned if turned else self.began)[pair] = self.now

    def both(self, pair: int, e: int) -> bool:
        """Whether the first arm stored there too."""
        return self.began[pair] < self.once[e] <= self.turned[pair]

    def in_one_arm(self, e: int) -> None:
        self.once[e] = self.now

    # accesses: of each cell and each loop around, the first load and the first store since the loop was entered are
    # kept; one that came before this turn began is another turn's

    def load(self, e: int, site: int, own: int, loops: tuple[int, ...]) -> None:
        self.now += 1
        state = self.state[e]
        self.state[e] = state = state | (LOADED if state & CERTAIN else LOADED | INPUT)
        start = 0
        for d, loop in enumerate(loops):
            entered, began = self.entered[loop], self.began_turn[loop]
            if not self.settled[loop]:
                stored, at, mine, sure = self.stored[d][e], self.stored_at[d][e], own >> d & 1, self.sure[e]
                if not mine:
                    self.follows(loop, stored, start, at, site, e)
                if entered <= stored < began and sure < began:
                    self.conflict(loop, FLOW, e, at, site)
                elif mine and state & STORED and self.left[loop] and sure <= self.left[loop]:
                    self.conflict(loop, OUTPUT, e, at, site)  # an earlier entry's last turn stored it
                if self.loaded[d][e] < entered:
                    self.loaded[d][e], self.loaded_at[d][e] = self.now, site
            start = began

    def store(self, e: int, site: int, ordered: int, loops: tuple[int, ...], certain: bool) -> None:
        self.now += 1
        self.state[e] |= STORED | CERTAIN if certain else STORED
        if certain:
            self.sure[e] = self.now
        start = 0
        for d, loop in enumerate(loops):
            entered, began = self.entered[loop], self.began_turn[loop]
            if not self.settled[loop]:
                stored, loaded, in_order = self.stored[d][e], self.loaded[d][e], ordered >> d & 1
                if in_order:
                    self.follows(loop, stored, start, self.stored_at[d][e], site, e)
                    self.follows(loop, loaded, start, self.loaded_at[d][e], site, e)
                if stored < entered:
                    self.stored[d][e], self.stored_at[d][e] = self.now, site
                elif in_order and stored < began:
                    self.conflict(loop, OUTPUT, e, self.stored_at[d][e], site)
                if in_order and entered <= loaded < began and not self.settled[loop]:
                    self.conflict(loop, ANTI, e, self.loaded_at[d][e], site)
            start = began

    def report(self, why: Why) -> bytes:
        """What the compiled tracer writes at its end."""
        parts = [struct.pack("=3Q", why, len(self.faults), sum(map(len, self.conflicts)))]
        parts.append(struct.pack(f"={len(self.blocks)}Q", *self.blocks))
        for loop in zip(self.entries, self.turns, self.longest, self.follow):
            parts.append(struct.pack("=6Q", *loop[:3], *(loop[3] or (0, 0, 0))))
        for (site, kind), (index, *counters) in self.faults.items():
            padded = [*counters, *[0] * (COUNTERS - len(counters))]
            parts.append(struct.pack(f"=2I{1 + COUNTERS}q", site, kind, index, *padded))
        for loop, found in enumerate(self.conflicts):
            parts += [struct.pack("=4Iq", loop, *what, e) for what, e in found.items()]
        return b"".join(parts) + self.state


class Recorder(Notes):
    """Writes down the first accesses instead, as (site, cell); it counts turns of loops as well."""

    def __init__(self, t: Tracer, budget: int, until: float):
        super().__init__(t, budget, until)
        self.events: list[tuple[int, int]] = []

    def event(self) -> None:
        self.now += 1
        if self.now > self.budget:
            raise Stopped(Why.BUDGET_SPENT)

    def enter(self, loop: int) -> None:
        self.event()

    def turn(self, loop: int) -> None:
        pass

    def count(self, loop: int) -> None:
        self.event()

    def leave(self, loop: int) -> None:
        self.event()

    def load(self, e: int, site: int, own: int, loops: tuple[int, ...]) -> None:
        self.event()
        self.events.append((site, e))

    def store(self, e: int, site: int, ordered: int, loops: tuple[int, ...], certain: bool) -> None:
        self.event()
        self.state[e] |= STORED
        self.events.append((site, e))


def _numbers(t: Tracer) -> array[int]:
    """A number for each cell."""
    return array("I", [0]) * max(1, t.cells)

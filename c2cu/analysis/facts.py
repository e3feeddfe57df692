"""What one run of a program's uniform slice shows: facts that hold for every input, since no address depends on data.

`trace` finds them; schedules, the planner and `c2cu explain` read them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..base.diagnostics import Loc
from ..ir.nodes import Region

#: What may happen to an element, as bits. CERTAIN: stored whatever the data. INPUT: loaded while not CERTAIN.
LOADED, STORED, CERTAIN, INPUT = 1, 2, 4, 8


@dataclass(frozen=True)
class RegionFacts:
    """``loads``/``stores``: how often, both sides of data-dependent branches counted. ``elements``: a byte of the bits
    above for each element."""

    region: Region
    loads: int
    stores: int
    elements: bytes

    @property
    def footprint(self) -> int:
        """How many distinct elements are touched."""
        return len(self.elements) - self.elements.count(0)

    def count(self, bit: int) -> int:
        """How many elements have a bit."""
        return sum(1 for e in self.elements if e & bit)


@dataclass(frozen=True)
class Conflict:
    """Two accesses of one place in different iterations of a loop, one of them a store.

    ``kind``: flow (a store, later loaded), anti (a load, later stored) or output (stored twice, or stored and used
    after the loop). ``name``: the C variable or member. ``element``: of the region, -1 for a scalar variable.
    ``conditional``: the store may not happen, as a branch on data decides.
    """

    kind: str
    name: str
    element: int
    first: Loc
    second: Loc
    conditional: bool


@dataclass(frozen=True)
class LoopFacts:
    """``depth``: loops around it. ``entries``: how often it was entered; ``turns``: iterations, of all entries;
    ``longest``: of one entry. ``independent``: its iterations may be executed in any order or at once, each with
    scalar variables (and arrays that only it uses) of its own. Else ``conflicts`` says why, the first few.
    ``barrier``: where the loop touches what an earlier loop of the same block touched, one of them storing: all turns
    of that one must be done before. None where the two may run into each other."""

    loc: Loc
    depth: int
    entries: int
    turns: int
    longest: int
    independent: bool
    conflicts: tuple[Conflict, ...] = ()
    barrier: Conflict | None = None


@dataclass(frozen=True)
class Fault:
    """An access that C does not define. ``kind``: bounds or uninitialised; ahead: bounds, if it were done ahead of a
    branch that no data takes then, which is no fault of the program. ``certain``: it happens for every input; else a
    branch on data stands before it. ``counters``: (name, value) of the loop counters around it then."""

    kind: str
    message: str
    loc: Loc
    certain: bool
    counters: tuple[tuple[str, int], ...] = ()


UNENDED = "its uniform part did not run to its end"  # why a trace stopped, on this machine at this time


@dataclass(frozen=True)
class Trace:
    """``steps``: the sequential program's t, one for each load or store of an array element. ``operations``: how often
    values that depend on data are computed, by class ("float", "integer", "wide" for 64-bit products, "divide",
    "call"). ``loops``: in textual order of the flat kernel. ``stopped``: why the trace is not complete; "" if it is.
    ``unknown``: the shared variables that it would have to know for that. Of a trace that is not complete only the
    faults are sure."""

    steps: int
    operations: Mapping[str, int]
    regions: tuple[RegionFacts, ...]
    loops: tuple[LoopFacts, ...]
    faults: tuple[Fault, ...]
    stopped: str = ""
    unknown: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        return not self.stopped

    def comes_in(self, name: str, goes_out: bool) -> bool:
        """Whether elements of a region may be read, or go out, as they came in."""
        facts = next((f for f in self.regions if f.region.name == name), None)
        if facts is None or not self.complete or self.faults:
            return True
        return bool(facts.count(INPUT)) or (goes_out and facts.count(CERTAIN) < facts.region.count)

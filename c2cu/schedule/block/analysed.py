"""Phases with all that their iterations touch."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...ir import Block, Load, Region, Store
from ...uniform import Uniform
from ...walk import expressions, statements, subexpressions
from .mapping import differing
from .touches import Phase, Touch, Walk, hazards


@dataclass(frozen=True, eq=False)
class Analysed:
    """``hazard``: iterations that were not independent if a branch on data is taken. ``private``: regions that each
    iteration has for itself."""

    phase: Phase
    touches: list[Touch]
    hazard: np.ndarray
    private: frozenset[Region]

    def stores(self, regions: frozenset[Region]) -> list[Touch]:
        return [t for t in self.touches if t.store and t.region in regions]

    def joined(self, regions: frozenset[Region], radices: tuple[int, ...]) -> set[int]:
        """The digits in which elements of ``regions`` differ that one iteration stores to."""
        stores = self.stores(regions)
        out: set[int] = set()
        for k, t in enumerate(stores):
            for other in stores[:k]:
                both = t.mask & other.mask
                out |= differing(radices, t.address[both], other.address[both])
        return out

    def same_stores(self, other: Analysed) -> bool:
        mine, theirs = ([t for t in a.touches if t.store] for a in (self, other))
        return len(mine) == len(theirs) and all(
            a.region == b.region and np.array_equal(a.address, b.address) and np.array_equal(a.mask, b.mask)
            for a, b in zip(mine, theirs)
        )


def analysed(u: Uniform, phase: Phase, memory: dict[Region, np.ndarray]) -> Analysed:
    """Raises UnsupportedError where iterations conflict whatever the data."""
    found = Walk(u, phase, memory).found
    private = _private(u, phase)
    return Analysed(phase, found, hazards(phase, found, private), private)


def _private(u: Uniform, phase: Phase) -> frozenset[Region]:
    """Local arrays that only the phase's loop touches."""
    everywhere, inside = _touched(u.kernel.body), _touched((phase.loop,))
    return frozenset(r for r, n in inside.items() if r.storage == "local" and everywhere[r] == n)


def _touched(block: Block) -> dict[Region, int]:
    out: dict[Region, int] = {}
    for s in statements(block):
        if isinstance(s, Store):
            out[s.region] = out.get(s.region, 0) + 1
        for x in (x for e in expressions(s) for x in subexpressions(e)):
            if isinstance(x, Load):
                out[x.region] = out.get(x.region, 0) + 1
    return out

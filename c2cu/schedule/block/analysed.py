"""Phases with all that their iterations touch."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...analysis.uniform import Uniform
from ...ir.nodes import Region, Var
from ...ir.walk import expressions, statements, subexpressions, touched
from .mapping import differing
from .touches import Phase, Touch, Walk, carried, hazards


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

    def alike(self, other: Analysed) -> bool:
        """Whether one text does for both, with other known values: then they may be rounds of a loop."""
        a, b = self.phase, other.phase
        same = a.loop is b.loop and a.body is b.body and a.count == b.count and self.private == other.private
        return same and self.same_known(other) and self.same_stores(other)

    def same_known(self, other: Analysed) -> bool:
        """Whether the same variables are known, of those that are read, and the same arrays' elements."""
        a, b = self.phase, other.phase
        every = (x for s in statements(a.body) for e in expressions(s) for x in subexpressions(e))
        read = {x.var for x in every if isinstance(x, Var)}
        return all((v in a.env) == (v in b.env) for v in read) and all(
            x is b.memory[r] or np.array_equal(x, b.memory[r]) for r, x in a.memory.items()
        )

    def same_stores(self, other: Analysed) -> bool:
        own_stores, other_stores = ([t for t in a.touches if t.store] for a in (self, other))
        return len(own_stores) == len(other_stores) and all(
            a.region == b.region and np.array_equal(a.address, b.address) and np.array_equal(a.mask, b.mask)
            for a, b in zip(own_stores, other_stores)
        )


def analysed(u: Uniform, phase: Phase) -> Analysed:
    """Raises DependentIterations where iterations depend on each other whatever the data."""
    touches = Walk(u, phase).touches
    private = frozenset(r for r in _alone(u, phase) if not carried(touches, r, phase.count))
    return Analysed(phase, touches, hazards(phase, touches, private), private)


def _alone(u: Uniform, phase: Phase) -> frozenset[Region]:
    """Local arrays that only the phase's loop touches."""
    everywhere, inside = touched(u.kernel.body), touched((phase.loop,))
    return frozenset(r for r, n in inside.items() if r.storage == "local" and everywhere[r] == n)

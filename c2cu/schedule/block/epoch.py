"""What threads have done with shared memory since the last barrier, element by element: a barrier stands where one is
about to store what another used, or to use what another stored."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from ...ir.nodes import Region

NOBODY = np.iinfo(np.int32).max  # the lowest of no threads; their highest is -1

Uses = dict[tuple[Region, bool], tuple[np.ndarray, np.ndarray]]  # (region, store): elements, and the thread of each
Conflict = tuple[Region, bool, bool]  # whether it was stored before, and whether it is stored behind a barrier


@dataclass(frozen=True, eq=False)
class SharedAccess:
    """Elements of ``region`` that threads load or store, in each round of a loop: ``address`` and ``mask`` of shape
    (rounds, threads), or of one that is broadcast to it. ``thread``: who does it in each column."""

    region: Region
    store: bool
    address: np.ndarray
    mask: np.ndarray
    thread: np.ndarray


def uses(accesses: Iterable[SharedAccess], turn: int | None = None) -> Uses:
    """What they touch in one round, or (None) in all rounds."""
    parts: dict[tuple[Region, bool], list[tuple[np.ndarray, np.ndarray]]] = {}
    for a in accesses:
        address, mask, thread = np.broadcast_arrays(a.address, a.mask, a.thread)
        if turn is not None:
            row = turn if len(address) > 1 else 0
            address, mask, thread = address[row], mask[row], thread[row]
        parts.setdefault((a.region, a.store), []).append((address[mask], thread[mask]))
    return {k: (np.concatenate([a for a, _ in p]), np.concatenate([t for _, t in p])) for k, p in parts.items()}


@dataclass
class Epoch:
    """``users``: of each element of a region, the lowest and the highest of the threads that loaded it, or stored it,
    since the last barrier."""

    users: dict[tuple[Region, bool], tuple[np.ndarray, np.ndarray]] = field(default_factory=dict)

    def copy(self) -> Epoch:
        return Epoch({k: (low.copy(), high.copy()) for k, (low, high) in self.users.items()})

    def add(self, new: Uses) -> None:
        for (r, store), (element, thread) in new.items():
            if (r, store) not in self.users:
                self.users[r, store] = np.full(r.count, NOBODY, np.int32), np.full(r.count, -1, np.int32)
            low, high = self.users[r, store]
            np.minimum.at(low, element, thread.astype(np.int32))
            np.maximum.at(high, element, thread.astype(np.int32))

    def conflicts(self, new: Uses) -> set[Conflict]:
        """Where one of two threads that use an element, one before and one now, stores it."""
        out: set[Conflict] = set()
        for (r, store), (element, thread) in new.items():
            for stored in (True, False) if store else (True,):
                if (r, stored) in self.users:
                    low, high = (x[element] for x in self.users[r, stored])
                    if ((high >= 0) & ((low != thread) | (high != thread))).any():
                        out.add((r, stored, store))
        return out

"""Who owns what: the elements of an input, spread over its threads digit by digit."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np


def factors(extents: tuple[int, ...]) -> tuple[int, ...]:
    """Prime factors of the extents, innermost extent first: an element's number in mixed radix."""
    out: list[int] = []
    for n in reversed(extents):
        p = 2
        while n > 1:
            while n % p == 0:
                out.append(p)
                n //= p
            p += 1
    return tuple(out)


@dataclass(frozen=True)
class Mapping:
    """``radices`` of an element's number, lowest first; those in ``local`` count a thread's slots, the others
    threads."""

    radices: tuple[int, ...]
    local: frozenset[int]

    @property
    def threads(self) -> tuple[int, ...]:
        """Radices of a thread's number."""
        return tuple(r for k, r in enumerate(self.radices) if k not in self.local)

    @functools.cached_property
    def slots(self) -> int:
        return int(np.prod([r for k, r in enumerate(self.radices) if k in self.local], dtype=np.int64))

    def split(self, element: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(owner, slot) of elements; of those that there are not, of the last."""
        owner, slot = self.every
        inside = np.clip(element, 0, len(owner) - 1)
        return owner[inside], slot[inside]

    @functools.cached_property
    def every(self) -> tuple[np.ndarray, np.ndarray]:
        """(owner, slot) of each element."""
        element = np.arange(int(np.prod(self.radices, dtype=np.int64)))
        owner, slot = np.zeros_like(element), np.zeros_like(element)
        stride = owners = slots = 1
        for k, radix in enumerate(self.radices):
            digit = element // stride % radix
            stride *= radix
            if k in self.local:
                slot, slots = slot + digit * slots, slots * radix
            else:
                owner, owners = owner + digit * owners, owners * radix
        return owner, slot

    def elements(self) -> np.ndarray:
        """The element of each (slot, owner)."""
        owner, slot = self.every
        out = np.empty((self.slots, len(owner) // self.slots), np.int64)
        out[slot, owner] = np.arange(len(owner))
        return out


def differing(radices: tuple[int, ...], a: np.ndarray, b: np.ndarray) -> set[int]:
    """Digits in which some a[k] and b[k] differ."""
    out, stride = set(), 1
    for k, radix in enumerate(radices):
        if (a // stride % radix != b // stride % radix).any():
            out.add(k)
        stride *= radix
    return out

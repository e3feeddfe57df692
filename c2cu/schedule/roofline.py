"""The roofline: how long a program must take at least on a machine whose limits are known.

Either its inputs and outputs cross the memory bus, or its operations are executed, whichever takes longer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

#: Operations a clock that a multiprocessor does, at most: what an H200 reaches on 32-bit numbers. A division or a call
#: needs the special function unit at least once.
PER_CLOCK = {"float": 128, "integer": 64, "wide": 32, "divide": 16, "call": 16}


@dataclass(frozen=True)
class Limits:
    """A machine. ``bandwidth``: bytes/s, read and written together. ``rates``: operations/s by class of
    `facts.Trace.operations`; a class that is missing has no known limit. ``bandwidth_from`` and ``rates_from`` say
    what was measured and what is nominal."""

    name: str
    bandwidth: float
    bandwidth_from: str
    rates: Mapping[str, float] = field(default_factory=dict)
    rates_from: str = ""


@dataclass(frozen=True)
class Roofline:
    """Least times for ``p`` inputs. ``memory``: seconds to bring inputs in and outputs out once. ``compute``: seconds
    for the operations, one after the other class. ``every_access``: seconds if each access of an array element went
    to memory, as in the model. ``operations``: of those classes that have a rate; ``unrated``: of the others."""

    p: int
    bytes_moved: int
    bytes_accessed: int
    operations: int
    unrated: Mapping[str, int]
    memory: float
    compute: float
    every_access: float

    @property
    def binds(self) -> str:
        """ "memory" or "operations": which limit is reached first."""
        return "memory" if self.memory >= self.compute else "operations"

    @property
    def seconds(self) -> float:
        """The expected time of a schedule that wastes nothing."""
        return max(self.memory, self.compute)

    @property
    def intensity(self) -> float:
        """Operations a byte that must be moved."""
        return self.operations / self.bytes_moved if self.bytes_moved else float("inf")

    @property
    def peak(self) -> float:
        """Operations a second, in this program's mix of them, were memory no limit; 0 without operations."""
        return self.operations / self.compute if self.compute else 0.0


def roofline(moved: int, accessed: int, operations: Mapping[str, int], limits: Limits, p: int = 1) -> Roofline:
    """``moved``: bytes in and out an input; ``accessed``: bytes of all its accesses; ``operations``: by class."""
    rated = {c: n for c, n in operations.items() if limits.rates.get(c)}
    return Roofline(
        p,
        p * moved,
        p * accessed,
        p * sum(rated.values()),
        {c: p * n for c, n in operations.items() if c not in rated},
        p * moved / limits.bandwidth,
        p * sum(n / limits.rates[c] for c, n in rated.items()),
        p * accessed / limits.bandwidth,
    )


def scaled(seconds: float) -> str:
    """A time for a reader."""
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def rate(x: float) -> str:
    """A number a second for a reader, to be followed by its unit."""
    return f"{x / 1e12:.3g} T" if x >= 1e12 else f"{x / 1e9:.3g} G"

"""Rough estimates of how long a CUDA schedule takes, to choose among schedules before anything is compiled.

The unit is cycles of one multiprocessor for one input, with enough inputs to keep it busy.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .artifact import Artifact
from .roofline import PER_CLOCK, scaled
from .slots import bytes_moved

if TYPE_CHECKING:
    from ..analysis.facts import Trace

CLOSE = 2.0  # times: estimates are no better than that
FULL = 512  # threads that keep a multiprocessor busy
BYTES = 16  # that memory moves a cycle, of a multiprocessor's share
SECTOR = 32  # bytes that memory moves for a single word
KEPT = 64  # bytes of shared memory that templates have for themselves
ACCESSES = 8  # of elements in column storage a cycle, mostly from the caches


@dataclass(frozen=True)
class Device:
    """The device that runs the schedule. The defaults are about those of an H200. ``clock``: in Hz; ``shared_bytes``:
    of shared memory that a block may have."""

    multiprocessors: int = 132
    clock: float = 1.98e9
    shared_bytes: int = 227 << 10


USUAL = Device()
_planned: ContextVar[Device] = ContextVar("c2cu_device", default=USUAL)


@contextmanager
def planned_for(device: Device) -> Iterator[None]:
    """While this lasts, what schedules print fits this device."""
    token = _planned.set(device)
    try:
        yield
    finally:
        _planned.reset(token)


def planned() -> Device:
    """The device that what is printed now has to fit: an H200, where nobody says otherwise."""
    return _planned.get()


def room() -> int:
    """Bytes of a block's shared memory on it, but for what templates keep."""
    return planned().shared_bytes - KEPT


@dataclass(frozen=True)
class Estimate:
    """``cycles``: of a multiprocessor, for an input. ``threads``: that an input has."""

    schedule: str
    cycles: float
    threads: int = 1

    def seconds(self, p: int | None = None, device: Device = USUAL) -> float:
        """Time an input, if there are p of them; None: as many as it takes to fill the device."""
        if p is None:
            return self.cycles / (device.multiprocessors * device.clock)
        turns = max(p / device.multiprocessors, FULL / self.threads)
        return self.cycles * turns / (max(p, 1) * device.clock)


@dataclass(frozen=True)
class Rival:
    """A ``schedule`` that may be faster than the one that was chosen, which no estimate tells.
    ``compilation``: about how many seconds the compiler takes for it. ``worth``: seconds of work from which on it is
    worth finding out. ``then``: the rival of gang, should that be the winner."""

    schedule: str
    compilation: float = 0.0
    worth: float = 0.0
    then: Rival | None = None

    def after(self, winner: str) -> Rival | None:
        """The winner's next rival."""
        return self.then if winner == "gang" else None


def floor(artifact: Artifact, trace: Trace) -> float:
    """A lower bound for any schedule, in cycles: the bytes in and out, or the operations, whichever take longer."""
    operations = sum(n / PER_CLOCK[c] for c, n in trace.operations.items())
    return max(operations, cycles_moved(artifact))


def cycles_moved(artifact: Artifact) -> float:
    """Cycles that memory takes to bring an input in and its results out."""
    return bytes_moved(artifact.slots) / BYTES


def preferred(estimates: Sequence[Estimate | None], p: int | None, device: Device = USUAL) -> int:
    """Which of the candidates to run: the first, unless a later one is faster by more than estimates err."""
    best = 0
    for k, e in enumerate(estimates):
        b = estimates[best]
        if e is not None and b is not None and CLOSE * e.seconds(p, device) < b.seconds(p, device):
            best = k
    return best


def good_enough(artifact: Artifact, e: Estimate | None, trace: Trace | None) -> bool:
    """Whether later schedules need no estimate: there is nothing to compare with, or hardly anything to gain."""
    return e is None or trace is None or e.cycles <= CLOSE * floor(artifact, trace)


def slower(e: Estimate | None, other: Estimate | None, p: int | None, device: Device = USUAL) -> str:
    """Why another schedule is preferred."""
    assert e is not None and other is not None
    seconds, other_seconds = (scaled(x.seconds(p, device)) for x in (e, other))
    return f"an input takes {seconds} by estimate, {other_seconds} under {other.schedule}"

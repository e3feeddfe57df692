"""What a stream needs of a device; `cpu_pipe` and `cuda_pipe` each implement it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy

from ..schedule.slots import Slot


class OutOfRoom(Exception):
    """The device has not enough memory for groups of this size."""


@dataclass(frozen=True)
class Span:
    """One thing that a device did for a group.

    Attributes:
        group: The number of the group, counted from 0.
        device: The device's name.
        what: ``"in"`` (the copy to the device), ``"kernel"`` or ``"out"`` (the copy back).
        start: Seconds since a moment that all spans of the device share.
        end: Seconds since the same moment.
    """

    group: int
    device: str
    what: str
    start: float
    end: float


def sides(slots: tuple[Slot, ...], batched: Sequence[bool]) -> tuple[list[Slot | None], list[Slot | None]]:
    """The slots that go in with each group, and those that come out; None for the others. ``batched``: which go in."""
    return [s if b else None for s, b in zip(slots, batched)], [s if s.writes else None for s in slots]


class Pipe(Protocol):
    """A device that takes groups one after the other and has up to ``depth`` of them in flight.

    ``name``: for messages. ``memory``: bytes that it holds on its device.
    """

    name: str
    depth: int
    memory: int

    def allocate(self, nbytes: int) -> numpy.ndarray:
        """Host memory as a uint8 array, which the device copies from and to directly."""
        ...

    def direct(self, array: Any) -> bool:
        """Whether the device can use a host array where it is."""
        ...

    def start(self, number: int, inputs: Sequence[Any], outputs: Sequence[Any], count: int) -> Any:
        """Begin with a group: host arrays, one a slot or None. Returns a token for ``finish``."""
        ...

    def finish(self, token: Any) -> None:
        """Wait until the group's outputs are there. Groups are finished in the order in which they were started."""
        ...

    def spans(self) -> list[Span]:
        """What was done when, for the groups finished so far, if the pipe was made to record that."""
        ...

    def close(self) -> None:
        """Free the device's memory, after all that is in flight."""
        ...

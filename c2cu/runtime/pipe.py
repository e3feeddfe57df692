"""What a stream wants of a device: `cpu_pipe` and `cuda_pipe` have one each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy

from ..schedule.artifact import Slot


class OutOfRoom(Exception):
    """The device has not enough memory for groups of this size."""


@dataclass(frozen=True)
class Span:
    """What a device did for a group, in seconds from a moment that all spans of the device share.

    ``what``: in (the copy to the device), kernel, out (the copy back).
    """

    group: int
    device: str
    what: str
    start: float
    end: float


def sides(slots: tuple[Slot, ...], given: Sequence[bool]) -> tuple[list[Slot | None], list[Slot | None]]:
    """The slots that go in, and those that come out; None for the others."""
    return [s if g else None for s, g in zip(slots, given)], [s if s.writes else None for s in slots]


class Pipe(Protocol):
    """A device that takes groups one after the other and has up to ``depth`` of them in flight.

    ``name``: for messages. ``memory``: bytes that it holds on its device.
    """

    name: str
    depth: int
    memory: int

    def allocate(self, nbytes: int) -> numpy.ndarray:
        """Host memory, uint8, that it copies from and to without a detour."""
        ...

    def direct(self, array: Any) -> bool:
        """Whether a host array can be used where it is."""
        ...

    def start(self, number: int, inputs: Sequence[Any], outputs: Sequence[Any], count: int) -> Any:
        """Begin with a group: host arrays, one a slot or None. What it returns goes to ``finish``."""
        ...

    def finish(self, token: Any) -> None:
        """Wait until the group's outputs are there. Groups are finished in the order in which they were started."""
        ...

    def spans(self) -> list[Span]:
        """What was done when, of the groups finished so far, if the pipe was asked to note it."""
        ...

    def close(self) -> None:
        """Give its device's memory back."""
        ...

"""What a stream wants of a device: `cpu_pipe` and `cuda_pipe` have one each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy

from ..artifact import Artifact
from ..diagnostics import InputError


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


def count(backend: str, devices: Sequence[int] | None) -> int:
    """How many devices there are to run on. Raises InputError for one that is not there."""
    return 1 if backend == "cpu" else len(ordinals(devices))


def ordinals(devices: Sequence[int] | None) -> list[int]:
    """GPUs by number: those chosen, or all that are visible."""
    from . import cuda

    seen = cuda.device_count()
    if devices is None:
        return list(range(seen))
    chosen = [int(d) for d in devices]
    wrong = [d for d in chosen if not 0 <= d < seen]
    if wrong or not chosen or len(set(chosen)) < len(chosen):
        given = ", ".join(map(str, chosen)) or "none"
        raise InputError("C2CU058", f"devices: {given}", None, f"choose from 0 to {seen - 1}, each once")
    return chosen


def pipes(
    artifact: Artifact,
    loaded: Any,
    layout: str,
    fixed: Sequence[Any],
    given: Sequence[bool],
    group: int,
    depth: int,
    devices: Sequence[int] | None,
    note: bool,
) -> list[Pipe]:
    """One for each device. ``fixed``: what inputs share; ``given``: which slots come in groups. Raises OutOfRoom."""
    if artifact.target == "cpu":
        from .cpu_pipe import CpuPipe

        return [CpuPipe(loaded, layout, fixed, depth)]
    from .cuda_pipe import CudaPipe

    found: list[Pipe] = []
    try:
        for d in ordinals(devices):
            found.append(CudaPipe(artifact, d, group, depth, layout, fixed, given, note))
    except BaseException:
        for p in found:
            p.close()
        raise
    return found

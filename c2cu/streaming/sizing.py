"""How many inputs a group has: from what memory allows, what keeps a device busy, and how long a result may take."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy

from ..base import quantities
from ..base.diagnostics import InputError
from ..frontend.options import whole
from ..runtime.pipe import OutOfRoom, Pipe
from ..schedule.artifact import Slot
from .batcher import Arrays, Feed
from .engine import LENT, Engine, Targets

MEMORY = 1 << 30  # bytes of host memory for buffers, if nobody says
GPU_GROUP = 16 << 20  # bytes in and out of a group that fill a GPU's link
CPU_GROUP = 4 << 20  # ... that outweigh a group's own cost on the CPU
TRIAL = 0.2  # seconds that measuring one size may take, beyond the first groups
GROUPS = 24  # at most that many of one size are measured


@dataclass(frozen=True)
class SizeOptions:
    """What the user asks for, checked; None: nothing."""

    group: int | None = None
    interval: float | None = None
    depth: int | None = None
    latency: float | None = None
    memory: int | None = None


@dataclass(frozen=True)
class Job:
    """What runs. ``pipes``: (group, depth) -> pipes that can take it, or OutOfRoom; ``usual``: bytes of a group;
    ``stagers``, ``lent``, ``copy``: as `Engine` has them; ``apart``: pipes rearrange groups in host memory."""

    slots: tuple[Slot, ...]
    given: tuple[bool, ...]
    layout: str
    devices: int
    depth: int
    pipes: Callable[[int, int], list[Pipe]]
    usual: int
    stagers: int = 1
    lent: int = LENT
    copy: bool = True
    apart: bool = False

    def engine(self, group: int, pipes: Sequence[Pipe], targets: Targets | None = None) -> Engine:
        return Engine(self.slots, self.given, self.layout, group, pipes, targets, self.stagers, self.lent, self.copy)

    def cost(self, group: int) -> int:
        """Bytes of host memory for groups of that size."""
        flight = self.devices * self.depth
        buffers = Engine.cost(self.slots, self.given, group, flight, self.stagers, self.lent)
        return buffers + (flight * group * sum(_bytes(self)) if self.apart else 0)


@dataclass(frozen=True)
class Chosen:
    """``job``: as asked for, or with less in flight where groups are large. ``memory``: bytes of host memory that
    buffers may take; ``notices``: what the user should know."""

    job: Job
    group: int
    pipes: list[Pipe]
    memory: int
    notices: tuple[str, ...] = ()


@dataclass(frozen=True)
class Point:
    """What a group size gives when inputs never fail to come: ``latency``: 95 of 100 groups are faster, in seconds;
    ``rate``: inputs a second."""

    group: int
    latency: float
    rate: float


def limits(group: Any, interval: Any, depth: Any, latency: Any, memory: Any) -> SizeOptions:
    """Checked. Raises InputError."""
    try:
        interval, latency = (quantities.seconds(x) if isinstance(x, str) else x for x in (interval, latency))
        memory = quantities.size(memory) if isinstance(memory, str) else memory
    except ValueError as e:
        raise InputError("C2CU058", str(e)) from None
    counts = {"group": group, "depth": depth, "memory": memory}
    for name, value in counts.items():
        if value is not None and (isinstance(value, bool) or whole(name, value) < 1):
            raise InputError("C2CU058", f"{name} is {value}", None, "give at least 1")
    for name, value in (("interval", interval), ("latency_target", latency)):
        if value is not None and not (isinstance(value, Real) and 0 < float(value) < math.inf):
            raise InputError("C2CU058", f"{name} is {value!r:.40}", None, "give seconds, more than 0")
    if group is not None and latency is not None:
        raise InputError("C2CU058", "group and latency_target are both given", None, "the target chooses the group")
    return SizeOptions(group, interval, depth, latency, memory)


def sized(job: Job, asked: SizeOptions, group: int | None = None) -> Chosen:
    """A group's size, and devices that are ready for it. Raises InputError where ``memory`` does not hold it."""
    most = _most(job, asked.memory)
    if group is None:
        group = max(1, min(job.usual // max(1, sum(_bytes(job))), most))
    elif asked.memory is not None and group > most:
        raise InputError(
            "C2CU058",
            f"groups of {group} inputs take {job.cost(group)} bytes of buffers, but memory is {asked.memory}",
            None,
            f"at most {most} inputs a group fit",
        )
    if asked.depth is None and asked.memory is None:
        while job.depth > 2 and job.cost(group) > MEMORY:
            job = replace(job, depth=job.depth - 1, stagers=min(job.stagers, 2), lent=1)
    wanted = group
    while True:
        try:
            pipes = job.pipes(group, job.depth)
            break
        except OutOfRoom as e:
            if group == 1:
                raise InputError("C2CU064", f"the device has not enough memory for one input: {e}") from None
            group = -(-group // 2)
    notices = ()
    if group < wanted:
        notices = (f"the device has not enough memory for groups of {wanted} inputs: they have {group}",)
    return Chosen(job, group, pipes, job.cost(group), notices)


def _bytes(job: Job) -> tuple[int, int]:
    """Of one input: in, and out."""
    ins = sum(s.nbytes for s, g in zip(job.slots, job.given) if g)
    return ins, sum(s.nbytes for s in job.slots if s.writes)


def _most(job: Job, memory: int | None) -> int:
    """The largest group whose buffers fit; one input, however large, where nobody says what memory there is. Raises
    InputError where not one fits."""
    if memory is None:
        return max(1, MEMORY // max(1, job.cost(1)))
    most = memory // max(1, job.cost(1))
    if most < 1:
        hint = f"one input a group takes {job.cost(1)} bytes of buffers with {job.depth} groups in flight"
        raise InputError("C2CU058", f"memory of {memory} bytes is not enough", None, hint)
    return most


def curve(job: Job, asked: SizeOptions, sample: Arrays, count: int) -> list[Point]:
    """Latency and rate of sizes that are powers of two, measured on the sample's ``count`` inputs over and over. It
    ends where the latency is past the target and grows with the group."""
    assert asked.latency is not None
    most = _most(job, asked.memory)
    found: list[Point] = []
    group = min(64, most)
    while group <= most and (
        len(found) < 2 or found[-1].latency <= asked.latency or found[-2].latency <= asked.latency
    ):
        try:
            pipes = job.pipes(group, job.depth)
        except OutOfRoom:
            if found or group == 1:
                break
            group //= 2
            continue
        found.append(_measured(job, pipes, group, _tiled(sample, count, group, job.layout)))
        group *= 2
    return found


def within(points: Sequence[Point], target: float) -> tuple[int, str]:
    """(the largest group that meets the target, or the one that comes nearest to it; what to say then)."""
    if not points:
        return 1, ""  # the device has no room: `sized` says so
    good = [p.group for p in points if p.latency <= target]
    if good:
        return max(good), ""
    best = min(points, key=lambda p: p.latency)
    return (
        best.group,
        f"no group meets a latency of {1e3 * target:g} ms: {best.group} inputs take {1e3 * best.latency:.3g} ms",
    )


def _tiled(sample: Arrays, count: int, group: int, layout: str) -> Arrays:
    index = numpy.arange(group) % max(1, count)
    return tuple(None if a is None else numpy.take(a, index, axis=0 if layout == "row" else -1) for a in sample)


def _measured(job: Job, pipes: list[Pipe], group: int, batch: Arrays) -> Point:
    engine = job.engine(group, pipes)
    flight = job.depth * len(pipes)
    began = time.perf_counter()

    def batches() -> Iterator[Any]:
        for k in range(GROUPS + 3 * flight):
            if k > 4 * flight and time.perf_counter() - began > TRIAL:
                return
            yield batch

    latencies, times = [], []
    engine.start(Feed(batches(), lambda b: (b, group), job.layout, group, None, engine, False))
    try:
        while (done := engine.result()) is not None:
            engine.release(done)
            latencies.append(done.latency)
            times.append(time.perf_counter())
    finally:
        engine.close()
    steady = latencies[flight:]  # the first wait for what is made once
    rate = group * (len(steady) - 1) / max(1e-9, times[-1] - times[flight])
    high = statistics.quantiles(steady, n=20)[-1] if len(steady) > 1 else steady[0]
    return Point(group, min(high, max(steady)), rate)

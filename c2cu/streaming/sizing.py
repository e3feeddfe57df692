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

from ..base import catalogue, quantities
from ..frontend.options import whole
from ..runtime.pipe import OutOfRoom, Pipe
from ..schedule.slots import Slot
from .batcher import Arrays, Batcher
from .engine import LENT, Engine, Targets

MEMORY = 1 << 30  # bytes of host memory for buffers, if the user does not say
GPU_GROUP = 16 << 20  # bytes in and out of a group that fill a GPU's link
CPU_GROUP = 4 << 20  # ... that outweigh a group's own cost on the CPU
TRIAL = 0.2  # seconds that measuring one size may take, beyond the first groups
DEEPEST = 1024  # groups in flight on a device that may be asked for
GROUPS = 24  # groups of one size that are measured, at most


@dataclass(frozen=True)
class SizeOptions:
    """What the user asks for, checked; None: nothing. ``interval``, ``latency``: seconds; ``memory``: bytes."""

    group: int | None = None
    interval: float | None = None
    depth: int | None = None
    latency: float | None = None
    memory: int | None = None


@dataclass(frozen=True)
class Setup:
    """What runs. ``batched``: which slots come in batches; ``devices``: how many there are; ``depth``: groups in flight
    on each; ``pipes``: (group, depth) -> pipes with that much room, or OutOfRoom; ``usual``: bytes of a group;
    ``copiers``, ``lent``, ``copy``: as for `Engine`; ``rearranged``: pipes copy groups in host memory once more."""

    slots: tuple[Slot, ...]
    batched: tuple[bool, ...]
    layout: str
    devices: int
    depth: int
    pipes: Callable[[int, int], list[Pipe]]
    usual: int
    copiers: int = 1
    lent: int = LENT
    copy: bool = True
    rearranged: bool = False

    def engine(self, group: int, pipes: Sequence[Pipe], targets: Targets | None = None) -> Engine:
        options = (targets, self.copiers, self.lent, self.copy)
        return Engine(self.slots, self.batched, self.layout, group, pipes, *options)

    @property
    def nbytes(self) -> int:
        """Of one input, in and out."""
        return sum(s.nbytes * (batched + s.writes) for s, batched in zip(self.slots, self.batched))

    def cost(self, group: int) -> int:
        """Bytes of host memory for groups of that size."""
        in_flight = self.devices * self.depth
        buffers = Engine.cost(self.slots, self.batched, group, in_flight, self.copiers, self.lent)
        return buffers + (in_flight * group * self.nbytes if self.rearranged else 0)


@dataclass(frozen=True)
class Sized:
    """``setup``: as asked for, or with less in flight if groups are large. ``notices``: what the user should know."""

    setup: Setup
    group: int
    pipes: list[Pipe]
    notices: tuple[str, ...] = ()


@dataclass(frozen=True)
class Point:
    """What was measured for a size of group, with inputs always ready.

    Attributes:
        group: Inputs in a group.
        latency: Seconds that 95 of 100 groups did not exceed.
        rate: Inputs per second.
    """

    group: int
    latency: float
    rate: float


def settings(group: Any, interval: Any, depth: Any, latency: Any, memory: Any) -> SizeOptions:
    """The user's arguments, checked. Raises InputError."""
    try:
        interval, latency = (quantities.seconds(x) if isinstance(x, str) else x for x in (interval, latency))
        memory = quantities.size(memory) if isinstance(memory, str) else memory
    except ValueError as e:
        raise catalogue.BAD_QUANTITY.error(reason=e) from None
    counts = {"group": group, "depth": depth, "memory": memory}
    for name, value in counts.items():
        if isinstance(value, bool):
            raise catalogue.WRONG_KIND.error(argument=name, value=value, expected="a whole number")
        if value is not None and whole(name, value) < 1:
            raise catalogue.LESS_THAN_ONE.error(argument=name, value=value)
    if depth is not None and depth > DEEPEST:
        raise catalogue.TOO_DEEP_A_STREAM.error(depth=depth, most=DEEPEST)
    for name, value in (("interval", interval), ("latency_target", latency)):
        if value is not None and not (isinstance(value, Real) and 0 < float(value) < math.inf):
            raise catalogue.NOT_SECONDS.error(argument=name, value=f"{value!r:.40}")
    if group is not None and latency is not None:
        raise catalogue.GROUP_AND_LATENCY.error()
    return SizeOptions(group, interval, depth, latency, memory)


def sized(setup: Setup, asked: SizeOptions, group: int | None = None) -> Sized:
    """A group's size, and devices that are ready for it. Raises InputError if ``asked.memory`` does not hold it."""
    most = _most(setup, asked.memory)
    if group is None:
        group = max(1, min(setup.usual // max(1, setup.nbytes), most))
    elif asked.memory is not None and group > most:
        raise catalogue.GROUP_TOO_LARGE.error(group=group, need=setup.cost(group), memory=asked.memory, most=most)
    if asked.depth is None and asked.memory is None:
        while setup.depth > 2 and setup.cost(group) > MEMORY:
            setup = replace(setup, depth=setup.depth - 1, copiers=min(setup.copiers, 2), lent=1)
    asked_group = group
    while True:
        try:
            pipes = setup.pipes(group, setup.depth)
            break
        except OutOfRoom as e:
            if group == 1:
                raise catalogue.DEVICE_MEMORY.error(what=f"one input: {e}") from None
            group = -(-group // 2)
    notices = ()
    if group < asked_group:
        notices = (f"the device has not enough memory for groups of {asked_group} inputs: they have {group}",)
    return Sized(setup, group, pipes, notices)


def _most(setup: Setup, memory: int | None) -> int:
    """The largest group whose buffers fit. One input may take any memory if the user sets no limit. Raises InputError
    if not one input fits."""
    if memory is None:
        return max(1, MEMORY // max(1, setup.cost(1)))
    most = memory // max(1, setup.cost(1))
    if most < 1:
        raise catalogue.MEMORY_TOO_SMALL.error(memory=memory, need=setup.cost(1), depth=setup.depth)
    return most


def curve(setup: Setup, asked: SizeOptions, sample: Arrays, count: int) -> list[Point]:
    """Latency and rate of sizes that are powers of two, measured on the sample's ``count`` inputs over and over. Ends
    where the latency is past the target and grows with the group."""
    assert asked.latency is not None
    most = _most(setup, asked.memory)
    points: list[Point] = []
    group = min(64, most)
    while group <= most and (len(points) < 2 or min(p.latency for p in points[-2:]) <= asked.latency):
        try:
            pipes = setup.pipes(group, setup.depth)
        except OutOfRoom:
            if points or group == 1:
                break
            group //= 2
            continue
        points.append(_measured(setup, pipes, group, _tiled(sample, count, group, setup.layout)))
        group *= 2
    return points


def within(points: Sequence[Point], target: float) -> tuple[int, tuple[str, ...]]:
    """The largest group that meets the target, or the one that comes nearest to it; and what the user should know."""
    if not points:
        return 1, ()  # the device has no room: `sized` says so
    groups = [p.group for p in points if p.latency <= target]
    if groups:
        return max(groups), ()
    best = min(points, key=lambda p: p.latency)
    took = f"{best.group} inputs take {1e3 * best.latency:.3g} ms"
    return best.group, (f"no group meets a latency of {1e3 * target:g} ms: {took}",)


def _tiled(sample: Arrays, count: int, group: int, layout: str) -> Arrays:
    index = numpy.arange(group) % max(1, count)
    return tuple(None if a is None else numpy.take(a, index, axis=0 if layout == "row" else -1) for a in sample)


def _measured(setup: Setup, pipes: list[Pipe], group: int, batch: Arrays) -> Point:
    engine = setup.engine(group, pipes)
    in_flight = setup.depth * len(pipes)
    began = time.perf_counter()

    def batches() -> Iterator[Any]:
        for k in range(GROUPS + 3 * in_flight):
            if k > 4 * in_flight and time.perf_counter() - began > TRIAL:
                return
            yield batch

    latencies, times = [], []
    engine.start(Batcher(batches(), lambda b: (b, group), setup.layout, group, None, engine, False))
    try:
        while (done := engine.result()) is not None:
            engine.release(done)
            latencies.append(done.latency)
            times.append(time.perf_counter())
    finally:
        engine.close()
    steady = latencies[in_flight:]  # the first groups wait for what is made once
    rate = group * (len(steady) - 1) / max(1e-9, times[-1] - times[in_flight])
    high = statistics.quantiles(steady, n=20)[-1] if len(steady) > 1 else steady[0]
    return Point(group, min(high, max(steady)), rate)

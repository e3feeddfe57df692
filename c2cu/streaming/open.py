"""`c2cu.stream`: any number of inputs, results in order, memory bounded. The engine is in streaming/."""

from __future__ import annotations

import threading
import time
import warnings
import weakref
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain
from typing import Any, Protocol

import numpy

from .. import backends
from ..base.diagnostics import InputError, InputTypeError, lines_of
from ..frontend.options import by_name, whole
from ..runtime import arrays
from ..runtime.pipe import Pipe, Span
from ..schedule.artifact import Slot, piece
from . import closer, sizing
from .batcher import Feed, batches_of
from .batches import Batches, Count, regrouped
from .channel import Closed
from .copying import copiers
from .engine import LENT, Engine, Targets

DEPTH = 4  # groups in flight on a GPU: one comes in, one is computed, one goes out, one is ready


class Compiled(Protocol):
    """What a stream wants of a compiled program: see `c2cu.Program`."""

    @property
    def layout(self) -> str: ...

    @property
    def sources(self) -> Mapping[str, str]: ...

    def named(self, inputs: Any) -> Mapping[str, Any]: ...

    def built_for(self, given: Mapping[str, Any], shared: frozenset[str]) -> Any: ...

    def __call__(self, inputs: Any, *, shared: Any, p: int | None = None, devices: Any = None) -> Any: ...


class StreamWarning(UserWarning):
    """Something went wrong on a device, and was made good."""


class Result(numpy.ndarray):
    """A group's output. ``first``: the number of its first input; ``latency``: seconds since that arrived."""

    first: int | None = None
    latency: float | None = None


class Results(dict[str, Any]):
    """A group's outputs by name. ``first``, ``latency``: as for `Result`."""

    first: int
    latency: float


Group = tuple[int, int, float, list[Any]]  # first input, how many, latency, outputs
_NOTHING = object()


@dataclass(frozen=True)
class Inner:
    """What `in_groups` asks for. ``targets``: arrays for the outputs of inputs from one on, used where a device can
    write to them; ``lent``: groups of results that the consumer may hold without a copy."""

    targets: Targets | None = None
    lent: int = LENT


class Stream:
    """Results in order: iterate over it. Also a context manager, whose end, like `close`, gives all memory back.

    ``group``: inputs a group; ``depth``: groups in flight a device; ``devices``: their names; ``memory``: bytes of
    host memory for buffers, at most; ``device_memory``: bytes on devices, all together; ``latencies``: of the latest
    groups, in seconds; ``curve``: what each size of group gave, as measured for a ``latency_target``.
    """

    group = 0
    depth = 0
    memory = 0
    device_memory = 0
    devices: tuple[str, ...] = ()
    curve: tuple[sizing.Point, ...] = ()

    def __init__(
        self, results: Iterator[Group], names: Sequence[str], engine: Engine | None = None, pipes: Sequence[Pipe] = ()
    ):
        self._results, self._names, self._engine, self._pipes = results, names, engine, tuple(pipes)
        self._one = threading.Lock()  # several threads may iterate: each result goes to one of them
        self.latencies: deque[float] = deque(maxlen=1 << 16)
        self._forgotten = None
        if engine is not None:
            closer.watch(engine)
            self._forgotten = weakref.finalize(self, closer.soon, engine)
            self._forgotten.atexit = False

    def __iter__(self) -> Stream:
        return self

    def __next__(self) -> Any:
        with self._one:
            try:
                first, _, latency, outputs = next(self._results)
            except BaseException:
                self._over()
                raise
        self.latencies.append(latency)
        result = _plain(outputs[0]) if len(outputs) == 1 else Results(zip(self._names, outputs))
        if isinstance(result, Result | Results):
            result.first, result.latency = first, latency
        return result

    def groups(self) -> Iterator[Group]:
        """The results as (first input, how many, latency, outputs in the order of the C)."""
        return self._results

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End all threads and give memory back; results that were handed out stay good. Waits for groups in flight."""
        engine, self._engine = self._engine, None
        if engine is not None and self._forgotten is not None:
            self._forgotten.detach()
            engine.close()

    def _over(self) -> None:
        """Close, without waiting for a device that is still at work."""
        if self._engine is None or self._engine.settled:
            self.close()
        elif self._forgotten is not None:
            self._engine = None
            self._forgotten()

    def spans(self) -> list[Span]:
        """What devices did when, with ``timeline=True``."""
        return [span for pipe in self._pipes for span in pipe.spans()]


def _plain(output: Any) -> Any:
    return output.view(Result) if isinstance(output, numpy.ndarray) else output


def open_stream(
    program: Compiled,
    batches: Any,
    *,
    shared: Mapping[str, Any] | None = None,
    p: int | None = None,
    group: int | None = None,
    interval: float | str | None = None,
    depth: int | None = None,
    latency_target: float | str | None = None,
    devices: Sequence[int] | None = None,
    memory: int | str | None = None,
    timeline: bool = False,
    copy: bool = True,
    inner: Inner = Inner(),
) -> Stream:
    """`stream` for a compiled program. ``p``: how many inputs, where no batch tells: ``batches`` is None then."""
    limits = sizing.limits(group, interval, depth, latency_target, memory)
    fixed = dict(by_name("shared", shared))
    if batches is None and p is None:
        raise InputTypeError("C2CU044", "batches is None", None, "give arrays, or an iterable of them")
    if batches is None:
        batches = [Count(whole("p", p))] if p else []
    iterator, one = batches_of(batches)
    first = next(iterator, _NOTHING)
    if first is _NOTHING:
        return Stream(iter(()), ())
    how = _How(limits, devices, timeline, copy and not one, inner)
    with lines_of(program.sources):
        return _opened(program, first, iterator, fixed, how)


@dataclass(frozen=True)
class _How:
    """What was asked for. ``copy``: whether batches may change when the next one is asked for."""

    limits: sizing.SizeOptions
    devices: Sequence[int] | None
    timeline: bool
    copy: bool
    inner: Inner


def _opened(program: Compiled, first: Any, rest: Iterator[Any], shared: dict[str, Any], how: _How) -> Stream:
    given = {} if isinstance(first, Count) else program.named(first)
    built = program.built_for({**given, **shared}, frozenset(shared))
    if built.artifact.bands is not None:
        return _in_bands(
            program, chain((first,), rest), Batches(built.artifact.slots, program.layout, given, shared), how
        )
    backend, layout, limits = built.plan.backend, program.layout, how.limits
    if how.devices is not None and backend == "cpu":
        raise InputError("C2CU058", "devices are GPUs, but the backend is cpu", None, "leave devices out")
    check = Batches(built.artifact.slots, layout, given, shared)
    sample = check.arrays(first)
    everything = chain((first,), rest)
    if backend == "cuda" and any(arrays.on_device(a) for a in given.values()):
        return _on_device(program, everything, check, shared, limits)
    backends.refuse_device_arrays(given)

    def ready(group: int, depth: int) -> list[Pipe]:
        which = (check.fixed, check.given, group, depth, how.devices, how.timeline)
        return backends.pipes(built.artifact, built.loaded, layout, *which)

    devices = backends.count_devices(backend, how.devices)
    gpu = backend == "cuda"
    job = sizing.Job(
        check.slots,
        check.given,
        layout,
        devices,
        limits.depth or (DEPTH if gpu else 2),
        ready,
        devices * (sizing.GPU_GROUP if gpu else sizing.CPU_GROUP),
        copiers() if gpu else 1,
        how.inner.lent,
        how.copy,
        apart=not gpu and layout == "column",
    )
    curve: Sequence[sizing.Point] = ()
    group, notices = limits.group, []
    if limits.latency is not None and sample[1]:
        curve = sizing.curve(job, limits, *sample)
        group, said = sizing.within(curve, limits.latency)
        notices += [said] if said else []
    chosen = sizing.sized(job, limits, group)
    engine = chosen.job.engine(chosen.group, chosen.pipes, how.inner.targets)
    engine.start(Feed(everything, check, layout, chosen.group, limits.interval, engine, how.copy))
    s = Stream(_results(engine), check.outputs, engine, chosen.pipes)
    s.group, s.depth, s.curve = chosen.group, chosen.job.depth, tuple(curve)
    s.memory, s.device_memory = chosen.memory, sum(x.memory for x in chosen.pipes)
    s.devices = tuple(x.name for x in chosen.pipes)
    for notice in (*notices, *chosen.notices):
        warnings.warn(notice, StreamWarning, stacklevel=4)
    return s


def in_groups(program: Compiled, slots: tuple[Slot, ...], given: Mapping[str, Any], out: Any, p: int) -> Any:
    """A bulk run of ``p`` inputs in host arrays on the current GPU, group by group: copies and kernels overlap, and it
    need not fit. Returns what `bulk` returns."""
    from ..runtime import cuda

    fixed = {s.name for s in slots if s.shared}
    chosen = arrays.targets(slots, out, program.layout, p)
    written = (s for s in slots if s.writes)
    results = {s.name: chosen[s.name] if s.name in chosen else arrays.empty(s, p, program.layout) for s in written}

    def part(first: int, count: int) -> list[Any]:
        where = piece(program.layout, first, first + count)
        return [results[s.name][where] if s.writes else None for s in slots]

    batch = {n: v for n, v in given.items() if n not in fixed}
    shared = {n: v for n, v in given.items() if n in fixed}

    def copies(first: int, count: int, outputs: list[Any]) -> list[tuple[numpy.ndarray, numpy.ndarray]]:
        pairs = zip((t for t in part(first, count) if t is not None), outputs)
        return [(target, found) for target, found in pairs if target.ctypes.data != found.ctypes.data]

    def keep(pairs: list[tuple[numpy.ndarray, numpy.ndarray]]) -> None:
        for target, found in pairs:
            numpy.copyto(target, found)

    n = copiers()
    with (
        open_stream(program, batch, shared=shared, devices=[cuda.current()], inner=Inner(part, n + 1)) as s,
        ThreadPoolExecutor(n, thread_name_prefix="c2cu-keep") as pool,
    ):
        waiting: deque[Future[None]] = deque()
        for first, count, _, outputs in s.groups():
            pairs = copies(first, count, outputs)
            if pairs and len(waiting) == n:
                waiting.popleft().result()
            if pairs:
                waiting.append(pool.submit(keep, pairs))
            del outputs, pairs  # their memory is the next groups'
        for done in waiting:
            done.result()
    return results if len(results) > 1 else next(iter(results.values()))


def _results(engine: Engine) -> Iterator[Group]:
    while True:
        try:
            done = engine.result()
        except Closed:
            return
        except BaseException:
            _warn(engine)
            raise
        if done is None:
            _warn(engine)
            return
        yield done.first, done.count, done.latency, engine.hand_over(done)
        _warn(engine)


def _warn(engine: Engine) -> None:
    for notice in engine.notices():
        warnings.warn(notice, StreamWarning, stacklevel=4)


def _in_bands(program: Compiled, batches: Iterator[Any], check: Batches, how: _How) -> Stream:
    """Matrices that do not fit a GPU: one after the other, all GPUs at each."""
    if how.limits.group not in (None, 1) or how.limits.interval or how.limits.latency:
        raise InputError("C2CU058", "gep:bands works at one matrix at a time", None, "leave group and interval out")
    devices = backends.ordinals(how.devices)
    shared = {s.name: a for s, a in zip(check.slots, check.fixed) if a is not None}

    def results() -> Iterator[Group]:
        first = 0
        for batch in batches:
            arrived = time.perf_counter()
            parts, count = check(batch)
            for k in range(count):
                where = piece(program.layout, k, k + 1)
                named = {s.name: a[where] for s, a in zip(check.slots, parts) if a is not None}
                found = program(named, shared=shared, p=1, devices=devices)
                outputs = list(found.values()) if isinstance(found, dict) else [found]
                yield first, 1, time.perf_counter() - arrived, outputs
                first += 1

    s = Stream(results(), check.outputs)
    s.group, s.devices = 1, tuple(f"cuda:{d}" for d in devices)
    return s


def _on_device(
    program: Compiled, batches: Iterator[Any], check: Batches, shared: dict[str, Any], limits: sizing.SizeOptions
) -> Stream:
    """Arrays on a GPU stay there: group by group on the current CUDA stream, nothing waits for the host."""
    if limits.interval or limits.latency:
        raise InputError("C2CU058", "interval and latency_target are for arrays on the host", None, "leave them out")

    def results() -> Iterator[Group]:
        first = 0
        for parts, arrived in regrouped(batches, check, limits.group, program.layout):
            named = {s.name: a for s, a in zip(check.slots, parts) if a is not None}
            found = program(named, shared=shared)
            outputs = list(found.values()) if isinstance(found, dict) else [found]
            count = int(outputs[0].shape[0 if program.layout == "row" else -1])
            yield first, count, time.perf_counter() - arrived, outputs
            first += count

    s = Stream(results(), check.outputs)
    s.group = limits.group or 0
    return s

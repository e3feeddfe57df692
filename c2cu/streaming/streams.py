"""`c2cu.stream`: any number of inputs through bounded memory, with results in order."""

from __future__ import annotations

import threading
import time
import weakref
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain
from typing import Any, Protocol

import numpy

from .. import backends
from ..base import catalogue
from ..base.diagnostics import lines_of
from ..base.memory import enough_memory, require_memory
from ..base.notices import warn
from ..frontend.options import by_name, whole
from ..runtime import arrays
from ..runtime.pipe import Pipe, Span
from ..schedule.artifact import CudaBandsArtifact
from ..schedule.slots import Slot, piece
from . import closer, sizing
from .batcher import Batcher, iterator_of
from .batches import BatchCheck, CountOnly, regrouped
from .channel import Closed
from .copying import count_copiers
from .engine import LENT, Engine, Targets
from .verifying import VerifyingPipe

GPU_DEPTH = 4  # groups in flight on a GPU: one comes in, one is computed, one goes out, one is ready
CPU_DEPTH = 2  # one is computed, one is ready


class CompiledProgram(Protocol):
    """What a stream needs of a compiled program: see `c2cu.Program`."""

    @property
    def layout(self) -> str: ...

    @property
    def sources(self) -> Mapping[str, str]: ...

    def named(self, inputs: Any) -> Mapping[str, Any]: ...

    def built_for(self, arguments: Mapping[str, Any], shared: frozenset[str]) -> Any: ...

    def prove(self, named: Mapping[str, Any], shared: Mapping[str, Any]) -> None: ...

    def __call__(self, inputs: Any, *, shared: Any, p: int | None = None, devices: Any = None) -> Any: ...


class StreamWarning(UserWarning):
    """A stream runs otherwise than asked, with complete and exact results.

    Either a device failed, or it has too little memory for the groups, or no size of group meets the latency target.
    """


class Result(numpy.ndarray):
    """The output of one group, where the program has one output: a NumPy array ``(p, *shape)``.

    Attributes:
        first: The number of the group's first input, counted from 0 over the whole stream.
        latency: Seconds from that input's arrival to its result.
    """

    first: int | None = None
    latency: float | None = None


class Results(dict[str, Any]):
    """The outputs of one group, where the program has several: a dict of arrays ``(p, *shape)`` by C name.

    Attributes:
        first: The number of the group's first input, counted from 0 over the whole stream.
        latency: Seconds from that input's arrival to its result.
    """

    first: int
    latency: float


Outputs = tuple[int, int, float, list[Any]]  # of a group: first input, how many, latency, arrays
_NOTHING = object()


@dataclass(frozen=True)
class Inner:
    """What `in_groups` asks for. ``targets``: arrays for a group's outputs, used if a device can write to them;
    ``lent``: groups of results that the consumer may hold without a copy."""

    targets: Targets | None = None
    lent: int = LENT


class Stream:
    """An iterator over the results of a stream, in the order of the inputs; see `stream`.

    It is also a context manager that calls `close` at its end. Iterating raises what `bulk` raises, and what the
    iterable of batches raises.

    Attributes:
        group: Inputs that are run together.
        depth: Groups in flight on each device.
        devices: The names of the devices.
        memory: Bytes of host memory that buffers take at most.
        device_memory: Bytes that buffers take on all devices together.
        latencies: Seconds from arrival to result, of the latest groups.
        curve: The latency and the rate measured for each size of group; empty without ``latency_target``.
    """

    group = 0
    depth = 0
    memory = 0
    device_memory = 0
    devices: tuple[str, ...] = ()
    curve: tuple[sizing.Point, ...] = ()

    def __init__(
        self, results: Iterator[Outputs], names: Sequence[str], engine: Engine | None = None, pipes: Sequence[Pipe] = ()
    ):
        self._results, self._names, self._engine, self._pipes = results, names, engine, tuple(pipes)
        self._one = threading.Lock()  # several threads may iterate: each result goes to one of them
        self.latencies: deque[float] = deque(maxlen=1 << 16)
        self._dropped = None
        if engine is not None:
            closer.watch(engine)
            self._dropped = weakref.finalize(self, closer.soon, engine)
            self._dropped.atexit = False

    def __iter__(self) -> Stream:
        return self

    def __next__(self) -> Any:
        with self._one:
            try:
                with enough_memory():
                    first, _, latency, outputs = next(self._results)
            except BaseException:
                self.close()
                raise
        self.latencies.append(latency)
        result = _plain(outputs[0]) if len(outputs) == 1 else Results(zip(self._names, outputs))
        if isinstance(result, Result | Results):
            result.first, result.latency = first, latency
        return result

    def outputs(self) -> Iterator[Outputs]:
        """The results as tuples: number of the first input, how many inputs, latency in seconds, outputs in the order
        of the C."""
        return self._results

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Wait for groups in flight, end all threads and free the buffers. Results that were handed out stay valid."""
        engine, self._engine = self._engine, None
        if engine is not None and self._dropped is not None:
            self._dropped.detach()
            engine.close()

    def spans(self) -> list[Span]:
        """What each device did, and when.

        Returns:
            A `Span` for each copy to a device, kernel and copy back; an empty list without ``timeline=True``.
        """
        return [span for pipe in self._pipes for span in pipe.spans()]


def _plain(output: Any) -> Any:
    return output.view(Result) if isinstance(output, numpy.ndarray) else output


@dataclass(frozen=True)
class _Options:
    """``copy``: whether batches may be written to when the next one is asked for."""

    settings: sizing.SizeOptions
    devices: Sequence[int] | None
    timeline: bool
    copy: bool
    inner: Inner


def open_stream(
    program: CompiledProgram,
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
    """`c2cu.stream` for a compiled program. ``p``: how many inputs there are if ``batches`` is None, for a program that
    takes no arrays."""
    settings = sizing.settings(group, interval, depth, latency_target, memory)
    constants = dict(by_name("shared", shared))
    if batches is None and p is None:
        raise catalogue.NOT_BATCHES.error(type="NoneType")
    if batches is None:
        batches = [CountOnly(whole("p", p))] if p else []
    iterator, is_one = iterator_of(batches)
    first = next(iterator, _NOTHING)
    if first is _NOTHING:
        return Stream(iter(()), ())
    options = _Options(settings, devices, timeline, copy and not is_one, inner)
    with lines_of(program.sources), enough_memory():
        return _opened(program, first, iterator, constants, options)


def _opened(
    program: CompiledProgram, first: Any, rest: Iterator[Any], shared: dict[str, Any], options: _Options
) -> Stream:
    named = {} if isinstance(first, CountOnly) else program.named(first)
    if options.inner.targets is None:  # else they belong to a call that is verified itself
        program.prove(named, shared)
    built = program.built_for({**named, **shared}, frozenset(shared)).trusted
    batches = chain((first,), rest)
    check = BatchCheck(built.artifact.slots, program.layout, named, shared)
    if isinstance(built.artifact, CudaBandsArtifact):
        return _in_bands(program, batches, check, options)
    backend = built.plan.backend
    if options.devices is not None and backend == "cpu":
        raise catalogue.DEVICES_ON_CPU.error()
    sample = check.arrays(first)
    if backend == "cuda" and any(arrays.on_device(a) for a in named.values()):
        return _on_device(program, batches, check, shared, options.settings)
    backends.refuse_device_arrays(named)
    return _through_engine(built, _setup(built, program.layout, check, options), batches, check, sample, options)


def _setup(built: Any, layout: str, check: BatchCheck, options: _Options) -> sizing.Setup:
    is_gpu = built.plan.backend == "cuda"
    devices = backends.count_devices(built.plan.backend, options.devices)

    def pipes(group: int, depth: int) -> list[Pipe]:
        room = (check.fixed, check.batched, group, depth, options.devices, options.timeline)
        opened = backends.pipes(built.artifact, built.loaded, layout, *room)
        if not _verifies_all(built, options):
            return opened
        return [VerifyingPipe(pipe, built.proof, layout, check.slots, check.fixed) for pipe in opened]

    return sizing.Setup(
        check.slots,
        check.batched,
        layout,
        devices,
        options.settings.depth or (GPU_DEPTH if is_gpu else CPU_DEPTH),
        pipes,
        devices * (sizing.GPU_GROUP if is_gpu else sizing.CPU_GROUP),
        count_copiers() if is_gpu else 1,
        options.inner.lent,
        options.copy,
        rearranged=not is_gpu and layout == "column",
    )


def _verifies_all(built: Any, options: _Options) -> bool:
    """Whether each group is compared with native's results. Groups of a call are not: it is verified itself."""
    return built.proof is not None and built.proof.how == "all" and options.inner.targets is None


def _through_engine(
    built: Any,
    setup: sizing.Setup,
    batches: Iterator[Any],
    check: BatchCheck,
    sample: tuple[Any, int],
    options: _Options,
) -> Stream:
    settings = options.settings
    curve: Sequence[sizing.Point] = ()
    group, notices = settings.group, ()
    if settings.latency is not None and sample[1]:
        curve = sizing.curve(setup, settings, *sample)
        group, notices = sizing.within(curve, settings.latency)
    sized = sizing.sized(setup, settings, group)
    engine = sized.setup.engine(sized.group, sized.pipes, options.inner.targets)
    engine.start(Batcher(batches, check, setup.layout, sized.group, settings.interval, engine, options.copy))
    stream = Stream(_results(engine, built.proof), check.outputs, engine, sized.pipes)
    stream.group, stream.depth, stream.curve = sized.group, sized.setup.depth, tuple(curve)
    stream.memory, stream.device_memory = sized.setup.cost(sized.group), sum(x.memory for x in sized.pipes)
    stream.devices = tuple(x.name for x in sized.pipes)
    for notice in (*notices, *sized.notices):
        warn(StreamWarning(notice))
    return stream


def _results(engine: Engine, proof: Any) -> Iterator[Outputs]:
    while True:
        try:
            done = engine.result()
        except Closed:
            return
        except BaseException:
            _warn(engine, proof)
            raise
        if done is None:
            _warn(engine, proof)
            return
        yield done.first, done.count, done.latency, engine.hand_over(done)
        _warn(engine, proof)


def _warn(engine: Engine, proof: Any) -> None:
    """``proof``: a `program.verify.Verification`, None where nothing is verified."""
    if proof is not None:
        proof.tell()
    for notice in engine.notices():
        warn(StreamWarning(notice))


def in_groups(program: CompiledProgram, slots: tuple[Slot, ...], arguments: Mapping[str, Any], out: Any, p: int) -> Any:
    """A bulk run of ``p`` inputs in host arrays on the current GPU, group by group: copies and kernels overlap, and the
    arrays need not fit into the GPU's memory. Returns what `bulk` returns."""
    from ..runtime import cuda

    shared_names = {s.name for s in slots if s.shared}
    targets = arrays.targets(slots, out, program.layout, p)
    written = [s for s in slots if s.writes]
    require_memory(sum(p * s.nbytes for s in written if s.name not in targets))
    results = {s.name: targets[s.name] if s.name in targets else arrays.empty(s, p, program.layout) for s in written}

    def targets_of(first: int, count: int) -> list[Any]:
        where = piece(program.layout, first, first + count)
        return [results[s.name][where] if s.writes else None for s in slots]

    def copy_each(pairs: list[tuple[numpy.ndarray, numpy.ndarray]]) -> None:
        for target, output in pairs:
            numpy.copyto(target, output)

    batch = {n: v for n, v in arguments.items() if n not in shared_names}
    shared = {n: v for n, v in arguments.items() if n in shared_names}
    n = count_copiers()
    with (
        open_stream(program, batch, shared=shared, devices=[cuda.current()], inner=Inner(targets_of, n + 1)) as stream,
        ThreadPoolExecutor(n, thread_name_prefix="c2cu-copy-out") as pool,
    ):
        copies: deque[Future[None]] = deque()
        for first, count, _, outputs in stream.outputs():
            pairs = zip((t for t in targets_of(first, count) if t is not None), outputs)
            apart = [(target, output) for target, output in pairs if target.ctypes.data != output.ctypes.data]
            if apart and len(copies) == n:
                copies.popleft().result()
            if apart:
                copies.append(pool.submit(copy_each, apart))
            del outputs, pairs, apart  # their memory is the next groups'
        for copy in copies:
            copy.result()
    return results if len(results) > 1 else next(iter(results.values()))


def _in_bands(program: CompiledProgram, batches: Iterator[Any], check: BatchCheck, options: _Options) -> Stream:
    """Matrices that do not fit a GPU: one after the other, all GPUs at each."""
    settings = options.settings
    if settings.group not in (None, 1) or settings.interval or settings.latency:
        raise catalogue.BANDS_GROUP.error()
    devices = backends.ordinals(options.devices)
    shared = {s.name: a for s, a in zip(check.slots, check.fixed) if a is not None}

    def results() -> Iterator[Outputs]:
        first = 0
        for batch in batches:
            arrived = time.perf_counter()
            parts, count = check(batch)
            for k in range(count):
                where = piece(program.layout, k, k + 1)
                named = {s.name: a[where] for s, a in zip(check.slots, parts) if a is not None}
                outputs = _listed(program(named, shared=shared, p=1, devices=devices))
                yield first, 1, time.perf_counter() - arrived, outputs
                first += 1

    stream = Stream(results(), check.outputs)
    stream.group, stream.devices = 1, tuple(f"cuda:{d}" for d in devices)
    return stream


def _on_device(
    program: CompiledProgram,
    batches: Iterator[Any],
    check: BatchCheck,
    shared: dict[str, Any],
    settings: sizing.SizeOptions,
) -> Stream:
    """Arrays on a GPU stay there: group by group on the current CUDA stream, and nothing waits for the host."""
    if settings.interval or settings.latency:
        raise catalogue.INTERVAL_ON_DEVICE.error()

    def results() -> Iterator[Outputs]:
        first = 0
        for parts, arrived in regrouped(batches, check, settings.group, program.layout):
            named = {s.name: a for s, a in zip(check.slots, parts) if a is not None}
            outputs = _listed(program(named, shared=shared))
            count = int(outputs[0].shape[0 if program.layout == "row" else -1])
            yield first, count, time.perf_counter() - arrived, outputs
            first += count

    stream = Stream(results(), check.outputs)
    stream.group = settings.group or 0
    return stream


def _listed(results: Any) -> list[Any]:
    return list(results.values()) if isinstance(results, dict) else [results]

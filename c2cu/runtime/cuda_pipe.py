"""A GPU as a stream's device: copy in, kernel and copy out on streams of their own, several groups in flight.

Thesis, section 4.5 and figure 4.14. Everything a group needs on the device is allocated once.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy

from ..schedule.artifact import Artifact
from ..schedule.slots import Slot
from .cuda import cupy_module, pinned, uploaded
from .launch import load
from .pinned_memory import PINNED
from .pipe import OutOfRoom, Span, sides

SPANS = 4096  # the latest ones are kept


@dataclass(eq=False)
class _DeviceBuffers:
    """Device memory for one group. ``staged``: by slot, the bytes that are copied, in the user's layout; ``tables``:
    the launches that run the group, each with its first input."""

    staged: tuple[list[Any], list[Any]]  # in, out
    batches: tuple[list[Any], list[Any]]  # the same, batch-first: what kernels see
    tables: list[tuple[int, Any]]
    events: dict[str, Any]
    number: int = 0
    count: int = 0


class CudaPipe:
    """See `runtime.pipe.Pipe`. ``device``: its ordinal; ``shared``: what all inputs share, one host array a slot or
    None; ``batched``: which slots go in with each group; ``timeline``: whether to record spans. Raises OutOfRoom."""

    def __init__(
        self,
        artifact: Artifact,
        device: int,
        group: int,
        depth: int,
        layout: str,
        shared: Sequence[Any],
        batched: Sequence[bool],
        timeline: bool = False,
    ):
        self.cupy = cupy_module()
        self.name, self.depth = f"cuda:{device}", depth
        self._device, self._layout, self._timeline = self.cupy.cuda.Device(device), layout, timeline
        self._spans: deque[Span] = deque(maxlen=SPANS)
        self._started = 0
        with self._device:
            before = self.cupy.get_default_memory_pool().used_bytes()
            self._program = load(artifact)
            self._in, self._run, self._out = (self.cupy.cuda.Stream(non_blocking=True) for _ in range(3))
            try:
                self._shared = [None if s is None else uploaded(s) for s in shared]
                self._turn, self._working = self._program.working(group)
                self._buffers = [self._allocated(group, batched) for _ in range(depth)]
            except self.cupy.cuda.memory.OutOfMemoryError as e:
                raise OutOfRoom(str(e)) from None
            self.cupy.cuda.get_current_stream().synchronize()  # the uploads
            self.memory = self.cupy.get_default_memory_pool().used_bytes() - before
            self._base = self.cupy.cuda.Event()
            self._base.record(self._in)

    def allocate(self, nbytes: int) -> numpy.ndarray:
        with self._device:
            return PINNED.take(nbytes)

    def direct(self, array: Any) -> bool:
        with self._device:
            return isinstance(array, numpy.ndarray) and array.flags.c_contiguous and pinned(array)

    def start(self, number: int, inputs: Sequence[Any], outputs: Sequence[Any], count: int) -> _DeviceBuffers:
        b = self._buffers[self._started % self.depth]  # free: groups are finished in order, at most ``depth`` in flight
        self._started += 1
        b.number, b.count = number, count
        events = b.events
        with self._device:
            self._mark(events, "in", self._in)
            for host, staged in zip(inputs, b.staged[0]):
                if host is not None:
                    self._copy(staged.data.ptr, host.ctypes.data, host.nbytes, self._in)
            events["arrived"].record(self._in)
            self._run.wait_event(events["arrived"])
            with self._run:
                self._mark(events, "kernel", self._run)
                self._transposed(b.staged[0], b.batches[0], count, to_batches=True)
                for first, table in b.tables:
                    if first < count:
                        self._program.go(table, min(count - first, self._turn), self._working)
                self._transposed(b.staged[1], b.batches[1], count, to_batches=False)
                events["computed"].record(self._run)
            self._out.wait_event(events["computed"])
            self._mark(events, "out", self._out)
            for host, staged in zip(outputs, b.staged[1]):
                if host is not None:
                    self._copy(host.ctypes.data, staged.data.ptr, host.nbytes, self._out)
            events["done"].record(self._out)
        return b

    def finish(self, token: _DeviceBuffers) -> None:
        with self._device:
            token.events["done"].synchronize()
            if self._timeline:
                self._record(token)

    def spans(self) -> list[Span]:
        return list(self._spans)

    def close(self) -> None:
        try:
            with self._device:
                for stream in (self._in, self._run, self._out):
                    stream.synchronize()
        finally:
            self._buffers, self._working, self._shared = [], None, []

    def _allocated(self, group: int, batched: Sequence[bool]) -> _DeviceBuffers:
        slots = self._program.artifact.slots
        staged = [[None if s is None else self._empty(group * s.nbytes) for s in x] for x in sides(slots, batched)]
        batches = [[None if x is None else self._batches(x, s, group) for x, s in zip(side, slots)] for side in staged]
        ins = [x if shared is None else shared for x, shared in zip(batches[0], self._shared)]
        tables = [(first, self._program.table(ins, batches[1], first)) for first in range(0, group, self._turn)]
        names = ("arrived", "computed", "done", *(("in", "kernel", "out") if self._timeline else ()))
        events = {n: self.cupy.cuda.Event(disable_timing=not self._timeline) for n in names}
        return _DeviceBuffers((staged[0], staged[1]), (batches[0], batches[1]), tables, events)

    def _empty(self, nbytes: int) -> Any:
        return self.cupy.zeros(max(1, nbytes), numpy.uint8)  # zeros: what lies between a struct's members goes out too

    def _batches(self, staged: Any, slot: Slot, group: int) -> Any:
        """Batch-first bytes of a slot: the staged ones, if they are."""
        flat = self._empty(group * slot.nbytes) if self._apart(slot) else staged
        return flat[: group * slot.nbytes].reshape(group, slot.nbytes)

    def _apart(self, slot: Slot) -> bool:
        return self._layout == "column" and bool(slot.shape)

    def _transposed(self, staged: list[Any], batches: list[Any], count: int, to_batches: bool) -> None:
        """Between (elements, p, bytes) and (p, elements, bytes)."""
        for flat, batch, slot in zip(staged, batches, self._program.artifact.slots):
            if flat is None or not self._apart(slot):
                continue
            t = numpy.dtype(slot.dtype)
            size = t.itemsize
            kind = t if t.kind in "iuf" else numpy.dtype(numpy.uint8)
            inner = () if kind == t else (size,)
            columns = flat[: count * slot.nbytes].view(kind).reshape(slot.nbytes // size, count, *inner)
            rows = batch.reshape(-1)[: count * slot.nbytes].view(kind).reshape(count, slot.nbytes // size, *inner)
            if to_batches:
                rows[...] = columns.swapaxes(0, 1)
            else:
                columns[...] = rows.swapaxes(0, 1)

    def _copy(self, target: int, source: int, nbytes: int, stream: Any) -> None:
        runtime = self.cupy.cuda.runtime
        runtime.memcpyAsync(target, source, nbytes, runtime.memcpyDefault, stream.ptr)

    def _mark(self, events: dict[str, Any], name: str, stream: Any) -> None:
        if self._timeline:
            events[name].record(stream)

    def _record(self, b: _DeviceBuffers) -> None:
        ends = (("in", "arrived"), ("kernel", "computed"), ("out", "done"))
        for stage, end in ends:
            start, stop = (self._since(b.events[e]) for e in (stage, end))
            self._spans.append(Span(b.number, self.name, stage, start, stop))

    def _since(self, event: Any) -> float:
        return 1e-3 * self.cupy.cuda.get_elapsed_time(self._base, event)

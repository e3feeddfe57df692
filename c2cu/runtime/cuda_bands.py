"""A matrix in bands of rows, on one device that it does not fit, or on several: see `schedule.gep.bands_plan`.

Each stream of each device has a host thread of its own, which enqueues the stream's tasks in the plan's order: it waits
until the tasks that a task depends on are enqueued, makes its stream wait for their events, and enqueues the task.
Arrays in page-locked memory are copied directly, others by way of a few page-locked buffers.

Kernels have the memory's address, a room and a band before the ints that the plan lists.
"""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Sequence
from typing import Any

import numpy

from ..base import catalogue
from ..schedule.artifact import CudaBandsArtifact, CudaLaunchesArtifact, Launch
from ..schedule.gep import bands_plan
from ..schedule.gep.bands_plan import IN, RUN, Sizes, Task
from .cuda import CudaProgram, cupy_module, free_bytes, pinned
from .cuda_bands_host import Pieces, Side, exceeds, side_of

FILLED = 0.9  # of a device's free memory
KERNELS = ("c2cu_pack", "c2cu_pivot", "c2cu_panels", "c2cu_rest", "c2cu_unpack")
MOVED = "row k or column k changes in its own step (in a shortest-path program: a negative cycle)"


class CudaBandsProgram:
    """A `CudaBandsArtifact`. ``limit``: bytes that it may take of each device, else most of what is free.

    ``sizes``: of the last run; ``redone``: how many of its inputs were given to the CPU.
    """

    drawback = ""

    def __init__(self, artifact: CudaBandsArtifact, limit: int | None = None):
        self.artifact, self.bands, self.limit = artifact, artifact.bands, limit
        self.sizes: Sizes | None = None
        self.redone = 0
        self._lock = threading.Lock()  # a run takes most of the memory
        self._programs: dict[tuple[int, Sizes, bool], CudaProgram] = {}

    @property
    def compile_seconds(self) -> float:
        return sum(p.compile_seconds for p in self._programs.values())

    @property
    def resources(self) -> dict[str, dict[str, int]]:
        return next((p.resources for p in reversed(self._programs.values())), {})

    def run(self, inputs: Sequence[Any], outputs: Sequence[Any], p: int, devices: Sequence[int] | None = None) -> None:
        """Do p inputs, one after the other: one host array or None for each slot, batch-first and contiguous. An
        output's memory may be an input's. ``devices``: which work at it, else the current one. Raises CompileError
        where they have not enough memory, and for an input that was overwritten before it was found that it must be
        done in the order of the C program."""
        chosen = _chosen(devices)
        inputs = [a if a is None or p == 1 else _apart(a, outputs) for a in inputs]
        with self._lock:
            self.redone = 0
            for k in range(p):
                pairs = zip(inputs, self.artifact.slots)
                input_ = [None if a is None else a if s.shared else a[k : k + 1] for a, s in pairs]
                self._one(input_, [None if a is None else a[k : k + 1] for a in outputs], chosen)

    def prepare(self, devices: Sequence[int] | None = None) -> Sizes:
        """Compile what a run on these devices would, as much memory as they have now."""
        chosen = _chosen(devices)
        s = self._sized(chosen)
        for d in chosen:
            with cupy_module().cuda.Device(d):
                self.program(d, s)
        return s

    def _one(self, inputs: Sequence[Any], outputs: Sequence[Any], devices: list[int]) -> None:
        sides = [side_of(m, self.bands, inputs[m.slot], outputs[m.slot], inputs) for m in self.bands.matrices]
        s = self._sized(devices)
        while s.bands(self.bands) < len(devices):  # what has no band has nothing to do
            devices = devices[: s.bands(self.bands)]
            s = self._sized(devices)
        unfit = any(exceeds(x.source, self.bands.most) for x in sides if x.matrix.name in self.bands.looked)
        moved = _InputRun(self, s, devices, sides, unfit).go()
        if moved:
            return self._again(inputs, outputs)
        for side in sides:
            if side.apart is not None:
                numpy.copyto(side.apart, side.whole)

    def _sized(self, devices: list[int]) -> Sizes:
        limit = self.limit if self.limit is not None else min(_free(d) for d in devices)
        sizes = bands_plan.sizes(self.bands, len(devices), limit)
        if sizes is None:
            raise catalogue.BANDS_MEMORY.error(limit=limit, columns=self.bands.columns)
        self.sizes = sizes
        return sizes

    def _again(self, inputs: Sequence[Any], outputs: Sequence[Any]) -> None:
        """The whole input on the CPU, in the order of the C program where that matters."""
        from . import cpu

        self.redone += 1
        if self.artifact.otherwise is None:
            raise catalogue.BANDS_ORDER.error(reason=MOVED)
        used = {m.slot for m in self.bands.matrices}
        ins = [a for k, a in enumerate(inputs) if a is not None and k in used]
        if any(o is not None and numpy.may_share_memory(a, o) for a in ins for o in outputs):
            raise catalogue.BANDS_OVERWRITTEN.error(reason=MOVED)
        cpu.load(self.artifact.otherwise).run(inputs, outputs, 1)

    def program(self, device: int, s: Sizes, unfit: bool = False) -> CudaProgram:
        """The kernels for these sizes, on the current device. ``unfit``: an element is beyond ``bands.most``."""
        key = device, s, unfit
        if key not in self._programs:
            text = s.defines(self.bands, unfit) + self.artifact.text
            a, launches = self.artifact, tuple(Launch(name) for name in KERNELS)
            sized = CudaLaunchesArtifact(a.schedule, text, a.slots, a.flags, threads=a.threads, launches=launches)
            self._programs[key] = CudaProgram(sized)
        return self._programs[key]


def _apart(array: Any, outputs: Sequence[Any]) -> Any:
    """An input's array, copied if an output that is not in the same place shares its memory: another input's result
    would be in it."""
    for o in outputs:
        elsewhere = o is not None and (o.ctypes.data, o.nbytes) != (array.ctypes.data, array.nbytes)
        if elsewhere and numpy.may_share_memory(array, o):
            return array.copy()
    return array


def _chosen(devices: Sequence[int] | None) -> list[int]:
    return list(devices) if devices is not None else [cupy_module().cuda.Device().id]


def _free(device: int) -> int:
    """Bytes that a run may take of a device."""
    with cupy_module().cuda.Device(device):
        return int(FILLED * free_bytes())


class _InputRun:
    """One input's tasks."""

    def __init__(self, program: CudaBandsProgram, s: Sizes, devices: list[int], sides: list[Side], unfit: bool):
        self._cupy = cupy_module()
        self._program, self._b, self._s, self._devices, self._sides = program, program.bands, s, devices, sides
        self._unfit = unfit
        self._offsets, self._size = s.offsets(self._b)
        self._tasks = bands_plan.tasks(self._b, s)
        self._awaited = {n for t in self._tasks for n in t.after}
        self._enqueued = [threading.Event() for _ in self._tasks]  # to its stream
        self._events: dict[int, Any] = {}
        self._failures: list[BaseException] = []
        self._streams: dict[tuple[int, str], Any] = {}
        self._pieces: dict[tuple[int, str], Pieces] = {}  # kept until all copies are done
        self._memory: list[Any] = []
        self._kernels: list[CudaProgram] = []

    def go(self) -> bool:
        """Run all tasks. Returns whether some step has changed its own row k or column k, so that results are wrong."""
        try:
            self._prepare()
            queues: dict[tuple[int, str], list[int]] = {}
            for n, t in enumerate(self._tasks):
                queues.setdefault((t.device, t.stream), []).append(n)
            self._start(queues)
            if self._failures:
                raise self._failures[0]
            self._untouched()
            return any(self._flag(d) for d in range(len(self._devices)))
        except self._cupy.cuda.memory.OutOfMemoryError:
            raise catalogue.DEVICE_MEMORY.error(what=f"{self._size} bytes") from None
        except self._cupy.cuda.driver.CUDADriverError as e:
            raise catalogue.DEVICE_FAILED.error(reason=e) from None
        finally:
            self._settle()

    def _prepare(self) -> None:
        runtime = self._cupy.cuda.runtime
        for d, ordinal in enumerate(self._devices):
            with self._cupy.cuda.Device(ordinal):
                self._kernels.append(self._program.program(ordinal, self._s, self._unfit))
                self._memory.append(self._cupy.empty(self._size, numpy.uint8))
                for name in dict.fromkeys(t.stream for t in self._tasks if t.device == d):
                    self._streams[d, name] = self._cupy.cuda.Stream(non_blocking=True)
                self._cupy.cuda.get_current_stream().synchronize()  # the pool's memory was another's on that stream
                runtime.memsetAsync(self._at(d, "flag"), 0, 4, self._streams[d, RUN].ptr)
                for other in self._devices:
                    if other != ordinal:
                        _reach(ordinal, other)

    def _at(self, d: int, name: str) -> int:
        return self._memory[d].data.ptr + self._offsets[name]

    def _start(self, queues: dict[tuple[int, str], list[int]]) -> None:
        """All threads, from the first to the last task."""
        threads = [threading.Thread(target=self._work, args=x, name=f"c2cu-{x[0]}") for x in queues.items()]
        for t in threads:
            t.start()
        try:
            for t in threads:
                t.join()
        except BaseException as e:  # Ctrl-C
            self._stop(e)
            for t in threads:
                t.join()

    def _stop(self, e: BaseException) -> None:
        self._failures.append(e)
        for event in self._enqueued:
            event.set()

    def _work(self, queue: tuple[int, str], numbers: list[int]) -> None:
        """One stream's tasks."""
        stream = self._streams[queue]
        pieces = self._pieces[queue] = Pieces(self._cupy, stream)
        try:
            with self._cupy.cuda.Device(self._devices[queue[0]]), stream:
                for n in numbers:
                    for m in self._tasks[n].after:
                        self._enqueued[m].wait()
                        if not self._failures:
                            stream.wait_event(self._events[m])
                    if self._failures:
                        return
                    self._do(self._tasks[n], stream, pieces)
                    if n in self._awaited:
                        self._events[n] = self._cupy.cuda.Event(disable_timing=True)
                        self._events[n].record(stream)
                    self._enqueued[n].set()
        except BaseException as e:
            self._stop(e)

    def _do(self, t: Task, stream: Any, pieces: Pieces) -> None:
        match t.stream:
            case "run":
                kernels = self._kernels[t.device].kernels
                threads, memory = (self._program.artifact.threads,), self._memory[t.device]
                for k in bands_plan.kernels(self._b, self._s, t):
                    kernels[k.name](k.grid, threads, (memory, *map(numpy.int32, k.arguments)))
            case "in" | "out":
                rows = self._s.rows(self._b, t.band)
                for side in self._sides:
                    self._move(side, t, slice(rows.start, rows.stop), stream, pieces)
            case _:
                self._send(t, stream)

    def _move(self, side: Side, t: Task, rows: slice, stream: Any, pieces: Pieces) -> None:
        """A band of a matrix between the host and its buffer on the device."""
        coming = t.stream == IN
        host = side.source if side.target is None or t.fresh else side.target
        if not coming and side.target is None:
            return
        runtime = self._cupy.cuda.runtime
        at = self._at(t.device, f"{t.stream}_{side.matrix.name}")
        if host is None:
            runtime.memsetAsync(at, 0, (rows.stop - rows.start) * self._b.columns * side.matrix.size, stream.ptr)
            return
        part = host[rows]
        if part.flags.c_contiguous and pinned(part):
            to, source = (at, part.ctypes.data) if coming else (part.ctypes.data, at)
            runtime.memcpyAsync(to, source, part.nbytes, runtime.memcpyDefault, stream.ptr)
            return
        if coming:
            pieces.bring(part, at)
        else:
            pieces.take(part, at)

    def _send(self, t: Task, stream: Any) -> None:
        source, target = self._memory[t.device].data.ptr, self._memory[t.to].data.ptr
        ordinals = self._devices[t.device], self._devices[t.to]
        for at, nbytes in bands_plan.copies(self._b, self._s, t.step):
            self._cupy.cuda.runtime.memcpyPeerAsync(
                target + at, ordinals[1], source + at, ordinals[0], nbytes, stream.ptr
            )

    def _untouched(self) -> None:
        """Copy the rows of bands that no step writes from the input to the output."""
        written = {t.band for t in self._tasks if t.kind == "out"}
        for band in range(self._s.bands(self._b)):
            rows = self._s.rows(self._b, band)
            for side in self._sides:
                if band not in written and side.target is not None:
                    source = 0 if side.source is None else side.source[rows.start : rows.stop]
                    side.target[rows.start : rows.stop] = source

    def _flag(self, d: int) -> bool:
        flag = numpy.zeros(1, numpy.int32)
        stream, runtime = self._streams[d, RUN], self._cupy.cuda.runtime
        with self._cupy.cuda.Device(self._devices[d]):
            runtime.memcpyAsync(flag.ctypes.data, self._at(d, "flag"), 4, runtime.memcpyDefault, stream.ptr)
            stream.synchronize()
        return bool(flag[0])

    def _settle(self) -> None:
        """Wait for all streams, and return the devices' memory."""
        for (d, _), stream in self._streams.items():
            with self._cupy.cuda.Device(self._devices[d]):
                stream.synchronize()
        self._pieces.clear()
        self._memory.clear()
        for ordinal in self._devices:
            with self._cupy.cuda.Device(ordinal):
                self._cupy.get_default_memory_pool().free_all_blocks()


@functools.cache
def _reach(device: int, other: int) -> None:
    """Have the current device copy to another without a detour by the host, if it can."""
    runtime = cupy_module().cuda.runtime
    if runtime.deviceCanAccessPeer(device, other):
        with contextlib.suppress(runtime.CUDARuntimeError):  # somebody else has done it already
            runtime.deviceEnablePeerAccess(other)

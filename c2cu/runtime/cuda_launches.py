"""Runs a `CudaLaunchesArtifact`: launches that depend on one another, on several streams or as a CUDA graph.

A launch with no blocks along x has as many blocks as its y says on each multiprocessor, for all inputs together. The
first stream waits for all others, so that everything is complete when it is.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Any

import numpy

from ..schedule.artifact import DEEP, CudaLaunchesArtifact, Launch
from .cuda import CudaProgram, attributes, cupy_module

GRAPHS = 8  # captured graphs that a program keeps, each for other arrays
_GraphKey = tuple[bytes, int, int]  # the bytes of the slot table, the address of the working storage, p


class CudaLaunchesProgram(CudaProgram):
    """A compiled `CudaLaunchesArtifact`."""

    def __init__(self, artifact: CudaLaunchesArtifact):
        super().__init__(artifact)
        for kernel in self._kernels.values():
            _ = kernel.num_regs  # so that it is loaded before it is captured
        self._prepare(artifact, attributes().get("MultiProcessorCount", 1))

    def _prepare(self, artifact: CudaLaunchesArtifact, multiprocessors: int) -> None:
        stream = cupy_module().cuda.Stream
        self._launches, self._captured = artifact.launches, artifact.graph
        launches = artifact.launches
        self._multiprocessors = multiprocessors
        self._beside = {x.stream: stream(non_blocking=True) for x in launches if x.stream}
        self._awaited = {n for x in launches for n in x.after if launches[n].stream != x.stream}
        self._arguments = [tuple(map(numpy.int32, x.arguments)) for x in launches]
        self._graphs: OrderedDict[_GraphKey, Any] = OrderedDict()
        self._recent: OrderedDict[_GraphKey, None] = OrderedDict()
        self._lock = threading.Lock()  # one thread's launches, then another's

    def working(self, p: int) -> tuple[int, Any]:
        turn, memory = super().working(p)
        return min(turn, DEEP), memory

    def go(self, table: Any, p: int, memory: Any) -> None:
        current = cupy_module().cuda.get_current_stream()
        key = table.tobytes(), memory.data.ptr, p
        with self._lock:
            if self._captured and self._repeated(key):
                self._graph(key, table, p, memory).launch(current)
            else:
                self._enqueue(current, table, p, memory)

    def _repeated(self, key: _GraphKey) -> bool:
        """Whether one of the last runs had these arrays: capturing a graph for a single run does not pay."""
        if key in self._graphs or key in self._recent:
            self._recent.pop(key, None)
            return True
        self._recent[key] = None
        if len(self._recent) > GRAPHS:
            self._recent.popitem(last=False)
        return False

    def _graph(self, key: _GraphKey, table: Any, p: int, memory: Any) -> Any:
        """The launches for these arrays, captured when they come for the second time."""
        if key not in self._graphs:
            stream = cupy_module().cuda.Stream(non_blocking=True)  # the default one cannot be captured
            stream.begin_capture()
            try:
                self._enqueue(stream, table, p, memory)
            finally:
                graph = stream.end_capture()
            self._graphs[key] = graph
        self._graphs.move_to_end(key)
        if len(self._graphs) > GRAPHS:
            cupy_module().cuda.Device().synchronize()  # it may still run
            self._graphs.popitem(last=False)
        return self._graphs[key]

    def _enqueue(self, first: Any, table: Any, p: int, memory: Any) -> None:
        """All launches, ``first`` being stream 0."""
        streams = {0: first, **self._beside}
        complete: dict[int, Any] = {}
        for n, x in enumerate(self._launches):
            stream = streams[x.stream]
            for m in x.after:
                if self._launches[m].stream != x.stream:
                    stream.wait_event(complete[m])
            with stream:
                arguments = (table, numpy.int64(p), memory, *self._arguments[n])
                self._kernels[x.kernel](self._blocks(x, p), (self._threads,), arguments, shared_mem=x.shared_bytes)
            if n in self._awaited:
                complete[n] = cupy_module().cuda.Event(disable_timing=True)
                complete[n].record(stream)

    def _blocks(self, x: Launch, p: int) -> tuple[int, int, int]:
        return (x.grid[0], x.grid[1], p) if x.grid[0] else (x.grid[1] * self._multiprocessors, 1, 1)

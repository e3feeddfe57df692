"""Devices of the CPU's for `runtime.cuda_bands`: streams and events as CUDA has them, and kernels on host threads.

What is given to a stream is done later, in any order that streams and events allow: at random, and at the latest when
somebody waits for it. An event that was never recorded is waited for by nobody.
"""

from __future__ import annotations

import ctypes
import random
import threading
from collections import Counter, deque
from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np

from c2cu.runtime import cuda_bands, cuda_bands_host
from tests.cuda_host import shifted
from tests.gep_host import library


class Machine:
    """``eager``: how likely something is done whenever something is given. ``done``: how often what was done."""

    def __init__(self, devices: int, seed: int, eager: float = 0.2):
        self.chance, self.eager = random.Random(seed), eager
        self.lock = threading.RLock()
        self.streams: list = []
        self.done: Counter = Counter()
        self.used = [0] * devices
        self.local = threading.local()
        machine = self

        class Event:
            def __init__(self, disable_timing=False):
                assert disable_timing
                self.recorded = self.reached = 0

            def record(self, stream):
                self.recorded += 1
                version = self.recorded
                stream.give(lambda: setattr(self, "reached", version))

            def synchronize(self):
                version = self.recorded
                machine.until(lambda: self.reached >= version)

        class Stream:
            def __init__(self, non_blocking=False):
                self.device, self.queue, self.ptr = machine.device, deque(), self
                machine.streams.append(self)

            def give(self, what, ready=lambda: True):
                with machine.lock:
                    self.queue.append((what, ready))
                    while machine.chance.random() < machine.eager and machine.step():
                        pass

            def wait_event(self, event):
                version = event.recorded
                self.give(lambda: None, lambda: event.reached >= version)

            def synchronize(self):
                machine.until(lambda: not self.queue)

            def __enter__(self):
                self.before = getattr(machine.local, "stream", None)
                machine.local.stream = self

            def __exit__(self, *_):
                machine.local.stream = self.before

        @contextmanager
        def device(n):
            before, machine.local.device = machine.device, n
            try:
                yield SimpleNamespace(id=n)
            finally:
                machine.local.device = before

        class Device:
            def __init__(self, n=None):
                self.id = machine.device if n is None else n
                self.context = device(self.id)

            def __enter__(self):
                return self.context.__enter__()

            def __exit__(self, *what):
                return self.context.__exit__(*what)

        class Nothing(Exception):
            pass

        self.null = Stream()
        runtime = SimpleNamespace(
            memcpyDefault=4,
            CUDARuntimeError=Nothing,
            memcpyAsync=self.copy,
            memcpyPeerAsync=self.peer,
            memsetAsync=lambda at, value, n, stream: stream.give(lambda: ctypes.memset(at, value, n)),
            deviceCanAccessPeer=lambda a, b: True,
            deviceEnablePeerAccess=lambda other: None,
            memGetInfo=lambda: (1 << 30, 1 << 30),
        )
        self.cupy = SimpleNamespace(
            empty=self.empty,
            get_default_memory_pool=lambda: SimpleNamespace(free_bytes=lambda: 0, free_all_blocks=lambda: None),
            cuda=SimpleNamespace(
                Stream=Stream,
                Event=Event,
                Device=Device,
                runtime=runtime,
                get_current_stream=lambda: self.null,
                memory=SimpleNamespace(OutOfMemoryError=Nothing),
                driver=SimpleNamespace(CUDADriverError=Nothing),
            ),
        )

    @property
    def device(self) -> int:
        return getattr(self.local, "device", 0)

    def step(self) -> bool:
        """Do one thing, if there is one that can be done."""
        ready = [s for s in self.streams if s.queue and s.queue[0][1]()]
        if not ready:
            return False
        self.chance.choice(ready).queue.popleft()[0]()
        return True

    def until(self, satisfied) -> None:
        while True:
            with self.lock:
                if satisfied():
                    return
                assert self.step(), "streams wait for each other"

    def empty(self, nbytes, dtype):
        assert dtype == np.uint8
        memory = shifted(np.full(nbytes, 0x5A, np.uint8), 0)
        self.used[self.device] = max(self.used[self.device], nbytes)
        return SimpleNamespace(data=SimpleNamespace(ptr=memory.ctypes.data), device=self.device, memory=memory)

    def copy(self, to, source, nbytes, kind, stream):
        assert kind == 4 and stream.device == self.device
        self.done["copied"] += nbytes
        stream.give(lambda: ctypes.memmove(to, source, nbytes))

    def peer(self, to, to_device, source, source_device, nbytes, stream):
        assert stream.device == source_device == self.device != to_device
        self.done["sent"] += nbytes
        stream.give(lambda: ctypes.memmove(to, source, nbytes))

    def kernel(self, library, name, count):
        def launch(grid, threads, arguments):
            memory, *numbers = arguments
            stream = self.local.stream
            assert stream.device == memory.device == self.device and threads == (count,)
            assert all(isinstance(x, np.int32) for x in numbers)
            blocks, ints = (ctypes.c_uint * 3)(*grid), (ctypes.c_int * 16)(*map(int, numbers))
            nothing, one = ctypes.c_void_p(), ctypes.c_longlong(1)
            at = ctypes.c_void_p(memory.data.ptr)
            self.done[name] += 1
            stream.give(lambda: getattr(library, f"launch_{name}")(blocks, 3, nothing, one, at, ints))

        return launch


def program(monkeypatch, artifact, machine: Machine, limit: int, pinned: bool) -> cuda_bands.CudaBandsProgram:
    """The runtime's own, on these devices. ``pinned``: whether they take all arrays where they are."""

    class Program(cuda_bands.CudaBandsProgram):
        def program(self, device, s, unfit=False):
            assert device == machine.device
            text = s.defines(self.bands, unfit) + self.artifact.text
            launched = library(text, self.artifact.threads)
            assert ctypes.c_ulonglong.in_dll(launched, "c2cu_bytes").value == s.offsets(self.bands)[1] <= limit
            threads = self.artifact.threads
            kernels = {name: machine.kernel(launched, name, threads) for name in cuda_bands.KERNELS}
            return SimpleNamespace(kernels=kernels)

    monkeypatch.setattr(cuda_bands, "cupy_module", lambda: machine.cupy)
    monkeypatch.setattr(cuda_bands, "pinned", lambda array: pinned)
    monkeypatch.setattr(cuda_bands_host, "PINNED", SimpleNamespace(take=lambda n: np.full(n, 0xA5, np.uint8)))
    monkeypatch.setattr(cuda_bands_host, "PIECE", 600)  # a few rows
    return Program(artifact, limit)

"""The CPU runtime: compile an artifact to a shared object, call it from as many threads as there are cores."""

from __future__ import annotations

import _ctypes
import _thread
import contextlib
import ctypes
import functools
import os
import sys
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import ContextVar
from typing import Any

from ..base import catalogue, toolchain
from ..base.cache import Cache, key
from ..base.machine_code import library
from ..base.mathematics import mathematics
from ..base.memory import require_memory
from ..base.recent import Recent
from ..base.templates import raw, render
from ..base.version import __version__
from ..schedule.artifact import CpuArtifact, CpuNativeArtifact, CpuTeamArtifact
from ..schedule.slots import Slot
from .addresses import address
from .faults import guard, prepare

GUARDED = "cpu/guarded.c.j2"
FLAGS = ("-O3", "-march=native", "-std=gnu11", "-fPIC", "-shared", "-w")
GRAIN = 64  # inputs that are worth a thread of their own


class _Slot(ctypes.Structure):
    _fields_ = [
        ("in_", ctypes.c_void_p),
        ("in_stride", ctypes.c_long),
        ("out", ctypes.c_void_p),
        ("out_stride", ctypes.c_long),
    ]


class CpuProgram:
    """A loaded artifact."""

    drawback = ""  # what would make another schedule the better choice: see `runtime.cuda.CudaProgram`

    def __init__(
        self, artifact: CpuArtifact | CpuTeamArtifact, code: bytes, native: Callable[[CpuNativeArtifact], Any] | None
    ):
        """``code``: the shared object that a compiler made of the artifact's text. ``native``: see `load`."""
        self.artifact, self._load_native = artifact, native
        loaded = library(code)
        unload = weakref.finalize(loaded, _ctypes.dlclose, loaded._handle)  # functions keep it while they run
        unload.atexit = False
        if isinstance(artifact, CpuTeamArtifact):
            self._team = Team(loaded)
        else:
            self._run = loaded.c2cu_guarded
            self._run.argtypes = (ctypes.c_void_p, ctypes.c_long, ctypes.c_long)
            if artifact.ended:
                self._run.argtypes = (*self._run.argtypes, ctypes.c_void_p)
            self._run.restype = ctypes.c_long
            if artifact.again is not None and native is not None:
                guard(loaded)
            self._copy = artifact.lanes * sum(s.nbytes for s in artifact.slots)  # bytes that a thread works in, about

    def run(self, inputs: Sequence[Any], outputs: Sequence[Any], p: int) -> Any:
        """Do p inputs. One C-contiguous array or None for each slot, batch-first; without the p axis if shared.

        An output's memory may be an input's.

        Returns:
            For each input its exit status, -1 where the kernel returned; None where all have.
        """
        return self.run_table(slot_table(self.artifact.slots, inputs, outputs), outputs, p)

    def run_table(self, table: Any, outputs: Sequence[Any], p: int, brief: bool = False) -> Any:
        """The same, of a table that is filled in. ``brief``: it takes so little time that the caller's thread does it:
        nothing is gained by others, and Ctrl-C may wait."""
        for slot, output in zip(self.artifact.slots, outputs):
            if slot.is_status and output is not None:
                output[...] = 0
        if not isinstance(self.artifact, CpuArtifact):
            self._team.run(table, p, threads())
            return None
        faulted: list[tuple[int, int]] = []
        ended = None
        if self.artifact.ended:
            import numpy

            table.ended = ended = numpy.zeros(p, numpy.uint8)  # after Ctrl-C threads are still at work
        self._all(faulted, table, p, brief, *(() if ended is None else (address(ended),)))
        return self._done_again(table, outputs, p, faulted, ended) if faulted or ended is not None else None

    def _all(self, faulted: list[tuple[int, int]], table: Any, p: int, brief: bool, *ended: int) -> None:
        """Do p inputs; see `_range`."""
        assert isinstance(self.artifact, CpuArtifact)
        if brief:
            self._range(faulted, table, 0, p, *ended)
            return
        workers = threads()
        parts = ranges(p, self.artifact.lanes, workers)
        require_memory(min(len(parts), workers) * self._copy)
        all_of([functools.partial(self._range, faulted, table, a, b, *ended) for a, b in parts], workers)

    def _done_again(
        self, table: Any, outputs: Sequence[Any], p: int, faulted: Sequence[tuple[int, int]], ended: Any
    ) -> Any:
        """What native says of the inputs that have ended early, or were done together with one that faulted."""
        import numpy

        early = [] if ended is None else [numpy.flatnonzero(ended)]
        numbers = numpy.unique(numpy.concatenate([*early, *(numpy.arange(a, b) for a, b in faulted)]))
        return self._native.again(table, outputs, numbers, p) if numbers.size else None

    @functools.cached_property
    def _native(self) -> Any:
        assert isinstance(self.artifact, CpuArtifact) and self.artifact.again is not None
        assert self._load_native is not None
        return self._load_native(self.artifact.again)

    def _range(self, faulted: list[tuple[int, int]], table: Any, begin: int, end: int, *ended: int) -> None:
        """``faulted``: gets the inputs that are done together with one that faults, and were not stored."""
        assert isinstance(self.artifact, CpuArtifact)
        while begin < end:
            done = self._run(table, begin, end, *ended)
            if done > 0:
                return
            if not done:
                raise catalogue.NO_HOST_MEMORY.error()
            first, at_work = -1 - done, self.artifact.at_work
            begin = end if at_work is None else min(first + at_work, end)
            if at_work != self.artifact.lanes and _in_place(table):
                raise catalogue.FAULT_IN_PLACE.error()
            faulted.append((first, begin))

    def divides(self, p: int) -> bool:
        """Whether p inputs are the work of several threads."""
        return len(ranges(p, 1, threads())) > 1


def _in_place(table: Any) -> bool:
    """Whether results are stored where inputs are."""
    outs = {e.out for e in table if e.out}
    return any(e.in_ in outs for e in table)


def slot_table(slots: tuple[Slot, ...], inputs: Sequence[Any], outputs: Sequence[Any]) -> Any:
    """The table that a library is called with: see `CpuArtifact`."""
    table: Any = (_Slot * max(1, len(slots)))()
    for entry, slot, source, target in zip(table, slots, inputs, outputs, strict=False):
        if source is not None:
            batched = not slot.shared and source.ndim > len(slot.shape)
            entry.in_, entry.in_stride = address(source), slot.nbytes if batched else 0
        if target is not None:
            entry.out, entry.out_stride = address(target), slot.nbytes
    table.arrays = inputs, outputs  # whoever has the table keeps them: after Ctrl-C threads are still at work
    return table


class _State:
    """The working copy of an input. It goes when nobody is at it any more."""

    def __init__(self, address: int | None, end: Callable[[int], None]):
        self.address, self._end = address, end
        if not address:
            raise catalogue.NO_HOST_MEMORY.error()

    def __del__(self) -> None:
        if self.address:
            self._end(self.address)


class Team:
    """The functions of an artifact that has several threads do one input."""

    def __init__(self, library: ctypes.CDLL):
        self._begin, self._work, self._end = library.c2cu_begin, library.c2cu_work, library.c2cu_end
        self._stop = library.c2cu_stop
        self._begin.argtypes, self._begin.restype = (ctypes.POINTER(_Slot), ctypes.c_long), ctypes.c_void_p
        for f in (self._work, self._stop, self._end):
            f.argtypes, f.restype = (ctypes.c_void_p,), None

    def run(self, table: Any, p: int, workers: int) -> None:
        """Inputs side by side where there are many for each worker, else one after the other, by all."""
        if p >= 2 * workers or workers == 1:
            step = -(-p // (4 * workers))
            ranges = [(a, min(a + step, p)) for a in range(0, p, step)]
            all_of([functools.partial(self._inputs, table, a, b, 1) for a, b in ranges], workers)
        else:
            self._inputs(table, 0, p, workers)

    def _inputs(self, table: Any, first: int, last: int, workers: int) -> None:
        for k in range(first, last):
            state = _State(self._begin(table, k), self._end)
            work = functools.partial(self._on, table, state)
            if workers == 1:
                work()
            else:
                all_of([work] * workers, workers, functools.partial(self._stop, state.address))

    def _on(self, table: Any, state: _State) -> None:
        """``table``: what the state points into."""
        self._work(state.address)


def all_of(calls: Sequence[Callable[[], None]], workers: int, stop: Callable[[], None] | None = None) -> None:
    """Do all of them on the pool, even where it is one: the caller's thread stays free for Ctrl-C. ``stop``: ends them
    early, where this is interrupted."""
    meter = _meter.get()
    if meter is not None:
        calls = [functools.partial(_metered, meter, call) for call in calls]
    if len(calls) == 1 and stop is None and _most.get() is None and not sys.is_finalizing():
        _in_helper(calls[0])
        return
    waiting: list[Future[None]] = []
    try:
        for k, call in enumerate(calls):
            try:
                waiting.append(_pool(workers).submit(call))
            except RuntimeError:  # the interpreter is ending, and this thread goes on
                for remaining in calls[k:]:
                    remaining()
                break
        for future in waiting:
            future.result()
    except BaseException:
        if stop is not None:
            stop()
        raise


_meter: ContextVar[list[float] | None] = ContextVar("c2cu_meter", default=None)


def _metered(meter: list[float], call: Callable[[], None]) -> None:
    start = time.thread_time()
    try:
        call()
    finally:
        meter.append(time.thread_time() - start)


def processor_seconds(work: Callable[[], None]) -> float:
    """Do ``work``; the seconds of processors that it takes, those of `all_of` included. Waiting does not count,
    nor what other threads do meanwhile."""
    meter: list[float] = []
    token = _meter.set(meter)
    try:
        _metered(meter, work)
    finally:
        _meter.reset(token)
    return sum(meter)


class _Helper:
    """A thread that does a call while the caller waits, in half of the time that a pool takes to hand it over. An
    endless call does not keep the interpreter from ending."""

    def __init__(self) -> None:
        self._begin, self._end = _thread.allocate_lock(), _thread.allocate_lock()
        self._begin.acquire()
        self._end.acquire()
        self._call: Callable[[], None] | None = None
        self._error: BaseException | None = None
        threading.Thread(target=self._work, name="c2cu_helper", daemon=True).start()

    def do(self, call: Callable[[], None]) -> BaseException | None:
        """Do a call; what it raises. A wait that is interrupted raises, and was the last."""
        try:
            self._call = call
            self._begin.release()
            self._end.acquire()
        except BaseException:
            self._call = None  # which ends the thread once it is done
            with contextlib.suppress(RuntimeError):  # it has yet to begin
                self._begin.release()
            raise
        error, self._error = self._error, None
        return error

    def _work(self) -> None:
        while True:
            self._begin.acquire()
            call, self._call = self._call, None
            if call is None:
                return
            try:
                call()
            except BaseException as e:
                self._error = e
            del call
            self._end.release()


_helpers: deque[_Helper] = deque()  # that have nothing to do


def _in_helper(call: Callable[[], None]) -> None:
    try:
        helper = _helpers.pop() if _helpers else _Helper()
    except (IndexError, RuntimeError):  # another thread was faster; the interpreter is ending
        call()
        return
    error = helper.do(call)
    _helpers.append(helper)
    if error is not None:
        raise error


def threads() -> int:
    """How many threads a call may use: $C2CU_THREADS, else the cores this process may run on, within `at_most`."""
    chosen = os.environ.get("C2CU_THREADS", "")
    if chosen.isdigit() and int(chosen) > 0:
        return int(chosen)
    cores = toolchain.cores()
    return min(cores, _most.get() or cores)


_most: ContextVar[int | None] = ContextVar("c2cu_threads", default=None)


@contextlib.contextmanager
def at_most(n: int | None) -> Iterator[None]:
    """Calls inside use no more than ``n`` threads; those that say the same n at once, no more than n together."""
    before = _most.set(n)
    try:
        yield
    finally:
        _most.reset(before)


def identity() -> tuple[object, ...]:
    """What of this machine a program's speed depends on."""
    compiler = toolchain.find_compiler()
    compiled_by = toolchain.compiler_version(compiler)
    return toolchain.cpu_model()[0], toolchain.cpu_key(), compiled_by, threads(), mathematics()


def timer(slots: tuple[Slot, ...], inputs: Mapping[str, Any], layout: str) -> Callable[[CpuProgram, int], float]:
    """A function that runs a program for the first n inputs and says how many seconds that took. Results go nowhere."""
    from . import arrays

    bound: dict[int, arrays.Bound] = {}

    def run(program: CpuProgram, n: int) -> float:
        if n not in bound:
            bound.clear()
            bound[n] = arrays.bind(slots, arrays.first(inputs, slots, layout, n), {}, None, layout, n)
        start = time.perf_counter()
        program.run(bound[n].inputs, bound[n].outputs, n)
        return time.perf_counter() - start

    return run


def copy_bandwidth(total: int = 256 << 20) -> float:
    """Bytes read and written a second while all threads copy arrays of ``total`` bytes, far more than caches hold.

    The best of several times, as other processes only slow it down.
    """
    import numpy

    parts = threads()
    pairs = [(numpy.ones(total // 16 // parts), numpy.zeros(total // 16 // parts)) for _ in range(parts)]

    def once() -> float:
        start = time.perf_counter()
        for future in [_pool(parts).submit(numpy.copyto, target, source) for source, target in pairs]:
            future.result()
        return time.perf_counter() - start

    return sum(2 * source.nbytes for source, _ in pairs) / min(once() for _ in range(12))


def ranges(p: int, lanes: int, workers: int) -> list[tuple[int, int]]:
    """Split 0..p at multiples of the gang: a few ranges a worker, so that a slow one does not hold up the rest."""
    if workers == 1 or p < 2 * GRAIN:
        return [(0, p)]
    step = max(GRAIN, -(-p // (4 * workers)))
    step = -(-step // lanes) * lanes
    return [(a, min(a + step, p)) for a in range(0, p, step)]


@functools.cache
def _pool(workers: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(workers, thread_name_prefix="c2cu")


def _forked() -> None:
    """The threads stay with the parent."""
    _pool.cache_clear()
    _helpers.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


LIBRARIES = 256  # that stay loaded, those last used
_loaded: Recent[CpuProgram] = Recent(LIBRARIES)


def load(
    artifact: CpuArtifact | CpuTeamArtifact,
    cache: Cache | None = None,
    native: Callable[[CpuNativeArtifact], Any] | None = None,
) -> CpuProgram:
    """Compile (or find) an artifact and load it. ``native``: loads what does inputs that end early. Raises
    CompileError."""
    compiler = toolchain.find_compiler()
    version = toolchain.compiler_version(compiler)
    flags = (*FLAGS, *toolchain.generated_flags(compiler), *artifact.flags)
    ended = artifact.ended if isinstance(artifact, CpuArtifact) else None
    guard = () if ended is None else (raw(GUARDED), ended)
    name = key(artifact.text, guard, flags, version, toolchain.cpu_key(), __version__)
    meaning = (name, repr(artifact.slots))  # one text may serve a variable that is shared and one that is not
    if isinstance(artifact, CpuArtifact) and artifact.again is not None:
        meaning = (*meaning, artifact.again.text, *artifact.again.units)

    def compiled() -> bytes:
        if isinstance(artifact, CpuArtifact) and artifact.again is not None and native is not None:
            prepare()
        text = artifact.text + ("" if ended is None else render(GUARDED, ended=ended))
        return toolchain.compiled((*compiler, *flags), text)

    def loaded() -> CpuProgram:
        code = (cache or Cache()).put(name, ".so", compiled)
        return CpuProgram(artifact, code, native)

    return _loaded.of(meaning, loaded)

"""Runs groups of inputs on devices, and gives the results back in order::

    batcher -to_copy-> copiers -ready-> devices -done-> the consumer, in order
        \\___________________________/

Each word is one thread, or one for each device; each arrow is a channel or a table. Memory is bounded by two pools of
buffers: the batcher borrows one for a group's inputs and one for its outputs, in order, so that the group that the
consumer waits for never waits for memory that later groups hold. Inputs that a device can read where they are, are not
copied.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy

from ..runtime.pipe import Pipe, sides
from ..schedule.slots import Slot
from .batcher import Batcher, Group
from .buffers import Buffer, BufferPool, lend, view
from .channel import Channel, Closed
from .copying import assemble
from .work import Done, Work, device_error

LENT = 2  # groups of results that a consumer may hold without a copy, by default
PATIENCE = 10.0  # seconds that `close` waits for devices that do not answer
Targets = Callable[[int, int], Sequence[Any]]  # first input, count -> arrays for their outputs, one a slot or None
Answer = TypeVar("Answer")


class Engine:
    """Runs a batcher's groups on ``pipes``. Call `result` until it returns None; `close` ends everything.

    ``batched``: which slots come in batches. ``targets``: where outputs go, if not to buffers of the engine.
    ``copiers``: threads that copy inputs. ``lent``: groups of results that a consumer may hold without a copy.
    ``copy``: copy batches even where a device could read them.
    """

    def __init__(
        self,
        slots: tuple[Slot, ...],
        batched: Sequence[bool],
        layout: str,
        group: int,
        pipes: Sequence[Pipe],
        targets: Targets | None = None,
        copiers: int = 1,
        lent: int = LENT,
        copy: bool = True,
    ):
        self._slots, self._layout, self._targets = slots, layout, targets
        self._copiers, self._most_lent, self._copy = copiers, lent, copy
        ins, outs = sides(slots, batched)
        in_flight = sum(p.depth for p in pipes)
        self._in = BufferPool(ins, group, in_flight + copiers, self._allocate)
        self._out = BufferPool(outs, group, in_flight + copiers + lent, self._allocate)
        self._lent: list[Any] = []  # for each group in the consumer's hands, references to its arrays
        self._abandoned: list[Buffer] = []  # a device that failed may still write to them
        self._to_copy: Channel[tuple[Work, tuple[list[Any] | None, ...]]] = Channel(copiers)
        self._ready: Channel[Work] = Channel(len(pipes))
        self._batcher: Batcher | None = None
        self._threads: list[tuple[threading.Thread, Pipe | None]] = []
        # What the threads share, under one lock:
        self._changed = threading.Condition()
        self._working = list(pipes)  # devices that did not fail
        self._uncopied = 0  # groups that are taken and not copied yet
        self._done: dict[int, Done] = {}
        self._next = 0  # the group that the consumer waits for
        self._groups: int | None = None  # how many there are, once that is known
        self._error: BaseException | None = None  # what ended the batches
        self._failure: BaseException | None = None  # what ended the engine
        self._notices: list[str] = []

    @staticmethod
    def cost(
        slots: tuple[Slot, ...], batched: Sequence[bool], group: int, in_flight: int, copiers: int = 1, lent: int = LENT
    ) -> int:
        """Bytes of host memory, at most, for ``in_flight`` groups in flight."""
        ins, outs = sides(slots, batched)
        count = in_flight + copiers
        return BufferPool.cost(ins, group) * count + BufferPool.cost(outs, group) * (count + lent)

    def start(self, batcher: Batcher) -> None:
        """Begin to run the groups of ``batcher``, which was made for this engine."""
        self._batcher = batcher
        batcher.start()
        for _ in range(self._copiers):
            self._threads.append((threading.Thread(target=self._copy_inputs, name="c2cu-copy", daemon=True), None))
        for pipe in self._working:
            thread = threading.Thread(target=self._drive, args=(pipe,), name=f"c2cu-{pipe.name}", daemon=True)
            self._threads.append((thread, pipe))
        for thread, _ in self._threads:
            thread.start()

    # the batcher's side

    def take(self, group: Group) -> None:
        """Take a group on, waiting for memory if need be. Raises Closed."""
        parts, group.parts = group.parts, ()  # the user's arrays may go as soon as they are copied
        outputs, out_buffer = self._outputs(group)
        if self._can_read(parts):
            inputs = tuple(None if x is None else x[0] for x in parts)
            self._ready.put(Work(group, inputs, outputs, None, out_buffer))
            return
        in_buffer = self._in.borrow()
        with self._changed:
            self._uncopied += 1
        self._to_copy.put((Work(group, self._views(in_buffer, group), outputs, in_buffer, out_buffer), parts))

    def wait_until_copied(self) -> None:
        """Wait until all groups that were taken are copied, if batches are to be copied. Raises Closed."""
        with self._changed:
            self._changed.wait_for(lambda: self._failure is not None or not (self._copy and self._uncopied))
            if self._failure is not None:
                raise Closed

    def end(self, groups: int, error: BaseException | None) -> None:
        """The batcher has no more groups."""
        with self._changed:
            self._groups, self._error = groups, error
            self._changed.notify_all()

    def fail(self, error: BaseException) -> None:
        """Nothing goes on after this."""
        with self._changed:
            self._failure = self._failure or error
            self._changed.notify_all()

    # the consumer's side

    def notices(self) -> list[str]:
        """What went wrong on devices and was made good, since the last call."""
        with self._changed:
            notices, self._notices = self._notices, []
        return notices

    def result(self) -> Done | None:
        """The next group's outputs, in order; None at the end. Raises what ended the batches, CompileError if no device
        is left, and Closed if the engine was closed."""
        with self._changed:
            self._changed.wait_for(lambda: self._failure is not None or self._next in self._done or self._is_over())
            if isinstance(self._failure, Closed):
                raise self._failure
            if self._next in self._done:
                self._next += 1
                return self._done.pop(self._next - 1)
            if self._failure is not None:
                raise self._failure
            if self._error is not None:
                raise self._error
            return None

    def _is_over(self) -> bool:
        return self._groups is not None and self._next >= self._groups

    def hand_over(self, done: Done) -> list[Any]:
        """A group's outputs for the user to keep, in the order of the slots, without those that were not asked for."""
        arrays = [a for a in done.outputs if a is not None]
        if done.buffer is None:
            return arrays
        self._lent = [group for group in self._lent if any(reference() is not None for reference in group)]
        if len(self._lent) >= self._most_lent:
            # By bytes: a copy of structs leaves the bytes between their members as the memory was.
            arrays = [a.reshape(-1).view(numpy.uint8).copy().view(a.dtype).reshape(a.shape) for a in arrays]
            self._out.release(done.buffer)
            return arrays
        lent, references = lend(self._out, done.buffer, arrays)
        self._lent.append(references)
        return lent

    def release(self, done: Done) -> None:
        """The outputs are not needed any more: their memory is free."""
        if done.buffer is not None:
            self._out.release(done.buffer)

    def close(self) -> None:
        """End all threads, except one that waits in the user's iterator. Waits for groups in flight."""
        if self._batcher is not None:
            self._batcher.stop()
        self.fail(Closed())
        for part in (self._to_copy, self._ready, self._in, self._out):
            part.close()
        deadline = time.perf_counter() + PATIENCE
        for thread, pipe in self._threads:
            if thread is not threading.current_thread():
                thread.join(max(0.0, deadline - time.perf_counter()))
            if pipe is not None and not thread.is_alive():
                with contextlib.suppress(Exception):  # of a device that failed, as was said before
                    pipe.close()
        self._batcher, self._threads = None, []  # the batcher knows the engine: a cycle would keep memory for long

    # memory

    def _outputs(self, group: Group) -> tuple[tuple[Any, ...], Buffer | None]:
        if self._targets is not None:
            outputs = tuple(self._targets(group.first, group.count))
            if all(a is None or self._is_direct(a) for a in outputs):
                return outputs, None
        buffer = self._out.borrow()
        return self._views(buffer, group), buffer

    def _can_read(self, parts: tuple[list[Any] | None, ...]) -> bool:
        """Whether a device can read the inputs where they are, and may."""
        arrays = [x for x in parts if x is not None]
        return not arrays or (not self._copy and all(len(x) == 1 and self._is_direct(x[0]) for x in arrays))

    def _is_direct(self, array: Any) -> bool:
        return self._ask(lambda pipe: pipe.direct(array))

    def _allocate(self, nbytes: int) -> numpy.ndarray:
        return self._ask(lambda pipe: pipe.allocate(nbytes))

    def _ask(self, question: Callable[[Pipe], Answer]) -> Answer:
        """The first answer of a device about memory. One that fails here is passed over: its own thread will tell.
        Raises MemoryError, CompileError if no device answers, and Closed if none is left."""
        with self._changed:
            working = list(self._working)
        failure: Exception = Closed()
        for pipe in working:
            try:
                return question(pipe)
            except Exception as e:
                if not isinstance(failure, MemoryError):
                    failure = e if isinstance(e, MemoryError) else device_error(pipe, e)
        raise failure

    def _views(self, buffer: Buffer, group: Group) -> tuple[Any, ...]:
        pairs = zip(self._slots, buffer.memory)
        return tuple(None if m is None else view(m, s, group.count, self._layout) for s, m in pairs)

    # the threads

    def _copy_inputs(self) -> None:
        """Copy inputs to where devices can read them."""
        axis = 0 if self._layout == "row" else -1
        try:
            while (item := self._to_copy.get()) is not None:
                work, parts = item
                for target, arrays in zip(work.inputs, parts):
                    if arrays is not None:
                        assemble(arrays, target, axis)
                del item, parts
                with self._changed:
                    self._uncopied -= 1
                    self._changed.notify_all()
                self._ready.put(work)
        except Closed:
            return
        except BaseException as e:
            self.fail(e)

    def _drive(self, pipe: Pipe) -> None:
        """Run groups on a device: up to ``pipe.depth`` of them are in flight, and the oldest is finished first."""
        in_flight: deque[Work] = deque()
        try:
            while True:
                work = self._ready.get(wait=not in_flight) if len(in_flight) < pipe.depth else None
                if work is not None:
                    in_flight.append(work)
                    work.token = pipe.start(work.group.number, work.inputs, work.outputs, work.group.count)
                else:
                    pipe.finish(in_flight[0].token)
                    self._finished(in_flight.popleft())
        except Closed:
            return
        except BaseException as e:
            self._left_out(pipe, in_flight, e)

    def _finished(self, work: Work) -> None:
        group = work.group
        latency = time.perf_counter() - group.arrived
        with self._changed:
            self._done[group.number] = Done(group.first, group.count, work.outputs, latency, work.out_buffer)
            self._changed.notify_all()
        if work.in_buffer is not None:
            self._in.release(work.in_buffer)

    def _left_out(self, pipe: Pipe, unfinished: deque[Work], error: BaseException) -> None:
        """A device failed: the others run its groups."""
        with self._changed:
            self._working.remove(pipe)
            if not self._working:
                return self.fail(device_error(pipe, error))
            self._notices.append(f"{pipe.name} failed and is left out: {error}")
        try:
            for work in reversed(unfinished):
                if work.out_buffer is not None:  # the device may still write to it
                    self._abandoned.append(work.out_buffer)
                    work.out_buffer = self._out.allocate()
                    work.outputs = self._views(work.out_buffer, work.group)
                self._ready.put_first(work)
        except Closed:
            return
        except BaseException as e:
            self.fail(e)

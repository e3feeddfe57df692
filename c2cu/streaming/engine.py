"""Groups over devices: stage, start, finish, in order.

    feed -filling-> stagers -ready-> starter -running-> finisher -done-> the consumer, in order
        \\_____________________/ \\____ one pair a device ____/

Each arrow is a channel or a table with its own condition, each word a thread. Memory is bounded by the berths: the feed
takes one for a group's inputs and one for its outputs, in order, so that the group that the consumer waits for never
waits for memory that later groups hold. Inputs that a device takes from where they are need no stager.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy

from ..runtime.pipe import Pipe, sides
from ..schedule.artifact import Slot
from .batcher import Ending, Feed, Group
from .buffers import Berth, Berths, Hold, lend, view
from .channel import Channel, Closed
from .closer import FEED
from .copying import assemble
from .work import Done, State, Work, as_error, second_try

LENT = 2  # groups of results that a consumer may hold, by default
GLANCE = 0.25  # seconds between looks at whether a group takes too long, with several devices
FAREWELL = 10.0  # seconds that `close` waits for devices that do not answer
Targets = Callable[[int, int], Sequence[Any]]  # first input, how many -> arrays for their outputs, one a slot or None


class Engine:
    """Runs a feed's groups on ``pipes``. Call `result` until it returns None; `close` ends everything.

    ``given``: which slots come in groups. ``targets``: where outputs go, if not to memory of the engine's own.
    ``stagers``: threads that copy inputs; ``lent``: groups of results that a consumer may hold without a copy;
    ``copy``: whether batches are copied even where a device could read them.
    """

    def __init__(
        self,
        slots: tuple[Slot, ...],
        given: Sequence[bool],
        layout: str,
        group: int,
        pipes: Sequence[Pipe],
        targets: Targets | None = None,
        stagers: int = 1,
        lent: int = LENT,
        copy: bool = True,
    ):
        self._slots, self._layout, self._axis = slots, layout, 0 if layout == "row" else -1
        self._pipes, self._targets = tuple(pipes), targets
        self._stagers, self._most_lent, self._copy = stagers, lent, copy
        ins, outs = sides(slots, given)
        flight = sum(p.depth for p in pipes)
        self._state = state = State(alive=list(pipes))

        def allocate(nbytes: int) -> Any:
            return state.ask(lambda pipe: pipe.allocate(nbytes))

        self._in = Berths(ins, group, flight + stagers, allocate)
        self._out = Berths(outs, group, flight + stagers + lent, allocate)
        self._lent: list[Any] = []  # by group, references to what is in the consumer's hands
        self._retired: list[Berth] = []  # a device that failed may still write to them
        self._filling: Channel[Work] = Channel(stagers)
        self._ready: Channel[Work] = Channel(len(pipes))
        self._threads: list[threading.Thread] = []
        self._feed: Feed | None = None

    @staticmethod
    def cost(
        slots: tuple[Slot, ...], given: Sequence[bool], group: int, flight: int, stagers: int = 1, lent: int = LENT
    ) -> int:
        """Bytes of host memory, at most, for ``flight`` groups in flight."""
        ins, outs = sides(slots, given)
        return Berths.cost(ins, group) * (flight + stagers) + Berths.cost(outs, group) * (flight + stagers + lent)

    def start(self, feed: Feed) -> None:
        """Begin to take groups from ``feed``, which was made for this engine."""
        self._feed = feed
        self._threads = feed.start()
        works: list[tuple[str, Callable[..., None], tuple]] = [("stage", self._stage, ())] * self._stagers
        for pipe in self._pipes:
            permits: Channel[None] = Channel()
            for _ in range(pipe.depth):
                permits.put(None)
            running: Channel[Work] = Channel()
            works.append((f"start-{pipe.name}", self._start, (pipe, permits, running)))
            works.append((f"finish-{pipe.name}", self._finish, (pipe, permits, running)))
        for name, work, arguments in works:
            t = threading.Thread(target=work, args=arguments, name=f"c2cu-{name}", daemon=True)
            self._threads.append(t)
            t.start()

    # the feed's side

    def take(self, group: Group) -> None:
        """Take a group on, waiting for memory if need be. Raises Closed."""
        work = self._moored(group)
        if not work.parts:
            self._ready.put(work)
            return
        with self._state.changed:
            self._state.unfilled += 1
        self._filling.put(work)

    def copied(self) -> None:
        """Wait until all that was taken is copied, if batches are to be copied. Raises Closed."""
        with self._state.changed:
            while self._copy and self._state.unfilled and self._state.failure is None:
                self._state.changed.wait()
            if self._state.failure is not None:
                raise Closed

    def end(self, ending: Ending) -> None:
        """The feed has no more groups."""
        with self._state.changed:
            self._state.ending = ending
            self._state.changed.notify_all()

    def fail(self, error: BaseException) -> None:
        """Nothing goes on."""
        with self._state.changed:
            self._state.failure = self._state.failure or error
            self._state.changed.notify_all()

    # the consumer's side

    def notices(self) -> list[str]:
        """What went wrong on devices and was made good, since the last call."""
        with self._state.changed:
            said, self._state.notices = self._state.notices, []
        return said

    def result(self) -> Done | None:
        """The next group's outputs, in order; None at the end. Raises what ended the feed, CompileError where no device
        is left, and Closed where the engine was closed."""
        state = self._state
        while True:
            with state.changed:
                found = None if isinstance(state.failure, Closed) else state.done.pop(state.next, None)
                if found is not None:
                    state.next += 1
                    return found
                if state.failure is not None:
                    raise state.failure
                if state.ending is not None and state.next >= state.ending.groups:
                    if state.ending.error is not None:
                        raise state.ending.error
                    return None
                again = second_try(state, self._slots, self._layout, bool(len(self._ready)))
                if again is None:
                    state.changed.wait(GLANCE if len(state.alive) > 1 else None)
            if again is not None:
                self._put_first(again)

    def hand_over(self, done: Done) -> list[Any]:
        """The outputs for a user, in slots' order, without those that are not wanted; hers to keep."""
        arrays = [a for a in done.outputs if a is not None]
        berth = done.work.out
        if berth is None:
            return arrays
        self._lent = [loans for loans in self._lent if any(loan() is not None for loan in loans)]
        if len(self._lent) >= self._most_lent:
            # By bytes: copies of structs leave what lies between members as the memory was.
            arrays = [a.reshape(-1).view(numpy.uint8).copy().view(a.dtype).reshape(a.shape) for a in arrays]
            self._out.give_back(berth)
            return arrays
        lent, watched = lend(self._out, berth, arrays)
        self._lent.append(watched)
        return lent

    def release(self, done: Done) -> None:
        """The outputs are not wanted any more: their memory is free."""
        if done.work.out is not None:
            self._out.give_back(done.work.out)

    @property
    def settled(self) -> bool:
        """Whether no device is at work, so that `close` need not wait."""
        with self._state.changed:
            return not self._state.busy

    def close(self) -> None:
        """End all threads but one that waits in the user's own iterator. Groups in flight are waited for."""
        if self._feed is not None:
            self._feed.close()
        self._filling.close(drop=True)
        self._ready.close(drop=True)
        self._in.close()
        self._out.close()
        self.fail(Closed())
        me, deadline = threading.current_thread(), time.perf_counter() + FAREWELL
        for t in self._threads:
            if t is not me and t.name != FEED:
                t.join(max(0.0, deadline - time.perf_counter()))
        for p in self._pipes:
            if any(t.is_alive() and t.name.endswith(f"-{p.name}") for t in self._threads):
                continue  # it does not answer: what it holds stays
            try:
                p.close()
            except Exception:  # of a device that failed, as was said before
                continue
        self._feed, self._threads = None, []  # the feed knows the engine: without this, memory stays until a collection

    # memory

    def _moored(self, group: Group) -> Work:
        """A group with memory for both its sides; devices take inputs from where they are, if they can and may."""
        direct = all(x is None for x in group.parts) or not self._copy
        direct = direct and all(x is None or (len(x) == 1 and self._direct(x[0])) for x in group.parts)
        if direct:
            into, inputs = None, tuple(None if x is None else x[0] for x in group.parts)
        else:
            into = Hold(self._in, self._in.take())
            inputs = self._views(into.berth, group)
        out, outputs = None, None if self._targets is None else tuple(self._targets(group.first, group.count))
        if outputs is None or not all(a is None or self._direct(a) for a in outputs):
            out = self._out.take()
            outputs = self._views(out, group)
        parts, group.parts = group.parts, ()  # the user's arrays may go as soon as they are copied
        return Work(group, inputs, outputs, into, out, () if direct else parts)

    def _direct(self, array: Any) -> bool:
        return self._state.ask(lambda pipe: pipe.direct(array))

    def _views(self, berth: Berth, group: Group) -> tuple[Any, ...]:
        pairs = zip(self._slots, berth.memory)
        return tuple(None if m is None else view(m, s, group.count, self._layout) for s, m in pairs)

    # the threads

    def _stage(self) -> None:
        """Bring inputs to where devices can take them from."""
        try:
            for work in self._filling:
                for target, parts in zip(work.inputs, work.parts):
                    if parts is not None:
                        assemble(parts, target, self._axis)
                work.parts = ()
                with self._state.changed:
                    self._state.unfilled -= 1
                    self._state.changed.notify_all()
                self._ready.put(work)
        except Closed:
            return
        except BaseException as e:
            self.fail(e)

    def _start(self, pipe: Pipe, permits: Channel[None], running: Channel[Work]) -> None:
        try:
            while True:
                permits.get()
                work = self._next(pipe)
                if work is None:
                    return
                try:
                    work.token = pipe.start(work.group.number, work.inputs, work.outputs, work.group.count)
                except BaseException as e:
                    self._lost(pipe, [work], e)
                    return
                try:
                    running.put(work)
                except Closed:  # the finisher met the device's end meanwhile
                    self._lost(pipe, [work], None)
                    return
        except Closed:
            return
        finally:
            running.close()

    def _next(self, pipe: Pipe) -> Work | None:
        """Wait for work that ``pipe`` is to do; None where it is to do none any more. Raises Closed."""
        state = self._state
        while True:
            with state.changed:
                state.idle[pipe.name] += 1
            try:
                work = self._ready.get()
            finally:
                with state.changed:
                    state.idle[pipe.name] -= 1
            with state.changed:
                if pipe not in state.alive:
                    self._put_first(work)
                    return None
                if state.has(work.group.number):  # the first try came in after all
                    work.let_go(self._out)
                    continue
                if work.avoid is not pipe:
                    work.runner, work.started = pipe, time.perf_counter()
                    state.running[work.group.number] = work
                    state.busy += 1
                    return work
            self._put_first(work)  # a second try is for another device
            time.sleep(0.01)

    def _finish(self, pipe: Pipe, permits: Channel[None], running: Channel[Work]) -> None:
        for work in running:
            try:
                pipe.finish(work.token)
            except BaseException as e:
                permits.close(drop=True)
                running.close()
                self._lost(pipe, [work, *running], e)
                return
            self._done(work)
            try:
                permits.put(None)
            except Closed:
                continue
        permits.close(drop=True)

    def _done(self, work: Work) -> None:
        state, group, now = self._state, work.group, time.perf_counter()
        with state.changed:
            state.busy -= 1
            late = state.has(group.number)
            if not late:
                state.running.pop(group.number, None)
                state.times.append(now - work.started)
                state.done[group.number] = Done(group.first, group.count, work.outputs, now - group.arrived, work)
                state.changed.notify_all()
        if work.into is not None:
            work.into.drop()
        if late and work.out is not None:  # another device was faster
            self._out.give_back(work.out)

    def _lost(self, pipe: Pipe, works: list[Work], error: BaseException | None) -> None:
        """A device failed: the others take its groups. ``error``: None where it was said already, or will be."""
        state = self._state
        with state.changed:
            state.busy -= len(works)
            if error is not None and pipe in state.alive:
                state.alive.remove(pipe)
                if state.alive:
                    state.notices.append(f"{pipe.name} failed and is left out: {error}")
            if not state.alive:
                self.fail(as_error(pipe, error))
                return
            lost = [w for w in works if not state.has(w.group.number)]
        for work in sorted(lost, key=lambda w: -w.group.number):
            try:
                self._put_first(self._afresh(work))
            except Closed:
                return
            except BaseException as e:
                self.fail(e)

    def _afresh(self, work: Work) -> Work:
        """The same work with other memory for its outputs, as the device that failed may still write to the first."""
        if work.out is None:
            return Work(work.group, work.inputs, work.outputs, work.into, None)
        self._retired.append(work.out)
        out = self._out.make()
        return Work(work.group, work.inputs, self._views(out, work.group), work.into, out)

    def _put_first(self, work: Work) -> None:
        try:
            self._ready.put(work, first=True)
        except Closed:
            pass

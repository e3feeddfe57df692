"""Groups over devices: stage, start, finish, in order.

    feed -filling-> stagers -ready-> starter -running-> finisher -done-> the consumer, in order
        \\_____________________/ \\____ one pair a device ____/

Each arrow is a channel or a table with its own condition, each word a thread. Memory is bounded by the berths: the feed
takes one for a group's inputs and one for its outputs, in order, so that the group that the consumer waits for never
waits for memory that later groups hold. Inputs that a device takes from where they are need no stager.
"""

from __future__ import annotations

import statistics
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy

from ..artifact import Slot
from ..diagnostics import CompileError, Error
from ..runtime.pipe import Pipe
from .berths import Berth, Berths, lend, shape_of, view
from .channel import Channel, Closed
from .copying import assemble
from .feed import Ending, Feed, Group

LENT = 2  # groups of results that a consumer may hold, by default
SLOW = 10  # times the usual: a group that takes longer is given to an idle device as well
PATIENCE = 1.0  # seconds that a group may always take
FAREWELL = 10.0  # seconds that `close` waits for devices that do not answer


@dataclass(eq=False)
class Work:
    """A group with its memory."""

    group: Group
    inputs: tuple[Any, ...]
    outputs: tuple[Any, ...]
    berths: tuple[Berth | None, Berth | None] = (None, None)  # in, out
    parts: tuple[list[Any] | None, ...] = ()  # what is to be copied to ``inputs``
    token: Any = None
    started: float = 0.0
    again: bool = False  # a second try of a slow group


@dataclass(frozen=True)
class Done:
    """A group's outputs, one array a slot or None. ``latency``: seconds since its first input arrived."""

    first: int
    count: int
    outputs: tuple[Any, ...]
    latency: float
    work: Work


@dataclass(eq=False)
class _State:
    """What all threads share, under one lock."""

    changed: threading.Condition = field(default_factory=threading.Condition)
    done: dict[int, Done] = field(default_factory=dict)
    next: int = 0  # the group that the consumer waits for
    ending: Ending | None = None
    failure: BaseException | None = None  # nothing goes on after this
    alive: list[Pipe] = field(default_factory=list)
    running: dict[int, Work] = field(default_factory=dict)  # by number, started and not done
    idle: int = 0  # starters that wait for work
    times: deque[float] = field(default_factory=lambda: deque(maxlen=64))
    notices: list[str] = field(default_factory=list)

    def has(self, number: int) -> bool:
        """Whether a group's outputs are there, or were handed over."""
        return number < self.next or number in self.done


Targets = Callable[[int, int], Sequence[Any]]  # first input, how many -> arrays for their outputs, one a slot or None


class Engine:
    """Runs a feed's groups on ``pipes``. Iterate over `result` until it returns None; `close` ends everything.

    ``given``, ``wanted``: for each slot, whether its inputs go in and its outputs come out. ``targets``: where outputs
    go, if not to memory of the engine's own. ``stagers``: threads that copy inputs; ``lent``: groups of results that a
    consumer may hold without a copy.
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
    ):
        self._slots, self._layout, self._axis = slots, layout, 0 if layout == "row" else -1
        self._pipes, self._targets = tuple(pipes), targets
        ins, outs = sides(slots, given)
        flight = sum(p.depth for p in pipes)
        allocate = pipes[0].allocate
        self._stagers, self._most_lent = stagers, lent
        self._in = Berths(ins, group, flight + stagers, allocate)
        self._out = Berths(outs, group, flight + stagers + lent, allocate)
        self._lent: list[Any] = []  # by group, references to what is in the consumer's hands
        self._filling: Channel[Work] = Channel(stagers)
        self._ready: Channel[Work] = Channel(len(pipes))
        self._state = _State(alive=list(pipes))
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
        """Begin to take groups from ``feed``, which was made with this engine's `take` and `end`."""
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

    def take(self, group: Group) -> None:
        """Take a group on, waiting for memory if need be. Raises Closed."""
        work = self._moored(group)
        (self._filling if work.parts else self._ready).put(work)

    def end(self, ending: Ending) -> None:
        """The feed has no more groups."""
        with self._state.changed:
            self._state.ending = ending
            self._state.changed.notify_all()

    def notices(self) -> list[str]:
        """What went wrong on devices and was made good, since the last call."""
        with self._state.changed:
            said, self._state.notices = self._state.notices, []
        return said

    def result(self) -> Done | None:
        """The next group's outputs, in order; None at the end. Raises what ended the feed, and CompileError where no
        device is left."""
        state = self._state
        while True:
            again: Work | None = None
            with state.changed:
                found = state.done.pop(state.next, None)
                if found is not None:
                    state.next += 1
                    return found
                if state.failure is not None:
                    raise state.failure
                if state.ending is not None and state.next >= state.ending.groups:
                    if state.ending.error is not None:
                        raise state.ending.error
                    return None
                again = self._overdue()
                if again is None:
                    state.changed.wait(PATIENCE / 4 if len(state.alive) > 1 and state.running else None)
            if again is not None:
                self._put(again)

    def hand_over(self, done: Done) -> list[Any]:
        """The outputs for a user, in slots' order, without those that are not wanted; hers to keep."""
        arrays = [a for a in done.outputs if a is not None]
        berth = done.work.berths[1]
        if berth is None:
            return arrays
        self._lent = [loans for loans in self._lent if any(loan() is not None for loan in loans)]
        if len(self._lent) >= self._most_lent:
            arrays = [a.copy() for a in arrays]
            self._out.give_back(berth)
            return arrays
        lent, watched = lend(self._out, berth, arrays)
        self._lent.append(watched)
        return lent

    def release(self, done: Done) -> None:
        """The outputs were copied: their memory is free."""
        berth = done.work.berths[1]
        if berth is not None:
            self._out.give_back(berth)

    def close(self) -> None:
        """End all threads but one that waits in the user's own iterator. Groups in flight are waited for."""
        if self._feed is not None:
            self._feed.close()
        self._filling.close(drop=True)
        self._ready.close(drop=True)
        self._in.close()
        self._out.close()
        with self._state.changed:
            self._state.failure = self._state.failure or Closed()
            self._state.changed.notify_all()
        me = threading.current_thread()
        deadline = time.perf_counter() + FAREWELL
        for t in self._threads:
            if t is not me and not t.name.endswith("feed"):
                t.join(max(0.0, deadline - time.perf_counter()))
        for p in self._pipes:
            if not any(t.is_alive() and t.name.endswith(f"-{p.name}") for t in self._threads):
                p.close()
        self._feed, self._threads = None, []  # the feed knows the engine: without this, memory stays until a collection

    # the threads

    def _stage(self) -> None:
        """Bring inputs to where devices can take them from."""
        try:
            for work in self._filling:
                self._fill(work)
                self._ready.put(work)
        except Closed:
            return
        except BaseException as e:
            self._fail(e)

    def _moored(self, group: Group) -> Work:
        """A group with memory for both its sides; devices take inputs from where they are, if they can."""
        direct = all(x is None or (len(x) == 1 and self._pipes[0].direct(x[0])) for x in group.parts)
        into, out = None, None
        if direct:
            inputs = tuple(None if x is None else x[0] for x in group.parts)
        else:
            into = self._in.take()
            inputs = self._views(into, group)
        outputs = None if self._targets is None else tuple(self._targets(group.first, group.count))
        if outputs is None or not all(a is None or self._pipes[0].direct(a) for a in outputs):
            out = self._out.take()
            outputs = self._views(out, group)
        parts, group.parts = group.parts, ()  # the user's arrays may go as soon as they are copied
        return Work(group, inputs, outputs, (into, out), () if direct else parts)

    def _views(self, berth: Berth, group: Group) -> tuple[Any, ...]:
        pairs = zip(self._slots, berth.memory)
        return tuple(None if m is None else view(m, s, group.count, self._layout) for s, m in pairs)

    def _fill(self, work: Work) -> None:
        for target, parts in zip(work.inputs, work.parts):
            if parts is not None:
                assemble(parts, target, self._axis)
        work.parts = ()

    def _start(self, pipe: Pipe, permits: Channel[None], running: Channel[Work]) -> None:
        state = self._state
        try:
            while True:
                permits.get()
                with state.changed:
                    state.idle += 1
                    state.changed.notify_all()
                try:
                    work = self._ready.get()
                finally:
                    with state.changed:
                        state.idle -= 1
                number = work.group.number
                with state.changed:
                    if pipe not in state.alive:
                        self._ready.put(work, first=True)
                        return
                    if state.has(number):  # the first try came in after all
                        permits.put(None)
                        continue
                    work.started = time.perf_counter()
                    state.running[number] = work
                try:
                    work.token = pipe.start(number, work.inputs, work.outputs, work.group.count)
                except BaseException as e:
                    self._lost(pipe, [work], e)
                    return
                running.put(work)
        except Closed:
            return
        finally:
            running.close()

    def _finish(self, pipe: Pipe, permits: Channel[None], running: Channel[Work]) -> None:
        try:
            for work in running:
                try:
                    pipe.finish(work.token)
                except BaseException as e:
                    permits.close()
                    self._lost(pipe, [work, *running_left(running)], e)
                    return
                self._done(work)
                permits.put(None)
        finally:
            permits.close()

    def _done(self, work: Work) -> None:
        state, group, now = self._state, work.group, time.perf_counter()
        into, out = work.berths
        if into is not None:
            self._in.give_back(into)
        with state.changed:
            first = not state.has(group.number)
            if first:
                state.running.pop(group.number, None)
                state.times.append(now - work.started)
                state.done[group.number] = Done(group.first, group.count, work.outputs, now - group.arrived, work)
                state.changed.notify_all()
        if not first and out is not None:  # another device was faster
            self._out.give_back(out)

    def _lost(self, pipe: Pipe, works: list[Work], error: BaseException) -> None:
        """A device failed: the others take its groups."""
        state = self._state
        with state.changed:
            if pipe in state.alive:
                state.alive.remove(pipe)
                left = len(state.alive)
                if left:
                    state.notices.append(f"{pipe.name} failed and is left out: {error}")
            lost = [w for w in works if not state.has(w.group.number)]
            if not state.alive:
                self._fail(_as_error(pipe, error))
                return
        for work in sorted(lost, key=lambda w: -w.group.number):
            self._put(work, first=True)

    def _overdue(self) -> Work | None:
        """A second try of the group that the consumer waits for, if it takes too long and a device is idle."""
        state = self._state
        work = state.running.get(state.next)
        if work is None or work.again or not state.idle or len(self._ready) or len(state.alive) < 2:
            return None
        usual = statistics.median(state.times) if state.times else 0.0
        if time.perf_counter() - work.started < max(PATIENCE, SLOW * usual):
            return None
        work.again = True
        state.notices.append(
            f"a group of {work.group.count} inputs takes too long: it is run on another device as well"
        )
        outputs = tuple(
            None if a is None else numpy.empty(shape_of(s, work.group.count, self._layout), a.dtype)
            for s, a in zip(self._slots, work.outputs)
        )
        return Work(work.group, work.inputs, outputs, again=True)

    def _put(self, work: Work, first: bool = True) -> None:
        try:
            self._ready.put(work, first)
        except Closed:
            pass

    def _fail(self, error: BaseException) -> None:
        with self._state.changed:
            self._state.failure = self._state.failure or error
            self._state.changed.notify_all()


def running_left(running: Channel[Work]) -> list[Work]:
    """What was started and will not be finished."""
    running.close()
    return list(running)


def sides(slots: tuple[Slot, ...], given: Sequence[bool]) -> tuple[list[Slot | None], list[Slot | None]]:
    """The slots that go in, and those that come out; None for the others."""
    return [s if g else None for s, g in zip(slots, given)], [s if s.writes else None for s in slots]


def _as_error(pipe: Pipe, error: BaseException) -> BaseException:
    if isinstance(error, Error):
        return error
    return CompileError("C2CU064", f"{pipe.name} does not run it: {error}", None, "try another schedule or device")

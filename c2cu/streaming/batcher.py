"""The head of a stream: takes batches of any size from the user's iterator and cuts them into groups."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy

from ..base.diagnostics import InputTypeError
from ..schedule.artifact import piece
from .channel import Closed
from .closer import FEED

Arrays = tuple[Any, ...]  # one a slot; None: not given
Check = Callable[[Any], tuple[Arrays, int]]  # a batch -> its arrays and how many inputs they are; raises InputError


@dataclass(eq=False)
class Group:
    """Inputs ``first`` .. ``first + count - 1``. ``arrived``: when the first of them did, by perf_counter.

    ``parts``: for each slot, the arrays that hold them, one after the other along the p axis.
    """

    number: int
    first: int
    count: int
    arrived: float
    parts: tuple[list[Any] | None, ...]


@dataclass
class Ending:
    """How many groups there were; ``error``: what ended them, None where the batches did."""

    groups: int
    error: BaseException | None = None


class Taker(Protocol):
    """Where groups go. `take` waits where there is no room, and raises Closed where the stream is over; `copied` waits
    until all that was taken is copied; `end` is called after the last group, `fail` where taking one failed."""

    def take(self, group: Group) -> None: ...
    def copied(self) -> None: ...
    def end(self, ending: Ending) -> None: ...
    def fail(self, error: BaseException) -> None: ...


@dataclass(eq=False)
class _Batch:
    """Inputs ``start`` .. ``stop - 1`` of arrays. ``arrived``: when; None: when they are cut. ``ours``: copied."""

    arrays: Arrays
    start: int
    stop: int
    arrived: float | None
    ours: bool = False


@dataclass(eq=False)
class _Pending:
    """What is waiting to be cut."""

    batches: deque[_Batch] = field(default_factory=deque)
    count: int = 0
    groups: int = 0
    first: int = 0


class Feed:
    """Gives groups of ``group`` inputs to ``taker``, in order; the last and, with ``interval``, others may be shorter.

    ``copy``: whether batches may be written to again as soon as the next one is asked for.
    """

    def __init__(
        self,
        batches: Iterator[Any],
        check: Check,
        layout: str,
        group: int,
        interval: float | None,
        taker: Taker,
        copy: bool = True,
    ):
        self._batches, self._check, self._taker, self._copy = batches, check, taker, copy
        self._layout = layout
        self._group, self._interval = group, interval
        self._pending = _Pending()
        self._turn = threading.Lock()  # held from the cut until the group is taken: groups stay in order
        self._stop = threading.Event()

    def start(self) -> list[threading.Thread]:
        """The threads that do it."""
        works: list[tuple[str, Callable[[], None]]] = [(FEED, self._run)]
        if self._interval is not None:
            works.append(("c2cu-clock", self._tick))
        threads = [threading.Thread(target=work, name=name, daemon=True) for name, work in works]
        for t in threads:
            t.start()
        return threads

    def close(self) -> None:
        """End, whatever the user's iterator does."""
        self._stop.set()

    def _run(self) -> None:
        error: BaseException | None = None
        try:
            for batch in self._batches:
                self._add(*self._check(batch))
                if self._stop.is_set():
                    return
        except Closed:
            return
        except BaseException as e:  # the user's own, or that a batch does not fit: raised in its place in the order
            error = e
        try:
            with self._turn:
                if self._pending.count:
                    self._give(self._pending.count)
                self._stop.set()
                self._taker.end(Ending(self._pending.groups, error))
        except Closed:
            return

    def _add(self, arrays: Arrays, count: int) -> None:
        pending = self._pending
        if not count:
            return
        with self._turn:
            pending.batches.append(_Batch(arrays, 0, count, time.perf_counter()))
            pending.count += count
        while pending.count >= self._group:
            with self._turn:
                if pending.count >= self._group:  # the clock may have been here
                    self._give(self._group)
        if self._copy:
            with self._turn:
                if pending.batches and not pending.batches[-1].ours:
                    self._own(pending.batches[-1])
            self._taker.copied()

    def _own(self, rest: _Batch) -> None:
        arrays = self._slice(rest.arrays, rest.start, rest.stop)
        rest.arrays = tuple(None if a is None else numpy.array(a) for a in arrays)
        rest.start, rest.stop, rest.ours = 0, rest.stop - rest.start, True

    def _tick(self) -> None:
        """Cut what there is every ``interval`` seconds, full or not (thesis, figure 4.13)."""
        assert self._interval is not None
        due = time.perf_counter() + self._interval
        while not self._stop.wait(max(0.0, due - time.perf_counter())):
            due = max(due + self._interval, time.perf_counter())
            try:
                with self._turn:
                    if self._pending.count and not self._stop.is_set():
                        self._give(min(self._pending.count, self._group))
            except Closed:
                return

    def _give(self, count: int) -> None:
        """The next ``count`` inputs to the taker. Raises Closed, after any failure too."""
        try:
            self._taker.take(self._cut(count))
        except Closed:
            raise
        except BaseException as e:
            self._taker.fail(e)
            raise Closed from None

    def _cut(self, count: int) -> Group:
        pending = self._pending
        taken: list[Arrays] = []
        arrived, missing = pending.batches[0].arrived or time.perf_counter(), count
        while missing:
            b = pending.batches[0]
            end = min(b.stop, b.start + missing)
            taken.append(self._slice(b.arrays, b.start, end))
            missing -= end - b.start
            if end == b.stop:
                pending.batches.popleft()
            else:  # the rest of a batch arrives when there is room for it
                b.start, b.arrived = end, None
        parts = tuple(None if column[0] is None else list(column) for column in zip(*taken))
        group = Group(pending.groups, pending.first, count, arrived, parts)
        pending.count -= count
        pending.groups += 1
        pending.first += count
        return group

    def _slice(self, arrays: Arrays, start: int, end: int) -> Arrays:
        part = piece(self._layout, start, end)
        return tuple(None if a is None else a[part] for a in arrays)


def batches_of(given: Any) -> tuple[Iterator[Any], bool]:
    """(an iterator over batches, whether it is just one): an array, or a dict of arrays, is one."""
    one = isinstance(given, Mapping) or hasattr(given, "dtype") or hasattr(given, "__array_interface__")
    try:
        return iter((given,) if one else given), one
    except TypeError:
        said = f"batches are of type {type(given).__name__}"
        raise InputTypeError("C2CU044", said, None, "give arrays, or an iterable of them") from None

"""The head of a stream: takes batches of any size from the user's iterator and cuts them into groups."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from .channel import Closed

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


@dataclass(eq=False)
class _Pending:
    """What is waiting to be cut."""

    batches: deque[tuple[Arrays, int, int, float | None]] = field(default_factory=deque)  # arrays, from, to, arrival
    count: int = 0
    groups: int = 0
    first: int = 0


class Feed:
    """Gives groups of ``group`` inputs to ``take``, in order; the last and, with ``interval``, others may be shorter.

    ``take`` waits where there is no room, and raises Closed where the stream is over; ``end`` is called after the last.
    """

    def __init__(
        self,
        batches: Iterator[Any],
        check: Check,
        layout: str,
        group: int,
        interval: float | None,
        take: Callable[[Group], None],
        end: Callable[[Ending], None],
    ):
        self._batches, self._check, self._take, self._end = batches, check, take, end
        self._axis = 0 if layout == "row" else -1
        self._group, self._interval = group, interval
        self._pending = _Pending()
        self._turn = threading.Lock()  # held from the cut until the group is taken: groups stay in order
        self._stop = threading.Event()

    def start(self) -> list[threading.Thread]:
        """The threads that do it."""
        works: list[tuple[str, Callable[[], None]]] = [("feed", self._run)]
        if self._interval is not None:
            works.append(("clock", self._tick))
        threads = [threading.Thread(target=work, name=f"c2cu-{name}", daemon=True) for name, work in works]
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
                    self._take(self._cut(self._pending.count))
                self._stop.set()
                self._end(Ending(self._pending.groups, error))
        except Closed:
            return

    def _add(self, arrays: Arrays, count: int) -> None:
        pending = self._pending
        if not count:
            return
        with self._turn:
            pending.batches.append((arrays, 0, count, time.perf_counter()))
            pending.count += count
        while pending.count >= self._group:
            with self._turn:
                if pending.count >= self._group:  # the clock may have been here
                    self._take(self._cut(self._group))

    def _tick(self) -> None:
        """Cut what there is every ``interval`` seconds, full or not (thesis, figure 4.13)."""
        assert self._interval is not None
        due = time.perf_counter() + self._interval
        while not self._stop.wait(max(0.0, due - time.perf_counter())):
            due = max(due + self._interval, time.perf_counter())
            try:
                with self._turn:
                    if self._pending.count and not self._stop.is_set():
                        self._take(self._cut(min(self._pending.count, self._group)))
            except Closed:
                return

    def _cut(self, count: int) -> Group:
        pending = self._pending
        taken: list[Arrays] = []
        arrived, missing = pending.batches[0][3], count
        if arrived is None:
            arrived = time.perf_counter()
        while missing:
            arrays, start, stop, _ = pending.batches.popleft()
            end = min(stop, start + missing)
            taken.append(arrays if end - start == stop and not start else self._slice(arrays, start, end))
            if end < stop:  # the rest of a batch arrives when there is room for it
                pending.batches.appendleft((arrays, end, stop, None))
            missing -= end - start
        parts = tuple(None if column[0] is None else list(column) for column in zip(*taken))
        group = Group(pending.groups, pending.first, count, arrived, parts)
        pending.count -= count
        pending.groups += 1
        pending.first += count
        return group

    def _slice(self, arrays: Arrays, start: int, end: int) -> Arrays:
        part = (slice(start, end),) if self._axis == 0 else (..., slice(start, end))
        return tuple(None if a is None else a[part] for a in arrays)


def batches_of(given: Any) -> Iterator[Any]:
    """An iterator over batches: an array, or a dict of arrays, is one."""
    one = isinstance(given, Mapping) or hasattr(given, "dtype") or hasattr(given, "__array_interface__")
    return iter((given,) if one else given)

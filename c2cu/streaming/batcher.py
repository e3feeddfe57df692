"""The head of a stream: reads batches of any size from the user's iterator and cuts them into groups."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy

from ..base import catalogue
from ..schedule.slots import piece
from .channel import Closed

Arrays = tuple[Any, ...]  # one for each slot; None for slots that do not come in batches
Check = Callable[[Any], tuple[Arrays, int]]  # a batch -> its arrays and how many inputs it has; raises InputError


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


class Receiver(Protocol):
    """Where groups go."""

    def take(self, group: Group) -> None:
        """Wait for memory and take the group. Raises Closed when the stream has ended."""
        ...

    def wait_until_copied(self) -> None:
        """Wait until all groups that were taken are copied. Raises Closed."""
        ...

    def end(self, groups: int, error: BaseException | None) -> None:
        """There were so many groups. ``error``: what ended them; None if the batches did."""
        ...

    def fail(self, error: BaseException) -> None:
        """A group could not be taken."""
        ...


@dataclass(eq=False)
class _Batch:
    """Inputs ``start`` .. ``stop - 1`` of arrays. ``arrived``: None for the rest of a batch, which arrives when it is
    cut. ``copied``: whether the arrays are the batcher's own."""

    arrays: Arrays
    start: int
    stop: int
    arrived: float | None
    copied: bool = False


class Batcher:
    """Gives ``receiver`` groups of ``group`` inputs, in order. The last one may be shorter; with ``interval``, in
    seconds, others too. ``copy``: batches may be written to as soon as the next one is asked for."""

    def __init__(
        self,
        batches: Iterator[Any],
        check: Check,
        layout: str,
        group: int,
        interval: float | None,
        receiver: Receiver,
        copy: bool = True,
    ):
        self._batches, self._check, self._receiver, self._copy = batches, check, receiver, copy
        self._layout, self._group, self._interval = layout, group, interval
        self._waiting: deque[_Batch] = deque()  # what is not cut yet
        self._count = 0  # inputs of these
        self._groups = 0
        self._first = 0  # the next group's first input
        self._turn = threading.Lock()  # held from the cut until the group is taken: groups stay in order
        self._stopped = threading.Event()

    def start(self) -> None:
        """Begin, in threads of its own."""
        threading.Thread(target=self._read, name="c2cu-batcher", daemon=True).start()
        if self._interval is not None:
            threading.Thread(target=self._tick, name="c2cu-clock", daemon=True).start()

    def stop(self) -> None:
        """End the threads, except one that waits in the user's iterator: that ends with the next batch."""
        self._stopped.set()

    def _read(self) -> None:
        error: BaseException | None = None
        try:
            for batch in self._batches:
                self._add(*self._check(batch))
                if self._stopped.is_set():
                    return
        except Closed:
            return
        except BaseException as e:  # of the user's iterator, or of a wrong batch: raised after the results before it
            error = e
        try:
            with self._turn:
                if self._count:
                    self._give(self._count)
                self._stopped.set()
                self._receiver.end(self._groups, error)
        except Closed:
            return

    def _add(self, arrays: Arrays, count: int) -> None:
        if not count:
            return
        batch = _Batch(arrays, 0, count, time.perf_counter())
        with self._turn:
            self._waiting.append(batch)
            self._count += count
        while self._count >= self._group:
            with self._turn:
                if self._count >= self._group:  # the clock may have cut a group meanwhile
                    self._give(self._group)
        if self._copy:
            with self._turn:
                if self._waiting:
                    self._copy_rest(self._waiting[-1])
            self._receiver.wait_until_copied()

    def _copy_rest(self, batch: _Batch) -> None:
        if batch.copied:
            return
        rest = self._slice(batch.arrays, batch.start, batch.stop)
        batch.arrays = tuple(None if a is None else numpy.array(a) for a in rest)
        batch.start, batch.stop, batch.copied = 0, batch.stop - batch.start, True

    def _tick(self) -> None:
        """Cut what there is every ``interval`` seconds, whether or not a group is full (thesis, figure 4.13)."""
        assert self._interval is not None
        due = time.perf_counter() + self._interval
        while not self._stopped.wait(max(0.0, due - time.perf_counter())):
            due = max(due + self._interval, time.perf_counter())
            try:
                with self._turn:
                    if self._count and not self._stopped.is_set():
                        self._give(min(self._count, self._group))
            except Closed:
                return

    def _give(self, count: int) -> None:
        """Give the next ``count`` inputs away. Raises Closed, also after any failure."""
        try:
            self._receiver.take(self._cut(count))
        except Closed:
            raise
        except BaseException as e:
            self._receiver.fail(e)
            raise Closed from None

    def _cut(self, count: int) -> Group:
        pieces: list[Arrays] = []
        arrived, missing = self._waiting[0].arrived or time.perf_counter(), count
        while missing:
            b = self._waiting[0]
            end = min(b.stop, b.start + missing)
            pieces.append(self._slice(b.arrays, b.start, end))
            missing -= end - b.start
            if end == b.stop:
                self._waiting.popleft()
            else:
                b.start, b.arrived = end, None
        parts = tuple(None if column[0] is None else list(column) for column in zip(*pieces))
        group = Group(self._groups, self._first, count, arrived, parts)
        self._count -= count
        self._groups += 1
        self._first += count
        return group

    def _slice(self, arrays: Arrays, start: int, end: int) -> Arrays:
        part = piece(self._layout, start, end)
        return tuple(None if a is None else a[part] for a in arrays)


def iterator_of(batches: Any) -> tuple[Iterator[Any], bool]:
    """An iterator over batches, and whether there is just one: an array, or a dict of arrays, is one batch."""
    is_one = isinstance(batches, Mapping) or hasattr(batches, "dtype") or hasattr(batches, "__array_interface__")
    try:
        return iter((batches,) if is_one else batches), is_one
    except TypeError:
        raise catalogue.NOT_BATCHES.error(type=type(batches).__name__) from None

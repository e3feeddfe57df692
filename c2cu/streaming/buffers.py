"""Host memory for groups: made once, used again and again."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Any

import numpy

from ..runtime.borrowing import leased
from ..schedule.artifact import Slot, shape_of
from .channel import Closed

Allocate = Callable[[int], numpy.ndarray]  # bytes -> uint8 array of that many


def view(memory: numpy.ndarray, slot: Slot, n: int, layout: str) -> numpy.ndarray:
    """The first bytes of ``memory`` as n inputs' arrays."""
    return memory[: n * slot.nbytes].view(numpy.dtype(slot.dtype)).reshape(shape_of(slot, n, layout))


@dataclass(eq=False)
class Berth:
    """Memory for one side, in or out, of one group; one piece for each slot, None where nothing is there."""

    memory: tuple[numpy.ndarray | None, ...]


class Berths:
    """``count`` berths for groups of at most ``group`` inputs; memory is taken when it is first needed.

    They may be given back at any moment, by the garbage collector inside of `take` too: deque and SimpleQueue allow it.
    """

    def __init__(self, slots: Sequence[Slot | None], group: int, count: int, allocate: Allocate):
        self._slots, self._group, self._allocate = slots, group, allocate
        self._made: deque[Berth] = deque()  # free ones, the warmest last
        self._free: SimpleQueue[bool] = SimpleQueue()  # an entry for each that is free, made or not; False: closed
        for _ in range(count):
            self._free.put(True)

    @staticmethod
    def cost(slots: Sequence[Slot | None], group: int) -> int:
        """Bytes of one berth."""
        return group * sum(s.nbytes for s in slots if s is not None)

    def take(self) -> Berth:
        """Wait for a free berth. Raises Closed when the stream has ended."""
        if not self._free.get():
            self._free.put(False)  # for the next one
            raise Closed
        try:
            return self._made.pop()
        except IndexError:
            pass
        try:
            return self.make()
        except BaseException:
            self._free.put(True)
            raise

    def make(self) -> Berth:
        """One in the place of another that will not come back."""
        return Berth(tuple(None if s is None else self._piece(s) for s in self._slots))

    def _piece(self, slot: Slot) -> numpy.ndarray:
        memory = self._allocate(slot.nbytes * self._group)
        if numpy.dtype(slot.dtype).kind == "V":
            memory[...] = 0  # what lies between members, once: nobody writes to it
        return memory

    def give_back(self, berth: Berth) -> None:
        self._made.append(berth)
        self._free.put(True)

    def close(self) -> None:
        """No more berths; memory goes when the last array that looks at it does."""
        try:
            while True:
                self._free.get_nowait()
        except Empty:
            self._free.put(False)
            self._made.clear()


class Hold:
    """A berth that several tries of one group look at: free when the last has ended."""

    def __init__(self, berths: Berths, berth: Berth):
        self.berth = berth
        self._berths, self._users, self._lock = berths, 1, threading.Lock()

    def share(self) -> None:
        with self._lock:
            self._users += 1

    def drop(self) -> None:
        with self._lock:
            self._users -= 1
            last = self._users == 0
        if last:
            self._berths.give_back(self.berth)


def lend(
    berths: Berths, berth: Berth, arrays: Sequence[numpy.ndarray]
) -> tuple[list[numpy.ndarray], list[Callable[[], Any]]]:
    """``arrays``, which lie in ``berth``, as arrays whose end gives it back; and references that are dead by then."""
    waiting = list(range(len(arrays)))

    def gone() -> None:
        if waiting.pop() == 0:  # in whichever thread, and once
            berths.give_back(berth)

    lent, watched = [], []
    for a in arrays:
        memory, loan = leased(a.ctypes.data, a.nbytes, gone)
        watched.append(loan)
        lent.append(memory.view(a.dtype).reshape(a.shape))
    return lent, watched

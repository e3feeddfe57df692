"""Host memory for groups: made once, used again and again."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy

from ..artifact import Slot
from .channel import Channel, Closed

Allocate = Callable[[int], numpy.ndarray]  # bytes -> uint8 array of that many


def shape_of(slot: Slot, n: int, layout: str) -> tuple[int, ...]:
    """The shape of n inputs' arrays, as the user sees them."""
    return (n, *slot.shape) if layout == "row" else (*slot.shape, n)


def view(memory: numpy.ndarray, slot: Slot, n: int, layout: str) -> numpy.ndarray:
    """The first bytes of ``memory`` as n inputs' arrays."""
    return memory[: n * slot.nbytes].view(numpy.dtype(slot.dtype)).reshape(shape_of(slot, n, layout))


@dataclass(eq=False)
class Berth:
    """Memory for one side, in or out, of one group; one piece for each slot, None where nothing is there."""

    memory: tuple[numpy.ndarray | None, ...]


class Berths:
    """``count`` berths for groups of at most ``group`` inputs; memory is taken when it is first needed."""

    def __init__(self, slots: Sequence[Slot | None], group: int, count: int, allocate: Allocate):
        self._slots, self._group, self._allocate = slots, group, allocate
        self._free: Channel[Berth | None] = Channel()
        for _ in range(count):
            self._free.put(None)

    @staticmethod
    def cost(slots: Sequence[Slot | None], group: int) -> int:
        """Bytes of one berth."""
        return group * sum(s.nbytes for s in slots if s is not None)

    def take(self) -> Berth:
        """Wait for a free berth. Raises Closed when the stream has ended."""
        found = self._free.get()
        if found is None:
            found = Berth(tuple(None if s is None else self._allocate(s.nbytes * self._group) for s in self._slots))
        return found

    def give_back(self, berth: Berth) -> None:
        try:
            self._free.put(berth, first=True)  # its memory is warm
        except Closed:
            pass  # the stream is over: the memory goes when the last array does

    def close(self) -> None:
        self._free.close(drop=True)


class _Loan:
    """A berth's memory in a user's hands: given back when the last array that looks at it is gone."""

    def __init__(self, memory: numpy.ndarray):
        self.memory = memory
        self.__array_interface__ = memory.__array_interface__


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
        loan = _Loan(a.reshape(-1).view(numpy.uint8))
        weakref.finalize(loan, gone).atexit = False
        watched.append(weakref.ref(loan))
        lent.append(numpy.asarray(loan).view(a.dtype).reshape(a.shape))
    return lent, watched

"""Host memory for groups: a pool of buffers that are allocated once and borrowed again and again."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Any

import numpy

from ..runtime.borrowing import borrowed
from ..schedule.slots import Slot, shape_of
from .channel import Closed

Allocate = Callable[[int], numpy.ndarray]  # a number of bytes -> an uint8 array of that length


@dataclass(eq=False)
class Buffer:
    """Memory for one group's inputs or outputs: an uint8 array for each slot, None for slots that have none."""

    memory: tuple[numpy.ndarray | None, ...]


class BufferPool:
    """``count`` buffers for groups of at most ``group`` inputs. A buffer is allocated when it is first needed.

    The garbage collector may call `release` at any moment, even within `borrow`: deque and SimpleQueue allow that.
    """

    def __init__(self, slots: Sequence[Slot | None], group: int, count: int, allocate: Allocate):
        self._slots, self._group, self._allocate_bytes = slots, group, allocate
        self._allocated: deque[Buffer] = deque()  # those that are free, the latest last: it is still in the cache
        self._free: SimpleQueue[bool] = SimpleQueue()  # True for each free buffer, allocated or not; False: closed
        for _ in range(count):
            self._free.put(True)

    @staticmethod
    def cost(slots: Sequence[Slot | None], group: int) -> int:
        """Bytes of one buffer."""
        return group * sum(s.nbytes for s in slots if s is not None)

    def borrow(self) -> Buffer:
        """Wait for a free buffer. Raises Closed when the stream has ended."""
        if not self._free.get():
            self._free.put(False)  # for whoever asks next
            raise Closed
        try:
            return self._allocated.pop()
        except IndexError:
            pass
        try:
            return self.allocate()
        except BaseException:
            self._free.put(True)
            raise

    def allocate(self) -> Buffer:
        """A new buffer, beside the first one or in the place of one that is not released."""
        return Buffer(tuple(None if s is None else self._memory(s) for s in self._slots))

    def _memory(self, slot: Slot) -> numpy.ndarray:
        memory = self._allocate_bytes(slot.nbytes * self._group)
        if numpy.dtype(slot.dtype).kind == "V":
            memory[...] = 0  # the bytes between a struct's members, which nothing writes later
        return memory

    def release(self, buffer: Buffer) -> None:
        """The buffer is free again."""
        self._allocated.append(buffer)
        self._free.put(True)

    def close(self) -> None:
        """`borrow` raises Closed from now on. Memory is freed with the last array that looks at it."""
        try:
            while True:
                self._free.get_nowait()
        except Empty:
            self._free.put(False)
            self._allocated.clear()
            self._allocate_bytes = _refuse  # the other one knows the engine: a cycle would keep memory for long


def _refuse(nbytes: int) -> numpy.ndarray:
    raise Closed


def view(memory: numpy.ndarray, slot: Slot, count: int, layout: str) -> numpy.ndarray:
    """The first bytes of ``memory`` as the slot's array for ``count`` inputs."""
    return memory[: count * slot.nbytes].view(numpy.dtype(slot.dtype)).reshape(shape_of(slot, count, layout))


def lend(
    pool: BufferPool, buffer: Buffer, arrays: Sequence[numpy.ndarray]
) -> tuple[list[numpy.ndarray], list[Callable[[], Any]]]:
    """``arrays``, which lie in ``buffer``, as arrays that release the buffer when the last of them is gone, and weak
    references that are dead from then on."""
    in_use = list(range(len(arrays)))

    def gone() -> None:
        if in_use.pop() == 0:  # list.pop is atomic: this holds once, in whichever thread
            pool.release(buffer)

    lent, references = [], []
    for a in arrays:
        memory, reference = borrowed(a.ctypes.data, a.nbytes, gone)
        references.append(reference)
        lent.append(memory.view(a.dtype).reshape(a.shape))
    return lent, references

"""Memory for outputs, recycled: the pages of a large array that nobody refers to any more serve the next one, which
need not fault its own in. The C library does the same for small arrays.

NumPy makes every view of an array refer to the array that owns the memory. So an owner to which nothing but its `Room`
refers is free.
"""

from __future__ import annotations

import functools
import math
import sys
import threading

import numpy

from ..base.memory import most_memory
from .addresses import address

LEAST = 1 << 17  # bytes from which an array is worth it
MOST, ROOMS = 1 << 28, 32  # bytes that are remembered, and arrays, at most
ROOMY = 1.25  # how many times as large as the array a room may be
LINE = 64  # bytes of a line of the cache, at the first of which an array begins


class Room:
    """Memory that one array at a time lives in.

    Attributes:
        memory: Owns it.
        first: The place in it where a line of the cache begins.
        nbytes: How many there are from there, and maybe up to `LINE` more.
    """

    def __init__(self, memory: numpy.ndarray):
        self.memory = memory
        self.first = -address(memory) % LINE
        self.nbytes = memory.nbytes - LINE

    def array(self, shape: tuple[int, ...], dtype: numpy.dtype) -> numpy.ndarray:
        return numpy.ndarray(shape, dtype, self.memory, self.first)

    def clear(self) -> None:
        self.memory[...] = 0


_rooms: list[Room] = []  # the one that was used last stands last
_lock = threading.Lock()


def empty(shape: tuple[int, ...], dtype: numpy.dtype) -> numpy.ndarray:
    """An array like `numpy.empty`'s."""
    nbytes = math.prod(shape) * dtype.itemsize
    if not LEAST <= nbytes <= _most():
        return numpy.empty(shape, dtype)
    array = _again(nbytes, shape, dtype)
    return _remembered(Room(numpy.empty(nbytes + LINE, numpy.uint8)), shape, dtype) if array is None else array


def zeros(shape: tuple[int, ...], dtype: numpy.dtype) -> numpy.ndarray:
    """An array like `numpy.zeros`'s."""
    nbytes = math.prod(shape) * dtype.itemsize
    if not LEAST <= nbytes <= _most():
        return numpy.zeros(shape, dtype)
    array = _again(nbytes, shape, dtype, clear=True)
    return _remembered(Room(numpy.zeros(nbytes + LINE, numpy.uint8)), shape, dtype) if array is None else array


def _again(nbytes: int, shape: tuple[int, ...], dtype: numpy.dtype, clear: bool = False) -> numpy.ndarray | None:
    """An array in a free room of about that size; None where there is none, or another thread is looking. ``clear``:
    all of it is 0."""
    if not _lock.acquire(blocking=False):
        return None
    try:
        for k in reversed(range(len(_rooms))):
            room = _rooms[k]
            if nbytes <= room.nbytes <= ROOMY * nbytes and _references(room) == _FREE:
                _rooms.append(_rooms.pop(k))
                if clear:
                    room.clear()
                return room.array(shape, dtype)
        return None
    finally:
        _lock.release()


def _remembered(room: Room, shape: tuple[int, ...], dtype: numpy.dtype) -> numpy.ndarray:
    """An array in a new room, which may have others later. Beyond `MOST` bytes or `ROOMS` rooms are forgotten, those
    that were used last the last; the memory of one that an array lives in goes with that."""
    array = room.array(shape, dtype)
    if _counts() and _lock.acquire(blocking=False):
        try:
            _rooms.append(room)
            total = sum(r.nbytes for r in _rooms)
            while total > _most() or len(_rooms) > ROOMS:
                total -= _rooms.pop(0).nbytes
        finally:
            _lock.release()
    return array


def _references(room: Room) -> int:
    return sys.getrefcount(room.memory)


@functools.cache
def _counts() -> bool:
    """Whether this interpreter counts references, and nothing else changes their number meanwhile."""
    return hasattr(sys, "getrefcount") and getattr(sys, "_is_gil_enabled", lambda: True)()


_FREE = _references(Room(numpy.empty(LINE, numpy.uint8))) if _counts() else 0


@functools.cache
def _most() -> int:
    return min(MOST, most_memory() // 16)

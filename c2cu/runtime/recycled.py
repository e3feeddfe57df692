"""Memory for outputs, recycled: the pages of a large array that nobody refers to any more serve the next one, which
need not fault its own in. The C library does the same for small arrays."""

from __future__ import annotations

import functools
import math
from collections import deque

import numpy

from ..base.memory import most_memory
from .borrowing import borrowed

LEAST = 1 << 18  # bytes from which an array is worth it
MOST = 1 << 28  # bytes that wait for their next use, at most
ROOMY = 1.25  # how many times as large as the array a room may be


class Room:
    """Memory that one array at a time lives in."""

    def __init__(self, memory: numpy.ndarray):
        self.memory = memory


#: The one that was freed last stands last. Only operations that are one step to a thread: of a tuple, the garbage
#: collector may run before it is filled, and give back a room.
_free: deque[Room] = deque()


def empty(shape: tuple[int, ...], dtype: numpy.dtype) -> numpy.ndarray:
    """An array like `numpy.empty`'s."""
    nbytes = math.prod(shape) * dtype.itemsize
    if not LEAST <= nbytes <= _most():
        return numpy.empty(shape, dtype)
    room = _taken(nbytes) or Room(numpy.empty(nbytes, numpy.uint8))
    return _array(room, nbytes, shape, dtype)


def zeros(shape: tuple[int, ...], dtype: numpy.dtype) -> numpy.ndarray:
    """An array like `numpy.zeros`'s."""
    nbytes = math.prod(shape) * dtype.itemsize
    if not LEAST <= nbytes <= _most():
        return numpy.zeros(shape, dtype)
    room = _taken(nbytes)
    if room is None:
        room = Room(numpy.zeros(nbytes, numpy.uint8))
    else:
        room.memory[:nbytes] = 0
    return _array(room, nbytes, shape, dtype)


def _array(room: Room, nbytes: int, shape: tuple[int, ...], dtype: numpy.dtype) -> numpy.ndarray:
    array, _ = borrowed(room.memory.ctypes.data, nbytes, _give_back, room)
    return array.view(dtype).reshape(shape)


def _taken(nbytes: int) -> Room | None:
    """A free room of about that size."""
    for room in reversed(list(_free)):
        if nbytes <= room.memory.nbytes <= ROOMY * nbytes:
            try:
                _free.remove(room)
            except ValueError:  # another thread was faster
                continue
            return room
    return None


def _give_back(room: Room) -> None:
    """Called when the last array that looks at a room is gone, at any moment and in any thread."""
    _free.append(room)
    while sum(r.memory.nbytes for r in list(_free)) > _most():
        try:
            _free.popleft()
        except IndexError:
            return


@functools.cache
def _most() -> int:
    return min(MOST, most_memory() // 16)

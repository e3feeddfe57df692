"""A pool of page-locked host memory for the whole process, as locking pages takes long."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy

from .borrowing import borrowed
from .cuda import cupy_module

PORTABLE = 1  # cudaHostAllocPortable: page-locked for every device
LIMIT = 512 << 20  # bytes of free page-locked memory that the process keeps for later streams


class PinnedPool:
    """Page-locked memory. The pool keeps up to ``limit`` released bytes, those last used, for later streams.

    The garbage collector may call `_release` at any moment, even within `take`: deque allows that.
    """

    def __init__(self, limit: int):
        self.limit = limit
        self._free: deque[tuple[int, Any]] = deque()  # (bytes, memory), the latest last

    def take(self, nbytes: int) -> numpy.ndarray:
        """An array of ``nbytes`` bytes. They are released when the last array that looks at them is gone."""
        memory = self._reused(nbytes)
        if memory is None:
            try:
                memory = cupy_module().cuda.PinnedMemory(max(1, nbytes), PORTABLE)
            except cupy_module().cuda.runtime.CUDARuntimeError:
                self._free.clear()  # memory of other sizes may be what is missing
                memory = cupy_module().cuda.PinnedMemory(max(1, nbytes), PORTABLE)
        return borrowed(memory.ptr, nbytes, self._release, memory, nbytes)[0]

    def _reused(self, nbytes: int) -> Any:
        for entry in reversed(tuple(self._free)):
            if entry[0] == nbytes:
                try:
                    self._free.remove(entry)
                    return entry[1]
                except ValueError:  # another thread was faster
                    continue
        return None

    def _release(self, memory: Any, nbytes: int) -> None:
        self._free.append((nbytes, memory))
        while sum(n for n, _ in tuple(self._free)) > self.limit:
            try:
                self._free.popleft()
            except IndexError:
                return


PINNED = PinnedPool(LIMIT)

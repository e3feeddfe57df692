"""Page-locked memory of the host, which the process keeps for later streams."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy

from .borrowing import leased
from .cuda import cupy_module

PORTABLE = 1  # cudaHostAllocPortable: pinned for every device
KEPT = 512 << 20  # bytes of page-locked memory that the process keeps for later streams


class _Pages:
    """Page-locked memory; what is no longer used is kept for the next stream, as locking pages takes long.

    ``limit``: bytes that are kept, at most; those that were used last.
    """

    def __init__(self, limit: int):
        self.limit = limit
        self._free: deque[tuple[int, Any]] = deque()  # the latest last; its methods may meet the garbage collector

    def take(self, nbytes: int) -> numpy.ndarray:
        """An array of that many bytes, which come back when the last array that looks at them is gone."""
        memory = self._kept(nbytes)
        if memory is None:
            try:
                memory = cupy_module().cuda.PinnedMemory(max(1, nbytes), PORTABLE)
            except cupy_module().cuda.runtime.CUDARuntimeError:
                self._free.clear()  # others' sizes may be what is missing
                memory = cupy_module().cuda.PinnedMemory(max(1, nbytes), PORTABLE)
        return leased(memory.ptr, nbytes, self._back, memory, nbytes)[0]

    def _kept(self, nbytes: int) -> Any:
        for entry in reversed(tuple(self._free)):
            if entry[0] == nbytes:
                try:
                    self._free.remove(entry)
                    return entry[1]
                except ValueError:  # another thread was faster
                    continue
        return None

    def _back(self, memory: Any, nbytes: int) -> None:
        self._free.append((nbytes, memory))
        while sum(n for n, _ in tuple(self._free)) > self.limit:
            try:
                self._free.popleft()
            except IndexError:
                return


PAGES = _Pages(KEPT)

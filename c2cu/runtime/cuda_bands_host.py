"""The host's side of `cuda_bands`: a matrix' rows in arrays, and page-locked memory on their way to a device."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy

from ..schedule.artifact import BandMatrix, Bands
from .pinned_memory import PINNED

PIECE = 32 << 20  # bytes that are copied to page-locked memory, and from there, at a time
PIECES = 4
COPIERS = 4  # threads that copy a piece
SMALL = 1 << 20  # bytes that one copies as fast


@dataclass(frozen=True)
class Side:
    """A matrix on the host, its rows as (rows, columns) of unsigned integers. ``source``: the rows of the
    input, None for zeros; ``target``: the rows that bands are written to, None for a matrix that no step writes;
    ``whole``: the array that has ``target``; ``apart``: the output, where it overlaps an input, so that ``whole`` is
    copied to it only when all bands are done."""

    matrix: BandMatrix
    source: Any
    target: Any
    whole: Any = None
    apart: Any = None


def side_of(m: BandMatrix, b: Bands, array: Any, out: Any, inputs: Sequence[Any]) -> Side:
    """``array``, ``out``: the input's and the output's array, or None; ``inputs``: those of all slots."""
    bits = f"u{m.size}"
    source = None if array is None else array.reshape(-1).view(bits)
    if not m.written:
        return Side(m, _rows(source, m, b), None)
    target = numpy.empty(m.count, bits) if out is None else out.reshape(-1).view(bits)
    apart = None
    for k, a in enumerate(inputs):
        own_output = k == m.slot and out is not None and a is not None and a.ctypes.data == out.ctypes.data
        if out is not None and a is not None and not own_output and numpy.may_share_memory(a, out):
            apart, target = target, numpy.empty(m.count, bits)
            break
    in_place = source is not None and source.ctypes.data == target.ctypes.data
    if not in_place and (b.columns < m.stride or b.rows * m.stride < m.count):  # what no step touches
        target[...] = 0 if source is None else source
    return Side(m, _rows(source, m, b), _rows(target, m, b), target, apart)


def exceeds(rows: Any, most: int) -> bool:
    """Whether a number of ``rows`` is above ``most``; None is zeros."""
    if rows is None:
        return False
    count = max(1, PIECE // max(1, rows[:1].nbytes))
    pieces = (rows[at : at + count] for at in range(0, len(rows), count))
    return any(_copiers().map(lambda piece: int(piece.max()) > most, pieces))


def _rows(flat: Any, m: BandMatrix, b: Bands) -> Any:
    if flat is None:
        return None
    steps = m.stride * m.size, m.size
    return numpy.lib.stride_tricks.as_strided(flat, (b.rows, b.columns), steps, writeable=flat.flags.writeable)


class Pieces:
    """Page-locked memory between pageable memory and a device."""

    def __init__(self, cupy: Any, stream: Any):
        self._cupy, self._stream = cupy, stream
        self._memory: list[Any] = []
        self._done: list[Any] = []

    def bring(self, rows: numpy.ndarray, at: int) -> None:
        """Rows to the device. They may change when this returns."""
        for n, part in enumerate(self._parts(rows)):
            piece = self._piece(n % PIECES, part)
            _copied(piece, part)
            self._copy(at, piece.ctypes.data, part.nbytes, n % PIECES)
            at += part.nbytes

    def take(self, rows: numpy.ndarray, at: int) -> None:
        """Rows from the device. They are there when this returns."""
        waiting: list[tuple[int, Any, Any]] = []
        for n, part in enumerate(self._parts(rows)):
            if len(waiting) == PIECES:
                self._arrive(*waiting.pop(0))
            piece = self._piece(n % PIECES, part)
            self._copy(piece.ctypes.data, at, part.nbytes, n % PIECES)
            waiting.append((n % PIECES, part, piece))
            at += part.nbytes
        for copy in waiting:
            self._arrive(*copy)

    def _parts(self, rows: numpy.ndarray) -> Iterator[numpy.ndarray]:
        row_bytes = rows.shape[1] * rows.itemsize
        count = max(1, PIECE // row_bytes)
        if not self._memory:
            self._memory = [PINNED.take(max(PIECE, row_bytes)) for _ in range(PIECES)]
            self._done = [self._cupy.cuda.Event(disable_timing=True) for _ in range(PIECES)]
        for first in range(0, len(rows), count):
            yield rows[first : first + count]

    def _piece(self, n: int, part: numpy.ndarray) -> numpy.ndarray:
        """Memory for these rows, when the copy that had it before is done."""
        self._done[n].synchronize()  # at once if it was never recorded
        return self._memory[n][: part.nbytes].view(part.dtype).reshape(part.shape)

    def _copy(self, to: int, source: int, nbytes: int, n: int) -> None:
        runtime = self._cupy.cuda.runtime
        runtime.memcpyAsync(to, source, nbytes, runtime.memcpyDefault, self._stream.ptr)
        self._done[n].record(self._stream)

    def _arrive(self, n: int, part: Any, piece: Any) -> None:
        self._done[n].synchronize()
        _copied(part, piece)


def _copied(to: numpy.ndarray, source: numpy.ndarray) -> None:
    """Several threads do it: one alone does not keep up with the bus."""
    axis = 0 if len(to) >= COPIERS else 1
    step = max(1, -(-to.shape[axis] // COPIERS)) if to.nbytes >= SMALL else to.shape[axis]
    parts = [(*(slice(None),) * axis, slice(at, at + step)) for at in range(0, to.shape[axis], step)]
    waiting = [_copiers().submit(numpy.copyto, to[x], source[x]) for x in parts[1:]]
    numpy.copyto(to[parts[0]], source[parts[0]])
    for future in waiting:
        future.result()


@functools.cache
def _copiers() -> ThreadPoolExecutor:
    """As long as the process, so its threads are named c2cu_, and not c2cu- as those that end with what they do."""
    return ThreadPoolExecutor(2 * COPIERS, thread_name_prefix="c2cu_bands")

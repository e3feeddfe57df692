"""Inputs from files, a few at a time: .npy and .bin are read where they lie, .npy comes from a pipe row by row, .npz is
read whole, .zarr by its chunks. A source has an array's ``shape`` and ``dtype``, p axis included."""

from __future__ import annotations

import math
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol

from ..base import catalogue
from ..schedule.slots import Slot, in_range, piece
from ..streaming.copying import count_copiers
from . import files, zarr_files

if TYPE_CHECKING:
    import numpy

PIECE = 2 << 20  # bytes that a thread reads at a time: one alone does not keep up with a GPU


class ArraySource(Protocol):
    """``shape`` and ``dtype``: as an array's. ``is_pipe``: it can be read only once, in order. ``fingerprint``: of its
    file when that was opened."""

    path: str
    fingerprint: dict[str, int]
    shape: tuple[int, ...]
    dtype: Any
    is_pipe: bool

    @property
    def ndim(self) -> int: ...

    def take(self, first: int, last: int) -> numpy.ndarray:
        """Inputs first <= id < last. Raises InputError for a file that is cut short or damaged."""
        ...

    def whole(self) -> numpy.ndarray: ...

    def changed(self) -> str:
        """What is wrong if the file was changed since it was opened; else an empty string."""
        ...


def open_source(path: str, slot: Slot | None, layout: str) -> ArraySource:
    """The array in a file; ``-`` or a pipe is read as .npy. Raises InputError as `files.load` does."""
    is_bounded = slot is not None and slot.most is not None
    if path == "-" or Path(path).is_fifo() or Path(path).is_char_device():
        if is_bounded:
            raise catalogue.PACK_FROM_PIPE.error()
        return _open_pipe(path, layout)
    if Path(path).suffix == ".zarr":
        if is_bounded:
            raise catalogue.PACK_FROM_ZARR.error()
        return zarr_files.ZarrSource(path, layout)
    files.ending(path)
    fingerprint = files.guarded(path, lambda: files.fingerprint(path))
    array = files.load(path, slot, layout)
    if slot is not None and array.dtype == slot.dtype:
        in_range(array, slot)
    is_mapped = hasattr(array, "offset")  # a numpy.memmap; an empty file has no map
    return (FileSource if is_mapped else MemorySource)(path, array, layout, fingerprint)


class MemorySource:
    """An array in memory."""

    def __init__(
        self, path: str, array: numpy.ndarray, layout: str, fingerprint: dict[str, int], is_pipe: bool = False
    ):
        self.path, self.shape, self.dtype, self.ndim = path, array.shape, array.dtype, array.ndim
        self.fingerprint, self.is_pipe = fingerprint, is_pipe
        self._array, self._layout = array, layout

    def take(self, first: int, last: int) -> numpy.ndarray:
        return self._array[piece(self._layout, first, last)]

    def whole(self) -> numpy.ndarray:
        return self._array

    def changed(self) -> str:
        return ""


class FileSource:
    """A .npy or .bin file. `take` reads and does not map: a file that is cut short is an error then, while a page of a
    map that is gone ends the process. ``mapped``: the file as a numpy.memmap."""

    is_pipe = False

    def __init__(self, path: str, mapped: Any, layout: str, fingerprint: dict[str, int]):
        import numpy

        self.path, self.shape, self.dtype, self.ndim = path, mapped.shape, mapped.dtype, mapped.ndim
        self._mapped = numpy.asarray(mapped)
        self._offset, self._nbytes = mapped.offset, mapped.nbytes
        self._is_reversed = not mapped.flags.c_contiguous  # Fortran order: C order of the reversed axes
        self._stored = self.shape[::-1] if self._is_reversed else self.shape
        self._p_first = (layout == "row") != self._is_reversed or self.ndim == 1
        self._file = open(path, "rb", 0)  # noqa: SIM115 - as long as the source
        self.fingerprint = fingerprint
        self._readers = ThreadPoolExecutor(count_copiers(), thread_name_prefix="c2cu_read")

    def take(self, first: int, last: int) -> numpy.ndarray:
        import numpy

        count, itemsize = last - first, self.dtype.itemsize
        if self._p_first:  # inputs lie one after the other
            part = numpy.empty((count, *self._stored[1:]), self.dtype)
            self._read(part, first * math.prod(self._stored[1:]) * itemsize)
        else:  # all inputs' first elements, then all inputs' second elements ...
            part = numpy.empty((*self._stored[:-1], count), self.dtype)
            for k, row in enumerate(part.reshape(math.prod(self._stored[:-1]), count)):
                self._read(row, (k * self._stored[-1] + first) * itemsize)
        return part.T if self._is_reversed else part

    def _read(self, into: numpy.ndarray, start: int) -> None:
        room, start = files.bytes_of(into), start + self._offset
        if len(room) <= PIECE:
            return self._read_piece(room, start)
        for _ in self._readers.map(
            lambda k: self._read_piece(room[k : k + PIECE], start + k), range(0, len(room), PIECE)
        ):
            pass

    def _read_piece(self, room: memoryview, start: int) -> None:
        while len(room):
            n = os.preadv(self._file.fileno(), [room], start)
            if not n:
                raise catalogue.FILE_CHANGED.error(message=self.changed())
            room, start = room[n:], start + n

    def whole(self) -> numpy.ndarray:
        return self._mapped

    def changed(self) -> str:
        size = os.fstat(self._file.fileno()).st_size
        if size < self._offset + self._nbytes:
            return f"'{self.path}' was cut short while it was read: {size} bytes of {self._offset + self._nbytes}"
        is_same = files.fingerprint(self._file.fileno()) == self.fingerprint
        return "" if is_same else f"'{self.path}' was changed while it was read"


class PipeSource:
    """A .npy file from a pipe, row by row as it comes."""

    is_pipe = True
    fingerprint: dict[str, int] = {}

    def __init__(self, path: str, stream: BinaryIO, shape: tuple[int, ...], dtype: numpy.dtype):
        self.path, self.shape, self.dtype, self.ndim = path, shape, dtype, len(shape)
        self._stream, self._taken, self._rest = stream, 0, b""

    def take(self, first: int, last: int) -> numpy.ndarray:
        """The next inputs, which follow those taken before."""
        return self._read(first, last, last - first)

    def arrived(self, first: int, last: int) -> numpy.ndarray:
        """The same, but only those that have come by now, at least one."""
        return self._read(first, last, 1)

    def whole(self) -> numpy.ndarray:
        return self.take(0, self.shape[0])

    def changed(self) -> str:
        return ""

    def _read(self, first: int, last: int, least: int) -> numpy.ndarray:
        import numpy

        if first != self._taken:
            raise ValueError(f"input {first} of a pipe, after {self._taken}")
        rows = numpy.empty((last - first, *self.shape[1:]), self.dtype)
        room = files.bytes_of(rows)
        size = rows.nbytes // max(1, len(rows))
        room[: len(self._rest)] = self._rest
        filled = len(self._rest)
        while filled < least * size:
            more = self._some(room[filled:])
            if not more:
                raise catalogue.CUT_SHORT.error(
                    path=self.path, count=f"{first + filled // size:,}", total=f"{self.shape[0]:,}"
                )
            filled += more
        n = filled // size if size else last - first
        self._rest = bytes(room[n * size : filled])
        self._taken = first + n
        return rows[:n]

    def _some(self, room: memoryview) -> int:
        try:
            return self._stream.readinto(room) or 0  # type: ignore[attr-defined]
        except OSError as e:
            how = "did the program that writes to it fail?"
            raise catalogue.CANNOT_READ.error(path=self.path, reason=e.strerror or e, how=how) from None


def _open_pipe(path: str, layout: str) -> ArraySource:
    """Row by row if the file's order allows it, else whole."""
    import numpy
    from numpy.lib import format as npy

    def opened() -> ArraySource:
        stream = _stdin() if path == "-" else open(path, "rb", 0)  # noqa: SIM115 - as long as the source
        full: Any = _FullReads(stream)
        version = npy.read_magic(full)
        if version not in ((1, 0), (2, 0)):
            raise ValueError(f"its .npy version is {version}")
        read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        shape, fortran, dtype = read(full)
        if dtype.hasobject:
            raise ValueError("it holds Python objects")
        if min(shape, default=0) < 0 or math.prod(max(n, 1) for n in shape) * dtype.itemsize > sys.maxsize:
            raise ValueError(f"its header says {shape}, which no array is")
        if shape and layout == "row" and (not fortran or len(shape) == 1):
            return PipeSource(path, stream, shape, dtype)
        order = shape[::-1] if fortran else shape
        array = PipeSource(path, stream, (1, *order), dtype).take(0, 1)[0]
        return MemorySource(path, array.transpose() if fortran else numpy.asarray(array), layout, {}, is_pipe=True)

    return files.guarded(path, opened)


def _stdin() -> Any:
    if sys.stdin is None:
        raise OSError("stdin is closed")
    return getattr(sys.stdin.buffer, "raw", sys.stdin.buffer)


class _FullReads:
    """A pipe whose ``read`` returns all that it was asked for, as a file's does."""

    def __init__(self, stream: BinaryIO):
        self._stream = stream

    def read(self, n: int) -> bytes:
        out = b""
        while len(out) < n and (more := self._stream.read(n - len(out))):
            out += more
        return out

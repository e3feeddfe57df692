"""Inputs from files, a few at a time: .npy and .bin are mapped, .npy comes from a pipe as it is written, .npz is read
whole, .zarr by its chunks. A source has an array's ``shape`` and ``dtype``, p axis included."""

from __future__ import annotations

import math
import mmap
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol

from ..base.diagnostics import InputError
from ..schedule.slots import Slot, in_range, piece
from . import files, fingerprint, zarr_files

if TYPE_CHECKING:
    import numpy

RESIDENT = 64 << 20  # bytes of a mapped file that may be handed out before its pages are dropped

PACKED = "give a .npy file, or leave pack out"


class ArraySource(Protocol):
    """``serial``: it can be read only once, in order. ``shape`` and ``dtype``: as an array's. ``stamp``: of its file
    when it was opened."""

    path: str
    stamp: dict[str, int]
    shape: tuple[int, ...]
    dtype: Any
    serial: bool

    @property
    def ndim(self) -> int: ...

    def take(self, first: int, last: int) -> numpy.ndarray:
        """Inputs first <= id < last. Raises InputError for a file that is another by now."""
        ...

    def whole(self) -> numpy.ndarray: ...

    def changed(self) -> str:
        """What is wrong with a file that is another by now; else nothing."""
        ...


def source(path: str, slot: Slot | None, layout: str) -> ArraySource:
    """The array in a file; ``-`` or a pipe is read as .npy. Raises InputError as `files.load` does."""
    bounded = slot is not None and slot.most is not None
    if path == "-" or Path(path).is_fifo() or Path(path).is_char_device():
        if bounded:
            raise InputError("C2CU058", "pack looks at all of the input first, which a pipe shows once", None, PACKED)
        return _piped(path, layout)
    if Path(path).suffix == ".zarr":
        if bounded:
            raise InputError("C2CU058", "pack takes no .zarr", None, PACKED)
        return zarr_files.ZarrSource(path, layout)
    files.ending(path)
    stamp = files.guarded(path, lambda: fingerprint.stamp(path))
    array = files.load(path, slot, layout)
    if slot is not None and array.dtype == slot.dtype:
        in_range(array, slot)
    return (Mapped if getattr(array, "_mmap", None) is not None else Whole)(path, array, layout, stamp)


class Whole:
    """An array in memory."""

    def __init__(self, path: str, array: numpy.ndarray, layout: str, stamp: dict[str, int], serial: bool = False):
        self.path, self.shape, self.dtype, self.ndim = path, array.shape, array.dtype, array.ndim
        self.stamp, self.serial = stamp, serial
        self._array, self._layout = array, layout

    def take(self, first: int, last: int) -> numpy.ndarray:
        return self._array[piece(self._layout, first, last)]

    def whole(self) -> numpy.ndarray:
        return self._array

    def changed(self) -> str:
        return ""


class Mapped(Whole):
    """A mapped file. Its pages are dropped from memory again and again; who still reads them gets them back."""

    def __init__(self, path: str, array: Any, layout: str, stamp: dict[str, int]):
        import numpy

        super().__init__(path, numpy.asarray(array), layout, stamp)
        self._map = array._mmap
        self._file = open(path, "rb")  # noqa: SIM115 - as long as the map
        self._end = array.offset + array.nbytes
        self._handed = 0

    def take(self, first: int, last: int) -> numpy.ndarray:
        if wrong := self.changed():
            raise InputError("C2CU056", wrong, None, fingerprint.CHANGED)
        if self._handed > RESIDENT and hasattr(self._map, "madvise"):
            self._map.madvise(mmap.MADV_DONTNEED)
            self._handed = 0
        part = super().take(first, last)
        self._handed += part.nbytes
        return part

    def changed(self) -> str:
        """What is in the map changes with the file, and a page beyond its end cannot be read: that raises SIGBUS. The
        rest of the last page reads as zeros."""
        now = os.fstat(self._file.fileno()).st_size
        if now < self._end:
            return f"'{self.path}' was cut short while it was read: {now} bytes of {self._end}"
        same = fingerprint.stamp(self._file.fileno()) == self.stamp
        return "" if same else f"'{self.path}' was changed while it was read"


class Piped:
    """A .npy file from a pipe, row by row as it comes."""

    serial = True
    stamp: dict[str, int] = {}

    def __init__(self, path: str, stream: BinaryIO, shape: tuple[int, ...], dtype: numpy.dtype):
        self.path, self.shape, self.dtype, self.ndim = path, shape, dtype, len(shape)
        self._stream, self._came, self._rest = stream, 0, b""

    def take(self, first: int, last: int) -> numpy.ndarray:
        """The next inputs. They must follow those taken before."""
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

        if first != self._came:
            raise ValueError(f"input {first} of a pipe, after {self._came}")
        rows = numpy.empty((last - first, *self.shape[1:]), self.dtype)
        flat: Any = rows.reshape(-1).view(numpy.uint8) if rows.nbytes else bytearray()
        room = memoryview(flat)
        size = rows.nbytes // max(1, len(rows))
        room[: len(self._rest)] = self._rest
        have = len(self._rest)
        while have < least * size:
            more = self._some(room[have:])
            if not more:
                came = first + have // size
                raise InputError(
                    "C2CU056",
                    f"'{self.path}' was cut short: {came:,} of {self.shape[0]:,} inputs came",
                    None,
                    "did the program that writes to the pipe end early?",
                )
            have += more
        n = have // size if size else last - first
        self._rest = bytes(room[n * size : have])
        self._came = first + n
        return rows[:n]

    def _some(self, room: memoryview) -> int:
        try:
            return self._stream.readinto(room) or 0  # type: ignore[attr-defined]
        except OSError as e:
            raise InputError("C2CU056", f"cannot read '{self.path}': {e.strerror or e}") from None


def _piped(path: str, layout: str) -> ArraySource:
    """Row by row where the file's order allows it, else whole."""
    import numpy
    from numpy.lib import format as npy

    def header() -> ArraySource:
        stream = _stdin() if path == "-" else open(path, "rb", 0)  # noqa: SIM115 - as long as the source
        full: Any = _Full(stream)
        version = npy.read_magic(full)
        if version not in ((1, 0), (2, 0)):
            raise ValueError(f"its .npy version is {version}")
        read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        shape, fortran, dtype = read(full)
        if dtype.hasobject:
            raise ValueError("it holds Python objects")
        if min(shape, default=0) < 0 or math.prod(max(n, 1) for n in shape) * dtype.itemsize > sys.maxsize:
            raise ValueError(f"its header says {shape}, which no array is")
        piped = Piped(path, stream, shape, dtype)
        if shape and layout == "row" and (not fortran or len(shape) == 1):
            return piped
        order = shape[::-1] if fortran else shape
        flat = Piped(path, stream, (1, *order), dtype).take(0, 1)[0]
        return Whole(path, flat.transpose() if fortran else numpy.asarray(flat), layout, {}, serial=True)

    return files.guarded(path, header)


def _stdin() -> Any:
    if sys.stdin is None:
        raise OSError("stdin is closed")
    return getattr(sys.stdin.buffer, "raw", sys.stdin.buffer)


class _Full:
    """A pipe whose ``read`` gives all that it was asked for, as a file's does."""

    def __init__(self, stream: BinaryIO):
        self._stream = stream

    def read(self, n: int) -> bytes:
        out = b""
        while len(out) < n and (more := self._stream.read(n - len(out))):
            out += more
        return out

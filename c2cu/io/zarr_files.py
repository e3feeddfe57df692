"""Zarr arrays, chunk by chunk along the p axis: the only file that knows zarr."""

from __future__ import annotations

import errno
import os
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from ..base import catalogue
from ..base.reading import way_to
from . import files
from .files import remove, writing
from .outputs import Output, replaceable

if TYPE_CHECKING:
    import numpy

LARGEST = 64 << 20  # bytes of a chunk
USUAL = 4 << 20
T = TypeVar("T")


def _zarr() -> Any:
    try:
        import zarr  # pyright: ignore[reportMissingImports]
    except ImportError:
        hint = "pip install 'c2cu[zarr]', or convert it to .npy"
        raise catalogue.NO_ZARR.error(how=hint) from None
    return zarr


class ZarrSource:
    """An array in a .zarr directory."""

    is_pipe = False

    def __init__(self, path: str, layout: str):
        zarr = _zarr()
        if not Path(path).exists():
            e = FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
            raise catalogue.CANNOT_READ.error(path=path, reason=e.strerror, how=way_to(Path(path), e, ".zarr"))
        self.path = path
        self.fingerprint = _read(path, lambda: files.fingerprint(path))
        self._array = _read(path, lambda: zarr.open_array(path, mode="r"))
        self.shape, self.dtype, self.ndim = self._array.shape, self._array.dtype, self._array.ndim
        self._is_row = layout == "row"
        self._chunk = self._array.chunks[0 if self._is_row else -1] if self.ndim else 1
        self._first, self._block = 0, None

    def take(self, first: int, last: int) -> numpy.ndarray:
        """Inputs first <= id < last. Whole chunks are read and the last ones stay in memory, so that each is unpacked
        about once."""
        import numpy

        axis = 0 if self._is_row else -1
        if self._block is None or first < self._first or last > self._first + self._block.shape[axis]:
            end = min(-(-last // self._chunk) * self._chunk, self.shape[axis])
            part = slice(first, end) if self._is_row else (..., slice(first, end))
            self._first, self._block = first, numpy.asarray(_read(self.path, lambda: self._array[part]))
        rows = slice(first - self._first, last - self._first)
        return self._block[rows] if self._is_row else self._block[..., rows]

    def whole(self) -> numpy.ndarray:
        import numpy

        return numpy.asarray(_read(self.path, lambda: self._array[...]))

    def changed(self) -> str:
        """Also tells chunks that are gone, which would read as zeros."""
        try:
            is_same = files.fingerprint(self.path) == self.fingerprint
        except OSError:
            is_same = False
        return "" if is_same else f"'{self.path}' was changed while it was read"


def _read(path: str | Path, read: Callable[[], T]) -> T:
    try:
        return read()
    except Exception as e:  # each codec raises errors of its own on damaged chunks
        raise catalogue.NOT_A_ZARR.error(path=path, reason=e or type(e).__name__) from None


class ZarrSink:
    """An output in a .zarr directory, written under another name. Only whole chunks are written, each once."""

    def __init__(self, output: Output, chunk: int, first: int | None):
        zarr = _zarr()
        if output.dtype.kind == "V":
            raise catalogue.ZARR_STRUCTS.error()
        self._output, self._partial = output, output.hidden("partial")
        self._is_row = output.layout == "row"
        shape = output.shape
        if first is None:
            remove(self._partial)
            chunks = (chunk, *shape[1:]) if self._is_row else (*shape[:-1], chunk)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self._array = zarr.create_array(str(self._partial), shape=shape, chunks=chunks, dtype=output.dtype)
        else:
            self._array = _read(self._partial, lambda: zarr.open_array(str(self._partial), mode="r+"))
        self._chunk = self._array.chunks[0 if self._is_row else -1]  # the first run's
        self.written = first or 0
        self._waiting: list[numpy.ndarray] = []
        self._waits = 0

    def write(self, first: int, part: numpy.ndarray) -> None:
        """The results of the inputs from ``first`` on, which follow those written before."""
        import numpy

        axis = 0 if self._is_row else -1
        self._waiting.append(part)
        self._waits += part.shape[axis]
        end = self.written + self._waits
        end -= 0 if end == self._output.p else end % self._chunk
        if end <= self.written:
            self._waiting[-1] = part.copy()  # its memory may be another group's by then
            return
        data = numpy.concatenate(self._waiting, axis) if len(self._waiting) > 1 else part
        n = end - self.written
        with writing(self._output.path):
            for start in range(0, n, self._chunk):
                stop = min(start + self._chunk, n)
                self._write_chunk(data[start:stop] if self._is_row else data[..., start:stop], self.written + start)
        rest = data[n:] if self._is_row else data[..., n:]
        self._waiting = [rest.copy()] if rest.shape[axis] else []
        self._waits, self.written = rest.shape[axis], end

    def _write_chunk(self, data: numpy.ndarray, first: int) -> None:
        if self._is_row:
            self._array[first : first + len(data)] = data
        else:
            self._array[..., first : first + data.shape[-1]] = data

    def flush(self) -> None:
        os.sync()  # its files are many

    def finish(self) -> None:
        """Move the directory into place; one that is there gives way first."""
        with writing(self._output.path):
            target = self._output.target
            if target.is_dir() and not replaceable(target):  # it has come meanwhile
                raise FileExistsError(errno.EEXIST, "it holds something other than a zarr array")
            old = target.with_name(f".{target.name}.old")
            remove(old)
            if target.exists():
                os.rename(target, old)
            os.rename(self._partial, target)
            remove(old)

    def discard(self) -> None:
        remove(self._partial)


def chunk_of(nbytes: int, p: int, group: int | None) -> int:
    """Inputs a chunk, for outputs of up to ``nbytes`` an input: a group if that is known."""
    return max(1, min(group or USUAL // max(1, nbytes), LARGEST // max(1, nbytes), p))

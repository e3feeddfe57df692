"""Outputs that are written a few inputs at a time: under another name beside the target, and moved into place when they
are whole. Room is reserved before anything runs, so that a full disk is told at once."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from ..base import catalogue
from . import files, zarr_files
from .files import writing
from .outputs import Output

if TYPE_CHECKING:
    import numpy

CANNOT_RESERVE = (errno.EOPNOTSUPP, errno.EINVAL, errno.ENOSYS)  # not every file system reserves room


class Sink(Protocol):
    """``written``: how many inputs' results are written."""

    written: int

    def write(self, first: int, part: numpy.ndarray) -> None:
        """Write the results of the inputs from ``first`` on, which follow those written before."""
        ...

    def flush(self) -> None:
        """Bring what is written to the disk."""
        ...

    def finish(self) -> None:
        """All is written: move the output to its name."""
        ...

    def discard(self) -> None:
        """Leave nothing behind."""
        ...


def open_sink(output: Output, group: int | None, first: int | None = None, nbytes: int = 0) -> Sink:
    """Where ``output`` goes. ``group``: inputs a group, if that is known; ``first``: a former run has written the
    results before it, None: there is none; ``nbytes``: of one input of the largest output. Raises InputError for what
    cannot be written, or for which there is no room."""
    with writing(output.path):
        if not output.is_resumable:
            at_once = files.is_archive(output.path) or output.layout == "column"
            return WholeSink(output) if at_once else OutputStream(output)
        if Path(output.path).suffix == ".zarr":
            return zarr_files.ZarrSink(output, zarr_files.chunk_of(nbytes, output.p, group), first)
        return FileSink(output, first)


def finish(sinks: Mapping[str, Sink], targets: Mapping[str, str]) -> None:
    """All is written: move every output to its name. ``targets``: the file of each; those of one .npz file go there
    together."""
    archived: dict[str, numpy.ndarray] = {}
    for name, sink in sinks.items():
        array = sink.archived if isinstance(sink, WholeSink) else None
        if array is None:
            sink.finish()
        else:
            archived[name] = array
    files.write_archives(archived, targets)


class FileSink:
    """A .npy or .bin file. It is written and not mapped: a page of a map for which the disk has no room ends the
    process."""

    def __init__(self, output: Output, first: int | None):
        self._output = output
        self._partial = output.hidden("partial")
        self.written = first or 0
        flags = os.O_RDWR | (os.O_CREAT | os.O_TRUNC if first is None else 0)
        self._file = os.open(self._partial, flags, 0o666)
        if first is None:
            try:
                _reserve(self._file, output.file_size)
                self._put(memoryview(output.header), 0)
            except BaseException:
                self.discard()
                raise

    def write(self, first: int, part: numpy.ndarray) -> None:
        start = len(self._output.header)
        with writing(self._output.path):
            if self._output.layout == "row":
                self._put(files.bytes_of(part), start + first * self._output.nbytes)
                self.written = first + len(part)
                return
            for k, row in enumerate(part.reshape(-1, part.shape[-1])):
                self._put(files.bytes_of(row), start + (k * self._output.p + first) * part.dtype.itemsize)
            self.written = first + part.shape[-1]

    def mapped(self) -> numpy.ndarray | None:
        """All results as an array to write to, instead of calls of `write`; None if they are not together."""
        import numpy

        o = self._output
        if o.layout != "row" or not o.p * o.nbytes:
            return None
        with writing(o.path):
            return numpy.memmap(self._partial, o.dtype, "r+", len(o.header), o.shape)

    def _put(self, data: memoryview, start: int) -> None:
        while len(data):
            n = os.pwrite(self._file, data, start)
            data, start = data[n:], start + n

    def flush(self) -> None:
        with writing(self._output.path):
            getattr(os, "fdatasync", os.fsync)(self._file)

    def finish(self) -> None:
        with writing(self._output.path):
            self._close()
            files.settle(self._partial, self._output.target)

    def discard(self) -> None:
        self._close()
        self._partial.unlink(missing_ok=True)

    def _close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
        self._file = -1


def _reserve(file: int, size: int) -> None:
    if hasattr(os, "posix_fallocate") and size:
        try:
            return os.posix_fallocate(file, 0, size)
        except OSError as e:
            if e.errno not in CANNOT_RESERVE:
                raise
    os.ftruncate(file, size)


class OutputStream:
    """stdout, a pipe or a device: .npy, or raw if its name ends in .bin, a group at a time."""

    def __init__(self, output: Output):
        self.written = 0
        self._path = output.path
        if output.path == "-" and sys.stdout is None:
            raise catalogue.STDOUT_CLOSED.error()
        self._file: Any = sys.stdout.buffer if output.path == "-" else open(output.path, "wb")  # noqa: SIM115
        self._put(output.header)

    def write(self, first: int, part: numpy.ndarray) -> None:
        with writing(self._path):
            self._put(files.bytes_of(part))
        self.written = first + len(part)

    def _put(self, data: Any) -> None:
        self._file.write(data)
        self._file.flush()

    def flush(self) -> None: ...

    def finish(self) -> None: ...

    def discard(self) -> None: ...


class WholeSink:
    """What can be written only as a whole: .npz, and column layout to a stream."""

    def __init__(self, output: Output):
        import numpy

        self.written = 0
        self._output = output
        self._array = numpy.empty(output.shape, output.dtype)

    def write(self, first: int, part: numpy.ndarray) -> None:
        n = part.shape[0 if self._output.layout == "row" else -1]
        if self._output.layout == "row":
            self._array[first : first + n] = part
        else:
            self._array[..., first : first + n] = part
        self.written = first + n

    def flush(self) -> None: ...

    def finish(self) -> None:
        files.write(self._output.path, self._array)

    @property
    def archived(self) -> numpy.ndarray | None:
        """What goes into an .npz file, beside other outputs; None where this is a file of its own."""
        return self._array if files.is_archive(self._output.path) else None

    def discard(self) -> None: ...

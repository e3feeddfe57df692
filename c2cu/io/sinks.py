"""Outputs that are written a few inputs at a time: under another name beside the target, and moved into place when they
are whole. Room is reserved before anything runs, so that a full disk is told at once."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from ..base.diagnostics import InputError
from . import files, zarr_files

if TYPE_CHECKING:
    import numpy

NO_ROOM_TO_RESERVE = (errno.EOPNOTSUPP, errno.EINVAL, errno.ENOSYS)  # not every file system can


@dataclass(frozen=True)
class Output:
    """An output as a whole: ``shape`` has the p axis, first or, in column layout, last."""

    path: str
    shape: tuple[int, ...]
    dtype: numpy.dtype
    layout: str

    @property
    def p(self) -> int:
        return self.shape[0 if self.layout == "row" else -1]

    @property
    def resumable(self) -> bool:
        """Whether what an interrupted run has written can be kept."""
        return not _is_stream(self.path) and Path(self.path).suffix != ".npz"

    @property
    def nbytes(self) -> int:
        """Of one input."""
        n = self.dtype.itemsize
        for extent in self.shape[1:] if self.layout == "row" else self.shape[:-1]:
            n *= extent
        return n

    @property
    def target(self) -> Path:
        """The file itself: a link stays, and what it leads to is written."""
        return files.resolved(self.path)

    def hidden(self, what: str) -> Path:
        """A name beside the target that no other file has."""
        return self.target.with_name(f".{self.target.name}.{what}")


class Sink(Protocol):
    settled: int  # results that are written as far as they can be

    def write(self, first: int, part: numpy.ndarray) -> None:
        """The results of the inputs from ``first`` on; they follow those written before."""
        ...

    def flush(self) -> None:
        """What is settled survives a crash of the machine."""
        ...

    def finish(self) -> None:
        """All is written: the output appears under its name."""
        ...

    def discard(self) -> None:
        """Leave nothing behind."""
        ...


def sink(output: Output, group: int | None, first: int | None = None, nbytes: int = 0) -> Sink:
    """Where ``output`` goes. ``first``: a former run has written the results before it. ``nbytes``: of the largest
    output. Raises InputError for what cannot be written, or not reserved."""
    with writing(output.path):
        if not output.resumable:
            collected = Path(output.path).suffix == ".npz" or output.layout == "column"
            return Collected(output) if collected else OutputStream(output)
        if Path(output.path).suffix == ".zarr":
            return ZarrDirectory(output, zarr_files.chunk_of(nbytes, output.p, group), first)
        return File(output, first)


@contextlib.contextmanager
def writing(path: str) -> Iterator[None]:
    """What the system refuses is an InputError that names the file."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as e:
        raise InputError("C2CU057", f"cannot write '{path}': {e.strerror or e}") from None


def _is_stream(path: str) -> bool:
    target = Path(path)
    return path == "-" or (target.exists() and not target.is_file() and not target.is_dir())


def npy_header(output: Output) -> bytes:
    """What stands before the data of a .npy file, as numpy.save writes it."""
    import io

    from numpy.lib import format as npy

    fields = {"descr": npy.dtype_to_descr(output.dtype), "fortran_order": False, "shape": output.shape}
    for write in (npy.write_array_header_1_0, npy.write_array_header_2_0):
        f = io.BytesIO()
        try:
            write(f, fields)
        except ValueError:
            continue  # too long for the first version
        return f.getvalue()
    raise AssertionError(fields)


def unsound(output: Output, file: Path, done: int) -> str:
    """Why ``file`` is not what a run that has written ``done`` results left; empty if nothing tells."""
    if Path(output.path).suffix == ".zarr":
        return zarr_files.unsound(file, output.shape, output.dtype, output.layout, done)
    if not file.is_file():
        return "it is no file"
    header = npy_header(output) if Path(output.path).suffix == ".npy" else b""
    most = len(header) + output.p * output.nbytes
    least = len(header) + done * output.nbytes
    if output.layout == "column" and done and output.nbytes:  # the results of an element are together
        least = most - (output.p - done) * output.dtype.itemsize
    size = file.stat().st_size
    if not least <= size <= most:
        return f"it has {size} bytes, wanted {least if size < least else most}"
    with open(file, "rb") as f:
        return "" if f.read(len(header)) == header else "its .npy header is another"


def _bytes(part: numpy.ndarray) -> memoryview:
    import numpy

    data: Any = numpy.ascontiguousarray(part).reshape(-1).view(numpy.uint8) if part.size else b""
    return memoryview(data)


class File:
    """A .npy or .bin file. Written, not mapped: a page of a map that the disk has no room for would be SIGBUS."""

    def __init__(self, output: Output, first: int | None):
        self._output = output
        self.partial = output.hidden("partial")
        self._header = npy_header(output) if Path(output.path).suffix == ".npy" else b""
        self.settled = first or 0
        flags = os.O_RDWR | (os.O_CREAT | os.O_TRUNC if first is None else 0)
        self._file = os.open(self.partial, flags, 0o666)
        if first is None:
            try:
                _reserve(self._file, len(self._header) + output.p * output.nbytes)
                self._put(memoryview(self._header), 0)
            except BaseException:
                self.discard()
                raise

    def write(self, first: int, part: numpy.ndarray) -> None:
        start = len(self._header)
        with writing(self._output.path):
            if self._output.layout == "row":
                self._put(_bytes(part), start + first * self._output.nbytes)
                self.settled = first + len(part)
                return
            size = part.dtype.itemsize
            for k, row in enumerate(part.reshape(-1, part.shape[-1])):
                self._put(_bytes(row), start + (k * self._output.p + first) * size)
            self.settled = first + part.shape[-1]

    def mapped(self) -> numpy.ndarray | None:
        """All results as an array, which is written instead of calls of `write`; None where they are not together."""
        import numpy

        o = self._output
        if o.layout != "row" or not o.p * o.nbytes:
            return None
        with writing(o.path):
            return numpy.memmap(self.partial, o.dtype, "r+", len(self._header), o.shape)

    def _put(self, data: memoryview, at: int) -> None:
        while len(data):
            n = os.pwrite(self._file, data, at)
            data, at = data[n:], at + n

    def flush(self) -> None:
        with writing(self._output.path):
            getattr(os, "fdatasync", os.fsync)(self._file)

    def finish(self) -> None:
        with writing(self._output.path):
            self._close()
            files.settle(self.partial, self._output.target)

    def discard(self) -> None:
        self._close()
        self.partial.unlink(missing_ok=True)

    def _close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
        self._file = -1


def _reserve(file: int, size: int) -> None:
    if hasattr(os, "posix_fallocate") and size:
        try:
            return os.posix_fallocate(file, 0, size)
        except OSError as e:
            if e.errno not in NO_ROOM_TO_RESERVE:
                raise
    os.ftruncate(file, size)


class ZarrDirectory(zarr_files.ZarrSink):
    """A .zarr directory."""

    def __init__(self, output: Output, chunk: int, first: int | None):
        super().__init__(output.hidden("partial"), output.shape, output.dtype, output.layout, chunk, first)
        self._path, self._target = output.path, output.target

    def write(self, first: int, part: numpy.ndarray) -> None:
        with writing(self._path):
            super().write(first, part)

    def finish(self) -> None:
        with writing(self._path):
            self.settle(self._target)

    def discard(self) -> None:
        zarr_files.remove(self.partial)


class OutputStream:
    """stdout, a pipe or a device: .npy, or raw if its name ends in .bin, a group at a time."""

    def __init__(self, output: Output):
        self.settled = 0
        self._path = output.path
        if output.path == "-" and sys.stdout is None:
            raise InputError("C2CU057", "cannot write to stdout: it is closed")
        self._file: Any = sys.stdout.buffer if output.path == "-" else open(output.path, "wb")  # noqa: SIM115
        self._put(b"" if Path(output.path).suffix == ".bin" else npy_header(output))

    def write(self, first: int, part: numpy.ndarray) -> None:
        with writing(self._path):
            self._put(_bytes(part))
        self.settled = first + len(part)

    def _put(self, data: Any) -> None:
        self._file.write(data)
        self._file.flush()

    def flush(self) -> None: ...

    def finish(self) -> None: ...

    def discard(self) -> None: ...


class Collected:
    """What can be written only as a whole: .npz, and column layout to a stream."""

    def __init__(self, output: Output):
        import numpy

        self.settled = 0
        self._output = output
        self._array = numpy.empty(output.shape, output.dtype)

    def write(self, first: int, part: numpy.ndarray) -> None:
        n = part.shape[0 if self._output.layout == "row" else -1]
        if self._output.layout == "row":
            self._array[first : first + n] = part
        else:
            self._array[..., first : first + n] = part
        self.settled = first + n

    def flush(self) -> None: ...

    def finish(self) -> None:
        files.write(self._output.path, self._array)

    def discard(self) -> None: ...

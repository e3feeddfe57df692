"""Zarr arrays, chunk by chunk along the p axis: the only file that knows zarr."""

from __future__ import annotations

import errno
import json
import os
import shutil
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..base.diagnostics import InputError
from . import fingerprint

if TYPE_CHECKING:
    import numpy

LARGEST = 64 << 20  # bytes of a chunk
USUAL = 4 << 20


def _zarr() -> Any:
    try:
        import zarr
    except ImportError:
        hint = "pip install 'c2cu[zarr]', or convert it to .npy"
        raise InputError("C2CU056", "a .zarr array needs zarr, which is not installed", None, hint) from None
    return zarr


class ZarrSource:
    """An array in a .zarr directory."""

    serial = False

    def __init__(self, path: str, layout: str):
        zarr = _zarr()
        if not Path(path).exists():
            raise InputError("C2CU056", f"cannot read '{path}': No such file or directory")
        self.path = path
        self.stamp = self._tried(lambda: fingerprint.stamp(path))
        self._array = self._tried(lambda: zarr.open_array(path, mode="r"))
        self.shape, self.dtype, self.ndim = self._array.shape, self._array.dtype, self._array.ndim
        self._row = layout == "row"
        self._chunk = self._array.chunks[0 if self._row else -1] if self.ndim else 1
        self._first, self._block = 0, None

    def take(self, first: int, last: int) -> numpy.ndarray:
        """Inputs first <= id < last. Whole chunks are read, and the last ones kept: each is unpacked about once."""
        import numpy

        at = 0 if self._row else -1
        if self._block is None or first < self._first or last > self._first + self._block.shape[at]:
            end = min(-(-last // self._chunk) * self._chunk, self.shape[at])
            part = slice(first, end) if self._row else (..., slice(first, end))
            self._first, self._block = first, numpy.asarray(self._tried(lambda: self._array[part]))
        here = slice(first - self._first, last - self._first)
        return self._block[here] if self._row else self._block[..., here]

    def whole(self) -> numpy.ndarray:
        import numpy

        return numpy.asarray(self._tried(lambda: self._array[...]))

    def changed(self) -> str:
        """Chunks that are gone would read as zeros."""
        try:
            same = fingerprint.stamp(self.path) == self.stamp
        except OSError:
            same = False
        return "" if same else f"'{self.path}' was changed while it was read"

    def _tried(self, read: Any) -> Any:
        try:
            return read()
        except Exception as e:  # each codec raises errors of its own on damaged chunks
            raise InputError("C2CU056", f"'{self.path}' is no whole zarr array: {e or type(e).__name__}") from None


class ZarrSink:
    """An output in a .zarr directory, written under another name. Only whole chunks are written, each once."""

    def __init__(
        self, partial: Path, shape: tuple[int, ...], dtype: numpy.dtype, layout: str, chunk: int, first: int | None
    ):
        zarr = _zarr()
        if dtype.kind == "V":
            raise InputError("C2CU057", "zarr has no structs with C's layout", None, "write .npy or .bin instead")
        self.partial = partial
        self._row = layout == "row"
        self._p = shape[0 if self._row else -1]
        self._chunk = chunk
        chunks = (chunk, *shape[1:]) if self._row else (*shape[:-1], chunk)
        if first is None:
            remove(partial)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self._array = zarr.create_array(str(partial), shape=shape, chunks=chunks, dtype=dtype)
        else:
            self._array = zarr.open_array(str(partial), mode="r+")
            self._chunk = self._array.chunks[0 if self._row else -1]  # not what this run would have chosen
        self.settled = first or 0
        self._waiting: list[numpy.ndarray] = []
        self._waits = 0

    def write(self, first: int, part: numpy.ndarray) -> None:
        """The results of the inputs from ``first`` on, which follow those written before."""
        import numpy

        at = 0 if self._row else -1
        self._waiting.append(part)
        self._waits += part.shape[at]
        end = self.settled + self._waits
        end -= 0 if end == self._p else end % self._chunk
        if end <= self.settled:
            self._waiting[-1] = part.copy()  # its memory may be another group's by then
            return
        data = numpy.concatenate(self._waiting, at) if len(self._waiting) > 1 else part
        n = end - self.settled
        for k in range(0, n, self._chunk):
            here = slice(k, min(k + self._chunk, n))
            there = slice(self.settled + here.start, self.settled + here.stop)
            if self._row:
                self._array[there] = data[here]
            else:
                self._array[..., there] = data[..., here]
        rest = data[n:] if self._row else data[..., n:]
        self._waiting = [rest.copy()] if rest.shape[at] else []
        self._waits, self.settled = rest.shape[at], end

    def flush(self) -> None:
        os.sync()  # its files are many

    def close(self) -> None: ...

    def settle(self, target: Path) -> None:
        """Move the directory into place; one that is there gives way first."""
        if target.is_dir() and not replaceable(target):  # it has come meanwhile
            raise FileExistsError(errno.EEXIST, "it holds something else than a zarr array")
        old = target.with_name(f".{target.name}.old")
        remove(old)
        if target.exists():
            os.rename(target, old)
        os.rename(self.partial, target)
        remove(old)


def replaceable(path: Path) -> bool:
    """Whether a directory is an array, or empty: what else there is may not be an output of ours."""
    if not any(path.iterdir()) or (path / ".zarray").is_file():
        return True
    try:
        return json.loads((path / "zarr.json").read_bytes())["node_type"] == "array"
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return False


def unsound(path: Path, shape: tuple[int, ...], dtype: numpy.dtype, layout: str, done: int) -> str:
    """Why a directory is not what a run that has written ``done`` results left; empty if nothing tells."""
    zarr = _zarr()
    try:
        array = zarr.open_array(str(path), mode="r")
        found, chunks = (array.shape, array.dtype), array.chunks
    except Exception as e:  # zarr and each codec raise errors of their own
        return f"it is no zarr array: {e or type(e).__name__}"
    if found != (shape, dtype):
        return f"it is {found[1]} {found[0]}, wanted {dtype} {shape}"
    at = 0 if layout == "row" else len(shape) - 1
    if chunks[:at] + chunks[at + 1 :] != shape[:at] + shape[at + 1 :]:
        return f"its chunks are {chunks}"
    return "" if done == shape[at] or done % chunks[at] == 0 else f"its chunks have {chunks[at]} inputs each"


def chunk_of(nbytes: int, p: int, group: int | None) -> int:
    """Inputs a chunk, for outputs of up to ``nbytes`` an input: a group where that is known."""
    return max(1, min(group or USUAL // max(1, nbytes), LARGEST // max(1, nbytes), p))


def remove(path: Path) -> None:
    """Remove a file or a directory, if there is one."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)

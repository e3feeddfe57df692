"""Outputs as the user names them: checked before anything runs, and what their files look like."""

from __future__ import annotations

import errno
import functools
import json
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..base import catalogue
from ..base.diagnostics import InputError
from . import files

if TYPE_CHECKING:
    import numpy


@dataclass(frozen=True)
class Output:
    """An output as a whole. ``shape`` has the p axis, first or, in column layout, last."""

    path: str
    shape: tuple[int, ...]
    dtype: numpy.dtype
    layout: str

    @property
    def p(self) -> int:
        return self.shape[0 if self.layout == "row" else -1]

    @property
    def is_resumable(self) -> bool:
        """Whether a later run can go on with what an interrupted one has written."""
        return self.path != "-" and not files.is_special(Path(self.path)) and not files.is_archive(self.path)

    @property
    def nbytes(self) -> int:
        """Of one input."""
        return self.dtype.itemsize * math.prod(self.shape[1:] if self.layout == "row" else self.shape[:-1])

    @functools.cached_property
    def header(self) -> bytes:
        """What stands before the data."""
        return b"" if Path(self.path).suffix == ".bin" else _npy_header(self)

    @property
    def file_size(self) -> int:
        """Bytes of the whole file, a .npy or .bin."""
        return len(self.header) + self.p * self.nbytes

    @property
    def target(self) -> Path:
        """The file itself: a link stays, and the file that it leads to is written."""
        return files.resolved(self.path)

    def hidden(self, what: str) -> Path:
        """A name beside the target that no other file has."""
        return self.target.with_name(f".{self.target.name}.{what}")


def _npy_header(output: Output) -> bytes:
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


def check_target(path: str) -> None:
    """Raises InputError for a name to which an array cannot be written, or not as its ending says."""
    if path == "-":
        return
    try:
        there = os.path.lexists(path) and os.stat(path) is not None
    except FileNotFoundError:
        there = False  # a link to nothing, which is written through
    except OSError as e:
        raise _unwritable(path, e.errno) from None
    target = files.resolved(path)
    if there and files.is_special(target):  # a device or pipe has no ending, and gets .npy
        if not os.access(target, os.W_OK):
            raise _unwritable(path, errno.EACCES)
        return
    if target.is_dir() and Path(path).suffix != ".zarr":
        raise _unwritable(path, errno.EISDIR)
    files.ending(path)
    if target.is_dir() and not replaceable(target):
        raise catalogue.OCCUPIED_FOLDER.error(path=path)
    if not target.parent.exists():
        raise _unwritable(path, errno.ENOENT, f"there is no directory '{Path(path).parent}'")
    if not target.parent.is_dir():
        raise _unwritable(path, errno.ENOTDIR)
    if not os.access(target.parent, os.W_OK | os.X_OK):
        raise _unwritable(path, errno.EACCES, f"files are made in '{Path(path).parent}', which must be writable")


def _unwritable(path: str, number: int | None, hint: str = "") -> InputError:
    return catalogue.CANNOT_WRITE.error(path=path, reason=os.strerror(number or errno.EIO), how=hint)


def check_apart(paths: Sequence[str]) -> None:
    """Raises InputError where two outputs would be one file, by whatever names, or one lies within the other."""
    targets = [(path, files.resolved(path)) for path in paths if path != "-"]
    for k, (one, a) in enumerate(targets):
        for other, b in targets[:k]:
            if a == b:
                raise catalogue.SAME_OUTPUT.error(first=other, second=one)
            if a in b.parents or b in a.parents:
                raise catalogue.NESTED_OUTPUTS.error(first=other, second=one)


def replaceable(path: Path) -> bool:
    """Whether a directory is a zarr array, or empty: anything else is not an output of ours."""
    if not any(path.iterdir()) or (path / ".zarray").is_file():
        return True
    try:
        return json.loads((path / "zarr.json").read_bytes())["node_type"] == "array"
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return False

"""A private folder for what a compiler writes, which goes when it is done."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from . import catalogue

ROOM = 16 << 20  # bytes that a place should have free
MEMORY = "/dev/shm"


@contextlib.contextmanager
def scratch(*preferred: Path) -> Iterator[Path]:
    """A folder that only this user can look into: in one of ``preferred``, where temporary files go, or in memory, the
    first that has room. It is removed with all that is in it. Raises CompileError where there is none."""
    try:
        folder = tempfile.TemporaryDirectory(prefix="c2cu-", dir=place(*preferred), ignore_cleanup_errors=True)
    except OSError as e:
        raise catalogue.NO_SCRATCH.error(reason=e.strerror) from None
    with folder as name:
        yield Path(name)


def place(*preferred: Path) -> str | None:
    """The first folder of these, of the usual ones for temporary files, and of memory, that has room."""
    return next(filter(_has_room, (*map(str, preferred), *_usual(), MEMORY)), None)


def _usual() -> tuple[str, ...]:
    try:
        return (tempfile.gettempdir(),)
    except OSError:  # there is none that can be written to
        return ()


def _has_room(folder: str) -> bool:
    try:
        if hasattr(os, "statvfs"):
            status = os.statvfs(folder)
            return status.f_bavail * status.f_frsize >= ROOM and os.access(folder, os.W_OK | os.X_OK)
        return os.access(folder, os.W_OK | os.X_OK)
    except OSError:
        return False

"""Files as users name them, which may be devices or pipes: read as far as a text may go, and not waited for without
end."""

from __future__ import annotations

import errno
import os
import select
import stat
from pathlib import Path

MOST = 1 << 26  # bytes of a text
PATIENCE = 5  # seconds that a FIFO may stay silent


def read_file(path: Path) -> bytes:
    """A file's content. Raises OSError: too large where it does not end, timed out for a FIFO that nobody writes."""
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0))
    try:
        status = os.fstat(handle)
        if stat.S_ISDIR(status.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if status.st_size > MOST:
            raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))
        return _read(handle, stat.S_ISFIFO(status.st_mode))
    finally:
        os.close(handle)


def _read(handle: int, fifo: bool) -> bytes:
    pieces, total = [], 0
    while True:
        if fifo and not select.select([handle], [], [], PATIENCE)[0]:
            raise OSError(errno.ETIMEDOUT, "nobody writes to it")
        try:
            piece = os.read(handle, 1 << 20)
        except BlockingIOError:  # a terminal
            select.select([handle], [], [])
            continue
        if not piece:
            return b"".join(pieces)
        pieces.append(piece)
        total += len(piece)
        if total > MOST:
            raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))

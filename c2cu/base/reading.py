"""Files as users name them, which may be devices or pipes: read as far as a text may go, and not waited for without
end."""

from __future__ import annotations

import contextlib
import difflib
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


def nearest(path: Path, suffix: str) -> str:
    """A file with this ending beside a file that is not there, whose name is like its; "" for none."""
    with contextlib.suppress(OSError):  # of a folder that cannot be read, or has too long a name
        beside = {f.stem.casefold(): f for f in path.parent.glob(f"*{suffix}") if f != path}
        close = difflib.get_close_matches(path.stem.casefold(), beside, 1)
        return str(beside[close[0]]) if close else ""
    return ""


def way_to(path: Path, error: OSError, suffix: str) -> str:
    """The hint for a file that cannot be read."""
    match error.errno:
        case errno.ENOENT | errno.ENOTDIR if not path.parent.is_dir():
            return f"there is no folder '{path.parent}'"
        case errno.ENOENT:
            folder = "the current folder" if path.parent == Path() else f"the folder '{path.parent}'"
            guess = nearest(path, suffix)
            return f"did you mean '{guess}'?" if guess else f"{folder} has no file of that name"
        case errno.EACCES:
            return "check its permissions"
        case errno.EISDIR:
            return "it is a folder: name a file"
    return ""


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

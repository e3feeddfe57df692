"""A disk cache of compiled programs that trusts nobody: atomic, bounded, safe for several processes, harmless where it
cannot write.

An entry ends with a digest of its name and its content; what does not match is made anew. A folder that others may
write to, and a file of another owner, are not used.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import hashlib
import os
import re
import shutil
import stat
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from . import catalogue
from .notices import CacheWarning, warn
from .scratch import place

LIMIT = 512 << 20  # bytes
SEAL = 32  # bytes of a digest
STALE = 24 * 3600  # seconds after which what a killed process left unfinished goes
_UNSAFE = _LINK, _ANOTHER, _OTHERS = (
    "a link on the way to it is another user's",
    "it belongs to another user",
    "others may write to it",
)
_ENTRY, _UNFINISHED = re.compile(r"[0-9a-f]{40}\.\w+"), ".c2cu-"


def key(*parts: object) -> str:
    """A name for what ``parts`` determine; parts are told apart, not just joined."""
    digest = hashlib.sha256()
    for part in parts:
        data = str(part).encode("utf-8", "surrogateescape")
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.hexdigest()[:40]


class Cache:
    """Contents by key. ``folder``: default $C2CU_CACHE_DIR, else the user's cache directory, else a temporary one."""

    def __init__(self, folder: Path | None = None, limit: int = LIMIT):
        self.folder = folder if folder is not None and not objection(folder) else cache_folder()
        self.limit = limit

    def get(self, name: str, suffix: str) -> bytes | None:
        """What was stored for a key, byte for byte, else None; it counts as used now."""
        try:
            with _opened(self.folder / (name + suffix), self.limit) as handle, open(handle, "rb", closefd=False) as f:
                data = f.read()
                content, seal = data[:-SEAL], data[-SEAL:]
                if seal != _seal(name + suffix, content):
                    return None
                with contextlib.suppress(OSError):
                    os.utime(handle)
                return content
        except OSError:
            return None

    def put(self, name: str, suffix: str, produce: Callable[[], bytes]) -> bytes:
        """What is stored for a key, or else what ``produce`` returns, stored. What it raises is passed on."""
        content = self.get(name, suffix)
        if content is None:
            content = produce()
            self.store(name, suffix, content)
        return content

    def store(self, name: str, suffix: str, content: bytes) -> None:
        """Store a content in place of an earlier one, if that is possible."""
        path = self.folder / (name + suffix)
        with contextlib.suppress(OSError):  # a full disk, a folder where the file should be
            handle, temporary = tempfile.mkstemp(prefix=_UNFINISHED, dir=self.folder)
            try:
                with open(handle, "wb") as f:
                    f.write(content)
                    f.write(_seal(name + suffix, content))
                os.replace(temporary, path)
            finally:
                Path(temporary).unlink(missing_ok=True)
            self._shrink(path)

    def _shrink(self, keep: Path) -> None:
        """Remove the least recently used entries beyond the limit, and what was never finished. Other files stay."""
        entries = []
        for path in self.folder.iterdir():
            if not _ENTRY.fullmatch(path.name) and not path.name.startswith(_UNFINISHED):
                continue
            with contextlib.suppress(OSError):  # another process was faster
                status = path.lstat()
                if not _ENTRY.fullmatch(path.name) and time.time() - status.st_mtime > STALE:
                    path.unlink()
                elif stat.S_ISREG(status.st_mode) and _ENTRY.fullmatch(path.name):
                    entries.append((status.st_mtime, status.st_size, path))
        total = sum(size for _, size, _ in entries)
        for _, size, path in sorted(entries, key=lambda x: x[0]):
            if total <= self.limit or path == keep:
                continue
            path.unlink(missing_ok=True)
            total -= size


def _seal(name: str, content: bytes) -> bytes:
    digest = hashlib.sha256(name.encode() + b"\0")
    digest.update(content)
    return digest.digest()


@contextlib.contextmanager
def _opened(path: Path, most: int) -> Iterator[int]:
    """A descriptor of a plain file that nobody else could have written. Raises OSError for anything else: what is no
    plain file is not even opened, as a FIFO would wait and a device might act."""
    if not stat.S_ISREG(path.lstat().st_mode):
        raise FileNotFoundError(path)
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode) or not _mine(status) or not SEAL <= status.st_size <= most + SEAL:
            raise FileNotFoundError(path)
        yield handle
    finally:
        os.close(handle)


def _mine(status: os.stat_result) -> bool:
    """Whether a file or a folder is this user's, and nobody else may write to it."""
    if not hasattr(os, "geteuid"):
        return True  # Windows: the user's profile has access lists
    return status.st_uid == os.geteuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def objection(folder: Path, private: bool = False) -> str:
    """Why programs cannot be kept in a folder, "" if they can: it is made where it is not there. ``private``: it is
    c2cu's alone, and is closed to others where it was open."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if private and hasattr(os, "geteuid") and folder.stat().st_uid == os.geteuid():
            folder.chmod(0o700)
    except (OSError, ValueError) as e:  # ValueError: a NUL in the name
        return f"it cannot be made: {getattr(e, 'strerror', None) or e}"
    if not os.access(folder, os.W_OK | os.X_OK):
        return "it cannot be written to"
    return _distrust(folder)


def _distrust(folder: Path) -> str:
    """Why others could plant something in a folder, "" if they could not."""
    if not hasattr(os, "geteuid"):
        return ""
    for path in (folder, *folder.parents):
        if os.path.islink(path) and path.lstat().st_uid not in (0, os.geteuid()):
            return _LINK
    status = folder.stat()
    if status.st_uid != os.geteuid():
        return _ANOTHER
    return "" if _mine(status) else _OTHERS


def cache_folder() -> Path:
    """Where programs are kept; a temporary folder of this process where there is no place that can be trusted."""
    folder, why_not = chosen_folder()
    if folder is None or why_not:
        if folder is not None and why_not in _UNSAFE:
            _say(str(folder), why_not)
        return _temporary()
    return folder


def chosen_folder() -> tuple[Path | None, str]:
    """The folder that this user's environment names, if it names any, and why it is not used, "" if it is."""
    chosen = os.environ.get("C2CU_CACHE_DIR")
    if chosen:
        return Path(chosen), objection(Path(chosen))
    import platformdirs

    folder = Path(platformdirs.user_cache_dir("c2cu"))
    if not folder.is_absolute():  # "~" stays as it is for a user without a home
        return None, "this user has no home"
    return folder, objection(folder, private=True)


@functools.cache
def _say(folder: str, why_not: str) -> None:
    """Once in a process."""
    warn(CacheWarning(catalogue.CACHE_NOT_TRUSTED.diagnostic("warning", folder=folder, reason=why_not)))


@functools.cache
def _temporary() -> Path:
    """This process's own folder; one that cannot be where there is no room for it."""
    try:
        folder = Path(tempfile.mkdtemp(prefix="c2cu-", dir=place()))
    except OSError:
        return Path(os.devnull, "c2cu")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder

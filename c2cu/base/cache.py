"""A disk cache of compiled programs: atomic, bounded, safe for several processes, harmless where it cannot write."""

from __future__ import annotations

import atexit
import functools
import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

LIMIT = 512 << 20  # bytes


def key(*parts: object) -> str:
    """A name for what ``parts`` determine; parts are told apart, not just joined."""
    digest = hashlib.sha256()
    for part in parts:
        data = str(part).encode("utf-8", "surrogateescape")
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.hexdigest()[:40]


class Cache:
    """Files by key. ``folder``: default $C2CU_CACHE_DIR, else the user's cache directory, else a temporary one."""

    def __init__(self, folder: Path | None = None, limit: int = LIMIT):
        self.folder = folder if folder is not None and _writable(folder) else _folder()
        self.limit = limit

    def get(self, name: str, suffix: str) -> Path | None:
        """The file for a key, if there is one; it counts as used now."""
        path = self.folder / (name + suffix)
        try:
            os.utime(path)
        except OSError:
            return path if path.is_file() else None
        return path

    def put(self, name: str, suffix: str, produce: Callable[[Path], None]) -> Path:
        """Have ``produce`` write a temporary file, then move it into place. What it raises is passed on."""
        known = self.get(name, suffix)
        if known is not None:
            return known
        handle, temporary = tempfile.mkstemp(suffix, f".{name[:8]}-", self.folder)
        os.close(handle)
        path = self.folder / (name + suffix)
        try:
            produce(Path(temporary))
            os.replace(temporary, path)
        finally:
            Path(temporary).unlink(missing_ok=True)
        self._shrink(path)
        return path

    def _shrink(self, keep: Path) -> None:
        """Remove the least recently used files beyond the limit."""
        files = []
        for path in self.folder.iterdir():
            try:
                status = path.stat()
            except OSError:
                continue  # another process was faster
            files.append((status.st_mtime, status.st_size, path))
        total = sum(size for _, size, _ in files)
        for _, size, path in sorted(files, key=lambda x: x[0]):
            if total <= self.limit or path == keep:
                continue
            path.unlink(missing_ok=True)
            total -= size


def _writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def _folder() -> Path:
    chosen = os.environ.get("C2CU_CACHE_DIR")
    if chosen and _writable(Path(chosen)):
        return Path(chosen)
    if not chosen:
        import platformdirs

        folder = Path(platformdirs.user_cache_dir("c2cu"))
        if _writable(folder):
            return folder
    return _temporary()


@functools.cache
def _temporary() -> Path:
    """This process's own folder, for a machine whose home is read-only."""
    folder = Path(tempfile.mkdtemp(prefix="c2cu-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder

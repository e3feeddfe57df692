"""What tells whether an input is still the same file."""

from __future__ import annotations

import os
from pathlib import Path

CHANGED = "run it again when nothing writes to it: what came of it is discarded"


def stamp(file: str | int) -> dict[str, int]:
    """What tells whether a file (or an open one), or a directory with all that is in it, is still the same. Not its
    name, which may lead there another way, and not its device, whose number may change when the machine starts."""
    top = os.stat(file)
    stats = [top]
    if isinstance(file, str) and os.path.isdir(file):
        stats += [f.stat() for f in sorted(Path(file).rglob("*"))]
    size = sum(s.st_size for s in stats)
    return {"size": size, "mtime": max(s.st_mtime_ns for s in stats), "inode": top.st_ino, "files": len(stats)}

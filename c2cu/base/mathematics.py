"""Which library of math.h this machine has: another one may round otherwise."""

from __future__ import annotations

import ctypes
import functools
import re
from pathlib import Path


@functools.cache
def mathematics() -> str:
    """The C library's version, and the file that has the functions: its name, size and time."""
    try:
        version = ctypes.CDLL("libm.so.6").gnu_get_libc_version
        version.restype = ctypes.c_char_p
        loaded = re.search(r"\S+/libm[.-]\S*", Path("/proc/self/maps").read_text())
        file = Path(loaded[0]).stat() if loaded else None
        return f"glibc {version().decode()} {loaded and loaded[0]} {file and (file.st_size, file.st_mtime_ns)}"
    except (AttributeError, OSError):
        return "another library"

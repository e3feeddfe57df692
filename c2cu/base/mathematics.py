"""Which library of math.h this machine has: another one may round otherwise."""

from __future__ import annotations

import ctypes
import functools
import math
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


#: Functions of which builds of one library differ, as compilers fuse other operations: one argument in some 100,000
#: has another last bit. An argument, and its result where more is fused than in Debian 12's, as in Ubuntu 24.04's.
FUSED = {"atan": ("0x1.1475cba60b8fdp+4", "0x1.835311b7af391p+0")}


@functools.cache
def fused() -> frozenset[str]:
    """The functions of FUSED that are so in this machine's library."""
    numbers = {name: tuple(map(float.fromhex, pair)) for name, pair in FUSED.items()}
    return frozenset(name for name, (x, result) in numbers.items() if getattr(math, name)(x) == result)

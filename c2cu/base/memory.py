"""How much memory there is, and what is said where it does not suffice."""

from __future__ import annotations

import contextlib
import functools
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from . import catalogue

_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


@contextlib.contextmanager
def enough_memory() -> Iterator[None]:
    """A MemoryError raised inside becomes a CompileError that says how to go on."""
    try:
        yield
    except MemoryError as e:
        raise catalogue.NO_MEMORY.error(reason=str(e) or "an allocation failed") from None


def require_memory(nbytes: int) -> None:
    """Raises CompileError for more bytes than this machine, or this process's group, could have: to ask for them would
    succeed, and to use them end the process."""
    if nbytes > most_memory():
        raise catalogue.NO_MEMORY.error(reason=f"{_gib(nbytes)} are needed, and there are {_gib(most_memory())}")


@functools.cache
def most_memory() -> int:
    """Bytes of memory and swap; as many as there are addresses where that is not known."""
    try:
        rows = re.findall(r"^(?:MemTotal|SwapTotal): +(\d+) kB", Path("/proc/meminfo").read_text(), re.M)
        most = 1024 * sum(map(int, rows))
    except OSError:
        most = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else sys.maxsize
    for limit in _LIMITS:
        with contextlib.suppress(OSError, ValueError):  # "max"
            most = min(most, int(Path(limit).read_text()))
    return most if most > 0 else sys.maxsize


def _gib(nbytes: int) -> str:
    return f"{nbytes / 2**30:.4g} GiB"

"""Machine code that is in memory, checked: loaded into this process, or executed as another.

Between the check of a file and its use, and as long as it is mapped, another process may change it. So code goes to a
file in memory that has no name; where the system has none, or does not execute it, to a private folder.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import itertools
import os
import subprocess
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

from . import catalogue
from .cache import cache_folder
from .scratch import scratch

T = TypeVar("T")
_CLOEXEC, _EXECUTABLE = 1, 0x10  # MFD_CLOEXEC; MFD_EXEC, which kernels before 6.3 do not know
_serial = itertools.count()


def library(code: bytes) -> ctypes.CDLL:
    """Load a shared object. Raises CompileError where the system does not."""
    return _first(code, lambda path, _: ctypes.CDLL(path))


def execute(code: bytes, arguments: Sequence[str], **how: Any) -> subprocess.CompletedProcess[Any]:
    """Run a program to its end; ``how``: as `subprocess.run` has it. Raises CompileError where the system does not."""
    return _first(code, lambda path, fds: subprocess.run([path, *arguments], pass_fds=fds, **how))


def _first(code: bytes, use: Callable[[str, tuple[int, ...]], T]) -> T:
    """What ``use`` returns for the first place from which the system executes."""
    with contextlib.suppress(OSError), _in_memory(code) as (path, handle):
        return use(path, (handle,))
    folder = cache_folder()
    try:
        with _in_folder(code, folder) as path:
            return use(path, ())
    except OSError as e:
        raise catalogue.NOT_EXECUTABLE.error(folder=folder, reason=e.strerror or e) from None


@contextlib.contextmanager
def _in_memory(code: bytes) -> Iterator[tuple[str, int]]:
    """(path, descriptor). The loader takes two files of one path for the same library, even after the descriptor got
    another meaning, so that each gets another spelling."""
    if not hasattr(os, "memfd_create"):
        raise OSError
    try:
        handle = os.memfd_create("c2cu", _CLOEXEC | _EXECUTABLE)
    except OSError as e:
        if e.errno != errno.EINVAL:
            raise
        handle = os.memfd_create("c2cu", _CLOEXEC)
    try:
        with open(handle, "wb", closefd=False) as f:
            f.write(code)
        spelling = "".join("./" if bit == "1" else "/" for bit in f"{next(_serial):b}")
        yield f"/proc/self/fd/{spelling}{handle}", handle
    finally:
        os.close(handle)


@contextlib.contextmanager
def _in_folder(code: bytes, folder: Path) -> Iterator[str]:
    """In a new folder within ``folder``: where compiled programs are kept, they may be executed."""
    with scratch(folder) as private:
        path = private / "code"
        path.write_bytes(code)
        path.chmod(0o700)
        yield str(path)

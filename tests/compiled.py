"""What tests compile, they compile once in a run: the worker processes of pytest share a folder."""

from __future__ import annotations

import _ctypes
import ctypes
import fcntl
import hashlib
import os
import subprocess
import tempfile
import weakref
from collections.abc import Sequence
from pathlib import Path


def _shared_folder() -> Path:
    """The folder of the process that pytest was started in, which removes it at its end."""
    global _owned
    if "C2CU_TEST_FOLDER" not in os.environ:
        _owned = tempfile.TemporaryDirectory(prefix="c2cu-tests-")
        os.environ["C2CU_TEST_FOLDER"] = _owned.name
    return Path(os.environ["C2CU_TEST_FOLDER"])


FOLDER = _shared_folder()


def compiled_once(command: Sequence[str], text: str, name: str = "") -> Path:
    """The file that a compiler's command makes of a text on its standard input. ``name``: else a digest of both."""
    path = FOLDER / (name or hashlib.sha256("\0".join([*command, text]).encode()).hexdigest()[:20])
    with open(f"{path}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not path.exists():
            unfinished = f"{path}.unfinished"
            done = subprocess.run([*command, "-o", unfinished], input=text.encode(), capture_output=True)
            assert done.returncode == 0, done.stderr.decode()[:4000] + text
            os.replace(unfinished, path)
    return path


def loaded(path: Path | str) -> ctypes.CDLL:
    """A shared library, until nothing refers to it or its functions: a process may map 65,530 pieces of memory, which
    the thousands of libraries of a whole run would exceed."""
    library = ctypes.CDLL(str(path))
    weakref.finalize(library, _ctypes.dlclose, library._handle).atexit = False
    return library

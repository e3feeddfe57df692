"""Python's collector of cycles, and when it does not run."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_lock = threading.Lock()
_users = 0
_was_on = False


@contextmanager
def no_collection() -> Iterator[None]:
    """While trees of a program are built: they have no cycles to collect, and looking at every node of a large program
    again and again takes a quarter of the time. Any number of threads may; the last one turns it on again."""
    global _users, _was_on
    with _lock:
        _users += 1
        if _users == 1:
            _was_on = gc.isenabled()
            gc.disable()
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if not _users and _was_on:
                gc.enable()

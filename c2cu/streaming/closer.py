"""A separate thread closes the engines of streams that were dropped without being closed.

The garbage collector may run a finalizer in any thread, an engine's own included, and within any lock. So a finalizer
only puts the engine into a queue that is safe against that.
"""

from __future__ import annotations

import atexit
import threading
import weakref
from queue import SimpleQueue
from typing import Protocol


class Closable(Protocol):
    def close(self) -> None: ...


_dropped: SimpleQueue[Closable] = SimpleQueue()
_open: weakref.WeakSet[Closable] = weakref.WeakSet()
_thread: threading.Thread | None = None


def watch(engine: Closable) -> None:
    """Close ``engine`` when the interpreter ends, if it is still open then."""
    global _thread
    if _thread is None or not _thread.is_alive():  # a forked process has none
        _thread = threading.Thread(target=_work, name="c2cu_closer", daemon=True)
        _thread.start()
    _open.add(engine)


def soon(engine: Closable) -> None:
    """Close ``engine`` without waiting for it."""
    _dropped.put(engine)


def _work() -> None:
    while True:
        _dropped.get().close()


@atexit.register
def _close_all() -> None:
    for engine in list(_open):
        engine.close()

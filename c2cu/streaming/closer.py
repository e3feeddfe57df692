"""Closes engines that nobody asked to close: from a thread of its own, as the garbage collector may run in any.

A finalizer may come in the middle of an engine's own thread, and inside of any lock: all it may do is to put into a
queue that allows that.
"""

from __future__ import annotations

import atexit
import ctypes
import sys
import threading
import weakref
from queue import SimpleQueue
from typing import Protocol

FEED = "c2cu-feed"  # the thread that runs a user's iterator


class Closable(Protocol):
    def close(self) -> None: ...


_waiting: SimpleQueue[Closable] = SimpleQueue()
_open: weakref.WeakSet[Closable] = weakref.WeakSet()
_thread: threading.Thread | None = None


def watch(engine: Closable) -> None:
    """Be ready to close ``engine``; at the latest when the interpreter ends."""
    global _thread
    if _thread is None or not _thread.is_alive():  # a forked process has none
        _thread = threading.Thread(target=_work, name="c2cu_closer", daemon=True)
        _thread.start()
    _open.add(engine)


def soon(engine: Closable) -> None:
    """Close ``engine`` without waiting for it."""
    _waiting.put(engine)


def _work() -> None:
    while True:
        _waiting.get().close()


@atexit.register
def _all() -> None:
    for engine in list(_open):
        engine.close()
    if sys.stdin is not None and any(t.name == FEED and t.is_alive() for t in threading.enumerate()):
        # It may be reading stdin, whose lock it then holds for ever: the interpreter aborts when it frees stdin.
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(sys.stdin))
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(getattr(sys.stdin, "buffer", None)))

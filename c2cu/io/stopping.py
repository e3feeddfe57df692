"""Signals that stop a run: what it did so far is kept."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import threading
from collections.abc import Callable, Iterator
from typing import Any


@contextlib.contextmanager
def stopping(stop: Callable[[int], None]) -> Iterator[None]:
    """Ctrl-C, SIGTERM and SIGHUP call ``stop``, then end the process with 128 + their number, at once: nothing that
    runs is waited for. A page that cannot be read (SIGBUS) calls it too, on whatever thread, and ends it with 1."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(number: int, _: Any) -> None:
        signal.signal(number, signal.SIG_DFL)  # the next one does not wait
        try:
            stop(number)
        finally:
            os._exit(128 + number)

    def end_of_bus_error(number: int) -> None:
        try:
            stop(number)
        finally:
            os._exit(1)

    chosen = [n for n in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP) if signal.getsignal(n) != signal.SIG_IGN]
    before = {n: signal.signal(n, end) for n in chosen}
    # Python would note the signal and return to the access, which would raise it again: C calls this one at once.
    handler = ctypes.CFUNCTYPE(None, ctypes.c_int)(end_of_bus_error)
    install = ctypes.CDLL(None).signal
    install.argtypes, install.restype = (ctypes.c_int, ctypes.c_void_p), ctypes.c_void_p
    bus = install(signal.SIGBUS, ctypes.cast(handler, ctypes.c_void_p))
    try:
        yield
    finally:
        install(signal.SIGBUS, bus)
        for n, old in before.items():
            signal.signal(n, old)

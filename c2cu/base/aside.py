"""Work that goes on beside the caller's: what mostly waits for a compiler."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextvars import copy_context
from typing import Generic, TypeVar

T = TypeVar("T")


class Aside(Generic[T]):
    """A call in a thread of its own. One that nobody waits for does not keep the process from ending."""

    def __init__(self, call: Callable[[], T]):
        self._future: Future[T] = Future()
        self._call = call
        thread = threading.Thread(target=copy_context().run, args=(self._work,), name="c2cu-aside", daemon=True)
        try:
            thread.start()
        except RuntimeError:  # the interpreter is ending, or there is no room for a thread
            self._work()

    def _work(self) -> None:
        try:
            self._future.set_result(self._call())
        except BaseException as e:  # handed to whoever waits
            self._future.set_exception(e)

    def result(self) -> T:
        """What the call returns, once it has; what it raised is raised here."""
        return self._future.result()

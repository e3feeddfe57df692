"""Settings of the whole process that some work needs otherwise, in any number of threads."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Setting:
    """A setting: another one while any thread needs that, then what it was before. ``change``: makes it the other one,
    and returns what makes it the one before."""

    def __init__(self, change: Callable[[], Callable[[], None]]):
        self._change, self._restore = change, lambda: None
        self._lock = threading.Lock()
        self._users = 0

    @contextmanager
    def changed(self) -> Iterator[None]:
        with self._lock:
            if self._users == 0:
                self._restore = self._change()
            self._users += 1
        try:
            yield
        finally:
            with self._lock:
                self._users -= 1
                if self._users == 0:
                    self._restore()

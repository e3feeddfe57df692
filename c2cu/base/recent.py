"""A bounded table in memory that drops the entry that was not used for longest. Threads may share one."""

from __future__ import annotations

import os
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import CancelledError, Future
from typing import Any, Generic, TypeVar

V = TypeVar("V")


class Recent(Generic[V]):
    """Values by key, ``most`` of them at most: what another one makes room for was not asked for since all others
    were. A value that is forgotten lives on where it is in use."""

    def __init__(self, most: int):
        self._most = most
        self._values: OrderedDict[Hashable, Future[V]] = OrderedDict()
        self._lock = threading.Lock()
        _tables.add(self)

    def __len__(self) -> int:
        return len(self._values)

    def __contains__(self, key: Hashable) -> bool:
        return key in self._values

    def of(self, key: Hashable, make: Callable[[], V]) -> V:
        """The value, made if there is none: by one thread, while others that want the same wait. What ``make`` raises
        is passed on, and the next to ask makes it anew."""
        while True:
            with self._lock:
                known = self._values.get(key)
                value = self._values.setdefault(key, known or Future())
                self._values.move_to_end(key)
                while len(self._values) > self._most:
                    self._values.popitem(last=False)
            if known is None:
                return self._made(key, value, make)
            try:
                return known.result()
            except CancelledError:  # who was to make it failed
                continue

    def drop(self, key: Hashable) -> None:
        """Forget a value, if there is one."""
        with self._lock:
            self._values.pop(key, None)

    def _made(self, key: Hashable, value: Future[V], make: Callable[[], V]) -> V:
        try:
            value.set_result(make())
        except BaseException:
            with self._lock:
                if self._values.get(key) is value:
                    del self._values[key]
            value.cancel()
            raise
        return value.result()

    def forked(self) -> None:
        """In a child process: the threads that were at work stay with the parent."""
        self._lock = threading.Lock()
        self._values = OrderedDict((k, v) for k, v in self._values.items() if v.done())


_tables: weakref.WeakSet[Recent[Any]] = weakref.WeakSet()


def _forked() -> None:
    for table in _tables:
        table.forked()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)

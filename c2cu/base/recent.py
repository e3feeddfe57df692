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
    """At most ``most`` values by key. A new value takes the place of the one that was asked for least recently. A value
    that has lost its place stays alive as long as someone uses it."""

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
        """The value of ``key``. If there is none, ``make`` makes it: one thread calls it, and others that ask for the
        same key wait for the result. An exception of ``make`` is passed on, and the next call of `of` tries again."""
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
            except CancelledError:  # the thread that was making it failed
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
        """Called in a child process after a fork: the threads that were making values exist in the parent only."""
        self._lock = threading.Lock()
        self._values = OrderedDict((k, v) for k, v in self._values.items() if v.done())


_tables: weakref.WeakSet[Recent[Any]] = weakref.WeakSet()


def _forked() -> None:
    for table in _tables:
        table.forked()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)

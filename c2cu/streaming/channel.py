"""A bounded queue between threads that either side can close, so that no thread waits for ever."""

from __future__ import annotations

import threading
from collections import deque
from typing import Generic, TypeVar

T = TypeVar("T")


class Closed(Exception):
    """The stream has ended: nothing more goes in or comes out."""


class Channel(Generic[T]):
    """First in, first out, with room for ``room`` items."""

    def __init__(self, room: int):
        self._items: deque[T] = deque()
        self._room = room
        self._closed = False
        self._changed = threading.Condition()

    def put(self, item: T) -> None:
        """Wait for room and append the item. Raises Closed."""
        with self._changed:
            self._changed.wait_for(lambda: self._closed or len(self._items) < self._room)
            if self._closed:
                raise Closed
            self._items.append(item)
            self._changed.notify_all()

    def put_first(self, item: T) -> None:
        """Put the item before all others, whether or not there is room. Raises Closed."""
        with self._changed:
            if self._closed:
                raise Closed
            self._items.appendleft(item)
            self._changed.notify_all()

    def get(self, wait: bool = True) -> T | None:
        """The next item. If there is none, wait for it, or return None if not ``wait``. Raises Closed."""
        with self._changed:
            self._changed.wait_for(lambda: self._closed or self._items or not wait)
            if self._closed:
                raise Closed
            if not self._items:
                return None
            self._changed.notify_all()
            return self._items.popleft()

    def close(self) -> None:
        """Drop all items; every `put` and `get`, waiting or to come, raises Closed."""
        with self._changed:
            self._closed = True
            self._items.clear()
            self._changed.notify_all()

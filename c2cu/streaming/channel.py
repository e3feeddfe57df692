"""A bounded queue between two threads that can be ended from either side, so that no wait is without an owner."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from typing import Generic, TypeVar

T = TypeVar("T")


class Closed(Exception):
    """Nothing more goes in, or comes out."""


class Channel(Generic[T]):
    """First in, first out, at most ``room`` at a time; 0 is any number."""

    def __init__(self, room: int = 0):
        self._items: deque[T] = deque()
        self._room = room
        self._closed = False
        self._changed = threading.Condition()

    def put(self, item: T, first: bool = False) -> None:
        """Wait for room and put; ``first``: at once, and before all others. Raises Closed."""
        with self._changed:
            while not self._closed and not first and self._room and len(self._items) >= self._room:
                self._changed.wait()
            if self._closed:
                raise Closed
            if first:
                self._items.appendleft(item)
            else:
                self._items.append(item)
            self._changed.notify_all()

    def get(self) -> T:
        """Wait for an item. Raises Closed where there is none and will be none."""
        with self._changed:
            while not self._items:
                if self._closed:
                    raise Closed
                self._changed.wait()
            item = self._items.popleft()
            self._changed.notify_all()
            return item

    def __iter__(self) -> Iterator[T]:
        while True:
            try:
                yield self.get()
            except Closed:
                return

    def __len__(self) -> int:
        return len(self._items)

    def close(self, drop: bool = False) -> None:
        """No more puts; what is inside can still be had, unless it is to ``drop``."""
        with self._changed:
            self._closed = True
            if drop:
                self._items.clear()
            self._changed.notify_all()

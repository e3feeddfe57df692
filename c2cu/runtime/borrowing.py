"""An array over borrowed memory that reports when no view of it is left."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import numpy


class _Memory:
    """What NumPy makes an array of; all views of the array keep it alive."""

    def __init__(self, address: int, nbytes: int):
        self.__array_interface__ = {"version": 3, "shape": (nbytes,), "typestr": "|u1", "data": (address, False)}


def borrowed(
    address: int, nbytes: int, release: Callable[..., None], *arguments: Any
) -> tuple[numpy.ndarray, weakref.ref[Any]]:
    """``nbytes`` bytes at ``address`` as a uint8 array, and a weak reference that lives as long as they are used.
    ``release(*arguments)`` is called, in any thread, when the last array that looks at them is gone; until then the
    arguments are kept alive."""
    memory = _Memory(address, nbytes)
    weakref.finalize(memory, release, *arguments).atexit = False
    return numpy.asarray(memory), weakref.ref(memory)

"""Memory as an array that says when nobody looks at it any more."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import numpy


class _Lease:
    """What NumPy makes an array of; all views of the array keep it."""

    def __init__(self, address: int, nbytes: int):
        self.__array_interface__ = {"version": 3, "shape": (nbytes,), "typestr": "|u1", "data": (address, False)}


def leased(
    address: int, nbytes: int, ended: Callable[..., None], *arguments: Any
) -> tuple[numpy.ndarray, weakref.ref[Any]]:
    """``nbytes`` bytes at ``address`` as a uint8 array; ``ended(*arguments)`` is called, in whichever thread, when the
    last array that looks at them is gone, and keeps the memory until then. With a reference that is dead by then."""
    lease = _Lease(address, nbytes)
    weakref.finalize(lease, ended, *arguments).atexit = False
    return numpy.asarray(lease), weakref.ref(lease)

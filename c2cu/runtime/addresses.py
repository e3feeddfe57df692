"""Where an array's elements are, without the object that ``ndarray.ctypes`` makes: 0.1 instead of 1 microsecond."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy

_FIRST = object.__basicsize__  # the first of `PyArrayObject_fields`, which NumPy's binary interface has, is the address
_pointer_at = ctypes.c_size_t.from_address


def _slow(array: Any) -> int:
    return array.ctypes.data


def _fast(array: Any) -> int:
    return _pointer_at(id(array) + _FIRST).value


def _chosen() -> Callable[[Any], int]:
    """The fast way where it is right; other interpreters than CPython have objects of another form."""
    whole = numpy.arange(8)
    probes = (whole, whole[3:], whole.reshape(2, 4)[1], numpy.zeros((), "f4"))
    if numpy.ndarray.__basicsize__ > _FIRST and all(_fast(a) == _slow(a) for a in probes):
        return _fast
    return _slow


address = _chosen()

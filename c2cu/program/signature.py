"""What tells calls apart: those with one signature are done in the same way."""

from __future__ import annotations

import struct
import sys
from collections.abc import Hashable, Mapping
from typing import Any

import numpy

_DOUBLE = struct.Struct("d")
MISS = object()  # the result of a call that has to be looked at anew


def signature(inputs: Any, shared: Any, p: Any) -> Hashable | None:
    """What of a call decides how it is done, but for ``out``; None of arrays that are not taken as they are."""
    key: list[Any] = [type(inputs), p]
    if not (p is None or type(p) is int):
        return None
    if type(inputs) is dict:
        complete = _add(key, inputs)
    elif inputs is None:
        complete = True
    else:
        complete = _add(key, {None: inputs})
    if complete and shared is not None:
        key.append("shared")
        complete = type(shared) is dict and _add(key, shared)
    return tuple(key) if complete else None


def _add(key: list[Any], values: Mapping[Any, Any]) -> bool:
    """Add arrays and numbers to a signature; whether each has a place in it."""
    cupy: Any = sys.modules.get("cupy")
    for name, value in values.items():
        t = type(value)
        if cupy is not None and t is cupy.ndarray and value.ndim:
            if not value.flags.c_contiguous:
                return False
            key += (name, value.dtype, value.shape, value.device.id)
        elif t is numpy.ndarray and value.ndim:
            flags = value.flags
            if not (flags.c_contiguous and flags.aligned):
                return False
            key += (name, value.dtype, value.shape)
        elif t is int or t is bool:
            key += (name, t, value)
        elif t is float:
            key += (name, t, _DOUBLE.pack(value))  # a NaN is not another NaN
        elif isinstance(value, numpy.generic):
            key += (name, value.dtype, value.tobytes())
        else:
            return False
    return True


def targets(
    out: Any, wanted: Mapping[str, tuple[tuple[int, ...], numpy.dtype]], array_type: type
) -> dict[str, Any] | None:
    """The arrays of ``out=`` by name, if results can be written there as they are; else None. ``wanted``: the shapes
    and dtypes of all outputs; ``array_type``: NumPy's or CuPy's."""
    if type(out) is not dict:
        if len(wanted) != 1:
            return None
        out = dict.fromkeys(wanted, out)
    known = 0
    for name, (shape, dtype) in wanted.items():
        array = out.get(name)
        if array is None:
            continue
        if type(array) is not array_type or array.shape != shape or array.dtype != dtype:
            return None
        flags = array.flags
        if not flags.c_contiguous or array_type is numpy.ndarray and not (flags.aligned and flags.writeable):
            return None
        known += 1
    return out if known == len(out) else None

"""Copies on the host, spread over threads: one core alone does not keep up with a GPU's link."""

from __future__ import annotations

import functools
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy

PIECE = 1 << 20  # bytes that are worth a thread
MOST = 16  # threads


def assemble(parts: Sequence[Any], target: numpy.ndarray, axis: int) -> None:
    """``parts``, one after the other along ``axis``, into ``target``."""
    if len(parts) > 1 and target.nbytes < PIECE * len(parts):  # many small ones: one call
        numpy.concatenate(parts, axis=axis, out=target)
        return
    at = 0
    for part in parts:
        end = at + part.shape[axis]
        copy(target[at:end] if axis == 0 else target[..., at:end], part)
        at = end


def copy(target: numpy.ndarray, source: Any) -> None:
    """``target[...] = source``, both of one shape and dtype."""
    source = numpy.asarray(source)
    if target.nbytes < 2 * PIECE or _threads() == 1:
        target[...] = source
        return
    if target.flags.c_contiguous and source.flags.c_contiguous:
        target, source = target.reshape(-1), source.reshape(-1)
    axis = 0 if target.ndim == 1 or target.shape[0] >= target.shape[-1] else target.ndim - 1
    n = target.shape[axis]
    pieces = min(n, 2 * _threads(), target.nbytes // PIECE)
    cuts = [n * k // pieces for k in range(pieces + 1)]
    ranges = [(slice(a, b),) if axis == 0 else (..., slice(a, b)) for a, b in zip(cuts, cuts[1:])]
    for done in [_pool().submit(numpy.copyto, target[r], source[r]) for r in ranges]:
        done.result()


@functools.cache
def _threads() -> int:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(MOST, cores)


@functools.cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_threads(), thread_name_prefix="c2cu-copy")

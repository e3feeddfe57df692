"""Copies on the host. One core alone does not keep up with a GPU's link: several threads copy a group each."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy

SMALL = 1 << 16  # bytes of a part below which the call costs more than the copy


def assemble(parts: Sequence[Any], target: numpy.ndarray, axis: int) -> None:
    """``parts``, one after the other along ``axis``, into ``target``."""
    if len(parts) > 1 and target.nbytes < SMALL * len(parts):
        numpy.concatenate(parts, axis=axis, out=target)
        return
    at = 0
    for part in parts:
        end = at + part.shape[axis]
        numpy.copyto(target[at:end] if axis == 0 else target[..., at:end], part)
        at = end


def copiers() -> int:
    """How many threads are worth it: half the cores, as the others have work too, and memory is soon the limit."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(MOST, cores // 2))


MOST = 4  # measured: with more, they wait for memory and for each other
